from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import plan_of
from tests.support.plan_scores import evaluate_predictions
from tests.support.running import each_has
from toolassay.evaluation.evaluation import Evaluation
from toolassay.tools.library import Tool, ToolLibrary

LIBRARY = ToolLibrary([Tool("a", outputs=("text",)), Tool("b", outputs=("text",)), Tool("c")])
KEY = "overall_overall"


def _plan(*names: str) -> dict[str, Any]:
    nodes = [{"task": name, "arguments": [f"for {name}"]} for name in names]
    return plan_of(*nodes, links=pairwise(names))


def _label(key: str | int, *names: str, **more: Any) -> dict[str, Any]:
    return {"id": key, "user_request": "r", **_plan(*names), **more}


def _line(key: str | int, *names: str) -> dict[str, Any]:
    return {"id": key, "result": _plan(*names)}


def _evaluate(folder: Path, labels: list[Any], predictions: list[Any], **options: Any) -> Evaluation:
    for name, values in (("data.json", labels), ("m.json", predictions)):
        texts = [value if isinstance(value, str) else json.dumps(value) for value in values]
        (folder / name).write_text("".join(f"{text}\n" for text in texts))
    settings: dict[str, Any] = {"metrics": ["f1", "ed", "link", "argument", "rouge"], "resamples": 50}
    library = options.pop("library", LIBRARY)
    return evaluate_predictions(
        folder / "data.json", folder / "m.json", library, "resource", **(settings | options)
    )


def test_every_labelled_item_counts_in_strict(tmp_path: Path) -> None:
    labels = [_label(str(number), "a", "b") for number in range(6)]
    predictions = [
        _line("0", "a", "b"),
        {"id": "1", "result": {"task_nodes": None}},
        {"id": "2", "result": None, "outcome": "context overflow"},
        '{"id": "3", "result": {"task_st',
        {"id": "4", **_plan("a", "b")},
    ]
    evaluation = _evaluate(tmp_path, labels, predictions)
    strict = evaluation.groups[KEY].strict
    assert (strict["n_expected"], strict["n_scored"]) == (6, 5)
    assert (strict["n_labels"], strict["n_asked"], strict["partial"]) == (6, 6, False)
    assert strict["coverage"] == pytest.approx(5 / 6)
    assert strict["outcomes"] == {"answered": 2, "context overflow": 1, "malformed": 2, "missing": 1}
    for name in ("node_f1", "edge_f1", "argument_name_f1", "argument_value_f1", "exact_match"):
        assert strict[name]["value"] == pytest.approx(1 / 3)
        assert strict[name]["low"] <= strict[name]["value"] <= strict[name]["high"]
    assert strict["edit_similarity"]["value"] == strict["rouge1"]["value"] == pytest.approx(1 / 3)
    assert strict["node_f1_pooled"] == pytest.approx(2 * 4 / (2 * 4 + 8))
    assert strict["bertscore_f1"] == {"value": None, "low": None, "high": None}
    compat = evaluation.groups[KEY].numbers
    assert (compat["all_samples"], compat["node_supports"]) == (4, 2)
    assert compat["node_micro_f1_no_matching"] == 1.0


def test_notes_name_lines(tmp_path: Path) -> None:
    labels = [_label("1", "a"), _label("1", "b"), _label(2, "a"), _label("3", "a")]
    predictions = [_line("1", "a"), _line("1", "b"), _line("2", "a"), _line("9", "a"), "{", {"result": {}}]
    evaluation = _evaluate(tmp_path, labels, predictions)
    assert each_has(
        evaluation.notes,
        *("2 (label line 3)", "wrong: '3'", "label id(s), the last counts: '1' (line 2)"),
        *("prediction id(s), the last counts: '1' (line 2)", "unknown id: '9' (line 4)", "line 5", "line 6"),
    )
    assert evaluation.groups[KEY].numbers["all_samples"] == 1
    strict = evaluation.groups[KEY].strict
    assert (strict["n_expected"], strict["node_f1"]["value"]) == (3, pytest.approx(2 / 3))


def test_groups_are_parts_of_the_whole(tmp_path: Path) -> None:
    labels = [_label("1", "a"), _label("2", "a", "b"), _label("3", "a", "b", type="dag")]
    evaluation = _evaluate(tmp_path, labels, [_line("2", "a", "b")], splits=["all"], n_tools=["all"])
    expected = {key: group.strict["n_expected"] for key, group in evaluation.groups.items()}
    assert expected[KEY] == 3
    assert [expected[f"{shape}_overall"] for shape in ("single", "chain", "dag")] == [1, 1, 1]
    assert [expected["overall_1"], expected["overall_2"], expected["overall_3"]] == [1, 2, 0]
    empty = evaluation.groups["overall_3"].numbers
    assert [key for key in empty if key != "strict"] == [
        "all_samples",
        "step_supports",
        "node_supports",
        "link_supports",
        "argument_supports",
    ]
    assert empty["strict"]["node_f1"]["value"] is None
    assert empty["strict"]["coverage"] is None


def test_sets_without_gold_arguments(tmp_path: Path) -> None:
    label = _label("1", "a", "b")
    label["task_nodes"] = [{"task": "a"}, {"task": "b"}]
    evaluation = _evaluate(tmp_path, [label], [_line("1", "a", "b")])
    numbers = evaluation.groups[KEY].numbers
    assert numbers["node_supports"] == 0
    assert "node_micro_f1_no_matching" not in numbers
    assert numbers["strict"]["argument_value_f1"] == {"value": None, "low": None, "high": None}
    assert numbers["strict"]["argument_value_f1_pooled"] is None
    assert numbers["strict"]["node_f1"]["value"] == numbers["strict"]["edge_f1"]["value"] == 1.0
    assert each_has(evaluation.notes, "without gold arguments, left out of compat")


def test_a_group_borrows_only_from_its_own_samples(tmp_path: Path) -> None:
    """The stale argument comes from the sample before it in the same group."""
    first, second = _label("1", "a"), _label("2", "a", "b")
    second["task_nodes"][0]["arguments"] = []
    second["task_nodes"][1]["arguments"] = []
    bad = _line("2", "a", "b")
    bad["result"]["task_nodes"] = [{"task": "a", "arguments": [7]}, {"task": "b", "arguments": []}]
    evaluation = _evaluate(tmp_path, [first, second], [_line("1", "a"), bad], n_tools=["overall", "2"])
    whole, alone = evaluation.groups[KEY].numbers, evaluation.groups["overall_2"].numbers
    assert (whole["all_samples"], whole["node_supports"]) == (2, 2)
    assert (alone["all_samples"], alone["node_supports"]) == (1, 0)
    # Its lent argument counts as a false positive.
    assert whole["argument_task_argname_binary_f1_no_matching"] == pytest.approx(2 / 3)


def test_metrics_not_asked_for_are_absent(tmp_path: Path) -> None:
    evaluation = _evaluate(tmp_path, [_label("1", "a")], [_line("1", "a")], metrics=["ed"])
    numbers = evaluation.groups[KEY].numbers
    assert "edit_distance" in numbers
    assert "link_binary_f1" not in numbers
    strict = numbers["strict"]
    assert strict["edit_similarity"]["value"] == strict["exact_match"]["value"] == 1.0
    for name in ("rouge1", "node_f1", "edge_f1", "argument_name_f1", "argument_value_f1"):
        assert strict[name] == {"value": None, "low": None, "high": None}
        assert strict.get(f"{name}_pooled") is None


def test_a_prediction_for_another_request_answers_nothing_in_strict(tmp_path: Path) -> None:
    labels = [_label(str(number), "a") for number in range(4)]
    del labels[3]["user_request"]
    predictions = [
        {**_line("0", "a"), "user_request": " r\n"},
        {**_line("1", "a"), "user_request": "another"},
        _line("2", "a"),
        {**_line("3", "a"), "user_request": "another"},
    ]
    evaluation = _evaluate(tmp_path, labels, predictions)
    assert each_has(evaluation.notes, "another request than the label's: '1' (line 2)")
    numbers = evaluation.groups[KEY].numbers
    assert numbers["strict"]["outcomes"] == {"answered": 3, "missing": 1}
    assert numbers["strict"]["node_f1"]["value"] == pytest.approx(3 / 4)
    assert (numbers["node_supports"], numbers["node_micro_f1_no_matching"]) == (4, 1.0)


def test_hallucination_rates_are_shares_of_what_was_predicted(tmp_path: Path) -> None:
    labels = [_label("1", "a"), _label("2", "a", "b")]
    strict = _evaluate(tmp_path, labels, [_line("1", "a"), _line("2", "a", "x", "y")]).groups[KEY].strict
    assert strict["tool_hallucination_rate"]["value"] == pytest.approx(2 / 4)
    assert strict["link_hallucination_rate"]["value"] == 1.0
    nothing = _evaluate(tmp_path, labels, []).groups[KEY].strict
    assert nothing["tool_hallucination_rate"] == {"value": None, "low": None, "high": None}


def test_a_score_carries_its_signature(tmp_path: Path) -> None:
    labels = [_label("1", "a"), _label("2", "a", "b")]
    one = _evaluate(tmp_path, labels, [_line("1", "a")], splits=["all"])
    signature = one.groups["chain_overall"].strict["signature"]
    assert signature.endswith("|group:chain_overall|n:1")
    assert "|metrics:f1+ed+link+argument+rouge|links:resource|" in signature
    assert "|keep:last|bootstrap:50@0|bertscore:none|" in signature
    same = _evaluate(tmp_path, labels, [_line("1", "a")], splits=["all"])
    assert same.groups["chain_overall"].strict["signature"] == signature
    for change in ({"keep": "first"}, {"seed": 1}, {"metrics": ["f1"]}, {"exclude_ids": ["1"]}):
        other = _evaluate(tmp_path, labels, [_line("1", "a")], **{"splits": ["all"], **change})
        assert other.groups["chain_overall"].strict["signature"] != signature
    other = _evaluate(tmp_path, labels, [_line("1", "b")], splits=["all"])
    assert other.groups["chain_overall"].strict["signature"] != signature


def test_the_published_kind_of_rouge_if_asked(tmp_path: Path) -> None:
    labels = [_label(str(number), "a", "b") for number in range(9)]
    predictions = [_line(str(number), *"ab"[: 1 + number % 2]) for number in range(9)]
    numbers = _evaluate(tmp_path, labels, predictions, rouge_median=True, resamples=500).groups[KEY].numbers
    assert numbers["step_rouge1_bootstrap_median"] == pytest.approx(numbers["step_rouge1"], abs=0.02)
    assert "step_rouge1_bootstrap_median" not in _evaluate(tmp_path, labels, predictions).groups[KEY].numbers


def _snake_case(value: Any) -> Any:
    """Labels or lines with `a_tool` for the tool `a`."""
    return json.loads(json.dumps(value).replace('"a"', '"a_tool"').replace('"b"', '"b_tool"'))


@pytest.mark.parametrize("steps", [["翻译文本", "画猫"], ["переведи", "нарисуй"], ["ترجم"], ["…", "—"]])
def test_steps_that_rouge_cannot_read_have_no_score(tmp_path: Path, steps: list[str]) -> None:
    labels = [_label("1", "a", "b", task_steps=steps), _label("2", "a"), _label("3", "a", task_steps=steps)]
    lines = [_line("1", "a", "b"), _line("2", "a")]
    lines[0]["result"]["task_steps"] = steps
    evaluation = _evaluate(tmp_path, labels, lines)
    strict, compat = evaluation.groups[KEY].strict, evaluation.groups[KEY].numbers
    assert strict["rouge1"]["value"] == strict["rougeL"]["value"] == 1, "of label 2 alone"
    assert strict["node_f1"]["value"] == pytest.approx(2 / 3)
    assert compat["step_rouge1"] == 0.5, "as published"
    assert evaluation.warnings[0].startswith("2 label(s) whose steps have no token a-z0-9")
    (tmp_path / "alone").mkdir()
    alone = _evaluate(tmp_path / "alone", labels[:1], lines[:1]).groups[KEY].strict
    assert alone["rouge2"] == {"value": None, "low": None, "high": None}
    (warning,) = _evaluate(tmp_path, labels, lines, metrics=["f1"]).warnings
    assert "prediction" in warning


def test_compat_says_nothing_of_resource_tools_with_underscores(tmp_path: Path) -> None:
    labels = _snake_case([_label("1", "a", "b"), _label("2", "a")])
    lines = _snake_case([_line("1", "a", "b"), _line("2", "a")])
    library = ToolLibrary([Tool(name, outputs=("text",)) for name in ("a_tool", "b_tool")])
    evaluation = _evaluate(tmp_path, labels, lines, library=library)
    numbers = evaluation.groups[KEY].numbers
    assert numbers["node_micro_f1_no_matching"] is numbers["link_binary_f1"] is None
    assert numbers["step_rouge1"] == numbers["strict"]["node_f1"]["value"] == 1.0
    assert any("'_' in a tool's name" in note and "a_tool" in note for note in evaluation.notes)
    published = _evaluate(tmp_path, labels, lines, library=library, compat="published")
    assert published.groups[KEY].numbers["node_micro_f1_no_matching"] == 0.0
    assert "|compat:published|" in published.groups[KEY].strict["signature"]
    assert not any("'_'" in note for note in published.notes)


def test_compat_headlines_have_intervals_around_the_published_number(tmp_path: Path) -> None:
    labels = [_label(str(number), "a", "b") for number in range(8)]
    lines = [_line(str(number), "a", *("b" * (number % 2))) for number in range(8)]
    numbers = _evaluate(tmp_path, labels, lines).groups[KEY].numbers
    found = numbers["strict"]["compat_intervals"]
    for name in ("node_micro_f1_no_matching", "edit_distance", "step_rouge1"):
        assert found[name]["value"] == pytest.approx(numbers[name])
        assert found[name]["low"] <= numbers[name] <= found[name]["high"]
    assert found["node_micro_f1_no_matching"]["low"] < found["node_micro_f1_no_matching"]["high"]
