"""What an agent does to its sandbox: every call is checked, carried out, and written down as text."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from toolgraph.benchmarks.workbench.calls import LONGEST, Call, parse_call, run_text
from toolgraph.benchmarks.workbench.sandbox import Sandbox
from toolgraph.benchmarks.workbench.tools import Tool, ToolFailure, toolset_of
from toolgraph.benchmarks.workbench.tools.tool import as_texts
from toolgraph.models import ToolCall

LONGEST_OBSERVATION = 40_000
"""Characters that an agent is told of one result."""


class Hands:
    """Carries calls out on a sandbox of its own.

    A call is carried out only if its text says exactly the same to the evaluator, which sees nothing else.

    Args:
        sandbox: as every run finds it; a copy is made.
        tools: those that may be called.
        calls: made before, on another copy: they are carried out again.
    """

    def __init__(self, sandbox: Sandbox, tools: Iterable[Tool], calls: Iterable[str] = ()) -> None:
        # Sent mail is appended, as the strict judge sees it.
        self._sandbox = sandbox.fork(overwrites=False)
        self._tools = {tool.name for tool in tools}
        self.calls = list(calls)
        for text in self.calls:
            try:
                run_text(self._sandbox, text)
            except ToolFailure:
                continue

    def do(self, asked: ToolCall) -> str:
        """Carry out a call; what the agent is told of it."""
        try:
            value = self._do(asked)
        except ToolFailure as failure:
            told = f"Error: {failure}"
        else:
            told = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        if len(told) > LONGEST_OBSERVATION:
            return f"{told[:LONGEST_OBSERVATION]} … (cut off; search for less)"
        return told

    def close(self) -> None:
        """Free the memory."""
        self._sandbox.close()

    def _do(self, asked: ToolCall) -> Any:
        tool = toolset_of(self._sandbox).called(asked.name)
        given = _arguments(asked.arguments)
        name = asked.name if tool is None else tool.name
        made = Call(name, as_texts(given) if tool is None else tool.given(given))
        text = written(made)
        if text is not None:
            self.calls.append(text)
        if tool is None or name not in self._tools:
            raise ToolFailure(f"there is no tool {name[:100]!r}; tools are: {', '.join(sorted(self._tools))}")
        if text is None:
            raise ToolFailure("the arguments are too long, or are no texts with plain names")
        return tool.carry_out(self._sandbox, made.arguments)


def written(made: Call) -> str | None:
    r"""A call as text that `parse_call` reads as the same call; None if there is none.

    >>> written(Call("email.delete_email", {"email_id": "7"}))
    'email.delete_email.func(email_id="7")'
    >>> written(Call("email.delete_email", {"email_id": '7") or ("'}))
    'email.delete_email.func(email_id=\'7") or ("\')'
    >>> written(Call("desk.lend", {"book": "B01", "days": 7}))
    'desk.lend.func(book="B01", days=7)'
    """
    if sum(len(str(value)) for value in made.arguments.values()) > LONGEST:
        return None
    plain, exact = (
        ", ".join(f"{name}={form(value)}" for name, value in made.arguments.items())
        for form in (_plain, repr)
    )
    for text in (str(made), f"{made.name}.func({plain})", f"{made.name}.func({exact})"):
        if parse_call(text) == made:
            return text
    return None


def _plain(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _arguments(text: str) -> dict[str, Any]:
    """The arguments in a JSON object."""
    try:
        value = json.loads(text or "{}", strict=False)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise ToolFailure(f"the arguments are not a JSON object: {text[:200]!r}")
    return value
