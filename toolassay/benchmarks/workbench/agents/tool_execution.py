"""Runs an agent's tool calls on its own copy of the sandbox and records each call as text."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from toolassay.benchmarks.workbench.calls import LONGEST, WorkbenchCall, parse_call, replay_changes
from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.benchmarks.workbench.tools import ToolFailure, WorkplaceTool, toolset_of
from toolassay.benchmarks.workbench.tools.tool import as_texts
from toolassay.files import readable
from toolassay.models import ToolCall

_PAGE_SIZE = 4096


@dataclass(frozen=True)
class ChangedPages:
    """The pages in which one database file differs from another.

    Attributes:
        length: of the file, in bytes.
        pages: the differing bytes by offset.

    >>> before, after = bytes(3 * 4096), bytes(4096) + b"x" * 4096
    >>> pages = ChangedPages.between(before, after)
    >>> list(pages.pages), pages.applied_to(before) == after
    ([4096], True)
    """

    length: int
    pages: Mapping[int, bytes]

    @classmethod
    def between(cls, before: bytes, after: bytes) -> ChangedPages:
        """The pages of `after` that differ from `before`."""
        places = range(0, len(after), _PAGE_SIZE)
        return cls(
            len(after),
            {
                place: after[place : place + _PAGE_SIZE]
                for place in places
                if after[place : place + _PAGE_SIZE] != before[place : place + _PAGE_SIZE]
            },
        )

    def applied_to(self, before: bytes) -> bytes:
        """Rebuild `after` from `before`."""
        whole = bytearray(before[: self.length].ljust(self.length, b"\0"))
        for place, page in self.pages.items():
            whole[place : place + len(page)] = page
        return bytes(whole)


LONGEST_OBSERVATION = 40_000
"""Maximum characters of one result in the conversation; the rest is cut off."""
MOST_SECONDS = 10.0
"""Time limit of all calls of one task together, in seconds; later calls fail."""


class ToolExecutor:
    """Runs calls on its own copy of a sandbox, which occupies memory only while calls run.

    A call runs only if its recorded text parses back to the same call, because the evaluator sees only the
    text. A call that did not run is recorded only if its text has no effect in the evaluator either.

    Args:
        sandbox: the original; it is copied.
        tools: the tools that may be called.
        calls: the calls of an earlier, interrupted attempt; they are replayed on the copy first.
    """

    def __init__(self, sandbox: Sandbox, tools: Iterable[WorkplaceTool], calls: Iterable[str] = ()) -> None:
        self._original = sandbox
        self._copy: Sandbox | None = None
        self._aside: ChangedPages | None = None
        self._changed_tables: frozenset[str] = frozenset()
        self._changed = False
        self._tools = {tool.name for tool in tools}
        self._seconds = 0.0
        self.calls = list(calls)

    def execute(self, asked: ToolCall) -> str:
        """Run a call. Returns the result as text, as the agent sees it."""
        began = time.monotonic()
        try:
            value = self._execute(asked)
        except ToolFailure as failure:
            result = f"Error: {failure}"
        else:
            result = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        if len(result) > LONGEST_OBSERVATION:
            result = f"{result[:LONGEST_OBSERVATION]} … (cut off; search for less)"
        self._seconds += time.monotonic() - began
        return result

    def set_aside(self) -> None:
        """Free the copy until the next call, keeping its changed pages.

        While an agent waits for its model, the copy is not needed: 1,000 agents take 80 MB instead of 770 MB.
        """
        if self._copy is not None and self._changed:
            self._aside = ChangedPages.between(self._original.image(), self._copy.connection.serialize())
            self._changed_tables = self._copy.tables_unlike(self._original)
            self._changed = False
        self.close()

    def close(self) -> None:
        """Free the memory of the copy."""
        if self._copy is not None:
            self._copy.close()
            self._copy = None

    @property
    def _sandbox(self) -> Sandbox:
        """The copy, with all previous calls applied."""
        if self._copy is None:
            # Sent mail is appended, as in the strict judge's copies.
            self._copy = self._original.fork(overwrites=False)
            if self._aside is not None:
                image = self._aside.applied_to(self._original.image())
                self._copy.restore(image, self._changed_tables)
            elif self.calls:
                replay_changes(self._copy, self.calls)
                self._changed = True
        return self._copy

    def _execute(self, asked: ToolCall) -> Any:
        if self._seconds > MOST_SECONDS:
            raise ToolFailure(f"not carried out: the calls of this task took more than {MOST_SECONDS:g} s")
        tool = toolset_of(self._original).find(asked.name)
        name = asked.name if tool is None else tool.name
        # A tool that exists but was not offered must not be recorded, because the evaluator would run it.
        if tool is not None and name not in self._tools:
            raise self._no_tool(name)
        given = _arguments(asked.arguments)
        made = WorkbenchCall(name, as_texts(given) if tool is None else tool.recorded_arguments(given))
        text = call_text(made)
        # A tool that does not exist has no effect in the evaluator either, so the call is recorded.
        if tool is None:
            self.calls += [] if text is None else [text]
            raise self._no_tool(name)
        if text is None:
            raise ToolFailure("the arguments are too long, or are no texts with plain names")
        sandbox = self._sandbox
        self.calls.append(text)
        self._changed = self._changed or tool.changes_state
        return tool.execute(sandbox, made.arguments)

    def _no_tool(self, name: str) -> ToolFailure:
        return ToolFailure(f"there is no tool {name[:100]!r}; tools are: {', '.join(sorted(self._tools))}")


def call_text(made: WorkbenchCall) -> str | None:
    r"""Write a call as text that `parse_call` reads as the same call; None if no form does.

    The published form comes first; values that it cannot express are written as Python literals.

    >>> call_text(WorkbenchCall("email.delete_email", {"email_id": "7"}))
    'email.delete_email.func(email_id="7")'
    >>> call_text(WorkbenchCall("email.delete_email", {"email_id": '7") or ("'}))
    'email.delete_email.func(email_id=\'7") or ("\')'
    >>> call_text(WorkbenchCall("desk.lend", {"book": "B01", "days": 7}))
    'desk.lend.func(book="B01", days=7)'
    """
    try:
        if sum(len(str(value)) for value in made.arguments.values()) > LONGEST:
            return None
        plain, exact = (
            ", ".join(f"{name}={form(value)}" for name, value in made.arguments.items())
            for form in (_quoted, repr)
        )
    except RecursionError:
        return None
    for text in (str(made), f"{made.name}.func({plain})", f"{made.name}.func({exact})"):
        if parse_call(text) == made:
            return text
    return None


def _quoted(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _arguments(text: str) -> dict[str, Any]:
    """Parse a model's arguments, which must be a JSON object; an empty text counts as an empty object."""
    if len(text) > LONGEST:
        raise ToolFailure(f"the arguments are longer than {LONGEST:,} characters")
    try:
        value = json.loads(text or "{}", strict=False, parse_constant=_refuse)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise ToolFailure(f"the arguments are not a JSON object: {text[:200]!r}")
    return {readable(name): readable(item) if isinstance(item, str) else item for name, item in value.items()}


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")
