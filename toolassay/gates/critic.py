"""The critic: a model that reviews a request and its gold plan, independent of the model that wrote them.

Its prompt (the offline critic takes the same content as a task), its run, and the gate "llm critic". A run
reviews each sample once, and does not send samples in the journal again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from string import Template
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET

from toolassay.backinstruct.critics import REVIEWS
from toolassay.backinstruct.teacher_review import Review, TeacherVerdict, read_review
from toolassay.executors.executor import CallResult
from toolassay.executors.fact_sources import facts_of
from toolassay.executors.plan_run import Unresolvable
from toolassay.files.data_files import unescaped_json
from toolassay.gates.gate import Background, Finding, State
from toolassay.gates.grounding import GroundingGate
from toolassay.gates.rubric import (
    RUBRIC_FORMAT,
    Rubric,
    read_rubric,
    rubric_of,
    rubric_with_alternative,
)
from toolassay.graph import DependencyType
from toolassay.live_values.results import SeenCall
from toolassay.models import ChatRequest
from toolassay.models.json_answers import CUT_OFF
from toolassay.offline.model_tasks import CritiqueTask
from toolassay.plans.gold import Gold
from toolassay.prompts.templates import dated, package_template, template_file
from toolassay.records.dataset import reference_index
from toolassay.records.requests import key_of
from toolassay.runs.items import Ask, ItemWork
from toolassay.runs.journal import ItemEntry, Journal
from toolassay.tools.library import ToolLibrary
from toolassay.writing.shown import (
    shown_results,
    shown_rows,
    shown_samples,
    shown_service,
    shown_whole,
    tools_to_judge,
)


def template() -> str:
    """The text of `templates/critic.txt`; placeholders: what a critic sees."""
    return package_template("gates", "critic")


_DOUBTS = template_file("gates", "doubts")
_FACTS = template_file("gates", "facts")
_ALTERNATIVE = template_file("gates", "alternative")
_MORE_CALLS = 3  # calls of an alternative beyond those of the plan


class Knowledge(NamedTuple):
    """What a critic sees beside a sample.

    Attributes:
        values: Arguments of calls that the service accepted, by tool and argument.
        results: What the calls of the plan returned, in order; empty if they were not executed.
        seen: What calls of reading tools returned before, by tool.
        today: Date of the set.
    """

    values: Mapping[str, Mapping[str, Sequence[Any]]] = MappingProxyType({})
    results: Sequence[str] = ()
    seen: Mapping[str, Sequence[SeenCall]] = MappingProxyType({})
    today: date | None = None


NOTHING_KNOWN = Knowledge()


class CriticEvidence(NamedTuple):
    """What a critic sees beside the samples of a set.

    Attributes:
        common: What is known beside each sample.
        of_sample: The same with the results of its plan, by id of the sample.
    """

    common: Knowledge = NOTHING_KNOWN
    of_sample: Mapping[Any, Knowledge] = MappingProxyType({})


def critic_prompt(
    gold: Gold, background: Background, doubts: Sequence[str] = (), evidence: Knowledge = NOTHING_KNOWN
) -> str:
    """The prompt for one sample. Its parts are JSON, so that no request or plan can end its section.

    Args:
        gold: The sample.
        background: The tools and their graph.
        doubts: What the gate "grounding" does not find in the request.
        evidence: What is known of the service and of the plan.
    """
    library = background.library
    used = dict.fromkeys(node.tool for node in gold.nodes)
    names = tools_to_judge(background.graph, library, used)
    tools = [shown_whole(library[name]) for name in names]
    tools += [{"id": name, "unknown": True} for name in used if name not in library]
    results = shown_results([node.tool for node in gold.nodes], evidence.results)
    prompt = Template(template()).substitute(
        service=unescaped_json(shown_service(library)),
        tools="\n".join(unescaped_json(tool) for tool in tools),
        rows="\n".join([*shown_rows(evidence.values, names), *shown_samples(evidence.seen, names)]) or NONE,
        request=unescaped_json(gold.request),
        steps=unescaped_json(gold.steps),
        plan=unescaped_json(shown_plan(gold)),
        results="\n".join(results) or NONE,
        facts=_shown_facts(gold, evidence),
        doubts=_DOUBTS.format(doubts="\n".join(map(unescaped_json, doubts))) if doubts else "",
    )
    return dated(prompt, evidence.today)


def _shown_facts(gold: Gold, evidence: Knowledge) -> str:
    """What the writer says that the person must be told, with the values of results that are not made up."""
    try:
        facts = facts_of(gold)
    except msgspec.ValidationError:
        return ""
    if facts is None:
        return ""
    results = dict(enumerate(map(CallResult.read, evidence.results)))
    lines = []
    for fact in facts:
        line = msgspec.to_builtins(fact)
        with suppress(Unresolvable):
            line["value"] = fact.value(results)
        lines.append(unescaped_json(line))
    return _FACTS.format(facts="\n".join(lines) or NONE)


NONE = "(none)"


def shown_plan(gold: Gold) -> dict[str, Any]:
    """The plan of a label in the form that the prompt shows: nodes with arguments if any, and links."""
    nodes = (
        {"task": node.tool} if node.arguments is None else {"task": node.tool, "arguments": node.arguments}
        for node in gold.nodes
    )
    return {
        "task_nodes": list(nodes),
        "task_links": [{"source": source, "target": target} for source, target in gold.links],
    }


def critique_of(gold: Gold, library: ToolLibrary, kind: DependencyType) -> CritiqueTask:
    """The task of the offline critic: references become names of tools, as back-instruct writes them.

    Args:
        gold: the request and the plan.
        library: the tools, at least those of the plan that exist.
        kind: the dependency type.
    """
    names = [node.tool for node in gold.nodes]
    key = "input" if kind == "resource" else "arguments"

    def named(argument: Any) -> Any:
        if isinstance(argument, Mapping) and "value" in argument:
            return {**argument, "value": named(argument["value"])}
        index = reference_index(argument)
        return argument if index is None or index >= len(names) else names[index]

    nodes = [
        {"id": node.tool} | ({} if node.arguments is None else {key: [*map(named, node.arguments)]})
        for node in gold.nodes
    ]
    links = [{"source": source, "target": target} for source, target in gold.links]
    instruction = {"invoking_graph": {"nodes": nodes, "links": links}}
    return CritiqueTask(None, gold.request, instruction, library, kind)


# Temperature 0, so that a verdict repeats. The reply is five answers with reasons.
PARAMETERS: Mapping[str, Any] = {"temperature": 0.0, "top_p": 1.0, "max_tokens": 1500}
NOT_FOR_IT = "not for it"
"""The outcome of a sample that is not sent because the critic cannot judge it (the plan has no arguments)."""


class CriticVerdict(NamedTuple):
    """The verdict of a critic on one sample.

    Attributes:
        verdict: "unknown" also if there is no answer.
        conclusion: the words that the verdict was read from.
        outcome: "answered", "malformed" (no verdict in the answer), "refused", `NOT_FOR_IT`, or the kind of
            failure.
        rubric: the answer; None without a readable one.
    """

    verdict: TeacherVerdict
    conclusion: str
    outcome: str
    rubric: Rubric | None = None


class CriticEntry(ItemEntry):
    """What a critic answered about a sample.

    Attributes:
        prompt: Hash of the prompt.
        response: The text of the answer; None without one.
        finish_reason: Why it ended.
    """

    prompt: str = ""
    response: str | None = None
    finish_reason: str | None = None

    @property
    def is_cut_off(self) -> bool:
        """Whether the answer was truncated."""
        return (self.finish_reason or "").lower() in CUT_OFF

    @property
    def rubric(self) -> Rubric | None:
        """The answers; None if the model refused, or its answer cannot be read or was cut off."""
        if self.outcome == "refused" or self.is_cut_off:
            return None
        return read_rubric(self.response, self.finish_reason)

    @property
    def verdict(self) -> CriticVerdict:
        """The verdict: "pass" if all five answers are yes."""
        outcome = self.outcome or "not run"
        if (rubric := self.rubric) is None:
            return CriticVerdict("unknown", " ".join((self.response or "").split())[-160:], outcome)
        return _of_rubric(rubric, outcome)


class CriticWork(ItemWork[Gold]):
    """The review of samples by one critic.

    Args:
        golds: the samples; the work iterates over them several times.
        background: their tools.
        evidence: what is known beside the samples.

    Attributes:
        verdicts: the verdict on each sample, by its line; filled by `lines`.
    """

    record = CriticEntry

    def __init__(self, golds: Iterable[Gold], background: Background, evidence: CriticEvidence) -> None:
        self.golds, self._background, self._evidence = golds, background, evidence
        self._grounding = GroundingGate(background)
        self.verdicts: dict[int, CriticVerdict] = {}

    def key_of(self, item: Gold) -> str:
        """The key of a sample."""
        return key_of(item.id)

    def identity(self, item: Gold) -> dict[str, Any]:
        """The prompt."""
        prompt = self._prompt(item).encode("utf-8", "surrogatepass")
        return {"prompt": hashlib.sha256(prompt).hexdigest()[:16]}

    def is_settled(self, entry: CriticEntry) -> bool:
        """Whether there is a review."""
        return entry.response is not None

    async def answer(self, item: Gold, ask: Ask) -> CriticEntry:
        """Ask for a review."""
        entry = await _answer(item, self._background, self._prompt(item), ask)
        if entry.outcome == "answered" and entry.rubric is None:
            entry.outcome = "malformed"
        return entry

    def lines(self, journal: Journal) -> Iterator[dict[str, Any]]:
        """One line per sample, in order, with `id`, `verdict`, `outcome` and the whole `review`."""
        for gold in self.golds:
            entry = self.entry_of(journal, gold)
            self.verdicts[gold.line] = verdict = entry.verdict
            yield {
                "id": gold.id,
                "verdict": verdict.verdict,
                "outcome": verdict.outcome,
                "rubric": msgspec.to_builtins(verdict.rubric),
                "review": entry.response,
            }

    def _prompt(self, gold: Gold) -> str:
        evidence = self._evidence.of_sample.get(gold.id, self._evidence.common)
        return critic_prompt(gold, self._background, doubts_of(gold, self._grounding), evidence)


def _of_rubric(rubric: Rubric, outcome: str) -> CriticVerdict:
    return CriticVerdict("fail" if rubric.failed else "pass", rubric.conclusion, outcome, rubric)


def _stored_verdicts(gold: Gold) -> dict[str, CriticVerdict]:
    """What critics answered when the sample was written, by critic."""
    reviews = gold.record.get(REVIEWS)
    given = reviews.items() if isinstance(reviews, Mapping) else ()
    rubrics = ((name, rubric_of(review)) for name, review in given)
    return {name: _of_rubric(rubric, "answered") for name, rubric in rubrics if rubric is not None}


def doubts_of(gold: Gold, gate: GroundingGate) -> list[str]:
    """What the gate "grounding" quarantines: the critic decides about it."""
    return [finding.reason for finding in gate.check(gold) if is_doubt(finding)]


def is_doubt(finding: Finding) -> bool:
    """Whether a critic decides about a finding."""
    return finding.gate == GroundingGate.name and finding.state == "quarantine"


_AGAIN = "This is not the requested JSON object. Answer with it and nothing else."


async def _answer(
    gold: Gold,
    background: Background,
    prompt: str,
    ask: Ask,
    critic: str | None = None,
    parameters: Mapping[str, Any] = MappingProxyType({**PARAMETERS, **RUBRIC_FORMAT}),
) -> CriticEntry:
    """The critic's answer as an entry; an answer that is not the JSON object is requested once more."""
    task = critique_of(gold, background.library, background.kind)
    messages = [{"role": "user", "content": prompt}]
    is_again = False
    while True:
        request = ChatRequest(messages, parameters, None, task, "critic")
        response = await ask(request, critic)
        outcome = "refused" if response.refused else "answered"
        entry = CriticEntry(outcome=outcome, response=response.text, finish_reason=response.finish_reason)
        if is_again or response.refused or entry.is_cut_off or entry.rubric is not None:
            return entry
        is_again = True
        answer = {"role": "assistant", "content": response.text}
        messages = [*messages, answer, {"role": "user", "content": _AGAIN}]


async def judged(
    critic: str,
    gold: Gold,
    background: Background,
    ask: Ask,
    evidence: Knowledge = NOTHING_KNOWN,
    *,
    with_alternative: bool = False,
) -> Rubric | None:
    """The rubric of one sample by a named model; None if it refuses or gives no readable answer.

    With `with_alternative` it is asked for another right plan as well.

    Raises:
        ModelError: The model cannot be reached.
    """
    doubts = doubts_of(gold, GroundingGate(background))
    prompt = critic_prompt(gold, background, doubts, evidence)
    if not with_alternative:
        return (await _answer(gold, background, prompt, ask, critic)).rubric
    library = background.library
    names = tools_to_judge(background.graph, library, [node.tool for node in gold.nodes])
    form = rubric_with_alternative([library[name] for name in names], len(gold.nodes) + _MORE_CALLS)
    parameters = {**PARAMETERS, "max_tokens": 2 * PARAMETERS["max_tokens"], **form}
    return (await _answer(gold, background, prompt + _ALTERNATIVE, ask, critic, parameters)).rubric


RULES = "offline"
"""The built-in model. It writes and reviews by the same rules, so its review of its own text says nothing."""
REVIEW = "check_by_teacher"
"""The key of a label with the stored review."""
# The outcomes with a response, from which a verdict was read.
_ANSWERS = ("answered", "malformed", "refused")


class _Objection(NamedTuple):
    """A verdict "fail": its author (empty if unknown), its reason, and its path in the label."""

    author: str
    reason: str
    where: str


class TeacherGate:
    """Holds back samples that reviewers failed; an unreadable verdict is unknown.

    The "no" of one model quarantines a sample, because a single weak model rejects correct samples. The "no"
    of two different models rejects it. The review stored with the label is the verdict of the model that
    wrote the label. It counts as a second model if that model is known and is not one of the critics. Beside
    critics, an unreadable or missing stored review has no effect. The offline critic has no say about what
    the
    offline writer wrote.

    Args:
        critics: for each critic, its verdicts by the line of the sample. A sample without a verdict was not
            sent. Without critics, only the stored review counts.
        teacher: the model that wrote the stored reviews; empty if unknown.
    """

    name = "llm critic"

    def __init__(
        self, critics: Mapping[str, Mapping[int, CriticVerdict]] | None = None, teacher: str = ""
    ) -> None:
        self._critics, self._teacher = critics or {}, teacher

    def check(self, gold: Gold) -> list[Finding]:
        """One finding for each reviewer whose verdict is not "pass"."""
        objections, findings = [], []
        by_rules, critics = self._teacher == RULES, self._answers(gold)
        if by_rules and (set(critics) == {RULES} or (not critics and self._stored(gold) is not None)):
            return [
                self._finding("not applicable", "the rules that wrote the sample reviewed it", author=RULES)
            ]
        for name, answer in critics.items():
            if by_rules and name == RULES:
                continue
            if answer is not None and answer.outcome in _ANSWERS and answer.verdict == "fail":
                objections.append(_Objection(name, f'{name} concludes: "{answer.conclusion}"', ""))
            else:
                findings += self._no_objection(name, answer)
        stored = self._stored(gold)
        if stored is None and not critics:
            return [self._finding("not applicable", "the label has no review (--critic requests one)")]
        if stored is not None and self._teacher not in critics and not by_rules:
            if stored.verdict == "fail":
                reason = f'{self._reviewer} concludes: "{stored.conclusion}"'
                objections.append(_Objection(self._teacher, reason, REVIEW))
            elif stored.verdict == "unknown" and not critics:
                reason = f'{self._reviewer} has no readable verdict: "{stored.conclusion}"'
                findings.append(self._finding("unknown", reason, REVIEW, self._teacher))
        state: State = (
            "reject"
            if len({objection.author for objection in objections if objection.author}) > 1
            else "quarantine"
        )
        return [
            self._finding(state, objection.reason, objection.where, objection.author)
            for objection in objections
        ] + findings

    def confirmed_by(self, gold: Gold) -> str:
        """A critic whose verdict is "pass", if no reviewer's is "fail"; empty without one.

        The built-in rules confirm nothing: they know no more than the gates.
        """
        if any(finding.state in ("quarantine", "reject") for finding in self.check(gold)):
            return ""
        for name, answer in self._answers(gold).items():
            if name != RULES and answer and answer.outcome in _ANSWERS and answer.verdict == "pass":
                return name
        return ""

    def verdicts(self, gold: Gold) -> dict[str, TeacherVerdict | None]:
        """The verdicts of the stored review and of each critic, by name; empty without critics."""
        critics = self._answers(gold)
        if not critics:
            return {}
        stored = self._stored(gold)
        verdicts: dict[str, TeacherVerdict | None] = {REVIEW: stored.verdict if stored else None}
        for name, answer in critics.items():
            verdicts[name] = None if answer is None or answer.outcome == NOT_FOR_IT else answer.verdict
        return verdicts

    def judges(self, gold: Gold) -> list[str]:
        """The models that gave a verdict on a sample, its writer included if its review is stored."""
        critics = self._answers(gold).items()
        names = [name for name, answer in critics if answer is not None and answer.verdict != "unknown"]
        has_own = self._teacher and self._stored(gold) is not None
        return [*dict.fromkeys([self._teacher, *names] if has_own else names)]

    def _answers(self, gold: Gold) -> dict[str, CriticVerdict | None]:
        """The verdicts of the critics, those of when the sample was written included; None if not sent."""
        asked = {name: verdicts.get(gold.line) for name, verdicts in self._critics.items()}
        return {**_stored_verdicts(gold), **asked}

    @property
    def _reviewer(self) -> str:
        return f"the review by {self._teacher}" if self._teacher else "the review"

    @staticmethod
    def _stored(gold: Gold) -> Review | None:
        """The review stored with the label; None without one."""
        own = gold.record.get(REVIEW)
        return None if own is None or (isinstance(own, str) and not own.strip()) else read_review(own)

    def _no_objection(self, who: str, answer: CriticVerdict | None) -> list[Finding]:
        """The finding for a critic whose verdict is not "fail"; none if it is "pass"."""
        if answer is None:
            reason = f"not sent to {who}: another gate rejects the sample"
        elif answer.outcome == NOT_FOR_IT:
            reason = f"{who} judges no plan without arguments"
        elif answer.outcome == "refused":
            reason = f"{who} refused to review it"
        elif answer.outcome not in _ANSWERS:
            reason = f"{who} gave no answer ({answer.outcome})"
        elif answer.verdict == "pass":
            return []
        else:
            reason = f'the review by {who} has no readable verdict: "{answer.conclusion}"'
        is_judged = answer is not None and answer.outcome != NOT_FOR_IT
        return [self._finding("unknown" if is_judged else "not applicable", reason, author=who)]

    def _finding(self, state: State, reason: str, where: str = "", author: str = "") -> Finding:
        return Finding(self.name, state, reason, where, author or UNSET)
