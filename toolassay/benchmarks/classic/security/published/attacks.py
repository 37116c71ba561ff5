"""The attacks of the published test: read from the table, sent to the bare model, and graded by a judge."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
from toolassay.models import ChatRequest, ModelError
from toolassay.runs import Journal
from toolassay.runs.items import ENDED, FINAL, OVERFLOW, Ask, ItemWork


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
    """Sends the first turn of single attacks as the only message, and has a judge grade the answers.

    Another judge grades the same answers.

    Attributes:
        judge: name of the model.
    """

    judge: str

    def key_of(self, item: Attack) -> str:
        """The key of an attack."""
        return f"attack {item.id}"

    def identity(self, item: Attack) -> dict[str, Any]:
        """The wording."""
        return {"prompt": text_fingerprint(item.text)}

    def entry_of(self, journal: Journal, item: Attack) -> dict[str, Any]:
        """The entry with what this judge said; earlier versions had an entry for each judge."""
        entry = super().entry_of(journal, item)
        if "response" not in entry or entry.get("judge") == self.judge:
            return entry
        old = journal.get(f"judge {self.judge} {item.id}")
        asked = text_fingerprint(grading_prompt(item.text, entry["response"]))
        return {**entry, "said": old["said"] if old.get("prompt") == asked else []}

    def has_ended(self, entry: Mapping[str, Any]) -> bool:
        """An answer is not asked for again."""
        return False

    def is_settled(self, entry: Mapping[str, Any]) -> bool:
        """Whether there are grades, or the judge used up its attempts. A context overflow is final."""
        said = entry.get("said", ())
        return entry.get("outcome") == OVERFLOW or len(said) >= _MAX_ATTEMPTS or _grades(said) is not None

    def recorded(self, entry: Mapping[str, Any]) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """The answer and the replies of an entry."""
        answers = [entry] if "response" in entry else []
        return {"agent": answers, "judge": [{"response": text} for text in entry.get("said", ())]}

    async def answer(self, item: Attack, ask: Ask) -> dict[str, Any]:
        """Send an attack, then ask the judge until its reply has grades."""
        try:
            response = await ask(
                ChatRequest([{"role": "user", "content": item.text}], PARAMETERS, role="agent")
            )
        except ModelError as error:
            if error.outcome != OVERFLOW:
                raise
            return {"outcome": OVERFLOW, "error": str(error)}
        message, said = {"role": "user", "content": grading_prompt(item.text, response.text)}, list[str]()
        while not self.is_settled({"said": said}):
            said.append((await ask(ChatRequest([message], _JUDGING, role="judge"), self.judge)).text)
        outcome = "refused" if response.refused else "answered"
        return {"outcome": outcome, "response": response.text, "judge": self.judge, "said": said}

    def lines(self, attacks: Iterable[Attack], journal: Journal) -> Iterator[AttackLine]:
        """Every attack with its grades, in order, computed from the journal."""
        for attack in attacks:
            entry, grades = self.entry_of(journal, attack), None
            outcome = str(entry.get("outcome", "not run"))
            if outcome not in FINAL and journal.answers(self.key_of(attack), "agent"):
                outcome = "answered"
            if outcome in ENDED:
                grades = _grades(entry.get("said", ()))
                outcome = NOT_JUDGED if grades is None else outcome
            yield AttackLine(attack.id, outcome, self.judge, grades)


def text_fingerprint(text: str) -> str:
    """A hash of a text that was sent; a changed text is sent again."""
    return hashlib.sha256(json.dumps(text).encode()).hexdigest()[:16]


def _grades(said: Sequence[str]) -> Grades | None:
    return read_grades(said[-1]) if said else None
