"""kill -9 at random moments, again and again, over one run of inference; then it is let finish."""

from __future__ import annotations

import json
import random
import re
import subprocess
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tests.support.builders import data_folder
from tests.support.running import command_of, environment, lines_of, shell
from toolassay.testkit import FakeServer

_NUMBER = re.compile(r"^Request (\d+):", re.MULTILINE)
WORKERS = "8"


@dataclass(frozen=True)
class Survived:
    """What came of it.

    `killed` counts the starts that ended by the kill, `sent` all requests of the disturbed run,
    `sent_again` those whose answer was in the journal before the start that sent them,
    `most_doubled` how often the request sent most often was sent.
    """

    killed: int
    sent: int
    sent_again: int
    most_doubled: int
    same_bytes: bool
    each_once: bool
    last_start_found: int


def kill_often(place: Path, server: FakeServer, *, kills: int, requests: int, seed: int) -> Survived:
    """Kill a run `kills` times, finish it, and compare it with an undisturbed one.

    Three kills of four come within 60 ms of one of the first 24 requests of a start. The fourth (and each one
    once everything is answered) comes in the first 700 ms of the process: while it starts, reads the journal,
    or writes the predictions. A start that ends before its kill comes is not counted.
    """
    chance = random.Random(seed)
    for name in ("disturbed", "undisturbed"):
        data_folder(place / name / "data", requests)
    arguments = ["--data_dir", "data", "--multiworker", WORKERS, "--api_base", server.base]
    done = shell("inference.py", *arguments, cwd=place / "undisturbed")
    assert done.code == 0, done.err
    folder = place / "disturbed"
    sent: Counter[str] = Counter()
    killed = again = 0
    turn = 0
    while killed < kills:
        turn += 1
        assert turn < 3 * kills, "too few requests: the run ends before it is killed"
        before = _journalled(folder)
        server.forget()
        process = subprocess.Popen(
            [*command_of("inference.py"), *arguments],
            cwd=folder,
            env=environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        if turn % 4 == 3 or len(before) == requests:
            time.sleep(chance.uniform(0, 0.7))
        else:
            awaited = chance.randint(1, 24)
            while len(server.received) < awaited and process.poll() is None:
                time.sleep(0.005)
            time.sleep(chance.uniform(0, 0.06))
        process.kill()
        killed += process.wait() != 0
        numbers = _numbers(server)
        sent.update(numbers)
        again += sum(number in before for number in numbers)
    before = _journalled(folder)
    server.forget()
    done = shell("inference.py", *arguments, cwd=folder)
    assert done.code == 0, done.err
    numbers = _numbers(server)
    sent.update(numbers)
    again += sum(number in before for number in numbers)
    outputs = [place / name / "data/predictions/gpt-4.json" for name in ("disturbed", "undisturbed")]
    ids = [line["id"] for line in lines_of(outputs[0])]
    return Survived(
        killed=killed,
        sent=sum(sent.values()),
        sent_again=again,
        most_doubled=max(sent.values()),
        same_bytes=outputs[0].read_bytes() == outputs[1].read_bytes(),
        each_once=ids == [str(1000 + number) for number in range(requests)],
        last_start_found=len(before),
    )


def _numbers(server: FakeServer) -> list[str]:
    return [match[1] for prompt in list(server.prompts) if (match := _NUMBER.search(prompt))]


def _journalled(folder: Path) -> set[str]:
    """The requests whose answers are in the journal; a torn last line is none."""
    path = folder / "data/predictions/runs/gpt-4/journal.jsonl"
    if not path.exists():
        return set()
    whole = path.read_bytes().rpartition(b"\n")[0].split(b"\n")
    entries = [json.loads(line) for line in whole if line]
    return {str(int(json.loads(entry["key"])) - 1000) for entry in entries if "response" in entry}
