"""The body of an HTTP response, whole or streamed, up to a limit."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator

from toolassay.models.dialects.dialect import Dialect, EventStream
from toolassay.models.errors import ModelError
from toolassay.models.protocol import ChatResponse
from toolassay.models.wire_format import MAX_ANSWER, decoded

MAX_STREAM = 2**26
"""Maximum bytes of a stream, which repeats an envelope of a few hundred bytes with every token."""
MAX_ERROR = 2**20
"""Bytes that are read of an error's body; the rest is ignored."""
EVENT_STREAM = "text/event-stream"
GRACE = 0.5
"""Seconds to wait for the rest of a stream (token counts) after its finish reason."""


async def read_error(chunks: AsyncIterator[bytes], charset: str | None) -> str:
    """The beginning of an error's body."""
    return decoded(await _read_bytes(chunks, MAX_ERROR), charset)


async def read_response(
    chunks: AsyncIterator[bytes], started: float, content_type: str, charset: str | None, dialect: Dialect
) -> ChatResponse:
    """Parse the body of a response with status 200, whether it is a stream or not.

    Args:
        chunks: The body as it arrives, decompressed.
        started: When the request was sent, by `time.perf_counter`.
        content_type: Content-Type header.
        charset: Encoding in it.
        dialect: API of the server.

    Raises:
        ModelError: As in `Dialect.read` or `EventStream`, or the body is too long.
    """
    first = await anext(chunks, b"")
    chunks = _joined(first, chunks)
    # Gateways send streams as other types, too.
    if content_type.startswith(EVENT_STREAM) or re.match(rb"(?:\xef\xbb\xbf)?\s*(?:data|event)?:", first):
        return await _read_stream(chunks, dialect.stream(started))
    body = await _read_bytes(chunks, MAX_ANSWER + 1)
    if len(body) > MAX_ANSWER:
        raise _too_long(MAX_ANSWER)
    return dialect.read(body, time.perf_counter() - started, charset=charset)


async def _joined(first: bytes, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for chunk in chunks:
        yield chunk


async def _read_bytes(chunks: AsyncIterator[bytes], most: int) -> bytes:
    body = bytearray()
    async for chunk in chunks:
        body += chunk
        if len(body) >= most:
            break
        # A chunk that is already here does not suspend: without this, time-outs and signals would wait for
        # the end of a compressed body.
        await asyncio.sleep(0)
    return bytes(body[:most])


def _too_long(most: int) -> ModelError:
    message = f"the server's answer is longer than {most // 2**20} MiB"
    return ModelError(message, transient=True, kind="too long")


async def _read_stream(chunks: AsyncIterator[bytes], answer: EventStream) -> ChatResponse:
    """Parse server-sent events; chunks may end anywhere, even inside a character.

    An answer is complete with its finish reason, even if the connection then hangs or breaks.
    """
    size = 0
    unfinished = bytearray()
    try:
        async with asyncio.timeout(None) as timer:
            async for chunk in chunks:
                size += len(chunk)
                # Split bytes at line feeds only: `str.splitlines` also splits at U+2028 and others, which
                # answers may contain.
                first, *more = chunk.split(b"\n")
                unfinished += first
                if size > MAX_STREAM or len(unfinished) > MAX_ANSWER:
                    raise _too_long(min(size, MAX_STREAM))
                for part in more:
                    answer.line(unfinished.decode(errors="replace"))
                    unfinished = bytearray(part)
                if answer.is_complete and timer.when() is None:
                    timer.reschedule(asyncio.get_running_loop().time() + GRACE)
                # Chunks that are already here come without a pause: other requests and the timer need a turn.
                await asyncio.sleep(0)
            answer.line(unfinished.decode(errors="replace"))
    except Exception:
        if not answer.is_complete:
            raise
    return answer.response()
