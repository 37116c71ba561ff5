"""Values from live servers: which tools accept a call, which links are removed, and which gold plans run.

    python -m measurements.live_values SERVERS [--samples 30] [--seed 1] [--out OUT]
    python -m measurements.live_values SERVERS --only booking_desk

SERVERS is a folder made by `tests/mcp_servers/install.py`; `booking_desk` of the tests is measured too. Each
server gets a small workspace. Offline samples are generated with its values and executed on copies; then the
offline planner answers the requests, and its plans are executed and compared. A row for each server; removed
links and plans that did not run go to stderr with their reasons.
"""

from __future__ import annotations

import argparse
import json
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from tests.mcp_servers import command_of
from tests.mcp_servers.install import NODE_FOLDER
from toolassay.console.tables import Table
from toolassay.files.data_files import read_json, read_json_lines

HEADS = (
    "server",
    "tools accepted",
    "links removed",
    "plans that ran",
    "tools, links in them",
    "planner: n-F1",
    "v-F1",
    "outcome right",
    "unwanted changes",
)


def servers(home: Path) -> dict[str, str]:
    """The command line of each server, with `{workspace}` for its workspace."""

    def node(name: str) -> str:
        return shlex.join(
            [
                "node",
                str(home / NODE_FOLDER / f"node_modules/@modelcontextprotocol/server-{name}/dist/index.js"),
            ]
        )

    def program(name: str) -> str:
        return shlex.quote(str(home / f"mcp-server-{name}/bin/mcp-server-{name}"))

    return {
        "filesystem": f"{node('filesystem')} {{workspace}}",
        "git": f"{program('git')} --repository {{workspace}}",
        "sqlite": f"{program('sqlite')} --db-path {{workspace}}/shop.db",
        "memory": f"env MEMORY_FILE_PATH={{workspace}}/memory.jsonl {node('memory')}",
        "time": program("time"),
        "booking_desk": f"{command_of('booking_desk')} {{workspace}}/desk.db",
    }


def workspace(name: str, place: Path) -> Path:
    """A small workspace for a server."""
    place.mkdir(parents=True)
    if name in ("filesystem", "git"):
        (place / "notes").mkdir()
        for number, text in enumerate(("Buy tea and rice.", "Call the plumber.", "The boat needs paint.")):
            (place / "notes" / f"note-{number}.txt").write_text(f"{text}\n")
        (place / "readme.md").write_text("# Household\n\nNotes of a household.\n")
    if name == "git":
        git = ["git", "-C", str(place), "-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
        for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "First notes"]):
            subprocess.run([*git, *words], check=True)
        (place / "readme.md").write_text("# Household\n\nNotes of our household.\n")
        subprocess.run([*git, "commit", "-qam", "Ours"], check=True)
        subprocess.run([*git, "branch", "draft"], check=True)
        (place / "notes/note-3.txt").write_text("Water the plants.\n")
    if name == "sqlite":
        with sqlite3.connect(place / "shop.db") as shop:
            shop.execute("CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, city TEXT)")
            rows = [(1, "Nora Hughes", "Bern"), (2, "Liam Ortega", "Lyon"), (3, "Ada Brook", "Porto")]
            shop.executemany("INSERT INTO customers VALUES (?, ?, ?)", rows)
        shop.close()
    if name == "memory":
        things = [("Nora Hughes", "person", "likes tea"), ("Blue House", "place", "has a garden")]
        lines = [{"type": "entity", "name": n, "entityType": k, "observations": [o]} for n, k, o in things]
        lines.append(
            {"type": "relation", "from": things[0][0], "to": things[1][0], "relationType": "lives in"}
        )
        (place / "memory.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return place


def main(arguments: list[str]) -> int:
    """Measure each server and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("servers", type=Path)
    parser.add_argument("--out", type=Path, help="a folder that keeps the data folders")
    parser.add_argument("--only", nargs="+")
    parser.add_argument("--samples", default="30")
    parser.add_argument("--seed", default="1")
    given = parser.parse_args(arguments)
    found = servers(given.servers.absolute())
    with tempfile.TemporaryDirectory() as temporary:
        out = given.out or Path(temporary)
        rows = [
            row(name, server, out / name, given.samples, given.seed)
            for name, server in found.items()
            if not given.only or name in given.only
        ]
    print(Table(HEADS, rows, f"l{'r' * (len(HEADS) - 1)}").markdown())
    return 0


def row(name: str, server: str, out: Path, samples: str, seed: str) -> tuple[str, ...]:
    """Measure one server; `out` is replaced."""
    shutil.rmtree(out, ignore_errors=True)
    own, folder = workspace(name, out / "workspace"), out / "data"
    data, place = ["--data_dir", str(folder)], ["--server", server, "--workspace", str(own)]
    live = [*place, "--fresh", "worker", "--allow_writes"]
    with tempfile.TemporaryDirectory() as copy:
        shutil.copytree(own, copy, dirs_exist_ok=True)
        command("import", "mcp", server.replace("{workspace}", copy), *data)
    command("graph", *data)
    source = ["--llm", "offline", "--number_of_samples", samples, "--seed", seed]
    command("generate", *data, *source, "--values_from", "mcp", *live)
    command("format", *data)
    command("execute", *data, "--executor", "mcp", *live)
    command("infer", *data, "--llm", "offline", "--ask", "plan")
    command("evaluate", *data, "--llm", "offline")
    command("execute", *data, "--executor", "mcp", *live, "--predictions", "offline")
    tools = [node["id"] for node in read_json(folder / "tool_desc.json")["nodes"]]
    unusable = read_json(folder / "benchmark.json")["values_from"]["unusable"]
    edits = folder / "graph_edits.json"
    removed = read_json(edits)["edits"] if edits.exists() else []
    executions = [line.value for line in read_json_lines(folder / "executions.jsonl")]
    ran = [one for one in executions if one["outcome"] == "ran"]
    used = {call["tool"] for one in ran for call in one["calls"]}
    labels = [line.value for line in read_json_lines(folder / "data.json")]
    linked = {(link["source"], link["target"]) for one in labels for link in one["task_links"]}
    for one in removed:
        print(f"{name}: {one['source']} -> {one['target']}: {one.get('note', '')}", file=sys.stderr)
    for reason, count in Counter(one.get("reason") for one in executions if one["outcome"] != "ran").items():
        print(f"{name}: {count} x {reason}", file=sys.stderr)
    strict = read_json(folder / "metrics/offline.json")["overall_overall"]["strict"]
    outcomes = read_json(folder / "metrics/outcomes/offline.json")
    return (
        name,
        f"{len(tools) - len(unusable)} of {len(tools)}",
        str(len(removed)),
        f"{len(ran)} of {len(executions)}",
        f"{len(used)}, {len(linked)}",
        *(_percent(strict[key]) for key in ("node_f1", "argument_value_f1")),
        f"{outcomes['correct']} of {outcomes['judged']}",
        f"{outcomes['unwanted']} of {outcomes['judged']}",
    )


def _percent(interval: Mapping[str, float | None]) -> str:
    value = interval["value"]
    return "–" if value is None else f"{100 * value:.1f}"


def command(*words: str) -> str:
    """Run a command of toolassay; its stderr. Ends the measurement if it fails."""
    done = subprocess.run(
        [sys.executable, "-m", "toolassay", *words], capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{words[0]}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stderr


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
