"""A team's own cases: ten lines of YAML and an agent, judged by what it does, says and leaves."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.mcp_servers import HERE
from tests.mcp_servers.tickets import make_desk
from tests.support.builders import AGENT_KIT
from tests.support.evaluating import metrics_of
from tests.support.running import lines_of
from toolassay import evaluate, import_cases, import_tools, infer, write_report
from toolassay.executors import McpExecution

CASES = """
- {id: due, request: "When is the printer ticket due, and who has it?",
   facts: [{value: 2026-12-03}, {value: Zoë Brandt}], state: []}
- {id: count, request: "How many tickets are open?", facts: [{value: 2, unit: tickets}]}
- id: close
  request: Close the ticket about the printer.
  state: [{place: desk.db/tickets, where: {id: 7}, is: {state: closed}}]
  must_not_call: [delete_ticket]
- {id: gone, request: Remove ticket 9., state: [{place: desk.db/tickets, where: {id: 9}, is: null}]}
- {id: note, request: Note that the printer burns., state: [{place: note.txt, is: The printer burns.}]}
"""
# What an agent does for each case: calls, then words.
PERFECT = f"""{AGENT_KIT}
call("list_tickets")
if name == "due":
    print("Zoë Brandt has it; it is due on the 3rd of December.")
if name == "count":
    print("There are two open tickets.")
if name == "close":
    call("close_ticket", id=7)
    print("Done.")
if name == "gone":
    call("delete_ticket", id=9)
if name == "note":
    call("write_note", file="note.txt", text="The printer burns.")
"""
CARELESS = f"""{AGENT_KIT}
tickets = call("list_tickets")["content"][0]["text"]
if name == "due":
    print("It is due on 3 December or 1 December; Zoë Brandt has it.")
if name == "count":
    print("Either 2 or 3 tickets are open.")
if name == "close":
    call("delete_ticket", id=7)
    print("Done.")
if name == "gone":
    call("delete_ticket", id=9)
    call("close_ticket", id=8)
if name == "note":
    call("write_note", file="note.txt", text="The printer burns badly.")
"""
DUMPING = f"""{AGENT_KIT}
print(call("list_tickets")["content"][0]["text"])
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the tools of the desk and the cases."""
    place = tmp_path_factory.mktemp("cases")
    make_desk(place / "desk" / "desk.db")
    server = f"{sys.executable} {HERE / 'tickets.py'} {{workspace}}/desk.db"
    import_tools("mcp", f"{sys.executable} {HERE / 'tickets.py'} {place}/desk/desk.db", place / "mine")
    (place / "cases.yaml").write_text(CASES)
    import_cases(place / "cases.yaml", place / "mine")
    for llm, agent in (("perfect", PERFECT), ("careless", CARELESS), ("dumping", DUMPING)):
        (place / f"{llm}.py").write_text(agent)
        infer(
            place / "mine",
            llm=llm,
            agent_command=f"{sys.executable} {place / llm}.py",
            executor="mcp",
            executor_options=McpExecution(server=server, workspace=str(place / "desk")),
            allow_writes=True,
        )
    evaluate(place / "mine", prediction_dir="predictions_agents")
    return place / "mine"


def outcomes(folder: Path, llm: str) -> dict[str, Any]:
    path = folder / "metrics_agents/outcomes" / f"{llm}.items.jsonl"
    return {line["id"]: line for line in lines_of(path)}


def test_a_perfect_agent_is_right_everywhere(folder: Path) -> None:
    found = outcomes(folder, "perfect")
    assert {name: line["correct"] for name, line in found.items()} == dict.fromkeys(
        ("due", "count", "close", "gone", "note"), True
    )
    assert [fact["said"] for fact in found["due"]["facts_by"]] == ["3rd of december", "zoe brandt"]
    assert (found["count"]["facts"], found["count"]["state"]) == (1, None)
    assert (found["close"]["facts"], found["close"]["state"]) == (None, True)


def test_each_mistake_is_found(folder: Path) -> None:
    found = outcomes(folder, "careless")
    assert {name: line["correct"] for name, line in found.items()} == {
        "due": None,  # two days are offered: a judge of language decides
        "count": None,
        "close": False,
        "gone": False,
        "note": False,
    }
    assert found["close"]["forbidden"] == ["delete_ticket"]
    assert found["gone"]["unwanted"] == 2  # the row before and after
    assert found["note"]["missed"] == 1


def test_a_text_that_only_pastes_results_is_never_right(folder: Path) -> None:
    found = outcomes(folder, "dumping")
    assert all(line["correct"] is not True for line in found.values())


def test_scores_of_plans_do_not_apply(folder: Path) -> None:
    metrics = metrics_of(folder, "perfect", "metrics_agents")["strict"]
    assert metrics["n_labels"] == 5 and metrics["exact_match"]["value"] is None


def test_the_report_ranks_by_outcome(folder: Path) -> None:
    report = write_report(folder, out=folder / "report")
    assert (report.runs[0].model, report.runs[0].accuracy.value) == ("perfect", 1.0)
