"""The writer that follows a sample as an idea: goal and plan, execution, the request, then those who judge.

One item is one conversation. A turn asks for a plan or for the words of the request. What gates, the
execution or critics find goes back to the turn that can correct it. A model may decline, with a reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property, partial
from typing import Any, get_args

import msgspec
from msgspec.structs import replace as replace_fields

from toolassay.backinstruct.generator import (
    DECLINED,
    PARAMETERS,
    Carried,
    Judgement,
    Problem,
    SampleEntry,
    SampleWriter,
    Tried,
    WritingAttempt,
)
from toolassay.backinstruct.records import RawSample, raw_sample
from toolassay.executors.fact_sources import FACTS, Operation
from toolassay.files.data_files import unescaped_json, values_in
from toolassay.graph import ToolGraph
from toolassay.graph.dependencies import fields_of
from toolassay.graph.derive.fields import route_of, verb_of
from toolassay.live_values.results import SeenCall
from toolassay.models import ChatRequest, ModelError
from toolassay.models.protocol import Message, sent_back
from toolassay.models.structured_output import json_schema
from toolassay.prompts.plan_schemas import call_list_schema, object_schema
from toolassay.prompts.templates import dated
from toolassay.records.dataset import Difficulty, Sample, references_in
from toolassay.runs.items import ENDED, Ask
from toolassay.runs.journal import Journal
from toolassay.tools.library import Tool
from toolassay.writing.shown import (
    offered_tools,
    shown_links,
    shown_results,
    shown_rows,
    shown_samples,
    shown_service,
    shown_whole,
)
from toolassay.writing.situations import Situations
from toolassay.writing.turns import (
    MOST_CALLS,
    NOT_CARRIED_OUT,
    PlanAnswer,
    RequestAnswer,
    Situation,
    TaskForm,
    WrittenCall,
    read_turn,
    template,
)

REWRITES = 3
"""How often something goes back to the model by default."""
_OPERATION = {"type": "string", "enum": list(get_args(Operation))}
_FACTS_SCHEMA = {
    "type": "array",
    "items": object_schema(
        {
            "from": {"type": "array", "items": {"type": "string"}},
            "op": _OPERATION,
            "unit": {"type": "string"},
        }
    ),
}
ROUND = 50
"""Samples that are written before the outcomes change what is sampled."""


Judge = Callable[[RawSample, Carried | None, Ask | None], Awaitable[Judgement]]
"""Judges a record; without `Ask`, its plan alone."""


def links_of(graph: ToolGraph, nodes: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """The links of a plan: what its references say, and orders that the graph knows of calls about one thing.

    Two calls are about one thing if a value occurs in both; two that only read have no order. A link names
    tools. Of a tool that is called twice, each call has a link of its own.
    """
    ids = [node["id"] for node in nodes]
    pairs = [
        (reference.node, index)
        for index, node in enumerate(nodes)
        for reference in references_in([argument["value"] for argument in node["arguments"]])
        if reference.node < len(ids)
    ]
    given = [
        {
            value
            for argument in node["arguments"]
            for value in values_in(argument["value"])
            if isinstance(value, str | int) and not isinstance(value, bool)
        }
        for node in nodes
    ]
    for index, target in enumerate(ids):
        for before, source in enumerate(ids[:index]):
            if source in graph.library and target in graph.library and given[before] & given[index]:
                link = graph.dependency(source, target)
                only_read = all(_reads(graph.library[name]) for name in (source, target))
                if link is not None and not (fields_of(link) or link.shared or only_read):
                    pairs.append((before, index))
    return [{"source": ids[source], "target": ids[target]} for source, target in dict.fromkeys(pairs)]


def written_plan(graph: ToolGraph, request: str, calls: Sequence[WrittenCall]) -> dict[str, Any]:
    """A request and its calls as an `Instruction`."""
    nodes = [
        {
            "id": call.tool,
            "arguments": [{"name": argument.name, "value": argument.value} for argument in call.arguments],
        }
        for call in calls
    ]
    return {
        "task_steps": [f"Step {number}: Call {node['id']}" for number, node in enumerate(nodes, start=1)],
        "user_request": request,
        "invoking_graph": {"nodes": nodes, "links": links_of(graph, nodes)},
    }


def _reads(tool: Tool) -> bool:
    return verb_of(tool, route_of(tool)) in ("find", "search")


@dataclass(frozen=True, kw_only=True)
class SeedItems(SampleWriter):
    """The work on samples that are only an idea.

    Attributes:
        judge: Makes what finds the problems of a plan, and of a plan with its request.
        carry: Carries out plans; None if nothing can.
        difficulty: Of the tasks; None for no kinds of tasks.
        values: Values of arguments that exist on a server.
        seen: What calls of its reading tools returned, by tool.
        today: Date of the set, which the first prompt says.
        situations: Persons and occasions that fit the library; None for the built-in ones.
    """

    judge: Callable[[], Judge]
    carry: Tried | None
    difficulty: Difficulty | None = None
    values: Mapping[str, Mapping[str, Sequence[Any]]]
    seen: Mapping[str, Sequence[SeenCall]]
    today: date | None = None
    situations: Situations | None = None

    def messages(self, sample: Sample) -> list[Message]:
        """The first prompt."""
        names, library = offered_tools(self.graph, sample), self.graph.library
        situation = Situation.drawn(sample.seed, sample.index, self.situations)
        text = template("plan").substitute(
            service=shown_service(library),
            tools="\n".join(unescaped_json(shown_whole(library[name])) for name in names),
            links="\n".join(shown_links(self.graph, names)) or "(nothing known)",
            rows="\n".join([*shown_rows(self.values, names), *shown_samples(self.seen, names)])
            or "(nothing known)",
            seed=", ".join(sample.nodes),
            most=self._most_calls(sample),
            kind=self._form(sample).about_plan,
            person=situation.person,
            occasion=situation.occasion,
        )
        return [{"role": "user", "content": dated(text, self.today)}]

    def _form(self, sample: Sample) -> TaskForm:
        return TaskForm.drawn(self.difficulty, sample.seed, sample.index)

    def _most_calls(self, sample: Sample) -> int:
        return len(sample.nodes) + 2 if self.difficulty in (None, "easy") else MOST_CALLS

    @cached_property
    def _judge(self) -> Judge:
        return self.judge()

    async def answer(self, item: int, ask: Ask) -> SampleEntry:
        """Have a plan and its request written until they pass."""
        sample, judge = self.sampler.sample(item), self._judge
        if self.drawn is not None:
            self.drawn(sample)
        messages, attempts = self.messages(sample), list[WritingAttempt]()
        plan: PlanAnswer | None = None
        carried: Carried | None = None
        record: RawSample | None = None
        problems: Sequence[Problem] = ()
        while True:
            form = PlanAnswer if plan is None else RequestAnswer
            try:
                response = await ask(self._request(messages, sample, form))
                answer: Any = read_turn(response, form)
                messages.append(
                    sent_back({"role": "assistant", "content": response.text, "extra": response.extra})
                )
                if response.refused:
                    return SampleEntry(
                        outcome="refused", record=record, problem=response.text, attempts=attempts
                    )
                if isinstance(answer, str):
                    problems = [Problem("format", answer, "plan" if plan is None else "request")]
                elif answer.declined:
                    return SampleEntry(outcome=DECLINED, problem=answer.declined, attempts=attempts)
                elif isinstance(answer, PlanAnswer):
                    draft = self._record(sample, answer, None)
                    problems = (await judge(draft, None, None)).problems
                    if not problems and self.carry is not None:
                        carried = Carried.of(await ask.once(partial(self.carry, sample, draft)))
                        problems = carried.problems
                    if not problems:
                        plan = answer
                        messages.append(self._second(sample, plan, carried))
                        continue
                else:
                    assert plan is not None
                    record = self._record(sample, plan, answer)
                    judgement = await judge(record, carried, ask)
                    if carried is not None:
                        judgement = judgement._replace(executed=carried.outcome)
                    problems, record = judgement.problems, judgement.added_to(record)
            except ModelError as error:
                if error.settles and record is not None:  # an earlier answer could be read
                    return SampleEntry(
                        outcome="answered", record=record, problem=str(error), attempts=attempts
                    )
                raise
            attempts.append(WritingAttempt.of(response, problems))
            if not problems or len(attempts) > self.rewrites:
                break
            if any(problem.goes_to == "plan" for problem in problems):
                plan = None
            messages.append(_again(problems, about_plan=plan is None))
        last = "; ".join(problem.text for problem in problems) or None
        outcome = "malformed" if record is None else "answered"
        return SampleEntry(outcome=outcome, record=record, problem=last, attempts=attempts)

    def _request(
        self, messages: Sequence[Message], sample: Sample, form: type[PlanAnswer] | type[RequestAnswer]
    ) -> ChatRequest:
        schema: Mapping[str, Any] = {}
        if self.is_structured:
            text = {"type": "string"}
            if form is PlanAnswer:
                tools = [self.graph.library[name] for name in offered_tools(self.graph, sample)]
                calls = call_list_schema(tools, self._most_calls(sample))
                parts = {"goal": text, "calls": calls, DECLINED: text}
            else:
                parts = {"user_request": text, FACTS: _FACTS_SCHEMA, DECLINED: text}
            schema = json_schema("plan" if form is PlanAnswer else "request", object_schema(parts))
        return ChatRequest(
            list(messages), {**PARAMETERS, **self.parameters, **schema}, None, None, "generator"
        )

    def _record(self, sample: Sample, plan: PlanAnswer, words: RequestAnswer | None) -> RawSample:
        """The record of `data_raw.json`; without words, the goal replaces the request."""
        request = plan.goal if words is None else words.user_request
        result = written_plan(self.graph, request, plan.calls)
        if words is not None and words.facts is not None:
            result[FACTS] = msgspec.to_builtins(words.facts)
        record = raw_sample(sample, self.graph.library, result, plan.goal)
        form = self._form(sample)
        return replace_fields(record, task_kind=form.kind, manner=form.manner) if form.kind else record

    def _second(self, sample: Sample, plan: PlanAnswer, carried: Carried | None) -> Message:
        """The prompt for the words."""
        situation = Situation.drawn(sample.seed, sample.index, self.situations)
        results = [] if carried is None else list(carried.results)
        text = template("request").substitute(
            results="\n".join(shown_results([call.tool for call in plan.calls], results)) or NOT_CARRIED_OUT,
            goal=plan.goal.replace("\n", " "),
            voice=self._form(sample).voice(situation, len(plan.calls)),
            # Runs that began with an earlier version have these in their recorded text.
            simulated="",
            register=situation.register,
            length=situation.length_for(len(plan.calls)),
        )
        return {"role": "user", "content": text}

    def rounds(self, count: int, journal: Journal) -> Iterator[tuple[SeedItems, range]]:
        """The work in rounds of 50 samples; what was declined in earlier ones is drawn less.

        A tool or link has (written + 1) / (asked + 1) of its weight. A round begins when all samples of the
        one before have ended, so that samples do not depend on concurrency.
        """
        requested, written = Counter[tuple[str, ...]](), Counter[tuple[str, ...]]()
        current = self
        for start in range(0, count, ROUND):
            items = range(start, min(start + ROUND, count))
            yield current, items
            outcomes = [self.entry_of(journal, item).outcome for item in items]
            if not all(outcome in (DECLINED, *ENDED) for outcome in outcomes):
                return
            for item, outcome in zip(items, outcomes, strict=True):
                if outcome in ("answered", DECLINED):
                    sample = current.sampler.sample(item)
                    parts: list[tuple[str, ...]] = [(name,) for name in sample.nodes]
                    parts += [(link.source, link.target) for link in sample.links]
                    requested.update(parts)
                    written.update(parts if outcome == "answered" else ())
            weights = {part: (written[part] + 1) / (often + 1) for part, often in requested.items()}
            current = replace(self, sampler=self.sampler.weighted(weights))


def _again(problems: Sequence[Problem], *, about_plan: bool) -> Message:
    request = (
        "Plan the calls again (`goal`, `calls`, `declined`), for another goal if need be."
        if about_plan
        else "Write the words again (`user_request`, `facts`, `declined`)."
    )
    listed = "\n".join(f"- {problem.text}" for problem in problems)
    return {"role": "user", "content": template("again").substitute(problems=listed, what=request)}
