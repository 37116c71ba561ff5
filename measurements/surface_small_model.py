"""Whether `surface` finds planted changes of tool texts by the plans of a small model.

    python -m measurements.surface_small_model BASE_URL MODEL [--server PROGRAM] [--out OUT] [--only PAIR]

`measurements/surface_small_model/` has 36 goals for mcp-server-git with their calls, and edits of its texts:
defects, and descriptions that are better where the model went wrong. PROGRAM is the installed server, which
is listed, and on which the gold runs first. A pair compares the listing with its edited copy by plans; the
old side is asked once, in the first pair. The pair without edits is sampled at temperature 0.7 on both sides,
the others at 0. A row for each pair; OUT keeps the folders, and the same command goes on there.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from toolassay import SILENT, execute, import_cases, import_tools, surface
from toolassay.console.tables import Table, percent, percent_interval
from toolassay.executors import McpExecution
from toolassay.files.data_files import read_json, write_json
from toolassay.plans.execution_record import read_executions
from toolassay.runs.recorded_usage import usage_by_item
from toolassay.surfaces.verdict import SurfaceVerdict

DATA = Path(__file__).resolve().with_suffix("")
HEADS = (
    "new version",
    "verdict",
    "difference, points",
    "goals",
    "more goals to decide",
    "right before, after",
    "first blamed tool",
    "planted",
    "largest rise, points",
    "tokens a goal before, after",
    "seconds of answers",
)
MAX_TOKENS = 150
MAX_SECONDS = 900.0  # on two shared cores the first prompt of a version takes more than the default 120


class Edit(msgspec.Struct, forbid_unknown_fields=True):
    """What is different in a tool.

    Attributes:
        name: Its new name; empty to keep it.
        description: Its new description; None to keep it.
        description_of: Another tool whose description it gets; empty for none.
        arguments: New descriptions of its arguments; None removes one.
    """

    name: str = ""
    description: str | None = None
    description_of: str = ""
    arguments: dict[str, str | None] = {}

    def applied(self, tool: Mapping[str, Any], texts: Mapping[str, str]) -> dict[str, Any]:
        """The tool with the edit; `texts` are the descriptions of all tools."""
        properties = {}
        for name, schema in tool["input_schema"]["properties"].items():
            text = self.arguments.get(name, schema.get("description"))
            other = {key: value for key, value in schema.items() if key != "description"}
            properties[name] = other if text is None else {**other, "description": text}
        parameters = [
            {**parameter, "desc": properties[parameter["name"]].get("description", "")}
            for parameter in tool["parameters"]
        ]
        return {
            **tool,
            "id": self.name or tool["id"],
            "desc": texts[self.description_of or tool["id"]]
            if self.description is None
            else self.description,
            "parameters": parameters,
            "input_schema": {**tool["input_schema"], "properties": properties},
        }


class Pair(msgspec.Struct, forbid_unknown_fields=True):
    """A new version of the listing.

    Attributes:
        pair: What it is.
        planted: Tools whose texts were made worse, by old name.
        edits: Edits by tool.
        temperature: Of both sides. Above 0 the old side is asked again, too.
    """

    pair: str
    planted: list[str] = []
    edits: dict[str, Edit] = {}
    temperature: float = 0.0

    def write(self, listing: Path, folder: Path, comparison: Path) -> None:
        """Write the new version of a listing as a data folder, and confirm new names for the comparison."""
        tools = read_json(listing / "tool_desc.json")["nodes"]
        texts = {tool["id"]: tool["desc"] for tool in tools}
        nodes = [self.edits.get(tool["id"], Edit()).applied(tool, texts) for tool in tools]
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(listing / "benchmark.json", folder / "benchmark.json")
        write_json(folder / "tool_desc.json", {"nodes": nodes})
        renamed = {tool: edit.name for tool, edit in self.edits.items() if edit.name}
        if renamed:
            comparison.mkdir(parents=True, exist_ok=True)
            entries = [{"from": old, "to": new, "confirmed": True} for old, new in renamed.items()]
            write_json(comparison / "mapping.json", {"tools": entries})


def repository(place: Path) -> Path:
    """A small repository with three branches, two tags, a remote branch, and staged and unstaged changes."""
    place.mkdir()

    def git(*words: str, day: str = "2026-03-10") -> None:
        date = f"{day}T12:00:00+0000"
        dates = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
        subprocess.run(["git", "-C", str(place), *words], check=True, env={**os.environ, **dates})

    def commit(day: str, message: str, files: Mapping[str, str]) -> None:
        for name, text in files.items():
            (place / name).parent.mkdir(exist_ok=True)
            (place / name).write_text(text)
        git("add", ".")
        git("commit", "-qm", message, day=day)

    git("init", "-q", "-b", "main")
    git("config", "user.name", "Ada")
    git("config", "user.email", "ada@example.org")
    commit(
        "2026-01-12", "First menu", {"README.md": "# Cafe\n", "menu.txt": "soup\n", "prices.csv": "soup,4\n"}
    )
    git("tag", "v1.0")
    commit("2026-01-28", "Ideas", {"notes/ideas.txt": "terrace\n"})
    git("branch", "release")
    commit("2026-02-10", "Salad", {"menu.txt": "soup\nsalad\n"})
    git("branch", "feature/search")
    commit("2026-02-24", "Sundays", {"README.md": "# Cafe\n\nOpen on Sundays.\n"})
    git("tag", "v1.1")
    commit("2026-03-05", "Terrace", {"notes/ideas.txt": "terrace\nlamps\n"})
    git("update-ref", "refs/remotes/origin/main", "HEAD~1")
    (place / "hours.txt").write_text("8 to 18\n")
    git("add", "hours.txt")
    (place / "prices.csv").write_text("soup,5\n")
    (place / "notes/todo.txt").write_text("paint the door\n")
    return place


def run_gold(program: str, data: Path, workspace: Path) -> None:
    """Run the calls of each goal on the server, and say how many ran."""
    options = McpExecution(server=f"{program} --repository {{workspace}}", workspace=str(workspace))
    executed = execute(data, executor="mcp", options=options, allow_writes=True, screen=SILENT)
    executions = list(read_executions(executed.path))
    for execution in executions:
        if execution.outcome != "ran":
            print(f"{execution.id}: {execution.outcome}: {execution.reason}", file=sys.stderr)
    ran = sum(execution.outcome == "ran" for execution in executions)
    print(f"{ran} of {len(executions)} gold plans ran on the server.\n", flush=True)


def compared(pair: Pair, data: Path, out: Path, arguments: argparse.Namespace, first: Path) -> Sequence[str]:
    """Compare the listing with a new version; the verdict as a row.

    Args:
        pair: The new version.
        data: Data folder with the goals.
        out: Folder of the comparison.
        arguments: Of the command line.
        first: Folder of the comparison that asks the old side at temperature 0; the others take it over.
    """
    new = out.with_name(f"{out.name}-tools")
    pair.write(data, new, out)
    is_asked_again = out == first or pair.temperature > 0
    verdict = surface(
        data,
        new,
        data,
        llm=arguments.model,
        api_base=arguments.base_url,
        ask="calls",
        temperature=pair.temperature,
        top_p=1.0,
        max_tokens=MAX_TOKENS,
        max_seconds=MAX_SECONDS,
        multiworker=1,
        limit=arguments.limit,
        baseline=None if is_asked_again else first / "surface.json",
        out=out,
        screen=SILENT,
    ).verdict
    assert verdict is not None  # only a dry run has none
    print(f"{pair.pair}: {verdict.sentence}", file=sys.stderr, flush=True)
    asked = ("before", "after") if is_asked_again else ("after",)
    ledgers = [ledger for side in asked for ledger in (out / side).rglob("ledger.jsonl")]
    seconds = sum(usage.seconds or 0 for ledger in ledgers for usage in usage_by_item(ledger).values())
    return row(pair, verdict, seconds)


def row(pair: Pair, verdict: SurfaceVerdict, seconds: float) -> Sequence[str]:
    """A row of the table.

    Args:
        pair: The new version.
        verdict: The verdict on it.
        seconds: Time of the answers that this comparison asked for.
    """
    rising = [tool for tool in verdict.tools if tool.difference > 0]
    blamed = rising[0].what[0] if rising else "none"
    most = max(rising, key=lambda tool: tool.difference, default=None)
    needed = str(verdict.n_needed or "no number") if verdict.verdict == "no_decision" else ""
    return (
        pair.pair,
        verdict.verdict.replace("_", " "),
        f"{percent(verdict.difference, sign='')} {percent_interval(verdict.low, verdict.high)}",
        str(verdict.n_goals),
        needed,
        f"{percent(verdict.scores.before)}, {percent(verdict.scores.after)}",
        blamed,
        ("yes" if blamed in pair.planted else "no") if pair.planted else "",
        "none" if most is None else f"{most.what[0]}, {percent(most.difference, sign='')}",
        f"{verdict.tokens.before or 0:,.0f}, {verdict.tokens.after or 0:,.0f}",
        f"{seconds:,.0f}",
    )


def main(words: Sequence[str]) -> int:
    """Compare all pairs and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("base_url")
    parser.add_argument("model")
    parser.add_argument("--server", default="mcp-server-git", help="an installed mcp-server-git")
    parser.add_argument("--out", type=Path, help="a folder that keeps what was asked")
    parser.add_argument("--only", nargs="+", help="pairs")
    parser.add_argument("--limit", type=int, help="so many goals")
    arguments = parser.parse_args(words)
    pairs = msgspec.convert(read_json(DATA / "edits.json"), list[Pair])
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        out = arguments.out or Path(temporary)
        data = out / "goals"
        workspace = repository(Path(temporary) / "repository")
        if not data.exists():
            import_tools("mcp", f"{arguments.server} --repository {workspace}", data, screen=SILENT)
            import_cases(DATA / "goals.jsonl", data, screen=SILENT)
            run_gold(arguments.server, data, workspace)
        for number, pair in enumerate(pairs):
            if not arguments.only or pair.pair in arguments.only:
                rows.append(compared(pair, data, out / f"pair-{number}", arguments, out / "pair-0"))
    print(Table(HEADS, rows, "lllrrllllrr").markdown())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
