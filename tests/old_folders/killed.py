"""Folders of which a version was killed, and the models that it had asked.

In a checkout of the version that is to be old: `PYTHONPATH=. python tests/old_folders/killed.py OUT`. Each
part of it kills its process in the middle of its work. `killed_0_3_0.zip` was made so at commit 5d8b679b.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.support.answering import Answering, served
from tests.support.bench_bookings import bookings_folder
from tests.support.builders import labelled_folder
from tests.support.checking import label
from tests.support.reviewing import folder_with, say, session_of
from toolassay import Limits, check
from toolassay.gates.rubric import CRITERIA
from toolassay.models import ChatRequest, ChatResponse
from toolassay.stages.generate import generate
from toolassay.stages.settings import GENERATOR, SampleSettings, WritingSettings

DAY = "2031-04-02"
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("find_benches", {"day": DAY}),
    ("book_bench", {"bench_id": "<node-0>.benches[0].id", "hours": 3}),
]
# Manifests of this folder say "off", which the function of the package refuses now: the stage is called.
_OFF: Any = "off"
WRITER = replace(GENERATOR, llm="writer", structured=_OFF)
"""The model that generates the seeds."""


class Counted(Answering):
    """A model that kills its process at one of its requests."""

    def __init__(self, name: str, killed_at: int | None = None) -> None:
        super().__init__(self._answer, name)
        self._killed_at = killed_at

    def _answer(self, request: ChatRequest) -> ChatResponse:
        if len(self.asked) == self._killed_at:
            os.kill(os.getpid(), signal.SIGKILL)
        if self.name == "judge":
            return ChatResponse(json.dumps({name: {"why": "", "yes": True} for name in CRITERIA}))
        if "were carried out" not in str(request.messages[-1]["content"]):
            calls = [
                {"tool": tool, "arguments": [{"name": name, "value": one} for name, one in given.items()]}
                for tool, given in CALLS
            ]
            return ChatResponse(json.dumps({"goal": "book a bench", "calls": calls, "declined": ""}))
        asked = f"Please book me the cheapest workbench on {DAY} for 3 hours, for {request.item}."
        steps = ["Step 1: find_benches", "Step 2: book_bench"]
        return ChatResponse(json.dumps({"user_request": asked, "task_steps": steps, "declined": ""}))


def seeds(path: Path, killed_at: int | None = None) -> tuple[Counted, Counted]:
    """Generate samples from seeds; gives the writer and the critic."""
    if not path.exists():
        bookings_folder(path)
    models = Counted("writer", killed_at), Counted("judge")
    with served(*models):
        generate(
            path,
            dependency_type="schema",
            model=WRITER,
            limits=Limits(multiworker=1),
            samples=SampleSettings(number_of_samples=4, seed=3),
            writing=WritingSettings(critic=["judge"]),
        )
    return models


def checked(path: Path, killed_at: int | None = None) -> Counted:
    """Check six labels with a critic, which is given back."""
    if not path.exists():
        labelled_folder(path, [label(number) for number in range(6)])
    judge = Counted("judge", killed_at)
    with served(judge):
        check(path, out=path / "checked", critic="judge", multiworker=1)
    return judge


def reviewed(path: Path) -> None:
    """Decide on three of six samples; the fourth decision is only half on disk."""
    session = session_of(folder_with(path))
    say(session, "ann", 0, "correct")
    say(session, "ann", 1, "discard")
    say(session, "ann", 2, "fix_instruction", parts={"user_request": "Say 'bonjour 2' in English."})
    (file,) = path.glob("reviews/*.jsonl")
    whole = file.read_bytes().splitlines(keepends=True)[0]
    with file.open("ab") as stream:
        stream.write(whole[: len(whole) // 2])


def main(out: str, part: str = "") -> None:
    """Make the folders, each in a process of its own."""
    place = Path(out)
    if not part:
        for name in ("seeds", "checked", "reviewed"):
            subprocess.run([sys.executable, __file__, out, name], check=False)
    elif part == "seeds":
        seeds(place / part, killed_at=6)
    elif part == "checked":
        checked(place / part, killed_at=4)
    else:
        reviewed(place / part)


if __name__ == "__main__":
    main(*sys.argv[1:])
