"""An agent that was edited is another one: its run is refused, kept, or started again, never mixed."""

from __future__ import annotations

import json
import os
import shlex
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.support.builders import AGENT_KIT, ROOM_TOOLS, agents_folder, write_labels
from tests.support.running import lines_of, shell, started, wait_until
from toolassay import infer
from toolassay.console.screen import Screen
from toolassay.episodes.own_agent import AgentSession
from toolassay.errors import ToolassayError, UsageError
from toolassay.runs.trials import Trial, same_settings

AGENT = f"""{AGENT_KIT}
from parts.words import title
open(os.environ["STARTS"], "a").write(name)
call("create_room", title=title)
print(open(sys.argv[1]).read())
"""
EDITS = {
    "agent.py": AGENT.replace("title=title", 'title="Red"'),
    "parts/words.py": "title = 'Green'",
    "parts/__init__.py": "# edited",
    "prompt.txt": "Be long.",
}
Start = Callable[..., Any]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two tools and two requests."""
    return agents_folder(tmp_path / "rooms", ROOM_TOOLS, {name: f"Make a room ({name})" for name in "ab"})


@pytest.fixture
def start(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Start:
    """Starts an agent, with a module of its own and a prompt that its command names."""
    (tmp_path / "parts").mkdir()
    for name, text in {
        "agent.py": AGENT,
        "parts/words.py": "title = 'Blue'",
        "prompt.txt": "Be brief.",
    }.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "parts/__init__.py").touch()
    monkeypatch.setenv("STARTS", str(tmp_path / "starts"))
    command = shlex.join([sys.executable, str(tmp_path / "agent.py"), str(tmp_path / "prompt.txt")])
    return lambda **more: infer(folder, **({"llm": "mine", "agent_command": command} | more))


def titles(folder: Path) -> list[str]:
    lines = lines_of(folder / "predictions_agents/mine.json")
    return [line["calls"][0]["arguments"]["title"] for line in lines]


def kept_runs(folder: Path) -> list[Path]:
    return sorted((folder / "predictions_agents/runs").glob("mine.*"))


def settings_of(folder: Path) -> dict[str, Any]:
    manifest = json.loads((folder / "predictions_agents/runs/mine/manifest.json").read_text())
    found: dict[str, Any] = manifest["settings"]
    return found


@pytest.mark.parametrize("edited", EDITS)
def test_an_edited_agent_is_refused_by_the_name_of_the_file(
    start: Start, folder: Path, tmp_path: Path, edited: str
) -> None:
    assert start().summary.complete
    assert start().already == 2
    (tmp_path / edited).write_text(EDITS[edited])
    with pytest.raises(UsageError, match=f"{edited} changed"):
        start()
    assert len((tmp_path / "starts").read_text()) == 2
    assert start(force=True).summary.outcomes == {"answered": 2}
    (kept,) = kept_runs(folder)
    assert titles(folder) == [{"agent.py": "Red", "parts/words.py": "Green"}.get(edited, "Blue")] * 2
    assert [line["calls"][0]["arguments"]["title"] for line in lines_of(kept / "mine.json")] == ["Blue"] * 2


def test_force_goes_on_with_an_unfinished_run_and_starts_a_finished_one_again(
    start: Start, folder: Path, tmp_path: Path
) -> None:
    start()
    (tmp_path / "parts/words.py").write_text("title = 'Green'")
    start(force=True, ids=["a"])
    assert start(force=True).summary.outcomes == {"answered": 1}  # b
    assert titles(folder) == ["Green", "Green"] and len(kept_runs(folder)) == 1
    assert start(force=True).summary.outcomes == {"answered": 2}
    assert len(kept_runs(folder)) == 2


def test_force_starts_trials_again_only_if_all_are_finished(
    start: Start, folder: Path, tmp_path: Path
) -> None:
    start()  # of three trials the first one
    assert start(force=True, trials=3).summary.outcomes == {"answered": 4}
    assert not kept_runs(folder)
    assert start(force=True, trials=3).summary.outcomes == {"answered": 6}
    assert len(kept_runs(folder)) == 1
    assert len(list((folder / "predictions_agents/trials").glob("*/runs/mine.*"))) == 2
    assert len((tmp_path / "starts").read_text()) == 12


def test_a_version_stands_for_the_files(start: Start, folder: Path, tmp_path: Path) -> None:
    start(agent_version="1", ids=["a"])
    (tmp_path / "agent.py").write_text(EDITS["agent.py"])
    start(agent_version="1")
    assert titles(folder) == ["Blue", "Red"]
    assert settings_of(folder)["agent_version"] == "1"
    with pytest.raises(UsageError, match="agent_version"):
        start(agent_version="2")
    with pytest.raises(UsageError, match="agent_version"):
        start()
    with pytest.raises(UsageError, match="agent_version"):
        infer(folder, llm="acme/one", agent_version="1")


def test_an_agent_that_is_edited_during_its_run_ends_it(start: Start, folder: Path, tmp_path: Path) -> None:
    edits = f"{AGENT}\nif name == 'a': open(__file__, 'a').write('# edited')"
    (tmp_path / "agent.py").write_text(edits)
    with pytest.raises(ToolassayError, match=r"agent\.py was edited"):
        start(multiworker=1)
    with pytest.raises(UsageError, match=r"agent\.py changed"):
        start()
    (tmp_path / "agent.py").write_text(edits.replace("'a': open", "'c': open"))
    assert start(force=True).summary.outcomes == {"answered": 2}


LOGS = (
    AGENT
    + """
for log in *sys.argv[2:], os.path.join(os.path.dirname(__file__), "beside.log"):
    with open(log, "a") as stream:
        stream.write(name)
"""
)


def test_files_that_the_agent_writes_do_not_count(start: Start, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(LOGS)
    (tmp_path / "old.log").write_text("before")
    names = ("agent.py", "prompt.txt", "new.log", "old.log")
    words = [sys.executable, *(str(tmp_path / name) for name in names)]
    told: list[str] = []
    given = {"agent_command": shlex.join(words), "screen": Screen(told.append)}
    start(**given, ids=["a"])
    for log in ("new.log", "old.log"):
        assert sum(f"writes {tmp_path / log}" in line for line in told) == 1
    assert start(**given, trials=2).summary.complete
    trials = [Trial(folder / "predictions_agents", "mine", number) for number in (0, 1)]
    assert same_settings(trials) == (trials, [])
    (tmp_path / "prompt.txt").write_text("Be long.")  # which the agent does not write
    with pytest.raises(UsageError, match=r"prompt\.txt changed"):
        start(**given, trials=2)


def killed_at(mark: Path, words: Sequence[str | Path], text: str = "x") -> None:
    """Start `infer`, and kill it when a file of its agent ends with a text."""
    process = started("infer", *words, cwd=mark.parent)
    wait_until(lambda: mark.exists() and mark.read_text().endswith(text), process)
    process.send_signal(signal.SIGKILL)
    process.communicate()


def test_killed_while_it_writes_a_log_it_goes_on(folder: Path, tmp_path: Path) -> None:
    steps = "\ncall('create_room', title=name)\nfor log in sys.argv[1:]: open(log, 'a').write(name)\n"
    wait = "if not os.path.exists('killed'): open('log', 'a').write('x'); time.sleep(60)\n"
    (tmp_path / "agent.py").write_text(AGENT_KIT + steps + wait)
    (tmp_path / "old.log").write_text("before")
    command = f"{sys.executable} agent.py new.log old.log"
    words = ("--data_dir", folder, "--llm", "mine", "--agent_command", command)
    killed_at(tmp_path / "log", words, "xx")  # both requests
    (tmp_path / "killed").touch()
    done = shell("infer", *words, cwd=tmp_path)
    assert done.code == 0 and "writes new.log" in done.err and "writes old.log" in done.err
    journal = lines_of(folder / "predictions_agents/runs/mine/journal.jsonl")
    assert sum("call" in line for line in journal) == 2  # the calls of the first start were not made again
    assert shell("infer", *words, cwd=tmp_path).code == 0


def test_what_is_edited_after_a_kill_has_changed(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(f"{AGENT_KIT}\nopen('began', 'a').write('x'); time.sleep(60)")
    (tmp_path / "prompt.txt").touch()
    command = f"{sys.executable} agent.py prompt.txt"
    words = ("--data_dir", folder, "--llm", "mine", "--agent_command", command)
    killed_at(tmp_path / "began", words)
    manifest = json.loads((folder / "predictions_agents/runs/mine/manifest.json").read_text())
    journal = folder / "predictions_agents/runs/mine/journal.jsonl"
    journal.write_text('{"key": "\\"a\\"", "outcome": "answered"}\n')
    for name in ("agent.py", "prompt.txt"):
        assert f"program {name}_sha256" in manifest["settings"]
        file = tmp_path / name
        text, time = file.read_text(), file.stat().st_mtime
        file.write_text("print('edited')")
        os.utime(file, (journal.stat().st_mtime + 1,) * 2)
        assert f"{name} changed" in shell("infer", *words, cwd=tmp_path).error
        file.write_text(text)
        os.utime(file, (time, time))


def function_of(text: str, place: Path) -> Any:
    """The function `mine` of a module."""
    place.write_text(text)
    module = ModuleType("mine")
    exec(compile(text, str(place), "exec"), module.__dict__)
    return module.mine


def test_an_edited_function_is_refused_by_the_name_of_its_module(folder: Path, tmp_path: Path) -> None:
    call = "await session.call('create_room', {'title': 'X'})"
    text = f"async def mine(request, session):\n    {call}\n    return ''"
    first = function_of(text, tmp_path / "functions.py")
    infer(folder, llm="mine", agent=first)
    assert infer(folder, llm="mine", agent=first).already == 2
    second = function_of(text.replace("'X'", "'Y'"), tmp_path / "functions.py")
    with pytest.raises(UsageError, match=r"functions\.py changed"):
        infer(folder, llm="mine", agent=second)
    infer(folder, llm="mine", agent=second, force=True)
    assert titles(folder) == ["Y", "Y"]
    assert infer(folder, llm="mine", agent=second, agent_version="2", force=True).summary.complete


def test_an_object_is_an_agent(folder: Path) -> None:
    class Mine:
        async def __call__(self, request: str, session: AgentSession) -> str:
            return "done"

    assert infer(folder, llm="mine", agent=Mine()).summary.outcomes == {"answered": 2}
    assert settings_of(folder)["program test_changed_agents.py_sha256"]


def test_a_run_without_a_fingerprint_goes_on_and_gets_one(start: Start, folder: Path, tmp_path: Path) -> None:
    start(ids=["a"])
    manifest = folder / "predictions_agents/runs/mine/manifest.json"
    content = json.loads(manifest.read_text())
    fingerprint = {key: value for key, value in content["settings"].items() if key.startswith("program")}
    assert {key.rpartition("/")[2] for key in fingerprint} == {
        f"{name}_sha256" for name in ("agent.py", "words.py", "__init__.py", "prompt.txt")
    }
    for key in fingerprint:
        del content["settings"][key]
    manifest.write_text(json.dumps(content))
    assert start().already == 1
    assert fingerprint.items() <= settings_of(folder).items()
    (tmp_path / "agent.py").write_text(EDITS["agent.py"])
    with pytest.raises(UsageError, match=r"agent\.py changed"):
        start()


def test_probes_of_an_edited_agent_are_refused(start: Start, folder: Path, tmp_path: Path) -> None:
    nodes = [{"task": "get_room", "arguments": [{"name": "room_id", "value": "r1"}]}]
    gold = {"type": "single", "task_steps": ["Look"], "task_nodes": nodes, "task_links": []}
    write_labels(folder, [{"id": "a", "user_request": "Look at r1", **gold}])
    start(security=2)
    (tmp_path / "parts/words.py").write_text("title = 'Green'")
    with pytest.raises(UsageError, match=r"words\.py changed"):
        start(security=2)
    start(security=2, force=True)
    ran = len((tmp_path / "starts").read_text())
    start(security=2, force=True)  # it was finished
    assert len((tmp_path / "starts").read_text()) > ran
