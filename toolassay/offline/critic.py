"""The offline critic: a review of what rules can check, in words."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from toolassay.argument_values.places import as_text
from toolassay.offline.model_tasks import CritiqueTask
from toolassay.records.dataset import references_in
from toolassay.tools.argument_schemas import Schema, schema_at
from toolassay.tools.library import Tool

_ARGUMENTS = {"input", "arguments"}  # the keys under which a node may have arguments


def review(task: CritiqueTask) -> str:
    """A review, step by step, ending with "Executable: yes|no" and "Correct: yes|no", as labels hold it."""
    lines, executable, correct = _reviewed(task)
    words = {None: "cannot be told, for the plan has no arguments", True: "yes", False: "no"}
    return "\n".join([*lines, f"Executable: {words[executable]}", f"Correct: {words[correct]}"])


def answer(task: CritiqueTask) -> str:
    """The same as the JSON object that critics answer; rules have no doubt about what they cannot judge."""
    lines, executable, correct = _reviewed(task)
    yes = {"yes": True, "why": ""}
    words = "; ".join(lines)
    plan = {"yes": None if executable is None else executable and correct, "why": words}
    return json.dumps({"natural": yes, "grounded": yes, "plan": plan, "links": yes, "values": yes})


def _reviewed(task: CritiqueTask) -> tuple[list[str], bool | None, bool]:
    """The lines of a review, and whether the plan is executable and correct.

    Executable: every tool exists and gets as many inputs as it declares, each of them a text of the
    request, a file named in it, or the output of another tool of the plan. Correct: nodes and links are
    those of the sample; without a sample, the links join its nodes and are those that its inputs make.
    """
    graph = task.instruction.get("invoking_graph", {})
    nodes = [node for node in graph.get("nodes", []) if isinstance(node, dict)]
    names = [str(node.get("id")) for node in nodes]
    lines = []
    executable = True
    for number, node in enumerate(nodes, start=1):
        faults = list(_faults(task, node, names))
        executable = executable and not faults
        lines.append(f"Step {number}, {node.get('id')}: {'; '.join(faults) or 'its inputs are at hand'}.")
    links = {
        (link.get("source"), link.get("target")) for link in graph.get("links", []) if isinstance(link, dict)
    }
    correct, right, wrong = _compared(task, nodes, names, links)
    lines.append(right if correct else wrong)
    # A plan without arguments may be executable or not.
    unclear = executable and task.sample is None and not any(_ARGUMENTS & node.keys() for node in nodes)
    return lines, None if unclear else executable, correct


def _compared(
    task: CritiqueTask, nodes: list[dict[str, Any]], names: list[str], links: set[tuple[Any, Any]]
) -> tuple[bool, str, str]:
    """Whether the plan is correct, and the sentences for yes and no."""
    if task.sample is not None:
        same = Counter(names) == Counter(task.sample.nodes) and links == {
            (link.source, link.target) for link in task.sample.links
        }
        return same, "Nodes and links are the given ones.", "Nodes or links differ from the given ones."
    joined = all(source in names and target in names for source, target in links)
    if task.dependency_type == "resource" and any("input" in node for node in nodes):
        flowing_links = {
            (value, str(node["id"])) for node in nodes for value in node.get("input", []) if value in names
        }
        joined = joined and links == flowing_links
    if task.dependency_type == "schema":  # links without a reference may give an order
        joined = joined and links >= {
            (names[reference.node], str(node["id"]))
            for node in nodes
            for reference in references_in(node.get("arguments"))
            if reference.node < len(names)
        }
    return joined, "The links are those of the plan.", "A link is not one that the plan makes."


def _faults(task: CritiqueTask, node: dict[str, Any], names: list[str]) -> Iterator[str]:
    name = node.get("id")
    if name not in task.library:
        yield "there is no such tool"
        return
    if task.sample is None and not _ARGUMENTS & node.keys():
        return  # a plan that has no arguments
    tool: Tool = task.library[str(name)]
    if task.dependency_type == "resource":
        inputs = node.get("input", [])
        if len(inputs) != len(tool.inputs):
            yield f"{len(inputs)} inputs given, {len(tool.inputs)} declared"
        values = [value for value in inputs if value not in names]
    else:
        arguments = [item for item in node.get("arguments", []) if isinstance(item, dict)]
        required_names = {
            parameter.name for parameter in tool.parameters if tool.input_schema is None or parameter.required
        }
        missing = required_names - {item.get("name") for item in arguments}
        if missing:
            yield f"no value for {', '.join(sorted(missing))}"
        values = [item.get("value") for item in arguments if item.get("value") not in names]
        if tool.input_schema is not None:
            given_values = {str(item.get("name")): item.get("value") for item in arguments}
            values = [
                text for text in _stated_texts(given_values, tool.input_schema, ()) if text not in names
            ]
    references = list(references_in(node.get("arguments"))) if task.dependency_type != "resource" else []
    if any(reference.node >= len(names) for reference in references):
        yield "a reference leads to no node"
    for value in values:
        if references and next(references_in(value), None) is not None:
            continue
        if str(value) not in task.request:
            yield f"'{value}' is nowhere in the request"


def _stated_texts(value: Any, schema: Schema, path: tuple[str | int, ...]) -> Iterator[str]:
    """The texts and numbers in arguments, as a request states them; not true and false, nor fixed values.

    Args:
        value: a part of the arguments.
        schema: the `input_schema` of their tool.
        path: where the part is.
    """
    if isinstance(value, dict | list):
        for part, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _stated_texts(item, schema, (*path, part))
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield from () if "const" in schema_at(path, schema) else (as_text(value),)
