"""Exact match, the published error classes, and the rules for them that depend on the workplace (e-mail
addresses, last day with data, meeting times).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from toolassay.benchmarks.workbench.sandbox import Sandbox, quoted
from toolassay.benchmarks.workbench.tasks import FILE
from toolassay.benchmarks.workbench.tools import PUBLISHED as PUBLISHED_TOOLS
from toolassay.benchmarks.workbench.tools import Toolset
from toolassay.data_folder import DataFolder
from toolassay.errors import UsageError

UNKNOWN, ANY = "unknown", "any"
# Matches "ann.lee@acme.example"; not "@acme.example". The lookbehind lets a match start only at the start of
# a word: tried at every letter of a long word, the search would take quadratic time.
_ADDRESS = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)*")
# Matches the time in "2024-01-01 09:00:00"; not "9:00".
_TIME = re.compile(r"\d\d:\d\d:\d\d")


@dataclass(frozen=True)
class MarkedAddress:
    """Rule: an address is invented if the calls contain `mark` and do not contain `unless`, as published."""

    mark: str
    unless: str

    def has_invented_address(self, calls: Sequence[str], given: str) -> bool:
        """Whether the calls contain an invented address. `given` is ignored."""
        shown = str(calls)
        return self.mark in shown and self.unless not in shown


@dataclass(frozen=True)
class UnknownAddress:
    """Rule: an address is invented if it is neither in the workplace nor in the request or ground truth."""

    known: frozenset[str]

    def has_invented_address(self, calls: Sequence[str], given: str) -> bool:
        """Whether the calls contain an invented address.

        Args:
            calls: as text.
            given: the request and the ground truth, as one text.

        >>> rule = UnknownAddress(frozenset({"ann@acme.example"}))
        >>> rule.has_invented_address(["f(to='ANN@acme.example')"], "")
        False
        >>> rule.has_invented_address(["f(to='bo@x.org')"], "")
        True
        """
        return not addresses_in(calls) <= self.known | addresses_in([given])


@dataclass(frozen=True)
class Substitution:
    """Rule: the only mistake is one of the `wrong` texts in place of `right`."""

    right: str
    wrong: tuple[str, ...]

    def is_only_mistake(self, calls: Sequence[str], answer: Sequence[str]) -> bool:
        """Whether every ground-truth call contains `right` and was made with a wrong text in its place."""
        return all(
            self.right in text and any(text.replace(self.right, other) in calls for other in self.wrong)
            for text in answer
        )


@dataclass(frozen=True)
class DifferentTime:
    """Rule: the only mistake is another time of day."""

    def is_only_mistake(self, calls: Sequence[str], answer: Sequence[str]) -> bool:
        """Whether every ground-truth call contains a time of day and was made with another one.

        >>> DifferentTime().is_only_mistake(["f('2024-01-01 09:00:00')"], ["f('2024-01-01 10:30:00')"])
        True
        """
        timeless = {_TIME.sub("", text) for text in calls if text not in answer}
        return all(_TIME.search(text) and _TIME.sub("", text) in timeless for text in answer)


@dataclass(frozen=True)
class ErrorRules:
    """How the error classes are recognised at one workplace.

    Attributes:
        wrong_email: recognises invented addresses.
        end_date: the last day with data, and the days that agents use in its place.
        meeting_start_time: the correct start of a meeting, and the wrong ones.
    """

    wrong_email: MarkedAddress | UnknownAddress
    end_date: Substitution
    meeting_start_time: Substitution | DifferentTime


PUBLISHED = ErrorRules(
    MarkedAddress("@example", unless="@atlas"),
    Substitution("2023-11-29", ("2023-11-30",)),
    Substitution("13:00:00", ("09:00:00", "11:00:00", "15:00:00", "15:30:00")),
)


def error_rules(folder: Path, sandbox: Sandbox) -> ErrorRules:
    """The rules of a data folder.

    Rules in `error_classes` of its `benchmark.json` take precedence. The others are the published ones for a
    folder in the published layout, and those derived from its sandbox for any other folder.

    Raises:
        UsageError: 'error_classes' has the wrong form.
    """
    data = DataFolder(folder)
    given = data.written_benchmark.get("error_classes", {})
    rules = sandbox_rules(sandbox) if (folder / FILE).exists() else PUBLISHED
    try:
        if not isinstance(given, dict):
            raise TypeError
        return ErrorRules(
            _email(given["wrong_email"], sandbox) if "wrong_email" in given else rules.wrong_email,
            _instead(given["end_date"]) if "end_date" in given else rules.end_date,
            _time(given["meeting_start_time"]) if "meeting_start_time" in given else rules.meeting_start_time,
        )
    except (KeyError, TypeError, ValueError):
        raise UsageError(
            "'error_classes' has the wrong form",
            file=data.benchmark_file,
            fix="write it as docs/workbench.md shows",
        ) from None


def sandbox_rules(sandbox: Sandbox) -> ErrorRules:
    """Derive the rules from a sandbox: unknown addresses, today in place of yesterday, any other time
    of day.
    """
    today = sandbox.now.date()
    yesterday = today - timedelta(days=1)
    return ErrorRules(
        UnknownAddress(_known_addresses(sandbox)),
        Substitution(str(yesterday), (str(today),)),
        DifferentTime(),
    )


def stated_rules(sandbox: Sandbox) -> dict[str, Any]:
    """The rules derived from a sandbox, in the form of `error_classes` in `benchmark.json`."""
    end = sandbox_rules(sandbox).end_date
    return {
        "wrong_email": UNKNOWN,
        "end_date": {"right": end.right, "wrong": list(end.wrong)},
        "meeting_start_time": ANY,
    }


def addresses_in(texts: Iterable[str]) -> frozenset[str]:
    """The e-mail addresses in texts, lower-cased.

    >>> sorted(addresses_in(['f(to="Ann.Lee@Acme.example", body="Ask dan@foxco.")']))
    ['ann.lee@acme.example', 'dan@foxco']
    """
    return frozenset(found.lower() for text in texts for found in _ADDRESS.findall(text))


def _known_addresses(sandbox: Sandbox) -> frozenset[str]:
    """Every address in any table."""
    tables = sandbox.connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    return frozenset().union(
        *(
            addresses_in(cell for cell in row if isinstance(cell, str))
            for (name,) in tables
            for row in sandbox.connection.execute(f"SELECT * FROM {quoted(name)}")
        )
    )


def _email(value: Any, sandbox: Sandbox) -> MarkedAddress | UnknownAddress:
    if value == UNKNOWN:
        return UnknownAddress(_known_addresses(sandbox))
    return MarkedAddress(_text(value["mark"]), unless=_text(value["unless"]))


def _time(value: Any) -> Substitution | DifferentTime:
    return DifferentTime() if value == ANY else _instead(value)


def _instead(value: Mapping[str, Any]) -> Substitution:
    if not isinstance(value["wrong"], list):
        raise TypeError
    return Substitution(_text(value["right"]), tuple(map(_text, value["wrong"])))


def _text(value: Any) -> str:
    """A string that is not empty: the empty one would occur in every call."""
    if not isinstance(value, str) or not value:
        raise TypeError
    return value


ITERATION_LIMIT = "Agent stopped due to iteration limit or time limit."
CONTEXT_OVERFLOW = "Context window exceeded"
NOT_RUN = "not run"


@dataclass(frozen=True, slots=True)
class ErrorClasses:
    """The error classes of one run, derived from the texts of the calls alone.

    Args:
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
    calls = [_one_line(text) for text in calls]
    answer = [_one_line(text) for text in answer]
    failed = bool(answer) and not correct
    changing = [text for text in calls if _changes(text, toolset)]
    # Searching for an unknown address changes nothing and is no error. The published rule counts it.
    sent = changing if isinstance(rules.wrong_email, UnknownAddress) else calls
    return ErrorClasses(
        exact_match=sorted(text.lower() for text in changing) == sorted(text.lower() for text in answer),
        no_actions=not calls,
        wrong_email=not correct and rules.wrong_email.has_invented_address(sent, f"{query} {answer}"),
        end_date_minor_error=failed and rules.end_date.is_only_mistake(calls, answer),
        meeting_start_time_error=failed and rules.meeting_start_time.is_only_mistake(calls, answer),
    )


def _one_line(text: str) -> str:
    return text.replace("\n", "\\n")


def _changes(text: str, toolset: Toolset) -> bool:
    """Whether the call is to a tool that changes something."""
    tool = toolset.tools.get(".".join(text.split("(")[0].split(".")[:2]))
    return tool is not None and tool.changes_state
