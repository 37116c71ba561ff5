"""`BatchService`: the files and batches of OpenAI's Batch API, for `ChatServer`, with faults.

Source: OpenAI's API reference (Files, Batch). Batches are worked on at once, and kept in memory.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from aiohttp import web

from toolassay.serving.completions import Received, abort, error_response, has_messages
from toolassay.serving.faults import WHOLE
from toolassay.serving.loopback import json_object

FILES = "/v1/files"
BATCHES = "/v1/batches"
URL = "/v1/chat/completions"
# The limits of OpenAI's Batch API: requests and bytes of one batch.
MOST_REQUESTS = 50_000
MOST_BYTES = 200_000_000
OVER = ("completed", "failed", "expired", "cancelled")
_MOST_AT_ONCE = 100  # batches in progress
_PAGE = 20  # objects of a page without `limit`, as documented

Processed = Callable[[Received], Awaitable[tuple[int, Any]]]
"""Answers a request: the status and the body; status 0 for a failure without an HTTP response."""

# hold: wait for `released`, then do it
# hold-after: do it, and wait for `released` before the answer
# hold-middle: send half of a file, and wait for `released`
# reset: break the connection without doing it
# reset-after: do it, and break the connection instead of an answer
# 500: a server error; nothing is done
# 500-after: do it, and answer with a server error
# 429: too many requests; nothing is done
STEP_FAULTS = ("hold", "hold-after", "hold-middle", "reset", "reset-after", "500", "500-after", "429")
"""Faults of a step: upload, list_files, content, create, list, retrieve or cancel."""


@dataclass
class StoredFile:
    """A file: the file object of the API, and its content."""

    facts: dict[str, Any]
    content: bytes

    @property
    def id(self) -> str:
        """Its id."""
        return str(self.facts["id"])


@dataclass
class StoredBatch:
    """A batch.

    Attributes:
        id: Its id.
        lines: Its requests.
        facts: Further fields of the batch object.
        status: As the API names it.
        task: Works on it.
    """

    id: str
    lines: list[dict[str, Any]]
    facts: dict[str, Any]
    status: str = "validating"
    completed: int = 0
    failed: int = 0
    task: asyncio.Task[None] | None = None
    is_cancelled: bool = False

    def to_json(self) -> dict[str, Any]:
        """The batch object."""
        counts = {"total": len(self.lines), "completed": self.completed, "failed": self.failed}
        return {
            "id": self.id,
            "object": "batch",
            "endpoint": URL,
            "completion_window": "24h",
            "errors": None,
            "output_file_id": None,
            "error_file_id": None,
            **self.facts,
            "status": self.status,
            "request_counts": counts,
        }


Stored = TypeVar("Stored", StoredFile, StoredBatch)


@dataclass
class BatchService:
    """Stores files, works on batches.

    Attributes:
        process: Answers one request.
        fault: `fault(step, number)` is one of `STEP_FAULTS` or "whole", for call `number` (from 0) of a step.
        ending: `ending(number)` is the status in which batch `number` (from 0) ends: "completed", "failed"
            (its validation), "expired" or "token_limit" (failed, because too many tokens are waiting).
        answered: Requests that are worked on before a batch expires.
        late: Number of lists of batches, from the first on, that do not show the newest one yet.
        working: Cleared, batches stay "in_progress" before their next request.
        released: Set to end the faults that wait.
        steps: How often each step was requested.
        held: Number of calls that waited, or wait, for `released`.
        stepped: Called after each change of `steps` and `held`.
        files: All files, in order.
        batches: All batches, in order.
    """

    process: Processed
    fault: Callable[[str, int], str] = lambda step, number: WHOLE
    ending: Callable[[int], str] = lambda number: "completed"
    answered: int = 0
    late: int = 0
    working: asyncio.Event = field(default_factory=asyncio.Event)
    released: asyncio.Event = field(default_factory=asyncio.Event)
    steps: dict[str, int] = field(default_factory=dict)
    held: int = 0
    stepped: Callable[[], None] = lambda: None
    files: list[StoredFile] = field(default_factory=list)
    batches: list[StoredBatch] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.working.set()

    def add_routes(self, router: web.UrlDispatcher, prefix: str) -> None:
        """Add the routes of the API."""
        for method, path, step, handler in (
            ("POST", FILES, "upload", self._upload),
            ("GET", FILES, "list_files", self._list_files),
            ("GET", f"{FILES}/{{id}}/content", "content", self._content),
            ("POST", BATCHES, "create", self._create),
            ("GET", BATCHES, "list", self._list),
            ("GET", f"{BATCHES}/{{id}}", "retrieve", self._retrieve),
            ("POST", f"{BATCHES}/{{id}}/cancel", "cancel", self._cancel),
        ):
            router.add_route(method, prefix + path, self._with_faults(step, handler))

    def close(self) -> None:
        """Stop to work."""
        for batch in self.batches:
            if batch.task is not None:
                batch.task.cancel()

    def _with_faults(
        self, step: str, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        async def handle(request: web.Request) -> web.StreamResponse:
            number = self.steps.get(step, 0)
            fault = self.fault(step, number)
            if fault != WHOLE and fault not in STEP_FAULTS:
                raise ValueError(f"'{fault}' is not a fault; use one of {', '.join(STEP_FAULTS)}")
            self.steps[step] = number + 1
            self.stepped()
            name, _, when = fault.partition("-")
            response = await handler(request) if when else None
            if when == "middle":
                assert isinstance(response, web.Response) and isinstance(response.body, bytes)
                return await self._half(request, response.body)
            if name == "hold":
                await self._hold()
            if name == "reset":
                return abort(request)
            if name in ("500", "429"):
                return error_response(f"fault {fault}", int(name), kind="server_error")
            return await handler(request) if response is None else response

        return handle

    async def _hold(self) -> None:
        self.held += 1
        self.stepped()
        await self.released.wait()

    async def _half(self, request: web.Request, body: bytes) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": str(len(body))})
        await response.prepare(request)
        await response.write(body[: len(body) // 2])
        await self._hold()
        await response.write(body[len(body) // 2 :])
        return response

    # Files

    async def _upload(self, request: web.Request) -> web.StreamResponse:
        form: Mapping[str, Any] = {}
        with suppress(ValueError, LookupError, RuntimeError):  # of a malformed form
            form = await request.post()
        upload = form.get("file")
        purpose = form.get("purpose")
        if not isinstance(upload, web.FileField) or purpose != "batch":
            return error_response("an upload needs 'file' and 'purpose', which is 'batch' here")
        content = upload.file.read()
        if len(content) > MOST_BYTES:
            return error_response("the file is larger than 200 MB", 413)
        return web.json_response(self._store(upload.filename, "batch", content).facts)

    async def _list_files(self, request: web.Request) -> web.StreamResponse:
        purpose = request.query.get("purpose")
        return _page(request, [file.facts for file in self.files if purpose in (None, file.facts["purpose"])])

    async def _content(self, request: web.Request) -> web.StreamResponse:
        file = _stored_object("file", self.files, request)
        return web.Response(body=file.content, content_type="application/octet-stream")

    def _store(self, name: str, purpose: str, content: bytes) -> StoredFile:
        facts = {
            "id": f"file-{len(self.files) + 1}",
            "object": "file",
            "bytes": len(content),
            "created_at": int(time.time()),
            "filename": name,
            "purpose": purpose,
            "status": "processed",
        }
        file = StoredFile(facts, content)
        self.files.append(file)
        return file

    # Batches

    async def _create(self, request: web.Request) -> web.StreamResponse:
        body = await json_object(request)
        file = next((file for file in self.files if file.id == body.get("input_file_id")), None)
        if file is None:
            return error_response(f"no file {body.get('input_file_id')}", 400, code="invalid_file")
        if sum(batch.status not in OVER for batch in self.batches) >= _MOST_AT_ONCE:
            return error_response(f"{_MOST_AT_ONCE} batches are in progress: try again later", 429)
        if body.get("endpoint") != URL or body.get("completion_window") != "24h":
            return error_response(f"'endpoint' is not {URL}, or 'completion_window' is not 24h")
        number = len(self.batches)
        metadata = body.get("metadata")
        facts = {"input_file_id": file.id, "created_at": int(time.time()), "metadata": metadata}
        batch = StoredBatch(f"batch_{number + 1}", [], facts)
        self.batches.append(batch)
        headers = dict(request.headers)
        batch.task = asyncio.create_task(self._work(batch, file, self.ending(number), headers))
        return web.json_response(batch.to_json())

    async def _list(self, request: web.Request) -> web.StreamResponse:
        shown = self.batches[:-1] if self.steps["list"] <= self.late else self.batches
        return _page(request, [batch.to_json() for batch in shown])

    async def _retrieve(self, request: web.Request) -> web.StreamResponse:
        return web.json_response(_stored_object("batch", self.batches, request).to_json())

    async def _cancel(self, request: web.Request) -> web.StreamResponse:
        batch = _stored_object("batch", self.batches, request)
        if batch.status in OVER:
            return error_response(f"a batch that is {batch.status} cannot be cancelled", 409)
        batch.status = "cancelling"
        batch.is_cancelled = True
        self.working.set()
        return web.json_response(batch.to_json())

    async def _work(
        self, batch: StoredBatch, file: StoredFile, ending: str, headers: Mapping[str, str]
    ) -> None:
        batch.lines, problems = _checked(file.content)
        if ending == "failed":
            problems = [_problem("invalid_request", "this batch fails", 1)]
        elif ending == "token_limit":
            problems = [_problem("token_limit_exceeded", "Enqueued token limit reached for this model")]
        if problems:
            batch.facts["errors"] = {"object": "list", "data": problems}
            batch.status = "failed"
            return
        if not batch.is_cancelled:
            batch.status = "in_progress"
        results: list[dict[str, Any]] = []
        for number, line in enumerate(batch.lines):
            await self.working.wait()
            if batch.is_cancelled or (ending == "expired" and number >= self.answered):
                break
            status, body = await self.process(Received(line["url"], headers, line["body"]))
            response = {"status_code": status, "request_id": f"req_{number}", "body": body}
            failure = {"code": "request_timeout", "message": str(body)}
            results.append(_result(line, number, *((response, None) if status else (None, failure))))
            batch.completed += status == 200
            batch.failed += status != 200
        await self.working.wait()
        code = "batch_cancelled" if batch.is_cancelled else "batch_expired"
        for number, line in enumerate(batch.lines[len(results) :], start=len(results)):
            error = {"code": code, "message": f"This request was not executed: {code}."}
            results.append(_result(line, number, None, error))
            batch.failed += 1
        if not batch.is_cancelled:
            batch.status = "finalizing"
        answers = [result for result in results if (result["response"] or {}).get("status_code") == 200]
        errors = [result for result in results if result not in answers]
        for name, lines in (("output", answers), ("error", errors)):
            if lines:
                content = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
                stored = self._store(f"{batch.id}_{name}.jsonl", "batch_output", content)
                batch.facts[f"{name}_file_id"] = stored.id
        if batch.is_cancelled:
            batch.status = "cancelled"
        else:
            batch.status = "expired" if ending == "expired" else "completed"


def _checked(content: bytes) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The requests of an input file, and what is wrong with it."""
    lines: list[dict[str, Any]] = []
    problems: list[dict[str, Any]] = []
    seen_ids: set[Any] = set()
    models: set[Any] = set()
    for number, text in enumerate(content.splitlines(), start=1):
        try:
            line = json.loads(text)
            body = line["body"]
            if (line["method"], line["url"]) != ("POST", URL) or not has_messages(body) or body.get("stream"):
                raise ValueError
            custom_id = line["custom_id"]
            if not isinstance(custom_id, str) or not 0 < len(custom_id) <= 64:
                raise ValueError
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            problems.append(_problem("invalid_json_line", "This line is not a request.", number))
            continue
        if custom_id in seen_ids:
            problems.append(_problem("duplicate_custom_id", f"{custom_id} occurs twice.", number))
        seen_ids.add(custom_id)
        models.add(str(body.get("model")))
        lines.append(line)
    if len(models) > 1:
        problems.append(_problem("mismatched_model", "All requests must name the same model."))
    if not (lines or problems) or len(lines) > MOST_REQUESTS:
        problems.append(_problem("invalid_request", f"A batch has 1 to {MOST_REQUESTS} requests."))
    return lines, problems


def _problem(code: str, message: str, line: int | None = None) -> dict[str, Any]:
    return {"code": code, "message": message, "line": line, "param": None}


def _result(line: Mapping[str, Any], number: int, response: Any, error: Any) -> dict[str, Any]:
    about = {"id": f"batch_req_{number}", "custom_id": line["custom_id"]}
    return {**about, "response": response, "error": error}


def _page(request: web.Request, objects: Sequence[Mapping[str, Any]]) -> web.Response:
    """A page of a list: the newest first, those after the object with the id `after`."""
    newest_first = list(reversed(objects))
    after = request.query.get("after")
    start = (
        next((position + 1 for position, entry in enumerate(newest_first) if entry["id"] == after), 0)
        if after
        else 0
    )
    stop = start + int(request.query.get("limit", _PAGE))
    page = newest_first[start:stop]
    ends = {"first_id": page[0]["id"], "last_id": page[-1]["id"]} if page else {}
    return web.json_response({"object": "list", "data": page, "has_more": stop < len(newest_first), **ends})


def _stored_object(what: str, objects: Iterable[Stored], request: web.Request) -> Stored:
    """The object that the address of a request names.

    Raises:
        HTTPNotFound: There is none.
    """
    for stored in objects:
        if stored.id == request.match_info["id"]:
            return stored
    raise web.HTTPNotFound(reason=f"No {what} found with id {request.match_info['id']!r}.")
