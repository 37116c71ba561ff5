"""Time of one search of a workplace, and of judging the bundled tasks.

    python -m measurements.workbench_searches [--times 200]

The workplace is that of data_workbench (300 events, 500 mails, 1,000 visits, 300 tasks, 200 customers). Each
search is a call of its tool, transaction included, in CPU milliseconds, the median of several. *first*: in a
copy of a workplace that was just loaded, so the table is read. *other*: another search of the same table,
each time for words that were not searched before. *again*: the same call once more. *copy*: the same in a
fresh copy, as at an agent's next turn. *changed*: the first search after a call that changed the table.

The last rows are a workplace of one's own with 1,000 rows, whose tools search with SQL, by text and by day.
"Judging" is the strict judge on the ground truth of all tasks, "inference" the offline agent on all tasks.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from toolassay import infer
from toolassay.benchmarks.workbench.judge.strict import StrictJudge
from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.benchmarks.workbench.tasks import read_tasks
from toolassay.benchmarks.workbench.tools import call
from toolassay.benchmarks.workbench.workplace import open_workplace

DATA = Path(__file__).resolve().parent.parent / "data_workbench"
Search = tuple[str, Mapping[str, Any], str]
"""A tool, its arguments, and the argument whose words change."""

SEARCHES: list[Search] = [
    ("calendar.search_events", {"query": "review"}, "query"),
    ("calendar.search_events", {"query": "review|budget"}, "query"),
    ("calendar.search_events", {"query": "e", "time_min": "2023-11-20", "time_max": "2023-12-10"}, "query"),
    ("email.search_emails", {"query": "budget"}, "query"),
    ("email.search_emails", {"query": "", "date_min": "2023-11-20"}, "query"),
    ("project_management.search_tasks", {"task_name": "fix"}, "task_name"),
    ("project_management.search_tasks", {"task_name": "f.*x"}, "task_name"),
    (
        "customer_relationship_manager.search_customers",
        {"customer_name": "a", "status": "Lead"},
        "customer_name",
    ),
    ("analytics.get_visitor_information_by_id", {"visitor_id": "1234"}, "visitor_id"),
    ("company_directory.find_email_address", {"name": "a"}, "name"),
]
# A tool that changes the table, the argument for a new id each time, and the others.
CHANGES: dict[str, tuple[str, str, dict[str, str]]] = {
    "calendar": ("calendar.delete_event", "event_id", {}),
    "email": ("email.delete_email", "email_id", {}),
    "project_management": (
        "project_management.update_task",
        "task_id",
        {"field": "board", "new_value": "Design"},
    ),
    "customer_relationship_manager": ("customer_relationship_manager.delete_customer", "customer_id", {}),
    "analytics": ("analytics.get_average_session_duration", "", {}),
    "orders": ("orders.note", "text", {}),
}
TOOLS = '''
import sqlite3
from toolassay.workplace import tool

@tool("orders", reads_only=True)
def find(db: sqlite3.Connection, text: str) -> list[dict]:
    """Find orders by words."""
    where = "instr(lower(text), lower(?))"
    return [dict(row) for row in db.execute(f"SELECT * FROM orders WHERE {where} LIMIT 5", [text])]

@tool("orders", reads_only=True)
def due(db: sqlite3.Connection, text: str) -> list[dict]:
    """Find orders that are due within a week."""
    where = "date(due) BETWEEN date('now') AND date('now', '+7 days') AND instr(text, ?)"
    return [dict(row) for row in db.execute(f"SELECT * FROM orders WHERE {where}", [text])]

@tool("orders")
def note(db: sqlite3.Connection, text: str) -> None:
    """Add an order."""
    db.execute("INSERT INTO orders (text, due) VALUES (?, date('now'))", [text])
'''
OWN: list[Search] = [("orders.find", {"text": "paper"}, "text"), ("orders.due", {"text": "paper"}, "text")]


def own_workplace(folder: Path) -> Path:
    """A workplace of one's own with 1,000 rows."""
    connection = sqlite3.connect(folder / "sandbox.sqlite")
    connection.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, text TEXT, due TEXT)")
    for number in range(1000):
        row = f"{number} boxes of paper and ink", f"2024-{number % 12 + 1:02}-{number % 28 + 1:02}"
        connection.execute("INSERT INTO orders (text, due) VALUES (?, ?)", row)
    connection.commit()
    connection.close()
    (folder / "tools.py").write_text(TOOLS, encoding="utf-8")
    facts = {"benchmark": "workbench", "tools": "tools.py", "now": "2024-05-14 10:00:00", "user": "Kim"}
    (folder / "benchmark.json").write_text(json.dumps(facts), encoding="utf-8")
    return folder


def milliseconds(run: Callable[[], Any]) -> float:
    """The CPU time of one run."""
    start = time.process_time()
    run()
    return (time.process_time() - start) * 1000


def row_of(load: Callable[[], Sandbox], search: Search, times: int) -> str:
    """The row of one search."""
    tool, arguments, varied = search
    domain = tool.split(".")[0]

    def once(sandbox: Sandbox, **other: str) -> float:
        return milliseconds(lambda: call(sandbox, tool, {**arguments, **other}))

    workplaces = [load() for _ in range(max(times // 20, 3))]
    first = [once(workplace.fork()) for workplace in workplaces]
    copy = workplaces[0].fork()
    # Words that occur nowhere, and a pattern if the search has one.
    other = [once(copy, **{varied: f"{arguments[varied]}{number}"}) for number in range(times)]
    again = [once(copy) for _ in range(times)]
    fresh = []
    for _ in range(times):
        turn = workplaces[0].fork()
        fresh.append(once(turn))
        turn.close()
    after = []
    if domain in CHANGES:
        change, name, others = CHANGES[domain]
        for number in range(times // 4):
            call(copy, change, {**({name: f"{number:08d}"} if name else {}), **others})
            after.append(once(copy))
    shown = [
        f"{statistics.median(found):.2f}" if found else "" for found in (first, other, again, fresh, after)
    ]
    given = json.dumps(arguments).replace("|", "\\|")  # would end the cell
    return f"| `{tool}` {given} | {' | '.join(shown)} |"


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--times", type=int, default=200)
    times = parser.parse_args().times
    print("| search | first | other | again | copy | changed |\n| --- | ---: | ---: | ---: | ---: | ---: |")
    for search in SEARCHES:
        print(row_of(lambda: Sandbox.load(DATA), search, times))
    with tempfile.TemporaryDirectory() as name:
        folder = own_workplace(Path(name))
        for search in OWN:
            print(row_of(lambda: open_workplace(folder, allow_tools=True), search, times))
    tasks = read_tasks(DATA)
    start = time.process_time()
    judge = StrictJudge(Sandbox.load(DATA))
    assert all(judge.verdict(task.answer, task.answer).correct for task in tasks)
    print(f"\nJudging {len(tasks)} tasks: {time.process_time() - start:.2f} CPU seconds")
    with tempfile.TemporaryDirectory() as name:
        for file in ("benchmark.json", "sandbox.sqlite", "tasks.jsonl"):
            shutil.copy(DATA / file, name)
        start = time.process_time()
        infer(Path(name), llm="offline", multiworker=1)
        print(f"Inference for {len(tasks)} tasks: {time.process_time() - start:.2f} CPU seconds")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
