"""Exact match, the published error classes, and the rules for them that depend on the workplace (e-mail
addresses, last day with data, meeting times).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec

from toolassay.benchmarks.workbench.sandbox import Sandbox, quoted, read_facts
from toolassay.benchmarks.workbench.tasks import FILE
from toolassay.benchmarks.workbench.tools import PUBLISHED as PUBLISHED_TOOLS
from toolassay.benchmarks.workbench.tools import Toolset
from toolassay.data_folder import DataFolder

UNKNOWN: Final = "unknown"
ANY: Final = "any"
# Matches "ann.lee@acme.example"; not "@acme.example". The lookbehind lets a match start only at the start of
# a word: tried at every letter of a long word, the search would take quadratic time.
_ADDRESS = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)*")
# Matches the time in "2024-01-01 09:00:00"; not "9:00".
_TIME = re.compile(r"\d\d:\d\d:\d\d")


_Text = Annotated[str, msgspec.Meta(min_length=1)]  # the empty string would occur in every call


class MarkedAddress(msgspec.Struct, frozen=True):
    """Rule: an address is invented if the calls contain `mark` and do not contain `unless`, as published."""

    mark: _Text
    unless: _Text

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


class Substitution(msgspec.Struct, frozen=True):
    """Rule: the only mistake is one of the `wrong` texts in place of `right`."""

    right: _Text
    wrong: tuple[_Text, ...]

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


class StatedRules(msgspec.Struct, frozen=True):
    """`error_classes` in a `benchmark.json`; a rule that is None is not stated."""

    wrong_email: MarkedAddress | Literal["unknown"] | None = None
    end_date: Substitution | None = None
    meeting_start_time: Substitution | Literal["any"] | None = None


class _Stated(msgspec.Struct, frozen=True):
    error_classes: StatedRules = StatedRules()


def error_rules(folder: Path, sandbox: Sandbox) -> ErrorRules:
    """The rules of a data folder.

    Rules in `error_classes` of its `benchmark.json` take precedence. The others are the published ones for a
    folder in the published layout, and those derived from its sandbox for any other folder.

    Raises:
        UsageError: 'error_classes' has the wrong form.
    """
    given = read_facts(DataFolder(folder), _Stated).error_classes
    rules = sandbox_rules(sandbox) if (folder / FILE).exists() else PUBLISHED
    email, start = given.wrong_email, given.meeting_start_time
    return ErrorRules(
        UnknownAddress(_known_addresses(sandbox)) if email == UNKNOWN else email or rules.wrong_email,
        given.end_date or rules.end_date,
        DifferentTime() if start == ANY else start or rules.meeting_start_time,
    )


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


def stated_rules(sandbox: Sandbox) -> StatedRules:
    """The rules derived from a sandbox, as `benchmark.json` states them."""
    return StatedRules(UNKNOWN, sandbox_rules(sandbox).end_date, ANY)


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
