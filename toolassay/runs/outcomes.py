"""Which items a run covered, which of them count in its scores, and the marks of rows in tables and pictures.

An item counts as wrong if the model failed it: a wrong, malformed or refused answer, a context overflow, a
limit of the task itself. An item is excluded if the model had no part in it: a provider error (time-outs
included), a call in doubt, a budget stop, an item that was not run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from toolassay.runs.journal import Journal
from toolassay.runs.manifest import JOURNAL, MANIFEST

NOT_RUN = "not run"
UNWRITTEN = "unwritten"
"""The journal has an answer and the prediction file has no line: the run is in progress, or was killed before
it wrote the file. The same `infer` command writes it."""
MISSING = "missing"
"""No line in a prediction file without a manifest: the item was expected and counts as wrong."""
CHOSEN = "|chosen:"
"""Marks the signature of scores of items selected with --ids or --limit, which differ from those of all."""
_NEVER_ASKED = (NOT_RUN, "budget stop")
EXCLUDED = frozenset((*_NEVER_ASKED, "provider error", "in doubt", UNWRITTEN))


def is_scored(outcome: str) -> bool:
    """Whether an item with this outcome counts in the scores, as right or wrong.

    >>> is_scored("malformed"), is_scored("context overflow"), is_scored("provider error")
    (True, True, False)
    """
    return outcome not in EXCLUDED


class AskedCounts(msgspec.Struct, frozen=True):
    """How many items of a data set were asked and scored, for a metrics file.

    Attributes:
        n_labels: Number of labelled items.
        n_asked: Items to which a request was sent, or should have been.
        n_scored: Items that the model got right or wrong.
        partial: Whether some items are excluded, so that the scores are not those of all.
        coverage: `n_scored` / `n_labels`; None without labels.

    >>> AskedCounts.of({"answered": 19, "malformed": 1, "not run": 280}).phrase
    '20 of 300 asked'
    >>> AskedCounts.of({"answered": 18, "provider error": 282}).phrase
    '18 of 300 scored'
    >>> AskedCounts.of({"answered": 1, "missing": 1})
    AskedCounts(n_labels=2, n_asked=2, n_scored=1, partial=False, coverage=0.5)
    """

    n_labels: int
    n_asked: int
    n_scored: int
    partial: bool
    coverage: float | None = None

    @classmethod
    def of(cls, outcomes: Mapping[str, int]) -> AskedCounts:
        """The counts of a number of items by outcome."""
        labels = sum(outcomes.values())
        excluded = sum(outcomes.get(name, 0) for name in EXCLUDED)
        asked = labels - sum(outcomes.get(name, 0) for name in _NEVER_ASKED)
        scored = labels - excluded - outcomes.get(MISSING, 0)
        return cls(labels, asked, scored, excluded > 0, scored / labels if labels else None)

    def to_json(self) -> dict[str, Any]:
        """The counts as strict scores have them."""
        return msgspec.structs.asdict(self)

    @property
    def phrase(self) -> str:
        """The number of items behind a score, for tables: "300", "20 of 300 asked", "18 of 300 scored"."""
        if not self.partial:
            return str(self.n_labels)
        return f"{self.n_scored} of {self.n_labels} {'asked' if self.n_asked == self.n_scored else 'scored'}"


def excluded_phrase(outcomes: Mapping[str, int]) -> str:
    """The number of excluded items by outcome, the most frequent first.

    >>> excluded_phrase({"answered": 17, "not run": 280, "provider error": 3})
    '280 not run, 3 provider error'
    """
    counted = sorted((-count, name) for name, count in outcomes.items() if name in EXCLUDED and count)
    return ", ".join(f"{-count:,} {name}" for count, name in counted)


class RunOutcomes:
    """The outcomes of a run's items that have no line in the prediction file, from its journal.

    The journal is opened on first use, read-only.

    Args:
        folder: Folder of `manifest.json` and `journal.jsonl`.
        outcome_of: The outcome in the journal of an item with its current wording; empty without one.
    """

    def __init__(self, folder: Path, outcome_of: Callable[[Journal, Any], str]) -> None:
        self._folder = folder
        self._outcome_of = outcome_of
        self._journal: Journal | None = None

    def outcome(self, item: Any) -> str:
        """The outcome of an item without a line; "missing" if the run has no manifest and no journal.

        Raises:
            UsageError: The journal is broken.
        """
        if self._journal is None:
            if not has_record(self._folder):
                return MISSING
            self._journal = Journal(self._folder / JOURNAL, read_only=True)
        outcome = self._outcome_of(self._journal, item) or NOT_RUN
        return UNWRITTEN if outcome in ("answered", "malformed", "refused") else outcome


def has_record(folder: Path) -> bool:
    """Whether a folder has a manifest or a journal, which show the items of the run."""
    return (folder / MANIFEST).is_file() or (folder / JOURNAL).is_file()


ON_PUBLISHED_REQUESTS = 31.4
"""Percent of the published tasks on a workplace that the offline agent does right, strictly."""
ON_REWORDED_REQUESTS = 36.0
"""Percent of 100 bundled tasks that it does right as a second author worded them."""
WORDINGS = "wordings"
OUR_WORDINGS = "toolassay"
"""A part of signatures: the offline agent's rules were written for such requests."""
# The bundled tasks, for scores made before signatures had that part.
_BUNDLED_TASKS = frozenset({"d2008ac9f078"})


class RowMark(NamedTuple):
    """A mark on a row.

    Attributes:
        sign: follows the name.
        note: what it means, one line.
        is_baseline: the row is of a built-in program, which is never ranked.
    """

    sign: str
    note: str
    is_baseline: bool = False

    @property
    def line(self) -> str:
        """The sign and its meaning, for the line below a table."""
        return f"{self.sign} {self.note}"


BASELINE = RowMark(
    "(baseline)",
    "built-in baselines, not ranked: nothing (uses no tool) and random (draws tools with a seed)",
    is_baseline=True,
)
BUILT_IN_PROGRAM = RowMark("(built in)", "a program of toolassay, not a model: not ranked", is_baseline=True)
RULES_AT_HAND = RowMark(
    "†",
    "built in, not ranked: its rules were written for these requests; "
    f"{ON_REWORDED_REQUESTS:g} % right on reworded ones, {ON_PUBLISHED_REQUESTS:g} % on the published ones",
    is_baseline=True,
)
NO_TOOLS = "tools_missing"
"""A part of signatures: the tools that the run offered never reached its model."""
TOOLS_MISSING = RowMark(
    "‡",
    "the server dropped the tools: no call was made, and the prompts were too short to hold them; "
    "the scores do not measure the model",
)
LOCAL = "local: computed on this machine by a built-in model; not to be compared with a server's seconds."
"""The note below a table with such times."""


def legend_of(marks: Iterable[RowMark | None], *, is_local: bool) -> list[str]:
    """The lines below a table: what its marks mean, and what local times are if it has some."""
    return [*dict.fromkeys(mark.line for mark in marks if mark is not None), *[LOCAL] * is_local]


def mark_of(model: str, signature: Mapping[str, str]) -> RowMark | None:
    """The mark of a model's row, by what its scores were made with.

    Args:
        model: its name.
        signature: the parts of the signature of its scores, by name.

    >>> mark_of("offline", {"wordings": "toolassay"}).sign
    '†'
    >>> mark_of("random", {}).is_baseline, mark_of("offline", {}).is_baseline, mark_of("gpt-4", {})
    (True, True, None)
    >>> mark_of("gpt-4", {"tools_missing": "yes"}).sign
    '‡'
    """
    from toolassay.models.registry import BASELINES, BUILT_IN

    if model in BASELINES:
        return BASELINE
    if model not in BUILT_IN:
        return TOOLS_MISSING if NO_TOOLS in signature else None
    at_hand = signature.get(WORDINGS) == OUR_WORDINGS or signature.get("tasks") in _BUNDLED_TASKS
    return RULES_AT_HAND if at_hand else BUILT_IN_PROGRAM


def tools_part(is_missing: bool) -> dict[str, str]:
    """The part of a signature that says whether the tools were missing; none where they were not."""
    return {NO_TOOLS: "yes"} if is_missing else {}


def marked(name: str, mark: RowMark | None) -> str:
    """A name with its mark.

    >>> marked("random", BASELINE), marked("gpt-4", None)
    ('random (baseline)', 'gpt-4')
    """
    return name if mark is None else f"{name} {mark.sign}"
