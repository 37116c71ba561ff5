"""Evaluates WorkBench folders: recorded calls of agents -> metrics."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from toolassay.benchmarks.security import security_beside
from toolassay.benchmarks.workbench.agents.agent_scores import AgentScores, score_agents
from toolassay.benchmarks.workbench.agents.inference import entry_of, read_predictions
from toolassay.benchmarks.workbench.generate.generated_tasks import has_our_wordings
from toolassay.benchmarks.workbench.judge.error_classes import error_rules
from toolassay.benchmarks.workbench.judge.evaluation import MODES, JudgingTask
from toolassay.benchmarks.workbench.options import WorkplaceScoring
from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.benchmarks.workbench.tasks import Task
from toolassay.benchmarks.workbench.tasks import fingerprint as tasks_fingerprint
from toolassay.benchmarks.workbench.workplace import open_workplace
from toolassay.benchmarks.workbench.workplace_stages import load_workplace, tools_hash
from toolassay.data_folder import DataFolder
from toolassay.evaluation.evaluation import FolderEvaluation, ScoringPlace, ScoringSettings
from toolassay.evaluation.metrics_file import Signature
from toolassay.files import sha256_of
from toolassay.runs.manifest import recorded_settings
from toolassay.runs.outcomes import OUR_WORDINGS, WORDINGS, RunOutcomes, tools_part
from toolassay.runs.recorded_usage import usage
from toolassay.runs.starts import refused_part
from toolassay.runs.tool_arrival import tools_missing
from toolassay.runs.trials import Trial, fingerprint
from toolassay.runs.work import chosen_items
from toolassay.screen import WARNING
from toolassay.text_formatting import count_of
from toolassay.version import __version__

_NAMED = 5


@dataclass(frozen=True, kw_only=True)
class AgentEvaluation(FolderEvaluation):
    """The scores of one model of WorkBench, and the files they are in.

    Attributes:
        scores: of its first run; with further trials, also how sure a success is.
        cost: Cost of its tasks over all trials; None if unknown, with the reason in `notes`.
        latency: how long they took, likewise.
        notes: why `cost` or `latency` is None or not the whole.
    """

    scores: AgentScores
    cost: Mapping[str, Any] | None = None
    latency: Mapping[str, Any] | None = None
    notes: Mapping[str, str] = field(default_factory=dict)

    @property
    def runs_done(self) -> Sequence[int]:
        """Number of tasks of each trial."""
        return self.scores.tasks_done


def evaluate_agents(
    folder: DataFolder, scoring: ScoringSettings, own: WorkplaceScoring
) -> list[AgentEvaluation]:
    """Judge what agents called, as published and strictly; further trials of a model say how sure that is.

    Raises:
        UsageError: files missing or malformed, or predictions for other tasks.
    """
    screen, place = scoring.screen, ScoringPlace(folder.require(), scoring)
    names = place.models
    sandbox, tasks = load_workplace(folder.path, allow_tools=own.allow_tools, screen=screen)
    # A worker opens the workplace itself, and has another working directory.
    opened = partial(open_workplace, folder.path.absolute(), allow_tools=own.allow_tools)
    judging = JudgingTask(
        (lambda: sandbox) if scoring.engine is None else opened,
        MODES if sandbox.toolset is None else ("strict",),
        error_rules(folder.path, sandbox),
        "",
    )
    chosen = chosen_items(tasks, scoring.ids, scoring.limit, noun="task")
    is_whole = len(chosen) == len(tasks)
    evaluations = []
    for name in names:
        trials = place.trials(name)
        unknown: list[str] = []
        first, *further = (read_predictions(trial.output, tasks, unknown=unknown) for trial in trials)
        if unknown:
            more = ", …" if len(unknown) > _NAMED else ""
            screen.say(
                f"{WARNING}{trials[0].output}: {count_of(len(unknown), 'prediction')} with an id that no task"
                f" has, not scored: {', '.join(unknown[:_NAMED])}{more}"
            )
        scores, items = score_agents(
            replace(judging, file=name),
            chosen,
            first,
            toolkit=(recorded_settings(trials[0].run_folder) or {}).get("toolkit"),
            trials=further,
            ended=RunOutcomes(trials[0].run_folder, entry_of).outcome,
            engine=scoring.engine,
        )
        used = usage(
            [trial.ledger for trial in trials],
            tasks=scores.tasks_done,
            correct=scores.tasks_correct,
            only=None if is_whole else {task.id for task in chosen},
        )
        if scores.compat is None:
            used["notes"]["compat"] = "there are such verdicts of the published tables only"
        numbers = {
            "n": scores.n,
            "outcomes": scores.outcomes,
            **used,
            **({"stability": scores.stability} if scores.stability else {}),
            "compat": scores.compat,
            "strict": {
                **scores.asked,
                **scores.strict,
                **({"dropped": {"unknown_ids": len(unknown)}} if unknown else {}),
            },
            **security_beside(place.predictions, name, screen),
        }
        path = place.metrics_file(name, trials)
        signature = _signature(folder.path, sandbox, tasks, trials, None if is_whole else chosen)
        evaluation = place.write(path, items, numbers, signature)
        place.report(name, scores.outcomes, "task")
        evaluations.append(AgentEvaluation(name, evaluation, path, scores=scores, **used))
    return evaluations


def _signature(
    folder: Path,
    sandbox: Sandbox,
    tasks: Sequence[Task],
    trials: Sequence[Trial],
    chosen: Sequence[Task] | None = None,
) -> Signature:
    """The signature of the scores."""
    return Signature(
        {
            "toolassay": __version__,
            "benchmark": "workbench",
            "sandbox": hashlib.sha256(sandbox.image()).hexdigest()[:12],
            **{name: code[:12] for name, code in tools_hash(folder).items()},
            "tasks": tasks_fingerprint(tasks)[:12],
            **({} if chosen is None else {"chosen": tasks_fingerprint(chosen)[:12]}),
            **({WORDINGS: OUR_WORDINGS} if has_our_wordings(tasks) else {}),
            **tools_part(any(tools_missing(trial.run_folder) for trial in trials)),
            **refused_part(trial.run_folder for trial in trials),
            "predictions": sha256_of(trials[0].output)[:12],
            **({"trials": fingerprint(trials)} if len(trials) > 1 else {}),
        }
    )
