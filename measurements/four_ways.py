"""Models and agents, by the way of asking, on an MCP server, `data_multimedia` and `data_workbench`: a table.

    python -m measurements.four_ways OUT [--limit 3] [--servers FOLDER] [--frameworks FOLDER]

"rules" is the offline planner behind `toolassay serve`. FOLDER of `--servers` has small models
(`tests/real_servers/install.py`), that of `--frameworks` agents of other makers
(`tests/frameworks/requirements.txt`), whose model is scripted: it makes the calls of the gold plan. OUT
keeps the folders; the same command goes on there. `data_workbench` is a folder of imported tools, whose
plans run on the workplace; `data_multimedia` has no signatures, so it is asked for plans only. "–": not
asked, or not judged. Ctrl-C prints the table of what there is.
"""

from __future__ import annotations

import argparse
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from measurements.gold_agent import GoldModel, executed_workplace, gold_calls
from toolassay import SILENT, Budget, evaluate, execute, infer
from toolassay.benchmarks.workbench.executor import WorkplaceExecution
from toolassay.benchmarks.workbench.tasks import read_tasks
from toolassay.console.tables import Table
from toolassay.errors import ToolassayError
from toolassay.executors import McpExecution
from toolassay.files.data_files import read_json, read_json_lines, write_json_lines
from toolassay.models import ModelOptions
from toolassay.testkit import FakeServer

ROOT = Path(__file__).resolve().parent.parent
DESK = f"{shlex.quote(sys.executable)} {ROOT / 'examples/booking_desk.py'} {{workspace}}/desk.db"
PROGRAMS = ROOT / "tests/frameworks/programs"
FRAMEWORKS = ("openai_agents", "pydantic_agent")
WAYS = ("plan", "calls", "tools", "react", "agent")
STEPS, TOKENS = 8, 300


class Set(NamedTuple):
    """A data folder.

    Attributes:
        folder: The folder.
        given: Keywords of `infer` that run calls; None if its tools cannot be called.
    """

    folder: Path
    given: Mapping[str, Any] | None


def sets(out: Path, limit: int) -> list[Set]:
    """The three folders, each with its first requests and, where plans can run, executed gold."""
    guesthouse, multimedia, workbench = (out / name for name in ("guesthouse", "multimedia", "workbench"))
    desk = out / "desk"
    if not guesthouse.exists():
        desk.mkdir(parents=True)
        command = [sys.executable, "-m", "toolassay", "pipeline", "--data_dir", guesthouse, "--server", DESK]
        command += ["--workspace", desk, "--allow_writes", "--llm", "offline", "--number_of_samples", limit]
        subprocess.run([*map(str, command)], check=True, stdout=subprocess.DEVNULL)
        _cut(guesthouse, limit)
    if not multimedia.exists():
        multimedia.mkdir()
        for name in ("tool_desc.json", "graph_desc.json", "data.json", "user_requests.json"):
            shutil.copy(ROOT / "data_multimedia" / name, multimedia / name)
        _cut(multimedia, limit)
    place = ROOT / "data_workbench"
    given: dict[str, Any] = {
        "executor": "workbench",
        "executor_options": WorkplaceExecution(str(place)),
    }
    if not workbench.exists():
        tasks = [task for task in read_tasks(place) if task.answer]
        executed_workplace(place, workbench, tasks[:: len(tasks) // limit][:limit])
    server = {"executor": "mcp", "executor_options": McpExecution(server=DESK, workspace=str(desk))}
    return [
        Set(guesthouse, {**server, "allow_writes": True}),
        Set(multimedia, None),
        Set(workbench, given),
    ]


def _cut(folder: Path, limit: int) -> None:
    labels = [line.value for line in read_json_lines(folder / "data.json")][:limit]
    write_json_lines(folder / "data.json", labels)
    write_json_lines(folder / "user_requests.json", labels)


def measure(one: Set, llm: str, way: str, options: ModelOptions, program: str | None = None) -> None:
    """Ask one model in one way, and score it."""
    place = "predictions" if way == "plan" else f"predictions_{way}"
    given: dict[str, Any] = {"llm": llm, "options": options, "multiworker": 1, "screen": SILENT}
    given["prediction_dir"] = place
    if program is not None:
        given |= {"agent_command": program, **(one.given or {})}
    else:
        given |= {"ask": way, "max_tokens": TOKENS}
        if way in ("tools", "react"):
            given |= {"max_steps": STEPS, "max_seconds": 600.0, **(one.given or {})}
    try:
        infer(one.folder, budget=Budget(requests=500), **given)
        evaluate(one.folder, llm=llm, prediction_dir=place, screen=SILENT)
        if way == "plan" and one.given is not None:
            own = {name: value for name, value in one.given.items() if name != "executor_options"}
            options_of = one.given["executor_options"]
            execute(one.folder, options=options_of, predictions=llm, screen=SILENT, **own)
    except ToolassayError as error:
        print(f"{one.folder.name}, {llm}, {way}: {error}", file=sys.stderr)


def row(one: Set, llm: str, way: str) -> tuple[str, ...] | None:
    """What is there of one model, asked in one way."""
    suffix = "" if way == "plan" else f"_{way}"
    metrics = one.folder / f"metrics{suffix}"
    if not (metrics / f"{llm}.json").exists():
        return None
    strict = read_json(metrics / f"{llm}.json")["overall_overall"]["strict"]
    used = [
        line.value for line in read_json_lines(one.folder / f"predictions{suffix}/runs/{llm}/ledger.jsonl")
    ]
    asked, said = (
        sum(line.get(name) or 0 for line in used) for name in ("prompt_tokens", "completion_tokens")
    )
    outcome, judged = metrics / "outcomes" / f"{llm}.json", "–"
    if outcome.exists():
        found = read_json(outcome)
        judged = f"{found['correct']}/{found['judged']}"
    requests = len((one.folder / "user_requests.json").read_text(encoding="utf-8").splitlines())
    score = {name: strict[name]["value"] for name in ("exact_match", "node_f1")}
    plan = ["–" if value is None else f"{100 * value:.0f}" for value in score.values()]
    answers = f"{len(used) / requests:.1f}"
    tokens = f"{asked / requests:,.0f} + {said / requests:,.0f}"
    return (one.folder.name, llm, way, *plan, judged, answers, tokens)


@contextmanager
def rules(folders: Sequence[Path]) -> Iterator[ModelOptions]:
    """The offline planner behind a server of its own."""
    command = [sys.executable, "-m", "toolassay", "serve", "--port", "0"]
    for folder in folders:
        command += ["--data_dir", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        words = process.stdout.readline().split()
        base = next(word.rstrip(",") for word in words if word.startswith("http"))
        try:
            yield ModelOptions(base)
        finally:
            process.terminate()


@contextmanager
def small_model(name: str, home: Path, out: Path) -> Iterator[ModelOptions]:
    """A small model under llama.cpp."""
    from tests.real_servers.llama_cpp_server import QWEN_RECIPE, SMOLLM2_RECIPE
    from tests.real_servers.serving import Server

    folder = out / f"server-{name}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    server = Server({"qwen": QWEN_RECIPE, "smollm2": SMOLLM2_RECIPE}[name], home / name, folder)
    server.start()
    try:
        yield ModelOptions(server.base, timeout=900)
    finally:
        server.stop()


def main() -> None:
    """Measure what is not measured yet, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--limit", type=int, default=3, help="requests of each folder")
    parser.add_argument("--servers", type=Path)
    parser.add_argument("--frameworks", type=Path)
    parser.add_argument("--models", nargs="+", default=["rules", *FRAMEWORKS, "smollm2", "qwen"])
    arguments = parser.parse_args()
    out = arguments.out.absolute()
    every = sets(out, arguments.limit)
    try:
        for name in arguments.models:
            if name in FRAMEWORKS and arguments.frameworks:
                python = str(arguments.frameworks.absolute() / "bin/python")
                program = shlex.join([python, str(PROGRAMS / f"{name}.py")])
                for one in (one for one in every if one.given is not None):
                    server = FakeServer(GoldModel(gold_calls(one.folder)))
                    server.characters_per_token = 4
                    server.start()
                    measure(one, name, "agent", ModelOptions(server.base), program)
                    server.stop()
            elif name == "rules" or (name not in FRAMEWORKS and arguments.servers):
                served = (
                    rules([one.folder for one in every])
                    if name == "rules"
                    else small_model(name, arguments.servers.absolute(), out)
                )
                with served as options:
                    for one in every:
                        for way in WAYS[:-1] if one.given is not None else WAYS[:1]:
                            measure(one, name, way, options)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
    found = (row(one, name, way) for one in every for name in arguments.models for way in WAYS)
    headings = ("data", "model", "asked", "exact", "node F1", "outcome", "answers", "tokens a request")
    print(Table(headings, [one for one in found if one is not None]).markdown())


if __name__ == "__main__":
    main()
