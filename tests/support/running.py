"""Run commands as users do, in a process of their own or in this one; read and write JSON Lines."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from toolassay.cli.main import cli, load, run
from toolassay.files.locks import remove_temporaries
from toolassay.models.options import DOTENV
from toolassay.testkit import FakeServer

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Finished:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def error(self) -> str:
        """The one line of an error; fails if there is another, or a traceback."""
        lines = [line for line in self.err.splitlines() if line.startswith("error: ")]
        assert len(lines) == 1, self.err
        assert self.err.rstrip().endswith(lines[0]), self.err
        assert "Traceback" not in self.err + self.out
        assert "bug in toolassay" not in self.err, self.err
        return lines[0]


def environment(**more: str) -> dict[str, str]:
    """The environment of a user who has set nothing."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith(("OPENAI_", "ANTHROPIC_"))}
    return {**kept, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "random", **more}


STAGE_OF = {
    "generate_graph.py": "graph",
    "visualize_graph.py": "visualize",
    "data_engine.py": "generate",
    "format_data.py": "format",
    "inference.py": "infer",
    "evaluate.py": "evaluate",
}


def command_of(name: str) -> list[str]:
    """How a script (`data_engine.py`) or a stage (`generate`) is started."""
    return [sys.executable, *([str(ROOT / name)] if name.endswith(".py") else ["-m", "toolassay", name])]


def shell(name: str, *arguments: str | Path, cwd: Path, **more: str) -> Finished:
    """Run a script or a stage in a folder, in this process, as a user who has set nothing."""
    out, err = io.StringIO(), io.StringIO()
    before = dict(os.environ)
    with contextlib.chdir(cwd), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        os.environ.clear()
        os.environ.update(environment(**more))
        try:
            given = [str(argument) for argument in arguments]
            if name.endswith(".py"):
                code = run(load(STAGE_OF[name]), given, name)
            else:
                code = run(cli, [name, *given], "toolassay")
        finally:
            os.environ.clear()
            os.environ.update(before)
            DOTENV.clear()
            remove_temporaries.cache_clear()  # its relative folders are those of `cwd`
    return Finished(code, out.getvalue(), err.getvalue())


def process(name: str, *arguments: str | Path, cwd: Path, **more: str) -> Finished:
    """Run a script or a stage in a process of its own, where its start or its environment is tested."""
    done = subprocess.run(
        [*command_of(name), *map(str, arguments)],
        cwd=cwd,
        env=environment(**more),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return Finished(done.returncode, done.stdout, done.stderr)


def is_the_same_in_every_process(program: str, *arguments: str | Path) -> bool:
    """Whether a Python program prints the same here and where sets of texts have another order."""
    words = ["-c", *map(str, arguments)]
    seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    there = subprocess.run(
        [sys.executable, "-c", program, *words[1:]],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )
    with contextlib.redirect_stdout(io.StringIO()) as here, patch.object(sys, "argv", words):
        exec(program, {})
    return here.getvalue() == there.stdout != ""


def started(name: str, *arguments: str | Path, cwd: Path, **more: str) -> subprocess.Popen[str]:
    """A script or stage that goes on while the test does, and hears Ctrl-C whoever runs the tests."""
    return subprocess.Popen(
        [*command_of(name), *map(str, arguments)],
        cwd=cwd,
        env=environment(**more),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell that starts a job in the background has it ignore Ctrl-C, and so would all it starts.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def wait_until(
    condition: Callable[[], object], process: subprocess.Popen[Any] | None = None, *, seconds: float = 60
) -> None:
    """Wait until a condition holds, while a process runs if one is given."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert process is None or process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.005)


def inside(stage: str, *arguments: str | Path) -> Finished:
    """Run a stage in this process, through the same door as a script."""
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        code = run(load(stage), [str(argument) for argument in arguments], f"{stage}.py")
    return Finished(code, out.getvalue(), err.getvalue())


def write_lines(path: Path, values: list[Any]) -> None:
    """A JSON Lines file."""
    path.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")


def lines_of(path: Path) -> list[Any]:
    """The values of a JSON Lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


_ADDRESS = ("key", "role", "number", "again", "asked")


def entries_of(path: Path) -> list[dict[str, Any]]:
    """The entries of a journal in order, with the last answer of their planner or generator so far."""
    answers: dict[str, dict[str, Any]] = {}
    found = []
    for line in lines_of(path):
        if "asked" not in line:
            if line.get("role") != "tool":
                found.append({**answers.get(line["key"], {}), **line})
        elif line["role"] != "critic":
            content = {name: value for name, value in line.items() if name not in _ADDRESS}
            if line["role"].startswith("reformat"):  # "reformat", "reformat MODEL"
                content = {"reformatted": content["response"]}
            answers[line["key"]] = {**answers.get(line["key"], {}), **content}
    return found


def each_has(lines: Sequence[str], *words: str) -> bool:
    """Whether there are as many lines as words, and each word is in its line."""
    return len(lines) == len(words) and all(word in line for word, line in zip(words, lines, strict=True))


def files_below(path: Path) -> dict[str, bytes]:
    """Every file below a folder, and what is in it."""
    return {str(p.relative_to(path)): p.read_bytes() for p in sorted(path.rglob("*")) if p.is_file()}


def infer(server: FakeServer, folder: Path, *more: str | Path) -> Finished:
    """Inference in this process, asked of a fake server."""
    return inside("infer", "--data_dir", folder, "--api_base", server.base, *more)


def generate(server: FakeServer, folder: Path, *more: str | Path) -> Finished:
    """Generation likewise."""
    return inside("generate", "--data_dir", folder, "--api_base", server.base, *more)


def manifest(run: Path) -> Any:
    """The manifest of a run."""
    return json.loads((run / "manifest.json").read_text(encoding="utf-8"))


def ids(path: Path) -> list[Any]:
    """The ids of a JSON Lines file, in its order."""
    return [line["id"] for line in lines_of(path)]
