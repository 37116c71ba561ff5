"""The plans of labels and predictions as calls to execute."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from toolassay.calls.call_plan import Unfit, plan_of
from toolassay.data_folder import DataFolder, Say
from toolassay.dataset import RequestId, label_record, read_labels, repository_form
from toolassay.executors.plan_run import PlannedItem, PlanSet
from toolassay.files import read_json_lines
from toolassay.gold import Gold
from toolassay.graph import DependencyType
from toolassay.tools import ToolLibrary

_NO_PLAN = "the answer has no plan"


def labelled_plans(folder: DataFolder, say: Say) -> PlanSet:
    """The gold plans of `data.json`; of several labels with one id, the last counts.

    Raises:
        UsageError: A file is missing or malformed.
    """
    library = folder.library(say=say)
    kind = folder.dependency_type(None, library=library, say=say)
    last: dict[RequestId, int] = {label["id"]: number for number, label in read_labels(folder.data)}

    def items() -> Iterator[PlannedItem]:
        for number, label in read_labels(folder.data):
            if last[label["id"]] == number:
                yield _item(Gold.of(label, number), library, kind)

    return PlanSet(library, len(last), items)


def predicted_plans(folder: DataFolder, predictions: Path, say: Say) -> PlanSet:
    """The plans of a prediction file; of several lines with one id, the last counts, as in scores.

    Raises:
        UsageError: A file is missing or malformed.
    """
    library = folder.library(say=say)
    kind = folder.dependency_type(None, library=library, say=say)
    last: dict[RequestId, int] = {
        label_record(predictions, number, line)["id"]: number for number, line in read_json_lines(predictions)
    }

    def items() -> Iterator[PlannedItem]:
        for number, line in read_json_lines(predictions):
            record = label_record(predictions, number, line)
            if last[record["id"]] == number:
                yield _predicted(record, library, kind)

    return PlanSet(library, len(last), items)


def _predicted(record: Mapping[str, Any], library: ToolLibrary, kind: DependencyType) -> PlannedItem:
    result = record.get("result", record)
    if not isinstance(result, Mapping) or not result.get("task_nodes", result.get("tool_nodes")):
        return PlannedItem(record["id"], None, _NO_PLAN)
    plan = repository_form(result)
    steps = plan.get("task_steps")
    label = {
        "id": record["id"],
        "user_request": "a prediction",
        "task_steps": steps if isinstance(steps, list) else [],
        "task_nodes": plan["task_nodes"],
        "task_links": plan.get("task_links") or [],
    }
    return _item(Gold.of(label), library, kind)


def _item(gold: Gold, library: ToolLibrary, kind: DependencyType) -> PlannedItem:
    try:
        return PlannedItem(gold.id, plan_of(gold, library, kind))
    except Unfit as error:
        return PlannedItem(gold.id, None, str(error))
