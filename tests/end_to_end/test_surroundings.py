"""What surrounds a command is not trusted: `.env`, texts of servers and tools, files, signals."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
from pathlib import Path

import pytest

from tests.support.builders import data_folder
from tests.support.running import command_of, environment, shell, started, wait_until
from toolassay.testkit import FakeServer

SECRET = "sk-of-the-user"
KEY = {"OPENAI_API_KEY": SECRET}


def infer(place: Path, *arguments: str, **more: str) -> tuple[int, str]:
    """Ask one request in a folder with a `.env`."""
    if not (place / "data").exists():
        data_folder(place / "data", 1)
    done = shell("infer", "--data_dir", "data", *arguments, cwd=place, **more)
    return done.code, done.err


@pytest.mark.parametrize(
    ("file", "arguments", "more", "code"),
    [
        ("OPENAI_BASE_URL={url}", [], KEY, 2),
        ("OPENAI_BASE_URL={url}", ["--api_key", SECRET], {}, 2),
        ("OPENAI_BASE_URL={url}", ["--extra_headers", "headers.json"], {}, 2),
        ("OPENAI_BASE_URL={url}", ["--client", "openai"], {"OPENAI_CUSTOM_HEADERS": f"X-Id: {SECRET}"}, 2),
        ("AZURE_OPENAI_ENDPOINT={url}", ["--client", "openai"], KEY, 2),
        ("OPENAI_BASE_URL={url}\nOPENAI_API_KEY=own", [], {}, 0),
        ("OPENAI_API_KEY=own", ["--api_base", "{url}"], {}, 0),
        ("OPENAI_BASE_URL=http://127.0.0.1:9", ["--api_base", "{url}"], KEY, 0),
    ],
)
def test_an_address_of_a_dotenv_file_gets_no_key_from_elsewhere(
    tmp_path: Path, fake_server: FakeServer, file: str, arguments: list[str], more: dict[str, str], code: int
) -> None:
    url = fake_server.base
    (tmp_path / ".env").write_text(file.format(url=url))
    (tmp_path / "headers.json").write_text(json.dumps({"X-Api-Key": SECRET}))
    done = infer(tmp_path, *(one.format(url=url) for one in arguments), **more)
    assert done[0] == code, done[1]
    assert SECRET not in done[1]
    if code:
        assert ".env" in done[1] and not fake_server.received
    else:
        assert done[1].count(f"requests go to {url}") == 1


# A title, a cleared screen, C1, an override of direction, a bell, a line that replaces the one before.
EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202eevil\u2066\r\x1b[1A"
# The sequences of rich: colours, and those of a bar.
OURS = re.compile(r"\x1b\[[0-9;]*m|\x1b\[\?25[lh]|\x1b\[2K|\r")


def on_terminal(name: str, *arguments: str | Path, cwd: Path) -> str:
    """What a command writes to a terminal."""
    command = [*command_of(name), *map(str, arguments)]
    more = {**environment(TERM="xterm-256color", COLUMNS="200")}
    pid, descriptor = pty.fork()
    if pid == 0:
        os.chdir(cwd)
        os.execvpe(command[0], command, more)
    written = b""
    try:
        while block := os.read(descriptor, 65536):
            written += block
    except OSError:  # the command has ended
        pass
    os.waitpid(pid, 0)
    os.close(descriptor)
    return written.decode()


def test_texts_from_outside_do_not_control_the_terminal(tmp_path: Path) -> None:
    text_to_text = {"desc": EVIL, "input-type": ["text"], "output-type": ["text"]}
    tools = {"nodes": [{"id": f"tool{number} {EVIL}", **text_to_text} for number in range(4)]}
    (tmp_path / "data").mkdir()
    (tmp_path / "data/tool_desc.json").write_text(json.dumps(tools))
    texts = [
        on_terminal("graph", "--data_dir", "data", cwd=tmp_path),
        on_terminal("sample", "--data_dir", "data", "--seed", "1", cwd=tmp_path),
        on_terminal("evaluate", "--data_dir", f"no{EVIL}", cwd=tmp_path),
        on_terminal("evaluate", "--data_dir", f"no{EVIL}", "--debug", cwd=tmp_path),
    ]
    assert " ?]0;owned??[2J?31m?evil" in texts[1] and "no?]0;owned" in texts[2]
    for text in texts:
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\u2066]", OURS.sub("", text))


@pytest.mark.parametrize("name", ["journal.jsonl", "ledger.jsonl"])
def test_a_link_in_the_place_of_a_journal_is_not_written_through(tmp_path: Path, name: str) -> None:
    outside, run = tmp_path / "outside", tmp_path / "data/predictions/runs/offline"
    data_folder(tmp_path / "data", 1)
    run.mkdir(parents=True)
    outside.touch()
    (run / name).symlink_to(outside)
    code, err = infer(tmp_path, "--llm", "offline")
    assert code == 1 and "is a link" in err and not outside.read_bytes()


@pytest.mark.parametrize("path", ["pipe", "/dev/zero"])
def test_a_pipe_or_a_device_is_no_input(tmp_path: Path, path: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    done = shell("graph", "--data_dir", "data", "--tool_desc", path, cwd=tmp_path)
    assert done.code == 2 and "write a file" in done.error


@pytest.mark.parametrize("engine", [(), pytest.param(("--engine", "local:2"), marks=pytest.mark.slow)])
def test_sigterm_ends_a_command_and_leaves_nothing(tmp_path: Path, engine: tuple[str, ...]) -> None:
    data_folder(tmp_path / "data", 1)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    more = ("--number_of_samples", "20000", "--seed", "1")
    arguments = ("--data_dir", "data", "--llm", "offline", *more, *engine)
    process = started("generate", *arguments, cwd=tmp_path, TMPDIR=str(temporary))
    wait_until(lambda: [path for path in tmp_path.rglob("journal.jsonl") if path.stat().st_size], process)
    for _ in range(2):  # as `timeout` does
        process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    assert process.returncode in (130, 143) and "Traceback" not in err
    assert not list(temporary.iterdir()) and not list(tmp_path.rglob("*.unfinished"))


def test_a_dotenv_file_sets_no_proxy(tmp_path: Path, fake_server: FakeServer) -> None:
    (tmp_path / ".env").write_text(f"HTTP_PROXY={fake_server.base}\nALL_PROXY={fake_server.base}\n")
    code, _ = infer(tmp_path, "--client", "openai", "--api_base", "http://127.0.0.2:9/v1", "--max_tries", "1")
    assert code == 1 and not fake_server.received
