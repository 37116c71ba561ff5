"""The evaluate stage of WorkBench: what agents called -> metrics."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from toolassay.benchmarks.taskbench.scoring.evaluation import Evaluation
from toolassay.benchmarks.taskbench.scoring.folder_evaluation import (
    EVERY_MODEL,
    FolderEvaluation,
    metrics_folder,
    models_of,
    prediction_folder,
)
from toolassay.benchmarks.workbench.agents.agent_scores import OVERALL, AgentScores, score_agents
from toolassay.benchmarks.workbench.agents.inference import entry_of, read_predictions
from toolassay.benchmarks.workbench.generate.generated_tasks import has_our_wordings
from toolassay.benchmarks.workbench.judge.error_classes import error_rules
from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.benchmarks.workbench.tasks import Task
from toolassay.benchmarks.workbench.tasks import fingerprint as tasks_fingerprint
from toolassay.benchmarks.workbench.workplace_stages import load_workplace, tools_hash
from toolassay.data_folder import DataFolder
from toolassay.evaluation.items import items_path, write_items
from toolassay.evaluation.signature import Signature
from toolassay.files import refuse_to_replace, safe_name, sha256_of, write_json
from toolassay.runs.manifest import recorded_settings
from toolassay.runs.marks import OUR_WORDINGS, WORDINGS, tools_part
from toolassay.runs.outcomes import MISSING, RunOutcomes
from toolassay.runs.recorded_usage import usage
from toolassay.runs.tool_arrival import tools_missing
from toolassay.runs.trials import Trial, fingerprint, same_settings, trials_of
from toolassay.screen import DEFAULT, WARNING, Screen
from toolassay.stages.agent_run import chosen_items
from toolassay.stages.security import security_beside
from toolassay.text_formatting import count_of
from toolassay.version import __version__

_NAMED = 5


@dataclass(frozen=True, kw_only=True)
class AgentEvaluation(FolderEvaluation):
    """The scores of one model of WorkBench, and the files they are in.

    Attributes:
        scores: of its first run; with further trials, also how sure a success is.
        cost: what its tasks cost, over all trials; None where nobody knows, as `notes` says.
        latency: how long they took, likewise.
        notes: why `cost` or `latency` is None or not the whole.
    """

    scores: AgentScores
    cost: Mapping[str, Any] | None = None
    latency: Mapping[str, Any] | None = None
    notes: Mapping[str, str] = field(default_factory=dict)


def evaluate_workbench(
    data_dir: str | Path = "data_workbench",
    *,
    llm: str | Sequence[str] = "gpt-4",
    prediction_dir: str | Path = "predictions",
    save_dir: str | Path | None = None,
    allow_tools: bool = False,
    ids: Collection[str | int] | None = None,
    limit: int | None = None,
    screen: Screen = DEFAULT,
) -> list[AgentEvaluation]:
    """Judge what agents called, as published and strictly; further trials of a model say how sure that is.

    Args:
        data_dir: the sandbox and the tasks.
        llm: the model, or several; "all" is every model with a prediction file.
        prediction_dir: below `data_dir`, or as given.
        save_dir: where `<llm>.json` and `<llm>.items.jsonl` go; default the prediction folder's name with
            "metrics" for "predictions".
        allow_tools: run the tools that the folder brings, which are a program.
        ids: score only these tasks; None scores all.
        limit: score only the first N of them.
        screen: who listens.

    Raises:
        UsageError: files missing or malformed, or predictions for other tasks.
    """
    folder = DataFolder(Path(data_dir)).require()
    given = [llm] if isinstance(llm, str) else list(llm)
    names = models_of(folder.path, prediction_dir) if EVERY_MODEL in given else given
    sandbox, tasks = load_workplace(folder.path, allow_tools=allow_tools, screen=screen)
    rules = error_rules(folder.path, sandbox)
    chosen = chosen_items(tasks, ids, limit, what="task")
    is_whole = len(chosen) == len(tasks)
    place = prediction_folder(folder.path, Path(prediction_dir))
    target = metrics_folder(folder.path, prediction_dir, save_dir)
    evaluations = []
    for name in names:
        trials, others = same_settings(trials_of(place, name))
        for trial in others:
            screen.say(f"{WARNING}{trial.output} was made with other settings than the first run: left out")
        unknown: list[str] = []
        first, *further = (read_predictions(trial.output, tasks, unknown=unknown) for trial in trials)
        if unknown:
            more = ", …" if len(unknown) > _NAMED else ""
            screen.say(
                f"{WARNING}{trials[0].output}: {count_of(len(unknown), 'prediction')} with an id that no task"
                f" has, not scored: {', '.join(unknown[:_NAMED])}{more}"
            )
        toolkit = (recorded_settings(trials[0].run_folder) or {}).get("toolkit")
        scores = score_agents(
            sandbox,
            chosen,
            first,
            llm=name,
            toolkit=toolkit,
            trials=further,
            rules=rules,
            ended=RunOutcomes(trials[0].run_folder, entry_of).outcome,
        )
        used = usage(
            [trial.ledger for trial in trials],
            tasks=scores.tasks_done,
            correct=scores.tasks_correct,
            only=None if is_whole else {task.id for task in chosen},
        )
        if scores.compat is None:
            used["notes"]["compat"] = "there are such verdicts of the published tables only"
        path = target / f"{safe_name(name)}.json"
        refuse_to_replace(
            path,
            [trial.output for trial in trials],
            what="the metrics would replace the predictions",
            flag="--save_dir",
        )
        write_items(items_path(path), scores.items)
        signature = _signature(folder.path, sandbox, tasks, trials, None if is_whole else chosen).with_items(
            items_path(path)
        )
        metrics = {
            "n": scores.n,
            "outcomes": scores.outcomes,
            **used,
            **({"stability": scores.stability} if scores.stability else {}),
            "compat": scores.compat,
            "strict": {
                "signature": signature.of_group(OVERALL, scores.n),
                **scores.asked,
                **scores.strict,
                **({"dropped": {"unknown_ids": len(unknown)}} if unknown else {}),
            },
            **security_beside(place, name, screen),
        }
        evaluation = Evaluation({OVERALL: metrics})
        write_json(path, evaluation.groups)
        screen.say(f"scored {name}")
        screen.missing(scores.outcomes.get(MISSING, 0), scores.n, "task")
        evaluations.append(AgentEvaluation(name, evaluation, path, scores=scores, **used))
    return evaluations


def _signature(
    folder: Path,
    sandbox: Sandbox,
    tasks: Sequence[Task],
    trials: Sequence[Trial],
    chosen: Sequence[Task] | None = None,
) -> Signature:
    """What the scores were made with."""
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
            "predictions": sha256_of(trials[0].output)[:12],
            **({"trials": fingerprint(trials)} if len(trials) > 1 else {}),
        }
    )
