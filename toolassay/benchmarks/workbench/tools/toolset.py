"""The tools of one workplace: by name, by domain, and how one is called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.benchmarks.workbench.tools.tool import Tool, ToolFailure
from toolassay.errors import UsageError


class Toolset:
    """All tools that can be called in a workplace.

    Args:
        toolkits: the tools of each domain, in the order in which agents are told of them.
        everywhere: domains whose tools every task has.
        aliases: other names of domains.
    """

    def __init__(
        self,
        toolkits: Mapping[str, Sequence[Tool]],
        *,
        everywhere: Iterable[str] = (),
        aliases: Mapping[str, str] | None = None,
    ) -> None:
        self.toolkits = toolkits
        self.tools: Mapping[str, Tool] = {tool.name: tool for room in toolkits.values() for tool in room}
        self._by_function_name = {tool.function_name: tool for tool in self.tools.values()}
        self._everywhere, self._aliases = frozenset(everywhere), aliases or {}

    def called(self, name: str) -> Tool | None:
        """The tool of a name (`email.send_email`) or of a name without a dot (`email__send_email`)."""
        return self.tools.get(name) or self._by_function_name.get(name)

    def of_domains(self, domains: Iterable[str] | None) -> list[Tool]:
        """The tools of some domains and those that every task has; all tools for None.

        Raises:
            UsageError: there is no such domain.
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
            A JSON value.

        Raises:
            ToolFailure: unknown tool, unknown argument, or the tool could not work with the values; the
                sandbox is as it was.
        """
        tool = self.tools.get(name)
        if tool is None:
            raise ToolFailure(f"there is no tool {name[:100]!r}; tools are: {', '.join(self.tools)}")
        return tool.carry_out(sandbox, arguments)
