"""How far a world does what the real server does, whose stock it has.

    python -m measurements.world_fidelity [--sequences 200] [--only NAME ...] [--servers FOLDER]

`measurements/world_fidelity/NAME.json` is a world with the seed of a server of the tests, or of one in
FOLDER, which `tests/mcp_servers/install.py` makes: "git" on a small repository, "filesystem" on a folder of
texts, "sqlite" on a database. A large language model wrote its operations from the list of tools and the
records. Sequences of five calls are drawn: tools that the world covers, arguments that fit the stock, and in
a share of the calls one that does not (a value of another record, of none). Each sequence runs in the world
and on the server, on a new copy of the workspace, until one refuses what the other accepts. A read agrees if
the keys of the thing that are in both results are the same; of a path its last part, as listings show it. A
row: of the server's refusals those that the world refuses, of its acceptances those that it accepts, reads
that agree, each with Wilson's interval. What disagrees most often goes to the other stream.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import posixpath
import re
import shlex
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

from measurements.surface_small_model import repository
from tests.mcp_servers import command_of
from tests.mcp_servers.install import NODE_FOLDER
from tests.mcp_servers.notes_server import SEED
from tests.mcp_servers.tickets import make_desk
from toolassay import SILENT, import_tools
from toolassay.argument_values.drawn_values import UnfillableError
from toolassay.console.tables import Table
from toolassay.executors import McpExecution, executor_named
from toolassay.executors.executor import CallResult, ExecutionContext, Refusal, call_tool
from toolassay.executors.workspace import NAME as WORKSPACE
from toolassay.files.data_files import read_json, values_in, write_json
from toolassay.metrics.confidence_interval import proportion_interval
from toolassay.records.data_folder import DataFolder
from toolassay.tools.library import Tool
from toolassay.worlds.calls import WorldCalls
from toolassay.worlds.checks import arguments_of, fitting_arguments, with_value
from toolassay.worlds.operations import RefusedError, WorldState
from toolassay.worlds.templates import MISSING, value_of
from toolassay.worlds.world import GetRecord, ListRecords, changes, read_world

DATA = Path(__file__).resolve().with_suffix("")
CALLS = 5  # of a sequence
# By server, the share of calls with an argument that was exchanged, so that about a third are refused.
WRONG = {
    "desk": 0.3,
    "tickets": 0.7,
    "notes": 0.95,
    "owners": 0.9,
    "git": 0.5,
    "filesystem": 0.9,
    "sqlite": 0.9,
}
PATHS = frozenset({"path", "source", "destination"})  # arguments; what is drawn for them is in the workspace
# The folders of "/workspace/scores/canons.txt"; none of "a/b" and "1/2".
FOLDERS = re.compile(r"(?<!\w)/(?:[\w.-]+/)*")
HEADS = (
    "server",
    "tools covered",
    "calls",
    "refused by the server",
    "refused by the world, too",
    "accepted by the world, too",
    "reads that agree",
)


class Comparison:
    """A world and the server whose stock it has."""

    def __init__(self, folder: DataFolder, wrong: float) -> None:
        world = read_world(folder.path)
        assert world is not None, "no world.json"
        self.wrong = wrong
        self.library = folder.library()
        self.calls = WorldCalls(world, self.library)
        self.world = world
        self.counts = Counter[str]()
        self.disagreements = Counter[str]()

    def drawn(self, rng: Random) -> tuple[Tool, dict[str, Any]] | None:
        """A tool and its arguments; None if none were found."""
        tool = self.library[rng.choice([*self.world.tools])]
        try:
            arguments = fitting_arguments(self.calls, tool, rng, WorldState(self.world))
        except UnfillableError:
            return None
        paths = [path for path in arguments_of(self.world.tools[tool.id]) if path]
        present = [path for path in paths if isinstance(value_of(arguments, path), str | int)]
        if present and rng.random() < self.wrong:
            path = rng.choice(present)
            value = value_of(arguments, path)
            unknown = [987_654, -1] if isinstance(value, int) else ["none-such", "BK-9999"]
            same = [
                other
                for records in self.world.records.values()
                for record in records
                for other in record.values()
                if type(other) is type(value)
            ]
            arguments = with_value(arguments, path, rng.choice([rng.choice(same or unknown), *unknown]))
        for name in PATHS & arguments.keys():
            arguments[name] = posixpath.join(WORKSPACE, arguments[name])
        return tool, arguments

    def keys_in(self, tool: Tool, result: Any) -> set[str]:
        """The keys of a tool's thing that a result has."""
        thing = getattr(self.world.tools[tool.id], "thing", "")
        keys = {str(record[self.world.things[thing].key]) for record in self.world.records.get(thing, ())}
        if isinstance(result, Mapping) and result.keys() == {"content"}:
            result = result["content"]
        if isinstance(result, str):
            with suppress(ValueError):
                result = json.loads(result)
        if isinstance(result, str):
            keys = {FOLDERS.sub("", key) for key in keys}
            result = FOLDERS.sub("", result)
            return {key for key in keys if re.search(rf"(?<!\w){re.escape(key)}(?!\w)", result)}
        found = {str(value) for value in values_in(result) if isinstance(value, str | int)}
        return keys & found

    def compare(
        self, tool: Tool, arguments: Mapping[str, Any], real: CallResult | Refusal, state: WorldState
    ) -> bool:
        """Count a call; whether both accepted or both refused it."""
        try:
            result, refusal = self.calls.call(state, tool, arguments), ""
        except RefusedError as error:
            result, refusal = MISSING, str(error)
        self.counts["calls"] += 1
        is_refused = isinstance(real, Refusal)
        self.counts["refused" if is_refused else "accepted"] += 1
        if is_refused != bool(refusal):
            what = f"the server says: {real}" if isinstance(real, Refusal) else f"the world says: {refusal}"
            self.disagreements[f"{tool.id} {json.dumps(arguments)[:120]}: {what[:140]}"] += 1
            return False
        self.counts["both refused" if is_refused else "both accepted"] += 1
        operation = self.world.tools[tool.id]
        is_read = isinstance(operation, ListRecords | GetRecord) and not changes(operation)
        if isinstance(real, CallResult) and is_read:
            self.counts["reads"] += 1
            left, right = self.keys_in(tool, real.value), self.keys_in(tool, result)
            self.counts["same"] += left == right
            if left != right:
                self.disagreements[
                    f"{tool.id} {json.dumps(arguments)[:120]}: {sorted(left)} {sorted(right)}"
                ] += 1
        return True


async def run(comparison: Comparison, folder: DataFolder, options: McpExecution, count: int) -> None:
    """Run the sequences."""
    context = ExecutionContext(folder, comparison.library, allow_tools=True)
    async with executor_named("mcp").open(context, options) as opened:
        for number in range(count):
            rng = Random(number)
            state = WorldState(comparison.world)
            async with opened.environment() as environment:
                for _ in range(CALLS):
                    drawn = comparison.drawn(rng)
                    if drawn is None:
                        continue
                    tool, arguments = drawn
                    await opened.prepare(environment, tool)
                    real: CallResult | Refusal
                    try:
                        real = await call_tool(environment, tool, arguments)
                    except Refusal as error:
                        real = error
                    if not comparison.compare(tool, arguments, real, state):
                        break


def share(part: int, whole: int) -> str:
    """A share with its interval."""
    if not whole:
        return "none"
    interval = proportion_interval(part, whole)
    return f"{part:,} of {whole:,}: {part / whole:.0%} [{interval.low:.0%}, {interval.high:.0%}]"


def desk(place: Path) -> str:
    """The booking desk makes its database when it starts."""
    command = shlex.split(command_of("booking_desk", str(place / "desk.db")))
    subprocess.run(command, stdin=subprocess.DEVNULL, check=False, capture_output=True)
    return command_of("booking_desk", "{workspace}/desk.db")


def tickets(place: Path) -> str:
    """Tickets in a database."""
    make_desk(place / "tickets.db")
    return command_of("tickets", "{workspace}/tickets.db")


def notes(place: Path) -> str:
    """Notes as files."""
    for note in read_json(DATA / "notes.json")["records"]["note"]:
        (place / note["name"]).write_text(note["text"])
    return command_of("notes", "folder", "{workspace}")


def owners(place: Path) -> str:
    """Notes with owners, in a file."""
    write_json(place / "notes.json", SEED)
    return command_of("notes_server", "{workspace}/notes.json")


def texts(place: Path) -> None:
    """Texts in folders; paths in the records begin with the name of the workspace."""
    records = read_json(DATA / "filesystem.json")["records"]
    for entry in records["entry"]:
        if entry["type"] == "directory":
            (place.parent / entry["path"].strip("/")).mkdir()
    for text in records["text"]:
        (place.parent / text["path"].strip("/")).write_text(text["content"])


def database(place: Path) -> None:
    """Three tables in a database."""
    place.mkdir()
    records = read_json(DATA / "sqlite.json")["records"]
    with closing(sqlite3.connect(place / "shop.db")) as connection, connection:
        for table in records["table"]:
            name = table["name"]
            columns = [f"{one['name']} {one['type']}" for one in records["column"] if one["table"] == name]
            connection.execute(f"CREATE TABLE {name} ({', '.join(columns)})")
            for row in records[name]:
                connection.execute(
                    f"INSERT INTO {name} VALUES ({', '.join('?' * len(row))})", [*row.values()]
                )


SERVERS: dict[str, Callable[[Path], str]] = {
    "desk": desk,
    "tickets": tickets,
    "notes": notes,
    "owners": owners,
}
# By server that is installed: what makes its workspace, and its command in the folder of servers.
INSTALLED: dict[str, tuple[Callable[[Path], object], str]] = {
    "git": (repository, "mcp-server-git/bin/mcp-server-git --repository {workspace}"),
    "filesystem": (texts, f"{NODE_FOLDER}/node_modules/.bin/mcp-server-filesystem {{workspace}}"),
    "sqlite": (database, "mcp-server-sqlite/bin/mcp-server-sqlite --db-path {workspace}/shop.db"),
}


def compared(name: str, temporary: Path, count: int, servers: Path) -> Sequence[str]:
    """Compare one server; a row."""
    place, data = temporary / "workspace", temporary / "data"
    if name in INSTALLED:
        make, command = INSTALLED[name]
        make(place)
        server = f"{servers.resolve()}/{command}"
    else:
        place.mkdir()
        server = SERVERS[name](place)
    options = McpExecution(server=server, workspace=str(place), fresh="worker")
    import_tools("mcp", server.replace("{workspace}", str(place)), data, screen=SILENT)
    world = {**read_json(DATA / f"{name}.json"), "now": datetime.now(UTC).isoformat()}
    write_json(data / "world.json", world)
    folder = DataFolder(data)
    comparison = Comparison(folder, WRONG[name])
    asyncio.run(run(comparison, folder, options, count))
    for what, number in comparison.disagreements.most_common(20):
        print(f"{name}: {number:4} {what}", file=sys.stderr)
    counts = comparison.counts
    return (
        name,
        f"{len(comparison.world.tools)} of {len(comparison.library)}",
        f"{counts['calls']:,}",
        f"{counts['refused'] / max(1, counts['calls']):.0%}",
        share(counts["both refused"], counts["refused"]),
        share(counts["both accepted"], counts["accepted"]),
        share(counts["same"], counts["reads"]),
    )


def main(words: Sequence[str]) -> int:
    """Compare the servers, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sequences", type=int, default=200)
    parser.add_argument("--only", nargs="+", choices=[*SERVERS, *INSTALLED])
    parser.add_argument("--servers", type=Path, help="folder that tests/mcp_servers/install.py made")
    arguments = parser.parse_args(words)
    names = arguments.only or [*SERVERS, *(INSTALLED if arguments.servers else ())]
    rows = []
    for name in names:
        with tempfile.TemporaryDirectory() as temporary:
            rows.append(compared(name, Path(temporary), arguments.sequences, arguments.servers or Path()))
    print(Table(HEADS, rows, "lrrrlll").markdown())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
