"""The audit of verdicts: what is drawn and shown, what a sheet may hold, and what the report makes of it."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import openpyxl
import pytest

from tests.support.builders import write_labels
from tests.support.running import inside, lines_of
from toolassay import export_reviews, import_reviews
from toolassay.errors import UsageError
from toolassay.executors.outcome import OutcomeLine, OutcomeVerdict
from toolassay.files.data_files import write_json, write_json_lines
from toolassay.plans.execution_record import ExecutedCall, Execution, StateSummary
from toolassay.reports.scoreboard import VerdictAudit
from toolassay.stages.audit import AuditItem, audit_items, drawn_items, read_audit
from toolassay.stages.leaderboard import ScoredFolder

VERDICTS = {"right": True, "wrong": False, "undecided": None}


def items_of(**counts: int) -> list[AuditItem]:
    return [
        AuditItem(f"{verdict}{number}", verdict, {"request": "r"}, f"{verdict[0]}{number}")
        for verdict, count in counts.items()
        for number in range(count)
    ]


def test_items_are_drawn_in_equal_parts_from_the_verdicts() -> None:
    drawn = drawn_items(items_of(right=200, wrong=40, undecided=20), 30)
    assert Counter(item.verdict for item in drawn) == {"right": 10, "wrong": 10, "undecided": 10}


def test_what_a_verdict_lacks_is_drawn_from_the_others() -> None:
    drawn = drawn_items(items_of(right=200, wrong=40, undecided=2), 30)
    assert Counter(item.verdict for item in drawn) == {"right": 14, "wrong": 14, "undecided": 2}
    assert len(drawn_items(items_of(right=4, wrong=3), 30)) == 7


def test_a_seed_draws_the_same_items_whatever_their_order_and_another_seed_others() -> None:
    items = items_of(right=100, wrong=100)
    assert drawn_items(items, 20, 1) == drawn_items(items[::-1], 20, 1)
    assert drawn_items(items, 20, 1) != drawn_items(items, 20, 2)
    small, large = ({item.id for item in drawn_items(items, count, 1)} for count in (10, 20))
    assert small < large


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the verdicts on a model: 20 right, 10 wrong and 6 undecided; 4 were left unanswered."""
    data = tmp_path / "mine"
    verdicts = ["right"] * 20 + ["wrong"] * 10 + ["undecided"] * 6
    names = [f"i{number}" for number in range(40)]
    write_labels(data, [{"id": name, "user_request": f"Do {name}."} for name in names])
    executions = []
    outcomes = []
    for name, verdict in zip(names, verdicts, strict=False):
        is_right = VERDICTS[verdict]
        state = StateSummary("x", 1, {f"{name}.txt": {"before": None, "after": "new"}})
        call = ExecutedCall(0, "write", {"name": name}, f"wrote {name} {'x' * 5000}")
        execution = Execution(name, "ran", "mcp", "", (call,), state_before=state, state_after=state)
        facts = None if is_right is None else float(is_right)
        outcome = OutcomeVerdict(is_right, True, True, True, 0, 0, 0, facts=facts, facts_by=())
        executions.append(msgspec.to_builtins(execution))
        line = OutcomeLine.of(name, {0: (execution, outcome)}, with_facts=True)
        outcomes.append(msgspec.to_builtins(line))
    predictions = [{"id": name, "user_request": f"Do {name}.", "answer": f"Did {name}."} for name in names]
    write_json_lines(data / "predictions_agents/m.json", predictions)
    write_json_lines(data / "predictions_agents/executions/m.jsonl", executions)
    metrics = data / "metrics_agents"
    write_json(
        metrics / "outcomes/m.json", {"signature": "outcome|executor:mcp|predictions:0", "unjudged": []}
    )
    write_json_lines(metrics / "outcomes/m.items.jsonl", outcomes)
    return data


def verdict_of(name: str) -> str:
    number = int(name[1:])
    return "right" if number < 20 else "wrong" if number < 30 else "undecided"


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


def filled(folder: Path, answers: Mapping[str, str], name: str = "a.csv") -> Path:
    """A sheet of 30 with these answers by id; "no" for other ids."""
    path = folder.parent / name
    export_reviews(folder, path, verdicts="m")
    rows = [{**row, "right": answers.get(row["id"], "no")} for row in rows_of(path)]
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def audit(folder: Path) -> VerdictAudit:
    found = read_audit(ScoredFolder.at(folder, "predictions", None), "m", 40)
    assert found is not None
    return found


def test_a_sheet_shows_what_the_agent_did_and_neither_verdict_nor_gold(folder: Path) -> None:
    assert export_reviews(folder, folder.parent / "a.csv", verdicts="m") == 30
    rows = rows_of(folder.parent / "a.csv")
    columns = ["id", "fingerprint", "request", "calls", "changes", "answer", "right", "note"]
    assert list(rows[0]) == columns
    row = next(row for row in rows if row["id"] == "i3")
    assert (row["request"], row["answer"], row["right"]) == ("Do i3.", "Did i3.", "")
    assert row["calls"].startswith('write({"name": "i3"}) -> "wrote i3') and len(row["calls"]) < 1100
    assert row["changes"] == 'i3.txt: {"before": null, "after": "new"}'
    # The rows are in no order of the verdicts, and their fingerprints do not depend on them.
    order = [verdict_of(row["id"]) for row in rows]
    assert len(set(order[:8])) > 1 and len(set(order[:18:3])) > 1
    before = {row["id"]: row["fingerprint"] for row in rows}
    path = folder / "metrics_agents/outcomes/m.items.jsonl"
    write_json_lines(path, [turned(line) for line in lines_of(path)])
    export_reviews(folder, folder.parent / "b.csv", verdicts="m", sample=36)
    after = {row["id"]: row["fingerprint"] for row in rows_of(folder.parent / "b.csv")}
    assert before.items() <= after.items()


def turned(line: dict[str, Any]) -> dict[str, Any]:
    """A line of verdicts with the other verdict; an undecided one is right."""
    (trial,) = line["trials"]
    score = 1.0 - trial["scores"]["outcome"]
    scores = {**trial["scores"], "outcome": score, "outcome_at_best": score}
    return {**line, "trials": [{**trial, "scores": scores}]}


def test_a_workbook_has_no_hidden_cell(folder: Path) -> None:
    done = inside("review", "--data_dir", folder, "--verdicts", "m", "--export", folder.parent / "a.xlsx")
    assert done.code == 0 and "30 outcomes of m" in done.out
    book = openpyxl.load_workbook(folder.parent / "a.xlsx")
    (sheet,) = book.worksheets
    assert (sheet.max_column, sheet.max_row, sheet.sheet_state) == (8, 31, "visible")
    assert not any(dimension.hidden for dimension in sheet.column_dimensions.values())
    text = " ".join(str(cell.value) for row in sheet.iter_rows(min_row=2) for cell in row)
    assert not any(verdict in text for verdict in VERDICTS)
    assert not book.properties.description and not list(book.defined_names)


def test_decisions_are_kept_and_importing_again_changes_nothing(folder: Path) -> None:
    sheet = filled(folder, {"i0": "Yes "})
    assert import_reviews(folder, sheet, reviewer="Zoë 1", verdicts="m") == 30
    (kept,) = (folder / "audits/m").iterdir()
    assert kept.name == "Zoë_1.jsonl"
    before = kept.read_bytes()
    assert import_reviews(folder, sheet, reviewer="Zoë 1", verdicts="m") == 0
    assert kept.read_bytes() == before
    assert import_reviews(folder, filled(folder, {}), reviewer="Zoë 1", verdicts="m") == 1
    drawn = {row["id"] for row in rows_of(sheet)}
    assert audit(folder).strata["right"].judged == sum(verdict_of(name) == "right" for name in drawn)
    assert audit(folder).strata["right"].right == 0


def test_bad_rows_are_named_and_nothing_is_imported(folder: Path) -> None:
    sheet = filled(folder, {"i0": "maybe", "i1": ""})
    line = 2 + [row["id"] for row in rows_of(sheet)].index("i0")
    done = inside("review", "--data_dir", folder, "--verdicts", "m", "--import", sheet, "--reviewer", "Ann")
    assert done.code == 2 and f":{line}" in done.error and "'maybe' is neither yes nor no" in done.error
    twice = filled(folder, {})
    twice.write_text(twice.read_text() + twice.read_text().splitlines()[-1] + "\n")
    with pytest.raises(UsageError, match="is there twice"):
        import_reviews(folder, twice, reviewer="Ann", verdicts="m")
    assert not (folder / "audits").exists()


def test_an_empty_row_decides_nothing(folder: Path) -> None:
    sheet = filled(folder, dict.fromkeys((f"i{number}" for number in range(1, 36)), ""))
    assert import_reviews(folder, sheet, reviewer="Ann", verdicts="m") == 1
    assert audit(folder).corrected.value is None  # no wrong item was judged


def test_a_decision_on_what_has_changed_since_is_left_out(folder: Path) -> None:
    sheet = filled(folder, {})
    import_reviews(folder, sheet, reviewer="Ann", verdicts="m")
    path = folder / "predictions_agents/executions/m.jsonl"
    name = rows_of(sheet)[0]["id"]
    path.write_text(path.read_text().replace(f"wrote {name} ", "wrote something else "))
    assert audit(folder).stale == 1
    with pytest.raises(UsageError, match="predictions changed"):
        import_reviews(folder, sheet, reviewer="Ann", verdicts="m")


def test_a_decision_drawn_for_another_verdict_is_left_out(folder: Path) -> None:
    import_reviews(folder, filled(folder, {}), reviewer="Ann", verdicts="m")
    path = folder / "metrics_agents/outcomes/m.items.jsonl"
    first, *rest = lines_of(path)
    write_json_lines(path, [turned(first), *rest])
    drawn = {row["id"] for row in rows_of(folder.parent / "a.csv")}
    assert "i0" in drawn and audit(folder).stale == 1


def test_the_estimate_weighs_each_verdict_and_the_unanswered_are_wrong(folder: Path) -> None:
    sheet = filled(folder, {f"i{number}": "yes" for number in range(20)})
    import_reviews(folder, sheet, reviewer="Ann", verdicts="m")
    found = audit(folder)
    assert found.strata["unanswered"] == (4, 4, 0)
    assert [found.strata[verdict].items for verdict in VERDICTS] == [20, 10, 6]
    assert (found.agreement.value, found.corrected.value) == (1.0, 0.5)  # 20 of 40
    assert found.corrected.low is not None and found.corrected.low < 0.4
    assert "Ann judged outcomes without seeing the verdicts" in found.sentence
    assert json.loads(json.dumps(found.to_json()))["strata"]["right"]["items"] == 20


def test_the_majority_of_reviewers_counts_and_a_tie_is_left_out(folder: Path) -> None:
    for reviewer, name in (("Ann", "i0"), ("Bob", "i0"), ("Cem", "i1")):
        import_reviews(folder, filled(folder, {name: "yes"}), reviewer=reviewer, verdicts="m")
    found = audit(folder)
    assert (found.strata["right"].right, found.ties) == (1, 0)
    import_reviews(folder, filled(folder, {"i0": "yes", "i1": "yes"}), reviewer="Dan", verdicts="m")
    found = audit(folder)
    assert (found.ties, found.reviewers) == (1, ["Ann", "Bob", "Cem", "Dan"])
    drawn = [verdict_of(row["id"]) for row in rows_of(folder.parent / "a.csv")]
    assert found.strata["right"].judged == drawn.count("right") - 1


def test_the_first_run_with_a_verdict_is_shown(folder: Path) -> None:
    path = folder / "metrics_agents/outcomes/m.items.jsonl"
    first, *rest = lines_of(path)
    (trial,) = first["trials"]
    write_json_lines(path, [{**first, "trials": [{**trial, "trial": 1}]}, *rest])
    again = folder / "predictions_agents/trials/1"
    write_json_lines(again / "m.json", [{"id": "i0", "user_request": "Do i0.", "answer": "Again."}])
    (execution, *_) = lines_of(folder / "predictions_agents/executions/m.jsonl")
    write_json_lines(again / "executions/m.jsonl", [execution])
    shown = {
        item.id: item.shown["answer"]
        for item in audit_items(ScoredFolder.at(folder, "predictions", None), "m")
    }
    assert (shown["i0"], shown["i1"], len(shown)) == ("Again.", "Did i1.", 36)


def test_a_model_without_verdicts_that_rank_and_a_missing_sheet_are_refused(folder: Path) -> None:
    with pytest.raises(UsageError, match="no outcomes of x that rank"):
        export_reviews(folder, folder.parent / "a.csv", verdicts="x")
    write_json(folder / "metrics_agents/outcomes/m.json", {"signature": "outcome|executor:simulate"})
    with pytest.raises(UsageError, match="no outcomes of m that rank"):
        export_reviews(folder, folder.parent / "a.csv", verdicts="m")
    done = inside("review", "--data_dir", folder, "--verdicts", "m")
    assert done.code == 2 and "add --export FILE, or --import FILE" in done.error
    assert read_audit(ScoredFolder.at(folder, "predictions", None), "m", 40) is None
