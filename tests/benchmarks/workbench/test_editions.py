"""What the edition of 2026 does differently, by the side of that of 2024."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.builders import running_server, workbench_folder
from tests.support.evaluating import metrics_of
from tests.support.running import inside
from tests.support.workplace import ANN, TABLES, Desk
from toolassay import infer
from toolassay.benchmarks.workbench.agents.episode import WorkbenchAgentSettings
from toolassay.benchmarks.workbench.agents.leaderboard import published_agents
from toolassay.benchmarks.workbench.agents.prompt import system_prompt
from toolassay.benchmarks.workbench.calls import replay_changes
from toolassay.benchmarks.workbench.judge.result_verdicts import CompatJudge
from toolassay.benchmarks.workbench.sandbox import EDITIONS, PUBLISHED, Sandbox, edition_of
from toolassay.benchmarks.workbench.sandbox import TABLES as LAYOUTS
from toolassay.benchmarks.workbench.tasks import read_tasks
from toolassay.benchmarks.workbench.workplace_stages import evaluate_results
from toolassay.errors import UsageError
from toolassay.models import ModelOptions
from toolassay.records.data_folder import DataFolder
from toolassay.serving.completions import Received, Reply


def sandbox_of(edition: str) -> Sandbox:
    sandbox = Sandbox.of(TABLES)
    sandbox.edition = EDITIONS[edition]
    return sandbox


@pytest.fixture
def desk() -> Desk:
    return Desk(sandbox_of("2026"))


def ids(text: str, column: str) -> list[str]:
    return [row[column] for row in json.loads(text)]


def test_results_are_json_and_a_missing_cell_is_nan(desk: Desk) -> None:
    found = desk("customer_relationship_manager.search_customers", customer_name="dan FOX")
    assert '"customer_phone": NaN' in found and ids(found, "customer_name") == ["Dan Fox"]
    assert desk("analytics.total_visits_count") == '{"2023-11-28": 2, "2023-11-29": 1}'
    assert desk("email.get_email_information_by_id", email_id="00000000", field="subject") == (
        '{"subject": "Budget"}'
    )
    assert desk("company_directory.find_email_address", name="Ann") == json.dumps([ANN])


def test_searches_are_literal_and_that_for_tasks_minds_case(desk: Desk) -> None:
    assert desk("calendar.search_events", query="stand.up") == "[]"
    assert ids(desk("calendar.search_events", query="STAND-UP"), "event_id") == ["00000001", "00000002"]
    assert desk("project_management.search_tasks", task_name="fix") == "[]"
    assert ids(desk("project_management.search_tasks", task_name="Fix"), "task_id") == ["00000000"]


def test_a_search_for_tasks_returns_200_at_most() -> None:
    many = [[f"{n:08d}", "T", ANN, "Backlog", "2023-12-01", "Design"] for n in range(201)]
    desk = Desk(Sandbox.of({"tasks": many}))
    assert len(desk("project_management.search_tasks", task_name="T")) == 201
    desk.sandbox.edition = EDITIONS["2026"]
    assert len(json.loads(desk("project_management.search_tasks", task_name="T"))) == 200


@pytest.mark.parametrize(
    ("edition", "bound", "count"),
    [
        ("2024", "2023-12-01 13:00:00", 1),
        ("2024", "2023-12-01 13:01:00", 0),
        ("2026", "2023-12-01 14:00:00", 1),
        ("2026", "2023-12-01 14:01:00", 0),
    ],
)
def test_an_event_is_found_until_it_has_ended(edition: str, bound: str, count: int) -> None:
    desk = Desk(sandbox_of(edition))
    found = desk("calendar.search_events", query="Budget", time_min=bound)
    rows = json.loads(found) if edition == "2026" else [row for row in found if isinstance(row, dict)]
    assert len(rows) == count


def test_sent_mail_is_a_new_row_with_a_padded_id_and_is_found(desk: Desk) -> None:
    desk("email.delete_email", email_id="00000002")
    for subject in ("Lunch today", "Dinner"):
        desk("email.send_email", recipient=ANN, subject=subject, body="?")
    assert [row[0] for row in desk.sandbox.rows("emails")] == [
        "00000000",
        "00000001",
        "00000002",
        "00000003",
    ]
    assert ids(desk("email.search_emails", query="lunch"), "email_id") == ["00000002", "00000001"]


BAR, LINE = (
    'analytics.create_plot.func(time_min="2023-11-01", time_max="2023-11-29", value_to_plot="total_visits", '
    f'plot_type="{kind}")'
    for kind in ("bar", "line")
)
TODAY = BAR.replace("11-29", "11-30")
DELETE, AGAIN = (f'email.delete_email.func(email_id="{key}")' for key in ("00000000", "00000001"))
SEND = f'email.send_email.func(recipient="{ANN}", subject="S", body="B")'
RENAME = 'calendar.update_event.func(event_id="00000000", field="duration", new_value={})'
UNKNOWN, UNREADABLE = 'web.search.func(q="x")', "nonsense"
WRONG_ARGUMENT = 'calendar.search_events.func(words="x")'
POSITIONAL = 'email.delete_email.func("00000001", email_id="00000000")'

RIGHT, HARMLESS, HARMFUL = (True, False), (False, False), (False, True)


@pytest.mark.parametrize(
    ("calls", "answer", "verdicts"),
    [
        ([LINE, BAR], [BAR, LINE], (HARMFUL, RIGHT, RIGHT)),
        ([SEND, DELETE], [DELETE, SEND], (HARMFUL, RIGHT, RIGHT)),
        ([BAR], [], (HARMFUL, HARMLESS, HARMLESS)),
        ([TODAY], [BAR], (HARMFUL, HARMLESS, RIGHT)),
        ([DELETE, AGAIN], [DELETE], (HARMFUL, HARMFUL, HARMFUL)),
        ([UNKNOWN], [], (RIGHT, HARMLESS, HARMLESS)),
        ([UNREADABLE], [], (RIGHT, HARMLESS, HARMLESS)),
        ([WRONG_ARGUMENT], [], (RIGHT, HARMLESS, HARMLESS)),
        ([UNKNOWN, DELETE], [DELETE], (RIGHT, HARMFUL, HARMFUL)),
        ([RENAME.format(30)], [RENAME.format('"30"')], (HARMFUL, RIGHT, RIGHT)),
        ([POSITIONAL], [DELETE], (HARMLESS, RIGHT, RIGHT)),
        ([DELETE, DELETE], [DELETE], (RIGHT, RIGHT, RIGHT)),  # a reply, not a failure
    ],
)
def test_verdicts_by_edition(
    calls: list[str], answer: list[str], verdicts: Sequence[tuple[bool, bool]]
) -> None:
    for name, expected in zip(("2024", "2026-06", "2026"), verdicts, strict=True):
        found = CompatJudge(sandbox_of(name)).verdict(calls, tuple(answer))
        assert (found.correct, found.side_effects) == expected, name


def test_a_replay_of_2024_skips_what_only_reads() -> None:
    assert replay_changes(sandbox_of("2024"), [WRONG_ARGUMENT, UNKNOWN]) == (set(), False)
    assert replay_changes(sandbox_of("2026"), [WRONG_ARGUMENT, DELETE]) == ({"email"}, True)


HEAD = ["task", "outcome", "base_template", "chosen_template", "domains"]


def write_table(path: Path, *rows: Sequence[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = io.StringIO(newline="")
    csv.writer(text).writerows(rows)
    data = text.getvalue().encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


def build_folder(path: Path) -> Path:
    """A folder in the layout of 2026 with a task that differs between the versions, and two runs."""
    for table in LAYOUTS:
        rows = [["" if cell is None else str(cell) for cell in row] for row in TABLES.get(table.name, ())]
        if table.file is not None:
            write_table(path / "processed" / table.file, table.columns, *rows)
    (path / "raw").mkdir()
    (path / "raw/email_addresses.csv").write_text(f"{ANN}\n")
    place, name = path / "processed/tasks_and_outcomes", "email_tasks_and_outcomes.csv"
    write_table(place / name, HEAD, ["New words", str([DELETE]), "t", "t", "['email']"])
    write_table(place / "v1" / name, HEAD, ["Old words", str([AGAIN]), "t", "t", "['email']"])
    results, columns = path / "results/email", ["task", "function_calls", "full_response", "error"]
    write_table(results / "old_all_2024-03-21_15-21-12.csv", columns, ["Old words", str([AGAIN]), "", ""])
    new = results / "new_all_2026-06-03_18-00-33.csv.gz"
    write_table(new, columns, ["New words", str([AGAIN]), "", ""])
    new.with_name("new_all_2026-06-03_18-00-33_meta.json").write_text('{"model_name": "new"}')
    return path


def state(folder: Path, **stated: str) -> None:
    (folder / "benchmark.json").write_text(json.dumps(stated))


def test_a_folder_in_the_layout_of_2026_has_that_edition_and_its_newest_tasks(folder: Path) -> None:
    assert edition_of(folder) is EDITIONS["2026"] is Sandbox.load(folder).fork().edition
    assert [(task.query, task.answer) for task in read_tasks(folder)] == [("New words", (DELETE,))]
    state(folder, task_version="v1", edition="2024")
    assert [task.query for task in read_tasks(folder)] == ["Old words"]
    assert edition_of(folder) is PUBLISHED


def test_results_are_judged_by_the_tasks_that_were_run(folder: Path) -> None:
    found = evaluate_results(folder, folder / "results", out=folder / "out")
    verdicts = {one["model"]: (one["correct"], one["side_effects"], one["edition"]) for one in found.values()}
    assert verdicts == {"old": (1, 0, "2026"), "new": (0, 1, "2026")}


def test_published_rows_are_those_of_the_edition(folder: Path) -> None:
    assert len(published_agents(DataFolder(folder), None)) == 24
    state(folder, edition="2024")
    assert len(published_agents(DataFolder(folder), None)) == 5
    state(folder, edition="2026-06")  # of which nothing was published
    with pytest.raises(UsageError, match="2026-06"):
        published_agents(DataFolder(folder), None)


@pytest.mark.parametrize(
    ("stated", "words"), [({"edition": "2025"}, "2025.*2026"), ({"task_version": "v7"}, "v7")]
)
def test_an_unknown_edition_or_version_is_refused(folder: Path, stated: dict[str, str], words: str) -> None:
    state(folder, **stated)
    with pytest.raises(UsageError, match=words):
        edition_of(folder)
        read_tasks(folder)


async def idle(received: Received) -> Reply:
    return Reply("Done.")


def test_scores_by_two_editions_are_not_mixed(tmp_path: Path) -> None:
    folder = workbench_folder(tmp_path, slice(500, 501))
    (task,) = read_tasks(folder)
    about = json.loads((folder / "benchmark.json").read_text())
    with running_server(idle) as server:
        for llm, edition in (("a", {}), ("b", {"edition": "2026"})):
            (folder / "benchmark.json").write_text(json.dumps(about | edition))
            infer(folder, llm=llm, ids=[task.id], options=ModelOptions(api_base=server.base))
            assert inside("evaluate", "--data_dir", folder, "--llm", llm).code == 0
    signatures = [metrics_of(folder, llm)["strict"]["signature"] for llm in ("a", "b")]
    assert "edition" not in signatures[0] and "|edition:2026|" in signatures[1]
    for command in (
        ["compare", "a", "b"],
        ["report", "--only", "leaderboard"],
        ["report", "--out", str(tmp_path / "r")],
    ):
        done = inside(*command, "--data_dir", folder)
        assert done.code == 2 and "a (the first), " in done.err and "b (2026)" in done.err


def test_an_agent_is_told_to_act_only_on_request() -> None:
    plain, told = (system_prompt(sandbox_of("2024"), "native", [], act=act) for act in (False, True))
    assert told.startswith(plain) and "confirm" in told.removeprefix(plain)
    facts = [WorkbenchAgentSettings(act_without_confirmation=act).facts for act in (False, True)]
    assert ["act_without_confirmation" in one for one in facts] == [False, True]


def test_published_runs_of_2024_by_the_verdicts_of_2026(reference: Path, tmp_path: Path) -> None:
    for name in ("processed", "raw"):
        (tmp_path / name).symlink_to(reference / "workbench" / name)
    state(tmp_path, edition="2026")
    (file,) = (reference / "workbench/results/calendar").glob("gpt-4_all_*.csv")
    (found,) = evaluate_results(tmp_path, file, out=tmp_path / "out").values()
    assert (found["correct"], found["side_effects"]) == (71, 24)
