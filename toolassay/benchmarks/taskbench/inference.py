"""The work of a model on one request: the answer parsed to a plan, and the line of the prediction file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import msgspec
from msgspec import UNSET

from toolassay.benchmarks.taskbench.entries import PlanEntry, entry_of
from toolassay.benchmarks.taskbench.prompt import PlanPrompt, built_in
from toolassay.files.data_files import package_data
from toolassay.graph import DependencyType, ToolGraph
from toolassay.models import ChatRequest, ChatResponse
from toolassay.models.json_answers import ParsedAnswer, read_answer, shown_forms, without_reasoning
from toolassay.offline.model_tasks import PlanTask, ReformatTask
from toolassay.plans.normalised_plan import decoded, published_arguments
from toolassay.prompts.templates import turns_of
from toolassay.records.dataset import Request, RequestId
from toolassay.records.requests import key_of, request_fingerprint
from toolassay.runs.items import ENDED, Ask, ItemWork, Recorded
from toolassay.runs.journal import AnswerLine, Journal

PLAN_KEYS = ("task_steps", "task_nodes", "task_links")
_REQUIRED = ("task_steps", "task_nodes")  # the prompts of resource graphs ask for no links

_VARIANTS = package_data(__package__, "key_variants.json")
"""Other names that models give the keys of a plan, a node, a link and an argument, the likeliest first."""


def read_plan(
    text: str, dependency_type: DependencyType, finish_reason: str | None = None
) -> tuple[dict[str, Any] | None, ParsedAnswer]:
    """Parse the plan in a model's answer.

    Content is kept as the model wrote it, including unknown tools, wrong types and superfluous steps. Only
    key names are changed to the published ones (`steps` to `task_steps`, a node's `id` to `task`, a link's
    `from` to `source`, …), and only if the published key is absent. Arguments with names given as one object
    become a list of `{"name": …, "value": …}`. Unknown keys are dropped at the top level and kept below.

    Of several plans, the last complete one with steps and nodes is used. An answer that repeats the form
    shown in the prompt is not a plan. A plan must have a list `task_nodes` of objects with a string `task`,
    because the scores need it; any other answer has a `problem`.

    Args:
        text: the raw answer.
        dependency_type: determines the form of arguments.
        finish_reason: the provider's reason for the end of the answer.

    Returns:
        The plan, with those of the keys `task_steps`, `task_nodes` and `task_links` that the answer has, in
        this order; None if no object has any of them. An incomplete plan is returned as well: it counts as an
        answer only if `ParsedAnswer.problem` is None.

    >>> read_plan('{"steps": ["Do it"], "nodes": [{"id": "Doer"}], "links": []}', "resource")[0]
    {'task_steps': ['Do it'], 'task_nodes': [{'task': 'Doer'}], 'task_links': []}
    """
    forms = _forms(dependency_type)
    answer = read_answer(text, keys=PLAN_KEYS, required=_REQUIRED, forms=forms, finish_reason=finish_reason)
    if answer.value is None:
        answer = _read_variants(text, finish_reason) or answer
    if answer.value is None:
        return None, answer
    plan = _published_form(answer.value, dependency_type)
    return plan, answer if answer.problem else answer._replace(problem=problem_of(plan))


def is_strict_plan(text: str) -> bool:
    """Whether an answer, from its first brace to its last one, is a plan in JSON with the published keys.

    The published script has every other answer rewritten. Reasoning is removed first.

    >>> plan = '{"task_steps": ["Go"], "task_nodes": [{"task": "a"}]}'
    >>> is_strict_plan(f"Sure: {plan}"), is_strict_plan(plan[:-1])
    (True, False)
    """
    text, _ = without_reasoning(text)
    try:
        plan = json.loads(text[text.find("{") : text.rfind("}") + 1])
    except (ValueError, RecursionError):
        return False
    return isinstance(plan, dict) and set(_REQUIRED) <= plan.keys() and problem_of(plan) is None


def problem_of(plan: Any) -> str | None:
    """The reason why the scores cannot use a plan; None if they can.

    >>> problem_of({"task_nodes": []}), problem_of({"task_steps": []})
    (None, 'the plan has no list task_nodes')
    """
    nodes = plan.get("task_nodes") if isinstance(plan, Mapping) else None
    if not isinstance(nodes, list):
        return "the plan has no list task_nodes"
    if not all(isinstance(node, dict) and isinstance(node.get("task"), str) for node in nodes):
        return "a node of the plan names no tool"
    return None


def _forms(kind: DependencyType) -> tuple[dict[str, Any], ...]:
    """The plans that the prompts show as the answer format, including that of the worked example."""
    return _forms_in(*map(built_in, (kind, f"reformat_{kind}", f"example_{kind}")))


@cache
def _forms_in(plan: str, reformat: str, example: str) -> tuple[dict[str, Any], ...]:
    texts = plan, reformat, turns_of(example)[1]["content"]
    return shown_forms(texts, keys=PLAN_KEYS, required=_REQUIRED)


def _read_variants(text: str, finish_reason: str | None) -> ParsedAnswer | None:
    """A plan with variants of the key names. It needs nodes, because `steps` alone is too common a word."""
    variants = [key for keys in _VARIANTS["plan"].values() for key in keys]
    answer = read_answer(text, keys=variants, finish_reason=finish_reason)
    if answer.value is None or answer.value.keys().isdisjoint(_VARIANTS["plan"]["task_nodes"]):
        return None
    return answer


def _published_form(value: Mapping[str, Any], dependency_type: DependencyType) -> dict[str, Any]:
    record = _renamed(value, _VARIANTS["plan"])
    plan = {
        key: decoded(record[key]) if isinstance(record[key], str) else record[key]
        for key in PLAN_KEYS
        if key in record
    }
    if isinstance(plan.get("task_nodes"), list):
        plan["task_nodes"] = [_node(node, dependency_type) for node in plan["task_nodes"]]
    if isinstance(plan.get("task_links"), list):
        plan["task_links"] = [_renamed(link, _VARIANTS["link"]) for link in plan["task_links"]]
    return plan


def _node(node: Any, dependency_type: DependencyType) -> Any:
    if isinstance(node, dict) and isinstance(node.get("function"), dict):
        node = node["function"]  # a call as OpenAI's API has it
    node = _renamed(node, _VARIANTS["node"])
    if dependency_type == "resource" or not isinstance(node, dict) or "arguments" not in node:
        return node
    arguments = node["arguments"]
    if isinstance(arguments, list):
        arguments = [_renamed(argument, _VARIANTS["argument"]) for argument in arguments]
    return {**node, "arguments": published_arguments(arguments)}


def _renamed(record: Any, variants: Mapping[str, Sequence[str]]) -> Any:
    """The record with each absent key taken from the first variant it has; anything else unchanged.

    A number is never taken for a tool or a list: an `id` of 0 is a position, not a name.
    """
    if not isinstance(record, Mapping):
        return record
    names: dict[str, str] = {}
    for published, others in variants.items():
        if published not in record:
            variant = next(
                (other for other in others if isinstance(record.get(other), str | list | dict)), None
            )
            if variant is not None:
                names[variant] = published
    return {names.get(key, key): item for key, item in record.items()}


def is_settled(entry: PlanEntry) -> bool:
    """Whether an entry is final, so that a continued run does not repeat the request."""
    return entry.outcome in ENDED and entry.has_answer


def is_unusable(entry: PlanEntry, dependency_type: DependencyType) -> bool:
    """Whether the answer of a settled entry is malformed or truncated."""
    if entry.adopted is not None or entry.outcome == "refused":
        return entry.outcome == "malformed"
    return predicted_plan(entry, dependency_type)[0] is None


def read_entry(
    entry: PlanEntry, dependency_type: DependencyType
) -> tuple[dict[str, Any] | None, ParsedAnswer]:
    """Parse the raw answer of an entry, or its reformatted answer if it has one."""
    if entry.reformatted is not None:
        return read_plan(entry.reformatted, dependency_type, entry.reformatted_finish_reason)
    return read_plan(entry.response or "", dependency_type, entry.finish_reason)


def predicted_plan(entry: PlanEntry, dependency_type: DependencyType) -> tuple[dict[str, Any] | None, bool]:
    """The plan of an entry (None if malformed), and whether the answer was truncated."""
    plan, answer = read_entry(entry, dependency_type)
    return (None if answer.problem else plan), answer.truncated


class PlanLine(msgspec.Struct, omit_defaults=True):
    """A line of a prediction file.

    Attributes:
        id: Id of the request.
        user_request: Its text.
        result: The plan; None without one.
        outcome: Why there is no plan.
        truncated: Whether the answer without a plan was cut off.
        answer: The final answer of an agent; empty without one.
        calls: All calls of an agent in order, each as `ExecutedCall`.
    """

    id: RequestId
    user_request: str
    result: dict[str, Any] | None
    outcome: Literal["refused", "malformed"] | None = None
    truncated: bool = False
    answer: str = ""
    calls: Sequence[Mapping[str, Any]] = ()


def prediction_line(request: Request, entry: PlanEntry, dependency_type: DependencyType) -> dict[str, Any]:
    """The line of a settled entry; a line adopted from an existing file is unchanged.

    >>> entry = PlanEntry(outcome="answered", response="{}", finish_reason="stop")
    >>> prediction_line(Request(7, "Hi", 1), entry, "resource")
    {'id': 7, 'user_request': 'Hi', 'result': None, 'outcome': 'malformed'}
    """
    if entry.adopted is not None:
        return entry.adopted
    if entry.outcome == "refused":
        line = PlanLine(request.id, request.text, None, "refused")
    elif entry.plan is not UNSET:
        line = PlanLine(request.id, request.text, entry.plan)
        line.answer = entry.answer
        line.calls = entry.made
        line.outcome = "malformed" if entry.plan is None else None
    else:
        plan, truncated = predicted_plan(entry, dependency_type)
        line = PlanLine(request.id, request.text, plan)
        if plan is None:
            line.outcome = "malformed"
            line.truncated = truncated
    record: dict[str, Any] = msgspec.to_builtins(line)
    return record


def prediction_lines(
    requests: Iterable[Request], journal: Journal, dependency_type: DependencyType
) -> Iterator[dict[str, Any]]:
    """One line per settled request, in the order of the requests."""
    for request in requests:
        entry = entry_of(journal, request)
        if is_settled(entry):
            yield prediction_line(request, entry, dependency_type)


# The penalty is the published one. The longest gold plan has 968 tokens of SmolLM2: twice as many suffice.
PARAMETERS: Mapping[str, Any] = {"presence_penalty": 1.05, "max_tokens": 2000}


Choose = Callable[[str], list[str]]
"""The ids of the tools that a request shows, by its text."""


async def offered_tools(choose: Choose, item: Request, ask: Ask) -> list[str]:
    """The tools that a request shows, which the journal keeps: a retriever is not asked twice."""

    async def chosen() -> list[str]:
        return choose(item.text)

    tools: list[str] = await ask.once(chosen)
    return tools


class RequestItems(ItemWork[Request]):
    """The requests of a folder as the items of a run."""

    record = PlanEntry

    def key_of(self, item: Request) -> str:
        """The key of a request."""
        return key_of(item.id)

    def identity(self, item: Request) -> Mapping[str, str]:
        """The wording of the request."""
        return {"request": request_fingerprint(item.text)}


@dataclass(frozen=True)
class PlanItems(RequestItems):
    """The work on single requests.

    Attributes:
        graph: the tool graph (the offline planner works with it; served models see only the prompt).
        prompt: how the model is asked.
        parameters: of the requests (temperature, top_p, …), over the published ones.
        rewriter: name of the model that rewrites answers; None leaves them malformed.
        show: receives the messages of a request and its answer.
        choose: chooses the tools that a request shows; None for all.
    """

    graph: ToolGraph
    prompt: PlanPrompt
    parameters: Mapping[str, Any]
    rewriter: str | None = None
    show: Callable[[Sequence[Mapping[str, Any]], str], None] | None = None
    choose: Choose | None = None

    def entry_of(self, journal: Journal, item: Request) -> PlanEntry:
        """The entry of a request, with its answers."""
        return entry_of(journal, item)

    def is_unusable(self, entry: PlanEntry, journal: Journal) -> bool:
        """Whether the answer is malformed or truncated."""
        return is_unusable(entry, self.graph.dependency_type)

    def recorded(self, entry: PlanEntry) -> Recorded:
        """The answers as entries held them."""
        figures = entry.finish_reason, entry.prompt_tokens, entry.completion_tokens
        calls = tuple(entry.tool_calls or ())
        reason = entry.reformatted_finish_reason
        first = [] if entry.response is None else [AnswerLine(entry.response, *figures, tool_calls=calls)]
        second = [] if entry.reformatted is None else [AnswerLine(entry.reformatted, reason)]
        return {"planner": first, "reformat": second}

    def shown(self, item: Request) -> tuple[PlanPrompt, ToolGraph]:
        """The prompt and the graph of a request."""
        return self.prompt, self.graph

    async def answer(self, item: Request, ask: Ask) -> PlanEntry:
        """Request a plan, and its rewriting where it is not the requested JSON."""
        prompt, graph = self.shown(item)
        offered = None
        if self.choose is not None:
            offered = await offered_tools(self.choose, item, ask)
            prompt = prompt.of_tools(offered)
        messages = prompt.messages(item.text)
        parameters = {**PARAMETERS, **self.parameters}
        response = await ask(ChatRequest(messages, parameters, None, PlanTask(item.text, graph), "planner"))
        if self.show is not None:
            self.show(messages, response.text)
        if response.refused:
            return PlanEntry(outcome="refused", offered=offered)
        plan, problem = self._read(response)
        is_readable = problem is None and is_strict_plan(response.text)
        rewriter = self.rewriter if response.text.strip() and not is_readable else None
        if rewriter is not None:
            message = {"role": "user", "content": prompt.reformat(response.text)}
            task = ReformatTask(response.text)
            rewritten = await ask(ChatRequest([message], parameters, None, task, "reformat"), rewriter)
            plan, problem = self._read(rewritten)
        outcome = "malformed" if plan is None or problem is not None else "answered"
        return PlanEntry(outcome=outcome, rewriter=rewriter or "", offered=offered)

    def _read(self, response: ChatResponse) -> tuple[dict[str, Any] | None, str | None]:
        plan, read = read_plan(response.text, self.graph.dependency_type, response.finish_reason)
        return plan, read.problem
