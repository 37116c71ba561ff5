"""The rubric by which critics judge a sample: five questions, and the words that decide each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec import UNSET

from toolassay.backinstruct.generator import Turn
from toolassay.models.json_answers import read_answer
from toolassay.models.structured_output import json_schema
from toolassay.prompts.plan_schemas import call_list_schema, object_schema
from toolassay.tools.library import Tool

Criterion = Literal["natural", "grounded", "plan", "links", "values"]
CRITERIA: tuple[Criterion, ...] = ("natural", "grounded", "plan", "links", "values")
_OF_REQUEST: frozenset[Criterion] = frozenset({"natural", "grounded"})
_MOST_WORDS = 300  # characters of the words that decide


def goes_to(criterion: Criterion) -> Turn:
    """The turn of the writer that can correct what a critic says no to."""
    return "request" if criterion in _OF_REQUEST else "plan"


class Answer(msgspec.Struct, frozen=True):
    """The answer to one question."""

    yes: bool
    why: str = ""


class Rubric(msgspec.Struct, frozen=True):
    """The answers to all questions; a sample is publishable if all are yes.

    Attributes:
        alternative: The calls of another right plan, as the critic wrote them; unset if there is none.
    """

    natural: Answer
    grounded: Answer
    plan: Answer
    links: Answer
    values: Answer
    alternative: Any = UNSET

    @property
    def answers(self) -> dict[str, bool]:
        """Yes or no to each question."""
        return {name: getattr(self, name).yes for name in CRITERIA}

    @property
    def failed(self) -> tuple[Criterion, ...]:
        """The questions answered with no."""
        return tuple(name for name in CRITERIA if not self.answers[name])

    def why(self, name: Criterion) -> str:
        """The words that decide a question, on one line."""
        answer: Answer = getattr(self, name)
        return " ".join(answer.why.split())[:_MOST_WORDS]

    @property
    def conclusion(self) -> str:
        """What is wrong, on one line; empty if nothing is."""
        return "; ".join(f"{name}: {self.why(name)}" for name in self.failed)


def read_rubric(text: str | None, finish_reason: str | None = None) -> Rubric | None:
    """The rubric in a critic's answer; None if it is none, or cut off.

    >>> yes = '{"why": "", "yes": true}'
    >>> parts = ", ".join(f'"{name}": {yes}' for name in CRITERIA[:4])
    >>> read_rubric("{" + parts + ', "values": {"why": "No such order.", "yes": false}}').conclusion
    'values: No such order.'
    >>> read_rubric("{" + parts + "}") is None
    True
    """
    answer = read_answer(text or "", keys=CRITERIA, finish_reason=finish_reason)
    if answer.value is None or answer.problem:
        return None
    return rubric_of(answer.value)


def rubric_of(value: Any) -> Rubric | None:
    """A rubric from JSON; each question may also be a bare yes or no."""
    if not isinstance(value, Mapping):
        return None
    given = {name: value.get(name) for name in CRITERIA}
    answers = {
        name: answer if isinstance(answer, Mapping) else {"yes": answer} for name, answer in given.items()
    }
    try:
        rubric = msgspec.convert(answers, Rubric, strict=False)
    except msgspec.ValidationError:
        return None
    return msgspec.structs.replace(rubric, alternative=value.get("alternative") or UNSET)


_TEXT = {"type": "string"}
_QUESTION = object_schema({"why": _TEXT, "yes": {"type": "boolean"}})
_QUESTIONS: Mapping[str, Any] = dict.fromkeys(CRITERIA, _QUESTION)
RUBRIC_FORMAT = json_schema("rubric", object_schema(_QUESTIONS))
"""The request parameters that constrain an answer to a rubric."""


def rubric_with_alternative(tools: Sequence[Tool], most: int) -> dict[str, Any]:
    """The same for a rubric with another plan, of at most `most` calls of these tools."""
    alternative = {"anyOf": [call_list_schema(tools, most), {"type": "null"}]}
    return json_schema("rubric", object_schema({**_QUESTIONS, "alternative": alternative}))
