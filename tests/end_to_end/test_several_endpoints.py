"""One run at several endpoints, through the command line: nothing lost, one set of files, no secret."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from builders import data_folder
from running import Capture, Finished, entries_of, files_below, inside, lines_of

from toolassay.testkit import FakeServer

BOTH = pytest.mark.parametrize("client", ["aiohttp", "openai"])
RUN = Path("predictions/runs/gpt-4")


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "AZURE_OPENAI_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def servers() -> Iterator[list[FakeServer]]:
    """Two servers; the second one is below a path that holds a key."""
    pair = [FakeServer(), FakeServer(prefix="/SECRET-path-0123456789")]
    for server in pair:
        server.start()
    yield pair
    for server in pair:
        server.stop()


def infer(capsys: Capture, folder: Path, bases: str | Path, *more: str | Path) -> Finished:
    return inside(capsys, "infer", "--data_dir", folder, "--api_base", bases, *more)


def manifest(folder: Path) -> Any:
    return json.loads((folder / RUN / "manifest.json").read_text(encoding="utf-8"))


def bases(servers: list[FakeServer]) -> str:
    return ",".join(server.base for server in servers)


def answers(folder: Path) -> Counter[str]:
    """How often each item is answered in the journal."""
    entries = entries_of(folder / RUN / "journal.jsonl")
    return Counter(str(entry["key"]) for entry in entries if entry["outcome"] == "answered")


@BOTH
def test_an_endpoint_that_restarts_loses_nothing_and_gets_work_again(
    tmp_path: Path,
    servers: list[FakeServer],
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
    client: str,
) -> None:
    """After the restart, the other endpoint answers nothing until the first one has answered again."""
    monkeypatch.setattr("toolassay.models.endpoint_queue.FIRST_PROBE", 0.05)
    folder = data_folder(tmp_path / "data", 150)
    stays, restarts = servers
    back = threading.Event()

    def while_it_is_gone(prompt: str, number: int) -> str:
        if number == 6:
            restarts.go_away()
        if number == 20:
            restarts.come_back()
            back.set()
        return "hold" if number >= 20 else "whole"

    def release(prompt: str, number: int) -> str:
        if back.is_set():
            stays.release()
        return "whole"

    stays.behaviour, restarts.behaviour = while_it_is_gone, release
    done = infer(capsys, folder, bases(servers), "--client", client, "--max_tries", "1", "--timeout", "60")
    assert done.code == 0, done.err
    assert answers(folder) == {json.dumps(str(1000 + number)): 1 for number in range(150)}
    assert len(lines_of(folder / "predictions/gpt-4.json")) == 150
    assert done.err.count(" is down (") == 1 and done.err.count(" answers again") == 1
    ledger = lines_of(folder / RUN / "ledger.jsonl")
    by_endpoint = Counter((line["endpoint"], line["outcome"]) for line in ledger)
    shown = [f"http://127.0.0.1:{stays.port}/v1", f"http://127.0.0.1:{restarts.port}/***/v1"]
    assert {name for name, _ in by_endpoint} == set(shown)
    assert by_endpoint[shown[1], "answered"] > 1
    (clients,) = manifest(folder)["starts"][0]["clients"]
    facts = {one["endpoint"]: one for one in clients["endpoints"]}
    assert [facts[name]["state"] for name in shown] == ["up", "up"]
    assert facts[shown[1]]["times_down"] == 1
    answered = sum(one["answered"] for one in facts.values())
    assert answered == 150 and f"{shown[1]}: {facts[shown[1]]['answered']} answered" in done.err


def test_the_order_of_the_list_changes_nothing_and_a_run_goes_on_with_other_endpoints(
    tmp_path: Path, servers: list[FakeServer], capsys: Capture
) -> None:
    for name, order in (("one", servers), ("other", servers[::-1])):
        assert infer(capsys, data_folder(tmp_path / name, 20), bases(order)).code == 0
    one, other = manifest(tmp_path / "one"), manifest(tmp_path / "other")
    assert one["settings"] == other["settings"]
    assert one["starts"][0]["endpoint"] == other["starts"][0]["endpoint"]
    listed = one["starts"][0]["endpoint"]["endpoints"]
    assert [set(entry) for entry in listed] == [{"url", "endpoint_sha256"}] * 2
    assert sorted(entry["url"] for entry in listed) == [entry["url"] for entry in listed]
    predictions = [(tmp_path / name / "predictions/gpt-4.json").read_bytes() for name in ("one", "other")]
    assert predictions[0] == predictions[1]

    asked = sum(len(server.received) for server in servers)
    assert infer(capsys, tmp_path / "one", bases(servers[::-1])).code == 0
    assert infer(capsys, tmp_path / "one", servers[0].base).code == 0
    assert sum(len(server.received) for server in servers) == asked
    starts = manifest(tmp_path / "one")["starts"]
    assert starts[1]["endpoint"] == starts[0]["endpoint"]
    assert starts[2]["endpoint"]["url"] == servers[0].base


def test_a_file_with_one_endpoint_writes_what_its_url_writes(
    tmp_path: Path, servers: list[FakeServer], capsys: Capture
) -> None:
    (tmp_path / "list.txt").write_text(f"# one\n{servers[1].base} 2\n")
    facts = []
    for name, given in (("url", servers[1].base), ("file", "list.txt")):
        folder = data_folder(tmp_path / name, 6)
        assert infer(capsys, folder, given, "--multiworker", "1").code == 0
        written = manifest(folder)
        (start,) = written["starts"]
        for key in ("time", "ended", "command"):
            del start[key]
        ledger = [
            {key: value for key, value in line.items() if not key.endswith(("time", "seconds"))}
            for line in lines_of(folder / RUN / "ledger.jsonl")
        ]
        facts.append((written, ledger, (folder / "predictions/gpt-4.json").read_bytes()))
    assert facts[0] == facts[1]
    written, ledger, _ = facts[0]
    shown = f"http://127.0.0.1:{servers[1].port}/***/v1"
    assert written["starts"][0]["endpoint"] == {"url": shown, "client": "aiohttp", "stream": False}
    assert not any("endpoint" in line for line in ledger)
    (client,) = written["starts"][0]["clients"]
    assert client == {"model": "gpt-4", "concurrency": 1, "limits": [[0.0, 1, "start"]]}


@BOTH
def test_no_secret_of_any_endpoint_gets_out(
    tmp_path: Path,
    servers: list[FakeServer],
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    client: str,
) -> None:
    monkeypatch.setenv("KEY_OF_ONE", "SECRET-key-of-one-0123456789")
    monkeypatch.setenv("OPENAI_API_KEY", "SECRET-of-all-0123456789")
    caplog.set_level("DEBUG")
    first, second = servers
    login = second.base.replace("//", "//me:SECRET-login-0123456789@") + "?tenant=SECRET-query-0123456789"
    folder, said = data_folder(tmp_path / "data", 12), ""
    (tmp_path / "list.txt").write_text(f"{first.base} key_env=KEY_OF_ONE\n{login} 2\n")
    behaviours = ("echo", "400-echo", "500-echo", "401-echo", "garbage", "reset")
    for number, behaviour in enumerate(behaviours):
        second.behaviour = lambda prompt, _, kind=behaviour: kind  # type: ignore[misc]
        for given in (f"{first.base},{login}", "list.txt"):
            place = f"{number}-{len(given)}"
            done = infer(
                capsys, folder, given, "--client", client, "--prediction_dir", place, "--max_tries", "2"
            )
            said += done.out + done.err
            assert done.code == 0, done.err
    sent = "".join(request.echo for server in servers for request in server.received)
    secrets = ("key-of-one", "of-all", "query", "path")
    assert all(f"SECRET-{name}" in sent for name in secrets)
    assert any(request.headers["Authorization"].startswith("Basic ") for request in second.received)
    assert not any("Bearer" in request.headers["Authorization"] for request in second.received)
    assert {request.headers["Authorization"] for request in first.received} == {
        "Bearer SECRET-key-of-one-0123456789",
        "Bearer SECRET-of-all-0123456789",
    }
    said += "\n".join(record.getMessage() for record in caplog.records if record.name != "aiohttp.access")
    assert "SECRET" not in said
    texts = {name: text for name, text in files_below(tmp_path / "data").items() if b"SECRET" in text}
    assert not texts
    assert b"list.txt" in (folder / f"0-{len('list.txt')}" / "runs/gpt-4/manifest.json").read_bytes()


def test_what_one_endpoint_refuses_is_left_out_there_only(
    tmp_path: Path, servers: list[FakeServer], capsys: Capture
) -> None:
    first, second = servers
    first.refused_parameters = {
        "presence_penalty": {
            "detail": [{"loc": ["body", "presence_penalty"], "msg": "Extra inputs are not permitted"}]
        }
    }
    folder = data_folder(tmp_path / "data", 30)
    for _ in range(2):
        done = infer(capsys, folder, bases(servers))
        assert done.code == 0, done.err
    assert {entry["outcome"] for entry in entries_of(folder / RUN / "journal.jsonl")} == {"answered"}
    assert all("presence_penalty" in request.body for request in second.received)
    assert sum("presence_penalty" in request.body for request in first.received) == 1
    (fact,) = manifest(folder)["refused_parameters"]
    assert (fact["endpoint"], fact["parameter"]) == (first.base, "presence_penalty")


@pytest.mark.parametrize(("kind", "told"), [("401", "refused the key (HTTP 401)"), ("404", "HTTP 404")])
def test_a_misconfigured_endpoint_is_named_and_the_run_goes_on(
    tmp_path: Path, servers: list[FakeServer], capsys: Capture, kind: str, told: str
) -> None:
    servers[1].behaviour = lambda prompt, number: kind
    folder = data_folder(tmp_path / "data", 10)
    done = infer(capsys, folder, bases(servers))
    assert done.code == 0, done.err
    shown = f"http://127.0.0.1:{servers[1].port}/***/v1"
    (line,) = [line for line in done.err.splitlines() if "is left out" in line]
    assert line.strip().startswith(f"warning: {shown} is left out") and told in line
    servers[0].behaviour = servers[1].behaviour
    done = infer(capsys, data_folder(tmp_path / "all", 10), bases(servers))
    assert done.code == 1 and told in done.error


def test_the_environment_may_list_endpoints_and_every_command_uses_them(
    tmp_path: Path, servers: list[FakeServer], capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".env").write_text(f"OPENAI_BASE_URL={servers[0].base}, {servers[1].base}\n")
    monkeypatch.setenv("OPENAI_BASE_URL", "")
    monkeypatch.delenv("OPENAI_BASE_URL")
    folder = data_folder(tmp_path / "data", 20)
    arguments = ("--data_dir", folder)
    done = inside(capsys, "generate", *arguments, "--number_of_samples", "20", "--seed", "1")
    assert done.code == 0, done.err
    assert min(len(server.received) for server in servers) > 0
    for server in servers:
        server.forget()
    assert inside(capsys, "infer", *arguments, "--multiworker", "4").code == 0
    assert sum(len(server.received) for server in servers) == 20
    done = inside(capsys, "infer", *arguments, "--dry_run", "--prediction_dir", "other")
    assert f"at http://127.0.0.1:{servers[1].port}/***/v1, {servers[0].base}" in done.out or (
        f"at {servers[0].base}, http://127.0.0.1:{servers[1].port}/***/v1" in done.out
    )


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("http://a/v1\nhttp://a/v1\n", "list.txt:2: http://a/v1 is listed twice"),
        ("http://a/v1 key_env=NOT_SET\nhttp://b/v1", "the key of http://a/v1 is not set"),
        ("http://a/v1 SECRET-key", "list.txt:1: not an endpoint"),
        ("http://a/v1 0", "list.txt:1: not an endpoint"),
        ("http://me:SECRET@a/v1 key_env=KEY", "list.txt:1: a login in the URL and key_env="),
        ("localhost:8000", "list.txt:1: no URL"),
        ("# none\n", "a file without endpoints"),
    ],
)
def test_a_list_that_is_wrong_is_refused_in_one_line(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch, text: str, wrong: str
) -> None:
    monkeypatch.setenv("KEY", "x")
    (tmp_path / "list.txt").write_text(text)
    done = infer(capsys, data_folder(tmp_path / "data", 1), "list.txt")
    assert done.code == 2 and wrong in done.error and "SECRET" not in done.error


def test_an_endpoint_is_listed_once(tmp_path: Path, capsys: Capture) -> None:
    folder = data_folder(tmp_path / "data", 1)
    done = infer(capsys, folder, "http://me:SECRET@a/v1,http://b/v1,http://me:SECRET@a/v1/")
    assert done.code == 2 and "--api_base lists http://***@a/v1 twice" in done.error
