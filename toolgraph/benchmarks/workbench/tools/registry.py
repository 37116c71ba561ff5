"""All tools by name, by toolkit, and how one is called."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any

from toolgraph.benchmarks.workbench.sandbox import Sandbox
from toolgraph.benchmarks.workbench.tools import (
    analytics,
    calendar,
    customers,
    directory,
    email,
    project_management,
)
from toolgraph.benchmarks.workbench.tools.tool import Tool, ToolFailure
from toolgraph.errors import UsageError
from toolgraph.files import readable

TOOLKITS: Mapping[str, tuple[Tool, ...]] = {
    room.DOMAIN: room.TOOLS for room in (email, calendar, analytics, project_management, customers, directory)
}
"""The tools of each domain in the order of the published prompt."""

TOOLS: Mapping[str, Tool] = {tool.name: tool for tools in TOOLKITS.values() for tool in tools}
"""Every tool by its published name."""

LONGEST_VALUE = 100_000
"""Characters in the value of an argument."""
_BY_FUNCTION_NAME = {tool.function_name: tool for tool in TOOLS.values()}
_ALIASES = {"crm": customers.DOMAIN}


def call(sandbox: Sandbox, name: str, arguments: Mapping[str, Any]) -> Any:
    """Call a tool.

    Args:
        sandbox: what it acts on.
        name: of the tool, e.g. `calendar.create_event`.
        arguments: its arguments by name: texts, numbers or None.

    Returns:
        A JSON value. Many mistakes have an answer of their own ("Event not found.") and are no failure.

    Raises:
        ToolFailure: unknown tool, unknown argument, or the tool could not work with the values; the sandbox
            is as it was.

    >>> call(Sandbox.of({}), "email.delete_email", {"email_id": "00000001"})
    'Email not found.'
    """
    tool = TOOLS.get(name)
    if tool is None:
        raise ToolFailure(f"there is no tool {name[:100]!r}; tools are: {', '.join(TOOLS)}")
    return _run(tool, sandbox, {key: _checked(tool, key, value) for key, value in arguments.items()})


def tool_called(name: str) -> Tool | None:
    """The tool of a published name or of a name without a dot (`calendar__create_event`)."""
    return TOOLS.get(name) or _BY_FUNCTION_NAME.get(name)


def tools_for(domains: Iterable[str] | None) -> list[Tool]:
    """The tools of some domains and the directory; all tools for None.

    The published selector does not know `crm`, the name that some published tasks use; this one does.

    Raises:
        UsageError: there is no such domain.

    >>> [tool.name for tool in tools_for(["calendar"])][-2:]
    ['calendar.search_events', 'company_directory.find_email_address']
    """
    if domains is None:
        return list(TOOLS.values())
    wanted = {_ALIASES.get(domain, domain) for domain in domains} | {directory.DOMAIN}
    if unknown := wanted - set(TOOLKITS):
        raise UsageError(f"unknown domain {sorted(unknown)[0]!r}", fix=f"choose from {', '.join(TOOLKITS)}")
    return [tool for domain, tools in TOOLKITS.items() if domain in wanted for tool in tools]


def listing(tools: Iterable[Tool]) -> str:
    """The tools as text, one a line, for prompts without native tool calling.

    >>> print(listing(tools_for([])))
    company_directory.find_email_address(name) - Find colleagues' e-mail addresses.
      name: A first name or a last name.
    """
    lines = []
    for tool in tools:
        names = ", ".join(
            name if argument.required else f"{name}=None" for name, argument in tool.arguments.items()
        )
        lines.append(f"{tool.name}({names}) - {tool.description}")
        for name, argument in tool.arguments.items():
            choices = f" One of: {', '.join(argument.choices)}." if argument.choices else ""
            lines.append(f"  {name}: {argument.description}{choices}")
    return "\n".join(lines)


def _checked(tool: Tool, name: str, value: Any) -> Any:
    """The value of an argument.

    Raises:
        ToolFailure: the tool has no such argument, or no tool can work with the value.
    """
    if name not in tool.arguments:
        raise ToolFailure(
            f"{tool.name} has no argument {name[:100]!r}; its arguments are: {', '.join(tool.arguments)}"
        )
    if isinstance(value, str):
        if len(value) > LONGEST_VALUE:
            raise ToolFailure(f"{name} is longer than {LONGEST_VALUE:,} characters")
        return readable(value)  # SQLite stores no halves of surrogate pairs
    if value is None or isinstance(value, int) or (isinstance(value, float) and isfinite(value)):
        return value
    raise ToolFailure(f"{name} is text or a number, not {type(value).__name__}")


def _run(tool: Tool, sandbox: Sandbox, arguments: Mapping[str, Any]) -> Any:
    try:
        with sandbox.transaction():
            return tool(sandbox, **arguments)
    except (TypeError, AttributeError, ValueError, ArithmeticError, sqlite3.Error, RecursionError) as error:
        given = ", ".join(f"{name}={str(value)[:100]!r}" for name, value in arguments.items())
        raise ToolFailure(f"{tool.name} cannot work with {given}: {error}") from error
