"""The attacks of the published test: read from the table, sent to the bare model, and graded by a judge."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from toolassay.benchmarks.classic.csv_table import read_table
from toolassay.benchmarks.classic.security.prompts import HARMLESS, TURNS
from toolassay.benchmarks.classic.security.published.grades import (
    NOT_JUDGED,
    AttackLine,
    Grades,
    grading_prompt,
    read_grades,
)
from toolassay.errors import UsageError
from toolassay.models import ChatRequest
from toolassay.runs import Journal
from toolassay.runs.items import FINAL, Ask, ItemWork


@dataclass(frozen=True)
class Attack:
    """One prompt.

    Args:
        id: its `prompt_id`, or its row number if the table has no such column.
        text: the first turn, unchanged.
    """

    id: str
    text: str


def read_attacks(path: Path) -> list[Attack]:
    """Read the attacks of a table, in its order; harmless twins are left out.

    All three columns of turns are required, as in the published table, but only the first turn is used. Other
    columns are optional.

    Raises:
        UsageError: the table does not exist, lacks a column or has no attack; or a first turn is empty, or an
            id is a duplicate.
    """
    attacks: dict[str, Attack] = {}
    fix = "add a table of prompts (see docs/security.md), or omit --security"
    for number, row in enumerate(read_table(path, TURNS, fix=fix), start=1):
        if row.get("kind") == HARMLESS:
            continue
        attack = Attack(row.get("prompt_id") or str(number), row[TURNS[0]])
        if not attack.text.strip():
            raise row.error(f"{TURNS[0]} is empty", "write the message, or remove the row")
        if attack.id in attacks:
            raise row.error(f"duplicate prompt_id {attack.id!r}", "write a unique id")
        attacks[attack.id] = attack
    if not attacks:
        raise UsageError("no attacks", file=path, fix="write one row per prompt, or omit --security")
    return list(attacks.values())


PARAMETERS: Mapping[str, Any] = {"temperature": 0.7}
"""Parameters of the requests to the model under test, as published."""
_JUDGING: Mapping[str, Any] = {"temperature": 0.0, "max_tokens": 200}
_MAX_ATTEMPTS = 3


@dataclass(frozen=True)
class AttackItems(ItemWork[Attack]):
    """Sends the first turn of single attacks as the only message."""

    final = FINAL

    def key_of(self, item: Attack) -> str:
        """The key of an attack."""
        return f"attack {item.id}"

    def identity(self, item: Attack) -> dict[str, Any]:
        """The wording."""
        return {"prompt": text_fingerprint(item.text)}

    async def answer(self, item: Attack, ask: Ask) -> dict[str, Any]:
        """Send an attack."""
        message = {"role": "user", "content": item.text}
        response = await ask(ChatRequest([message], PARAMETERS, role="agent"))
        return {"outcome": "refused" if response.refused else "answered", "response": response.text}


class Answered(NamedTuple):
    """An attack and the answer to it."""

    attack: Attack
    answer: str

    @property
    def prompt(self) -> str:
        """What the judge is sent."""
        return grading_prompt(self.attack.text, self.answer)


@dataclass(frozen=True)
class GradeItems(ItemWork[Answered]):
    """Has a judge grade single answers, with up to three replies; another judge grades them again.

    Attributes:
        judge: name of the model.
    """

    judge: str

    def key_of(self, item: Answered) -> str:
        """The key of the replies of this judge."""
        return f"judge {self.judge} {item.attack.id}"

    def identity(self, item: Answered) -> dict[str, Any]:
        """What the judge is sent."""
        return {"prompt": text_fingerprint(item.prompt)}

    def is_settled(self, entry: Mapping[str, Any]) -> bool:
        """Whether there are grades, or the judge used up its attempts."""
        said = entry.get("said", ())
        return len(said) >= _MAX_ATTEMPTS or _grades(said) is not None

    def recorded(self, entry: Mapping[str, Any]) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """The replies of an entry."""
        return {"judge": [{"response": text} for text in entry.get("said", ())]}

    async def answer(self, item: Answered, ask: Ask) -> dict[str, Any]:
        """Ask the judge until its reply has grades."""
        message, said = {"role": "user", "content": item.prompt}, list[str]()
        while not self.is_settled({"said": said}):
            said.append((await ask(ChatRequest([message], _JUDGING, role="judge"))).text)
        return {"outcome": "answered", "said": said}


def answers_in(attacks: Iterable[Attack], journal: Journal) -> list[Answered]:
    """The attacks that have an answer in the journal."""
    entries = ((attack, AttackItems().entry_of(journal, attack)) for attack in attacks)
    return [Answered(attack, entry["response"]) for attack, entry in entries if "response" in entry]


def attack_lines(attacks: Iterable[Attack], judge: str, journal: Journal) -> Iterator[AttackLine]:
    """Every attack with its grades, in order, computed from the journal."""
    for attack in attacks:
        entry, grades = AttackItems().entry_of(journal, attack), None
        outcome = str(entry.get("outcome", "not run"))
        if "response" in entry:
            graded = GradeItems(judge).entry_of(journal, Answered(attack, entry["response"]))
            grades = _grades(graded.get("said", ()))
            outcome = NOT_JUDGED if grades is None else outcome
        yield AttackLine(attack.id, outcome, judge, grades)


def text_fingerprint(text: str) -> str:
    """A hash of a text that was sent; a changed text is sent again."""
    return hashlib.sha256(json.dumps(text).encode()).hexdigest()[:16]


def _grades(said: Sequence[str]) -> Grades | None:
    return read_grades(said[-1]) if said else None
