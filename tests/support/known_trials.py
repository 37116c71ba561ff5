"""Predictions of several trials with a known truth, for each benchmark."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from tests.support.builders import ROOT, bundled_plans, workbench_folder
from tests.support.running import lines_of, write_lines
from toolassay.benchmarks.classic.data import read_data


class KnownTrials(NamedTuple):
    """A data folder, and lines of prediction files for it.

    Attributes:
        folder: the data folder.
        ids: of its items, in order.
        line: the line of an item that is right or wrong, in a trial.
    """

    folder: Path
    ids: Sequence[str]
    line: Callable[[str, bool, int], dict[str, Any]]

    def write(self, model: str, trial: int, right: Collection[str], without: Collection[str] = ()) -> Path:
        """Write a trial of a model."""
        place = self.folder / "predictions" / (f"trials/{trial}" if trial else "") / f"{model}.json"
        place.parent.mkdir(parents=True, exist_ok=True)
        write_lines(place, [self.line(one, one in right, trial) for one in self.ids if one not in without])
        return place

    def write_shares(self, model: str, *counts: int) -> None:
        """Write trials with these numbers of right items, drawn by model and trial."""
        for trial, count in enumerate(counts):
            self.write(model, trial, set(Random(f"{model}{trial}").sample(list(self.ids), count)))


def plans(path: Path) -> KnownTrials:
    """The first 100 bundled requests on multimedia; a wrong plan has another last tool."""
    labels = {row["id"]: row for row in lines_of(bundled_plans(path, "data_multimedia", 100) / "data.json")}

    def line(key: str, right: bool, trial: int) -> dict[str, Any]:
        label = labels[key]
        nodes = json.loads(json.dumps(label["task_nodes"]))
        if not right:
            nodes[-1]["task"] = "Text Search" if nodes[-1]["task"] != "Text Search" else "Image Search"
        result = {"task_steps": label["task_steps"], "task_nodes": nodes, "task_links": label["task_links"]}
        return {"id": key, "user_request": label["user_request"], "result": result}

    return KnownTrials(path, list(labels), line)


def agents(path: Path) -> KnownTrials:
    """The first 100 bundled tasks; a wrong agent also deletes an email."""
    workbench_folder(path, slice(100))
    tasks = {row["id"]: row for row in lines_of(path / "tasks.jsonl")}
    email = sqlite3.connect(path / "sandbox.sqlite").execute("select email_id from emails").fetchone()[0]
    harm = f'email.delete_email.func(email_id="{email}")'

    def line(key: str, right: bool, trial: int) -> dict[str, Any]:
        calls = [*tasks[key]["answer"], *([] if right else [harm])]
        return {"id": key, "query": tasks[key]["query"], "function_calls": calls, "outcome": "answered"}

    return KnownTrials(path, list(tasks), line)


def chats(path: Path) -> KnownTrials:
    """The bundled chats; a wrong agent starts a workflow that no label accepts."""
    shutil.copytree(ROOT / "data_classic", path, ignore=shutil.ignore_patterns("predictions*", "metrics*"))
    data = read_data(path)
    examples = {one.id: one for one in data.examples[:100]}

    def line(key: str, right: bool, trial: int) -> dict[str, Any]:
        example = examples[key]
        wrong = next(flow.id for flow in data.workflows[example.domain] if not example.accepts(flow.id))
        return {
            "conversation_uuid": example.conversation,
            "request_idx": example.request_idx,
            "trial_idx": trial,
            "domain_uuid": example.domain,
            "y_workflow_uuids": list(example.labels),
            "pred_workflow_uuid": (example.labels[0] if example.labels else None) if right else wrong,
        }

    return KnownTrials(path, list(examples), line)


KINDS: Mapping[str, Callable[[Path], KnownTrials]] = {"plans": plans, "agents": agents, "chats": chats}
