"""Calls as text, carried out again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from toolassay.benchmarks.workbench.calls import parse_call, run_text
from toolassay.benchmarks.workbench.sandbox import Sandbox, difference
from toolassay.benchmarks.workbench.sandbox.state import State, state_changes, state_of
from toolassay.benchmarks.workbench.tools import ToolFailure, toolset_of


def act(sandbox: Sandbox, calls: Iterable[str]) -> set[str]:
    """Carry out the calls that can change what is judged; what fails changes nothing.

    Returns:
        The domains that may have changed.
    """
    touched, toolset = set(), toolset_of(sandbox)
    for text in calls:
        parsed = parse_call(text, toolset)
        tool = toolset.tools.get(parsed.name) if parsed is not None else None
        if parsed is None or tool is None or not tool.changes_state:
            continue
        try:
            tool.carry_out(sandbox, parsed.arguments)
        except ToolFailure:
            continue
        touched.add(tool.domain)
    return touched


class Replay:
    """Carries out sequences of calls, each on a fresh copy.

    Args:
        original: what is copied.
    """

    def __init__(self, original: Sandbox) -> None:
        self._original = original
        self._before: State = state_of(original) if original.toolset is None else {}

    def of(self, calls: Iterable[str]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Carry out one sequence.

        Args:
            calls: as text.

        Returns:
            For each call, `call` with `ret`, or with `exc` and `msg` if it failed; and the state changes: by
            domain in the published form, or by table (`gone`, `new`, `changed`) of somebody's own workplace.
        """
        sandbox = self._original.fork()
        done: list[dict[str, Any]] = []
        for text in calls:
            try:
                done.append({"call": text, "ret": run_text(sandbox, text)})
            except ToolFailure as failure:
                cause = failure.__cause__ or failure
                done.append({"call": text, "exc": type(cause).__name__, "msg": str(failure)})
        changes = {} if sandbox.image() is self._original.image() else self._changes(sandbox)
        sandbox.close()
        return done, changes

    def _changes(self, sandbox: Sandbox) -> dict[str, Any]:
        if self._original.toolset is None:
            return state_changes(self._before, state_of(sandbox))
        return {name: table.to_json() for name, table in difference(self._original, sandbox).items()}
