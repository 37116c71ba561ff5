"""Deciding, mending, conflicts, and what is counted of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import links_of
from tests.support.reviewing import folder_of, folder_with, label, say, session_of
from toolassay.errors import UsageError
from toolassay.gates.gate import Finding, read_gates
from toolassay.plans.gold import Gold
from toolassay.review.decision import ChangedSample, RejectedEdit, edited
from toolassay.review.outcome import DecisionCount, markdown, verification
from toolassay.review.samples import fingerprint_of
from toolassay.review.session import Findings, Session, draw_plan
from toolassay.stages.review import review_session
from toolassay.tools.library import ToolLibrary


def test_it_opens_at_the_first_sample_that_is_not_decided(session: Session) -> None:
    assert session.overview("Ann", "all").first == 0
    for number in (0, 1, 3):
        say(session, "Ann", number, "correct")
    assert session.overview("Ann", "all").first == 2
    assert session.overview("Bob", "all").first == 0
    assert session.overview("Bob", "all").progress.reviewers == {"Ann": 3}


def test_a_sample_that_changed_is_shown_as_stale_and_open_again(session: Session, tmp_path: Path) -> None:
    say(session, "Ann", 0, "correct")
    say(session, "Ann", 1, "correct")
    changed = [label(number) for number in range(6)]
    changed[0]["user_request"] += " Please."
    again = session_of(folder_of(tmp_path / "d", changed))
    assert again.overview("Ann", "all").first == 0
    assert again.overview("Ann", "all").items[0].stale
    assert (mine := again.show(0, "Ann", "all").mine) is not None and mine.stale
    row = verification(again.outcomes()).samples["all"]
    assert (row.decided, row.undecided) == (1, 5)
    with pytest.raises(ChangedSample, match="has changed"):
        say(again, "Ann", 0, "correct", fingerprint=session.samples[0].fingerprint)


def test_a_fix_is_held_against_the_gates(session: Session) -> None:
    parts = {**session.samples[0].parts, "task_nodes": [{"task": "Paintr", "arguments": ["<node-0>"]}]}
    with pytest.raises(RejectedEdit, match="'Paintr' is no tool") as refused:
        say(session, "Ann", 0, "fix_graph", parts=parts)
    assert [finding.where for finding in refused.value.checked.findings] == ["task_nodes[0]"]
    assert session.store.log("Ann").standing("reviewer") == {}
    say(session, "Ann", 0, "fix_graph", parts=parts, insist=True)
    record = session.store.log("Ann").standing("reviewer")[0]
    assert record.insisted == ("schema: 'Paintr' is no tool",)
    assert record.parts == {"task_nodes": parts["task_nodes"]}
    assert verification(session.outcomes()).samples["all"].insisted == 1


@pytest.mark.parametrize(
    ("action", "parts", "wrong"),
    [
        ("fix_graph", {"task_nodes": []}, "cannot be saved: task_nodes"),
        ("fix_instruction", {"user_request": " "}, "cannot be saved: user_request"),
        ("fix_syntax", {}, "nothing was changed"),
        ("correct", {"user_request": "Hi"}, "'correct' with edits"),
        ("maybe", {}, "unknown decision 'maybe'"),
    ],
)
def test_decisions_that_make_no_sense(
    session: Session, action: str, parts: dict[str, Any], wrong: str
) -> None:
    with pytest.raises(UsageError, match=wrong):
        say(session, "Ann", 0, action, parts=parts, insist=True)
    assert session.store.log("Ann").standing("reviewer") == {}


def test_a_fixed_plan_replaces_the_sampled_one(session: Session) -> None:
    gold = session.samples[0].gold
    nodes = [{"task": "Summariser", "arguments": ["bonjour 0"]}]
    made = edited(gold, {"task_nodes": nodes, "task_links": []}).record
    assert (made["type"], made["n_tools"], made["check_by_teacher"]) == ("single", 1, None)
    assert (made["sampled_nodes"], made["sampled_links"]) == ([{"task": "Summariser"}], [])
    assert edited(gold, {}) == gold
    words = edited(gold, {"user_request": "Hi"})
    assert words.sampled_nodes == gold.sampled_nodes


def test_facts_and_other_plans_are_parts_of_a_sample(tmp_path: Path) -> None:
    facts = [{"from": ["<node-0>"]}]
    others = [{"task_nodes": [{"task": "Painter", "arguments": ["a"]}], "task_links": [], "by": "critic"}]
    told = {**label(0), "facts": facts}
    session = session_of(folder_of(tmp_path / "d", [told, label(1)]))
    first, second = session.samples
    assert first.parts["facts"] == facts
    assert fingerprint_of(second.gold) == "se94fed80765be07"  # as of labels before there were facts
    assert fingerprint_of(Gold.of({**told, "facts": []})) != first.fingerprint
    for part, wrong, fault in (
        ("facts", [{"form": 1}], "facts"),
        ("alternatives", [{"task_nodes": []}], r"alternatives\[0\].task_nodes"),
    ):
        with pytest.raises(UsageError, match=f"cannot be saved: {fault}"):
            say(session, "Ann", 0, "fix_syntax", parts={part: wrong}, insist=True)
    say(session, "Ann", 0, "fix_syntax", parts={"facts": [], "alternatives": others})
    record = session.store.log("Ann").standing("reviewer")[0]
    assert edited(first.gold, record.parts).record == {
        **told,
        "facts": [],
        "alternatives": others,
        "check_by_teacher": None,
    }


def test_reviewers_who_differ_wait_for_an_adjudicator_whose_word_counts(session: Session) -> None:
    for name, first, second in (("Ann", "correct", "discard"), ("Bob", "correct", "correct")):
        say(session, name, 0, first)
        say(session, name, 1, second)
    queue = session.overview("Cem", "conflicts")
    assert [item.id for item in queue.items] == ["s1"]
    votes = session.show(1, "Cem", "conflicts").votes
    assert {name: vote.action for name, vote in votes.items()} == {"Ann": "discard", "Bob": "correct"}
    assert session.show(1, "Ann", "all").votes == {}  # reviewers decide blind
    assert verification(session.outcomes()).samples["all"].conflicts == 1
    say(session, "Cem", 1, "correct", queue="conflicts")
    decisions = [item.decision.action if item.decision else None for item in session.outcomes()]
    assert decisions == ["correct", "correct", None, None, None, None]
    assert session.outcomes()[1].settled is not None
    assert session.progress().conflicts == 0


def test_the_table_adds_up(session: Session) -> None:
    fix = {"user_request": "Paint it."}
    say(session, "Ann", 0, "correct")
    say(session, "Ann", 1, "discard")
    say(session, "Ann", 2, "fix_instruction", parts=fix)
    say(session, "Bob", 1, "correct")
    table = verification(session.outcomes())
    for row in table.samples.values():
        said = sum(decision.count for decision in row.decisions.values())
        assert said == row.decided
        assert row.decided + row.undecided + row.conflicts == row.samples
    every = table.samples["all"]
    assert (every.samples, every.decided, every.undecided, every.conflicts) == (6, 2, 3, 1)
    assert every.decisions["correct"] == DecisionCount(1, 0.5)
    assert table.samples["dag"].decisions["correct"] == DecisionCount(0, None)
    text = markdown(table)[0][1].splitlines()
    assert text[0].count("|") == text[2].count("|")
    assert "| all | 6 | 2 | 1 (50.0 %) | 0 (0.0 %) | 0 (0.0 %) | 1 (50.0 %) | 0 (0.0 %) | 3 | 1 |" in text


def test_agreement_of_pairs_and_of_all(session: Session) -> None:
    for number in range(4):
        say(session, "Ann", number, "correct" if number < 2 else "discard")
        say(session, "Bob", number, "correct" if number < 3 else "discard")
    found = verification(session.outcomes()).agreement
    assert (found.reviewers, found.all) == ({"Ann": 4, "Bob": 4}, None)
    (pair,) = found.pairs
    assert (pair.samples, pair.raw) == (4, 0.75) and pair.kappa == pytest.approx(0.5)
    say(session, "Cem", 5, "correct")
    pairs = verification(session.outcomes()).agreement.pairs
    nothing = {pair.reason for pair in pairs if pair.reviewers and "Cem" in pair.reviewers}
    assert nothing == {"no sample was decided by two or more of them"}
    say(session, "Cem", 0, "correct")
    found = verification(session.outcomes()).agreement
    assert found.all is not None and (found.all.kind, found.all.samples) == ("fleiss", 4)


def test_search_reads_requests_steps_tools_and_ids(session: Session) -> None:
    assert session.search("BONJOUR 3") == [3]
    assert session.search("s5") == [5]
    assert session.search("painter") == [0, 1, 3, 4]
    assert session.search("") == list(range(6))


def test_what_the_gates_wrote_down_is_shown_and_the_rest_is_found_out(
    session: Session, tmp_path: Path
) -> None:
    path = tmp_path / "gates.jsonl"
    near = {"gate": "near", "state": "quarantine", "reason": "as s1", "where": ""}
    graph = {"gate": "graph", "state": "not applicable", "reason": "no sample", "where": ""}
    lines: list[Any] = [
        {"id": 0, "level": "quarantine", "findings": [near]},
        {"id": "s1", "level": "pass", "findings": []},
        {"id": "s3", "level": "reject", "findings": [graph]},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    session.findings = Findings({line.id: line for line in read_gates(path)}, session.gates)
    shown = session.show(0, "Ann", "all")
    assert shown.level == "quarantine"
    assert [(item.gate, item.state) for item in shown.findings] == [("near", "quarantine")]
    assert [item.state for item in session.show(3, "Ann", "all").findings] == ["not applicable"]
    assert session.overview("Ann", "all").items[2].level is None
    assert session.show(2, "Ann", "all").level == "pass"
    path.write_text('{"id": 0}\n')
    with pytest.raises(UsageError, match=r":1: .*level"):
        list(read_gates(path))


def test_two_samples_of_one_id_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"data\.json:2: the id 0 occurs twice"):
        session_of(folder_of(tmp_path / "d", [label(0), label(0)]))


def test_a_drawing_has_links_references_and_missing_tools(session: Session) -> None:
    library = ToolLibrary.load(session.store.folder.parent / "tool_desc.json")
    calls = [("Painter", "a cat"), ("Painter", "a dog"), ("Image Editor", "<node-1>"), ("Nobody", "<node-0>")]
    links = [("Painter", "Image Editor"), ("Image Editor", "Film Maker")]
    plan = {
        "id": 1,
        "task_nodes": [{"task": tool, "arguments": [value]} for tool, value in calls],
        "task_links": links_of(links),
    }
    drawn = draw_plan(Gold.of(plan), library)
    kinds = [(node.place, node.known, node.missing) for node in drawn.nodes]
    assert kinds[2:] == [(2, True, False), (3, False, False), (-1, True, True)]
    assert [(line.start, line.end, line.kind) for line in drawn.lines] == [
        *((1, 2, "link"), (2, -1, "link"), (0, 3, "reference")),
    ]


def test_a_data_set_that_changes_below_the_review_takes_no_decisions(tmp_path: Path) -> None:
    folder = folder_with(tmp_path / "d")
    session = review_session(folder)
    say(session, "Ann", 0, "correct")
    (folder / "data.json").touch()
    say(session, "Ann", 1, "correct")  # the same words, written again
    folder_of(folder, [{**label(0), "user_request": "Other words."}, label(1)])
    with pytest.raises(ChangedSample, match="has changed since this review was started"):
        say(session, "Ann", 2, "correct")
    (folder / "data.json").unlink()
    with pytest.raises(ChangedSample, match="has changed since this review was started"):
        say(session, "Ann", 2, "correct")
    assert len(session.store.log("Ann").standing("reviewer")) == 2


def test_what_the_gates_said_of_a_folder_in_quarantine_lies_beside_it(tmp_path: Path) -> None:
    folder = folder_with(tmp_path / "out" / "quarantine", 1)
    finding = {"gate": "near duplicate", "state": "quarantine", "reason": "as s9", "where": "user_request"}
    made = Finding(**finding)  # type: ignore[arg-type]
    line = {"id": 0, "level": "quarantine", "findings": [finding]}
    (tmp_path / "out" / "gates.jsonl").write_text(json.dumps(line) + "\n")
    assert review_session(folder).show(0, "Ann", "all").findings != [made]  # any folder of that name
    (folder / "benchmark.json").write_text('{"benchmark": "taskbench", "checked": {"level": "quarantine"}}')
    assert review_session(folder).show(0, "Ann", "all").findings == [made]
