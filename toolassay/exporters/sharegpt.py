"""Chats with tool calls in the ShareGPT format that LLaMA-Factory reads.

Turns alternate: human or observation at even indices, function_call or gpt at odd ones. A `function_call` is
JSON: an object, or a list of objects for parallel calls; its `observation` is then a JSON list too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from toolassay.calls.call_plan import CallPlan
from toolassay.calls.function_schemas import Names
from toolassay.exporters.executed_results import PlanResults
from toolassay.exporters.turns import ChatStyle, arguments_of, chat_turns, closing_of


def conversation_of(
    plan: CallPlan,
    functions: Sequence[Mapping[str, Any]],
    names: Names,
    style: ChatStyle,
    results: PlanResults | None = None,
) -> dict[str, Any]:
    """One line of the file: `conversations`, `system` (may be empty), and `tools` as JSON text.

    Args:
        plan: the sample.
        functions: the functions of the chat, each as `toolassay.calls.function_schemas.function_of`
            returns it.
        names: names of functions and parameters.
        style: options of the chat formats.
        results: what the calls returned; None for references.
    """
    turns = chat_turns(plan, style, results)
    messages = [("human", plan.request)]
    for turn in turns:
        calls = [
            {"name": names.functions[one.call.tool], "arguments": arguments_of(one.call, names)}
            for one in turn
        ]
        messages.append(("function_call", _text(calls[0] if len(calls) == 1 else calls)))
        if turn is not turns[-1] or style.closing is not None:
            texts = [one.result for one in turn]
            messages.append(("observation", texts[0] if len(texts) == 1 else _text(texts)))
    if style.closing is not None:
        messages.append(("gpt", closing_of(plan, style.closing, results)))
    return {
        "conversations": [{"from": who, "value": text} for who, text in messages],
        "system": style.system,
        "tools": _text(list(functions)),
    }


def dataset_info(files: Iterable[str], name: str) -> dict[str, Any]:
    """The object of `dataset_info.json`, in which LLaMA-Factory looks up the files of a folder.

    Args:
        files: file names, each with its split before the first dot.
        name: prefix of the names of the data sets.

    >>> list(dataset_info(["train.jsonl", "test.jsonl"], "errands"))
    ['errands_train', 'errands_test']
    """
    columns = {"messages": "conversations", "system": "system", "tools": "tools"}
    return {
        f"{name}_{file.partition('.')[0]}": {
            "file_name": file,
            "formatting": "sharegpt",
            "columns": columns,
        }
        for file in files
    }


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
