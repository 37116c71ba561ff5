"""A plan as the strict scores read it: names, arguments and links, normalised and checked."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from toolassay.benchmarks.taskbench.scoring.strict_values import comparable, comparable_text, resource_type
from toolassay.graph import DependencyType
from toolassay.tools import ToolLibrary

REFERENCE = re.compile(r"<node-(\d{1,9})>")
# Most literals: no reference, file, number or quote to look for (what `_resource_argument` would find out).
_PLAIN = re.compile(r"[A-Za-z][^.<]{5,}(?<!\s)")
_SHORT = 300  # characters
STEP_KEYS = ("task", "step", "description", "step_name", "name", "id")

Argument = tuple[Hashable, Hashable]
"""A name (or resource type) and a comparable value; a text may still hold references `<node-j>`."""


@dataclass(eq=False)
class Plan:
    """One plan.

    `arguments` is None where no node says any (a set without gold arguments), `links` where there is no such
    list; then the references in the arguments are the links. With `has_types` an argument is named by the
    type of its resource, else by the parameter.
    """

    names: list[str]
    arguments: list[list[Argument]] | None
    links: list[tuple[str, str]] | None
    steps: str | None
    has_types: bool = True

    @cached_property
    def has_references(self) -> bool:
        """Whether any argument mentions a node."""
        return any(
            isinstance(value, str) and "<node-" in value
            for arguments in self.arguments or ()
            for _, value in arguments
        )

    @cached_property
    def references(self) -> list[tuple[int, int]]:
        """The links the arguments make: (source node, target node), each once, none to itself."""
        found: dict[tuple[int, int], None] = {}
        for target, arguments in enumerate(self.arguments or ()):
            for _, value in arguments:
                if isinstance(value, str) and "<node-" in value:
                    for digits in REFERENCE.findall(value):
                        if (source := int(digits)) < len(self.names) and source != target:
                            found[source, target] = None
        return list(found)


class PlanReader:
    """Reads gold and predicted plans of one library.

    Args:
        library: the tools; their output types name what a reference carries.
        dependency_type: resource names have "_" read as " "; temporal names are kept.
    """

    def __init__(self, library: ToolLibrary, dependency_type: DependencyType) -> None:
        self._is_resource = dependency_type == "resource"
        self.name: Callable[[str], str] = _with_blanks if self._is_resource else str
        self._output_types = {
            self.name(tool.id): tool.outputs[0] if tool.outputs else "none" for tool in library
        }

    def plan(self, value: Any) -> Plan | None:
        """The plan an object holds; None for no object, no list of nodes, a nameless node, too deep."""
        nodes = value.get("task_nodes") if isinstance(value, Mapping) else None
        if not isinstance(nodes, list):
            return None
        names: list[str] = []
        for node in nodes:
            name = node.get("task") if isinstance(node, dict) else None
            if not isinstance(name, str):
                return None
            names.append(self.name(name))
        try:
            arguments: list[list[Argument]] | None = None
            if not nodes or any("arguments" in node for node in nodes):
                arguments = [self._arguments(node.get("arguments"), names) for node in nodes]
            links = self._links(value.get("task_links"))
            return Plan(names, arguments, links, steps_text(value.get("task_steps")), self._is_resource)
        except RecursionError:
            return None

    def _links(self, links: Any) -> list[tuple[str, str]] | None:
        if not isinstance(links, list):
            return None
        pairs: list[tuple[str, str]] = []
        for link in links:
            source, target = (
                (link.get("source"), link.get("target")) if isinstance(link, dict) else (None, None)
            )
            if isinstance(source, str) and isinstance(target, str):
                pairs.append((self.name(source), self.name(target)))
            else:
                pairs.append(("", f"unreadable: {json.dumps(link, sort_keys=True)}"))
        return pairs

    def _arguments(self, given: Any, names: list[str]) -> list[Argument]:
        if given is None:
            return []
        if not isinstance(given, list):
            return [("unreadable", comparable(given))]
        if not self._is_resource:
            return [_temporal_argument(argument) for argument in given]
        return [
            ("text", argument)
            if type(argument) is str and _PLAIN.fullmatch(argument)
            else self._resource_argument(argument, names)
            for argument in given
        ]

    def _resource_argument(self, argument: Any, names: list[str]) -> Argument:
        if not isinstance(argument, str):
            return "object" if isinstance(argument, dict | list) else "text", comparable(argument)
        kind, value, source = (_literal if len(argument) <= _SHORT else _read_literal)(argument)
        if source is None:
            return kind, value
        return self._output_types.get(names[source], "other") if source < len(names) else "other", value


def _read_literal(text: str) -> tuple[str, Hashable, int | None]:
    """The type and the value of a text in the arguments; of a reference, the node it points to."""
    value = comparable_text(text)
    if not isinstance(value, str):
        return "text", value, None
    reference = REFERENCE.fullmatch(value) if value[:1] == "<" else None
    if reference is None:
        return resource_type(value) if "." in value else "text", value, None
    return "other", value, int(reference[1])


_literal = lru_cache(maxsize=10_000)(_read_literal)  # the gold's texts come back in the prediction


def steps_text(steps: Any) -> str | None:
    r"""The steps as lines of text; None where there are none to read.

    >>> steps_text(["a", {"step": "b"}]), steps_text("a"), steps_text(7)
    ('a\nb', 'a', None)
    """
    if isinstance(steps, str):
        return steps
    if not isinstance(steps, list):
        return None
    try:
        return "\n".join(steps)
    except TypeError:
        return "\n".join(_step_text(step) for step in steps)


def _step_text(step: Any) -> str:
    if isinstance(step, dict):
        step = next((step[key] for key in STEP_KEYS if isinstance(step.get(key), str)), step)
    return step if isinstance(step, str) else json.dumps(step, ensure_ascii=False)


def _temporal_argument(argument: Any) -> Argument:
    if isinstance(argument, dict) and isinstance(argument.get("name"), str) and "value" in argument:
        return argument["name"].strip(), comparable(argument["value"])
    return "unreadable", comparable(argument)


def _with_blanks(name: str) -> str:
    return name.replace("_", " ")
