"""The turns of the conversation about a sample: who asks for what, the prompts, and the answers."""

from __future__ import annotations

from random import Random
from string import Template
from typing import Any, NamedTuple, TypeVar

import msgspec

from toolassay.backinstruct.generator import DECLINED
from toolassay.executors.fact_sources import FactSource
from toolassay.files.data_files import package_data
from toolassay.models import ChatResponse
from toolassay.models.json_answers import read_answer
from toolassay.prompts.templates import package_template
from toolassay.records.dataset import Difficulty
from toolassay.writing.situations import Situations


class Situation(NamedTuple):
    """Who asks for something, on which occasion, in which register, at which length."""

    person: str
    occasion: str
    register: str
    length: str

    @classmethod
    def drawn(cls, seed: int, index: int, proposed: Situations | None = None) -> Situation:
        """The situation of sample `index`, with the proposed persons and occasions if there are any.

        >>> Situation.drawn(7, 12) == Situation.drawn(7, 12)
        True
        """
        rng = Random(f"situation {seed} {index}")
        persons, occasions, registers, lengths = package_data(__package__, "situations.json")
        if proposed is not None:
            persons, occasions = proposed.persons, proposed.occasions
        return cls(*map(rng.choice, (persons, occasions, registers, lengths)))

    def length_for(self, calls: int) -> str:
        """The length, or a longer one that so many calls need.

        >>> Situation("", "", "", "one sentence").length_for(5)
        'two or three sentences'
        """
        lengths: list[str] = package_data(__package__, "situations.json")[-1]
        return lengths[max(lengths.index(self.length), min(calls // 2, len(lengths) - 1))]


MOST_CALLS = 12
"""Of a plan with a difficulty above easy."""


class TaskForm(NamedTuple):
    """What kind of task a sample becomes, and in which manner it is said; empty without a difficulty."""

    kind: str = ""
    manner: str = ""

    @classmethod
    def drawn(cls, difficulty: Difficulty | None, seed: int, index: int) -> TaskForm:
        """The form of sample `index`.

        >>> TaskForm.drawn(None, 7, 12), TaskForm.drawn("hard", 7, 12).kind in ("choose", "each", "count")
        (TaskForm(kind='', manner=''), True)
        """
        if difficulty is None:
            return cls()
        rng = Random(f"task {seed} {index}")
        weights: dict[str, int] = _tasks()["difficulties"][difficulty]
        (kind,) = rng.choices(list(weights), list(weights.values()))
        return cls(kind, rng.choice(list(_tasks()["manners"])))

    @property
    def about_plan(self) -> str:
        """What the prompt for the plan says."""
        return f" The kind of task: {_tasks()['kinds'][self.kind]}" if self.kind else ""

    def voice(self, situation: Situation, calls: int) -> str:
        """How the person speaks in a situation, of so many calls: what the prompt for the words says."""
        manner = Template(_tasks()["manners"][self.manner or "plain"])
        return manner.substitute(register=situation.register, length=situation.length_for(calls))


def _tasks() -> dict[str, Any]:
    tasks: dict[str, Any] = package_data(__package__, "tasks.json")
    return tasks


class _Argument(msgspec.Struct):
    name: str
    value: Any = None


class WrittenCall(msgspec.Struct):
    """A call as a model writes it."""

    tool: str
    arguments: list[_Argument]


class PlanAnswer(msgspec.Struct):
    """The answer to the first prompt."""

    goal: str
    calls: list[WrittenCall]
    declined: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether no call is planned."""
        return not self.calls


class RequestAnswer(msgspec.Struct):
    """The answer to the second prompt."""

    user_request: str
    facts: list[FactSource] | None = None
    declined: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether no request is written."""
        return not self.user_request.strip()


_Answer = TypeVar("_Answer", PlanAnswer, RequestAnswer)


def read_turn(response: ChatResponse, form: type[_Answer]) -> _Answer | str:
    """The answer of a turn, or what is wrong with it."""
    keys = [name for name in form.__struct_fields__ if name != DECLINED]
    answer = read_answer(response.text, keys=keys, finish_reason=response.finish_reason)
    if answer.value is None or answer.problem:
        return answer.problem or "the answer is not the requested JSON object"
    value = dict(answer.value)
    value[DECLINED] = value.get(DECLINED) or ""
    calls = value.get("calls")
    for call in calls if isinstance(calls, list) else ():
        arguments: Any = call.get("arguments") if isinstance(call, dict) else None
        if isinstance(arguments, dict):
            call["arguments"] = [{"name": name, "value": item} for name, item in arguments.items()]
    try:
        parsed = msgspec.convert(value, form)
    except msgspec.ValidationError as error:
        return str(error).replace("`", "'")
    if parsed.is_empty and not parsed.declined.strip():
        return "nothing was written, and nothing declined"
    return parsed


def template(name: str) -> Template:
    """A template of this folder: "plan", "request" or "again"."""
    return Template(package_template("writing", name).strip())


def seed_wording() -> str:
    """The texts of all prompts."""
    return "\n".join(template(name).template for name in ("plan", "request", "again"))


NOT_CARRIED_OUT = "(they could not be carried out)"
