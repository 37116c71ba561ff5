"""kill -9 and Ctrl-C in the middle of a run, at a moment the server chooses."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest

from tests.support.builders import data_folder
from tests.support.running import lines_of, shell, started
from toolassay.testkit import FakeServer

slow = pytest.mark.slow  # kill -9 of inference: test_kill_nine.py
STAGES = {
    "inference.py": ("predictions/gpt-4.json", ()),
    "data_engine.py": ("data_raw.json", ("--seed", "6", "--number_of_samples", "9")),
}


def assert_interrupted(process: subprocess.Popen[str], output: Path, answers: int) -> None:
    """The run ends as one that was interrupted, with this number of answers."""
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted; the same command continues the run" in err
    assert "Traceback" not in err
    assert len(lines_of(output)) == answers


def interrupt_again(process: subprocess.Popen[str]) -> None:
    """The second Ctrl-C, when the first has been heard."""
    assert process.stderr is not None
    assert any("finishing the" in line for line in process.stderr)
    process.send_signal(signal.SIGINT)


@pytest.mark.parametrize("script", ["inference.py", pytest.param("data_engine.py", marks=slow)])
def test_ctrl_c_lets_what_is_in_flight_finish(tmp_path: Path, fake_server: FakeServer, script: str) -> None:
    name, more = STAGES[script]
    data_folder(tmp_path / "data", 9)
    arguments = ("--data_dir", "data", "--multiworker", "3", "--api_port", str(fake_server.port), *more)
    fake_server.behaviour = lambda prompt, number: "hold" if number >= 3 else "whole"
    process = started(script, *arguments, cwd=tmp_path)
    fake_server.wait_for(6)
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    assert any("finishing the 3 requests in flight" in line for line in process.stderr)
    fake_server.release()
    assert_interrupted(process, tmp_path / "data" / name, 6)
    assert len(fake_server.received) == 6
    assert shell(script, *arguments, cwd=tmp_path).code == 0
    assert len(fake_server.received) == 9


@pytest.mark.parametrize(
    ("script", "how"),
    [
        ("inference.py", signal.SIGTERM),
        pytest.param("inference.py", signal.SIGINT, marks=slow),
        pytest.param("data_engine.py", signal.SIGTERM, marks=slow),
        pytest.param("data_engine.py", signal.SIGINT, marks=slow),
    ],
)
def test_an_interrupted_run_does_not_wait_for_retries(
    tmp_path: Path, fake_server: FakeServer, script: str, how: signal.Signals
) -> None:
    name, more = STAGES[script]
    data_folder(tmp_path / "data", 9)
    arguments = ("--data_dir", "data", "--api_port", str(fake_server.port), *more)
    fake_server.behaviour = lambda prompt, number: "whole" if number < 5 else "429-bare"
    process = started(script, *arguments, cwd=tmp_path)
    fake_server.wait_for(9)
    process.send_signal(how)
    assert_interrupted(process, tmp_path / "data" / name, 5)
    fake_server.forget()
    fake_server.behaviour = lambda prompt, number: "whole"
    assert shell(script, *arguments, cwd=tmp_path).code == 0
    assert len(fake_server.received) == 4


@pytest.mark.parametrize(
    ("script", "how"),
    [
        ("data_engine.py", signal.SIGINT),
        pytest.param("data_engine.py", signal.SIGKILL, marks=slow),
        pytest.param("inference.py", signal.SIGINT, marks=slow),
        pytest.param("inference.py", signal.SIGKILL, marks=slow),
    ],
)
def test_an_interrupted_run_is_completed_by_the_same_command(
    tmp_path: Path, fake_server: FakeServer, script: str, how: signal.Signals
) -> None:
    name, more = STAGES[script]
    for place in ("disturbed", "undisturbed"):
        data_folder(tmp_path / place / "data", 9)
    arguments = ("--data_dir", "data", "--multiworker", "1", "--api_port", str(fake_server.port), *more)
    assert shell(script, *arguments, cwd=tmp_path / "undisturbed").code == 0

    fake_server.forget()
    fake_server.behaviour = lambda prompt, number: "hold" if number == 4 else "whole"
    process = started(script, *arguments, cwd=tmp_path / "disturbed")
    fake_server.wait_for(5)  # one at a time: when the fifth comes, four are in the journal
    process.send_signal(how)
    if how == signal.SIGINT:
        interrupt_again(process)
        assert_interrupted(process, tmp_path / "disturbed/data" / name, 4)
    else:
        process.communicate(timeout=60)
        assert process.returncode == -signal.SIGKILL
    fake_server.release()

    fake_server.forget()
    fake_server.behaviour = lambda prompt, number: "whole"
    done = shell(script, *arguments, cwd=tmp_path / "disturbed")
    assert done.code == 0, done.err
    assert len(fake_server.received) == 5
    files = [(tmp_path / place / "data" / name).read_bytes() for place in ("disturbed", "undisturbed")]
    assert files[0] == files[1]
    found = [line["id"] for line in lines_of(tmp_path / "disturbed/data" / name)]
    assert len(found) == len(set(found)) == 9


def test_a_second_process_on_the_same_run_is_turned_away(tmp_path: Path, fake_server: FakeServer) -> None:
    data_folder(tmp_path / "data", 3)
    arguments = ("--data_dir", "data", "--multiworker", "1", "--api_port", str(fake_server.port))
    fake_server.behaviour = lambda prompt, number: "hold" if number == 1 else "whole"
    process = started("inference.py", *arguments, cwd=tmp_path)
    fake_server.wait_for(2)
    for more in ((), ("--temperature", "1", "--force", "true")):
        done = shell("inference.py", *arguments, *more, cwd=tmp_path)
        assert done.code == 2
        assert "another process is writing this run" in done.error
    fake_server.release()
    process.communicate(timeout=60)
    assert process.returncode == 0
    assert len(lines_of(tmp_path / "data/predictions/gpt-4.json")) == 3


@pytest.mark.parametrize("how", [pytest.param(signal.SIGINT, marks=slow), signal.SIGKILL])
def test_an_answer_waiting_to_be_rewritten_survives_an_interruption(
    tmp_path: Path, fake_server: FakeServer, how: signal.Signals
) -> None:
    data_folder(tmp_path / "data", 1)
    settings = f"--data_dir data --multiworker 1 --api_port {fake_server.port} --reformat true"
    arguments = settings.split()
    fake_server.behaviour = lambda prompt, number: "hold" if number else "prose"
    process = started("inference.py", *arguments, cwd=tmp_path)
    fake_server.wait_for(2)
    process.send_signal(how)
    if how == signal.SIGINT:
        interrupt_again(process)
    process.communicate(timeout=60)
    assert process.returncode == (130 if how == signal.SIGINT else -how)
    fake_server.release()
    fake_server.forget()
    fake_server.behaviour = lambda prompt, number: "whole"
    done = shell("inference.py", *arguments, cwd=tmp_path)
    assert done.code == 0, done.err
    (prompt,) = fake_server.prompts
    assert prompt.startswith("Below is an answer")
