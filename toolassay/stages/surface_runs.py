"""Asks about the goals on both versions, looks at what is known, and says what it means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from toolassay.benchmarks.registry import benchmark_of
from toolassay.console.screen import SILENT
from toolassay.console.text_formatting import count_of
from toolassay.errors import ToolassayError
from toolassay.evaluation.items import OUTCOME, OUTCOME_AT_BEST, ScoredItem, items_path, read_items
from toolassay.evaluation.metrics_file import signature_text
from toolassay.files.data_files import (
    sha256_of,
)
from toolassay.metrics.sequential import (
    METHOD,
    Decision,
    MeanDifference,
    critical_values,
    goals_needed,
    score_interval,
)
from toolassay.runs.manifest import LEDGER
from toolassay.runs.recorded_usage import usage_by_item
from toolassay.runs.run import Run
from toolassay.runs.settings import RunSettings
from toolassay.runs.trials import Trial
from toolassay.runs.work import Inference
from toolassay.stages.evaluate import evaluate
from toolassay.stages.outcomes import same_trials
from toolassay.stages.settings import SurfaceSettings
from toolassay.stages.surface_sides import Side
from toolassay.surfaces.blame import Mistakes, RunMistakes, blame
from toolassay.surfaces.mapping import FILE as MAPPING
from toolassay.surfaces.mapping import ToolMapping, changed_tools, text_of
from toolassay.surfaces.verdict import Changed, Look, Lost, PerSide, SurfaceVerdict
from toolassay.tools.library import ToolLibrary
from toolassay.version import __version__

BLOCKS = 10
"""Most blocks of goals: after each, the sides take turns, and `until` looks."""
_FEWEST = 5  # goals of a block; each start of a server and an agent costs time
_EXACT = "exact_match"


def act(side: Side, sides: Sequence[Side], ids: Sequence[Any], number: int, run: RunSettings) -> Inference:
    """Ask the model or agent about goals on a side, in one trial; what is answered is not asked again."""
    screen = run.screen if run.choices.dry_run else run.screen.quieter
    run = replace(run, choices=replace(run.choices, ids=ids, trials=number + 1), screen=screen)
    benchmark = benchmark_of(side.folder)
    own = benchmark.settled(side.folder, run, side.own)
    trial = Trial(side.folder.path / benchmark.place(run, own), run.model.llm, number)
    others = [other for other in sides if other is not side and not other.is_kept]
    beside = [
        ledger for other in others for ledger in sorted(other.folder.path.glob(f"predictions*/**/{LEDGER}"))
    ]
    return Run(benchmark.work(side.folder, run, own, number), trial, run, beside=beside).carry_out()


class _Scored(NamedTuple):
    """The runs of a side: its items by id as text, and the folder of its predictions."""

    items: Mapping[str, ScoredItem]
    predictions: Path


@dataclass
class ComparedRuns:
    """The runs of both sides, and what the looks at them say.

    Attributes:
        sides: The old and the new version.
        order: The goals that both can fulfil, in the order in which they are asked.
        run: The model and its limits.
        settings: How the versions are compared.
        looks: What was known at each look.
        asked: Number of goals that were asked.
        scored: The scores of both sides at the last look.
        pairs: The goals with a score on both sides at the last look.
        critical: Standard errors of the last look's interval.
        stop: Why the runs ended early; empty if they did not.
    """

    sides: tuple[Side, Side]
    order: Sequence[Any]
    run: RunSettings
    settings: SurfaceSettings
    looks: list[Look] = field(default_factory=list)
    asked: int = 0
    scored: Sequence[_Scored] = ()
    pairs: Sequence[_Pair] = ()
    critical: float = 0.0
    stop: str = ""

    def carry_out(self) -> None:
        """Ask about the goals block by block; the sides take turns, so that what drifts hurts both alike."""
        count = len(self.order)
        size = max(_FEWEST, -(-count // BLOCKS))
        ends = [*range(size, count, size), count]
        looks = ends if self.settings.until else [count]
        criticals = dict(zip(looks, critical_values(tuple(end / count for end in looks)), strict=True))
        turn = 0
        for end in ends:
            for number in range(self.settings.trials):
                turn += 1
                for side in self.sides if turn % 2 else reversed(self.sides):
                    ended = act(side, self.sides, self.order[:end], number, self.run).summary
                    self.stop = self.stop or str(ended.stop or "")
            self.asked = end
            if end in criticals or self.stop:
                self._look(end, criticals.get(end, criticals[looks[-1]]))
            if self.stop or (self.looks and self.decision != "no_decision"):
                break

    @property
    def decision(self) -> Decision:
        look = self.looks[-1]
        if self.stop:
            return "no_decision"
        return MeanDifference(look.difference, look.low, look.high).decided(self.settings.margin)

    def _look(self, end: int, critical: float) -> None:
        self.scored = [_scored(side, self.run) for side in self.sides]
        pairs = (
            _Pair.of(*(scored.items.get(str(name)) for scored in self.scored)) for name in self.order[:end]
        )
        self.pairs = [pair for pair in pairs if pair is not None]
        self.critical = critical
        if not self.pairs:
            raise ToolassayError(
                "no goal has an answer on both versions", fix=self.stop or "run the command again"
            )
        low, high = (score_interval([pair.bounds[side] for pair in self.pairs], critical) for side in (0, 1))
        self.looks.append(Look(len(self.pairs), (low.value + high.value) / 2, low.low, high.high))


def _scored(side: Side, run: RunSettings) -> _Scored:
    """Score the predictions of a side."""
    benchmark = benchmark_of(side.folder)
    silent = replace(run, screen=SILENT)
    predictions = side.folder.path / benchmark.place(silent, benchmark.settled(side.folder, silent, side.own))
    evaluation = evaluate(side.folder.path, llm=run.model.llm, prediction_dir=predictions, screen=SILENT)
    return _Scored({item.id: item for item in read_items(items_path(evaluation.path))}, predictions)


class _Pair(NamedTuple):
    """A goal on both sides.

    Attributes:
        id: As text.
        bounds: The least and the greatest difference of the scores, which undecided facts leave open.
        scores: Of both sides, at least.
        score: Name of what is compared.
    """

    id: str
    bounds: tuple[float, float]
    scores: tuple[float, float]
    score: str

    @classmethod
    def of(cls, before: ScoredItem | None, after: ScoredItem | None) -> _Pair | None:
        """The pair of two items; None if one has no run that counts, or nothing is compared on both."""
        if before is None or after is None:
            return None
        for least, most in ((OUTCOME, OUTCOME_AT_BEST), (_EXACT, _EXACT)):
            old, new = before.scores.get(least), after.scores.get(least)
            if old is not None and new is not None:
                highest = [before.scores.get(most), after.scores.get(most)]
                old_best, new_best = (high or low for high, low in zip(highest, (old, new), strict=True))
                return cls(before.id, (new - old_best, new_best - old), (old, new), least)
        return None


def verdict_of(
    runs: ComparedRuns, mapping: ToolMapping, lost: Mapping[Any, str], libraries: Sequence[ToolLibrary]
) -> SurfaceVerdict:
    look = runs.looks[-1]
    decision = runs.decision
    pairs = runs.pairs
    old_tools, new_tools = libraries
    changed = changed_tools(old_tools, new_tools, mapping)
    ids = [pair.id for pair in pairs]
    old_runs, new_runs = (
        _mistakes(side, scored, {pair.id: pair.score for pair in pairs}, names, runs.run.model.llm)
        for side, scored, names in zip(runs.sides, runs.scored, ({}, mapping.names), strict=True)
    )
    found = blame(old_runs, new_runs, changed, runs.critical)
    middle = [sum(pair.bounds) / 2 for pair in pairs]
    needed = goals_needed(middle, runs.critical, runs.settings.margin) if decision == "no_decision" else None
    tokens, usd = zip(
        *(_usage(side, scored, ids, runs) for side, scored in zip(runs.sides, runs.scored, strict=True)),
        strict=True,
    )
    notes = [f"Stopped: {runs.stop}. The same command goes on."] if runs.stop else []
    if runs.sides[0].is_kept:
        notes.append(
            "The runs of the old version are of an earlier comparison: the difference has what drifted since."
        )
    if undecided := sum(pair.bounds[0] != pair.bounds[1] for pair in pairs):
        notes.append(
            f"{count_of(undecided, 'goal')} with undecided facts: the interval has both ends of the score."
        )
    if left := runs.asked - len(pairs):
        notes.append(
            f"{count_of(left, 'goal')} without an answer on a side, or without a score, not compared."
        )
    parts = {
        "toolassay": __version__,
        "goals": sha256_of(runs.sides[0].folder.data)[:12],
        **{side.name: sha256_of(side.folder.tool_desc)[:12] for side in runs.sides},
        "mapping": sha256_of(runs.sides[0].folder.path.parent / MAPPING)[:12],
        "llm": runs.run.model.llm,
        "ask": str(runs.sides[0].own.ask),
        "trials": str(runs.settings.trials),
        "seed": str(runs.settings.seed),
    }
    return SurfaceVerdict(
        verdict=decision,
        difference=look.difference,
        low=look.low,
        high=look.high,
        margin=runs.settings.margin,
        scores=PerSide(*(sum(pair.scores[side] for pair in pairs) / len(pairs) for side in (0, 1))),
        n_goals=look.n_goals,
        n_needed=needed,
        method=METHOD,
        looks=runs.looks,
        lost=[Lost(str(name), reason) for name, reason in lost.items()],
        tools=found.tools,
        pairs=found.pairs,
        arguments=found.arguments,
        changed=[
            Changed(name, *(None if tool is None else text_of(tool) for tool in versions))
            for name, versions in changed.items()
        ],
        tokens=PerSide(*tokens),
        usd=PerSide(*usd),
        judged_by=" and ".join(sorted({"outcome" if pair.score == OUTCOME else "plan" for pair in pairs})),
        models=[runs.run.model.llm],
        trials=runs.settings.trials,
        notes=notes,
        signature=f"surface|{signature_text(parts)}",
    )


def _mistakes(
    side: Side, scored: _Scored, score: Mapping[str, str], names: Mapping[str, str], llm: str
) -> Mistakes:
    """The mistakes of each run of the compared goals; none in a run that is right."""
    items = benchmark_of(side.folder).items
    by_trial = {
        trial.number: dict(items.answers(side.folder, trial.folder, llm, score))
        for trial in same_trials(Trial(scored.predictions, llm).output)
    }
    return {
        name: [
            RunMistakes()
            if run.scores.get(score[name]) == 1 or name not in by_trial[run.trial]
            else RunMistakes.of(by_trial[run.trial][name], names)
            for run in scored.items[name].trials or ()
        ]
        for name in score
    }


def _usage(
    side: Side, scored: _Scored, ids: Sequence[str], runs: ComparedRuns
) -> tuple[float | None, float | None]:
    """Mean tokens of the prompts for a goal, and its mean cost; None where they are not known."""
    used = [
        usage
        for trial in same_trials(Trial(scored.predictions, runs.run.model.llm).output)
        for name, usage in usage_by_item(trial.ledger).items()
        if name in ids
    ]
    tokens = [usage.prompt_tokens for usage in used if usage.prompt_tokens]
    dollars = [usage.dollars for usage in used if usage.dollars is not None]
    return (sum(tokens) / len(tokens) if tokens else None), (sum(dollars) / len(dollars) if dollars else None)
