"""Arguments of plans of schema graphs that take a value from the result of an earlier step."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from toolassay.graph import FieldPair
from toolassay.records.dataset import Sample
from toolassay.tools.argument_schemas import (
    Schema,
    kinds_of,
    schema_at,
)
from toolassay.tools.library import Tool, ToolLibrary
from toolassay.tools.output_paths import EACH, Part, Reference, parse_path, reference_text

# The number of an item in the name of a place: ".2" in "lines.2.amount", not in "v.2a".
_ITEM_NUMBER = re.compile(r"\.\d+(?=\.|$)")


class FedArgument(NamedTuple):
    """An argument, or a part of one, that takes a value from an earlier step.

    Attributes:
        parts: The path of the argument.
        source: Index of the node that gives the value.
        value: What the plan has in its place: a reference, or a list of one.
        path: The path in the result; an item of a list has a number, `EACH` stands for all items.
    """

    parts: tuple[Part, ...]
    source: int
    value: Any
    path: tuple[Part, ...]

    @property
    def name(self) -> str:
        """The name of the innermost argument."""
        return next((part for part in reversed(self.parts) if isinstance(part, str) and part != EACH), "")

    @property
    def place(self) -> str:
        """The name of the argument as `ValuePlace` spells it: `filter.movie_id`."""
        return ".".join(_names(self.parts))


def fed_arguments(sample: Sample, library: ToolLibrary) -> list[tuple[FedArgument, ...]]:
    """The fed arguments of each node of a sample, in the order of its nodes.

    An argument with the same value as a fed argument of an earlier node is fed in the same way.
    """
    order = {name: number for number, name in enumerate(sample.nodes)}
    fed: list[list[FedArgument]] = [[] for _ in sample.nodes]
    for link, pairs in zip(sample.links, sample.fields, strict=False):
        for pair in pairs:
            giver = library[link.source]
            taker = library[link.target]
            fed[order[link.target]].append(fed_argument(pair, order[link.source], giver, taker))
    # Nodes are in topological order: what a source shares is complete before its targets come.
    for link, pairs in sorted(
        zip(sample.links, sample.shared, strict=False), key=lambda linked: order[linked[0].source]
    ):
        for pair in pairs:
            for argument in fed[order[link.source]]:
                if argument.place == pair.source:
                    same = argument._replace(parts=parse_path(pair.target))
                    fed[order[link.target]].append(same)
    return [tuple(arguments) for arguments in fed]


def fed_argument(pair: FieldPair, source: int, giver: Tool, taker: Tool) -> FedArgument:
    """The argument that a pair of fields fills.

    Of the items of a list, a single value takes the first, and a list takes all. A single value that fills a
    list is its only item.

    Args:
        pair: The path in the result, and the argument.
        source: Index of the node that gives the result.
        giver: The tool of that node.
        taker: The tool with the argument.
    """
    path = parse_path(pair.source)
    parts = parse_path(pair.target)
    if any(parameter.name == pair.target for parameter in taker.parameters):
        parts = (pair.target,)
    if parts[-1:] == (EACH,) and EACH in path:
        parts = parts[:-1]
    wanted = _kinds(parts, taker.input_schema)
    given = _kinds(path, giver.output_schema)
    if wanted == {"array"} and given != {"array"}:
        if EACH not in path:
            return FedArgument(parts, source, [reference_text(Reference(source, path))], path)
        last = len(path) - 1 - path[::-1].index(EACH)
        path = (*_first(path[:last]), *path[last:])
    else:
        path = _first(path)
        if given == {"array"} and wanted and "array" not in wanted:
            path = (*path, 0)
    return FedArgument(parts, source, reference_text(Reference(source, path)), path)


def _first(path: Sequence[Part]) -> tuple[Part, ...]:
    return tuple(0 if part == EACH else part for part in path)


def _kinds(parts: Sequence[Part], schema: Schema | None) -> frozenset[str]:
    """The JSON types at a path, without null; empty if unknown."""
    if schema is None:
        return frozenset()
    return kinds_of(schema_at(_first(parts), schema), schema) - {"null"}


def _names(parts: Iterable[Part]) -> tuple[str, ...]:
    return tuple(part for part in parts if isinstance(part, str) and part != EACH)


def included(fed: Iterable[FedArgument]) -> frozenset[tuple[str, ...]]:
    """The fed arguments and the objects that they are in, as paths of names."""
    paths = [_names(argument.parts) for argument in fed]
    return frozenset(path[:end] for path in paths for end in range(1, len(path) + 1))


def is_fed(name: str, fed: Iterable[FedArgument]) -> bool:
    """Whether a place in the arguments, named as by `ValuePlace`, is fed or part of a fed argument.

    >>> movie = FedArgument(("filter", "movie_id"), 0, "<node-0>.id", ("id",))
    >>> is_fed("filter.movie_id", [movie]), is_fed("filter.language", [movie])
    (True, False)
    """
    plain = _ITEM_NUMBER.sub("", name)
    return any(plain == argument.place or plain.startswith(f"{argument.place}.") for argument in fed)


def with_fed(arguments: Iterable[Mapping[str, Any]], fed: Iterable[FedArgument]) -> list[dict[str, Any]]:
    """Arguments, `{"name", "value"}` each, with the values of the fed ones.

    >>> with_fed([], [FedArgument(("filter", "ids", EACH), 0, "<node-0>", ())])
    [{'name': 'filter', 'value': {'ids': ['<node-0>']}}]
    """
    values: Any = {argument["name"]: argument["value"] for argument in arguments}
    for argument in fed:
        values = _with(values, argument.parts, argument.value)
    return [{"name": name, "value": value} for name, value in values.items()]


def _with(given: Any, parts: Sequence[Part], value: Any) -> Any:
    if not parts:
        return value
    first, *rest = parts
    if first == EACH or isinstance(first, int):
        items = given if isinstance(given, list) else []
        return [_with(items[0] if items else None, rest, value), *items[1:]]
    members = given if isinstance(given, dict) else {}
    return {**members, first: _with(members.get(first), rest, value)}
