"""Toolsets: the tools of a workplace by name and domain, the published toolset, and the list of tools in
a prompt.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from toolassay.benchmarks.workbench.sandbox import EDITIONS, Sandbox
from toolassay.benchmarks.workbench.sandbox import PUBLISHED as EDITION_2024
from toolassay.benchmarks.workbench.tools import published_tools
from toolassay.benchmarks.workbench.tools.tool import DECLARED
from toolassay.benchmarks.workbench.tools.tool import ToolArgument as ToolArgument
from toolassay.benchmarks.workbench.tools.tool import ToolFailure as ToolFailure
from toolassay.benchmarks.workbench.tools.tool import WorkplaceTool as WorkplaceTool
from toolassay.errors import UsageError


class Toolset:
    """All tools of a workplace.

    Args:
        toolkits: the tools of each domain, in the order in which prompts list them.
        everywhere: domains whose tools every task gets.
        aliases: alternative names of domains.
    """

    def __init__(
        self,
        toolkits: Mapping[str, Sequence[WorkplaceTool]],
        *,
        everywhere: Iterable[str] = (),
        aliases: Mapping[str, str] | None = None,
    ) -> None:
        self.toolkits = toolkits
        self.tools: Mapping[str, WorkplaceTool] = {
            tool.name: tool for room in toolkits.values() for tool in room
        }
        self._by_function_name = {tool.function_name: tool for tool in self.tools.values()}
        self._everywhere = frozenset(everywhere)
        self._aliases = aliases or {}

    def find(self, name: str) -> WorkplaceTool | None:
        """Look up a tool by name (`email.send_email`) or function name (`email__send_email`); None if
        unknown.
        """
        return self.tools.get(name) or self._by_function_name.get(name)

    def of_domains(self, domains: Iterable[str] | None) -> list[WorkplaceTool]:
        """The tools of some domains plus those that every task gets; all tools for None.

        Raises:
            UsageError: a domain is unknown.
        """
        if domains is None:
            return list(self.tools.values())
        wanted = {self._aliases.get(domain, domain) for domain in domains} | self._everywhere
        if unknown := wanted - set(self.toolkits):
            raise UsageError(
                f"unknown domain {sorted(unknown)[0]!r}", fix=f"choose from {', '.join(self.toolkits)}"
            )
        return [tool for domain, tools in self.toolkits.items() if domain in wanted for tool in tools]

    def call(self, sandbox: Sandbox, name: str, arguments: Mapping[str, Any]) -> Any:
        """Call a tool by its name.

        Returns:
            The tool's result, a JSON value.

        Raises:
            ToolFailure: the tool or an argument is unknown, or the tool cannot process a value. The sandbox
                is then unchanged.
        """
        tool = self.tools.get(name)
        if tool is None:
            raise ToolFailure(f"there is no tool {name[:100]!r}; tools are: {', '.join(self.tools)}")
        return tool.execute(sandbox, arguments)


_TOOLS = {tool.name: tool for tool in vars(published_tools).values() if isinstance(tool, WorkplaceTool)}


@lru_cache
def published(edition: str) -> Toolset:
    """The published tools, of each domain in the order of the published prompt, with an edition's texts."""

    def described(tool: WorkplaceTool) -> WorkplaceTool:
        arguments = {
            name: replace(argument, description=texts.get(f"{tool.name} {name}", argument.description))
            for name, argument in tool.arguments.items()
        }
        return replace(tool, arguments=arguments)

    texts = EDITIONS[edition].texts
    # Some tasks name the domain `crm`, which the published selector does not resolve; this one does.
    return Toolset(
        {
            domain: [described(_TOOLS[f"{domain}.{name}"]) for name in names]
            for domain, names in DECLARED.items()
        },
        everywhere=[published_tools.DIRECTORY_DOMAIN],
        aliases={"crm": published_tools.CUSTOMERS_DOMAIN},
    )


PUBLISHED = published(EDITION_2024.name)
"""The published tools of 2024."""

TOOLS: Mapping[str, WorkplaceTool] = PUBLISHED.tools
"""Every published tool by its name."""


def toolset_of(sandbox: Sandbox) -> Toolset:
    """A sandbox's own toolset, or the published one of its edition."""
    return sandbox.toolset or published(sandbox.edition.name)


def call(sandbox: Sandbox, name: str, arguments: Mapping[str, Any]) -> Any:
    """Call a tool on a sandbox.

    Args:
        sandbox: the sandbox.
        name: of the tool, e.g. `calendar.create_event`.
        arguments: by name: strings, numbers or None.

    Returns:
        The tool's result, a JSON value. Many mistakes have a reply ("Event not found.") and do not raise.

    Raises:
        ToolFailure: the tool or an argument is unknown, or the tool cannot process a value. The sandbox is
            then unchanged.

    >>> call(Sandbox.of({}), "email.delete_email", {"email_id": "00000001"})
    'Email not found.'
    """
    return toolset_of(sandbox).call(sandbox, name, arguments)


def listing(tools: Iterable[WorkplaceTool]) -> str:
    """The tools as text for prompts without native tool calling.

    >>> print(listing(PUBLISHED.of_domains([])))
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
            lines.append(f"  {name}: {argument.prompt_text()}")
    return "\n".join(lines)
