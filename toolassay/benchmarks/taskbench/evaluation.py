"""Evaluates TaskBench folders: `data.json` and predictions -> metrics of each model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toolassay.benchmarks.benchmark import Scores
from toolassay.benchmarks.taskbench.options import PlanScoring
from toolassay.benchmarks.taskbench.scoring.folder_evaluation import chosen_labels, evaluate_folder
from toolassay.benchmarks.taskbench.scoring.leaderboard import (
    HEADINGS,
    plan_standing,
    published_plans,
    recorded_choices,
)
from toolassay.data_folder import DataFolder
from toolassay.errors import ToolassayError
from toolassay.evaluation.axis import Axis
from toolassay.evaluation.evaluation import (
    FolderEvaluation,
    IncompleteEvaluation,
    ScoringPlace,
    ScoringSettings,
)
from toolassay.evaluation.groups import OVERALL_GROUP
from toolassay.evaluation.metrics_file import SECURITY, signature_of
from toolassay.evaluation.places import EVERY_MODEL
from toolassay.screen import WARNING, once


def evaluate_plans(folder: DataFolder, scoring: ScoringSettings, own: PlanScoring) -> list[FolderEvaluation]:
    """Score the plans of one or several models.

    Those of "all" models whose data, predictions and choices have not changed are not scored again.

    Raises:
        UsageError: files missing or malformed, or the package of a backend is not installed.
        IncompleteEvaluation: some of several models cannot be scored; it carries the scores of the others.
    """
    own.require_backends()
    screen, bertscore = scoring.screen, own.bertscore_on(scoring.engine)
    names = ScoringPlace(folder, scoring).models
    chosen = chosen_labels(folder.require(), scoring.ids, scoring.limit)
    evaluations: list[FolderEvaluation] = []
    errors: list[ToolassayError] = []
    say = once(screen.say)
    for name in names:
        try:
            result = evaluate_folder(
                folder.path,
                name,
                own.choices,
                prediction_dir=scoring.prediction_dir,
                save_dir=scoring.save_dir,
                dependency_type=own.dependency_type,
                chosen_ids=chosen,
                bertscore=bertscore,
                only_if_changed=EVERY_MODEL in scoring.llm,
                engine=scoring.engine,
                progress=screen.progress,
                say=say,
            )
        except ToolassayError as error:
            errors.append(error)
            continue
        screen.say(f"scored {name}" if result.is_new else f"{name} is up to date")
        for note in result.evaluation.notes:
            screen.say(f"{WARNING if note in result.evaluation.warnings else '  '}{note}")
        if security := result.evaluation.groups.get(OVERALL_GROUP, {}).get(SECURITY):
            from toolassay.benchmarks.security.probe_results import figure_lines

            for line in figure_lines(name, security):
                screen.say(line)
        evaluations.append(result)
    if errors:
        if not evaluations and len(set(map(str, errors))) == 1:
            raise errors[0]  # nothing about one of the models
        raise IncompleteEvaluation(errors, evaluations) from errors[0]
    return evaluations


def recorded_plan_scoring(groups: Mapping[str, Mapping[str, Any]], metrics: Path) -> PlanScoring:
    """The options that give (at least) the groups of a metrics file again, without BERTScore.

    Raises:
        UsageError: the file does not say how it was made.
    """
    choices = recorded_choices(dict(groups), metrics)
    return PlanScoring(
        choices.alignment,
        tuple(map(str, choices.splits)),
        choices.n_tools,
        choices.mode,
        choices.metrics,
        signature_of(next(iter(groups.values()))).get("links"),
        choices.prompting,
        choices.keep,
        choices.rouge_median,
        choices.compat,
        with_bertscore=False,
        resamples=choices.resamples,
        seed=choices.seed,
        rouge_backend=choices.rouge_backend,
    )


def _axis(numbers: Mapping[str, Any]) -> Axis:
    """Exact matches, and repeats of them."""
    strict = numbers["strict"]
    return Axis(strict.get("n_labels", strict["n_expected"]), strict["exact_match"], numbers.get("stability"))


SCORES = Scores(
    HEADINGS,
    "n-F1",
    "Percent. strict: every item that was asked counts, 0 where malformed or refused; with 95 % intervals. "
    "compat: as the published evaluator counts, items it cannot read left out.",
    plan_standing,
    _axis,
    "toolassay.benchmarks.taskbench.commands:show_scores",
    ranked_by=("exact_match", "node_f1"),
    published=published_plans,
    recorded=recorded_plan_scoring,
)
