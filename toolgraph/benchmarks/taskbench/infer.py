"""Inference: requests in, predictions out, through one model and one journal."""

from __future__ import annotations

import asyncio
import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from toolgraph.benchmarks.taskbench.parse import read_plan
from toolgraph.benchmarks.taskbench.prompt import PlanPrompt
from toolgraph.dataset import Request, RequestId
from toolgraph.errors import UsageError
from toolgraph.files import read_json_lines, write_json_lines
from toolgraph.graph import ToolGraph
from toolgraph.models import ChatModel, ChatRequest, ChatResponse, ModelError
from toolgraph.offline.tasks import PlanTask, ReformatTask
from toolgraph.runs import Journal, RunSummary, run_items

TIMEOUT = 300.0
REFORMAT_TIMEOUT = 120.0
PARAMETERS: Mapping[str, Any] = {"presence_penalty": 1.05, "max_tokens": 2000}

_RESPONSE = ("response", "finish_reason", "prompt_tokens", "completion_tokens")
_ANSWERS = {"response", "adopted"}


@dataclass(frozen=True)
class Inference:
    """How an inference ended: lines written, requests answered before, and what happened to the rest."""

    written: int
    already: int
    summary: RunSummary
    adopted: int = 0


class Inferrer:
    """Asks a model for the plan of each request, continuing where it left off.

    Args:
        graph: the tool graph (the offline planner works with it; served models see only the prompt).
        prompt: how the model is asked.
        model: who is asked.
        parameters: of the request (temperature, top_p, …).
        reformatter: who rewrites an answer that could not be read; None leaves it malformed.
        show: told the first exchange, if given.
    """

    def __init__(
        self,
        graph: ToolGraph,
        prompt: PlanPrompt,
        model: ChatModel,
        *,
        parameters: Mapping[str, Any],
        reformatter: ChatModel | None = None,
        show: Callable[[str, str], None] | None = None,
    ) -> None:
        self._graph = graph
        self._prompt = prompt
        self._model = model
        self._parameters = {**PARAMETERS, **parameters}
        self._reformatter = reformatter
        self._show = show

    def run(
        self,
        requests: Sequence[Request],
        output: Path,
        journal: Journal,
        *,
        concurrency: int = 1,
        done: Callable[[], None] = lambda: None,
    ) -> Inference:
        """Answer what is not answered yet and write `output`, one line a request, in request order.

        Args:
            requests: each id once.
            output: the prediction file; lines it holds that the journal does not know are taken over as
                answers, and the file as it was is kept beside the journal. Where there is nothing to
                write, nothing is written.
            journal: of this run.
            concurrency: requests in flight at most.
            done: called after each request.

        Raises:
            ToolgraphError: the run cannot go on.
        """
        adopted = _adopt(output, requests, journal) if output.exists() else 0
        already = 0

        def missing() -> Iterator[Request]:
            nonlocal already
            for request in requests:
                if self._settled(journal, request):
                    already += 1
                    done()
                else:
                    yield request

        async def ask(request: Request) -> str:
            entry: dict[str, Any] = {"request": _fingerprint(request.text)}
            try:
                # An answer whose rewriting failed is paid for: it is not asked for again.
                entry |= self._unfinished(journal, request) or await self._answer(request)
                plan, answer = read_plan(
                    entry["response"], self._graph.dependency_type, entry["finish_reason"]
                )
                if plan is None and not answer.truncated and self._reformatter is not None:
                    entry |= await self._rewrite(entry["response"])
            except (ModelError, asyncio.CancelledError) as error:
                failure = error if isinstance(error, ModelError) else None
                if "response" in entry or (failure is not None and not failure.stops_run):
                    how = {"outcome": failure.outcome if failure else "not run", "problem": str(error)}
                    journal.append(_key(request.id), {**how, **entry})
                raise
            outcome = "malformed" if self._plan(entry)[0] is None else "answered"
            journal.append(_key(request.id), {"outcome": outcome, **entry})
            return outcome

        async def ask_all() -> RunSummary:
            try:
                return await run_items(missing(), ask, concurrency=concurrency, done=done)
            finally:
                for model in {id(m): m for m in (self._model, self._reformatter) if m is not None}.values():
                    await model.close()

        try:
            summary = asyncio.run(ask_all())
        finally:
            lines = self._lines(requests, journal)
            first = next(lines, None)
            written = 0 if first is None else write_json_lines(output, chain([first], lines))
        return Inference(written, already, summary, adopted)

    async def _answer(self, request: Request) -> dict[str, Any]:
        prompt = self._prompt.render(request.text)
        response = await self._complete(self._model, prompt, TIMEOUT, PlanTask(request.text, self._graph))
        if self._show is not None:
            self._show(prompt, response.text)
            self._show = None
        return {
            "response": response.text,
            "finish_reason": response.finish_reason,
            "prompt_tokens": response.prompt_tokens,
            "completion_tokens": response.completion_tokens,
        }

    async def _rewrite(self, answer: str) -> dict[str, Any]:
        assert self._reformatter is not None
        prompt, task = self._prompt.reformat(answer), ReformatTask(answer)
        rewritten = await self._complete(self._reformatter, prompt, REFORMAT_TIMEOUT, task)
        return {"reformatted": rewritten.text, "reformatted_finish_reason": rewritten.finish_reason}

    async def _complete(self, model: ChatModel, prompt: str, seconds: float, task: Any) -> ChatResponse:
        message = {"role": "user", "content": prompt}
        return await model.complete(ChatRequest([message], self._parameters, seconds, task))

    def _plan(self, entry: Mapping[str, Any]) -> tuple[dict[str, Any] | None, bool]:
        """The plan in a journal entry, and whether the answer was cut off."""
        text, reason = entry["response"], entry["finish_reason"]
        if "reformatted" in entry:
            text, reason = entry["reformatted"], entry["reformatted_finish_reason"]
        plan, answer = read_plan(text, self._graph.dependency_type, reason)
        return (None if answer.truncated else plan), answer.truncated

    @staticmethod
    def _settled(journal: Journal, request: Request) -> bool:
        entry = _entry(journal, request)
        return entry.get("outcome") in ("answered", "malformed") and bool(_ANSWERS & entry.keys())

    @staticmethod
    def _unfinished(journal: Journal, request: Request) -> dict[str, Any] | None:
        entry = _entry(journal, request)
        return {key: entry[key] for key in _RESPONSE} if entry.keys() >= set(_RESPONSE) else None

    def _lines(self, requests: Sequence[Request], journal: Journal) -> Iterator[dict[str, Any]]:
        for request in requests:
            if not self._settled(journal, request):
                continue
            entry = journal[_key(request.id)]
            if "adopted" in entry:
                yield entry["adopted"]
                continue
            plan, truncated = self._plan(entry)
            line: dict[str, Any] = {"id": request.id, "user_request": request.text, "result": plan}
            if plan is None:
                line["outcome"] = "malformed"
                if truncated:
                    line["truncated"] = True
            yield line


def _adopt(output: Path, requests: Sequence[Request], journal: Journal) -> int:
    """Take over the lines of a prediction file that the journal does not know.

    They are those of the published scripts, say, or of a run whose journal was lost. The file as it was
    is kept beside the journal. Returns how many.
    """
    adopted = 0
    texts = {_key(request.id): request.text for request in requests}
    before: set[str] = set(journal)
    kept = journal.path.with_name("adopted.jsonl")
    for line in _whole_lines(output):
        key = _key(line["id"])
        if key in before:
            continue
        if not kept.exists():
            shutil.copyfile(output, kept)
        text = line.get("user_request", line.get("instruction", texts.get(key)))
        outcome = "answered" if line.get("result", line.get("task_nodes")) is not None else "malformed"
        entry = {"outcome": outcome, "request": _fingerprint(str(text)), "adopted": line}
        journal.append(key, entry)
        adopted += 1
    return adopted


def _whole_lines(output: Path) -> Iterator[dict[str, Any]]:
    """The prediction lines of a file; a last line that a crash left unfinished is passed over."""
    number = 0
    try:
        for number, line in read_json_lines(output):
            if not isinstance(line, dict) or not isinstance(line.get("id"), str | int):
                raise UsageError(
                    "is no prediction with an id", file=output, line=number, fix="remove that line"
                )
            yield line
    except UsageError as error:
        if error.line is None:
            raise
        with output.open("rb") as stream:
            last = sum(1 for _ in stream)
            stream.seek(-1, 2)
            torn = stream.read(1) != b"\n"
        if not (torn and error.line == last > number):
            raise


def _entry(journal: Journal, request: Request) -> dict[str, Any]:
    """What the journal holds for a request as it is worded now; empty if nothing."""
    entry = journal.get(_key(request.id))
    return entry if entry.get("request") == _fingerprint(request.text) else {}


def _key(request_id: RequestId) -> str:
    return json.dumps(request_id, ensure_ascii=False)


def _fingerprint(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
