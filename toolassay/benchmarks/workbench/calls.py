"""A call as text, `calendar.delete_event.func(event_id="00000256")`: read without ever running it."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.benchmarks.workbench.tools import PUBLISHED, ToolFailure, Toolset, toolset_of

LONGEST = 200_000
"""Characters in a call: reading one may take some hundred bytes for each."""


class Call(NamedTuple):
    """A call of a tool.

    >>> str(Call("calendar.delete_event", {"event_id": "00000256"}))
    'calendar.delete_event.func(event_id="00000256")'
    """

    name: str
    arguments: Mapping[str, Any]

    def __str__(self) -> str:
        """The published form: values as plain text between double quotes, nothing escaped."""
        values = ", ".join(f'{name}="{value}"' for name, value in self.arguments.items())
        return f"{self.name}.func({values})"


def parse_call(text: str, toolset: Toolset = PUBLISHED) -> Call | None:
    r"""The call that a text writes; None if it is anything else than one call with plain values.

    Values without a name get the names of the tool's arguments.
    Line breaks within a value are taken as the two characters `\n` in its quotes, as published.

    >>> parse_call('email.delete_email.func(email_id="00000479")')
    Call(name='email.delete_email', arguments={'email_id': '00000479'})
    >>> parse_call('__import__("os").system("ls")') is None
    True
    """
    if len(text) > LONGEST:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes that Python does not know
            tree = ast.parse(text.strip(" \t").replace("\n", "\\n"), mode="eval").body
            return _call_of(tree, toolset)
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return None


def run_text(sandbox: Sandbox, text: str) -> Any:
    """Carry out a call written as text.

    Raises:
        ToolFailure: it is no call of a tool, or the call failed; the sandbox is as it was.
    """
    if len(text) > LONGEST:
        raise ToolFailure(f"the call is longer than {LONGEST:,} characters")
    toolset = toolset_of(sandbox)
    parsed = parse_call(text, toolset)
    if parsed is None:
        raise ToolFailure(f"not a call of a tool with plain values: {text[:200]!r}")
    return toolset.call(sandbox, parsed.name, parsed.arguments)


def _call_of(tree: ast.expr, toolset: Toolset) -> Call | None:
    match tree:
        case ast.Call(
            func=ast.Attribute(value=ast.Attribute(value=ast.Name(id=domain), attr=function), attr="func")
        ):
            name = f"{domain}.{function}"
        case _:
            return None
    arguments: dict[str, Any] = {}
    known = list(toolset.tools[name].arguments) if name in toolset.tools else []
    if len(tree.args) > len(known):
        return None
    for key, value in zip(known, tree.args, strict=False):
        arguments[key] = ast.literal_eval(value)
    for keyword in tree.keywords:
        if keyword.arg is None or keyword.arg in arguments:
            return None
        arguments[keyword.arg] = ast.literal_eval(keyword.value)
    return Call(name, arguments)
