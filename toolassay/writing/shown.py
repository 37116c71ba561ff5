"""What a writer and a critic see of a library: the service, whole tools, links between them, real values."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice, zip_longest
from random import Random
from typing import Any

from toolassay.files.data_files import short_json, unescaped_json
from toolassay.graph import ToolGraph
from toolassay.graph.dependencies import condition_of, fields_of
from toolassay.graph.derive.fields import route_of, verb_of
from toolassay.live_values.results import SeenCall
from toolassay.prompts.signatures import said_of_result, signature
from toolassay.records.dataset import Sample
from toolassay.tools.argument_schemas import kinds_of, properties_of
from toolassay.tools.library import Tool, ToolLibrary

_MOST_OF_SERVICE = 3_000  # characters
_MOST_OF_DESCRIPTION = 4_000
_MOST_OF_SCHEMA = 6_000
_MOST_OF_RESULT = 1_500  # characters of a result, or of its shape, in a prompt
_LINKED = 4  # linked tools beside the sampled ones
_FEWEST = 8  # tools to choose from, where there are as many
_MOST_ROWS = 4  # of a tool
_MOST_OF_ROW = 400
_MOST_OF_SAMPLES = 8_000  # characters of what reading tools returned
_HINTS = ("readOnlyHint", "destructiveHint")


def tools_to_judge(graph: ToolGraph | None, library: ToolLibrary, used: Collection[str]) -> tuple[str, ...]:
    """The tools of a plan, and others that a better plan might use, linked ones first: eight, or more."""
    known = [name for name in dict.fromkeys(used) if name in library]
    near: list[str] = []
    if graph is not None and graph.dependency_type == "schema":
        near = [other for name in known for other in (*graph.predecessors(name), *graph.successors(name))]
    chosen = dict.fromkeys([*known, *near[:_LINKED], *library.ids[:_FEWEST]])
    return tuple(list(chosen)[: max(_FEWEST, len(known) + _LINKED)])


def offered_tools(graph: ToolGraph, sample: Sample) -> tuple[str, ...]:
    """The tools from which a plan is made: the sampled ones first, then others in the order of the library.

    The others are up to four that are linked with a sampled tool: for each argument that a sampled tool
    requires one that fills it, a search before other tools, then further ones. If that makes less than eight,
    also tools with arguments of the same name, then any.
    """
    library = graph.library
    rng = Random(f"neighbours {sample.seed} {sample.index}")
    filled = {pair.target.split(".")[0] for pairs in sample.fields for pair in pairs}
    sources: dict[str, list[str]] = {}
    others: list[str] = []
    for name in sample.nodes:
        required = {parameter.name for parameter in library[name].parameters if parameter.required}
        for before in graph.predecessors(name):
            link = graph.dependency(before, name)
            fills = [pair.target.split(".")[0] for pair in fields_of(link)] if link else []
            for argument in required.intersection(fills):
                sources.setdefault(argument, []).append(before)
            others.append(before)
        others += graph.successors(name)
    rng.shuffle(others)
    for tools in sources.values():
        rng.shuffle(tools)
        tools.sort(key=lambda name: verb_of(library[name], route_of(library[name])) != "search")
    # What the sample does not fill comes first.
    rounds = zip_longest(
        *(sources[source] for source in sorted(sources, key=lambda source: (source in filled, source)))
    )
    needed = [name for row in rounds for name in row if name is not None]
    linked = [name for name in dict.fromkeys([*needed, *others]) if name not in sample.nodes][:_LINKED]
    chosen = {*sample.nodes, *linked}
    if (missing := _FEWEST - len(chosen)) > 0:
        named = {parameter.name for name in sample.nodes for parameter in library[name].parameters}
        left = [tool for tool in library if tool.id not in chosen]
        rng.shuffle(left)
        left.sort(key=lambda tool: named.isdisjoint(parameter.name for parameter in tool.parameters))
        chosen.update(tool.id for tool in left[:missing])
    return (*sample.nodes, *(name for name in library.ids if name in chosen.difference(sample.nodes)))


def shown_service(library: ToolLibrary) -> str:
    """The service's description of itself, or the names of all tools, which show its subject."""
    if library.service:
        return library.service[:_MOST_OF_SERVICE]
    names = ", ".join(islice(library.ids, 60))
    return f"It says nothing about itself. Its tools: {names}{', …' if len(library) > 60 else ''}"


def shown_whole(tool: Tool) -> dict[str, Any]:
    """A tool with its whole description and its whole schema of arguments; a signature if that is too long.

    >>> from toolassay.tools.library import Tool
    >>> shown_whole(Tool("now", "Tells the time.", input_schema={"type": "object"}))
    {'id': 'now', 'desc': 'Tells the time.', 'input_schema': {'type': 'object'}}
    """
    if tool.input_schema is None:
        return tool.to_json()
    shown: dict[str, Any] = {"id": tool.id, "desc": tool.description[:_MOST_OF_DESCRIPTION]}
    if len(unescaped_json(tool.input_schema)) <= _MOST_OF_SCHEMA:
        shown["input_schema"] = dict(tool.input_schema)
    else:
        shown["parameters"] = signature(tool.input_schema, _MOST_OF_SCHEMA)
    hints = {name: True for name in _HINTS if tool.annotations.get(name) is True}
    shape = shape_of_result(tool)
    returns = "probably_returns" if tool.source.get("output_schema") == "proposed" else "returns"
    further = {"annotations": hints, returns: shape, "result": said_of_result(tool)}
    return shown | {name: value for name, value in further.items() if value}


def shape_of_result(tool: Tool) -> str:
    """The shape of a result, as far as it is known; empty if nothing is."""
    schema = tool.output_schema
    if schema is None or (kinds_of(schema, schema) <= {"object"} and not properties_of(schema)):
        return ""
    return signature(schema, _MOST_OF_RESULT)


def shown_links(graph: ToolGraph, names: Sequence[str]) -> list[str]:
    """The links among some tools, one a line: what fills an argument, and why a model proposed it."""
    lines = []
    for source in names:
        for target in names:
            link = graph.dependency(source, target) if source != target else None
            if link is None:
                continue
            pairs = [
                f"{source}: {pair.source or 'whole result'} -> {pair.target}" for pair in fields_of(link)
            ]
            pairs += [f"mostly the same {pair.target} as {source}" for pair in link.shared]
            why = f": {link.reasons[0]}" if link.origin == "proposed" and link.reasons else ""
            why += f" ({when})" if (when := condition_of(link)) else ""
            remark = f"({'; '.join(pairs)})" if pairs else "(order only)"
            lines.append(f"{target} after {source} {remark}{why}")
    return lines


def shown_rows(values: Mapping[str, Mapping[str, Sequence[Any]]], names: Sequence[str]) -> list[str]:
    """Arguments of calls that the service accepted, one call a line.

    >>> shown_rows({"show": {"id": [7, 8], "part": ["a", None]}}, ["show", "list"])
    ['show: {"id": 7, "part": "a"}', 'show: {"id": 8}']
    """
    lines: list[str] = []
    for name in names:
        rows = (unescaped_json(row)[:_MOST_OF_ROW] for row in _rows(values.get(name, {})))
        lines += [f"{name}: {row}" for row in islice(dict.fromkeys(rows), _MOST_ROWS)]
    return lines


def shown_samples(results: Mapping[str, Sequence[SeenCall]], names: Sequence[str]) -> list[str]:
    """What calls of reading tools returned, one a line: the first of each tool, then the second of each.

    >>> shown_samples({"find": [SeenCall({"name": "Ann"}, '{"id": 7}')]}, ["show", "find"])
    ['find: {"name": "Ann"} returned {"id": 7}']
    """
    lines: list[str] = []
    left = _MOST_OF_SAMPLES
    for calls in zip_longest(*(results.get(name, ()) for name in names)):
        for name, call in zip(names, calls, strict=True):
            if call is not None:
                arguments = unescaped_json(call.arguments)[:_MOST_OF_ROW]
                line = " ".join(f"{name}: {arguments} returned {call.result}".split())
                if len(line) <= left:
                    lines.append(line)
                    left -= len(line)
    return lines


def _rows(columns: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """The calls that columns of one length hold; else one line with some values of each argument."""
    if len({len(column) for column in columns.values()}) > 1:
        yield {name: list(column[:_MOST_ROWS]) for name, column in columns.items()}
        return
    for row in zip(*columns.values(), strict=True):
        if call := {name: value for name, value in zip(columns, row, strict=True) if value is not None}:
            yield call


def shown_results(tools: Sequence[str], results: Sequence[str]) -> list[str]:
    r"""What calls returned as JSON, one a line, each at most 1,500 characters.

    >>> shown_results(["now", "list"], ["half past", '{"a":\n 1}'])
    ['<node-0> now: "half past"', '<node-1> list: {"a": 1}']
    """
    lines = []
    for position, (tool, text) in enumerate(zip(tools, results, strict=False)):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = text
        lines.append(f"<node-{position}> {tool}: {short_json(value, _MOST_OF_RESULT)}")
    return lines
