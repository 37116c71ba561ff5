"""Runs critics on samples; each run has a journal and limits, and continues like any other run."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from toolassay.files import read_json, write_json_lines
from toolassay.gates.critic import NOT_FOR_IT, PARAMETERS, CriticVerdict, CriticWork, template
from toolassay.gates.gate import Background
from toolassay.gates.labelled_set import Selected
from toolassay.gold import Gold
from toolassay.runs import Journal
from toolassay.runs.books import NO_PRICE
from toolassay.runs.ledger import FREE
from toolassay.runs.record import hashes
from toolassay.runs.recorded_usage import SUMMARY
from toolassay.runs.run import Run
from toolassay.runs.settings import RunSettings
from toolassay.runs.trials import Trial
from toolassay.runs.work import Work, WorkFacts, Written

FOLDER = "critics"
CONFLICT_FIX = "use those settings, another --out, or --force true (keeps the old run)"


class ReviewWork(Work):
    """A run of a critic over samples.

    Args:
        reviews: The samples and their verdicts.
        data: File of the samples; its hash is in the manifest.
        size: Number of samples.
    """

    def __init__(self, reviews: CriticWork, data: Path, size: int) -> None:
        self._reviews, self._data, self._size = reviews, data, size

    @cached_property
    def facts(self) -> WorkFacts:
        """The prompt hash is a setting: a changed prompt needs a new run."""
        wording = hashlib.sha256(template().encode()).hexdigest()
        return WorkFacts(
            "review",
            {"role": "critic", **PARAMETERS, "prompt_sha256": wording},
            {},
            self._size,
            self._size,
            {**hashes(self._data), "prompt": wording},
            stage="critic",
            conflict_fix=CONFLICT_FIX,
        )

    @property
    def items(self) -> CriticWork:
        """The review of single samples."""
        return self._reviews

    @property
    def chosen(self) -> Iterable[Gold]:
        """The samples."""
        return self._reviews.golds

    def write(self, output: Path, journal: Journal) -> Written:
        """Write one line per review."""
        return Written(write_json_lines(output, self._reviews.lines(journal)))


def ask_critics(
    critics: Sequence[str],
    golds: Selected,
    background: Background,
    *,
    out: Path,
    data: Path,
    run: RunSettings,
) -> tuple[dict[str, Mapping[int, CriticVerdict]], bool]:
    """Let several models review the same samples, one model after the other.

    Args:
        critics: Names of the models, all on the same server.
        golds: The samples.
        background: Their tools.
        out: The runs and their usage are in its subfolder `critics/`.
        data: File of the samples; its hash is in the manifest.
        run: Endpoint, limits and choices.

    Returns:
        For each critic the verdicts by line number, and whether every critic answered every request.

    Raises:
        UsageError: The settings differ from those of an existing run.
        ToolassayError: A model cannot be reached.
    """
    asked = {
        name: ask_critic(
            golds, background, out=out, data=data, run=replace(run, model=replace(run.model, llm=name))
        )
        for name in critics
    }
    if len(critics) > 1:
        run.screen.say(f"used by all critics so far: {_used_together(out, critics)}")
    verdicts = {name: found for name, (found, _) in asked.items()}
    return verdicts, all(complete for _, complete in asked.values())


def ask_critic(
    golds: Selected, background: Background, *, out: Path, data: Path, run: RunSettings
) -> tuple[Mapping[int, CriticVerdict], bool]:
    """Let a model review samples; existing reviews are kept.

    Args:
        golds: The samples.
        background: Their tools.
        out: The run is in its subfolder `critics/`.
        data: File of the samples; its hash is in the manifest.
        run: The critic, limits and choices. "offline" needs no server; it checks only arguments, and gets no
            plan without arguments.

    Returns:
        The verdict of each sample by line number, and whether every request was answered.

    Raises:
        UsageError: The settings differ from those of the run.
        ToolassayError: The model cannot be reached.
    """
    llm = run.model.llm
    bare = frozenset(gold.line for gold in golds if not gold.has_arguments) if llm in FREE else frozenset()
    not_asked = dict.fromkeys(bare, CriticVerdict("unknown", "", NOT_FOR_IT))
    golds = golds.without(bare)
    if not len(golds):
        run.screen.say(f"{llm} has nothing to review: no sample has arguments")
        return not_asked, True
    reviews = CriticWork(golds, background)
    ended = Run(ReviewWork(reviews, data, len(golds)), Trial(out / FOLDER, llm), run).carry_out()
    return {**reviews.verdicts, **not_asked}, ended.summary.complete


def _used_together(out: Path, critics: Sequence[str]) -> str:
    """Requests, tokens and cost of the runs of several critics, earlier starts included."""
    files = [Trial(out / FOLDER, name).run_folder / SUMMARY for name in critics]
    used = [read_json(file)["used"] for file in files if file.exists()]
    requests, read, written = (
        sum(one[key] for one in used) for key in ("requests", "prompt_tokens", "completion_tokens")
    )
    unknown = any(one["cost_usd"] is None for one in used)
    money = NO_PRICE if unknown else f"${sum(one['cost_usd'] for one in used):.4f}"
    return f"{requests} requests, {read} tokens read, {written} written, money: {money}"
