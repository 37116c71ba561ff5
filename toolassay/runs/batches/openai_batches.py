"""`OpenAIBatches`: submits, follows and reads batches of OpenAI's Batch API, over the `openai` SDK.

A batch is found again by its key, which is in its metadata and in the name of its input file. So a process
that ends between sending a request and writing down the id of the answer never makes a second one.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import IO, Any, TypeVar

from toolassay.models import ModelError, ModelOptions, retry
from toolassay.models.redaction import without
from toolassay.models.transports import OpenAITransport
from toolassay.runs.batches.state import URL, Batch, BatchState

Found = TypeVar("Found")

KEY = "toolassay"
"""Name of the metadata with a batch's key."""
OVER = ("completed", "failed", "expired", "cancelled")
TOO_MANY_TOKENS = "token_limit_exceeded"
"""Error code of a batch that was refused because too many tokens of other batches are waiting."""
_PAGE = 100  # batches or files of a page of a list, the most that the API allows for batches
_CLOCK_SKEW = 86_400.0  # seconds by which the clocks of this machine and the server may differ


@dataclass(frozen=True)
class BatchProgress:
    """The state of a batch at the server.

    Attributes:
        status: As the API names it.
        done: Requests that have ended, with an answer or not.
        total: Requests of the batch.
        problem: Why it failed its validation; empty otherwise.
        code: Error code of that.
        files: Ids of the output file and the error file, if there are such.
    """

    status: str
    done: int = 0
    total: int = 0
    problem: str = ""
    code: str = ""
    files: tuple[str, ...] = ()

    @property
    def is_over(self) -> bool:
        """Whether the status is final."""
        return self.status in OVER


class OpenAIBatches:
    """The Batch API of the endpoint of `options`.

    Args:
        options: Address, credentials and time-outs.
        sleep: Waits between attempts, in seconds.
    """

    def __init__(
        self, options: ModelOptions, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self._options = options
        self._sleep = sleep
        self._transport = OpenAITransport("batches", options)

    async def submit(self, state: BatchState, batch: Batch, data: IO[bytes] | None, *, again: bool) -> bool:
        """Upload the input file and create the batch; the ids are written down as they arrive.

        An attempt whose answer was lost may have succeeded, so each further attempt first looks for what the
        server already has.

        Args:
            state: Where the ids are written down.
            batch: The batch.
            data: Its input file, open; None if only an earlier process had it.
            again: Whether an earlier attempt was made.

        Returns:
            Whether the batch exists now; False without data, if the server has neither it nor its file.

        Raises:
            ModelError: The server refuses it, or cannot be reached.
        """

        async def attempt(is_first: bool) -> bool:
            return await self._submit_once(state, batch, data, again=again or not is_first)

        return await self._retried(attempt)

    async def progress(self, batch: Batch) -> BatchProgress:
        """The state of a batch.

        Raises:
            ModelError: The server does not know it, or cannot be reached.
        """
        retrieved = await self._persist(lambda sdk, more: sdk.batches.retrieve(batch.id, **more), "/batches")
        counts = retrieved.request_counts
        errors = (retrieved.errors and retrieved.errors.data) or []
        line_notes = (f" (line {problem.line})" if problem.line else "" for problem in errors)
        problems = [
            f"{problem.message or problem.code}{line_note}"
            for problem, line_note in zip(errors, line_notes, strict=True)
        ]
        return BatchProgress(
            str(retrieved.status),
            (counts.completed or 0) + (counts.failed or 0) if counts else 0,
            counts.total or 0 if counts else 0,
            without(self._options.secrets, "; ".join(problems[:3])) or "the server gives no reason",
            str(errors[0].code or "") if errors else "",
            tuple(name for name in (retrieved.output_file_id, retrieved.error_file_id) if name),
        )

    async def lines(self, progress: BatchProgress, take: Callable[[bytes], None]) -> None:
        """Download the output and the error file of a batch that is over.

        Args:
            progress: Its state.
            take: Called with each line, once both files are complete.

        Raises:
            ModelError: A file cannot be read.
        """
        with tempfile.TemporaryFile() as spool:  # without a name, because a server may echo a key
            for file_id in progress.files:
                await self._download(file_id, spool)
            spool.seek(0)
            for line in spool:
                take(line)

    async def cancel(self, batch: Batch) -> None:
        """Cancel a batch; the server needs up to ten minutes for it.

        Raises:
            ModelError: The server refuses, e.g. because the batch is over, or cannot be reached.
        """
        await self._persist(lambda sdk, more: sdk.batches.cancel(batch.id, **more), "/batches")

    async def find(self, batch: Batch) -> str | None:
        """The id of the oldest batch at the server with the key of `batch`; None without one.

        Raises:
            ModelError: The server cannot be reached.
        """

        async def search(sdk: Any, more: dict[str, Any]) -> str | None:
            batch_id: str | None = None
            async for listed in sdk.batches.list(limit=_PAGE, **more):  # the newest first
                if listed.created_at < batch.time - _CLOCK_SKEW:
                    break
                if (listed.metadata or {}).get(KEY) == batch.key:
                    batch_id = listed.id
            return batch_id

        return await self._persist(search, "/batches")

    async def close(self) -> None:
        """Close all connections."""
        await self._transport.close()

    async def _submit_once(
        self, state: BatchState, batch: Batch, data: IO[bytes] | None, *, again: bool
    ) -> bool:
        if again and (earlier_id := await self.find(batch)):
            state.created(batch, earlier_id)
            return True
        if batch.file is None and again and (kept_file := await self._find_file(batch)):
            state.uploaded(batch, kept_file)
        if batch.file is None:
            if data is None:
                return False
            data.seek(0)
            file = (batch.file_name, data, "application/jsonl")
            uploaded = await self._call(
                lambda sdk, more: sdk.files.create(file=file, purpose="batch", **more), "/files"
            )
            state.uploaded(batch, uploaded.id)
        created = await self._call(
            lambda sdk, more: sdk.batches.create(
                input_file_id=batch.file,
                endpoint=URL,
                completion_window="24h",
                metadata={KEY: batch.key},
                **more,
            ),
            "/batches",
        )
        batch_id = str(created.id)
        if again and (oldest := await self.find(batch)) and oldest != batch_id:
            # The server was still working on an earlier attempt when it was searched.
            await self._call(lambda sdk, more: sdk.batches.cancel(batch_id, **more), "/batches")
            batch_id = oldest
        state.created(batch, batch_id)
        return True

    async def _find_file(self, batch: Batch) -> str | None:
        async def search(sdk: Any, more: dict[str, Any]) -> str | None:
            async for file in sdk.files.list(purpose="batch", limit=_PAGE, order="desc", **more):
                if file.created_at < batch.time - _CLOCK_SKEW:
                    break
                if file.filename == batch.file_name:
                    return str(file.id)
            return None

        return await self._persist(search, "/files")

    async def _download(self, file_id: str, spool: IO[bytes]) -> None:
        start = spool.tell()

        async def download(sdk: Any, more: dict[str, Any]) -> None:
            spool.seek(start)
            spool.truncate()
            async with sdk.files.with_streaming_response.content(file_id, **more) as response:
                async for chunk in response.iter_bytes():
                    spool.write(chunk)

        await self._persist(download, "/files")
        spool.write(b"\n")  # the last line of a file may lack it, and the next file follows

    async def _persist(self, ask: Callable[[Any, dict[str, Any]], Awaitable[Found]], path: str) -> Found:
        """Make a request that may be repeated, until it succeeds or fails for good."""
        return await self._retried(lambda is_first: self._call(ask, path))

    async def _retried(self, attempt: Callable[[bool], Awaitable[Found]]) -> Found:
        """The result of `attempt(is_first)`, which is called again after a failure that may pass."""
        tries = retry.Tries(self._options.max_tries)
        while True:
            number = tries.number
            try:
                return await attempt(number == 1)
            except ModelError as error:
                if not tries.again(error):
                    raise
                await self._sleep(retry.retry_delay(number, error))

    async def _call(self, ask: Callable[[Any, dict[str, Any]], Awaitable[Found]], path: str) -> Found:
        """Make a request; a base URL without a version is retried with `/v1`, as that of other requests is.

        Args:
            ask: Called with the SDK's client and the common arguments of its methods.
            path: Of the request, for messages.

        Raises:
            ModelError: It failed.
        """
        address = self._options.address
        versions = self._options.version_path
        while True:
            version = versions.path if versions is not None else ""
            try:
                with self._transport.errors(address.shown_url(version + path)):
                    sdk, headers, timeout = self._transport.connection()
                    sdk.base_url = address.url + version
                    response = await ask(sdk, {"extra_headers": headers, "timeout": timeout})
            except ModelError as error:
                error.hide(self._options.secrets)
                if versions is None or not versions.learn(version, error.status):
                    raise
            else:
                if versions is not None:
                    versions.learn(version, 200)
                return response
