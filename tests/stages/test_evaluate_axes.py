"""What `evaluate` says of a whole run beside its scores: cost, latency, stability."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support import builders
from tests.support.builders import text_tools, workbench_folder, write_labels
from tests.support.evaluating import metrics_of
from tests.support.running import lines_of, write_lines
from toolassay import evaluate, infer
from toolassay.files.data_files import write_json


def plan(tool: str, argument: str) -> dict[str, Any]:
    return builders.plan(tool, arguments=[argument])


def build_folder(path: Path) -> Path:
    """Four requests whose right plan is tool a."""
    for name in ("tool_desc.json", "graph_desc.json"):
        write_json(path / name, {**text_tools("ab"), "links": []})
    write_labels(
        path,
        [{"id": str(n), "type": "single", "user_request": f"r {n}", **plan("a", "x")} for n in range(4)],
    )
    return path


def predict(folder: Path, number: int, plans: list[dict[str, Any] | None]) -> None:
    place = folder / "predictions" / (f"trials/{number}" if number else "")
    place.mkdir(parents=True, exist_ok=True)
    lines = [{"id": str(n), "user_request": f"r {n}", "result": one} for n, one in enumerate(plans)]
    write_lines(place / "m.json", lines)


def test_trials_say_whether_the_same_plan_comes_again(folder: Path) -> None:
    right, wrong, other = plan("a", "x"), plan("b", "x"), plan("b", "y")
    predict(folder, 0, [right, wrong, right, None])
    evaluate(folder, llm="m")
    plain = metrics_of(folder)
    assert not {"stability", "cost", "latency", "notes"} & set(plain)
    predict(folder, 1, [{**right, "task_steps": ["Other words"]}, other, wrong, None])
    predict(folder, 2, [right, wrong, right])
    evaluate(folder, llm="m")
    numbers = metrics_of(folder)
    stability, strict = numbers.pop("stability"), numbers.pop("strict")
    plain.pop("strict")
    assert {name: numbers[name] for name in plain} == plain and "cost" not in numbers
    assert strict["exact_match"]["value"] == pytest.approx((1 + 0 + 2 / 3 + 0) / 4)
    assert stability["trials"] == 3 and stability["requests_done"] == [4, 4, 3]
    assert stability["requests_right"] == [2, 1, 2]
    assert stability["answer_agreement"]["value"] == 0.25  # the first
    assert stability["pairwise_agreement"]["value"] == pytest.approx((1 + 1 / 3 + 1 / 3 + 0) / 4)
    assert stability["correctness_agreement"]["value"] == 0.75
    assert stability["tasks"] == {"1": 4, "2": 4, "3": 3}
    assert stability["pass^k"]["2"]["value"] == pytest.approx((1 + 1 / 3) / 4)
    assert stability["pass^k"]["3"]["value"] == pytest.approx(1 / 3)


def test_trials_that_are_gone_are_gone_from_the_scores(folder: Path) -> None:
    predict(folder, 0, [plan("a", "x")] * 4)
    predict(folder, 1, [plan("a", "x")] * 4)
    evaluate(folder)
    assert metrics_of(folder)["stability"]["answer_agreement"]["value"] == 1.0
    shutil.rmtree(folder / "predictions/trials")
    evaluate(folder)
    assert "stability" not in metrics_of(folder)


def test_an_agent_agrees_where_it_leaves_the_same_changes(tmp_path: Path) -> None:
    folder = workbench_folder(tmp_path / "wb", slice(4))
    infer(folder, llm="offline", trials=2)
    result = evaluate(folder, llm="offline")
    assert result.whole["stability"] is not None
    assert result.whole["stability"]["answer_agreement"]["value"] == 1.0
    path = folder / "predictions/trials/1/offline.json"
    lines = lines_of(path)
    lines[0]["function_calls"] = []
    lines[1]["outcome"] = "refused"
    write_lines(path, lines)
    evaluate(folder, llm="offline")
    metrics = metrics_of(folder, "offline")
    assert metrics["stability"]["answer_agreement"]["value"] == 0.5
    assert metrics["stability"]["pass^k"] == metrics["strict"]["repeats"]["pass^k"]
