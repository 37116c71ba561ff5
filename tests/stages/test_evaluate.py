from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.builders import plan, scored_folder
from tests.support.running import inside
from toolassay import UnknownNameError, UsageError, evaluate
from toolassay.console.screen import Screen
from toolassay.evaluation.evaluation import IncompleteEvaluation
from toolassay.version import __version__


def build_folder(path: Path) -> Path:
    """Four requests; the model `good` answers all of them, `bad` none."""
    gold, wrong = dict.fromkeys("0123", plan("a")), dict.fromkeys("0123", plan("b"))
    return scored_folder(path, gold, {"good": gold, "bad": wrong}, tools="ab", type="single", n_tools=1)


def test_missing_predictions_cost_something_and_are_named(folder: Path) -> None:
    path = folder / "predictions" / "good.json"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:1]))
    told: list[str] = []
    result = evaluate(folder, llm="good", screen=Screen(say=told.append))
    numbers = result.evaluation.groups["overall_overall"].numbers
    assert numbers["node_micro_f1_no_matching"] == 1.0
    assert numbers["strict"]["node_f1"]["value"] == 0.25
    assert any("'1'" in line for line in told)


def test_one_model_without_predictions_does_not_keep_the_others_from_being_scored(folder: Path) -> None:
    with pytest.raises(IncompleteEvaluation, match=r"nope\.json: no such prediction file") as caught:
        evaluate(folder, llm=["good", "nope", "bad"])
    assert [result.llm for result in caught.value.evaluations] == ["good", "bad"]
    assert caught.value.exit_code == 1
    assert (folder / "metrics" / "bad.json").exists()


def test_all_scores_every_model(folder: Path) -> None:
    asked = ("evaluate", "--data_dir", folder, "--llm", "all")
    first = inside(*asked)
    assert [line for line in first.err.splitlines() if line.startswith("scored")] == [
        "scored bad",
        "scored good",
    ]
    with (folder / "predictions" / "bad.json").open("a") as stream:
        stream.write("{\n")
    second = inside(*asked)
    assert first.code == second.code == 0
    metrics = "f1+ed+link+argument+rouge+bertscore"
    good = f"signature of good: toolassay:{__version__}|mode:strict-3|metrics:{metrics}"
    assert good in first.out
    assert second.out.split("signature")[0] == first.out.split("signature")[0]


def test_doubled_ids_count_as_asked(folder: Path) -> None:
    with (folder / "predictions" / "good.json").open("a") as stream:
        stream.write(json.dumps({"id": "0", "user_request": "r", "result": plan("b")}) + "\n")
    scores = {}
    for keep in ("first", "last"):
        result = evaluate(folder, llm="good", keep=keep)
        scores[keep] = result.evaluation.groups["overall_overall"].strict["node_f1"]["value"]
    assert scores == {"first": 1.0, "last": 0.75}
    done = inside("evaluate", "--data_dir", folder, "--llm", "good", "--keep", "error")
    assert done.code == 2 and "good.json:5: id '0' is in line 1 already" in done.err


def test_scores_have_names(folder: Path) -> None:
    result = evaluate(folder, llm="good")
    assert result.strict["node_f1"]["value"] == result.compat["node_micro_f1_no_matching"] == 1.0
    assert result.groups["overall_overall"].strict == result.strict
    assert "strict" not in result.compat and "cost" not in result.compat
    with pytest.raises(UnknownNameError) as caught:
        result.strict["node_f2"]
    assert {UsageError, KeyError} <= set(type(caught.value).__mro__)
    assert "node_f1" in str(caught.value.fix)
    with pytest.raises(KeyError, match="choose from overall_overall"):
        result.groups["chain"]


def test_names_decide_whether_there_is_one_result_or_a_list(folder: Path) -> None:
    assert [result.llm for result in evaluate(folder)] == ["bad", "good"]
    assert [result.llm for result in evaluate(folder, llm=["good"])] == ["good"]
    result = evaluate(folder, llm="good")
    assert result.csv().splitlines()[1].startswith("good,")


def test_the_forms_of_the_last_version_work_with_a_notice(folder: Path) -> None:
    with pytest.warns(DeprecationWarning, match="omit"):
        assert evaluate(folder, llm="good")[0].evaluation.groups["overall_overall"]["strict"]
    with pytest.warns(DeprecationWarning, match="omit"):
        assert len(evaluate(folder, llm="all")) == 2  # type: ignore[arg-type]
