"""A workplace and requests of the project's own, drawn from a seed and proved."""

from __future__ import annotations

import contextlib
import secrets
from pathlib import Path

from toolassay.benchmarks.workbench.generate import draw_tables, draw_tasks, sandbox_of, write_folder
from toolassay.benchmarks.workbench.generate.data_folder import check_replaceable
from toolassay.benchmarks.workbench.generate.generated_tasks import GeneratedTask, NoRoom, prove_task
from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.stages.screen import DEFAULT, Screen

_DRAWS = 20


def generate_workbench(data_dir: str | Path, *, seed: int = 0, screen: Screen = DEFAULT) -> None:
    """Write a workplace and 690 requests; the same seed gives the same bytes.

    The ground truth of every request is carried out once; nothing is written unless each does what its text
    says.

    Args:
        data_dir: where to; made if it is not there.
        seed: -1 draws one and shows it.
        screen: who listens.

    Raises:
        UsageError: the folder holds another benchmark, or files that were changed since they were generated.
        NoRoom: the seed makes a workplace that has too few cases of some request; say another one.
    """
    path = Path(data_dir)
    check_replaceable(path)
    if seed < 0:
        seed, sandbox, tasks = _drawn()
        screen.say(f"seed {seed}")
    else:
        sandbox, tasks = _made(seed)
    with screen.progress("proved", len(tasks)) as advance:
        for task in tasks:
            prove_task(sandbox, task)
            advance()
    write_folder(path, sandbox, tasks, seed)
    screen.say(f"{path}: {len(tasks)} requests")


def _made(seed: int) -> tuple[Sandbox, list[GeneratedTask]]:
    company = draw_tables(seed)
    return sandbox_of(company), draw_tasks(company, seed)


def _drawn() -> tuple[int, Sandbox, list[GeneratedTask]]:
    """A workplace of a seed nobody chose: of the few that leave too little room, another is drawn."""
    for _ in range(_DRAWS - 1):
        seed = secrets.randbelow(1_000_000)
        with contextlib.suppress(NoRoom):
            return seed, *_made(seed)
    seed = secrets.randbelow(1_000_000)
    return seed, *_made(seed)
