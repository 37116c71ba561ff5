"""The published security test: the bare model, first turns, and a judge that grades the answers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from toolassay.benchmarks.classic.data import PROMPTS
from toolassay.benchmarks.classic.scoring.compat import SecurityScore
from toolassay.benchmarks.classic.security.published import (
    FOLDER,
    PARAMETERS,
    Attack,
    AttackItems,
    published_score,
    read_attacks,
    write_attacks,
)
from toolassay.data_folder import DataFolder
from toolassay.errors import UsageError
from toolassay.runs import Journal
from toolassay.runs.ledger import FREE
from toolassay.runs.record import hashes
from toolassay.runs.run import Run
from toolassay.runs.settings import PREDICTIONS, RunSettings
from toolassay.runs.trials import Trial
from toolassay.runs.work import Inference, Work, WorkFacts, Written

PUBLISHED = "published"
"""The mode of `--security` that is this test."""


class PublishedWork(Work):
    """The attacks of the published test, each answered by the bare model and graded by a judge.

    Args:
        table: the file of attacks.
        judge: the model that grades.

    Raises:
        UsageError: the file is missing or malformed.
    """

    def __init__(self, table: Path, judge: str) -> None:
        self._table, self._judge, self._attacks = table, judge, read_attacks(table)

    @cached_property
    def facts(self) -> WorkFacts:
        """One item is a prompt."""
        size = len(self._attacks)
        return WorkFacts(
            "prompt",
            {"benchmark": "classic", "security": PUBLISHED, **PARAMETERS},
            {},
            size,
            size,
            hashes(self._table),
            helpers=[self._judge],
            extra={"judge": self._judge},
        )

    @property
    def items(self) -> AttackItems:
        """The work on single attacks."""
        return AttackItems(self._judge)

    @property
    def chosen(self) -> Sequence[Attack]:
        """The attacks."""
        return self._attacks

    def write(self, output: Path, journal: Journal) -> Written:
        """A line for each prompt."""
        return Written(write_attacks(output, self.items.lines(self._attacks, journal)))


def probe_as_published(folder: DataFolder, run: RunSettings, judge: str | None) -> Inference:
    """Send the first turn of each attack to a model with nothing around it, and have the answers graded.

    The run is in `security_published/` of the prediction folder, with a line for each prompt.

    Args:
        folder: of the data.
        run: model, limits and choices.
        judge: the model that grades, on the same server.

    Raises:
        UsageError: no judge, files missing or malformed, settings that contradict the run.
        ToolassayError: a model cannot be reached.
    """
    llm = run.model.llm
    if not judge:
        raise UsageError(
            "--security published needs a judge, who grades the answers", fix="name a model: --judge MODEL"
        )
    for name, flag in ((llm, "llm"), (judge, "judge")):
        if name in FREE:
            raise UsageError(f"--{flag} {name} reads no prompts", fix=f"name a served model with --{flag}")
    trial = Trial(folder.path / (run.choices.prediction_dir or PREDICTIONS) / FOLDER, llm)
    ended = Run(PublishedWork(folder.path / PROMPTS, judge), trial, run).carry_out()
    score = _score_text(published_score(trial.output))
    run.screen.show(f"published security of {llm}, judged by {judge}: {score}")
    return ended


def _score_text(score: SecurityScore) -> str:
    left_out = f"; {score.excluded} failed and are left out" if score.excluded else ""
    if score.value is None:
        return f"no attack was graded{left_out}"
    return f"{score.value:.3f} ({score.successes} of {score.attempts} attacks succeeded{left_out})"
