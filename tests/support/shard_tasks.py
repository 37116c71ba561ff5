"""Tasks of an engine in a module of their own: each worker begins with importing that of its task."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from toolassay.errors import UsageError


@dataclass(frozen=True)
class Squares:
    """Squares numbers. The process that gets `deadly` first kills itself; `wrong` is an error."""

    folder: Path
    deadly: int | None = None
    wrong: int | None = None
    always: bool = False

    def start(self) -> Callable[[int], int]:
        return self.work

    def work(self, number: int) -> int:
        if number == self.wrong:
            raise UsageError(f"{number} is wrong", file="numbers.json", line=number, fix="write another")
        if number == self.deadly:
            try:
                (self.folder / "died").touch(exist_ok=self.always)
            except FileExistsError:
                return number * number
            os.kill(os.getpid(), 9)
        return number * number


class CannotStart:
    """A task whose files are malformed."""

    def start(self) -> Callable[[int], int]:
        raise UsageError("is no execution of a plan", file="executions.jsonl", line=1, fix="run it again")
