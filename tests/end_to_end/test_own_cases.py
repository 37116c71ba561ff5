"""A team's own cases: ten lines of YAML and an agent, judged by what it does, says and leaves."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.mcp_servers import HERE
from tests.mcp_servers.tickets import make_desk
from tests.support.builders import AGENT_KIT, ROOT, running_server
from tests.support.evaluating import metrics_of
from tests.support.running import environment, inside, lines_of
from toolassay import evaluate, import_cases, import_tools, infer, write_report
from toolassay.executors import McpExecution
from toolassay.models import ModelOptions, ToolCall
from toolassay.serving.completions import Received, Reply

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


async def strict_judge(received: Received) -> Reply:
    """Says no to every text that offers something."""
    text = received.body["messages"][0]["content"].rpartition("TEXT: ")[2]
    return Reply(json.dumps({"why": "", "told": " or " not in text.partition("\n")[0]}))


def test_a_judge_decides_what_the_rule_leaves_open_and_is_asked_once(folder: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(folder, tmp_path / "mine")
    with running_server(strict_judge) as server:
        for _ in range(2):
            evaluate(
                copy,
                llm="careless",
                prediction_dir="predictions_agents",
                judge="acme/judge",
                options=ModelOptions(server.base),
            )
        assert len(server.received) == 3  # two days and a number are open; one name is compared
    found = outcomes(copy, "careless")
    assert (found["due"]["correct"], found["count"]["correct"]) == (False, False)
    assert found["due"]["judged_by"] == "acme/judge" and found["note"]["judged_by"] == ""
    judge = json.loads((copy / "metrics_agents/outcomes/careless.json").read_text())["judge"]
    assert judge == {"model": "acme/judge", "undecided": 2, "agreed": 0, "compared": 1}


def test_a_person_audits_the_verdicts_and_the_report_corrects_the_accuracy(
    folder: Path, tmp_path: Path
) -> None:
    copy = shutil.copytree(folder, tmp_path / "mine")
    sheet = tmp_path / "sheet.csv"
    common = ("review", "--data_dir", copy, "--verdicts", "careless")
    assert inside(*common, "--export", sheet).code == 0
    with sheet.open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    by_id = {row["id"]: row for row in rows}
    assert "delete_ticket" in by_id["close"]["calls"] and '"state": "closed"' in by_id["gone"]["changes"]
    assert by_id["due"]["answer"].startswith("It is due on 3 December or")
    with sheet.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows({**row, "right": "yes" if row["id"] in ("due", "note") else "no"} for row in rows)
    assert "5 new decisions of Ann" in inside(*common, "--import", sheet, "--reviewer", "Ann").out
    done = inside("report", "--data_dir", copy, "--out", tmp_path / "report")
    assert "audited" in done.out and "Ann judged outcomes without seeing the verdicts" in done.out
    report = json.loads((tmp_path / "report/report.json").read_text())
    assert (report["verdict"]["leader"], report["verdict"]["score"]) == ("perfect", "outcome")
    models = {model["name"]: model for model in report["models"]}
    assert models["perfect"]["audit"] is None and models["careless"]["axes"]["accuracy"]["value"] == 0.0
    audit = models["careless"]["audit"]
    assert audit["strata"]["wrong"] == {"items": 3, "judged": 3, "right": 1}
    assert audit["strata"]["undecided"] == {"items": 2, "judged": 2, "right": 1}
    assert (audit["corrected"]["value"], audit["agreement"]["value"]) == (0.4, pytest.approx(2 / 3))
    assert (audit["reviewers"], audit["ties"], audit["stale"]) == (["Ann"], 0, 0)
    page = (tmp_path / "report/index.html").read_text()
    assert "Ann judged outcomes without seeing the verdicts" in page


PAGE = (ROOT / "docs/own-cases.md").read_text(encoding="utf-8")
AGENT_PAGE = (ROOT / "docs/own-agent.md").read_text(encoding="utf-8")
SAYS = {
    "How many": ([], "There are two open tickets."),
    "Who has": ([], "Zoë Brandt has it; it is due on 4 December."),  # a day late
    "Close": ([("close_ticket", {"id": 7})], "It is closed."),
}


async def model(received: Received) -> Reply:
    """Looks at the tickets, makes the call that the request needs, and says the words."""
    messages = received.body["messages"]
    request = next(message["content"] for message in messages if message["role"] == "user")
    needed, words = next(said for begin, said in SAYS.items() if request.startswith(begin))
    calls = [("list_tickets", {}), *needed]
    number = sum(message["role"] == "tool" for message in messages)
    if number == len(calls):
        return Reply(words)
    tool, arguments = calls[number]
    return Reply("", [ToolCall(f"c{number}", tool, json.dumps(arguments))])


@pytest.mark.slow  # three agents import two packages each
def test_the_page_runs_as_written_with_an_agent_of_another_package(tmp_path: Path) -> None:
    (cases,) = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    (commands,) = re.findall(r"^```bash\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    (*_, agent) = re.findall(r"^```python\n(.*?)^```", AGENT_PAGE, re.MULTILINE | re.DOTALL)
    make_desk(tmp_path / "desk" / "desk.db")
    (tmp_path / "cases.yaml").write_text(cases)
    (tmp_path / "my_agent.py").write_text(agent)
    for name, source in (("desk.py", "tickets.py"), ("standard_streams.py", "standard_streams.py")):
        shutil.copy(HERE / source, tmp_path / name)
    script = 'set -e\ntoolassay() { "$PYTHON" -m toolassay "$@"; }\n' + commands
    with running_server(model) as server:
        given = {"PYTHON": sys.executable, "OPENAI_BASE_URL": server.base, "OPENAI_API_KEY": "sk-x"}
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=tmp_path,
            env=environment(**given, PATH=path),
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    found = lines_of(tmp_path / "mine/metrics_agents/outcomes/my-agent.items.jsonl")
    assert [line["correct"] for line in found] == [True, False, True]
    assert "66.7" in done.stdout
