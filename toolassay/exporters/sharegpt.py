"""Chats with tool calls in the ShareGPT form, as LLaMA-Factory reads them.

Turns alternate: human or observation at even places, function_call or gpt at odd ones. A `function_call` is
JSON: an object, or a list of them for several calls at once; its `observation` then is a JSON list too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from toolassay.exporters.export_plan import ExportPlan
from toolassay.exporters.function_schemas import Names
from toolassay.exporters.turns import ChatStyle, arguments_of, closing_of, result_of, turns_of


def conversation_of(
    plan: ExportPlan, functions: Sequence[Mapping[str, Any]], names: Names, style: ChatStyle
) -> dict[str, Any]:
    """A line of the file: `conversations`, `system` (may be empty), and `tools` as JSON text.

    Args:
        plan: the sample.
        functions: the tools it may use; see `toolassay.exporters.function_schemas.function_of`.
        names: of functions and parameters.
        style: how chats are written.
    """
    turns = turns_of(plan, parallel=style.parallel)
    said = [("human", plan.request)]
    for turn in turns:
        calls = [
            {"name": names.functions[call.tool], "arguments": arguments_of(call, names)}
            for call in (plan.calls[place] for place in turn)
        ]
        said.append(("function_call", _text(calls[0] if len(calls) == 1 else calls)))
        if turn is not turns[-1] or style.closing is not None:
            results = [result_of(place) for place in turn]
            said.append(("observation", results[0] if len(results) == 1 else _text(results)))
    if style.closing is not None:
        said.append(("gpt", closing_of(plan, style.closing)))
    return {
        "conversations": [{"from": who, "value": text} for who, text in said],
        "system": style.system,
        "tools": _text(list(functions)),
    }


def dataset_info(files: Iterable[str], name: str) -> dict[str, Any]:
    """The object of `dataset_info.json`, by which LLaMA-Factory finds the files of a folder.

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
