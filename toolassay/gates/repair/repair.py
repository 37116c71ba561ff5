"""Repair a label: all menders in turn, until there is nothing left to mend."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolassay.dataset import repository_form
from toolassay.gates.gate import Background
from toolassay.gates.repair.changes import Mender, Record, Repair
from toolassay.gates.repair.forms import mend_forms
from toolassay.gates.repair.names import mend_argument_names, mend_tool_names
from toolassay.gates.repair.order import mend_order
from toolassay.gates.repair.plan import mend_links, mend_size, mend_steps
from toolassay.gates.repair.pointers import mend_counting, mend_spelling

_MENDERS: tuple[Mender, ...] = (
    mend_steps,
    mend_tool_names,
    mend_forms,
    mend_argument_names,
    mend_links,
    mend_spelling,
    mend_counting,
    mend_order,
    mend_size,
)
_ROUNDS = 5


def repair(record: Mapping[str, Any], background: Background) -> tuple[Record, list[Repair]]:
    """The label with what is mechanical mended, and each change; the label given stays as it is.

    Only what can be meant in one way is changed, and nothing that a gate would take for a sign of a wrong
    plan. A label in the hub's form comes back in the repository's, which is no repair.

    Args:
        record: a label, whatever it holds.
        background: the library and the graph it belongs to.

    >>> from toolassay.tools import Tool, ToolLibrary
    >>> background = Background(ToolLibrary([Tool("Text Search", "", ("text",), ("text",))]), "resource")
    >>> mended, repairs = repair({"task_nodes": [{"task": "text_search", "arguments": "tea"}]}, background)
    >>> mended["task_nodes"], [change.kind for change in repairs]
    ([{'task': 'Text Search', 'arguments': ['tea']}], ['tool name', 'form'])
    """
    mended = repository_form(record)
    repairs: list[Repair] = []
    for _ in range(_ROUNDS):
        found: list[Repair] = []
        for mend in _MENDERS:
            mended = mend(mended, background, found)
        repairs += found
        if not found:
            break
    return mended, repairs
