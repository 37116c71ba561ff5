"""Whether a sample is clean, as far as that is mechanical: our own reading, not the gates'."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from measurements.planted_defects.plans import (
    MEDIA,
    bare,
    file_type,
    is_reference,
    linked_by_references,
    links_of,
    occurs,
    reference,
    slots,
    tools_of,
    type_of,
)
from measurements.planted_defects.samples import DataSet, Record
from measurements.planted_defects.verifying import fits


def faults(data: DataSet) -> dict[Any, list[str]]:
    """The faults of every sample that has some, by id."""
    found = {record["id"]: list(faults_of(record, data)) for record in data.records}
    if len(found) < len(data.records):
        raise ValueError(f"{data.folder}: an id occurs twice")
    requests = Counter(bare(record["user_request"]) for record in data.records)
    for record in data.records:
        if requests[bare(record["user_request"])] > 1:
            found[record["id"]].append("its request occurs twice")
    return {id: those for id, those in found.items() if those}


def faults_of(record: Record, data: DataSet) -> Iterator[str]:
    """What is wrong with one sample."""
    tools = tools_of(record)
    if strange := [tool for tool in tools if tool not in data.tools]:
        yield f"unknown tools {strange}"
        return
    if record.get("n_tools", len(tools)) != len(tools) or len(record["task_steps"]) != len(tools):
        yield "another number of steps or tools than nodes"
    if Counter(node["task"] for node in record["sampled_nodes"]) != Counter(tools):
        yield "other tools than sampled"
    if links_of(record) != links_of(record, "sampled_links"):
        yield "other links than sampled"
    if any(a == b or a not in tools or b not in tools for a, b in links_of(record)):
        yield "a link that leads nowhere, or to itself"
    if any(len(re.findall(r"[^\W_]+", tool)) > 1 and _names(record, tool) for tool in tools):
        yield "the request names a tool"
    if any((j := reference(slot.value)) is not None and j >= slot.node for slot in slots(record)):
        yield "a reference that does not point back"
    yield from _named_arguments(record, data) if data.temporal else _inputs(record, data)


def _names(record: Record, tool: str) -> bool:
    """Whether the request has the name as it is written, or in one word."""
    request = record["user_request"]
    return tool in request or bool(
        re.search(rf"(?i)\b{re.escape(re.sub(r'[^a-zA-Z]+', '_', tool))}\b", request)
    )


def _inputs(record: Record, data: DataSet) -> Iterator[str]:
    if set(linked_by_references(record)) != set(links_of(record)):
        yield "references and links differ"
    for node, tool in enumerate(tools_of(record)):
        own = [slot for slot in slots(record) if slot.node == node]
        if Counter(type_of(slot.value, record, data.tools) for slot in own) != Counter(
            data.tools[tool].inputs
        ):
            yield f"node {node}: not the inputs of '{tool}'"
        for slot in own:
            known = is_reference(slot.value, record) or file_type(slot.value) in (*MEDIA, "url")
            if not occurs(slot.value, record["user_request"]) and not (
                known and reference(slot.value) is not None
            ):
                yield f"{slot.where}: {slot.value!r} is not in the request"


def _named_arguments(record: Record, data: DataSet) -> Iterator[str]:
    for node, tool in enumerate(tools_of(record)):
        names = [str(slot.name) for slot in slots(record) if slot.node == node]
        required = {parameter.name for parameter in data.tools[tool].parameters if parameter.required}
        if len(set(names)) < len(names) or not required <= set(names):
            yield f"node {node}: a parameter of '{tool}' is missing or given twice"
    for slot in slots(record):
        parameter = data.tools[tools_of(record)[slot.node]].parameter(slot.name)
        if parameter is None:
            yield f"{slot.where}: there is no parameter {slot.name!r}"
        elif not is_reference(slot.value, record) and not fits(slot.value, parameter):
            yield f"{slot.where}: {slot.value!r} is no {parameter.type}"
