"""How well a critic agrees with labels: precision and recall of its "no", and kappa, for each question.

Labels are answers to the same questions; a labelled file may say whose (`LABELLED_BY`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from toolassay.console.tables import Result, Table
from toolassay.errors import UsageError
from toolassay.files.data_files import read_json, record_of
from toolassay.gates.rubric import CRITERIA
from toolassay.metrics.confidence_interval import NOTHING, Interval, proportion_interval

PUBLISHABLE = "publishable"
"""Whether all five answers are yes."""
# Resamples for the 95 % interval of kappa. A fixed seed gives the same interval again.
_RESAMPLES = 2_000
_SEED = 0
LABELLED_BY = "labelled_by"
"""Key of a line of a labelled file: who answered."""
_UNKNOWN = "judged samples; it has not been compared with labels (toolassay check --calibrate)"
Answers = Mapping[str, bool]
"""Yes or no to each question, and to `PUBLISHABLE`."""


@dataclass(frozen=True)
class CriterionAgreement:
    """How a critic agrees with labels on one question.

    Attributes:
        criterion: The question, or "publishable".
        both_no, critic_no, people_no, both_yes: Numbers of samples: both say no, only the critic does, only
            the labels do, none does.
        precision: Share of the critic's no that the labels share: value, low, high (95 %, Wilson).
        recall: Share of the labels' no that the critic finds: value, low, high (95 %, Wilson).
        kappa: Agreement beyond chance (Cohen, 1960): value, low, high (95 %, bootstrap over samples).
    """

    criterion: str
    both_no: int
    critic_no: int
    people_no: int
    both_yes: int
    precision: Interval
    recall: Interval
    kappa: Interval


@dataclass(frozen=True, repr=False)
class Calibration(Result):
    """The agreement of one critic with a labelled file.

    Attributes:
        critic: The model.
        labels: Name of the labelled file.
        labels_sha256: Its hash.
        wording_sha256: Hash of the critic's prompt.
        samples: Number of labelled samples.
        unanswered: Number of those for which the critic gave no readable answer; they count nowhere.
        agreement: One row for each question, then one for "publishable".
        labelled_by: Who labelled the samples; empty if the file does not say.
    """

    critic: str
    labels: str
    labels_sha256: str
    wording_sha256: str
    samples: int
    unanswered: int
    agreement: list[CriterionAgreement]
    labelled_by: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """One line for a card: the agreement on whether a sample is publishable."""
        last = self.agreement[-1]
        by = ", ".join(self.labelled_by) or "(it is not said whom)"
        return (
            f"{self.critic} was compared with {self.samples} samples labelled by {by} in {self.labels}: "
            f"of its no, these share {_shown(last.precision)}; of theirs, it finds {_shown(last.recall)}; "
            f"kappa {_shown(last.kappa, share=False)}"
        )

    def table(self) -> Table:
        """A row for each question."""
        head = (
            "question",
            "both no",
            "only critic",
            "only labels",
            "both yes",
            "precision",
            "recall",
            "kappa",
        )
        rows = [
            (
                row.criterion,
                *map(str, (row.both_no, row.critic_no, row.people_no, row.both_yes)),
                _shown(row.precision),
                _shown(row.recall),
                _shown(row.kappa, share=False),
            )
            for row in self.agreement
        ]
        return Table(head, rows, "lrrrrlll")


def answers_of(label: Mapping[str, Any], where: str) -> Answers:
    """The answers in a line of a labelled file: each question as true, false, 1 or 0.

    Raises:
        UsageError: An answer is missing or invalid.
    """
    answers = {name: label.get(name) for name in CRITERIA}
    for name, value in answers.items():
        if value not in (0, 1):  # True and False are equal to them
            raise UsageError(
                f"{where}: '{name}' is not answered",
                fix="answer natural, grounded, plan, links and values with true or false on every line",
            )
    booleans = {name: bool(value) for name, value in answers.items()}
    return booleans | {PUBLISHABLE: all(booleans.values())}


class Pair(NamedTuple):
    """The answers of a label and of a critic to the questions on one sample."""

    label: Answers
    critic: Answers


def agreement(pairs: Sequence[Pair]) -> list[CriterionAgreement]:
    """The rows of a calibration.

    >>> yes = dict.fromkeys((*CRITERIA, PUBLISHABLE), True)
    >>> no = yes | {"plan": False, PUBLISHABLE: False}
    >>> rows = agreement([Pair(no, no), Pair(yes, yes), Pair(yes, no), Pair(yes, yes)])
    >>> rows[2].both_no, rows[2].critic_no, rows[2].precision.value, rows[2].kappa.value
    (1, 1, 0.5, 0.5)
    """
    return [_agreement(name, [(pair.label[name], pair.critic[name]) for pair in pairs]) for name in _ROWS]


_ROWS = (*CRITERIA, PUBLISHABLE)


def _agreement(criterion: str, pairs: Sequence[tuple[bool, bool]]) -> CriterionAgreement:
    both_no, critic_no, people_no, both_yes = counts = [
        sum(pair == combination for pair in pairs)
        for combination in ((False, False), (True, False), (False, True), (True, True))
    ]
    return CriterionAgreement(
        criterion,
        both_no,
        critic_no,
        people_no,
        both_yes,
        proportion_interval(both_no, both_no + critic_no),
        proportion_interval(both_no, both_no + people_no),
        _kappa(counts),
    )


def _kappa(counts: Sequence[int]) -> Interval:
    """Cohen's kappa of a table (both no, only critic, only people, both yes) with a bootstrap interval."""
    import numpy as np

    total = sum(counts)
    if not total:
        return NOTHING
    draws = np.random.default_rng(_SEED).multinomial(total, np.array(counts) / total, size=_RESAMPLES)
    shares = np.vstack([counts, draws]) / total
    observed = shares[:, 0] + shares[:, 3]
    no = (shares[:, 0] + shares[:, 1]) * (shares[:, 0] + shares[:, 2])
    yes = (shares[:, 3] + shares[:, 1]) * (shares[:, 3] + shares[:, 2])
    with np.errstate(invalid="ignore", divide="ignore"):
        values = (observed - no - yes) / (1 - no - yes)
    if not np.isfinite(values[0]):
        return NOTHING
    low, high = np.percentile(values[np.isfinite(values)], [2.5, 97.5])
    return Interval(round(float(values[0]), 4), round(float(low), 4), round(float(high), 4))


def _shown(interval: Interval, *, share: bool = True) -> str:
    value, low, high = interval
    if value is None or low is None or high is None:
        return "–"
    if share:
        return f"{value:.0%} [{low:.0%}, {high:.0%}]"
    return f"{value:.2f} [{low:.2f}, {high:.2f}]"


def standing(critics: Iterable[str], files: Iterable[Path]) -> dict[str, str]:
    """What is known of critics: for each, how far it agrees with labels, in one sentence.

    Raises:
        UsageError: A file is no calibration, or is that of another critic.
    """
    critics, calibrations = list(critics), read_calibrations(files)
    for name in calibrations.keys() - set(critics):
        raise UsageError(f"--calibration is of the critic {name}, which does not judge here", fix="omit it")
    return {
        name: calibrations[name].line if name in calibrations else f"{name} {_UNKNOWN}" for name in critics
    }


def read_calibrations(files: Iterable[Path]) -> dict[str, Calibration]:
    """Calibrations by critic.

    Raises:
        UsageError: A file is missing or is no calibration.
    """
    calibrations: dict[str, Calibration] = {}
    for file in files:
        fix = "make it with toolassay check --calibrate"
        calibration = record_of(read_json(file), Calibration, file=file, fix=fix)
        calibrations[calibration.critic] = calibration
    return calibrations
