"""The way of asking of a run that names none."""

from __future__ import annotations

from dataclasses import replace

from toolassay.benchmarks.taskbench.options import ASKS, PlanOptions
from toolassay.evaluation.places import default_predictions
from toolassay.models.registry import is_served
from toolassay.records.data_folder import DataFolder
from toolassay.runs.manifest import recorded_settings
from toolassay.runs.settings import PREDICTIONS, RunSettings
from toolassay.runs.trials import Trial


def with_way(folder: DataFolder, run: RunSettings, own: PlanOptions) -> PlanOptions:
    """The options with a way of asking: the given one, that of the run, else "tools" without plans.

    Raises:
        UsageError: An option does not fit the way.
    """
    kind = own.dependency_type or folder.benchmark.dependency_type
    if own.ask is not None or kind != "schema" or not is_served(run.model.llm):
        return replace(own, ask=own.ask or "plan")
    asks_plans = own.given() or run.model.structured or run.endpoint.batch
    by_tools = default_predictions(folder.path, run.model.llm) == f"{PREDICTIONS}_tools"
    has_plans = (folder.path / PREDICTIONS).is_dir() and not by_tools
    way = "plan" if asks_plans or has_plans else "tools"
    predictions = folder.path / (run.choices.prediction_dir or PREDICTIONS)
    if (recorded := recorded_settings(Trial(predictions, run.model.llm).run_folder)) is not None:
        way = str(recorded.get("ask", "plan"))
    run.screen.say(f"imported tools: --ask {way} (others: {'|'.join(name for name in ASKS if name != way)})")
    return replace(own, ask=way)
