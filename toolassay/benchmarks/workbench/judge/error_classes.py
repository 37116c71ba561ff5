"""Exact match, the published error classes, and the rules for them that depend on the workplace (e-mail
addresses, last day with data, meeting times).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from toolassay.benchmarks.workbench.sandbox import Sandbox, quoted
from toolassay.benchmarks.workbench.tasks import FILE
from toolassay.benchmarks.workbench.tools import PUBLISHED as PUBLISHED_TOOLS
from toolassay.benchmarks.workbench.tools import Toolset

# Matches "ann.lee@acme.example"; not "@acme.example". The lookbehind lets a match start only at the start of
# a word: tried at every letter of a long word, the search would take quadratic time.
_ADDRESS = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)*")
# Matches the time in "2024-01-01 09:00:00"; not "9:00".
_TIME = re.compile(r"\d\d:\d\d:\d\d")
_START = "13:00:00"
_WRONG_STARTS = ("09:00:00", "11:00:00", "15:00:00", "15:30:00")


@dataclass(frozen=True)
class ErrorRules:
    """How the error classes are recognised at one workplace.

    Attributes:
        last_day: the last day with data.
        day_after: the day that agents use in its place.
        known: every address of the workplace; None for the published rules, which look for marks of an
            invented address and for five starts of meetings.

    >>> rules = ErrorRules("2024-02-29", "2024-03-01", frozenset({"ann@acme.example"}))
    >>> rules.has_invented_address(["f(to='ANN@acme.example')"], "")
    False
    >>> rules.starts_wrong(["f('2024-01-01 09:00:00')"], ["f('2024-01-01 10:30:00')"])
    True
    """

    last_day: str
    day_after: str
    known: frozenset[str] | None = None

    def has_invented_address(self, calls: Sequence[str], given: str) -> bool:
        """Whether the calls contain an address that is neither in the workplace nor given.

        Args:
            calls: as text.
            given: the request and the ground truth, as one text.
        """
        if self.known is None:
            shown = str(calls)
            return "@example" in shown and "@atlas" not in shown
        return not addresses_in(calls) <= self.known | addresses_in([given])

    def ends_late(self, calls: Sequence[str], answer: Sequence[str]) -> bool:
        """Whether the only mistake is a period that ends a day late."""
        return all(
            self.last_day in text and text.replace(self.last_day, self.day_after) in calls for text in answer
        )

    def starts_wrong(self, calls: Sequence[str], answer: Sequence[str]) -> bool:
        """Whether the only mistake is the time of day."""
        if self.known is None:
            return all(
                _START in text and any(text.replace(_START, other) in calls for other in _WRONG_STARTS)
                for text in answer
            )
        timeless = {_TIME.sub("", text) for text in calls if text not in answer}
        return all(_TIME.search(text) and _TIME.sub("", text) in timeless for text in answer)


PUBLISHED = ErrorRules("2023-11-29", "2023-11-30")


def error_rules(folder: Path, sandbox: Sandbox) -> ErrorRules:
    """The published rules for a folder in the published layout, those of its sandbox for any other folder."""
    return sandbox_rules(sandbox) if (folder / FILE).exists() else PUBLISHED


def sandbox_rules(sandbox: Sandbox) -> ErrorRules:
    """Rules derived from a sandbox: unknown addresses, today in place of yesterday, any other time of day."""
    today = sandbox.now.date()
    tables = sandbox.connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    rows = (row for (name,) in tables for row in sandbox.connection.execute(f"SELECT * FROM {quoted(name)}"))
    known = addresses_in(cell for row in rows for cell in row if isinstance(cell, str))
    return ErrorRules(str(today - timedelta(days=1)), str(today), known)


def addresses_in(texts: Iterable[str]) -> frozenset[str]:
    """The e-mail addresses in texts, lower-cased.

    >>> sorted(addresses_in(['f(to="Ann.Lee@Acme.example", body="Ask dan@foxco.")']))
    ['ann.lee@acme.example', 'dan@foxco']
    """
    return frozenset(found.lower() for text in texts for found in _ADDRESS.findall(text))


ITERATION_LIMIT = "Agent stopped due to iteration limit or time limit."
CONTEXT_OVERFLOW = "Context window exceeded"
NOT_RUN = "not run"


@dataclass(frozen=True, slots=True)
class ErrorClasses:
    """The error classes of one run, derived from the texts of the calls alone.

    Attributes:
        exact_match: the calls that change something equal those of the ground truth, in any order.
        no_actions: nothing was called.
        wrong_email: an address was invented.
        end_date_minor_error: the only mistake is a period that ends a day late.
        meeting_start_time_error: the only mistake is the start of a meeting.
    """

    exact_match: bool
    no_actions: bool
    wrong_email: bool
    end_date_minor_error: bool
    meeting_start_time_error: bool

    @property
    def minor_errors(self) -> set[str]:
        """The names of the last three classes that the run is in."""
        names = ("wrong_email", "end_date_minor_error", "meeting_start_time_error")
        return {name for name in names if getattr(self, name)}


def classify_run(
    calls: Sequence[str],
    answer: Sequence[str],
    *,
    correct: bool,
    query: str = "",
    rules: ErrorRules = PUBLISHED,
    toolset: Toolset = PUBLISHED_TOOLS,
) -> ErrorClasses:
    """The error classes of one run.

    Args:
        calls: the run's calls as text.
        answer: the ground-truth calls as text.
        correct: the verdict. A correct run has no class other than `exact_match` and `no_actions`.
        query: the request.
        rules: how the classes are recognised at this workplace.
        toolset: the workplace's tools.
    """
    calls, answer = ([text.replace("\n", "\\n") for text in texts] for texts in (calls, answer))
    failed = bool(answer) and not correct
    names = {name for name, tool in toolset.tools.items() if tool.changes_state}
    changing = [text for text in calls if ".".join(text.split("(")[0].split(".")[:2]) in names]
    # Searching for an unknown address changes nothing and is no error. The published rule counts it.
    sent = calls if rules.known is None else changing
    return ErrorClasses(
        exact_match=sorted(text.lower() for text in changing) == sorted(text.lower() for text in answer),
        no_actions=not calls,
        wrong_email=not correct and rules.has_invented_address(sent, f"{query} {answer}"),
        end_date_minor_error=failed and rules.ends_late(calls, answer),
        meeting_start_time_error=failed and rules.starts_wrong(calls, answer),
    )
