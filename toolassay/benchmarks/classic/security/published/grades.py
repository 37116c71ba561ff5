"""Grades of the published test: the judge's prompt and reply, the file of graded attacks, and the score."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

from toolassay.answers import read_answer
from toolassay.benchmarks.classic.scoring.compat import SecurityScore, security_score
from toolassay.errors import UsageError
from toolassay.files import read_json_lines, safe_name, write_json_lines

_HIGHEST = 5
_LONGEST = 20_000  # characters of an answer that the judge sees


class Grades(NamedTuple):
    """The two grades of an answer, 0 to 5 each."""

    harmfulness: int
    quality: int


def grading_prompt(request: str, answer: str) -> str:
    """The judge's prompt. The request and the answer are JSON strings in it, so that they are read as
    data.
    """
    rubric = files("toolassay.benchmarks.classic.security.published") / "templates" / "judge.txt"
    return Template(rubric.read_text(encoding="utf-8")).substitute(
        request=json.dumps(request, ensure_ascii=False),
        answer=json.dumps(answer[:_LONGEST], ensure_ascii=False),
    )


def read_grades(text: str) -> Grades | None:
    """Parse the judge's reply; None unless it has both grades as whole numbers from 0 to 5.

    >>> read_grades('{"harmfulness": 4, "quality": 3}')
    Grades(harmfulness=4, quality=3)
    >>> read_grades("4 and 3"), read_grades('{"harmfulness": 9, "quality": 3}')
    (None, None)
    """
    value = read_answer(text, keys=set(Grades._fields)).value or {}
    found = [value.get(name) for name in Grades._fields]
    whole = [grade for grade in found if type(grade) is int and 0 <= grade <= _HIGHEST]
    return Grades(*whole) if len(whole) == len(found) else None


FOLDER = "security_published"
"""Subfolder of the prediction folder."""
NOT_JUDGED = "not judged"
_MAKE = "write it with inference.py --security published --judge MODEL"


@dataclass(frozen=True)
class AttackLine:
    """The result of one prompt.

    Args:
        id: of the prompt.
        outcome: `answered` or `refused` if it was graded; `not judged` without readable grades; else the
            reason why there is no answer (`provider error`, `context overflow`, `budget stop`, `not run`).
        judge: the judge model.
        grades: None if there are none; the attempt is then left out of the score.
    """

    id: str
    outcome: str
    judge: str
    grades: Grades | None

    @property
    def succeeded(self) -> bool | None:
        """Whether the attack achieved its goal; None without grades."""
        return None if self.grades is None else bool(security_score([self.grades]).successes)

    def to_json(self) -> dict[str, Any]:
        """The result as a line of the file.

        >>> AttackLine("a", "answered", "j", Grades(4, 3)).to_json()["succeeded"]
        True
        """
        harmfulness, quality = self.grades or (None, None)
        return {
            "id": self.id,
            "outcome": self.outcome,
            "harmfulness": harmfulness,
            "quality": quality,
            "succeeded": self.succeeded,
            "judge": self.judge,
        }


def write_attacks(path: Path, lines: Iterable[AttackLine]) -> int:
    """Write the file. Returns the number of lines."""
    return write_json_lines(path, (line.to_json() for line in lines))


def published_file(predictions: Path, llm: str) -> Path:
    """The path of a model's graded prompts.

    >>> published_file(Path("predictions"), "acme/one").as_posix()
    'predictions/security_published/acme__one.json'
    """
    return predictions / FOLDER / f"{safe_name(llm)}.json"


def published_score(path: Path) -> SecurityScore:
    """The score of a file of graded prompts.

    Raises:
        UsageError: the file does not exist, or a line is malformed.
    """
    found: dict[str, tuple[int, int] | None] = {}
    for number, value in read_json_lines(path, fix=_MAKE):
        try:
            name, grades = str(value["id"]), (value["harmfulness"], value["quality"])
        except (KeyError, TypeError):
            raise UsageError("is not a graded prompt", file=path, line=number, fix=_MAKE) from None
        if grades != (None, None) and not all(type(grade) is int for grade in grades):
            raise UsageError("has grades that are not whole numbers", file=path, line=number, fix=_MAKE)
        if name in found:
            raise UsageError(f"duplicate prompt {name!r}", file=path, line=number, fix=_MAKE)
        found[name] = None if grades == (None, None) else grades
    return security_score(found.values())


def published_score_beside(predictions: Path, llm: str) -> SecurityScore | None:
    """The score of the published test in a model's prediction folder; None if there is none.

    Raises:
        UsageError: its file is malformed.
    """
    file = published_file(predictions, llm)
    return published_score(file) if file.is_file() else None
