"""`toolassay execute`, killed again and again: no write is repeated, and no plan is lost."""

from __future__ import annotations

import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.mcp_servers import command_of, is_running, serving
from tests.support.builders import imported_folder, imported_tool, label_of, node, write_labels
from tests.support.running import command_of as command
from tests.support.running import environment, lines_of, shell, started, wait_until

KEY = {"key": {"type": "string"}}
VALUE = {**KEY, "value": {"type": "string"}}


def folder_of(path: Path, plans: list[list[dict[str, Any]]]) -> Path:
    """A data folder with a label for each plan."""
    path.mkdir(parents=True)
    tools = [
        imported_tool("look", "Looks.", KEY, ["key"]),
        imported_tool("put", "Puts.", VALUE, ["key", "value"]),
        imported_tool("add", "Adds.", VALUE, ["key", "value"]),
    ]
    imported_folder(path, {"nodes": tools})
    labels = [
        label_of(f"r{number:03}", *calls, links=pairwise(call["task"] for call in calls))
        for number, calls in enumerate(plans)
    ]
    write_labels(path, labels)
    return path


def words_of(record: Path) -> list[str]:
    """The calls in a record, e.g. "add r001"."""
    lines = record.read_text().splitlines() if record.exists() else []
    return [line for line in lines if not line.startswith("pid ")]


def kill_often(arguments: list[str], place: Path, record: Path, *, kills: int, seed: int) -> int:
    """Kill a run some milliseconds after some call of each start; returns how often it was killed."""
    chance, killed = random.Random(seed), 0
    for turn in range(3 * kills):
        if killed == kills:
            break
        before = len(words_of(record))
        process = subprocess.Popen(
            [*command("execute"), *arguments],
            cwd=place,
            env=environment(TMPDIR=str(place)),  # the copies of killed runs stay
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        awaited = before + chance.randint(0 if turn % 4 == 3 else 1, 9)
        while len(words_of(record)) < awaited and process.poll() is None:
            time.sleep(0.003)
        time.sleep(chance.uniform(0, 0.05))
        process.kill()
        killed += process.wait() == -signal.SIGKILL
    return killed


def steady(executions: list[Any]) -> list[Any]:
    """The executions without the times."""
    for one in executions:
        for each in one["calls"]:
            del each["seconds"]
    return executions


FUNCTIONS = """
import time
def record(line):
    with open("RECORD", "a") as file:
        file.write(line + chr(10))
    time.sleep(0.015)
def look(key: str): record(f"look {key}"); return f"{key} is seen"
def put(key: str, value: str): record(f"put {key}"); return value
def add(key: str, value: str): record(f"add {key}"); return {"key": key, "was": value}
"""


@contextmanager
def writing(executor: str, place: Path, record: Path) -> Iterator[list[str]]:
    """The options for tools whose effects last; their calls are lines of `record`."""
    if executor == "http":
        with serving("recorder", str(record)) as address:
            yield ["--executor", "mcp", "--server", address]
    elif executor == "stdio":
        (place / "ledger.txt").write_text("")
        yield ["--executor", "mcp", "--server", command_of("ledger", str(record))]
    else:
        (place / "functions.py").write_text(FUNCTIONS.replace("RECORD", str(record)))
        yield ["--executor", "python", "--functions", "functions.py", "--allow_tools"]


@pytest.mark.parametrize(
    ("executor", "kills", "plans", "seed"),
    [
        ("http", 2, 16, 3),
        ("python", 2, 16, 3),
        pytest.param("http", 30, 260, 8, marks=pytest.mark.slow),
        pytest.param("stdio", 30, 200, 9, marks=pytest.mark.slow),
        pytest.param("python", 30, 200, 10, marks=pytest.mark.slow),
    ],
)
def test_no_write_is_repeated_where_effects_last(
    tmp_path: Path, executor: str, kills: int, plans: int, seed: int
) -> None:
    record = tmp_path / "record"
    tools = ["look", "add", "add"] if executor == "stdio" else ["look", "put", "add"]
    folder_of(
        tmp_path / "data",
        [
            [
                node("look", key=f"r{number:03}"),
                node(tools[1], key=f"r{number:03}.1", value="<node-0>"),
                node("add", key=f"r{number:03}", value="<node-1>"),
            ]
            for number in range(plans)
        ],
    )
    with writing(executor, tmp_path, record) as options:
        arguments = ["--data_dir", "data", *options, "--allow_writes"]
        killed = kill_often(arguments, tmp_path, record, kills=kills, seed=seed)
        assert killed == kills
        done = shell("execute", *arguments, cwd=tmp_path)
        assert done.code == 0, done.err

    calls = Counter(words_of(record))
    executions = {one["id"]: one for one in lines_of(tmp_path / "data/executions.jsonl")}
    assert len(executions) == plans
    doubtful = {name for name, one in executions.items() if one["outcome"] == "in_doubt"}
    assert {one["outcome"] for one in executions.values()} <= {"ran", "in_doubt"}
    # At most the plans of both workers at the moment of a kill.
    assert len(doubtful) <= 2 * kills
    once = {"http": {"add"}, "stdio": {"add"}, "python": {"look", "put", "add"}}[executor]
    for name, one in executions.items():
        made = [calls[f"{tool} {name}{'.1' if number == 1 else ''}"] for number, tool in enumerate(tools)]
        number = len(one["calls"])
        assert all(count >= 1 for count in made[:number])
        assert all(count <= 1 for count, tool in zip(made, tools, strict=True) if tool in once)
        if name in doubtful:
            assert tools[number] in once
            assert f"whether call {number} ({tools[number]}) took effect is unknown" in one["reason"]
            assert made[number + 1 :] == [0] * (2 - number)
        else:
            assert number == 3 and one["calls"][2]["result"]["key"] == name
    repeated = sum(count - 1 for count in calls.values())
    assert repeated <= 2 * kills
    print(f"{kills} kills, {sum(calls.values())} calls, {repeated} repeated, {len(doubtful)} in doubt")


@pytest.mark.parametrize(
    ("kills", "plans", "seed", "fresh"),
    [
        (2, 12, 5, "plan"),
        pytest.param(20, 150, 6, "plan", marks=pytest.mark.slow),
        pytest.param(20, 150, 7, "worker", marks=pytest.mark.slow),
    ],
)
def test_nothing_is_lost_where_each_plan_has_a_copy(
    tmp_path: Path, kills: int, plans: int, seed: int, fresh: str
) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "ledger.txt").write_text("first 1\n")
    every = [
        [
            node("add", key=f"r{number:03}", value=f"v{number}"),
            node("add", key="<node-0>.key", value="<node-0>.lines"),
            node("look", key="<node-1>.key"),
        ]
        for number in range(plans)
    ]
    results = {}
    pids: list[int] = []
    for name in ("disturbed", "undisturbed"):
        place, record = tmp_path / name, tmp_path / f"{name}.record"
        folder_of(place / "data", every)
        arguments = [
            *("--data_dir", "data", "--executor", "mcp", "--server", command_of("ledger", str(record))),
            *("--workspace", str(source), "--allow_writes", "--fresh", fresh),
        ]
        if name == "disturbed":
            assert kill_often(arguments, place, record, kills=kills, seed=seed) == kills
        done = shell("execute", *arguments, cwd=place)
        assert done.code == 0, done.err
        results[name] = steady(lines_of(place / "data/executions.jsonl"))
        pids += [int(line.split()[1]) for line in record.read_text().splitlines() if line.startswith("pid ")]
    assert results["disturbed"] == results["undisturbed"]
    assert [one["id"] for one in results["disturbed"]] == [f"r{number:03}" for number in range(plans)]
    assert {one["outcome"] for one in results["disturbed"]} == {"ran"}
    assert results["disturbed"][7]["calls"][2]["result"] == {"key": "r007", "lines": 3}
    assert (source / "ledger.txt").read_text() == "first 1\n"
    wait_until(lambda: not any(map(is_running, pids)), seconds=10)


@pytest.mark.parametrize("how", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_an_interrupt_keeps_what_was_done_and_ends_the_servers(tmp_path: Path, how: signal.Signals) -> None:
    source, record, temporary = tmp_path / "source", tmp_path / "record", tmp_path / "temporary"
    for folder in (source, temporary):
        folder.mkdir()
    (source / "ledger.txt").write_text("")
    plans = [[node("add", key=f"r{number:03}", value="v")] for number in range(300)]
    folder_of(tmp_path / "data", plans)
    arguments = [
        *("--data_dir", "data", "--executor", "mcp", "--server", command_of("ledger", str(record))),
        *("--workspace", str(source), "--allow_writes"),
    ]
    process = started("execute", *arguments, cwd=tmp_path, TMPDIR=str(temporary))
    wait_until(lambda: len(words_of(record)) >= 8, process)
    process.send_signal(how)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert "Traceback" not in err and "never retrieved" not in err
    executions = lines_of(tmp_path / "data/executions.jsonl")
    assert 5 <= len(executions) < 300
    assert {one["outcome"] for one in executions} == {"ran"}
    pids = [int(line.split()[1]) for line in record.read_text().splitlines() if line.startswith("pid ")]
    assert not [pid for pid in pids if is_running(pid)]
    assert not list(temporary.glob("toolassay-*"))


def test_an_interrupt_waits_for_a_write_that_must_not_be_repeated(tmp_path: Path) -> None:
    record = tmp_path / "record"
    plans = [[node("add", key=f"r{number:03}", value="v")] for number in range(60)]
    folder_of(tmp_path / "data", plans)
    with serving("recorder", str(record)) as address:
        arguments = ["--data_dir", "data", "--executor", "mcp", "--server", address, "--allow_writes"]
        process = started("execute", *arguments, cwd=tmp_path)
        wait_until(lambda: len(words_of(record)) >= 5, process)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
        assert process.returncode == 130, err
        assert shell("execute", *arguments, cwd=tmp_path).code == 0
    executions = lines_of(tmp_path / "data/executions.jsonl")
    assert {one["outcome"] for one in executions} == {"ran"}
    assert set(Counter(words_of(record)).values()) == {1}
