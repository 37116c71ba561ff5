"""`BatchState`: which requests of a run were submitted in which batch, written down before they are sent.

`batches.jsonl` in the folder of the run has one object a line: a batch that is about to be sent (`Batch`), or
what became known of it (`BatchChange`). What came of the requests of a batch that is over is in
`batches/<number>.results.jsonl` until the journal has all answers. Which answers are read is in the journal,
and which attempts are over is in the ledger.

The id of a request is a hash of its address in the journal, its model and body, and the number of the
attempt. So a process that starts again asks the same ids, and finds them here.

The lines of input, output and error files are those of OpenAI's Batch API (its guide and API reference).
vLLM's `run_batch` reads and writes the same, except that it puts the body of an HTTP error under `error`.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from toolassay.errors import UsageError
from toolassay.files.locks import Closable, open_regular
from toolassay.models import ChatResponse, ModelError, ModelOptions
from toolassay.models.retry import failed_answer
from toolassay.models.wire_format import read_body
from toolassay.runs.budget import Outstanding
from toolassay.runs.journal import AppendOnlyLines, Journal, LineAddress, decoder_of
from toolassay.runs.manifest import BATCHES

STATE = BATCHES
FOLDER = "batches"
DROPPED = "dropped"
"""Final status of a batch that the server does not have, or that the user gave up."""


class Endpoint(NamedTuple):
    """Where batches are sent: redacted address, and a hash that distinguishes equal ones."""

    shown: str
    fingerprint: str | None

    @classmethod
    def of(cls, options: ModelOptions) -> Endpoint:
        """The endpoint of `options`."""
        return cls(options.endpoint, options.address.fingerprint)


class BatchRequest(NamedTuple):
    """A request in a batch.

    Attributes:
        address: Of its answer in the journal.
        size: Bytes of its prompt.
        limit: Maximum tokens of the answer.
    """

    address: LineAddress
    size: int
    limit: int

    @property
    def outstanding(self) -> Outstanding:
        """What a budget needs to know of it."""
        return Outstanding(self.address.role.partition(" ")[0], self.address.key, self.size, self.limit)


class Batch(msgspec.Struct, tag_field="step", tag="submit", omit_defaults=True):
    """One batch.

    Attributes:
        number: Its number in the run, from 1.
        kind: "openai" or "vllm".
        model: Name of the model.
        endpoint: Where it was sent.
        key: Unique text, in the name of its input file and in its metadata at the server.
        time: When it was submitted, in seconds since 1970.
        requests: Its requests by their ids.
        file: Id of its input file at the server, if known.
        id: Its id at the server, if known.
        status: Its final status; None if it is open.
    """

    number: int
    kind: str
    model: str
    endpoint: Endpoint
    key: str
    time: float
    requests: dict[str, BatchRequest]
    file: str | None = None
    id: str | None = None
    status: str | None = None

    @property
    def name(self) -> str:
        """Its name for messages."""
        return self.id or f"batch {self.number}"

    @property
    def file_name(self) -> str:
        """The name of its input file at the server."""
        return f"{self.key}.jsonl"


class BatchChange(msgspec.Struct, tag_field="step", tag="change", omit_defaults=True):
    """What became known of the batch of a number: fields of `Batch`."""

    number: int
    file: str | None = None
    id: str | None = None
    status: str | None = None


_decode = decoder_of(Batch | BatchChange)


class BatchState(Closable):
    """The batches of a run, from `batches.jsonl`, which is created if missing.

    Args:
        run_folder: Folder of the run.
        read_only: Open without lock, writes or repair; a missing file counts as empty.

    Attributes:
        batches: The batches, by number.

    Raises:
        UsageError: Another process has the file open, or a line before the last one is broken.
        ToolassayError: It cannot be written.
    """

    def __init__(self, run_folder: Path, *, read_only: bool = False) -> None:
        self.folder = run_folder / FOLDER
        self.batches: dict[int, Batch] = {}
        self._owners: dict[str, Batch] = {}  # the last batch of each id
        self._answers: dict[str, tuple[Path, int]] = {}  # file and offset
        self._failures: dict[str, tuple[Path, int]] = {}
        self._lines = AppendOnlyLines(run_folder / STATE, what="list of batches", read_only=read_only)
        try:
            for _ in self._lines.scan(self._apply, _decode):
                pass
            for batch in self.batches.values():
                self._index(batch)
        except BaseException:
            self.close()
            raise

    @property
    def open_batches(self) -> list[Batch]:
        """The batches without a final status."""
        return [batch for batch in self.batches.values() if batch.status is None]

    def input_file(self, batch: Batch) -> Path:
        """The input file of a batch that is kept on this machine."""
        return self.folder / f"{batch.number}.input.jsonl"

    def result_file(self, batch: Batch) -> Path:
        """The file with what came of the requests of a batch; vLLM's output file has the same form."""
        return self.folder / f"{batch.number}.{'output' if batch.kind == 'vllm' else 'results'}.jsonl"

    def unread(self, booked: Collection[str]) -> Iterator[tuple[Batch, str]]:
        """The requests that a batch may answer, or has answered, and that are not in the ledger yet.

        Args:
            booked: The ids in the ledger.
        """
        for custom_id, batch in self._owners.items():
            if custom_id not in booked and (batch.status is None or self.has_result(custom_id)):
                yield batch, custom_id

    def kept_answers(self, journal: Journal) -> Iterator[tuple[Batch, str]]:
        """The requests with an answer that the journal does not have."""
        for custom_id in self._answers:
            batch = self._owners[custom_id]
            if not journal.answer(batch.requests[custom_id].address):
                yield batch, custom_id

    def failures(self, booked: Collection[str]) -> list[str]:
        """The requests that failed and are not in the ledger yet."""
        return [name for name in self._failures if name not in booked and name not in self._answers]

    def is_submitted(self, custom_id: str) -> bool:
        """Whether an open batch has the request."""
        batch = self._owners.get(custom_id)
        return batch is not None and batch.status is None

    def owner(self, custom_id: str) -> Batch:
        """The last batch that has the request."""
        return self._owners[custom_id]

    def has_result(self, custom_id: str) -> bool:
        """Whether it is known what came of a request."""
        return custom_id in self._answers or custom_id in self._failures

    def result(self, custom_id: str) -> ResultLine | None:
        """The line with what came of a request; None without one."""
        location = self._answers.get(custom_id) or self._failures.get(custom_id)
        if location is None:
            return None
        path, offset = location
        with open_regular(path) as stream:
            stream.seek(offset)
            return parse_line(stream.readline())

    def next_id(self, base: str, booked: Collection[str]) -> str:
        """The id of the next attempt of a request: those in the ledger have failed, if no answer is kept."""
        number = 1
        while (custom_id := f"{base}-{number}") in booked and custom_id not in self._answers:
            number += 1
        return custom_id

    def submit(
        self, kind: str, model: str, endpoint: Endpoint, requests: Mapping[str, BatchRequest]
    ) -> Batch:
        """Write down a batch that is about to be sent; it is on the disk when this returns.

        Raises:
            ToolassayError: The disk is full.
        """
        number = max(self.batches, default=0) + 1
        key = f"toolassay-{secrets.token_hex(12)}"
        batch = Batch(number, kind, model, endpoint, key, round(time.time(), 3), dict(requests))
        self._write(batch, force=True)
        return batch

    def uploaded(self, batch: Batch, file_id: str) -> None:
        """Record the id of the input file at the server."""
        self._write(BatchChange(batch.number, file=file_id))

    def created(self, batch: Batch, batch_id: str) -> None:
        """Record the id of the batch at the server."""
        self._write(BatchChange(batch.number, id=batch_id), force=True)

    def ended(self, batch: Batch, status: str) -> None:
        """Record the final status of a batch, whose result file is written."""
        self._write(BatchChange(batch.number, status=status), force=True)
        self._index(batch)

    def prune(self, journal: Journal, booked: Collection[str]) -> None:
        """Remove result files whose answers are all in the journal, and whose failures are in the ledger."""
        kept = {batch.number for batch, _ in self.kept_answers(journal)}
        kept |= {self._owners[custom_id].number for custom_id in self.failures(booked)}
        for batch in self.batches.values():
            if batch.kind == "openai" and batch.status is not None and batch.number not in kept:
                self.result_file(batch).unlink(missing_ok=True)
        with suppress(OSError):  # it holds further files, or was never made
            self.folder.rmdir()

    def close(self) -> None:
        """Close the file and release the lock."""
        self._lines.close()

    def _write(self, line: Batch | BatchChange, *, force: bool = False) -> None:
        self._lines.append(msgspec.to_builtins(line))
        if force:
            self._lines.force()
        self._apply(line)

    def _apply(self, line: Batch | BatchChange) -> None:
        if isinstance(line, Batch):
            self.batches[line.number] = line
            self._owners |= dict.fromkeys(line.requests, line)
            return
        batch = self.batches[line.number]
        batch.file = line.file or batch.file
        batch.id = line.id or batch.id
        batch.status = line.status or batch.status

    def _index(self, batch: Batch) -> None:
        """Index the results of a batch.

        vLLM's output file counts as soon as it has a result, and is read again by each start, because it may
        have grown.
        """
        if batch.status is None and batch.kind == "openai":
            return
        for custom_id, offset, has_answer in self._lines_of(batch):
            batch.status = batch.status or "completed"
            if has_answer:
                self._answers.setdefault(custom_id, (self.result_file(batch), offset))
            else:
                self._failures[custom_id] = self.result_file(batch), offset

    def _lines_of(self, batch: Batch) -> Iterator[tuple[str, int, bool]]:
        """The id of each request with a result, the offset of its line, and whether that is an answer.

        Raises:
            UsageError: A line before the last one is broken.
        """
        path = self.result_file(batch)
        if not path.is_file():
            return
        with open_regular(path) as stream:
            offset = 0
            for number, text in enumerate(stream, start=1):
                line = parse_line(text)
                if line is None and text.strip() and stream.read(1):
                    raise UsageError(
                        "not a line of a batch's output", file=path, line=number, fix="remove that line"
                    )
                if line is None and text.strip():
                    return  # torn: it is still being written, or its writer was killed
                if line is not None and line.custom_id in batch.requests and line.was_run:
                    yield line.custom_id, offset, line.is_answer
                offset += len(text)


URL = "/v1/chat/completions"
NOT_RUN = ("batch_expired", "batch_cancelled")
"""Error codes of requests that the server never worked on."""
MISSING = "missing"
"""Error code that stands for a request about which a complete batch says nothing."""


def request_line(custom_id: str, body: bytes) -> bytes:
    r"""A line of an input file.

    Args:
        custom_id: Unique in the file, at most 64 characters.
        body: The body of the request, JSON in ASCII.

    >>> request_line("a-1", b'{"model": "m"}').decode()
    '{"custom_id": "a-1", "method": "POST", "url": "/v1/chat/completions", "body": {"model": "m"}}\n'
    """
    head = json.dumps({"custom_id": custom_id, "method": "POST", "url": URL}).encode()
    return head[:-1] + b', "body": ' + body + b"}\n"


class _Reply(msgspec.Struct):
    status_code: int | None = None
    body: Any = None


class ResultLine(msgspec.Struct):
    """A line of an output or error file: what came of a request.

    Attributes:
        custom_id: Id of the request.
        response: Status and body of the answer; None without one.
        error: Why there is none; of vLLM also the body of an HTTP error.
    """

    custom_id: str
    response: _Reply | None = None
    error: Any = None

    @classmethod
    def missing(cls, custom_id: str) -> ResultLine:
        """The line for a request that is in neither file of a complete batch."""
        message = "the batch is complete, and neither of its files has this request"
        return cls(custom_id, error={"code": MISSING, "message": message})

    @property
    def was_run(self) -> bool:
        """Whether the server has worked on the request.

        >>> ResultLine("a", error={"code": "batch_expired"}).was_run
        False
        """
        return not (isinstance(self.error, Mapping) and self.error.get("code") in NOT_RUN)

    @property
    def is_answer(self) -> bool:
        """Whether it holds an answer, rather than an error."""
        return self.response is not None and self.response.status_code == 200

    def answer(self, endpoint: str) -> ChatResponse:
        """The answer. Its time is unknown.

        Args:
            endpoint: Redacted address or file, for messages.

        Raises:
            ModelError: The line holds an error, classified as the same error of a single request would be.
        """
        error = self.error
        if self.response is not None:
            status = self.response.status_code
            body = self.response.body
            if self.is_answer and isinstance(body, Mapping):
                return read_body(body)
            if status is not None and status >= 400:
                if body is None:  # vLLM: an error object or a text
                    body = error if isinstance(error, Mapping) and "error" in error else {"error": error}
                raise failed_answer(status, json.dumps(body), None, endpoint)
        code = error.get("code") if isinstance(error, Mapping) else None
        message = error.get("message") if isinstance(error, Mapping) else error
        raise ModelError(
            f"no answer in the batch: {message or code or 'the server gives no reason'}",
            transient=True,
            kind=f"batch: {code or 'no answer'}",
        )


def parse_line(line: bytes) -> ResultLine | None:
    """A line of an output or error file; None if it is none."""
    try:
        return _decode_result(line)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None


_decode_result: Callable[[bytes], ResultLine] = decoder_of(ResultLine)
