from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.support.builders import plan, scored_folder, write_labels
from tests.support.evaluating import changed, verified
from tests.support.running import files_below, inside, lines_of
from toolassay import evaluate, infer
from toolassay.files.data_files import write_json
from toolassay.version import __version__

NAMES = ("Summariser", "Translator", "Painter")


def build_folder(path: Path) -> Path:
    """A folder whose eight requests the offline planner has answered."""
    gold = {str(n): plan(NAMES[n % 3], arguments=[f"text {n}"]) for n in range(8)}
    scored_folder(path, gold, {}, tools=NAMES, type="single")
    requests = [
        {**one, "user_request": f"Use the {NAMES[n % 3]} on 'text {n}', please."}
        for n, one in enumerate(lines_of(path / "data.json"))
    ]
    write_labels(path, requests)
    infer(path, llm="offline", use_demos=1)
    evaluate(path, llm="offline", splits=["all"], n_tools=["1", "2"], rouge_median=True)
    return path


def test_an_untouched_run_is_equal_and_nothing_is_written(folder: Path) -> None:
    before = files_below(folder)
    assert verified(folder) == (
        True,
        f"{folder}/predictions/offline.json: 8 lines re-parsed\n"
        "equal: predictions and scores are what the raw answers give",
    )
    assert files_below(folder) == before


def test_a_torn_journal_is_read_and_not_repaired(folder: Path) -> None:
    with (folder / "predictions" / "runs" / "offline" / "journal.jsonl").open("a") as stream:
        stream.write('{"key": "torn')
    before = files_below(folder)
    assert verified(folder)[0]
    assert files_below(folder) == before


def test_a_changed_prediction_is_shown_old_and_new(folder: Path) -> None:
    path = folder / "predictions" / "offline.json"
    changed(path, '"task": "Translator"', '"task": "Teleporter"')
    equal, text = verified(folder)
    assert not equal
    assert "1 line otherwise than the raw answers give:\n  '1' result.task_nodes: " in text
    assert "Teleporter" in text
    assert "computed from other inputs than the current ones:\n  predictions: " in text
    assert "scores that differ" not in text


def test_lines_too_many_and_too_few_are_named(folder: Path) -> None:
    path = folder / "predictions" / "offline.json"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[1:], '{"id": "99", "result": null}', "{"]) + "\n")
    equal, text = verified(folder)
    assert not equal
    assert "1 answer that the file lacks: '0'" in text
    assert "worded now: '99', line 9" in text


def test_a_number_that_moved_is_shown_old_and_new(folder: Path) -> None:
    path = folder / "metrics" / "offline.json"
    groups: dict[str, Any] = json.loads(path.read_text())
    groups["chain_overall"]["strict"]["n_expected"] = 5
    groups["overall_1"]["node_micro_f1_no_matching"] += 1e-6
    groups["overall_2"]["all_samples"] += 0.0
    write_json(path, groups)
    equal, text = verified(folder)
    assert not equal
    assert "  chain_overall.strict.n_expected: 5 -> 0" in text
    assert "  overall_1.node_micro_f1_no_matching: " in text
    assert text.count(" -> ") == 2


def test_another_version_with_the_same_numbers_is_said_and_no_difference(folder: Path) -> None:
    path = folder / "metrics" / "offline.json"
    path.write_text(path.read_text().replace(f"toolassay:{__version__}|", "toolassay:0.0.9|"))
    equal, text = verified(folder)
    assert equal
    assert "scored with version 0.0.9, this is " in text


def test_lines_that_were_taken_over_are_counted_apart(folder: Path) -> None:
    run = folder / "predictions" / "runs"
    run.rename(folder / "gone")
    infer(folder, llm="offline", use_demos=1)
    evaluate(folder, llm="offline")
    equal, text = verified(folder)
    assert equal, text
    assert "8 lines re-parsed; 8 of them taken over without a raw answer" in text


def test_without_metrics_predictions_are_verified_all_the_same(folder: Path) -> None:
    (folder / "metrics" / "offline.json").unlink()
    equal, text = verified(folder)
    assert equal
    assert "scores are not compared" in text


def test_the_command_says_it_with_its_exit_code(folder: Path) -> None:
    given = ("verify", "--data_dir", folder, "--llm", "offline")
    assert inside(*given).code == 0
    changed(folder / "predictions" / "offline.json", "Painter", "Printer")
    assert inside(*given).code == 1
    (folder / "predictions" / "runs" / "offline" / "journal.jsonl").unlink()
    shown = inside(*given)
    assert (shown.code, shown.out) == (2, "")
    assert "journal.jsonl: there is no journal" in shown.error and len(shown.err.splitlines()) == 1
