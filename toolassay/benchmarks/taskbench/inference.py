"""The work on one request: a plan from the model, rewritten by another answer where it cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from toolassay.benchmarks.taskbench.parse import is_strict_plan, read_plan
from toolassay.benchmarks.taskbench.prediction_lines import entry_of, is_unusable
from toolassay.benchmarks.taskbench.prompt import PlanPrompt
from toolassay.dataset import Request
from toolassay.graph import ToolGraph
from toolassay.models import ChatRequest, ChatResponse
from toolassay.offline.model_tasks import PlanTask, ReformatTask
from toolassay.requests import key_of, request_fingerprint
from toolassay.runs import Journal
from toolassay.runs.items import Ask, ItemWork

PARAMETERS: Mapping[str, Any] = {"presence_penalty": 1.05, "max_tokens": 2000}


class RequestStream(Protocol):
    """Requests that can be iterated several times; ids are unique."""

    def __iter__(self) -> Iterator[Request]: ...

    def __len__(self) -> int: ...


@dataclass(frozen=True)
class PlanItems(ItemWork[Request]):
    """The work on single requests.

    Attributes:
        graph: the tool graph (the offline planner works with it; served models see only the prompt).
        prompt: how the model is asked.
        parameters: of the requests (temperature, top_p, …), over the published ones.
        rewriter: name of the model that rewrites answers; None leaves them malformed.
        show: receives the messages of a request and its answer.
    """

    graph: ToolGraph
    prompt: PlanPrompt
    parameters: Mapping[str, Any]
    rewriter: str | None = None
    show: Callable[[Sequence[Mapping[str, Any]], str], None] | None = None

    def key_of(self, item: Request) -> str:
        """The key of a request."""
        return key_of(item.id)

    def identity(self, item: Request) -> dict[str, Any]:
        """The wording of the request."""
        return {"request": request_fingerprint(item.text)}

    def entry_of(self, journal: Journal, item: Request) -> dict[str, Any]:
        """The entry of a request, with its answers."""
        return entry_of(journal, item)

    def is_unusable(self, entry: Mapping[str, Any], journal: Journal) -> bool:
        """Whether the answer is malformed or truncated."""
        return is_unusable(entry, self.graph.dependency_type)

    def recorded(self, entry: Mapping[str, Any]) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """The answers as entries held them."""
        found: dict[str, list[Mapping[str, Any]]] = {}
        if "response" in entry:
            found["planner"] = [entry]
        if "reformatted" in entry:
            rewritten = {
                "response": entry["reformatted"],
                "finish_reason": entry["reformatted_finish_reason"],
            }
            found["reformat"] = [rewritten]
        return found

    def shown(self, item: Request) -> tuple[PlanPrompt, ToolGraph]:
        """The prompt and the graph of a request."""
        return self.prompt, self.graph

    async def answer(self, item: Request, ask: Ask) -> dict[str, Any]:
        """Request a plan, and its rewriting where it is not the requested JSON."""
        prompt, graph = self.shown(item)
        messages, parameters = prompt.messages(item.text), {**PARAMETERS, **self.parameters}
        response = await ask(ChatRequest(messages, parameters, None, PlanTask(item.text, graph), "planner"))
        if self.show is not None:
            self.show(messages, response.text)
        if response.refused:
            return {"outcome": "refused"}
        plan, problem = self._read(response)
        is_readable = problem is None and is_strict_plan(response.text)
        rewriter = self.rewriter if response.text.strip() and not is_readable else None
        if rewriter is not None:
            message = {"role": "user", "content": prompt.reformat(response.text)}
            task = ReformatTask(response.text)
            rewritten = await ask(ChatRequest([message], parameters, None, task, "reformat"), rewriter)
            plan, problem = self._read(rewritten)
        outcome = "malformed" if plan is None or problem is not None else "answered"
        return {"outcome": outcome, **({"rewriter": rewriter} if rewriter else {})}

    def _read(self, response: ChatResponse) -> tuple[dict[str, Any] | None, str | None]:
        plan, read = read_plan(response.text, self.graph.dependency_type, response.finish_reason)
        return plan, read.problem
