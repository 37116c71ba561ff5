"""The critic: a model that reviews a request and its gold plan, independent of the model that wrote them.

Its prompt (the offline critic takes the same content as a task), its run, and the gate "llm critic". A run
reviews each sample once, and does not send samples in the journal again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from string import Template
from typing import Any, NamedTuple

from toolassay.answers import CUT_OFF
from toolassay.backinstruct.teacher_review import Review, TeacherVerdict, read_answered_review, read_review
from toolassay.dataset import reference_index
from toolassay.gates.gate import Background, Finding, State
from toolassay.gates.grounding import GroundingGate
from toolassay.gold import Gold
from toolassay.graph import DependencyType
from toolassay.models import ChatRequest
from toolassay.models.structured_output import json_schema
from toolassay.offline.model_tasks import CritiqueTask
from toolassay.prompt_templates import package_template
from toolassay.requests import key_of
from toolassay.runs import Journal
from toolassay.runs.items import Ask, ItemWork
from toolassay.signatures import shown_tool
from toolassay.tools import ToolLibrary


def template() -> str:
    """The text of `templates/critic.txt`; its placeholders: $tools, $request, $steps, $plan and $doubts."""
    return package_template("gates", "critic")


_DOUBTS = """
# DOUBTS #
A program did not find these values of the plan in the request or in an earlier output:
{doubts}
Accept one that follows from the request, so that every careful reader would give the same value.
If one does not, the plan is not correct.
"""


def critic_prompt(gold: Gold, library: ToolLibrary, doubts: Sequence[str] = ()) -> str:
    """The prompt for one sample. Its parts are JSON, so that no request or plan can end its section.

    Args:
        gold: The sample.
        library: The tools.
        doubts: What the gate "grounding" does not find in the request.
    """
    shown = dict.fromkeys(node.tool for node in gold.nodes)
    tools = (
        shown_tool(library[name]) if name in library else {"id": name, "unknown": True} for name in shown
    )
    return Template(template()).substitute(
        tools="\n".join(_json(tool) for tool in tools),
        request=_json(gold.request),
        steps=_json(gold.steps),
        plan=_json(plan_of(gold)),
        doubts=_DOUBTS.format(doubts="\n".join(map(_json, doubts))) if doubts else "",
    )


def plan_of(gold: Gold) -> dict[str, Any]:
    """The plan of a label in the form that the prompt shows: nodes with arguments if any, and links."""
    nodes = (
        {"task": node.tool} if node.arguments is None else {"task": node.tool, "arguments": node.arguments}
        for node in gold.nodes
    )
    return {
        "task_nodes": list(nodes),
        "task_links": [{"source": source, "target": target} for source, target in gold.links],
    }


def critique_of(
    request: str, plan: Mapping[str, Any], library: ToolLibrary, kind: DependencyType
) -> CritiqueTask:
    """The task of the offline critic: references become names of tools, as back-instruct writes them.

    Args:
        request: the user's words.
        plan: the plan as `plan_of` returns it.
        library: the tools, at least those of the plan that exist.
        kind: the dependency type.
    """
    names = [node["task"] for node in plan["task_nodes"]]
    key = "input" if kind == "resource" else "arguments"
    nodes = [
        {"id": node["task"]} | ({key: list(_named(node["arguments"], names))} if "arguments" in node else {})
        for node in plan["task_nodes"]
    ]
    graph = {"nodes": nodes, "links": plan["task_links"]}
    return CritiqueTask(None, request, {"invoking_graph": graph}, library, kind)


def _named(arguments: Iterable[Any], names: list[str]) -> Iterable[Any]:
    for argument in arguments:
        if isinstance(argument, Mapping) and "value" in argument:
            yield {**argument, "value": _name(argument["value"], names)}
        else:
            yield _name(argument, names)


def _name(value: Any, names: list[str]) -> Any:
    place = reference_index(value)
    return value if place is None or place >= len(names) else names[place]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


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
    """

    verdict: TeacherVerdict
    conclusion: str
    outcome: str


class CriticWork(ItemWork[Gold]):
    """The review of samples by one critic.

    Args:
        golds: the samples; the work iterates over them several times.
        background: their tools.

    Attributes:
        verdicts: the verdict on each sample, by its line; filled by `lines`.
    """

    def __init__(self, golds: Iterable[Gold], background: Background) -> None:
        self.golds, self._background = golds, background
        self._grounding = GroundingGate(background)
        self.verdicts: dict[int, CriticVerdict] = {}

    def key_of(self, item: Gold) -> str:
        """The key of a sample."""
        return key_of(item.id)

    def identity(self, item: Gold) -> dict[str, Any]:
        """The prompt."""
        return {"prompt": _fingerprint(self._prompt(item))}

    def is_settled(self, entry: Mapping[str, Any]) -> bool:
        """Whether there is a review."""
        return "response" in entry

    async def answer(self, item: Gold, ask: Ask) -> dict[str, Any]:
        """Ask for a review."""
        entry = await _answer(item, self._background, self._prompt(item), ask)
        if entry["outcome"] == "answered" and _review(entry).verdict == "unknown":
            entry["outcome"] = "malformed"
        return entry

    def lines(self, journal: Journal) -> Iterator[dict[str, Any]]:
        """One line per sample, in order, with `id`, `verdict`, `outcome` and the whole `review`."""
        for gold in self.golds:
            entry = self.entry_of(journal, gold)
            outcome = str(entry.get("outcome", "not run"))
            review = _review(entry)
            self.verdicts[gold.line] = CriticVerdict(review.verdict, review.conclusion, outcome)
            yield {
                "id": gold.id,
                "verdict": review.verdict,
                "outcome": outcome,
                "review": entry.get("response"),
            }

    def _prompt(self, gold: Gold) -> str:
        return critic_prompt(gold, self._background.library, doubts_of(gold, self._grounding))


def doubts_of(gold: Gold, gate: GroundingGate) -> list[str]:
    """What the gate "grounding" quarantines: the critic decides about it."""
    return [finding.reason for finding in gate.check(gold) if finding.state == "quarantine"]


_ANSWER = json_schema(
    "review",
    {
        "type": "object",
        "properties": {
            "review": {"type": "string"},
            "executable": {"type": "boolean"},
            "correct": {"type": "boolean"},
        },
        "required": ["review", "executable", "correct"],
        "additionalProperties": False,
    },
)
_AGAIN = "This is not the requested JSON object. Answer with it and nothing else."


async def _answer(
    gold: Gold, background: Background, prompt: str, ask: Ask, critic: str | None = None
) -> dict[str, Any]:
    """The critic's answer as an entry; an answer that is not the JSON object is requested once more."""
    task = critique_of(gold.request, plan_of(gold), background.library, background.kind)
    messages = [{"role": "user", "content": prompt}]
    is_again = False
    while True:
        request = ChatRequest(messages, {**PARAMETERS, **_ANSWER}, None, task, "critic")
        response = await ask(request, critic)
        entry = {
            "outcome": "refused" if response.refused else "answered",
            "response": response.text,
            "finish_reason": response.finish_reason,
        }
        if is_again or response.refused or _is_cut_off(entry) or _review(entry).verdict != "unknown":
            return entry
        is_again = True
        answer = {"role": "assistant", "content": response.text}
        messages = [*messages, answer, {"role": "user", "content": _AGAIN}]


async def reviewed(critic: str, gold: Gold, background: Background, ask: Ask) -> Review:
    """The review of one sample by a named model; "unknown" if it refuses or its answer is cut off.

    Raises:
        ModelError: The model cannot be reached.
    """
    prompt = critic_prompt(gold, background.library, doubts_of(gold, GroundingGate(background)))
    return _review(await _answer(gold, background, prompt, ask, critic))


def _review(entry: Mapping[str, Any]) -> Review:
    """The review in an entry; "unknown" if the model refused or its answer was cut off."""
    review = read_answered_review(entry.get("response"), entry.get("finish_reason"))
    is_none = _is_cut_off(entry) or entry.get("outcome") == "refused"
    return Review("unknown", review.conclusion) if is_none else review


def _is_cut_off(entry: Mapping[str, Any]) -> bool:
    return (entry.get("finish_reason") or "").lower() in CUT_OFF


def _fingerprint(prompt: str) -> str:
    return hashlib.sha256(prompt.encode("utf-8", "surrogatepass")).hexdigest()[:16]


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
        objections, others = [], []
        own = self._teacher == RULES
        if own and (set(self._critics) == {RULES} or (not self._critics and self._stored(gold) is not None)):
            return [
                self._finding("not applicable", "the rules that wrote the sample reviewed it", author=RULES)
            ]
        for name, verdicts in self._critics.items():
            if own and name == RULES:
                continue
            answer = verdicts.get(gold.line)
            if answer is not None and answer.outcome in _ANSWERS and answer.verdict == "fail":
                objections.append(_Objection(name, f'{name} concludes: "{answer.conclusion}"', ""))
            else:
                others += self._no_objection(name, answer)
        stored = self._stored(gold)
        if stored is None and not self._critics:
            return [self._finding("not applicable", "the label has no review (--critic requests one)")]
        if stored is not None and self._teacher not in self._critics and not own:
            if stored.verdict == "fail":
                reason = f'{self._reviewer} concludes: "{stored.conclusion}"'
                objections.append(_Objection(self._teacher, reason, REVIEW))
            elif stored.verdict == "unknown" and not self._critics:
                reason = f'{self._reviewer} has no readable verdict: "{stored.conclusion}"'
                others.append(self._finding("unknown", reason, REVIEW, self._teacher))
        state: State = "reject" if len({one.author for one in objections if one.author}) > 1 else "quarantine"
        return [self._finding(state, one.reason, one.where, one.author) for one in objections] + others

    def confirmed_by(self, gold: Gold) -> str:
        """A critic whose verdict is "pass", if no reviewer's is "fail"; empty without one.

        The built-in rules confirm nothing: they know no more than the gates.
        """
        if any(finding.state in ("quarantine", "reject") for finding in self.check(gold)):
            return ""
        for name, verdicts in self._critics.items():
            answer = verdicts.get(gold.line)
            if name != RULES and answer and answer.outcome in _ANSWERS and answer.verdict == "pass":
                return name
        return ""

    def verdicts(self, gold: Gold) -> dict[str, TeacherVerdict | None]:
        """The verdicts of the stored review and of each critic, by name; empty without critics."""
        if not self._critics:
            return {}
        stored = self._stored(gold)
        found: dict[str, TeacherVerdict | None] = {REVIEW: stored.verdict if stored else None}
        for name, verdicts in self._critics.items():
            answer = verdicts.get(gold.line)
            found[name] = None if answer is None or answer.outcome == NOT_FOR_IT else answer.verdict
        return found

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
            return [self._finding("not applicable", reason, author=who)]
        if answer.outcome == NOT_FOR_IT:
            return [self._finding("not applicable", f"{who} judges no plan without arguments", author=who)]
        if answer.outcome == "refused":
            return [self._finding("unknown", f"{who} refused to review it", author=who)]
        if answer.outcome not in _ANSWERS:
            return [self._finding("unknown", f"{who} gave no answer ({answer.outcome})", author=who)]
        if answer.verdict == "pass":
            return []
        reason = f'the review by {who} has no readable verdict: "{answer.conclusion}"'
        return [self._finding("unknown", reason, author=who)]

    def _finding(self, state: State, reason: str, where: str = "", author: str = "") -> Finding:
        return Finding(self.name, state, reason, where, author)
