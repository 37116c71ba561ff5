"""`BatchState`: which requests of a run were submitted in which batch, written down before they are sent.

`batches.jsonl` in the folder of the run has one object a line, with its `step`:

- `submit`: a batch that is about to be sent, with the ids of its requests;
- `file` and `created`: the ids that the server gave to its input file and to the batch;
- `ended`: its final status; what came of its requests is in `batches/<number>.results.jsonl`;
- `done`: requests whose item has ended, so that their answers are in the journal.

The id of a request is a hash of its model, role, item and body, and the number of the attempt. So a process
that starts again asks the same ids, and finds them here.

The lines of input, output and error files are those of OpenAI's Batch API (its guide and API reference).
vLLM's `run_batch` reads and writes the same, except that it puts the body of an HTTP error under `error`.
"""

from __future__ import annotations

import json
import secrets
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from toolassay.errors import UsageError
from toolassay.locks import open_regular
from toolassay.models import ChatResponse, ModelError, ModelOptions
from toolassay.models.retry import failed_answer
from toolassay.models.wire_format import read_body
from toolassay.runs.budget import Outstanding
from toolassay.runs.journal import AppendOnlyLines, text_in
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
        return cls(options.endpoint, options.endpoint_fingerprint)


@dataclass
class Batch:
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
    requests: Mapping[str, Outstanding] = field(repr=False)
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


class BatchState:
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
        self._results: dict[str, tuple[Path, int]] = {}
        self._failed: dict[str, tuple[Path, int]] = {}
        self._done: Counter[str] = Counter()  # by request, the number of its attempts that are over
        self._asked: Counter[str] = Counter()  # by request, the attempts of items that have not ended
        self._finished: set[str] = set()
        self._lines = AppendOnlyLines(run_folder / STATE, what="list of batches", read_only=read_only)
        try:
            for _, line in self._lines.scan(_checked):
                self._apply(line)
            for custom_id in self._owners:
                base, number = _parts(custom_id)
                # A further attempt is only made after the one before it has ended.
                self._done[base] = max(self._done[base], number - 1)
            for batch in self.batches.values():
                self._index_earlier(batch)
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
            answerable = batch.status is None or custom_id in self._results or custom_id in self._failed
            if answerable and custom_id not in self._finished and custom_id not in booked:
                yield batch, custom_id

    @property
    def kept_answers(self) -> Iterator[tuple[Batch, str]]:
        """The requests with an answer whose item is not recorded as over."""
        for custom_id in self._results:
            if custom_id not in self._finished:
                yield self._owners[custom_id], custom_id

    @property
    def failures(self) -> dict[str, dict[str, Any]]:
        """The lines of the attempts that failed and are not recorded as over, when the file was opened.

        Not those of which a further file has an answer.
        """
        lines = {name: self.result(name) for name in self._failed if name not in self._results}
        return {custom_id: line for custom_id, line in lines.items() if line is not None}

    def is_submitted(self, custom_id: str) -> bool:
        """Whether an open batch has the request."""
        batch = self._owners.get(custom_id)
        return batch is not None and batch.status is None

    def owner(self, custom_id: str) -> Batch:
        """The last batch that has the request."""
        return self._owners[custom_id]

    def keep(self, custom_id: str) -> None:
        """Let a failed attempt count as the result of its request in this start."""
        self._results[custom_id] = self._failed.pop(custom_id)

    def is_followed(self, custom_id: str) -> bool:
        """Whether a further attempt was made after this one."""
        base, number = _parts(custom_id)
        return self._done[base] >= number

    def has_result(self, custom_id: str) -> bool:
        """Whether it is known what came of a request."""
        return custom_id in self._results

    def result(self, custom_id: str) -> dict[str, Any] | None:
        """The line with what came of a request; None without one."""
        place = self._results.get(custom_id) or self._failed.get(custom_id)
        if place is None:
            return None
        path, offset = place
        with open_regular(path) as stream:
            stream.seek(offset)
            return parse_line(stream.readline())

    def next_id(self, base: str) -> str:
        """The id of the next attempt of a request; call `asked` when it is made."""
        return f"{base}-{self._done[base] + self._asked[base] + 1}"

    def asked(self, custom_id: str) -> None:
        """Count an attempt of an item that has not ended."""
        self._asked[_parts(custom_id)[0]] += 1

    def done(self, custom_ids: Collection[str]) -> None:
        """Record that these attempts are over: their item has ended, or makes further ones.

        Raises:
            ToolassayError: The disk is full.
        """
        if custom_ids:
            self._write({"step": "done", "ids": list(custom_ids)})

    def forget(self, custom_ids: Iterable[str]) -> None:
        """The item of these attempts has ended, or will make those that are not over again."""
        for custom_id in custom_ids:
            self._asked[_parts(custom_id)[0]] -= 1

    def submit(self, kind: str, model: str, endpoint: Endpoint, requests: Mapping[str, Outstanding]) -> Batch:
        """Write down a batch that is about to be sent; it is on the disk when this returns.

        Raises:
            ToolassayError: The disk is full.
        """
        number = max(self.batches, default=0) + 1
        self._write(
            {
                "step": "submit",
                "batch": number,
                "kind": kind,
                "model": model,
                "endpoint": list(endpoint),
                "key": f"toolassay-{secrets.token_hex(12)}",
                "time": round(time.time(), 3),
                "requests": [
                    [custom_id, one.role, one.item, one.size, one.limit]
                    for custom_id, one in requests.items()
                ],
            },
            force=True,
        )
        return self.batches[number]

    def uploaded(self, batch: Batch, file_id: str) -> None:
        """Record the id of the input file at the server."""
        self._write({"step": "file", "batch": batch.number, "id": file_id})

    def created(self, batch: Batch, batch_id: str) -> None:
        """Record the id of the batch at the server."""
        self._write({"step": "created", "batch": batch.number, "id": batch_id}, force=True)

    def ended(self, batch: Batch, status: str) -> None:
        """Record the final status of a batch, whose result file is written."""
        self._write({"step": "ended", "batch": batch.number, "status": status}, force=True)
        for custom_id, offset, _ in self._lines_of(batch):
            self._results.setdefault(custom_id, (self.result_file(batch), offset))

    def prune(self) -> None:
        """Remove result files whose answers are all in the journal."""
        for batch in self.batches.values():
            if (
                batch.kind == "openai"
                and batch.status is not None
                and batch.requests.keys() <= self._finished
            ):
                self.result_file(batch).unlink(missing_ok=True)
        with suppress(OSError):  # it holds further files, or was never made
            self.folder.rmdir()

    def close(self) -> None:
        """Close the file and release the lock."""
        self._lines.close()

    def _write(self, line: Mapping[str, Any], *, force: bool = False) -> None:
        self._lines.append(line)
        if force:
            self._lines.force()
        self._apply(line)

    def _apply(self, line: Mapping[str, Any]) -> None:
        step = line["step"]
        if step == "done":
            for custom_id in line["ids"]:
                base, number = _parts(custom_id)
                self._done[base] = max(self._done[base], number)
                self._finished.add(custom_id)
        elif step == "submit":
            batch = Batch(
                line["batch"],
                line["kind"],
                line["model"],
                Endpoint(*line["endpoint"]),
                line["key"],
                line["time"],
                {custom_id: Outstanding(*facts) for custom_id, *facts in line["requests"]},
            )
            self.batches[batch.number] = batch
            self._owners |= dict.fromkeys(batch.requests, batch)
        else:
            batch = self.batches[line["batch"]]
            if step == "file":
                batch.file = line["id"]
            elif step == "created":
                batch.id = line["id"]
            elif step == "ended":
                batch.status = line["status"]

    def _index_earlier(self, batch: Batch) -> None:
        """Index the results of an earlier start.

        vLLM's output file counts as soon as it has a result, and is read again by each start, because it may
        have grown.
        """
        if batch.status is None and batch.kind == "openai":
            return
        for custom_id, offset, has_answer in self._lines_of(batch):
            if batch.status is None:
                batch.status = "completed"
            if custom_id in self._finished:
                continue
            if has_answer:
                self._results.setdefault(custom_id, (self.result_file(batch), offset))
            else:
                self._failed[custom_id] = self.result_file(batch), offset

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
                if line is not None and line["custom_id"] in batch.requests and was_run(line):
                    yield line["custom_id"], offset, is_answer(line)
                offset += len(text)


def _parts(custom_id: str) -> tuple[str, int]:
    """The hash of a request, and the number of the attempt."""
    base, _, number = custom_id.rpartition("-")
    return base, int(number)


def _checked(line: dict[str, Any]) -> dict[str, Any]:
    """A line of the file.

    Raises:
        KeyError, TypeError, ValueError: It is none.
    """
    step = text_in(line, "step")
    if step == "done":
        for custom_id in line["ids"]:
            _parts(custom_id)
    elif step == "submit":
        for name in ("kind", "model", "key"):
            text_in(line, name)
        Endpoint(*line["endpoint"])
        _ = int(line["batch"]), float(line["time"])
        for custom_id, *facts in line["requests"]:
            _parts(custom_id)
            Outstanding(*facts)
    else:
        int(line["batch"])
        text_in(line, "status" if step == "ended" else "id")
    return line


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


def parse_line(line: bytes) -> dict[str, Any] | None:
    """The object of a line of an output or error file; None if it has no `custom_id`."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and isinstance(value.get("custom_id"), str) else None


def was_run(line: Mapping[str, Any]) -> bool:
    """Whether the server has worked on the request.

    >>> was_run({"custom_id": "a", "response": None, "error": {"code": "batch_expired"}})
    False
    """
    error = line.get("error")
    return not (isinstance(error, Mapping) and error.get("code") in NOT_RUN)


def is_answer(line: Mapping[str, Any]) -> bool:
    """Whether a line holds an answer, rather than an error."""
    response = line.get("response")
    return isinstance(response, Mapping) and response.get("status_code") == 200


def missing_line(custom_id: str) -> dict[str, Any]:
    """The line for a request that is in neither file of a complete batch."""
    error = {"code": MISSING, "message": "the batch is complete, and neither of its files has this request"}
    return {"custom_id": custom_id, "response": None, "error": error}


def read_result(line: Mapping[str, Any], place: str) -> ChatResponse:
    """The answer in a line. Its time is unknown.

    Args:
        line: The object of the line.
        place: Redacted address or file, for messages.

    Raises:
        ModelError: The line holds an error, classified as the same error of a single request would be.
    """
    response, error = line.get("response"), line.get("error")
    body: Any = None
    if isinstance(response, Mapping):
        status, body = response.get("status_code"), response.get("body")
        if status == 200 and isinstance(body, Mapping):
            return read_body(body)
        if isinstance(status, int) and status >= 400:
            text = json.dumps(body if body is not None else _as_body(error))
            raise failed_answer(status, text, None, place)
    code = error.get("code") if isinstance(error, Mapping) else None
    message = error.get("message") if isinstance(error, Mapping) else error
    raise ModelError(
        f"no answer in the batch: {message or code or 'the server gives no reason'}",
        transient=True,
        kind=f"batch: {code or 'no answer'}",
    )


def _as_body(error: Any) -> Any:
    """The `error` of vLLM, an error object or a text, as the body of an HTTP error."""
    return error if isinstance(error, Mapping) and "error" in error else {"error": error}
