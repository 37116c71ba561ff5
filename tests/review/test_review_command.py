"""`toolassay review` as people run it: the table, sheets, the reviewed set, and the page's server."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from tests.support.reviewing import folder_of, folder_with, label, say, session_of
from tests.support.running import ids, inside, lines_of, started, write_lines
from toolassay import check, export
from toolassay.errors import UsageError
from toolassay.records.data_folder import DataFolder
from toolassay.review.session import Session


def decided(session: Session) -> None:
    """One of each kind; the last sample is left."""
    say(session, "Ann", 0, "correct")
    say(session, "Ann", 1, "discard", note="makes no sense")
    say(session, "Ann", 2, "fix_instruction", parts={"user_request": "Put 'bonjour 2' into English."})
    say(session, "Ann", 3, "fix_syntax", parts={"task_steps": ["Step 1: translate", "Step 2: paint"]})
    nodes = [{"task": "Text Translator", "arguments": ["bonjour 4"]}]
    say(session, "Ann", 4, "fix_graph", parts={"task_nodes": nodes, "task_links": []})


def test_the_table_is_printed_and_written(session: Session, tmp_path: Path) -> None:
    decided(session)
    done = inside("review", "--data_dir", tmp_path / "d", "--table", "true")
    assert done.code == 0
    assert (
        "| all | 6 | 5 | 1 (20.0 %) | 1 (20.0 %) | 1 (20.0 %) | 1 (20.0 %) | 1 (20.0 %) | 1 | 0 |" in done.out
    )
    assert "1 sample undecided" in done.err
    table = json.loads((tmp_path / "d" / "reviews" / "table.json").read_text())
    assert table["samples"]["all"]["decisions"]["fix_graph"] == {"count": 1, "share": 0.2}
    written = (tmp_path / "d" / "reviews" / "table.md").read_text()
    assert [line for line in written.splitlines() if line] == done.out.split("\n")[:7]


def test_the_reviewed_set_is_one_like_any_other(session: Session, tmp_path: Path) -> None:
    decided(session)
    out = tmp_path / "out"
    done = inside("review", "--data_dir", tmp_path / "d", "--apply", out)
    assert done.code == 0, done.err
    assert "4 of 6 samples (1 correct, 1 discard, 1 fix_graph, " in done.out
    labels = lines_of(out / "data.json")
    assert [label["id"] for label in labels] == [0, 2, "s3", 4] == ids(out / "user_requests.json")
    assert labels[1]["user_request"] == "Put 'bonjour 2' into English."
    assert (labels[3]["type"], labels[3]["n_tools"], labels[3]["sampled_links"]) == ("single", 1, [])
    assert [label["review"]["decision"] for label in labels] == [
        *("correct", "fix_instruction", "fix_syntax", "fix_graph")
    ]
    assert [label["check_by_teacher"] for label in labels] == ["pass", None, None, None]
    (error,) = lines_of(out / "data_error.json")
    assert (error["id"], error["errors"]) == ("s1", ["discarded in review: makes no sense"])
    found = json.loads((out / "alignment_ids.json").read_text())
    assert found["both_node_link_alignment_id"]["single"] == [2, 4]
    assert inside("review", "--data_dir", tmp_path / "d", "--apply", out, "--keep_undecided").code == 0
    assert ids(out / "data.json") == [0, 2, "s3", 4, "s5"]


def test_conflicts_are_named_and_nothing_is_written(session: Session, tmp_path: Path) -> None:
    say(session, "Ann", 1, "correct")
    say(session, "Bob", 1, "discard")
    done = inside("review", "--data_dir", tmp_path / "d", "--apply", tmp_path / "out")
    assert done.code == 3
    assert "reviewers differ on s1" in done.error and "--queue conflicts" in done.error
    assert not (tmp_path / "out").exists()
    say(session, "Cem", 1, "correct", queue="conflicts")
    done = inside("review", "--data_dir", tmp_path / "d", "--apply", tmp_path / "out")
    assert (done.code, ids(tmp_path / "out" / "data.json")) == (0, ["s1"])


def test_a_set_of_another_origin_is_never_replaced(session: Session, tmp_path: Path) -> None:
    decided(session)
    other = folder_with(tmp_path / "other", 2)
    before = (other / "data.json").read_bytes()
    for out in (tmp_path / "d", other):
        done = inside("review", "--data_dir", tmp_path / "d", "--apply", out)
        assert done.code == 2
        assert "--apply" in done.error
    assert (other / "data.json").read_bytes() == before


@pytest.mark.parametrize("kind", ["xlsx", "csv"])
def test_sheets_go_out_and_in(session: Session, tmp_path: Path, kind: str) -> None:
    say(session, "Ann", 0, "correct")
    sheet = tmp_path / f"r.{kind}"
    folder = ("--data_dir", tmp_path / "d")
    assert inside("review", *folder, "--export", sheet, "--reviewer", "Ann").code == 0
    done = inside("review", *folder, "--import", sheet, "--reviewer", "Bob")
    assert (done.code, "1 new decision of Bob" in done.out) == (0, True)
    assert inside("review", *folder, "--export", sheet).code == 0
    assert "0 new decisions" in inside("review", *folder, "--import", sheet, "--reviewer", "Cem").out


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        (["--import", "a.csv"], "add --reviewer NAME"),
        (["--export", "a.ods"], "is not a sheet"),
        (["--queue", "conflicts", "--export", "a.csv"], "--queue only applies to the page"),
        (
            ["--reviewers", "Ann,Bob", "--export", "a.csv"],
            "--reviewer is missing. Fix: use one of Ann",
        ),
    ],
)
def test_flags_that_make_no_sense(session: Session, tmp_path: Path, arguments: list[str], wrong: str) -> None:
    done = inside("review", "--data_dir", tmp_path / "d", *arguments)
    assert (done.code, wrong in done.error) == (2, True)


def test_the_server_prints_its_address_and_ends_at_ctrl_c(session: Session, tmp_path: Path) -> None:
    process = started("review", "--data_dir", tmp_path / "d", "--reviewer", "Ann", cwd=tmp_path)
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    assert address.startswith("http://127.0.0.1:") and "?token=" in address
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.strip().endswith("stopped; every decision is saved")


@pytest.mark.parametrize("part", [".", "quarantine"])
def test_a_reviewed_set_records_its_author_and_the_counts_of_the_gates(tmp_path: Path, part: str) -> None:
    labels = [{**label(0), "task_steps": []}, {**label(0), "id": 1}, label(2)]
    DataFolder(folder_of(tmp_path / "d", labels)).update_benchmark(generation={"llm": "acme/writer"})
    checked, out = tmp_path / "checked", tmp_path / "deep" / "er"
    check(tmp_path / "d", out=checked, gates=["schema"])
    source = checked / part
    if part == "quarantine":
        write_lines(source / "data.json", labels[:1])
    session = session_of(source)
    say(session, "Ann", 0, "correct")
    done = inside("review", "--data_dir", source, "--apply", out)
    assert done.code == 0, done.err
    told = DataFolder(out).written_benchmark
    assert told["generation"] == {"llm": "acme/writer"}
    level = {".": "pass", "quarantine": "quarantine"}[part]
    assert told["checked"] == {"from": "../../d", "level": level}
    assert (out / "funnel.json").read_bytes() == (checked / "funnel.json").read_bytes()
    export(out, to="jsonl", out=tmp_path / "card")
    card = (tmp_path / "card" / "README.md").read_text()
    assert "llm: `acme/writer`" in card
    assert "Before the review: of the whole set of 3 samples the gates passed" in card
    with pytest.raises(UsageError, match="did not write"):
        check(tmp_path / "d", out=out, force=True)


def test_what_was_accepted_of_a_quarantine_joins_what_passed(tmp_path: Path) -> None:
    doubtful = {**label(0), "task_steps": 7}
    folder_of(tmp_path / "d", [doubtful, label(1), {**doubtful, "id": "s9"}])
    check(tmp_path / "d", out=tmp_path / "checked", gates=["schema"])
    quarantine = tmp_path / "checked" / "quarantine"
    session = session_of(quarantine)
    say(session, "Ann", 0, "correct")
    say(session, "Ann", 1, "discard")
    apply = ("review", "--data_dir", quarantine, "--apply", tmp_path / "out", "--with_passed", "true")
    done = inside(*apply)
    assert done.code == 0, done.err
    assert "1 of 2 samples (1 correct, 1 discard), and 1 that passed the gates" in done.out
    assert ids(tmp_path / "out" / "data.json") == ["s1", 0]
    assert ids(tmp_path / "out" / "user_requests.json") == ["s1", 0]
    assert DataFolder(tmp_path / "out").written_benchmark["checked"]["level"] == "pass or quarantine"
    refused = inside(*apply[:2], tmp_path / "d", *apply[3:])
    assert refused.code == 2
    assert "is not a quarantine folder of toolassay check" in refused.err
