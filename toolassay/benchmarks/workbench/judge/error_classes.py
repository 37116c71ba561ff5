"""Exact match and the published classes of errors, with the rules that depend on the workplace:
addresses, last day, hours.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.benchmarks.workbench.sandbox.schema import quoted
from toolassay.benchmarks.workbench.tasks import FILE
from toolassay.benchmarks.workbench.tools import PUBLISHED as PUBLISHED_TOOLS
from toolassay.benchmarks.workbench.tools import Toolset
from toolassay.data_folder import DataFolder
from toolassay.errors import UsageError

UNKNOWN, ANY = "unknown", "any"
# It starts where a word does: tried from each letter, a long text takes the square of its length.
_ADDRESS = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)*")
_TIME = re.compile(r"\d\d:\d\d:\d\d")


@dataclass(frozen=True)
class Marked:
    """An invented address holds a mark; one of the company beside it excuses it, as published."""

    mark: str
    unless: str

    def is_wrong(self, calls: Sequence[str], given: str) -> bool:
        """Whether an address in the calls is invented."""
        shown = str(calls)
        return self.mark in shown and self.unless not in shown


@dataclass(frozen=True)
class Unknown:
    """An invented address is one that stands nowhere in the workplace, the request or the ground truth."""

    known: frozenset[str]

    def is_wrong(self, calls: Sequence[str], given: str) -> bool:
        """Whether an address in the calls is invented.

        >>> rule = Unknown(frozenset({"ann@acme.example"}))
        >>> rule.is_wrong(["f(to='ANN@acme.example')"], ""), rule.is_wrong(["f(to='bo@x.org')"], "")
        (False, True)
        """
        return not addresses_in(calls) <= self.known | addresses_in([given])


@dataclass(frozen=True)
class Instead:
    """All that is wrong is one of some texts instead of the right one."""

    right: str
    wrong: tuple[str, ...]

    def is_all_that_is_wrong(self, calls: Sequence[str], answer: Sequence[str]) -> bool:
        """Whether every wanted call is there but for that."""
        return all(
            self.right in text and any(text.replace(self.right, other) in calls for other in self.wrong)
            for text in answer
        )


@dataclass(frozen=True)
class AnotherTime:
    """All that is wrong is the time of day."""

    def is_all_that_is_wrong(self, calls: Sequence[str], answer: Sequence[str]) -> bool:
        """Whether every wanted call has a time of day and is there with another one.

        >>> AnotherTime().is_all_that_is_wrong(["f('2024-01-01 09:00:00')"], ["f('2024-01-01 10:30:00')"])
        True
        """
        timeless = {_TIME.sub("", text) for text in calls if text not in answer}
        return all(_TIME.search(text) and _TIME.sub("", text) in timeless for text in answer)


@dataclass(frozen=True)
class ErrorRules:
    """What tells each class of errors.

    Attributes:
        wrong_email: an address that was made up.
        end_date: the last day with data, and the days that are taken for it.
        meeting_start_time: the start of a meeting, and those that are taken for it.
    """

    wrong_email: Marked | Unknown
    end_date: Instead
    meeting_start_time: Instead | AnotherTime


PUBLISHED = ErrorRules(
    Marked("@example", unless="@atlas"),
    Instead("2023-11-29", ("2023-11-30",)),
    Instead("13:00:00", ("09:00:00", "11:00:00", "15:00:00", "15:30:00")),
)


def error_rules(folder: Path, sandbox: Sandbox) -> ErrorRules:
    """The rules of a data folder: what its `benchmark.json` states under `error_classes`; else the published
    ones for the published layout, and those that its sandbox gives for any other.

    Raises:
        UsageError: what is stated has another form.
    """
    data = DataFolder(folder)
    given = data.benchmark.get("error_classes", {})
    rules = rules_of(sandbox) if (folder / FILE).exists() else PUBLISHED
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
            "'error_classes' has another form", file=data.benchmark_file, fix="see docs/workbench.md"
        ) from None


def rules_of(sandbox: Sandbox) -> ErrorRules:
    """The rules that a sandbox gives: unknown addresses, today instead of yesterday, any other hour."""
    today = sandbox.now.date()
    yesterday = today - timedelta(days=1)
    return ErrorRules(
        Unknown(_known_addresses(sandbox)), Instead(str(yesterday), (str(today),)), AnotherTime()
    )


def stated(sandbox: Sandbox) -> dict[str, Any]:
    """The rules that a sandbox gives, as `benchmark.json` states them."""
    end = rules_of(sandbox).end_date
    return {
        "wrong_email": UNKNOWN,
        "end_date": {"right": end.right, "wrong": list(end.wrong)},
        "meeting_start_time": ANY,
    }


def addresses_in(texts: Iterable[str]) -> frozenset[str]:
    """The e-mail addresses in texts, in lower case.

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


def _email(value: Any, sandbox: Sandbox) -> Marked | Unknown:
    if value == UNKNOWN:
        return Unknown(_known_addresses(sandbox))
    return Marked(_text(value["mark"]), unless=_text(value["unless"]))


def _time(value: Any) -> Instead | AnotherTime:
    return AnotherTime() if value == ANY else _instead(value)


def _instead(value: Mapping[str, Any]) -> Instead:
    if not isinstance(value["wrong"], list):
        raise TypeError
    return Instead(_text(value["right"]), tuple(map(_text, value["wrong"])))


def _text(value: Any) -> str:
    """A text that is not empty, which would stand in every call."""
    if not isinstance(value, str) or not value:
        raise TypeError
    return value


ITERATION_LIMIT = "Agent stopped due to iteration limit or time limit."
CONTEXT_OVERFLOW = "Context window exceeded"
NOT_RUN = "not run"


@dataclass(frozen=True)
class ErrorClasses:
    """Told from the texts of the calls alone.

    Args:
        exact_match: the calls that change something are those of the ground truth, in any order.
        no_actions: nothing was called.
        wrong_email: an address was made up.
        end_date_minor_error: a period that ends a day late is all that is wrong.
        meeting_start_time_error: another start of a meeting is all that is wrong.
    """

    exact_match: bool
    no_actions: bool
    wrong_email: bool
    end_date_minor_error: bool
    meeting_start_time_error: bool


def classes_of(
    calls: Sequence[str],
    answer: Sequence[str],
    *,
    correct: bool,
    query: str = "",
    rules: ErrorRules = PUBLISHED,
    toolset: Toolset = PUBLISHED_TOOLS,
) -> ErrorClasses:
    """The classes of one run.

    Args:
        calls: what it called, as text.
        answer: the ground truth, as text.
        correct: the verdict: only `exact_match` and `no_actions` are told of a correct run.
        query: the request.
        rules: what the classes look for at this workplace.
        toolset: its tools.
    """
    calls = [_one_line(text) for text in calls]
    answer = [_one_line(text) for text in answer]
    failed = bool(answer) and not correct
    changing = [text for text in calls if _changes(text, toolset)]
    # What is looked for does no harm, so it is no guess; the published rule does not ask.
    sent = changing if isinstance(rules.wrong_email, Unknown) else calls
    return ErrorClasses(
        exact_match=sorted(text.lower() for text in changing) == sorted(text.lower() for text in answer),
        no_actions=not calls,
        wrong_email=not correct and rules.wrong_email.is_wrong(sent, f"{query} {answer}"),
        end_date_minor_error=failed and rules.end_date.is_all_that_is_wrong(calls, answer),
        meeting_start_time_error=failed and rules.meeting_start_time.is_all_that_is_wrong(calls, answer),
    )


def _one_line(text: str) -> str:
    return text.replace("\n", "\\n")


def _changes(text: str, toolset: Toolset) -> bool:
    """Whether the tool of a call changes something."""
    tool = toolset.tools.get(".".join(text.split("(")[0].split(".")[:2]))
    return tool is not None and tool.changes_state
