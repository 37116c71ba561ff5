"""An agent that is started again: what was recorded is not called again, what is in doubt is not scored."""

from __future__ import annotations

import json
import shlex
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.mcp_servers import serving
from tests.support.builders import AGENT_KIT, RECORDER_TOOLS, agents_folder, write_labels
from tests.support.evaluating import metrics_of
from tests.support.running import lines_of, shell, started, wait_until, write_lines
from toolassay import evaluate, infer, verify
from toolassay.episodes.own_agent import AgentSession
from toolassay.executors import McpExecution
from toolassay.files.data_files import write_json
from toolassay.runs.work import Inference

Calls = Sequence[tuple[str, str]]
"""The tool and the key of each call."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """A server that lives on, and the file of the calls that have reached it."""
    record = tmp_path_factory.mktemp("server") / "record"
    record.touch()
    with serving("recorder", str(record)) as url:
        yield url, record


class Agent:
    """An agent that makes other calls each time that it is started, on a request of a folder.

    `reached` are the calls of the last start that reached the server.
    """

    def __init__(self, folder: Path, server: tuple[str, Path] | None) -> None:
        self.folder, self.reached = folder, list[str]()
        self._url, self._record = server or ("", folder / "no-record")
        self._calls: Calls = ()
        self.journal = folder / "predictions_agents/runs/mine/journal.jsonl"

    async def __call__(self, request: str, session: AgentSession) -> str:
        for tool, key in self._calls:
            value = {} if tool == "look" else {"value": key}
            await session.call(tool, {"key": f"{self.folder.parent.name} {key}", **value})
        return "done"

    def start(self, *calls: tuple[str, str]) -> Inference:
        """Start it, or go on."""
        before = self._record.read_text().splitlines() if self._url else []
        self._calls = calls
        more: dict[str, Any] = {"executor": "simulate"}
        if self._url:
            more = {"executor": "mcp", "executor_options": McpExecution(server=self._url)}
        done = infer(self.folder, llm="mine", agent=self, allow_writes=True, **more)
        after = self._record.read_text().splitlines() if self._url else []
        self.reached = [line.rpartition(" ")[2] for line in after[len(before) :]]
        return done

    def cut(self, keep: Callable[[dict[str, Any]], bool]) -> None:
        """Leave no more than a kill would have left."""
        (self.folder / "predictions_agents/mine.json").unlink()
        write_lines(self.journal, [line for line in lines_of(self.journal) if keep(line)])

    @property
    def line(self) -> dict[str, Any] | None:
        """The prediction."""
        file = self.folder / "predictions_agents/mine.json"
        lines = lines_of(file) if file.exists() else []
        return lines[0] if lines else None

    @property
    def made(self) -> list[str]:
        """The keys of the calls in the prediction."""
        assert self.line is not None
        return [call["arguments"]["key"].rpartition(" ")[2] for call in self.line["calls"]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return agents_folder(tmp_path / "data", RECORDER_TOOLS, {"one": "Do it"})


@pytest.fixture
def agent(folder: Path, server: tuple[str, Path]) -> Agent:
    return Agent(folder, server)


@pytest.fixture
def isolated(folder: Path) -> Agent:
    """The same where each request has an environment of its own: a world."""
    fields = {"key": "${arguments.key}", "value": "${arguments.value}"}
    write = {"op": "create", "thing": "entry", "fields": fields, "replace": True}
    look = {"op": "get", "thing": "entry", "where": [{"field": "key", "argument": "key"}]}
    world = {
        "now": "2026-03-02",
        "things": {"entry": {"key": "key"}},
        "records": {},
        "tools": {"look": look, "put": write, "add": write},
    }
    write_json(folder / "world.json", world)
    return Agent(folder, None)


def adds(keys: str) -> list[tuple[str, str]]:
    return [("add", key) for key in keys]


def has_not_ended(line: dict[str, Any]) -> bool:
    """Keeps what was recorded before the end of a request."""
    return "outcome" not in line


@pytest.mark.parametrize(
    ("first", "again", "new"),
    [
        ("abc", "cab", ""),
        ("ab", "bca", "c"),
        ("aa", "aa", ""),
        ("a", "aa", "a"),
        ("aba", "aab", ""),
    ],
)
def test_calls_in_another_order_take_their_recorded_results(
    agent: Agent, first: str, again: str, new: str
) -> None:
    agent.start(*adds(first))
    agent.cut(has_not_ended)
    assert agent.start(*adds(again)).summary.outcomes == {"answered": 1}
    assert "".join(agent.reached) == new
    assert "".join(agent.made) == again
    assert agent.line is not None
    for number, call in enumerate(agent.line["calls"]):
        assert (call["node"], call["result"]["was"]) == (number, again[number])
    assert verify(agent.folder, llm="mine").lines.is_equal


@pytest.mark.parametrize(("first", "again"), [("abc", "cba"), ("ab", "bca"), ("ab", "")])
def test_in_an_environment_of_its_own_an_agent_may_go_another_way(
    isolated: Agent, first: str, again: str
) -> None:
    isolated.start(*adds(first))
    isolated.cut(has_not_ended)
    assert isolated.start(*adds(again)).summary.outcomes == {"answered": 1}
    assert "".join(isolated.made if again else "") == again
    assert verify(isolated.folder, llm="mine").lines.is_equal


@pytest.mark.parametrize("place", [0, 1])
def test_a_call_in_doubt_is_neither_repeated_nor_scored(agent: Agent, place: int) -> None:
    agent.start(*adds("ab"))
    agent.cut(lambda line: has_not_ended(line) and ("result" not in line or line["number"] < place))
    done = agent.start(*adds("ab"))
    assert (done.summary.outcomes, done.summary.complete) == ({"in doubt": 1}, False)
    assert agent.reached == [] and agent.line is None
    again = agent.start(*adds("ab"))
    assert (again.summary.outcomes, again.summary.complete) == ({"in doubt": 1}, False)
    assert agent.reached == []


@pytest.mark.parametrize("tool", ["put", "look"])
def test_a_call_that_may_be_repeated_is_in_no_doubt(agent: Agent, tool: str) -> None:
    agent.start(("add", "a"), (tool, "b"))
    agent.cut(lambda line: has_not_ended(line) and ("result" not in line or line["number"] < 1))
    assert agent.start((tool, "b"), ("add", "a")).summary.outcomes == {"answered": 1}
    assert agent.reached == ["b"] and agent.made == ["b", "a"]
    assert verify(agent.folder, llm="mine").lines.is_equal


@pytest.mark.parametrize(
    ("first", "again", "outcome"),
    [
        (("add", "a"), (), "in doubt"),
        (("add", "a"), (("add", "b"),), "in doubt"),
        (("put", "a"), (("put", "b"),), "answered"),
        (("look", "a"), (), "answered"),
    ],
)
def test_an_agent_that_goes_another_way_is_in_doubt_if_it_has_written(
    agent: Agent, first: tuple[str, str], again: Calls, outcome: str
) -> None:
    agent.start(first)
    agent.cut(has_not_ended)
    assert agent.start(*again).summary.outcomes == {outcome: 1}
    assert agent.reached == [key for _, key in again]
    agent.start(*again)
    assert agent.reached == []  # what it wrote is not written again by each start


def test_scores_leave_out_a_request_in_doubt(agent: Agent) -> None:
    nodes = [{"task": "add", "arguments": [{"name": "key", "value": "x"}, {"name": "value", "value": "1"}]}]
    gold = {"type": "single", "task_steps": [""], "task_nodes": nodes, "task_links": []}
    write_labels(agent.folder, [{"id": name, "user_request": "Do it", **gold} for name in ("one", "two")])
    write_lines(
        agent.folder / "user_requests.json", [{"id": one, "user_request": "Do it"} for one in ("one", "two")]
    )
    agent.start(*adds("ab"))
    agent.cut(lambda line: json.loads(line["key"]) != "one" or (has_not_ended(line) and "result" not in line))
    agent.start(*adds("ab"))
    evaluate(agent.folder, llm="mine")
    strict = metrics_of(agent.folder, "mine", "metrics_agents")["strict"]
    assert (strict["n_labels"], strict["n_scored"]) == (2, 1)


def test_killed_and_asked_to_be_run_again_it_goes_on(
    folder: Path, server: tuple[str, Path], tmp_path: Path
) -> None:
    """What an agent has not called again when it ended for other reasons is not in doubt."""
    url, record = server
    (tmp_path / "agent.py").write_text(f"""{AGENT_KIT}
starts = len(os.listdir("starts"))
open(f"starts/{{starts}}", "w").close()
if starts == 1:
    sys.exit(75)
call("add", key={tmp_path.name!r} + " a", value="1")
if starts == 0:
    open("mark", "w").close()
    time.sleep(60)
""")
    (tmp_path / "starts").mkdir()
    command = shlex.join([sys.executable, "agent.py"])
    words = ["--data_dir", "data", "--llm", "mine", "--agent_command", command]
    words += ["--executor", "mcp", "--server", url, "--allow_writes", "true"]
    process = started("infer", *words, cwd=tmp_path)
    wait_until((tmp_path / "mark").exists, process)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert [shell("infer", *words, cwd=tmp_path).code for _ in range(2)] == [3, 0]
    assert Counter(record.read_text().splitlines())[f"add {tmp_path.name} a"] == 1
    assert len(list((tmp_path / "starts").iterdir())) == 3
