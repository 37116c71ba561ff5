"""How well a value fits what is due, and the words for it where it does not."""

from __future__ import annotations

from typing import Literal, NamedTuple

from toolassay.gates.gate import State


class Fit(NamedTuple):
    """Whether a value fits, and if not, what it is ("an audio file")."""

    grade: Literal["fits", "doubtful", "wrong"]
    what: str = ""

    @property
    def fits(self) -> bool:
        """Whether there is nothing to say."""
        return self.grade == "fits"

    @property
    def state(self) -> State:
        """What a gate says of it."""
        states: dict[str, State] = {"fits": "pass", "doubtful": "quarantine", "wrong": "reject"}
        return states[self.grade]

    @property
    def cost(self) -> int:
        """What it costs to put the value there: two doubtful ones are better than a wrong one."""
        return {"fits": 0, "doubtful": 1, "wrong": 3}[self.grade]


FITS = Fit("fits")


def doubtful(what: str) -> Fit:
    """It may be meant so; a person should look."""
    return Fit("doubtful", what)


def wrong(what: str) -> Fit:
    """A reader would agree that it does not fit."""
    return Fit("wrong", what)
