"""What servers and proxies between really send, and when an attempt ends: over both transports."""

from __future__ import annotations

import asyncio
import gzip
import itertools
import zlib
from contextlib import closing
from typing import Any

import pytest

from tests.support.raw_server import (
    STREAM_HEAD,
    Answer,
    RawServer,
    always,
    black_hole,
    chunk,
    completion,
    delta,
    event,
    whole,
)
from toolassay.episodes.model_relay import WireRequest, relay_options
from toolassay.models import ChatRequest, ChatResponse, ModelError, ModelOptions
from toolassay.models.client import Client
from toolassay.models.options import ClientName


async def ask(
    base: str, client: ClientName, count: int = 1, own: float | None = None, **settings: Any
) -> list[ChatResponse]:
    request = ChatRequest([{"role": "user", "content": "hello"}], timeout=own)
    model = Client("m", ModelOptions(api_base=base, client=client, **settings))
    try:
        return [await model.complete(request) for _ in range(count)]
    finally:
        await model.close()


async def failure(base: str, client: ClientName, **settings: Any) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await ask(base, client, **settings)
    return caught.value


@pytest.mark.parametrize("status", ["302 Found", "308 Other"])
async def test_a_server_that_moved_is_named_and_the_key_goes_nowhere_else(
    client: ClientName, status: str
) -> None:
    async with RawServer(always(whole(completion()))) as other:
        moved = whole(b"", status, more=f"Location: http://localhost:{other.port}/v1/chat/completions\r\n")
        async with RawServer(always(moved)) as server:
            headers = {"X-Secret": "PLANTED"}
            error = await failure(server.base, client, api_key="PLANTED", extra_headers=headers)
        assert not other.heads
    assert error.stops_run
    assert f"has moved to http://localhost:{other.port}/v1/chat/completions" in str(error)


async def test_a_server_that_never_takes_up_the_call_is_unreachable(
    client: ClientName, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolassay.models.transports.CONNECT", 0.3)
    hole, callers = black_hole()
    with closing(hole):
        error = await failure(f"http://127.0.0.1:{hole.getsockname()[1]}/v1", client)
        for caller in callers:
            caller.close()
    assert error.stops_run
    assert "cannot reach http://127.0.0.1" in str(error)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b'\xef\xbb\xbf{"choices": [{"message": {"content": "gr\xc3\xbc\xc3\x9fe"}}]}', "application/json"),
        (
            b'{"choices": [{"message": {"content": "gr\xfc\xdfe"}}]}',
            "application/json; charset=iso-8859-1",
        ),
        (b'{"choices": [{"message": {"content": "gr\xc3\xbc\xc3\x9fe"}}]}', "text/plain; charset=nonsense"),
    ],
)
async def test_bodies_say_what_they_say_whatever_their_head_says(
    client: ClientName, body: bytes, kind: str
) -> None:
    async with RawServer(always(whole(body, kind=kind))) as server:
        (answer,) = await ask(server.base, client)
    assert answer.text == "grüße"


@pytest.mark.parametrize("cut", [10, 40])
async def test_a_packed_body_that_is_cut_is_asked_for_again(client: ClientName, cut: int) -> None:
    packed = gzip.compress(str(completion("yes " * 100)).encode())
    half = whole(packed[:cut], more="Content-Encoding: gzip\r\n")

    async def answer(writer: asyncio.StreamWriter, number: int) -> None:
        writer.write(half if number == 0 else whole(completion()))

    async with RawServer(answer) as server:
        (read,) = await ask(server.base, client)
    assert (read.text, read.attempts) == ("yes", 2)


@pytest.mark.parametrize(
    ("error", "outcome", "stops", "kind"),
    [
        ("the model is loading", "provider error", False, "error in the answer"),
        ({"message": "the model is loading", "code": 429}, "provider error", False, "HTTP 429"),
        ({"message": "the model is loading", "code": 401}, "provider error", True, "HTTP 401"),
        (
            {"message": "the model is loading; maximum context length"},
            "context overflow",
            False,
            "error in the answer",
        ),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
async def test_an_error_under_status_200_is_reported_in_its_words(
    client: ClientName, error: Any, outcome: str, stops: bool, kind: str, stream: bool
) -> None:
    data = (
        whole({"error": error}) if not stream else STREAM_HEAD + chunk(event({"error": error})) + chunk(b"")
    )
    async with RawServer(always(data)) as server:
        failed = await failure(server.base, client, stream=stream, max_tries=2)
    assert (failed.outcome, failed.stops_run, failed.kind) == (outcome, stops, kind)
    assert "the model is loading" in str(failed)


def streamed(*parts: bytes) -> Answer:
    """A stream that comes in these parts, each on its own way."""

    async def answer(writer: asyncio.StreamWriter, number: int) -> None:
        writer.write(STREAM_HEAD)
        for part in parts:
            writer.write(chunk(part))
            await writer.drain()
            await asyncio.sleep(0.001)
        writer.write(chunk(b""))

    return answer


async def stream_of(client: ClientName, *parts: bytes) -> ChatResponse:
    async with RawServer(streamed(*parts)) as server:
        return (await ask(server.base, client, stream=True))[0]


DONE = event("[DONE]")


async def test_a_line_of_any_length(client: ClientName) -> None:
    text = "x" * 2_000_000
    answer = await stream_of(client, event(delta(text)), event(delta(None, "stop")), DONE)
    assert answer.text == text


@pytest.mark.parametrize("kind", [b"application/json", b"text/plain"])
async def test_a_stream_may_have_another_type_and_a_byte_order_mark(client: ClientName, kind: bytes) -> None:
    head = STREAM_HEAD.replace(b"text/event-stream", kind)
    body = b"\xef\xbb\xbf" * (kind == b"text/plain") + event(delta("ye")) + event(delta("s", "stop")) + DONE
    async with RawServer(always(head + chunk(body) + chunk(b""))) as server:
        (answer,) = await ask(server.base, client, stream=True)
    assert answer.text == "yes"


async def test_characters_that_other_people_take_for_ends_of_lines(client: ClientName) -> None:
    text = "a\u2028b\u2029c\x85d\x0be\x0c"
    answer = await stream_of(client, event(delta(text)), event(delta(None, "stop")), DONE)
    assert answer.text == text


async def test_characters_and_lines_come_in_pieces(client: ClientName) -> None:
    data = event(delta("grüße 😀"), b"\r\n\r\n") + event(delta(None, "stop"), b"\r\n\r\n") + DONE
    answer = await stream_of(client, *(data[place : place + 1] for place in range(len(data))))
    assert answer.text == "grüße 😀"


async def test_proxies_of_the_environment_are_for_hosted_services(
    client: ClientName, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with RawServer(always(whole(completion()))) as proxy:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.port}")
        monkeypatch.delenv("no_proxy", raising=False)
        if client == "openai":
            (answer,) = await ask("http://nowhere.invalid/v1", client)
            assert answer.text == "yes"
            assert proxy.heads[0].startswith("POST http://nowhere.invalid/v1/chat/completions ")
            return
        error = await failure("http://nowhere.invalid/v1", client)
        assert "(http_proxy is set; only --client openai uses it)" in str(error)
        async with RawServer(always(whole(completion()))) as server:
            await ask(server.base, client)
        assert len(server.heads) == 1
        assert not proxy.heads


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, size in (("ANSWER", 2**17), ("STREAM", 2**18), ("ERROR", 2**10)):
        monkeypatch.setattr(f"toolassay.models.response_body.MAX_{name}", size)


def endless(head: bytes, *parts: bytes) -> Answer:
    async def answer(writer: asyncio.StreamWriter, number: int) -> None:
        writer.write(head)
        for part in itertools.cycle(parts):
            writer.write(part)
            await writer.drain()

    return answer


def packed() -> tuple[bytes, bytes]:
    """A gzip stream of an endless text: its beginning, and a part to repeat, which is 1,000 times as long."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    begin = packer.compress(b'{"choices": [{"message": {"content": "') + packer.flush(zlib.Z_FULL_FLUSH)
    return begin, packer.compress(b"a" * 2**24) + packer.flush(zlib.Z_FULL_FLUSH)


OPEN_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
EVENTS = OPEN_HEAD.replace(b"application/json", b"text/event-stream") + b"\r\n"
BEGIN, PART = packed()


@pytest.mark.parametrize(
    ("head", "part"),
    [
        (OPEN_HEAD + b"\r\n", b"a" * 2**16),
        (OPEN_HEAD + b"Content-Encoding: gzip\r\n\r\n" + BEGIN, PART),
        (EVENTS, event(delta("a" * 2**10))),
        (EVENTS, b":\n" * 2**12),
        (EVENTS, b"data: " + b"a" * 2**16),
    ],
    ids=["body", "gzip", "events", "comments", "line"],
)
@pytest.mark.usefixtures("small")
async def test_an_answer_without_end_is_a_failure_of_the_server(
    client: ClientName, head: bytes, part: bytes
) -> None:
    async with RawServer(endless(head, part)) as server:
        error = await failure(server.base, client, stream=head == EVENTS, max_tries=1)
    assert (error.kind, error.transient) == ("too long", True)


@pytest.mark.usefixtures("small")
async def test_the_beginning_of_an_error_without_end_is_read(client: ClientName) -> None:
    head = OPEN_HEAD.replace(b"200 OK", b"503 Later") + b"\r\n"
    async with RawServer(endless(head, b"no room " * 100)) as server:
        error = await failure(server.base, client, max_tries=1)
    assert (error.kind, error.status, len(error.body)) == ("HTTP 503", 503, 2**10)


async def test_a_body_that_is_always_there_does_not_delay_time_outs(
    client: ClientName, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolassay.models.response_body.MAX_ANSWER", 2**40)
    monkeypatch.setattr("toolassay.models.response_body.bytearray", Counted, raising=False)
    head = OPEN_HEAD + b"Content-Encoding: gzip\r\n\r\n" + BEGIN
    async with RawServer(always(head + PART * 200)) as server:  # 3 GB of text
        error = await failure(server.base, client, total_timeout=0.5, max_tries=1)
    assert str(error) == "timed out: no answer within 0.5 s (--total_timeout)"


class Counted:
    """Stands for a body of any size."""

    def __init__(self) -> None:
        self.size = 0

    def __iadd__(self, chunk: bytes) -> Counted:
        self.size += len(chunk)
        return self

    def __len__(self) -> int:
        return self.size


@pytest.mark.parametrize("end", ["hangs", "breaks", "fails", "counts"])
async def test_an_answer_is_complete_with_its_finish_reason(
    client: ClientName, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolassay.models.response_body.GRACE", 0.3)
    usage = {"choices": [], "usage": {"prompt_tokens": 3}}
    after = {"breaks": b"5\r\nda", "fails": chunk(event({"error": "late"}))}.get(end, chunk(event(usage)))

    async def answer(writer: asyncio.StreamWriter, number: int) -> None:
        writer.write(STREAM_HEAD + chunk(event(delta("yes", "stop"))))
        await writer.drain()
        writer.write(after)
        if end != "hangs":
            writer.close()
        else:
            await asyncio.sleep(30)

    async with RawServer(answer) as server:
        (read,) = await ask(server.base, client, stream=True, max_tries=1, timeout=5.0)
    assert (read.text, read.prompt_tokens) == ("yes", 3 if end in ("hangs", "counts") else None)


def trickling(piece: bytes, count: int, end: bytes) -> Answer:
    """A stream that sends a piece each 0.1 s."""

    async def answer(writer: asyncio.StreamWriter, number: int) -> None:
        writer.write(STREAM_HEAD)
        for _ in range(count):
            writer.write(chunk(piece))
            await writer.drain()
            await asyncio.sleep(0.1)
        writer.write(chunk(end) + chunk(b""))

    return answer


async def silent(writer: asyncio.StreamWriter, number: int) -> None:
    await asyncio.sleep(30)


async def silent_once(writer: asyncio.StreamWriter, number: int) -> None:
    if number == 0:
        await asyncio.sleep(30)
    writer.write(whole(completion()))


END = event(delta("yes", "stop")) + DONE


@pytest.mark.parametrize("piece", [event(delta(None, reasoning_content="hm ")), b": still at work\n\n"])
async def test_a_stream_that_goes_on_is_alive(client: ClientName, piece: bytes) -> None:
    async with RawServer(trickling(piece, 12, END)) as server:
        (answer,) = await ask(server.base, client, stream=True, max_tries=1, timeout=0.6)
    assert answer.text.endswith("yes")
    assert answer.seconds is not None
    assert answer.seconds > 0.6


async def test_silence_ends_an_attempt_and_the_next_is_answered(client: ClientName) -> None:
    async with RawServer(silent_once) as server:
        (answer,) = await ask(server.base, client, timeout=0.2)
        assert (answer.text, answer.attempts, len(server.heads)) == ("yes", 2, 2)


async def test_no_request_is_sent_on_a_connection_that_a_server_closes_after_a_stream(
    client: ClientName,
) -> None:
    async def answer(writer: asyncio.StreamWriter, number: int) -> None:
        if number >= server.connections:
            writer.transport.abort()
        echo = b"\r\nConnection: close" if "connection: close" in server.heads[number].lower() else b""
        writer.write(STREAM_HEAD.replace(b"\r\n\r\n", echo + b"\r\n\r\n") + chunk(END) + chunk(b""))

    wire = WireRequest("chat", '{"model": "m", "stream": true, "messages": []}', {})
    async with RawServer(answer) as server:
        assert len(await ask(server.base, client, count=3, stream=True, max_tries=1)) == 3
        relay = Client("m", relay_options(ModelOptions(api_base=server.base, max_tries=1)))
        for _ in range(3):
            assert (await relay.complete(ChatRequest([], task=wire))).text == "yes"
        await relay.close()


async def stalled(writer: asyncio.StreamWriter, number: int) -> None:
    writer.write(STREAM_HEAD + chunk(event(delta("so "))))
    await writer.drain()
    await asyncio.sleep(30)


ENDLESS = trickling(event(delta("so ")), 300, END)


@pytest.mark.parametrize(
    ("answer", "limits", "own", "kind", "words"),
    [
        (stalled, {"max_tries": 1, "timeout": 0.2}, None, "timeout", "no byte for 0.2 s (--timeout)"),
        (ENDLESS, {"max_tries": 1, "total_timeout": 0.3}, None, "timeout", "0.3 s (--total_timeout)"),
        (silent, {"max_tries": 1, "total_timeout": 1.0}, 60.0, "timeout", "1 s (--total_timeout)"),
        (silent, {}, 0.3, "time limit", "no answer within its limit of 0.3 s"),
        (ENDLESS, {}, 0.3, "time limit", "no answer within its limit of 0.3 s"),
    ],
)
async def test_each_limit_ends_an_attempt_and_the_callers_own_is_not_tried_again(
    client: ClientName, answer: Answer, limits: dict[str, Any], own: float | None, kind: str, words: str
) -> None:
    async with RawServer(answer) as server:
        error = await failure(server.base, client, own=own, stream=True, **limits)
        assert len(server.heads) == 1
    assert (error.kind, error.transient) == (kind, kind == "timeout")
    assert str(error).startswith("timed out: ") and str(error).endswith(words)
