"""The words in which reviewers conclude."""

from __future__ import annotations

import re
from typing import NamedTuple

EXECUTABLE, CORRECT = "executable", "correct"
ASPECTS = (EXECUTABLE, CORRECT)

KEY = r"\b(executab(?:le|ility)|correct(?:ness)?)\b"
HEDGE = re.compile(
    r"\b(?:but|however|mostly|mainly|largely|partially|partly|almost|nearly|probably|likely|maybe|perhaps|"
    r"possibly|unless|except|unclear|unsure|somewhat|depends|depending|assuming|provided|if|"
    r"not (?:sure|entirely|fully|quite|completely)|in part|with reservations)\b"
)
DOUBT = re.compile(
    r"\b(?:maybe|perhaps|probably|likely|possibly|unclear|unsure|not sure|unless|depends|partially|partly)\b"
)
TURN = re.compile(r"[\s.;!,]*\b(?:but|however|although|though|except|unless)\b")
"""What follows takes a conclusion back."""

_VALUES = {
    **dict.fromkeys(("yes", "true", "y", "pass", "passed"), True),
    **dict.fromkeys(("no", "false", "n", "fail", "failed", "incorrect", "not executable"), False),
    "not correct": False,
}
VALUE = re.compile(rf"(?:{'|'.join(sorted(_VALUES, key=len, reverse=True))})\b")


class Said(NamedTuple):
    """A conclusion: about what, yes or no (None: it cannot be told), and where in the text.

    `scoped` marks one about a single step.
    """

    aspect: str
    value: bool | None
    place: int
    end: int
    scoped: bool = False


def aspect_of(key: str) -> str:
    """What a key is about.

    >>> aspect_of("Correctness")
    'correct'
    """
    return EXECUTABLE if key.lower().startswith("exec") else CORRECT


def value_of(text: str) -> bool | None:
    """Yes or no, if the whole text is that.

    >>> value_of(" Yes. "), value_of("no idea")
    (True, None)
    """
    return _VALUES.get(text.strip(" .!()[]").lower())
