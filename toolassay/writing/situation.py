"""Who asks, and why and how: what a seed draws for each request, so that a set has many voices."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

_PEOPLE = (
    "someone who uses this service for the first time and does not know its words",
    "someone who does this every week and wastes no words",
    "a team lead who hands over a task between two meetings",
    "a specialist who knows exactly which record they mean",
    "someone who helps a relative or a colleague with it",
    "a customer who was let down before and wants it right this time",
    "a new employee who was told to do this and gives the reason they were given",
    "someone at home in the evening, on a phone",
    "someone who plans ahead and explains what the result is for",
    "a person who looks after many such records and mentions only what matters here",
)
_OCCASIONS = (
    "something changed at short notice",
    "something has to be ready by tomorrow",
    "a decision depends on what they find out",
    "a mistake was noticed and is to be put right",
    "somebody else asked them for it",
    "they are tidying up",
    "they are starting something new",
    "they want to check before they go on",
    "it is a routine that comes round again",
    "they compare two possibilities",
)
_REGISTERS = (
    "short and direct",
    "polite, in whole sentences",
    "casual, as in a chat",
    "matter-of-fact, as in a work message",
    "a little long-winded, the reason first",
    "as a question",
)
_LENGTHS = (
    "one sentence",
    "one or two sentences",
    "two or three sentences",
    "a short paragraph",
)


class Situation(NamedTuple):
    """Who asks for something, on which occasion, in which register, at which length."""

    person: str
    occasion: str
    register: str
    length: str

    @classmethod
    def drawn(cls, seed: int, index: int) -> Situation:
        """The situation of sample `index`.

        >>> Situation.drawn(7, 12) == Situation.drawn(7, 12)
        True
        """
        rng = Random(f"situation {seed} {index}")
        return cls(*(rng.choice(choices) for choices in (_PEOPLE, _OCCASIONS, _REGISTERS, _LENGTHS)))
