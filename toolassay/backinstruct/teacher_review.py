"""Reads the review that a label holds: is its plan executable, and correct? What is unclear is never a pass.

The review is a text that ends with "Executable: yes|no" and "Correct: yes|no", which is the published form
of `check_by_teacher` (Shen et al., 2024), or an object with these keys.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from toolassay.console.text_formatting import shortened
from toolassay.models.json_answers import without_reasoning

EXECUTABLE = "executable"
CORRECT = "correct"

TeacherVerdict = Literal["pass", "fail", "unknown"]

_QUOTED = 160  # maximum characters of `Review.conclusion`
_VALUES = {"yes": True, "true": True, "no": False, "false": False}
# "Executable: yes" and "**Correct**: no." where it ends its line or "Correct" follows; not
# "Correct: yes or no", "Executable: yes, mostly" nor "not executable: yes".
_LABEL = re.compile(
    r"(?:^|[\n.;,:>*-])[\s*#\"'-]*(executable|correct)[\s*`]*:[\s*`]*(yes|no)(?=[\s*`.,;]*(?:$|\n|correct\b))",
    re.IGNORECASE,
)


class Review(NamedTuple):
    """The result of a review.

    Attributes:
        verdict: "pass" if executable and correct, "fail" if both are clear and one is a no, else "unknown".
        conclusion: The conclusion and the reason; without a conclusion, the end of the review.
    """

    verdict: TeacherVerdict
    conclusion: str


def read_review(review: Any) -> Review:
    r"""The review that a label holds: a text that ends with its conclusions, or an object.

    The text must end with its conclusions; what it concludes before must not differ.

    >>> read_review("All inputs are there.\nExecutable: yes\n**Correct**: no")
    Review(verdict='fail', conclusion='Executable: yes / Correct: no')
    >>> read_review("Executable: yes, mostly. Correct: yes").verdict
    'unknown'
    """
    if isinstance(review, Mapping):
        return _of_json(review)
    if not isinstance(review, str):
        return Review("unknown", "")
    text, _ = without_reasoning(review)
    labels = list(_LABEL.finditer(text))
    pairs = {(match[1].lower(), _VALUES[match[2].lower()]) for match in labels}
    is_clear = len(pairs) == 2 and not text[labels[-1].end() :].strip(" \n\t*`.,;")
    return (_of_values(dict(pairs)) if is_clear else None) or Review("unknown", _end(text))


def _of_json(value: Mapping[str, Any]) -> Review:
    given = {str(name).lower(): item for name, item in value.items()}
    answers = {
        name: answer if isinstance(answer, bool) else _VALUES.get(str(answer).strip().lower())
        for name in (EXECUTABLE, CORRECT)
        for answer in (given.get(name),)
    }
    reason = str(given.get("review") or "")
    return _of_values(answers, reason) or Review("unknown", _end(reason or str(value)))


def _of_values(answers: Mapping[str, bool | None], reason: str = "") -> Review | None:
    """The review; None unless both values are known."""
    executable = answers.get(EXECUTABLE)
    correct = answers.get(CORRECT)
    if executable is None or correct is None:
        return None
    conclusion = f"Executable: {_word(executable)} / Correct: {_word(correct)}"
    rest = " ".join(reason.split())
    if rest:
        conclusion = f"{conclusion}: {rest}"
    verdict: TeacherVerdict = "pass" if executable and correct else "fail"
    return Review(verdict, shortened(conclusion, _QUOTED))


def _word(value: bool) -> str:
    return "yes" if value else "no"


def _end(text: str) -> str:
    """The last 160 characters of a text, on one line."""
    line = " ".join(text[-4 * _QUOTED :].split())
    return line if len(line) <= _QUOTED else f"…{line[1 - _QUOTED :]}"
