"""Workflows as functions that a model can call."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from toolassay.benchmarks.classic.data import Workflow

LONGEST_NAME = 64
LONGEST_DESCRIPTION = 1000
_STRANGE = re.compile(r"[^A-Za-z0-9_-]+")
_NOTHING = "no_workflow"


def function_name(name: str, taken: Collection[str]) -> str:
    """A name that a function may have: letters, digits, `_` and `-`, at most 64, and not one of `taken`.

    Upper and lower case make no difference in what is taken, which is in lower case.

    >>> function_name("Book a desk!", ()), function_name("book a desk", {"book_a_desk"})
    ('Book_a_desk', 'book_a_desk_2')
    >>> function_name("2nd line", ()), function_name("会议室", ())
    ('_2nd_line', 'workflow')
    """
    base = _STRANGE.sub("_", name).strip("_") or "workflow"
    if not (base[0].isalpha() or base[0] == "_"):
        base = f"_{base}"
    base = base[:LONGEST_NAME]
    found, number = base, 1
    while found.lower() in taken:
        number += 1
        end = f"_{number}"
        found = f"{base[: LONGEST_NAME - len(end)]}{end}"
    return found


def named_functions(candidates: Sequence[Workflow]) -> tuple[list[tuple[str, Workflow]], str]:
    """Each workflow with the name of its function, and the name of the function for none."""
    taken: set[str] = set()
    named = []
    for workflow in candidates:
        name = function_name(workflow.name, taken)
        taken.add(name.lower())
        named.append((name, workflow))
    return named, function_name(_NOTHING, taken)


def function_list(named: Sequence[tuple[str, Workflow]], nothing: str) -> Iterator[dict[str, Any]]:
    """The functions as the interface wants them, that for none last."""
    for name, workflow in named:
        text = f"{workflow.name}: {workflow.description}" if workflow.description else workflow.name
        yield _function(name, text[:LONGEST_DESCRIPTION])
    yield _function(nothing, "Start nothing: no other function does what the last message asks for.")


def _function(name: str, description: str) -> dict[str, Any]:
    parameters = {"type": "object", "properties": {}}
    return {
        "type": "function",
        "function": {"name": name, "description": description, "parameters": parameters},
    }
