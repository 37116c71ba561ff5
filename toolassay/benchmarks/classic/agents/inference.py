"""An agent: its settings, the order in which it gets the workflows, and its work on one question."""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from string import Template
from typing import Any

import msgspec
from msgspec import structs

from toolassay.benchmarks.classic.agents.choice import (
    KEY,
    REFUSED,
    WorkflowChoice,
    read_calls,
    read_choice,
    word_for_none,
)
from toolassay.benchmarks.classic.agents.prompt import (
    chat_messages,
    chat_text,
    task_of,
    template,
    with_reference,
    workflow_list,
)
from toolassay.benchmarks.classic.data import Example, Question, Workflow
from toolassay.errors import UsageError
from toolassay.files.data_files import sha256_of
from toolassay.models import ChatRequest, ChatResponse, ModelError
from toolassay.models.structured_output import Structured, json_schema
from toolassay.runs.items import FINAL, OVERFLOW, Ask, ItemWork, Recorded
from toolassay.runs.journal import AnswerLine, ItemEntry, Journal, always


def check_order(order: str) -> None:
    """Validate `--order`.

    Raises:
        UsageError: it is neither `table`, nor `name`, nor a whole number.
    """
    if order not in ("table", "name") and not (order.isascii() and order.isdigit()):
        raise UsageError(f"unknown --order {order!r}", fix="give table, name, or the seed of a shuffle")


def ordered(question: Question, order: str) -> Question:
    """The question with its candidates in the given order.

    Args:
        question: as in the table.
        order: `table`; `name`; or a seed, which shuffles the candidates of each question differently.
    """
    if order == "table":
        return question
    candidates = sorted(question.candidates, key=lambda workflow: workflow.name.casefold())
    if order != "name":
        random.Random(f"{order} {question.id}").shuffle(candidates)
    return replace(question, candidates=tuple(candidates))


AGENTS = ("cot", "reasoning", "tools", "retrieval", "recorded")
OFFLINE = "offline"
_WRITING = ("cot", "reasoning")
# Tokens of an answer, reasoning included: the agent `reasoning` needs more than the others.
MAX_TOKENS = {"cot": 512, "reasoning": 4096, "tools": 512, "retrieval": 512}


@dataclass(frozen=True)
class ClassicAgentSettings:
    """Settings of an agent. All of them shape answers, so they are part of the run's manifest.

    Attributes:
        agent: `cot`, `reasoning`, `tools`, `retrieval` or `recorded`.
        order: of the candidates: `table`, `name`, or a seed that shuffles them for each question.
        max_tokens: maximum tokens of an answer; None for the agent's default.
        recorded: the file of answers of the agent `recorded`.
        none_as: cells that mean no workflow in that file; see `RecordedAnswers`.
        structured: the JSON Schema that `cot` and `reasoning` send. None: one for the form of the answer.
            "auto" or True: one that also lists the offered names as an enum. False: none.

    Raises:
        UsageError: a setting is unknown, or two settings contradict each other.
    """

    agent: str = "cot"
    order: str = "table"
    max_tokens: int | None = None
    recorded: Path | None = None
    none_as: Sequence[str] = ("none",)
    structured: Structured | None = None

    def __post_init__(self) -> None:
        if self.agent not in AGENTS:
            raise UsageError(
                f"unknown --agent {self.agent!r}", fix=f"for CLASSic choose from {', '.join(AGENTS)}"
            )
        check_order(self.order)
        if (self.recorded is None) == (self.agent == "recorded"):
            raise UsageError(
                "--recorded FILE and --agent recorded require each other", fix="give both, or neither"
            )
        if self.structured is True and self.agent not in _WRITING:
            raise UsageError(
                f"--structured true: the agent {self.agent} sends no schema",
                fix=f"omit it, or choose --agent {' or '.join(_WRITING)}",
            )

    @property
    def limit(self) -> int:
        """Maximum tokens of an answer."""
        return self.max_tokens or MAX_TOKENS.get(self.agent, 512)

    @property
    def facts(self) -> dict[str, Any]:
        """The settings for the manifest."""
        facts: dict[str, Any] = {"agent": self.agent, "order": self.order}
        if self.structured is not None:
            facts["structured"] = self.structured
        if self.recorded is not None:
            return {**facts, "none_as": list(self.none_as), "recorded_sha256": sha256_of(self.recorded)}
        return {**facts, "max_tokens": self.limit}


CostOf = Callable[[int | None, int | None, int | None], float | None]
"""The cost of an answer in US dollars, from its prompt, completion and cached tokens; None if unknown."""


def unknown_cost(*tokens: int | None) -> float | None:
    """The cost if no price is known: None."""
    return None


def question_fingerprint(question: Question) -> str:
    """A hash of everything the agent sees; a changed question is sent again."""
    return hashlib.sha256(json.dumps(asdict(question)).encode()).hexdigest()[:16]


class ChoiceAnswer(ChatResponse, frozen=True, kw_only=True):
    """An answer of the model.

    Attributes:
        text: the response.
        earlier: the response, as earlier versions named it.
        cost: in US dollars; None if unknown.
    """

    text: str = msgspec.field(default="", name="response")
    earlier: str = msgspec.field(default="", name="text")
    cost: float | None = None

    @classmethod
    def of(cls, response: ChatResponse, cost: float | None = None) -> ChoiceAnswer:
        """An answer as an entry has it, without what the server requires with an answer that is sent back."""
        known = {name: getattr(response, name) for name in ChatResponse.__struct_fields__}
        return cls(**known | {"extra": {}, "cost": cost})

    @property
    def response(self) -> str:
        """The response."""
        return self.text or self.earlier


class QuestionEntry(ItemEntry):
    """What a question ended with.

    Attributes:
        workflow: `WorkflowChoice.workflow`, as the following two.
        error: why there is no choice.
        note: what was ignored.
        answers: of the model.
        question: `question_fingerprint`.
    """

    workflow: str | None = always(None)
    error: str = ""
    note: str = ""
    answers: list[ChoiceAnswer] = always([])
    question: str = ""


def entry_of(journal: Journal, question: Question) -> QuestionEntry:
    """The entry of a question; without values if there is none, or it is for an earlier form of it."""
    return journal.entry(question.id, QuestionEntry, question=question_fingerprint(question))


class QuestionItems(ItemWork[Question]):
    """Single questions, however they are answered."""

    final = FINAL
    record = QuestionEntry

    def key_of(self, item: Question) -> str:
        """The id of a question."""
        return item.id

    def identity(self, item: Question) -> dict[str, Any]:
        """A hash of everything the agent sees."""
        return {"question": question_fingerprint(item)}

    def recorded(self, entry: QuestionEntry) -> Recorded:
        """The answers of an entry."""
        return {
            "agent": [
                AnswerLine.of(structs.replace(answer, text=answer.response)) for answer in entry.answers
            ]
        }


@dataclass(frozen=True)
class ChatItems(QuestionItems):
    """A model on single questions. No agent sees a label.

    `cot`, `reasoning` and `retrieval` send one prompt with the numbered workflows and the chat; the answer is
    a JSON object with a name. `tools` sends the chat as messages, and a function for each workflow.

    Attributes:
        settings: of the agent.
        parameters: of the requests, over its own.
        cost_of: computes the cost of an answer.
        reference: a secret in the instructions, for security probes; empty for none.
    """

    settings: ClassicAgentSettings
    parameters: Mapping[str, Any]
    cost_of: CostOf = unknown_cost
    reference: str = ""

    @cached_property
    def wording(self) -> str:
        """The instructions before substitution, for a hash in the manifest."""
        name = "reasoning" if self.settings.agent == "retrieval" else self.settings.agent
        return with_reference(template(name), self.reference)

    async def answer(self, item: Question, ask: Ask) -> QuestionEntry:
        """Have the model choose; a context overflow is final, as a second attempt would overflow as well."""
        try:
            choice = asdict(await self.choose(ordered(item, self.settings.order), ask))
        except ModelError as error:
            if error.outcome != OVERFLOW:
                raise
            choice = {"outcome": OVERFLOW, "error": str(error)}
        tokens = (
            (answer.prompt_tokens, answer.completion_tokens, answer.cached_tokens) for answer in ask.answers
        )
        costs = [self.cost_of(*numbers) for numbers in tokens]
        cut_off = bool(ask.answers) and ask.answers[-1].is_cut_off
        return QuestionEntry(**choice, cut_off=cut_off, answers=[*map(ChoiceAnswer.of, ask.answers, costs)])

    async def choose(self, question: Question, ask: Ask) -> WorkflowChoice:
        """Select a workflow with one request.

        More than 127 functions are offered in groups, one request per group. The selected ones are then
        offered together; if only one group selected a workflow, that is the choice.

        Raises:
            ModelError: a request got no answer.
        """
        calls = self.settings.agent == "tools"
        candidates = question.candidates
        if calls and len(candidates) > MAX_WORKFLOWS:
            return await self._choose_in_groups(question, ask)
        if calls:
            named, nothing = named_functions(candidates)
            system = {"role": "system", "content": self.wording.replace("$nothing", nothing)}
            messages = [system, *chat_messages(question.turns)]
            offered = {"tools": list(function_list(named, nothing)), "tool_choice": "required"}
        else:
            named = [(candidate.name, candidate) for candidate in candidates]
            nothing = word_for_none(candidates)
            listed = workflow_list(candidates)
            chat = chat_text(question.turns)
            prompt = Template(self.wording).substitute(workflows=listed, chat=chat, nothing=nothing)
            messages = [{"role": "user", "content": prompt}]
            offered = {} if self.settings.structured is False else self._schema([*dict(named), nothing])
        parameters = {"max_tokens": self.settings.limit, **offered, **self.parameters}
        task = task_of(question, named, nothing, as_call=calls)
        response = await ask(ChatRequest(messages, parameters, None, task, role="agent"))
        if response.refused:
            return REFUSED
        if calls:
            return read_calls(response, dict(named), nothing)
        return read_choice(response, candidates, nothing)

    async def _choose_in_groups(self, question: Question, ask: Ask) -> WorkflowChoice:
        groups = list(split_into_groups(question.candidates))
        by_id = {workflow.id: workflow for workflow in question.candidates}
        winners = []
        for group in groups:
            choice = await self.choose(replace(question, candidates=tuple(group)), ask)
            if choice.outcome != "answered":
                return choice
            if choice.workflow is not None:
                winners.append(by_id[choice.workflow])
        note = f"offered in {len(groups)} groups"
        if len(winners) < 2:
            return WorkflowChoice(winners[0].id if winners else None, note=note)
        # There may again be more winners than fit into one request.
        final = await self.choose(replace(question, candidates=tuple(winners)), ask)
        return replace(final, note="; ".join(text for text in (note, final.note) if text))

    def _schema(self, names: Sequence[str]) -> dict[str, Any]:
        listed = {"enum": list(dict.fromkeys(names))} if self.settings.structured else {}
        thoughts = {"thinking": {"type": "string"}} if self.settings.agent == "cot" else {}
        properties = {**thoughts, KEY: {"type": "string", **listed}}
        schema = {"type": "object", "properties": properties, "required": list(properties)}
        return json_schema("choice", {**schema, "additionalProperties": False})


# Characters. OpenAI's API refuses a whole request for one longer function name.
MAX_NAME_LENGTH = 64
# Characters. OpenAI's API refuses a description of more than 1,024; a longer one is cut.
MAX_DESCRIPTION_LENGTH = 1000
# Everything that OpenAI's API rejects in a function name: matches the " " and "!" of "Book a desk!".
_FORBIDDEN_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]+")
_NOTHING = "no_workflow"
_START_NOTHING = "Start nothing: no other function does what the last message asks for."


def function_name(name: str, taken: Collection[str]) -> str:
    """A valid and unused function name: letters, digits, `_` and `-`, at most 64 characters.

    Args:
        name: the workflow's name.
        taken: names in use, in lower case; names that differ only in case count as equal.

    >>> function_name("Book a desk!", ()), function_name("book a desk", {"book_a_desk"})
    ('Book_a_desk', 'book_a_desk_2')
    >>> function_name("2nd line", ()), function_name("会议室", ())
    ('_2nd_line', 'workflow')
    """
    base = _FORBIDDEN_IN_NAMES.sub("_", name).strip("_") or "workflow"
    if not (base[0].isalpha() or base[0] == "_"):
        base = f"_{base}"
    base = base[:MAX_NAME_LENGTH]
    unique_name = base
    number = 1
    while unique_name.lower() in taken:
        number += 1
        end = f"_{number}"
        unique_name = f"{base[: MAX_NAME_LENGTH - len(end)]}{end}"
    return unique_name


def named_functions(candidates: Sequence[Workflow]) -> tuple[list[tuple[str, Workflow]], str]:
    """Each workflow with the name of its function, and the name of the function that selects none."""
    named: dict[str, tuple[str, Workflow]] = {}
    for workflow in candidates:
        name = function_name(workflow.name, named)
        named[name.lower()] = name, workflow
    return list(named.values()), function_name(_NOTHING, named)


def function_list(named: Sequence[tuple[str, Workflow]], nothing: str) -> Iterator[dict[str, Any]]:
    """The functions in the form of the model interface; the one that selects none comes last."""
    described = [
        (name, f"{workflow.name}: {workflow.description}" if workflow.description else workflow.name)
        for name, workflow in named
    ]
    for name, text in (*described, (nothing, _START_NOTHING)):
        parameters = {"type": "object", "properties": {}}
        function = {"name": name, "description": text[:MAX_DESCRIPTION_LENGTH], "parameters": parameters}
        yield {"type": "function", "function": function}


MAX_WORKFLOWS = 127
"""Maximum workflows per request: OpenAI's API accepts 128 functions, and one is needed for none."""


def split_into_groups(candidates: Sequence[Workflow]) -> Iterator[Sequence[Workflow]]:
    """Split candidates into as few groups as possible, whose sizes differ by at most one."""
    count = max(1, -(-len(candidates) // MAX_WORKFLOWS))
    for number in range(count):
        yield candidates[number * len(candidates) // count : (number + 1) * len(candidates) // count]


_WRITTEN = (*FINAL, "provider error", "not run")
"""Outcomes with a row in the prediction file; a continued run repeats the last two."""


def prediction_rows(
    examples: Iterable[Example],
    entries: Callable[[Question], QuestionEntry],
    *,
    trial: int,
    order: str,
    free: bool,
) -> Iterator[dict[str, Any]]:
    """One row per question that was sent, in the order of the table.

    Args:
        examples: of the folder.
        entries: gives the entry of a question.
        trial: its number.
        order: of the candidates.
        free: whether the model uses no tokens, so that they count 0; unknown numbers are null otherwise.
    """
    for example in examples:
        entry = entries(example.question)
        if entry.outcome not in _WRITTEN:
            continue
        answers = entry.answers
        yield {
            "example_idx": example.number,
            "trial_idx": trial,
            "id": example.id,
            "conversation_uuid": example.conversation,
            "request_idx": example.request_idx,
            "domain_uuid": example.domain,
            "y_workflow_uuids": list(example.labels),
            "pred_workflow_uuid": entry.workflow,
            "outcome": entry.outcome,
            "error": entry.error or entry.problem or "",
            "note": entry.note,
            "order": order,
            "time_to_pred": _rounded(_sum(answers, "seconds"), 4),
            "time_to_first_token": _rounded(_first(answers), 4),
            "tokens_input": 0 if free else _sum(answers, "prompt_tokens"),
            "tokens_output": 0 if free else _sum(answers, "completion_tokens"),
            "cost": _rounded(_sum(answers, "cost"), 10),
        }


def _sum(answers: Sequence[ChoiceAnswer], name: str) -> Any:
    """The sum over all answers; None if there are none or one lacks the value."""
    values = [getattr(answer, name) for answer in answers]
    return sum(values) if values and None not in values else None


def _first(answers: Sequence[ChoiceAnswer]) -> float | None:
    """Seconds from the first request to the first token of the last answer, which contains the choice."""
    if not answers or answers[-1].first_token_seconds is None:
        return None
    before: float | None = _sum(answers[:-1], "seconds") if len(answers) > 1 else 0.0
    return None if before is None else before + answers[-1].first_token_seconds


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)
