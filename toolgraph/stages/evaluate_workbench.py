"""The evaluate stage of WorkBench: what agents called -> metrics."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from toolgraph.benchmarks.taskbench.scoring.evaluation import Evaluation
from toolgraph.benchmarks.taskbench.scoring.folder import (
    EVERY_MODEL,
    FolderEvaluation,
    metrics_folder,
    models_of,
    prediction_folder,
)
from toolgraph.benchmarks.taskbench.scoring.items import items_path, write_items
from toolgraph.benchmarks.taskbench.scoring.signature import Signature
from toolgraph.benchmarks.workbench.agents.predictions import read_predictions
from toolgraph.benchmarks.workbench.agents.scores import OVERALL, AgentScores, score_agents
from toolgraph.benchmarks.workbench.sandbox import Sandbox
from toolgraph.benchmarks.workbench.tasks import fingerprint, read_tasks
from toolgraph.files import safe_name, sha256_of, write_json
from toolgraph.folder import DataFolder
from toolgraph.runs.manifest import recorded_settings
from toolgraph.stages.screen import SILENT, Screen
from toolgraph.version import __version__


@dataclass(frozen=True, kw_only=True)
class AgentEvaluation(FolderEvaluation):
    """The scores of one model of WorkBench, and the files they are in."""

    scores: AgentScores


def evaluate_workbench(
    data_dir: str | Path = "data_workbench",
    *,
    llm: str | Sequence[str] = "gpt-4",
    prediction_dir: str | Path = "predictions",
    save_dir: str | Path | None = None,
    screen: Screen = SILENT,
) -> list[AgentEvaluation]:
    """Judge what agents called, as published and strictly.

    Args:
        data_dir: the sandbox and the tasks.
        llm: the model, or several; "all" is every model with a prediction file.
        prediction_dir: below `data_dir`, or as given.
        save_dir: where `<llm>.json` and `<llm>.items.jsonl` go; default the prediction folder's name with
            "metrics" for "predictions".
        screen: who listens.

    Raises:
        UsageError: files missing or malformed, or predictions for other tasks.
    """
    folder = DataFolder(Path(data_dir)).require()
    given = [llm] if isinstance(llm, str) else list(llm)
    names = models_of(folder.path, prediction_dir) if EVERY_MODEL in given else given
    sandbox, tasks = Sandbox.load(folder.path), read_tasks(folder.path)
    place = prediction_folder(folder.path, Path(prediction_dir))
    target = metrics_folder(folder.path, prediction_dir, save_dir)
    evaluations = []
    for name in names:
        predictions = place / f"{safe_name(name)}.json"
        found = read_predictions(predictions, tasks)
        toolkit = (recorded_settings(place / "runs" / safe_name(name)) or {}).get("toolkit")
        scores = score_agents(sandbox, tasks, found, llm=name, toolkit=toolkit)
        path = target / f"{safe_name(name)}.json"
        write_items(items_path(path), scores.items)
        signature = Signature(
            {
                "toolgraph": __version__,
                "benchmark": "workbench",
                "sandbox": hashlib.sha256(sandbox.image()).hexdigest()[:12],
                "tasks": fingerprint(tasks)[:12],
                "predictions": sha256_of(predictions)[:12],
            }
        ).with_items(items_path(path))
        metrics = {
            "n": scores.n,
            "outcomes": scores.outcomes,
            "compat": scores.compat,
            "strict": {"signature": signature.of_group(OVERALL, scores.n), **scores.strict},
        }
        evaluation = Evaluation({OVERALL: metrics})
        write_json(path, evaluation.groups)
        screen.say(f"scored {name}")
        evaluations.append(AgentEvaluation(name, evaluation, path, scores=scores))
    return evaluations
