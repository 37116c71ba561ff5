"""Prediction files in, metrics out: of a run with its trials, and of any file of rows."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.support.running import inside, write_lines
from tests.support.shop_chats import answers, chats, write_array
from toolassay import evaluate
from toolassay.benchmarks.classic.evaluation import evaluate_rows
from toolassay.errors import UsageError

COAT = ("c2", 0)


def build_folder(path: Path) -> Path:
    """A data folder with a run of two trials, and one with the candidates in another order."""
    chats(path)
    write_run(path / "predictions", answers())
    write_run(path / "predictions/trials/1", answers({COAT: None}, trial=1))
    write_run(path / "predictions_7", answers({COAT: "track"}, order="7"))
    return path


def write_run(place: Path, rows: list[dict[str, Any]]) -> None:
    place.mkdir(parents=True)
    write_lines(place / "acme.json", rows)


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_a_run_is_scored_with_its_trials_and_another_order(folder: Path) -> None:
    result = evaluate(folder, llm="acme", orders=["predictions_7"])
    assert result.path == folder / "metrics/acme.json"
    metrics = read(result.path)["overall_overall"]
    assert (metrics["n"], metrics["outcomes"]) == (5, {"answered": 5})
    assert metrics["compat"]["accuracy"]["domain:all"]["row_pass@1"] == pytest.approx(0.9)
    strict = metrics["strict"]
    assert strict["signature"].endswith("|group:overall_overall|n:5")
    assert strict["stability"]["domain:all"]["answer_agreement"]["value"] == pytest.approx(0.8)
    assert strict["stability"]["domain:all"]["order"]["pairs"] == 5
    assert metrics["cost"] is metrics["latency"] is None
    assert metrics["notes"]["cost"] == "there is no ledger beside the predictions"


def test_any_order_of_rows_makes_the_same_files_byte_for_byte(folder: Path) -> None:
    values = [*answers(), *answers({COAT: None}, trial=1)]
    made = set()
    for seed in range(3):
        Random(seed).shuffle(values)
        path = folder / "shuffled.json"
        (write_lines if seed % 2 else write_array)(path, values)
        for mode in ("compat", "strict"):
            evaluate_rows(folder, [path], out=folder / mode, mode=mode)
        write_lines(folder / "predictions/acme.json", [row for row in values if row["trial_idx"] == 0])
        evaluate(folder, llm="acme")
        files = (
            "compat/metrics.json",
            "strict/metrics.json",
            "metrics/acme.json",
            "metrics/acme.items.jsonl",
        )
        made.add(tuple((folder / file).read_bytes() for file in files))
    assert len(made) == 1


def test_rows_of_other_data_are_scored_as_published_and_reported(folder: Path) -> None:
    strange = [{**value, "conversation_uuid": "a", "request_idx": n} for n, value in enumerate(answers())]
    file = write_array(folder / "strange.json", strange)
    given = ("classic", "evaluate", "--data_dir", folder, "--predictions", file, "--out", folder / "out")
    done = inside(*given)
    assert done.code == 0 and "5 rows answer messages that the data do not have" in done.err
    tree = read(folder / "out/metrics.json")
    assert tree["accuracy"]["domain:all"] == {"row_pass@1": 1.0, "convo_pass@1": 1.0}
    refused = inside(*given, "--mode", "strict")
    assert refused.code == 2 and "row 1: the data has no message 0" in refused.error


def test_what_cannot_be_scored_leaves_what_was_there(folder: Path) -> None:
    (folder / "out").mkdir()
    (folder / "out/metrics.json").write_text("old")
    file = folder / "predictions/acme.json"
    with pytest.raises(UsageError, match=r"acme.json: answers message 0 of 'c1' in trial 0, as another"):
        evaluate_rows(folder, [file, folder / "predictions_7/../predictions/acme.json"], out=folder / "out")
    with pytest.raises(UsageError, match="would replace the predictions"):
        evaluate(folder, llm="acme", save_dir="predictions")
    same = write_array(folder / "same/metrics.json", answers())
    with pytest.raises(UsageError, match="would replace the predictions"):
        evaluate_rows(folder, [same], out=folder / "same")
    assert (folder / "out/metrics.json").read_text() == "old"


def test_the_commands(folder: Path) -> None:
    given = ("evaluate", "--data_dir", folder, "--llm", "acme")
    done = inside(*given, "--orders", "predictions_7")
    assert done.code == 0
    assert done.out.split()[done.out.split().index("acme") :][:4] == ["acme", "all", "10", "90.0"]
    assert "Aisera *" in done.out and "acme: orders of the list (" in done.out
    assert "Aisera" not in inside(*given, "--with_published", "false").out
    write_lines(folder / "predictions/acme.json", answers()[:2])
    low = inside(*given, "--min_coverage", "0.9")
    assert low.code == 3 and "trial 0 has 2 of 5 items" in low.err
    rows = ("classic", "evaluate", "--data_dir", folder, "--out", folder / "out", "--predictions")
    assert "row_pass^2" in inside(*rows, folder / "predictions_7/acme.json").out
    assert "no such file" in inside(*rows, folder / "none.json", "--mode", "strict").error
