"""Tool calls written as text, such as `calendar.delete_event.func(event_id="00000256")`: parse them
without executing Python, run them on a sandbox, and replay whole sequences.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Mapping
from contextlib import closing
from functools import lru_cache
from typing import Any, NamedTuple

from toolassay.benchmarks.workbench.records import State, difference, state_changes, state_of
from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.benchmarks.workbench.tools import PUBLISHED, ToolFailure, Toolset, toolset_of

# `ast` needs a few hundred bytes of memory per character, so this bounds one parse to some tens of MB.
LONGEST = 200_000
"""Maximum length of a call, in characters."""


class WorkbenchCall(NamedTuple):
    """One call of a tool: its published name (`domain.function`) and its arguments by name.

    >>> str(WorkbenchCall("calendar.delete_event", {"event_id": "00000256"}))
    'calendar.delete_event.func(event_id="00000256")'
    """

    name: str
    arguments: Mapping[str, Any]

    def __str__(self) -> str:
        """The published form: each value as plain text between double quotes, without escapes."""
        values = ", ".join(f'{name}="{value}"' for name, value in self.arguments.items())
        return f"{self.name}.func({values})"


@lru_cache(maxsize=256)
def parse_call(text: str, toolset: Toolset | None = PUBLISHED) -> WorkbenchCall | None:
    r"""Parse the text of one call. Nothing is executed.

    Positional values get the names of the tool's arguments, in order. A line break inside a value is read as
    the two characters `\n`, as in the published evaluator.

    Args:
        text: the call.
        toolset: the tools that positional values are matched with; None to ignore such values.

    Returns:
        The call; None if the text is anything other than one call with literal values, or is longer than
        `LONGEST` characters.

    >>> parse_call('email.delete_email.func(email_id="00000479")')
    WorkbenchCall(name='email.delete_email', arguments={'email_id': '00000479'})
    >>> parse_call('__import__("os").system("ls")') is None
    True
    """
    if len(text) > LONGEST:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an unknown escape such as "\d" is a SyntaxWarning
            tree = ast.parse(text.strip(" \t").replace("\n", "\\n"), mode="eval").body
            return _call_of(tree, toolset)
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return None


def read_call(sandbox: Sandbox, text: str) -> WorkbenchCall | None:
    """Parse the text of one call as the evaluator of the sandbox's edition does."""
    if not sandbox.edition.counts_failures:
        return parse_call(text, toolset_of(sandbox))
    parsed = parse_call(text, None)
    return parsed and WorkbenchCall(
        parsed.name, {name: str(value) for name, value in parsed.arguments.items()}
    )


def run_text(sandbox: Sandbox, text: str) -> Any:
    """Run a call written as text on a sandbox.

    Returns:
        The tool's result, a JSON value.

    Raises:
        ToolFailure: the text is not a call of a tool, or the call failed. The sandbox is then unchanged.
    """
    if len(text) > LONGEST:
        raise ToolFailure(f"the call is longer than {LONGEST:,} characters")
    if (parsed := read_call(sandbox, text)) is None:
        raise ToolFailure(f"not a call of a tool with plain values: {text[:200]!r}")
    return toolset_of(sandbox).call(sandbox, parsed.name, parsed.arguments)


def _call_of(tree: ast.expr, toolset: Toolset | None) -> WorkbenchCall | None:
    # Published results record `domain.function.func(…)`: `func` is the attribute of a LangChain tool.
    match tree:
        case ast.Call(
            func=ast.Attribute(value=ast.Attribute(value=ast.Name(id=domain), attr=function), attr="func")
        ):
            name = f"{domain}.{function}"
        case _:
            return None
    arguments: dict[str, Any] = {}
    known = list(toolset.tools[name].arguments) if toolset and name in toolset.tools else []
    if toolset and len(tree.args) > len(known):
        return None
    for key, value in zip(known, tree.args, strict=False):
        arguments[key] = ast.literal_eval(value)
    for keyword in tree.keywords:
        if keyword.arg is None or keyword.arg in arguments:
            return None
        arguments[keyword.arg] = ast.literal_eval(keyword.value)
    return WorkbenchCall(name, arguments)


class ReplayedCalls(NamedTuple):
    """What a replay of calls did.

    Attributes:
        domains: those of the changing tools that ran without a failure.
        failed: a call was unknown or failed; always False where the edition does not count that.
    """

    domains: set[str]
    failed: bool


def replay_changes(sandbox: Sandbox, calls: Iterable[str]) -> ReplayedCalls:
    """Run those calls that can change judged tables, or all if the edition counts failures. A call that fails
    changes nothing.

    Args:
        sandbox: is changed in place.
        calls: as text.
    """
    touched = set()
    failed = False
    counts = sandbox.edition.counts_failures
    for text in calls:
        parsed = read_call(sandbox, text)
        tool = toolset_of(sandbox).tools.get(parsed.name) if parsed is not None else None
        if parsed is None or tool is None:
            failed = counts
        elif tool.changes_state or counts:
            try:
                tool.execute(sandbox, parsed.arguments)
            except ToolFailure:
                failed = counts
            else:
                touched |= {tool.domain} if tool.changes_state else set()
    return ReplayedCalls(touched, failed)


class Replay:
    """Replays sequences of calls, each on a fresh copy of one sandbox.

    Args:
        original: the sandbox that is copied; it is never changed.
    """

    def __init__(self, original: Sandbox) -> None:
        self._original = original
        self._before: State = state_of(original) if original.toolset is None else {}

    def of(self, calls: Iterable[str]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Replay one sequence of calls.

        Args:
            calls: as text.

        Returns:
            For each call, `call` with `ret`, or `call` with `exc` and `msg` if it failed; and the state
            changes: by domain in the published form, or by table (`gone`, `new`, `changed`) in a user-defined
            workplace.
        """
        done: list[dict[str, Any]] = []
        changes: dict[str, Any] = {}
        with closing(self._original.fork()) as sandbox:
            for text in calls:
                try:
                    done.append({"call": text, "ret": run_text(sandbox, text)})
                except ToolFailure as failure:
                    cause = failure.__cause__ or failure
                    done.append({"call": text, "exc": type(cause).__name__, "msg": str(failure)})
            if self._original.toolset is not None:
                differences = difference(self._original, sandbox)
                changes = {name: table.to_json() for name, table in differences.items()}
            elif sandbox.image() is not self._original.image():
                changes = state_changes(self._before, state_of(sandbox))
        return done, changes
