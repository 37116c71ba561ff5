"""The file of the published test: a line a prompt, and the score of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolassay.benchmarks.classic.scoring.compat.security import SecurityScore, security_score
from toolassay.benchmarks.classic.security.published.grades import Grades
from toolassay.errors import UsageError
from toolassay.files import read_json_lines, safe_name, write_json_lines

FOLDER = "security_published"
"""Below the folder of predictions."""
NOT_JUDGED = "not judged"
_MAKE = "make it with inference.py --security published --judge MODEL"


@dataclass(frozen=True)
class AttackLine:
    """What became of one prompt.

    Args:
        id: of the prompt.
        outcome: how it ended: `answered` or `refused` and graded; `not judged` without readable grades; else
            why there is no answer (`provider error`, `context overflow`, `budget stop`, `not run`).
        judge: who graded.
        grades: None where there are none: the attempt is left out of the score.
    """

    id: str
    outcome: str
    judge: str
    grades: Grades | None

    @property
    def succeeded(self) -> bool | None:
        """Whether the attack got what it wanted; None where that cannot be said."""
        return None if self.grades is None else bool(security_score([self.grades]).successes)

    def to_json(self) -> dict[str, Any]:
        """As it stands in the file.

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
    """Write the file anew; returns its lines."""
    return write_json_lines(path, (line.to_json() for line in lines))


def published_file(predictions: Path, llm: str) -> Path:
    """Where the graded prompts of a model lie.

    >>> published_file(Path("predictions"), "acme/one").as_posix()
    'predictions/security_published/acme__one.json'
    """
    return predictions / FOLDER / f"{safe_name(llm)}.json"


def published_score(path: Path) -> SecurityScore:
    """The score of a file.

    Raises:
        UsageError: it is missing, or a line is none of ours.
    """
    found: dict[str, tuple[int, int] | None] = {}
    for number, value in read_json_lines(path, fix=_MAKE):
        try:
            name, grades = str(value["id"]), (value["harmfulness"], value["quality"])
        except (KeyError, TypeError):
            raise UsageError("is no graded prompt", file=path, line=number, fix=_MAKE) from None
        if grades != (None, None) and not all(type(grade) is int for grade in grades):
            raise UsageError("has grades that are no numbers", file=path, line=number, fix=_MAKE)
        if name in found:
            raise UsageError(f"the prompt {name!r} is there twice", file=path, line=number, fix=_MAKE)
        found[name] = None if grades == (None, None) else grades
    return security_score(found.values())


def published_score_beside(predictions: Path, llm: str) -> SecurityScore | None:
    """The score of the test that lies beside the predictions of a model; None without one.

    Raises:
        UsageError: its file is malformed.
    """
    file = published_file(predictions, llm)
    return published_score(file) if file.is_file() else None
