"""The plan that recorded calls make: a value from an earlier result becomes a reference."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from toolassay.graph.traces import identifies, is_distinctive, is_said
from toolassay.plans.execution_record import ExecutedCall
from toolassay.tools.library import Tool, ToolLibrary
from toolassay.tools.output_paths import Part, Reference, reference_text

_MOST_VALUES = 50_000  # of a result in which an argument is looked for
# Levels of a result in which values are looked for, so that no result can exhaust the stack.
_DEEPEST = 32


def plan_of_calls(calls: Sequence[ExecutedCall], request: str, library: ToolLibrary) -> dict[str, Any]:
    """The plan that calls make.

    An argument that occurs in exactly one earlier result becomes a reference, with a link, unless the request
    or the source's own arguments say it, or it may recur by chance (`is_distinctive`). A refused call is left
    out if a later call of its tool was accepted.

    >>> from toolassay.tools.library import Tool
    >>> found = ExecutedCall(0, "find", {"q": "Dune"}, [{"id": 7042}])
    >>> shown = ExecutedCall(1, "show", {"id": 7042})
    >>> plan = plan_of_calls([found, shown], "Show Dune", ToolLibrary([Tool("find"), Tool("show")]))
    >>> plan["task_nodes"][1], plan["task_links"]  # doctest: +NORMALIZE_WHITESPACE
    ({'task': 'show', 'arguments': [{'name': 'id', 'value': '<node-0>[0].id'}]},
     [{'source': 'find', 'target': 'show'}])
    """
    accepted = {call.tool: number for number, call in enumerate(calls) if call.error is None}
    kept = [
        call
        for number, call in enumerate(calls)
        if call.error is None or accepted.get(call.tool, -1) < number
    ]
    nodes = []
    links = dict[tuple[str, str], None]()
    sources: list[dict[str, tuple[Part, ...]]] = []
    for call in kept:

        def filled(value: Any, parts: tuple[Part, ...], call: ExecutedCall = call) -> Any:
            if isinstance(value, dict):
                return {name: filled(item, (*parts, name)) for name, item in value.items()}
            if isinstance(value, list):
                return [filled(item, (*parts, number)) for number, item in enumerate(value)]
            givers = [number for number, source in enumerate(sources) if value_key(value) in source]
            if len(givers) != 1 or not may_come_from_result(value, parts, request, library[call.tool]):
                return value
            links[kept[givers[0]].tool, call.tool] = None
            return reference_text(Reference(givers[0], sources[givers[0]][value_key(value)]))

        arguments = [
            {"name": name, "value": filled(argument, (name,))} for name, argument in call.arguments.items()
        ]
        nodes.append({"task": call.tool, "arguments": arguments})
        sources.append(given_values(call.arguments, call.result))
    return {
        "task_steps": [],
        "task_nodes": nodes,
        "task_links": [{"source": source, "target": target} for source, target in links],
    }


def may_come_from_result(value: Any, parts: tuple[Part, ...], request: str, tool: Tool) -> bool:
    """Whether a value that an earlier result has was taken from it: the request does not state it, and it is
    unlikely to recur by chance.

    Args:
        value: A value that is no list or object.
        parts: Its place in the arguments.
        request: The request.
        tool: The tool that takes it.
    """
    if value in (None, True, False, "") or is_said(value, request):
        return False
    return identifies(parts) or is_distinctive(value, parts, tool)


def given_values(arguments: Mapping[str, Any], result: Any) -> dict[str, tuple[Part, ...]]:
    """The first place of each value in a result, by `value_key`; those of its own arguments are not given."""
    argument_keys = {value_key(value) for _, value in leaves(dict(arguments))}
    places: dict[str, tuple[Part, ...]] = {}
    for parts, value in leaves(result):
        if len(places) < _MOST_VALUES and value_key(value) not in argument_keys:
            places.setdefault(value_key(value), parts)
    return places


def value_key(value: Any) -> str:
    """A text that is equal for equal values that are no lists or objects."""
    return value if isinstance(value, str) else json.dumps(value)


def leaves(value: Any, parts: tuple[Part, ...] = ()) -> Iterator[tuple[tuple[Part, ...], Any]]:
    """The values in a JSON value that are no lists or objects, each with its path."""
    if isinstance(value, dict | list) and len(parts) < _DEEPEST:
        for part, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(item, (*parts, part))
    else:
        yield parts, value
