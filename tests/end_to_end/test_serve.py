"""`toolassay serve` in a process of its own, and the other commands against it."""

from __future__ import annotations

import shlex
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.builders import data_folder
from tests.support.running import inside, lines_of, shell, started

Serve = Callable[..., str]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Starts a server with these arguments; its first line. At the end it is stopped by Ctrl-C."""
    processes: list[subprocess.Popen[str]] = []

    def start(*arguments: str) -> str:
        process = started("serve", "--port", "0", *arguments, cwd=tmp_path)
        processes.append(process)
        assert process.stdout is not None
        return process.stdout.readline()

    yield start
    for process in processes:
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 130
        assert "Traceback" not in out + err
        assert "stopped after" in err
        assert "the same command continues" not in err


def test_inference_and_generation_over_the_network_are_those_of_the_offline_model(
    tmp_path: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    data_folder(tmp_path / "data_multimedia", 9)
    faults = ("reset=first:1", "429=once", "500=once")  # the latter two ask for no wait
    line = serve(*(f"--fault={rule}" for rule in faults), "--retry_after", "0")
    base, _, command = line.partition(" answers; try: python -m toolassay infer ")
    assert base.startswith("http://127.0.0.1:")
    monkeypatch.chdir(tmp_path)
    done = inside("infer", *shlex.split(command))
    assert done.code == 0, done.err
    assert "28 sent" in done.err + done.out  # nine requests, two faults each, and one reset
    folder = tmp_path / "data_multimedia"
    assert inside("infer", "--data_dir", folder, "--llm", "offline").code == 0
    predictions = folder / "predictions"
    assert lines_of(predictions / "offline-served.json") == lines_of(predictions / "offline.json")

    more = ("--graph_desc", folder / "graph_desc.json", "--number_of_samples", "12", "--seed", "3", "--check")
    served = ("--llm", "offline-served", "--api_base", base)
    done = inside("generate", "--data_dir", tmp_path / "served", *more, *served)
    assert done.code == 0, done.err
    assert inside("generate", "--data_dir", tmp_path / "here", *more, "--llm", "offline").code == 0
    assert lines_of(tmp_path / "served" / "data_raw.json") == lines_of(tmp_path / "here" / "data_raw.json")


def test_a_port_that_is_taken(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = shell("serve", "--port", str(taken.getsockname()[1]), cwd=tmp_path)
    assert done.code == 2
    assert "use another --port" in done.error
