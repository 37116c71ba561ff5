"""Plans on real servers: what runs, what is refused, and that nothing outside the copy changes."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.mcp_servers import command_of, is_running, serving
from tests.mcp_servers.forgetful import forgetful
from tests.support.plan_runs import WRITES, executed, library_of, opened, planned, run_with
from tests.support.running import files_below
from toolassay.errors import UsageError
from toolassay.executors import McpExecutor
from toolassay.executors.executor import CallLimits, CallResult, Refusal
from toolassay.executors.mcp import _ListedTool, _result
from toolassay.executors.plan_run import RunRules
from toolassay.plans.execution_record import Execution

pytestmark = pytest.mark.usefixtures("temporary_files")


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A folder with two notes."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "oak.txt").write_text("cut the oak boards")
    (folder / "list.txt").write_text("oak.txt")
    return folder


@pytest.fixture
def pids(tmp_path: Path) -> Path:
    """The file to which servers append their numbers."""
    return tmp_path / "pids"


def notes_server(pids: Path, folder: str = "{workspace}") -> str:
    return f"PIDS={pids} {command_of('notes', 'folder')} {folder}"


def assert_all_ended(pids: Path, at_least: int = 1) -> None:
    numbers = [int(line) for line in pids.read_text().split() if line.isdigit()]
    assert len(numbers) >= at_least
    assert not [number for number in numbers if is_running(number)]


def results(execution: Execution) -> list[Any]:
    return [call.result if call.error is None else call.error for call in execution.calls]


async def test_plans_with_references_run_each_on_a_fresh_copy(
    tmp_path: Path, notes: Path, pids: Path
) -> None:
    before = files_below(notes)
    chain = planned(
        "chain",
        ("list_notes", {}),
        ("read_note", {"name": "<node-0>.result[1]"}),
        ("append_note", {"name": "<node-0>.result[0]", "text": " and: <node-1>"}),
        ("size", {"name": "<node-0>.result[0]"}),
    )
    paths = planned(
        "paths",
        ("write_note", {"name": "/workspace/new.txt", "text": "kept in /workspace"}),
        ("read_note", {"name": "<node-0>.result"}),
        ("where", {}),
        ("write_note", {"name": "./relative.txt", "text": "r"}),
    )
    refused = planned("refused", ("delete_note", {"name": "oak.txt"}), ("read_note", {"name": "oak.txt"}))
    done = await executed(
        McpExecutor(),
        tmp_path,
        *(chain, paths, refused),
        server=notes_server(pids),
        workspace=str(notes),
    )

    assert files_below(notes) == before
    assert_all_ended(pids, at_least=4)  # one lists the tools, one for each plan

    ran = done["chain"]
    assert (ran.outcome, ran.reason) == ("ran", "")
    assert results(ran) == [
        {"result": ["list.txt", "oak.txt"]},
        {"result": "cut the oak boards"},
        {"result": "appended 24 characters"},
        {"name": "list.txt", "words": 6},
    ]
    assert ran.calls[2].arguments == {"name": "list.txt", "text": " and: cut the oak boards"}
    # Text is what the model reads, value is what references pick from.
    assert (ran.calls[1].text, ran.calls[0].text) == ("cut the oak boards", "list.txt\noak.txt")
    assert ran.answer == ({"result": "appended 24 characters"}, {"name": "list.txt", "words": 6})
    assert ran.state_before is not None and ran.state_before.places == 2
    assert ran.state_after is not None and ran.state_after.digest != ran.state_before.digest
    assert ran.changes is not None and list(ran.changes) == ["list.txt"]

    ran = done["paths"]
    assert results(ran)[:3] == [
        {"result": "/workspace/new.txt"},
        {"result": "kept in /workspace"},
        {"result": "in /workspace"},
    ]
    assert ran.changes is not None and set(ran.changes) == {"new.txt", "relative.txt"}
    assert ran.state_before == done["chain"].state_before

    failed = done["refused"]
    assert failed.outcome == "failed"
    assert [call.error for call in failed.calls] == [None, "Error executing tool read_note"]
    assert failed.changes is not None and failed.changes["oak.txt"]["after"] is None


async def test_without_consent_nothing_is_called(tmp_path: Path, notes: Path, pids: Path) -> None:
    reads = planned("reads", ("read_note", {"name": "oak.txt"}), ("size", {"name": "oak.txt"}))
    repeats = planned("repeats", ("list_notes", {}), ("write_note", {"name": "a", "text": "b"}))
    unmarked = planned("unmarked", ("append_note", {"name": "oak.txt", "text": "!"}))
    missing = planned("missing", ("no_such_tool", {}))
    done = await executed(
        McpExecutor(),
        tmp_path,
        *(reads, repeats, unmarked, missing),
        rules=RunRules(),
        server=notes_server(pids, str(notes)),  # not a copy: a write would be seen
    )
    assert {name: one.outcome for name, one in done.items()} == {
        "reads": "ran",
        "repeats": "not_allowed",
        "unmarked": "not_allowed",
        "missing": "failed",
    }
    assert not done["repeats"].calls
    assert done["repeats"].reason == "'write_note' is not marked read-only"
    assert done["missing"].reason == "the server has no tool 'no_such_tool'"
    assert done["reads"].state_before is done["reads"].state_after is None
    assert files_below(notes) == {"oak.txt": b"cut the oak boards", "list.txt": b"oak.txt"}
    assert_all_ended(pids)


async def test_a_worker_uses_one_server_and_restores_its_copy(tmp_path: Path) -> None:
    """The server keeps its database open, so the rows of one plan must be gone for the next."""
    source = tmp_path / "source"
    source.mkdir()
    with closing(sqlite3.connect(source / "notes.db")) as base:
        base.execute("CREATE TABLE notes (name TEXT, text TEXT)")
        base.execute("INSERT INTO notes VALUES ('oak', 'cut')")
        base.commit()
    before, pids = files_below(source), tmp_path / "pids"
    server = f"PIDS={pids} {command_of('notes', 'database')} {{workspace}}/notes.db"
    items = [
        planned(number, ("append_note", {"name": f"n{number}", "text": "t"}), ("list_notes", {}))
        for number in range(4)
    ]
    items.append(planned("wrong", ("delete_note", {"name": "elm"})))
    done = await executed(
        McpExecutor(), tmp_path, *items, workers=1, server=server, workspace=str(source), fresh="worker"
    )
    for number in range(4):
        assert results(done[number]) == [
            {"result": "there are 2 notes"},
            {"result": [f"n{number}", "oak"]},
        ]
        assert done[number].changes == {
            f'notes.db/notes/{{"name": "n{number}", "text": "t"}}': {"before": None, "after": 1}
        }
    # The server answers with an ordinary text, wrapped in an object as the SDK does.
    assert (done["wrong"].outcome, done["wrong"].reason) == (
        "failed",
        "call 0 (delete_note): Error: there is no note elm",
    )
    assert len(pids.read_text().split()) == 1
    assert files_below(source) == before
    assert_all_ended(pids)


async def test_a_restarted_server_loses_its_session_and_no_plan(tmp_path: Path) -> None:
    """An unknown session is no refusal of the tool, and the call may be made again."""
    items = [
        planned(number, ("buy", {"item": f"saw {number}", "address": {"town": "Ulm"}})) for number in range(2)
    ]
    with serving("shop", "http") as address:
        async with opened(McpExecutor(), tmp_path, library_of(items), server=address) as ready:
            first = await run_with(ready, tmp_path / "journal.jsonl", items[:1])
            environment = ready._idle[0]  # type: ignore[attr-defined]
            session = environment._sessions[""]
            await session.do(_forget_session)
            second = await run_with(ready, tmp_path / "journal.jsonl", items)
    assert first[0].outcome == second[1].outcome == "ran"
    lines = [json.loads(line) for line in (tmp_path / "journal.jsonl").read_text().splitlines()]
    contents = [{*line} & {"call", "result", "outcome"} for line in lines if line["key"].startswith("1 ")]
    assert contents == [{"call"}, {"result"}, {"outcome"}]


async def _forget_session(connection: Any) -> None:
    """End the session on the server, as a restart does, and leave the client as it is."""
    import httpx2

    link = connection._link
    async with httpx2.AsyncClient() as client:
        session = {"mcp-session-id": _session_id(connection), "accept": "application/json"}
        assert (await client.delete(link.config.url, headers=session)).status_code < 300


def _session_id(connection: Any) -> str:
    import gc

    from mcp.client.streamable_http import StreamableHTTPTransport

    transports = [one for one in gc.get_objects() if isinstance(one, StreamableHTTPTransport)]
    ids = [one.session_id for one in transports if one.url == connection._link.config.url and one.session_id]
    return str(ids[-1])


@pytest.mark.parametrize("form", ["null", "own", "json", "text", ""])
@pytest.mark.parametrize("status", [400, 404, 410, 503])
async def test_a_lost_session_is_another_one_and_no_call_is_made_twice(
    tmp_path: Path, status: int, form: str
) -> None:
    items = [planned(name, *[("add", {"card": f"{name}{number}"}) for number in range(4)]) for name in "ab"]
    with forgetful(status, form, calls=3) as server:
        done = await executed(McpExecutor(), tmp_path, *items, workers=1, server=server.url)
    assert [done[item.id].outcome for item in items] == ["ran", "ran"]
    assert server.added == [{"card": f"{name}{number}"} for name in "ab" for number in range(4)]
    assert len(server.sessions) == 3


async def test_a_refusal_with_status_400_fails_the_plan_after_another_session(tmp_path: Path) -> None:
    items = [
        planned("a", ("add", {"card": 1}), ("refuse", {"card": 2}), ("add", {"card": 3})),
        planned("b", ("refuse", {})),
    ]
    with forgetful(400, "null") as server:
        done = await executed(McpExecutor(), tmp_path, *items, workers=1, server=server.url)
    assert [done[item.id].outcome for item in items] == ["failed", "failed"]
    assert "no such card" in done["a"].reason
    assert server.added == [{"card": 1}]


@pytest.mark.parametrize("form", ["null", "json", ""])
async def test_a_server_that_knows_no_session_is_no_fault_of_a_plan(tmp_path: Path, form: str) -> None:
    with forgetful(400, form, calls=0) as server:
        done = await executed(
            McpExecutor(), tmp_path, planned("a", ("add", {})), workers=1, server=server.url
        )
    assert done["a"].outcome == "provider_error"
    assert server.added == []


async def test_the_only_item_of_a_list_is_its_first(tmp_path: Path) -> None:
    plan = planned("a", ("add", {"card": 1}), ("add", {"card": "<node-0>[0]"}))
    with forgetful(404, "null") as server:
        done = await executed(McpExecutor(), tmp_path, plan, workers=1, server=server.url)
    assert done["a"].outcome == "ran"
    assert server.added == [{"card": 1}, {"card": "done"}]


PNG, OTHER = "iVBORw0KGgo=", "R0lGODlhAQAB"


@pytest.mark.parametrize(
    ("blocks", "value"),
    [
        (
            [{"type": "text", "text": '{"id": 41}'}, {"type": "text", "text": '{"id": 57}'}],
            [{"id": 41}, {"id": 57}],
        ),
        ([{"type": "text", "text": "41"}, {"type": "text", "text": "57"}], [41, 57]),
        ([{"type": "text", "text": "oak"}, {"type": "text", "text": "57"}], ["oak", "57"]),
        ([{"type": "text", "text": '{"id": 41}'}], {"id": 41}),
        ([{"type": "text", "text": "41"}], "41"),
        ([], []),
        (
            [{"type": "text", "text": "a picture:"}, {"type": "resource_link", "uri": "a://b"}],
            "a picture:\na://b",
        ),
        ([{"type": "resource", "resource": {"uri": "a://b", "text": '{"id": 7}'}}], {"id": 7}),
        ([{"type": "resource_link", "uri": f"a://{n}", "name": "n"} for n in "bc"], ["a://b", "a://c"]),
    ],
)
def test_a_block_for_each_item_is_a_list(blocks: list[Any], value: Any) -> None:
    found = _result({"content": blocks}, _ListedTool("t"), CallLimits(), ())
    assert found.value == value
    assert all(block.get("text", "") in found.text for block in blocks)


@pytest.mark.parametrize(
    ("block", "other", "shown"),
    [
        ({"type": "resource_link", "uri": "a://b", "name": "n"}, {"uri": "a://c"}, "a://b"),
        ({"type": "image", "mimeType": "image/png", "data": PNG}, {"data": OTHER}, "image/png"),
        ({"type": "audio", "mimeType": "audio/wav", "data": PNG}, {"data": OTHER}, "audio/wav"),
        (
            {"type": "resource", "resource": {"uri": "a://b", "mimeType": "application/pdf", "blob": PNG}},
            {"resource": {"uri": "a://b", "mimeType": "application/pdf", "blob": OTHER}},
            "application/pdf",
        ),
        ({"type": "resource", "resource": {"uri": "a://b"}}, {"resource": {"uri": "a://c"}}, "a://b"),
        ({"type": "resource", "resource": {"text": "b"}}, {"resource": {"text": "c"}}, "b"),
    ],
)
def test_what_differs_in_a_block_differs_in_the_result(
    block: dict[str, Any], other: dict[str, Any], shown: str
) -> None:
    def seen(one: dict[str, Any]) -> CallResult:
        return _result({"content": [one]}, _ListedTool("t"), CallLimits(), ())

    assert seen(block) == seen(json.loads(json.dumps(block)))
    assert seen(block) != seen({**block, **other})
    assert shown in seen(block).text
    assert PNG not in seen(block).text
    # The same bytes may be written with line ends.
    if "data" in block:
        assert seen(block) == seen({**block, "data": f"{PNG[:4]}\n{PNG[4:]}"})


def test_an_error_in_several_blocks_is_a_refusal() -> None:
    blocks = [{"type": "text", "text": text} for text in ("Error: no such note", "Ask for a list.")]
    with pytest.raises(Refusal, match="no such note"):
        _result({"content": blocks}, _ListedTool("t"), CallLimits(), ())
    structured = {"content": blocks, "structuredContent": {"lines": 2}}
    assert _result(structured, _ListedTool("t"), CallLimits(), ()).value == {"lines": 2}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"open": [{"id": 7}]}', {"open": [{"id": 7}]}),
        ("[1, 2]", [1, 2]),
        ("It is {done}.", "It is {done}."),
        ("7", "7"),
    ],
)
def test_a_json_text_in_the_wrapper_of_a_result_is_read(text: str, value: Any) -> None:
    answer = {"content": [{"type": "text", "text": text}], "structuredContent": {"result": text}}
    schema = {"type": "object", "properties": {"result": {"type": "string"}}, "required": ["result"]}
    result = _result(answer, _ListedTool("t", output_schema=schema), CallLimits(), ())
    assert result.value == {"result": value} and result.text == text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "needs a server"),
        ({"server": "python x.py {workspace}"}, "stands for a copy of a folder"),
        ({"server": "python x.py", "workspace": "/no/such/folder"}, "is not a folder"),
        ({"server": command_of("hostile_calls", "no_list")}, "Method not found"),
        ({"mcp_config": "/no/such/file.json"}, "file.json"),
    ],
)
async def test_a_server_that_cannot_be_used_is_a_usage_error(
    tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        async with opened(McpExecutor(), tmp_path, library_of([]), **options):
            raise AssertionError("opened")


async def test_a_cancelled_run_ends_servers_and_deletes_copies(
    tmp_path: Path, notes: Path, temporary_files: Path
) -> None:
    log = tmp_path / "log"
    server = command_of("hostile_calls", "hang", str(log))
    items = [planned(number, ("bad", {})) for number in range(4)]
    task = asyncio.ensure_future(
        executed(McpExecutor(), tmp_path, *items, rules=WRITES, server=server, workspace=str(notes))
    )
    async with asyncio.timeout(30):
        while not log.exists() or log.read_text().split().count("bad") < 2:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        async with asyncio.timeout(10):
            await task
    assert_all_ended(log, at_least=3)
    assert not files_below(temporary_files)


@pytest.mark.parametrize(
    ("tool", "outcome", "reason"),
    [
        ("end_in_a_write", "in_doubt", "whether call 1 (end_in_a_write) took effect is unknown"),
        ("end_in_a_read", "provider_error", "refuses the connection"),
    ],
)
async def test_a_server_that_ends_in_a_call_is_no_refusal(
    tmp_path: Path, tool: str, outcome: str, reason: str
) -> None:
    """A later plan, of which no call was made, is not in doubt."""
    items = [
        planned("ends", ("look", {"key": "a"}), (tool, {"key": "b"})),
        planned("later", ("add", {"key": "c", "value": "d"})),
    ]
    record = tmp_path / "record"
    with serving("recorder", str(record)) as address:
        done = await executed(McpExecutor(), tmp_path, *items, workers=1, server=address)
    assert done["ends"].outcome == outcome, done["ends"].reason
    assert reason in done["ends"].reason
    assert [call.result for call in done["ends"].calls] == [{"result": "seen a"}]
    assert done["later"].outcome == "provider_error"
    assert record.read_text().split() == ["look", "a", "end", "b"]


async def test_results_have_no_keys_of_the_server(tmp_path: Path, notes: Path, pids: Path) -> None:
    (notes / "oak.txt").write_text("key-0815-x, Ulm, value-77-of-oak")
    server = f"SHOP_TOKEN=key-0815-x SHOP_PLACE=value-77-of-oak {notes_server(pids)}"
    item = planned("read", ("read_note", {"name": "oak.txt"}))
    done = await executed(McpExecutor(), tmp_path, item, server=server, workspace=str(notes))
    assert results(done["read"]) == [{"result": "***, Ulm, value-77-of-oak"}]


async def test_what_a_server_makes_when_it_starts_is_there_for_each_plan(tmp_path: Path) -> None:
    """A server that keeps a database open could not write to it after its file was removed."""
    folder = tmp_path / "empty"
    folder.mkdir()
    plans = [
        planned(name, ("add_customer", {"name": name, "city": "Porto"}), ("list_customers", {}))
        for name in ("Ann", "Bo")
    ]
    done = await executed(
        McpExecutor(),
        tmp_path,
        *plans,
        server=f"{command_of('booking_desk')} {{workspace}}/desk.db",
        workspace=str(folder),
        fresh="worker",
        workers=1,
    )
    assert [done[name].outcome for name in ("Ann", "Bo")] == ["ran", "ran"]
    names = [[one["name"] for one in done[name].calls[1].result["result"]] for name in ("Ann", "Bo")]
    assert "Bo" in names[1] and "Ann" not in names[1], "the first content is there again"
    assert not list(folder.iterdir())
