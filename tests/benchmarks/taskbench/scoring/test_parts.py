from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from toolassay.benchmarks.taskbench.options import PlanScoring
from toolassay.benchmarks.taskbench.scoring import scorer
from toolassay.benchmarks.taskbench.scoring.prediction_scores import score_predictions
from toolassay.engines import Engine
from toolassay.engines.processes import Processes
from toolassay.evaluation.evaluation import Evaluation
from toolassay.evaluation.items import read_items
from toolassay.tools.library import Tool, ToolLibrary

LIBRARY = ToolLibrary([Tool("a", outputs=("text",)), Tool("b", outputs=("image",)), Tool("c")])
ARGUMENTS = ["x.png", "hello", "<node-0>", "<node-9>", 7, None, [], {"k": 1}]


def build_folder(path: Path) -> Path:
    """Sixty labels and predictions in which many arguments are malformed, so that they borrow."""
    chance = random.Random(5)

    def plan() -> dict[str, Any]:
        nodes = [
            {"task": chance.choice("abcd"), "arguments": chance.choices(ARGUMENTS, k=chance.randrange(3))}
            for _ in range(chance.randint(1, 3))
        ]
        return {"task_steps": [node["task"] for node in nodes], "task_nodes": nodes, "task_links": []}

    with (path / "data.json").open("w") as labels, (path / "m.json").open("w") as predictions:
        for number in range(60):
            labels.write(json.dumps({"id": number, "user_request": "r", **plan()}) + "\n")
            predictions.write(json.dumps({"id": number, "result": plan()}) + "\n")
    return path


def _evaluate(folder: Path, *, engine: Engine | None = None, name: str = "items") -> Evaluation:
    choices = PlanScoring(
        metrics=("f1", "ed", "link", "argument", "rouge"), splits=("all",), n_tools=("all",)
    )
    job = scorer.ScoringJob(folder / "data.json", folder / "m.json", LIBRARY, "resource", choices)
    return score_predictions(job, items=folder / f"{name}.jsonl", engine=engine)[0]


def _without_last_digits(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_last_digits(part) for name, part in value.items()}
    return pytest.approx(value, abs=1e-12) if isinstance(value, float) else value


def test_scores_do_not_depend_on_where_the_parts_end(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An argument borrowed from an earlier part is the one the whole would have lent."""
    whole = _evaluate(folder)
    assert any("lends a malformed argument" in note for note in whole.notes)
    for size in (1, 7, 59):
        monkeypatch.setattr(scorer, "CHUNK", size)
        cut = _evaluate(folder, name=str(size))
        for key, group in whole.groups.items():
            assert cut.groups[key].numbers == _without_last_digits(group.numbers)
        assert cut.notes == whole.notes
        assert (folder / f"{size}.jsonl").read_text() == (folder / "items.jsonl").read_text()


def test_scores_do_not_depend_on_the_number_of_processes(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scorer, "CHUNK", 7)
    one, two = _evaluate(folder, name="one"), _evaluate(folder, engine=Processes(2), name="two")
    assert one == two
    assert (folder / "one.jsonl").read_bytes() == (folder / "two.jsonl").read_bytes()


def test_every_mean_is_the_mean_of_the_items(folder: Path) -> None:
    strict = _evaluate(folder).groups["overall_overall"].strict
    items = list(read_items(folder / "items.jsonl"))
    assert [item.id for item in items] == [str(number) for number in range(60)]
    for name in items[0].scores:
        scores = [score for item in items if (score := item.scores[name]) is not None]
        assert strict[name]["value"] == pytest.approx(sum(scores) / len(scores))


def test_published_numbers_are_sums_over_the_items(folder: Path) -> None:
    numbers = _evaluate(folder).groups["overall_overall"].numbers
    lines = [json.loads(line) for line in (folder / "items.jsonl").read_text().splitlines()]
    counted = [line["compat"] for line in lines if line["compat"] and line["compat"]["is_scored"]]
    borrowing = numbers["node_supports"] - len(counted)
    assert 0 <= borrowing <= 1  # the first item may have had nothing to borrow in its smaller groups
    right, extra, absent = (sum(item["nodes"][part] for item in counted) for part in range(3))
    if not borrowing:
        assert numbers["node_micro_f1_no_matching"] == pytest.approx(2 * right / (2 * right + extra + absent))


def test_a_broken_label_in_a_later_part_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = (folder / "data.json").read_text().splitlines()
    lines[50] = lines[50][:-5]
    (folder / "data.json").write_text("\n".join(lines))
    monkeypatch.setattr(scorer, "CHUNK", 7)
    with pytest.raises(Exception, match=r"data\.json:51: not valid JSON"):
        _evaluate(folder, engine=Processes(2))
