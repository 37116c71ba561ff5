"""Has a model write a record of `data_raw.json` for each sample."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from string import Template
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import UNSET

from toolassay.backinstruct.prompt import BackInstructPrompt, built_in, read_instruction
from toolassay.backinstruct.records import RawSample, numbered_id, raw_sample, read_raw
from toolassay.executors.executor import CallResult
from toolassay.files.data_files import write_json_lines
from toolassay.graph import ToolGraph
from toolassay.models import ChatModel, ChatRequest, ChatResponse, ModelError
from toolassay.models.protocol import Message, sent_back
from toolassay.models.structured_output import json_schema
from toolassay.offline.model_tasks import BackInstructTask
from toolassay.prompts.plan_schemas import sample_schema
from toolassay.records.dataset import Sample
from toolassay.runs.items import ENDED, Ask, ItemWork, Recorded, answer_items
from toolassay.runs.journal import AnswerLine, ItemEntry, Journal
from toolassay.runs.runner import Loop, RunSummary
from toolassay.runs.work import OpenRun
from toolassay.sampling import Sampler

PARAMETERS: Mapping[str, Any] = {"frequency_penalty": 0, "presence_penalty": 0, "max_tokens": 2500}
"""Request parameters of the published script."""


DECLINED = "declined"
"""The outcome of a sample for which the writer found nothing sensible."""


Turn = Literal["plan", "request"]
"""A turn of a writer that plans first: it writes the plan, or the words of the request."""


class Problem(NamedTuple):
    """What a check of an answer found.

    Attributes:
        found_by: A gate, a question to critics, "execution" or "format".
        text: What is wrong, for the model to read.
        goes_to: The turn that can correct it. Journals of earlier versions record only problems of plans, and
            without a turn.
    """

    found_by: str
    text: str
    goes_to: Turn = "plan"


class Judgement(NamedTuple):
    """What gates, an execution and critics say about a sample.

    Attributes:
        problems: What is wrong with it.
        reviews: The answers of critics, by their names, in the form of labels.
        executed: The outcome of the execution; empty without one.
        alternatives: Further right plans that critics know, in the form of labels.
    """

    problems: Sequence[Problem] = ()
    reviews: Mapping[str, Any] = MappingProxyType({})
    executed: str = ""
    alternatives: Sequence[dict[str, Any]] = ()

    def added_to(self, record: RawSample) -> RawSample:
        """The record with the reviews, the outcome and the alternatives."""
        return msgspec.structs.replace(
            record,
            reviews=dict(self.reviews) or UNSET,
            executed=self.executed or UNSET,
            alternatives=[*self.alternatives] or UNSET,
        )


Review = Callable[[Sample, RawSample, Ask], Awaitable[Judgement]]
"""Judges a record of `data_raw.json`; `Ask` sends requests to the critics."""


class Carried(NamedTuple):
    """The outcome of an executed plan.

    Attributes:
        outcome: As in `executions.jsonl`.
        problems: What is wrong.
        results: The text of each call's result, in order.
        is_idle: Whether the calls were seen to change nothing.
    """

    outcome: str
    problems: Sequence[Problem] = ()
    results: Sequence[str] = ()
    is_idle: bool = False

    @property
    def call_results(self) -> dict[int, CallResult]:
        """The results by number of the call."""
        return dict(enumerate(map(CallResult.read, self.results)))

    @classmethod
    def of(cls, value: Any) -> Carried:
        """Read what a journal has of it; a journal of an earlier version has the problems only."""
        if isinstance(value, list) and not (value and isinstance(value[0], str)):
            return cls("", [Problem(*problem) for problem in value])
        outcome, problems, *rest = value
        return cls(outcome, [Problem(*problem) for problem in problems], *rest)


Tried = Callable[[Sample, RawSample], Awaitable[Carried]]
"""Carries out the plan of a record of `data_raw.json`."""


@dataclass(frozen=True)
class Generation:
    """The result of a generation.

    Attributes:
        written: Records in the file.
        already: Samples that had a record before this start.
        summary: Outcomes of the samples of this start.
        refused: The model's words about samples that it refused, by id; they are not requested again.
        declined: The reasons for samples for which the model found no sensible request, by id; they are not
            requested again.
        malformed: What is wrong with the last answer about samples without a usable one, by id.
    """

    written: int
    already: int
    summary: RunSummary
    refused: Mapping[str, str] = field(default_factory=dict)
    declined: Mapping[str, str] = field(default_factory=dict)
    malformed: Mapping[str, str] = field(default_factory=dict)

    @property
    def usable(self) -> int:
        """Number of requested samples with a record, from this or an earlier start."""
        return self.already + self.summary.outcomes["answered"]

    @property
    def settled(self) -> int:
        """Number of requested samples with a record, or for which the model found nothing sensible."""
        return self.usable + len(self.declined)


class WritingAttempt(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One answer of a writer.

    Attributes:
        prompt_tokens: Tokens of the request.
        completion_tokens: Tokens of the answer.
        problems: What was found in it: who found it, and what.
        response: The answer, where an earlier version recorded it here.
        finish_reason: Why it ended, likewise.
    """

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    problems: Sequence[tuple[str, str]] = ()
    response: str | None = None
    finish_reason: str | None = None

    @classmethod
    def of(cls, response: ChatResponse, problems: Iterable[Problem]) -> WritingAttempt:
        """The attempt of an answer."""
        return cls(
            prompt_tokens=response.prompt_tokens,
            completion_tokens=response.completion_tokens,
            problems=[(problem.found_by, problem.text) for problem in problems],
        )


class SampleEntry(ItemEntry):
    """What became of a sample.

    Attributes:
        record: The record of `data_raw.json`.
        attempts: The answers with what was found in them; none if answers were not checked.
        response: The answer, where an earlier version recorded it here.
        finish_reason: Why it ended, likewise.
    """

    record: RawSample | None = None
    attempts: Sequence[WritingAttempt] = ()
    response: str | None = None
    finish_reason: str | None = None

    @property
    def usable(self) -> RawSample | None:
        """The record; None without a usable answer."""
        return self.record if self.outcome == "answered" else None


def entries_of(journal: Journal) -> Iterator[tuple[str, SampleEntry]]:
    """The samples of a journal by id."""
    return ((key, journal.entry(key, SampleEntry)) for key in journal)


@dataclass(frozen=True, kw_only=True)
class SampleWriter(ItemWork[int]):
    """The work on single samples, which are named by their numbers.

    Attributes:
        graph: The tool graph.
        sampler: Draws the samples.
        parameters: Request parameters (temperature, top_p, …), which override the published ones.
        rewrites: How often an answer with problems goes back to the model, with the problems.
        is_structured: Whether answers are constrained to a JSON schema.
        drawn: Draws a sample.
    """

    graph: ToolGraph
    sampler: Sampler
    parameters: Mapping[str, Any]
    rewrites: int = 0
    is_structured: bool = False
    drawn: Callable[[Sample], None] | None = None
    record = SampleEntry

    def key_of(self, item: int) -> str:
        """The key of a sample."""
        return numbered_id(self.sampler.seed, item)

    def is_settled(self, entry: SampleEntry) -> bool:
        """Whether there is a record, or the model refused or declined; malformed answers are re-requested."""
        return entry.usable is not None or entry.outcome in ("refused", DECLINED)

    def recorded(self, entry: SampleEntry) -> Recorded:
        """The answers of an entry of an earlier version with rewrites that were not finished."""
        first = WritingAttempt(response=entry.response, finish_reason=entry.finish_reason)
        answers = [
            AnswerLine(
                attempt.response, attempt.finish_reason, attempt.prompt_tokens, attempt.completion_tokens
            )
            for attempt in entry.attempts or [first]
            if attempt.response is not None
        ]
        return {"generator": answers}

    def rounds(self, count: int, journal: Journal) -> Iterator[tuple[SampleWriter, range]]:
        """The samples that are written together, each time with the work that writes them.

        All at once: none depends on what became of others.
        """
        yield self, range(count)


@dataclass(frozen=True, kw_only=True)
class SampleItems(SampleWriter):
    """The work on samples that a plan must follow.

    Attributes:
        prompt: Renders the prompt of a sample.
        check: Whether to request the teacher's review too.
        review: Makes what finds the problems; without it only answers that cannot be read go back.
        values: Values of arguments that exist on a server, for the offline writer.
    """

    prompt: BackInstructPrompt
    check: bool
    review: Callable[[], Review] | None = None
    values: Mapping[str, Mapping[str, Sequence[Any]]] | None = None

    @cached_property
    def _review(self) -> Review | None:
        return None if self.review is None else self.review()

    async def answer(self, item: int, ask: Ask) -> SampleEntry:
        """Request a sample until an answer passes."""
        sample, attempts, record = self.sampler.sample(item), list[WritingAttempt](), None
        messages = self.prompt.messages(sample)
        if self.drawn is not None:
            self.drawn(sample)
        while True:
            try:
                response, written, problem = await self._attempt(sample, messages, len(attempts), ask)
                judgement = await self._judged(sample, response, written, problem, ask)
                problems = judgement.problems
            except ModelError as error:
                if error.settles and record is not None:  # an earlier answer could be read
                    return SampleEntry(
                        outcome="answered", record=record, problem=str(error), attempts=attempts
                    )
                raise
            outcome = "malformed" if written is None else "answered"
            if response.refused:
                outcome = "refused"
            record = record if written is None else judgement.added_to(written)
            attempts.append(WritingAttempt.of(response, problems))
            if not problems or len(attempts) > self.rewrites or outcome == "refused":
                break
            listed = "\n".join(f"- {problem.text}" for problem in problems)
            messages = [
                *messages,
                sent_back({"role": "assistant", "content": response.text, "extra": response.extra}),
                {"role": "user", "content": Template(built_in("rewrite")).substitute(problems=listed)},
            ]
        if outcome == "malformed" and record is not None:
            outcome = "answered"
        recorded_attempts = attempts if self.rewrites else ()
        return SampleEntry(outcome=outcome, record=record, problem=problem, attempts=recorded_attempts)

    async def _attempt(
        self, sample: Sample, messages: Sequence[Message], number: int, ask: Ask
    ) -> tuple[ChatResponse, RawSample | None, str | None]:
        """One answer, the record that it holds, and why it holds none."""
        graph = self.graph
        kind, tools = graph.dependency_type, [graph.library[name] for name in sample.nodes]
        task = BackInstructTask(sample, graph.library, kind, self.check, number, self.values)
        schema: Mapping[str, Any] = {}
        if self.is_structured:
            schema = json_schema("sample", sample_schema(tools, len(sample.links), kind, check=self.check))
        parameters = {**PARAMETERS, **self.parameters, **schema}
        response = await ask(ChatRequest(messages, parameters, None, task, "generator"))
        result, read = read_instruction(response.text, kind, response.finish_reason)
        if response.refused or result is None:
            return response, None, response.text if response.refused else read.problem
        return response, raw_sample(sample, graph.library, result), read.problem

    async def _judged(
        self,
        sample: Sample,
        response: ChatResponse,
        record: RawSample | None,
        problem: str | None,
        ask: Ask,
    ) -> Judgement:
        if response.refused:
            return Judgement()
        if record is None:
            return Judgement([Problem("format", problem or "the answer is not the requested JSON object")])
        return Judgement() if self._review is None else await self._review(sample, record, ask)


def generate(
    work: SampleWriter, output: Path, run: OpenRun, helpers: Mapping[str, ChatModel], count: int, loop: Loop
) -> Generation:
    """Generate the missing ones of samples 0 to count-1, and write `output` in order of the samples.

    Records in `output` are kept. Samples with a malformed answer are requested again, those that the model
    refused are not. Without any record, no file is written.

    Args:
        work: The work on single samples.
        output: The file, `data_raw.json`.
        run: The open run.
        helpers: The critics by name.
        count: Total number of samples.
        loop: Concurrency and callbacks.

    Raises:
        UsageError: `output` has records of another seed.
        ToolassayError: The run cannot continue.
        KeyboardInterrupt: At Ctrl-C, when the answers in flight have arrived and are written.
    """
    journal, kept, settled = run.journal, read_kept(output, work.sampler.seed), 0
    try:
        for current, items in work.rounds(count, journal):
            settled += answer_items(
                current, items, run.model, helpers, journal, loop, skip=lambda key: key in kept
            )
    finally:
        answered = (key for key, entry in entries_of(journal) if entry.usable is not None)
        keys = sorted({*kept, *answered}, key=_by_number)
        if keys:
            records = (kept.get(key) or journal.entry(key, SampleEntry).usable for key in keys)
            write_json_lines(output, (record.to_json() for record in records if record is not None))
    refused, declined, malformed = (
        {
            key: entry.problem or ""
            for key, entry in entries_of(journal)
            if entry.outcome == outcome and key not in kept and _by_number(key)[0] < count
        }
        for outcome in ("refused", DECLINED, "malformed")
    )
    outcomes = loop.summary.outcomes
    earlier = len(refused) - outcomes["refused"] + len(declined) - outcomes[DECLINED]
    return Generation(len(keys), settled - earlier, loop.summary, refused, declined, malformed)


def read_kept(output: Path, seed: int) -> dict[str, RawSample]:
    """The records of `data_raw.json` by id; {} if the file is missing.

    Raises:
        UsageError: As `read_raw`.
    """
    return {str(record.id): record for record in read_raw(output, seed)} if output.exists() else {}


class GateGain(msgspec.Struct, frozen=True):
    """The samples in whose first answer a gate found something, and those whose last it lets pass."""

    found: int
    fixed: int


class RewritingGain(msgspec.Struct, frozen=True):
    """What rewriting gained and cost: `rewriting` in `statistics.json`.

    Attributes:
        passed_at: The samples by the number of rewrites after which an answer passed.
        never: The samples whose last answer has problems.
        requests: Further requests.
        prompt_tokens: Tokens of these.
        completion_tokens: Tokens of their answers.
        by_gate: By gate.
    """

    passed_at: dict[str, int]
    never: int
    requests: int
    prompt_tokens: int
    completion_tokens: int
    by_gate: dict[str, GateGain]


def rewriting_gain(journal: Journal) -> RewritingGain | None:
    """What rewriting gained; None if no sample has attempts."""
    passed_at, faulty, fixed = Counter[str](), Counter[str](), Counter[str]()
    never = requests = prompt = completion = 0
    for _, entry in entries_of(journal):
        attempts = entry.attempts
        if not attempts or entry.outcome not in ENDED:
            continue
        first, last = ({name for name, _ in attempts[end].problems} for end in (0, -1))
        if last or entry.outcome != "answered":
            never += 1
        else:
            passed_at[str(len(attempts) - 1)] += 1
        faulty.update(first)
        fixed.update(first - last)
        requests += len(attempts) - 1
        prompt += sum(attempt.prompt_tokens or 0 for attempt in attempts[1:])
        completion += sum(attempt.completion_tokens or 0 for attempt in attempts[1:])
    if not passed_at and not never:
        return None
    by_gate = {gate: GateGain(count, fixed[gate]) for gate, count in faulty.most_common()}
    return RewritingGain(dict(sorted(passed_at.items())), never, requests, prompt, completion, by_gate)


def _by_number(key: str) -> tuple[int, str]:
    number = key.rpartition("-")[2]
    return (int(number) if number.isdecimal() else 0, key)
