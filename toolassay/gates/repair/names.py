"""Names of tools and of parameters, spelt as the library spells them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolassay.backinstruct.critics import Spellings
from toolassay.gates.gate import Background
from toolassay.gates.repair.changes import Record, Repair
from toolassay.gates.tool_names import names_of

_ENDS = {"task_nodes": ("task", "id"), "sampled_nodes": ("task", "id")} | dict.fromkeys(
    ("task_links", "sampled_links"), ("source", "target")
)


def mend_tool_names(record: Record, background: Background, repairs: list[Repair]) -> Record:
    """Tools in nodes, links and the sample, where the library has one tool that is spelt nearly so."""
    names = names_of(background.library)
    for key, ends in _ENDS.items():
        items = record.get(key)
        if isinstance(items, list):
            mended = [
                _item(item, f"{key}[{place}]", ends, names, repairs) for place, item in enumerate(items)
            ]
            if any(new is not old for new, old in zip(mended, items, strict=True)):
                record = {**record, key: mended}
    return record


def _item(item: Any, where: str, ends: tuple[str, str], names: Spellings, repairs: list[Repair]) -> Any:
    if isinstance(item, str):
        return _name(item, where, names, repairs)
    if not isinstance(item, Mapping):
        return item
    present = [end for end in ends if isinstance(item.get(end), str)]
    if "task" in ends:
        present = present[:1]  # `id` names the tool only where there is no `task`
    mended = {end: _name(item[end], f"{where}.{end}", names, repairs) for end in present}
    return {**item, **mended} if any(mended[end] is not item[end] for end in mended) else item


def _name(name: str, where: str, names: Spellings, repairs: list[Repair]) -> str:
    meant = names.meant(name)
    if meant is None or meant == name:
        return name
    repairs.append(Repair("tool name", where, name, meant))
    return meant


def mend_argument_names(record: Record, background: Background, repairs: list[Repair]) -> Record:
    """Names of arguments, where the tool has one parameter that is spelt nearly so."""
    nodes = record.get("task_nodes")
    if not isinstance(nodes, list):
        return record
    mended = [_node(node, f"task_nodes[{place}]", background, repairs) for place, node in enumerate(nodes)]
    changed = any(new is not old for new, old in zip(mended, nodes, strict=True))
    return {**record, "task_nodes": mended} if changed else record


def _node(node: Any, where: str, background: Background, repairs: list[Repair]) -> Any:
    tool = node.get("task", node.get("id")) if isinstance(node, Mapping) else None
    arguments = node.get("arguments") if isinstance(node, Mapping) else None
    if not isinstance(tool, str) or tool not in background.library or not isinstance(arguments, list):
        return node
    names = Spellings(parameter.name for parameter in background.library[tool].parameters)
    said = [item.get("name") if isinstance(item, Mapping) else None for item in arguments]
    taken = {name for name in said if isinstance(name, str)}
    mended = list(arguments)
    for place, name in enumerate(said):
        meant = names.meant(name) if isinstance(name, str) else None
        if meant is not None and meant != name and meant not in taken:
            repairs.append(Repair("argument name", f"{where}.arguments[{place}].name", name, meant))
            mended[place] = {**arguments[place], "name": meant}
            taken.add(meant)
    changed = any(new is not old for new, old in zip(mended, arguments, strict=True))
    return {**node, "arguments": mended} if changed else node
