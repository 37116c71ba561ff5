"""No secret in any file, log, message or traceback, wherever it was given and whatever went wrong."""

from __future__ import annotations

import base64
import json
import logging
import signal
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.builders import data_folder
from tests.support.checking import label
from tests.support.running import files_below, inside, process, started, write_lines
from toolassay.cli.main import load, run
from toolassay.errors import ToolassayError
from toolassay.testkit import FakeServer

MARK = "SECRET-"
LOGIN = f"me:{MARK}of-the-login-0123456789"
IN_BASE64 = base64.b64encode(LOGIN.encode()).decode()[:20]
INPUTS = {".env", "body.json", "headers.json"}
BEHAVIOURS = (
    "whole",
    "echo",
    "400",
    "401-echo",
    "400-echo",
    "400-late-echo",
    "500-echo",
    "garbage",
    "reset",
)
slow = pytest.mark.slow
CLIENTS = ("aiohttp", "openai")
FLAGS = {
    "infer": ("--log_first_detail", "true", "--debug"),
    # An echoed schema holds the keys of an answer.
    "generate": ("--number_of_samples", "2", "--seed", "1", "--structured", "false"),
}
NOTE = "a text that an answer may repeat"


def secret(name: str) -> str:
    return f"{MARK}{name}-0123456789"


def plant(place: Path, base: str, given: str) -> list[str]:
    """Write the files that hold secrets; the arguments that name them and hold others."""
    (place / ".env").write_text(f"OPENAI_API_KEY={secret('dotenv')}\n")
    headers = {"X-Tenant": secret("header"), "X-Auth": f"Token {secret('scheme')}"}
    address = f"{base}?tenant={secret('query')}"
    if given == "key":
        more = ["--api_key", secret("flag")]
    elif given == "header":
        more, headers["Authorization"] = [], f"Bearer {secret('authorization')}"
    else:
        more, address = [], address.replace("//", f"//{LOGIN}@")
    (place / "headers.json").write_text(json.dumps(headers))
    (place / "body.json").write_text(json.dumps({"guard": {"tokens": [secret("body")]}, "note": NOTE}))
    files = ["--extra_headers", str(place / "headers.json"), "--extra_body", str(place / "body.json")]
    return ["--api_base", address, *files, *more]


def leaks(place: Path, said: str) -> list[str]:
    """Where a secret stands that should not."""
    texts = {name: text.decode(errors="replace") for name, text in files_below(place).items()}
    texts = {name: text for name, text in texts.items() if name not in INPUTS} | {"the screen": said}
    return [
        f"{name}: {line}"
        for name, text in texts.items()
        for line in text.splitlines()
        if MARK in line or IN_BASE64 in line
    ]


def ended(stage: str, *arguments: str | Path) -> tuple[str, int]:
    """The traceback of a command, if there is one, and its exit code; what it says is on the screen."""
    try:
        return "", run(load(stage), [str(argument) for argument in arguments], f"{stage}.py")
    except ToolassayError:
        return traceback.format_exc(), 1


def logged(capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> str:
    """What is on the screen, and in the logs of this process."""
    ours = (record for record in caplog.records if record.name != "aiohttp.access")  # that is the server's
    return "".join(capsys.readouterr()) + "\n".join(f"{one.name}: {one.getMessage()}" for one in ours)


@pytest.fixture
def fake_server() -> Iterator[FakeServer]:
    """A server below a path that holds a key."""
    server = FakeServer(prefix=f"/{secret('path')}")
    server.start()
    yield server
    server.stop()


@pytest.mark.parametrize(
    ("client", "stage", "given", "stream", "api"),
    [
        ("aiohttp", "infer", "key", False, "chat"),
        ("aiohttp", "infer", "key", True, "messages"),
        ("openai", "infer", "header", True, "chat"),
        pytest.param("openai", "generate", "login", False, "responses", marks=slow),
        pytest.param("aiohttp", "generate", "header", True, "chat", marks=slow),
    ],
)
def test_no_secret_gets_out(
    tmp_path: Path,
    fake_server: FakeServer,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    client: str,
    given: str,
    stage: str,
    api: str,
    *,
    stream: bool,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONASYNCIODEBUG", "1" if given == "login" else "")
    monkeypatch.setenv("OPENAI_API_KEY", secret("environment") if given == "key" else "")
    caplog.set_level(logging.DEBUG)
    arguments = plant(tmp_path, fake_server.base, given)
    arguments += ["--client", client, "--max_tries", "2", "--stream", str(stream), "--api", api]
    said, codes = "", []
    for behaviour in BEHAVIOURS:
        fake_server.behaviour = lambda prompt, _, kind=behaviour: kind  # type: ignore[misc]
        folder = data_folder(tmp_path / behaviour, 2)
        text, code = ended(stage, "--data_dir", folder, *arguments, *FLAGS[stage])
        said += text
        codes.append(code)
    said += logged(capsys, caplog)
    sent = "".join(request.echo for request in fake_server.received)
    for name in ("header", "scheme", "query", "body", "path"):
        assert secret(name) in sent, said
    assert {"key": secret("flag"), "header": secret("authorization"), "login": IN_BASE64}[given] in sent
    assert set(fake_server.kinds) == set(BEHAVIOURS)
    assert not leaks(tmp_path, said)
    assert codes[:2] == [0, 0], said  # whole, echo
    assert {1, 3} <= set(codes), said


@pytest.mark.parametrize("client", CLIENTS)
def test_what_a_run_writes_is_whole(
    tmp_path: Path, fake_server: FakeServer, monkeypatch: pytest.MonkeyPatch, client: str
) -> None:
    """An answer that repeats a key keeps everything else; one that holds a common word keeps that."""
    monkeypatch.chdir(tmp_path)
    folder = data_folder(tmp_path / "data", 1)
    fake_server.behaviour = lambda prompt, number: "echo"
    for key, told in ((secret("flag"), "You sent Bearer ***"), ("EMPTY", "You sent ***")):
        arguments = ("--data_dir", folder, "--api_base", fake_server.base, "--api_key", key)
        done = inside("infer", *arguments, "--client", client, "--prediction_dir", key)
        assert done.code == 0, done.err
        journal = (folder / key / "runs" / "gpt-4" / "journal.jsonl").read_text()
        assert told in journal
        assert "task_nodes" in journal


@pytest.mark.parametrize("client", ["openai", pytest.param("aiohttp", marks=slow)])
def test_no_secret_gets_out_at_ctrl_c(tmp_path: Path, fake_server: FakeServer, client: str) -> None:
    data_folder(tmp_path / "data", 4)
    arguments = plant(tmp_path, fake_server.base, "key")
    arguments += ["--data_dir", "data", "--client", client, "--multiworker", "1", "--debug"]
    fake_server.behaviour = lambda prompt, number: "hold" if number else "whole"
    process = started("inference.py", *arguments, cwd=tmp_path)
    fake_server.wait_for(2)
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    heard = []
    for line in process.stderr:
        heard.append(line)
        if "finishing the" in line:
            break
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert not leaks(tmp_path, out + "".join(heard) + err)


@pytest.mark.parametrize("given", ["flag", pytest.param("environment", marks=slow)])
def test_no_secret_gets_out_of_a_process(tmp_path: Path, fake_server: FakeServer, given: str) -> None:
    """As a person runs it, with everything logged that the environment can ask for."""
    data_folder(tmp_path / "data", 2)
    environment = {"OPENAI_LOG": "debug", "PYTHONASYNCIODEBUG": "1", "PYTHONWARNINGS": "default"}
    arguments = ["--data_dir", "data", "--api_base", fake_server.base, "--client", "openai", "--debug"]
    if given == "flag":
        arguments += ["--api_key", secret("flag")]
    else:
        environment["OPENAI_API_KEY"] = secret("environment")
    said = ""
    for behaviour, code in (("401-echo", 1), ("echo", 0)):
        fake_server.behaviour = lambda prompt, _, kind=behaviour: kind  # type: ignore[misc]
        done = process("inference.py", *arguments, cwd=tmp_path, **environment)
        assert done.code == code, done.err
        assert ("Traceback" in done.err) == bool(code)
        said += done.out + done.err
    assert not leaks(tmp_path, said)


@pytest.mark.parametrize(
    "base",
    [
        "http://me:SECRET-a/b@127.0.0.1:9/v1",
        "me:SECRET-a@127.0.0.1:9/v1",
        "http://me:SECRET-a@127.0.0.1:nine/v1?key=SECRET-b",
        "http://127.0.0.1:SECRET-a/v1",
        r"https://host\SECRET-a/v1",
    ],
)
@pytest.mark.parametrize("client", CLIENTS)
def test_an_address_written_wrong_is_not_repeated_with_its_password(
    tmp_path: Path, base: str, client: str
) -> None:
    data_folder(tmp_path / "data", 1)
    asked = ("--data_dir", tmp_path / "data", "--api_base", base, "--client", client, "--max_tries", "1")
    done = inside("infer", *asked)
    assert done.code == 1, done.err
    assert (":9/" in base and done.error) or "is not a valid address" in done.err
    with pytest.raises(Exception) as caught:
        inside("infer", *asked, "--debug")
    said = done.out + done.err + "".join(traceback.format_exception(caught.value))
    assert not leaks(tmp_path, said)


@pytest.mark.parametrize(("client", "behaviour"), [("aiohttp", "echo"), ("openai", "400-echo")])
def test_no_secret_gets_out_of_any_command(
    tmp_path: Path,
    fake_server: FakeServer,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    client: str,
    behaviour: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    caplog.set_level(logging.DEBUG)
    fake_server.behaviour = lambda prompt, number: behaviour
    server = [*plant(tmp_path, fake_server.base, "key"), "--client", client, "--max_tries", "1"]
    folder = data_folder(tmp_path / "data", 3)
    write_lines(folder / "data.json", [label(number) for number in range(3)])
    commands = [
        ("infer", *server, "--dry_run", "--trials", "2"),
        ("generate", *server, "--number_of_samples", "2", "--seed", "1", "--dry_run"),
        ("infer", *server),
        ("infer", *server, "--debug"),
        ("infer", *server, "--security", "2", "--judge", "other"),
        ("generate", *server, "--seed", "1", "--max_requests", "2"),
        ("check", *server, "--critic", "gpt-4", "--out", "checked"),
        ("evaluate", "--llm", "gpt-4"),
        ("report", "--out", "report"),
    ]
    ends = [ended(stage, "--data_dir", folder, *more) for stage, *more in commands]
    codes = [code for _, code in ends]
    said = "".join(text for text, _ in ends) + logged(capsys, caplog)
    assert secret("path") in "".join(request.echo for request in fake_server.received)
    assert f"http://127.0.0.1:{fake_server.port}/***/v1" in said
    assert not leaks(tmp_path, said)
    assert codes[:2] == [0, 0], said
    assert codes[2] == {"echo": 0, "400-echo": 3}[behaviour], said


@pytest.mark.parametrize("text", ['{"token": "SECRET-x"', '["SECRET-x"]', '{"A": "SECRET-\\nx"}', "SECRET-x"])
def test_a_file_of_headers_that_is_wrong_is_not_repeated(tmp_path: Path, text: str) -> None:
    data_folder(tmp_path / "data", 1)
    (tmp_path / "headers.json").write_text(text)
    asked = ("--data_dir", tmp_path / "data", "--extra_headers", tmp_path / "headers.json")
    done = inside("infer", *asked, "--api_base", "http://127.0.0.1:9/v1", "--max_tries", "1")
    assert done.code in (1, 2)
    assert not leaks(tmp_path, done.out + done.err)
