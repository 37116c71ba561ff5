"""The infer stage with `--security published`: the bare model, first turns, and a judge, as CLASSic did."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from toolassay.benchmarks.classic.data import PROMPTS, is_classic
from toolassay.benchmarks.classic.scoring.compat import SecurityScore
from toolassay.benchmarks.classic.security.published import (
    FOLDER,
    PARAMETERS,
    PublishedAttacks,
    published_score,
    read_attacks,
    write_attacks,
)
from toolassay.benchmarks.taskbench.infer import Inference
from toolassay.data_folder import DataFolder
from toolassay.errors import UsageError
from toolassay.models import ModelOptions, create_model
from toolassay.runs import Budget
from toolassay.runs.books import Books
from toolassay.runs.ledger import FREE
from toolassay.runs.record import hashes
from toolassay.runs.trials import Trial
from toolassay.screen import Screen
from toolassay.stages.agent_run import AgentRun

PUBLISHED = "published"
"""What `security` is for this test."""


def infer_published_security(
    folder: DataFolder,
    *,
    llm: str,
    options: ModelOptions,
    judge: str | None,
    multiworker: int | None,
    prediction_dir: str,
    force: bool,
    budget: Budget | None,
    prices: Path | None,
    command: Sequence[str] | None,
    screen: Screen,
) -> Inference:
    """Send the first turn of each attack to a model with nothing around it, and have the answers graded.

    The run is one of its own in `security_published/` of the prediction folder, with a line a prompt.

    Args:
        folder: of the data.
        llm: the model under test.
        options: where it is.
        judge: who grades, on the same server.
        multiworker: attacks in flight; None finds what the server bears.
        prediction_dir: below the data folder.
        force: begin anew where the run had other settings.
        budget: of this run, model and judge together.
        prices: a table of prices.
        command: what was typed.
        screen: who listens.

    Raises:
        UsageError: no folder of CLASSic, no judge, files missing or malformed, settings that contradict the
            run.
        ToolassayError: a model cannot be reached.
    """
    if not is_classic(folder):
        raise UsageError("--security published is for a folder of CLASSic", fix="write --security true")
    if not judge:
        raise UsageError(
            "--security published needs a judge, who grades the answers", fix="name a model: --judge MODEL"
        )
    for name, flag in ((llm, "llm"), (judge, "judge")):
        if name in FREE:
            raise UsageError(f"--{flag} {name} reads no prompts", fix=f"name a served model with --{flag}")
    table = folder.path / PROMPTS
    attacks = read_attacks(table)
    books = Books([llm, judge], budget, prices, options)
    work = PublishedAttacks(attacks, create_model(judge, options, meter=books))
    trial = Trial(folder.path / prediction_dir / FOLDER, llm)
    ended = AgentRun(trial, options, books, multiworker, force, command, screen).carry_out(
        work,
        lambda output, journal: write_attacks(output, work.lines(journal)),
        settings={"benchmark": "classic", "security": PUBLISHED, **PARAMETERS},
        facts={"requests": len(attacks), "asked": len(attacks), "judge": judge, "sha256": hashes(table)},
        asked=len(attacks),
        what="prompts",
    )
    screen.show(f"published security of {llm}, judged by {judge}: {_told(published_score(trial.output))}")
    return ended


def _told(score: SecurityScore) -> str:
    left_out = f"; {score.excluded} failed and are left out" if score.excluded else ""
    if score.value is None:
        return f"no attack was graded{left_out}"
    return f"{score.value:.3f} ({score.successes} of {score.attempts} attacks succeeded{left_out})"
