"""The export format "sharegpt": chats as LLaMA-Factory reads them.

Turns are human or observation at even indices, function_call or gpt at odd ones. A `function_call` is JSON:
an object, or a list of objects for parallel calls; its `observation` is then a JSON list too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from toolassay.exporters.chats import (
    CalledFunction,
    ChatFormat,
    arguments_of,
    chat_turns,
    closing_of,
    json_text,
)
from toolassay.exporters.executed_results import PlanResults
from toolassay.exporters.export_format import Chats, ResultForm, columns
from toolassay.files.data_files import safe_name, write_json
from toolassay.plans.call_plan import CallPlan


class ConversationTurn(msgspec.Struct, frozen=True, rename={"who": "from"}):
    """A turn of a conversation."""

    who: Literal["human", "function_call", "observation", "gpt"]
    value: str


class ConversationLine(msgspec.Struct, frozen=True):
    """A line of the format "sharegpt"; `system` may be empty, `tools` is JSON text."""

    conversations: list[ConversationTurn]
    system: str
    tools: str


def dataset_info(files: Iterable[str], name: str) -> dict[str, Any]:
    """The object of `dataset_info.json`, in which LLaMA-Factory looks up the files of a folder.

    Args:
        files: file names, each with its split before the first dot.
        name: prefix of the names of the data sets.

    >>> list(dataset_info(["train.jsonl", "test.jsonl"], "errands"))
    ['errands_train', 'errands_test']
    """
    columns = {"messages": "conversations", "system": "system", "tools": "tools"}
    form = {"formatting": "sharegpt", "columns": columns}
    return {f"{name}_{file.partition('.')[0]}": {"file_name": file, **form} for file in files}


class ShareGptFormat(ChatFormat):
    """Conversations, and a file by which LLaMA-Factory finds them."""

    name = "sharegpt"
    help = "chats with tool calls for LLaMA-Factory"
    fields = columns("fields", "sharegpt")
    types = columns("types", "sharegpt")

    def line(self, plan: CallPlan, chats: Chats, results: PlanResults | None) -> ConversationLine:
        """The conversation of a plan."""
        names = chats.names
        style = chats.style
        turns = chat_turns(plan, style, results)
        conversation = [ConversationTurn("human", plan.request)]
        for turn in turns:
            calls = [
                CalledFunction(names.functions[call.call.tool], arguments_of(call.call, names))
                for call in turn
            ]
            conversation.append(
                ConversationTurn("function_call", json_text(calls[0] if len(calls) == 1 else calls))
            )
            if turn is not turns[-1] or style.closing is not None:
                texts = [call.result for call in turn]
                observed = texts[0] if len(texts) == 1 else json_text(texts)
                conversation.append(ConversationTurn("observation", observed))
        if style.closing is not None:
            conversation.append(ConversationTurn("gpt", closing_of(plan, style.closing, results)))
        return ConversationLine(conversation, style.system, json_text(list(chats.offered(plan))))

    def finish(self, folder: Path, files: Mapping[str, str], name: str, chats: Chats) -> None:
        """Write `dataset_info.json` too."""
        super().finish(folder, files, name, chats)
        write_json(folder / "dataset_info.json", dataset_info(files.values(), safe_name(name)))

    def card_text(self, form: ResultForm) -> str:
        """With that file."""
        return f"{super().card_text(form)} `dataset_info.json` is for LLaMA-Factory."


FORMAT = ShareGptFormat()
