"""kill -9 at random moments over one run of an agent on a server that lives on; then it is let finish.

The agent calls its tools in another order each time that it is started, asks its model, and writes a log
that its command names.
"""

from __future__ import annotations

import json
import random
import shlex
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tests.mcp_servers import serving
from tests.support.builders import AGENT_KIT, RECORDER_TOOLS, agents_folder
from tests.support.running import command_of, environment, lines_of
from toolassay.testkit import FakeServer

AGENT = f"""{AGENT_KIT}
import random

def made(tool, key, **more):
    assert not call(tool, key=key, **more).get("isError")

steps = [lambda key=key: made("add", f"{{name}} {{key}}", value="1") for key in "abc"]
steps += [lambda: made("put", name, value="2"), lambda: made("look", name)]
steps += [lambda: ask(f"first {{name}}"), lambda: ask(f"second {{name}}")]
random.shuffle(steps)
for step in steps:
    with open(sys.argv[1], "a") as log:
        print(name, file=log)
    step()
print("done")
"""


@dataclass(frozen=True)
class SurvivedAgents:
    """What came of it.

    `killed` counts the starts that ended by the kill; `added` the writing calls that reached the server;
    `added_twice` those that reached it more than once; `paid_twice` the requests to the model that were sent
    after a start whose journal had their answer; `answered` and `in_doubt` requests of the folder;
    `scored_in_doubt` those of them with a line in the predictions; `incomplete` answered ones whose line or
    server lacks a call.
    """

    killed: int
    added: int
    added_twice: int
    paid_twice: int
    answered: int
    in_doubt: int
    scored_in_doubt: int
    incomplete: int
    exit_code: int


def kill_agents(place: Path, model: FakeServer, *, kills: int, requests: int, seed: int) -> SurvivedAgents:
    """Kill a run of an agent `kills` times, and let it finish.

    A kill comes up to 1.5 s after a start has written its first line, which is in calls of its agents or
    between them; each fourth one up to 2 s after the start. A start that ends before its kill is not counted.
    """
    chance, folder, record = random.Random(seed), place / "data", place / "record"
    names = [f"r{number:03}" for number in range(requests)]
    agents_folder(folder, RECORDER_TOOLS, {name: f"Request {name}" for name in names})
    (place / "agent.py").write_text(AGENT)
    command = shlex.join([sys.executable, "agent.py", "agent.log"])
    words = ["--data_dir", "data", "--llm", "mine", "--agent_command", command, "--api_base", model.base]
    words += ["--executor", "mcp", "--allow_writes", "true", "--multiworker", "2", "--server"]
    journal = folder / "predictions_agents/runs/mine/journal.jsonl"
    killed = paid_twice = turn = 0
    with serving("recorder", str(record)) as url:
        while True:
            turn += 1
            assert turn < 3 * kills, "too few requests: the run ends before it is killed"
            known = _answered_prompts(journal)
            model.forget()
            line = [*command_of("infer"), *words, url]
            process = subprocess.Popen(
                line, cwd=place, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            if killed < kills:
                begun = _size_of(journal)
                while turn % 4 and _size_of(journal) == begun and process.poll() is None:
                    time.sleep(0.005)
                time.sleep(chance.uniform(0, 1.5 if turn % 4 else 2))
                process.kill()
                killed += process.wait() < 0
            code = process.wait()
            paid_twice += sum(prompt in known for prompt in model.prompts)
            if killed == kills and code >= 0:
                break
    calls = Counter(record.read_text().splitlines())
    added = {call: count for call, count in calls.items() if call.startswith("add ")}
    entries = [line for line in lines_of(journal) if "outcome" in line]
    outcomes = {json.loads(line["key"]): line["outcome"] for line in entries}
    in_doubt = {name for name, outcome in outcomes.items() if outcome == "in doubt"}
    lines = {line["id"]: line for line in lines_of(folder / "predictions_agents/mine.json")}
    whole = {
        name
        for name, line in lines.items()
        if sorted(call["tool"] for call in line["calls"]) == ["add", "add", "add", "look", "put"]
        and all(added.get(f"add {name} {key}") == 1 for key in "abc")
    }
    assert set(outcomes) == set(names)
    return SurvivedAgents(
        killed=killed,
        added=sum(added.values()),
        added_twice=sum(count > 1 for count in added.values()),
        paid_twice=paid_twice,
        answered=sum(outcome == "answered" for outcome in outcomes.values()),
        in_doubt=len(in_doubt),
        scored_in_doubt=len(in_doubt & lines.keys()),
        incomplete=len(lines.keys() - whole),
        exit_code=code,
    )


def _size_of(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _answered_prompts(journal: Path) -> set[str]:
    """The prompts whose answers are in the journal; a torn last line is none."""
    whole = journal.read_bytes().rpartition(b"\n")[0].splitlines() if journal.exists() else []
    lines = [json.loads(line) for line in whole]
    bodies = [json.loads(line["extra"]["wire"]["request"]) for line in lines if "extra" in line]
    return {body["messages"][0]["content"] for body in bodies}
