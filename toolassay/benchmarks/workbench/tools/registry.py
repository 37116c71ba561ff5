"""The published tools by name and by domain, how a tool is called, and how tools are told of in a prompt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.benchmarks.workbench.tools import (
    analytics,
    calendar,
    customers,
    directory,
    email,
    project_management,
)
from toolassay.benchmarks.workbench.tools.tool import Tool
from toolassay.benchmarks.workbench.tools.toolset import Toolset

TOOLKITS: Mapping[str, tuple[Tool, ...]] = {
    room.DOMAIN: room.TOOLS for room in (email, calendar, analytics, project_management, customers, directory)
}
"""The published tools of each domain in the order of the published prompt."""

# The published selector does not know `crm`, the name that some published tasks use; this one does.
PUBLISHED = Toolset(TOOLKITS, everywhere=[directory.DOMAIN], aliases={"crm": customers.DOMAIN})
"""The published tools."""

TOOLS: Mapping[str, Tool] = PUBLISHED.tools
"""Every published tool by its name."""


def toolset_of(sandbox: Sandbox) -> Toolset:
    """The tools of a workplace: its own, or the published ones."""
    return sandbox.toolset or PUBLISHED


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
    return toolset_of(sandbox).call(sandbox, name, arguments)


def tool_called(name: str) -> Tool | None:
    """The published tool of a name or of a name without a dot (`calendar__create_event`)."""
    return PUBLISHED.called(name)


def tools_for(domains: Iterable[str] | None) -> list[Tool]:
    """The published tools of some domains and the directory; all tools for None.

    Raises:
        UsageError: there is no such domain.

    >>> [tool.name for tool in tools_for(["calendar"])][-2:]
    ['calendar.search_events', 'company_directory.find_email_address']
    """
    return PUBLISHED.of_domains(domains)


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
            lines.append(f"  {name}: {argument.told()}")
    return "\n".join(lines)
