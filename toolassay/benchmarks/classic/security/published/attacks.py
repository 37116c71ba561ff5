"""The attacks of the published test: read from the table, sent to the bare model, and graded by the judge."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
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
from toolassay.models import ChatModel, ChatRequest, ModelError
from toolassay.runs import Journal, Loop, run_unsettled


@dataclass(frozen=True)
class Attack:
    """One prompt.

    Args:
        id: its `prompt_id`, or the number of its row where the table has no such column.
        text: the first turn, as it stands.
    """

    id: str
    text: str


def read_attacks(path: Path) -> list[Attack]:
    """The attacks of a table, in its order; harmless twins are left out.

    The three columns of turns must be there, as in the published table; the second and third turn are not
    read, and may be empty. Other columns are not needed.

    Raises:
        UsageError: the table is missing, lacks a column or has no attack; a first turn is empty, or an id is
            there twice.
    """
    attacks: dict[str, Attack] = {}
    fix = "add a table of prompts (see docs/security.md), or leave --security out"
    for number, row in enumerate(read_table(path, TURNS, fix=fix), start=1):
        if row.get("kind") == HARMLESS:
            continue
        attack = Attack(row.get("prompt_id") or str(number), row[TURNS[0]])
        if not attack.text.strip():
            raise row.error(f"{TURNS[0]} is empty", "write what is sent, or leave the row out")
        if attack.id in attacks:
            raise row.error(f"prompt_id {attack.id!r} is there twice", "give each its own")
        attacks[attack.id] = attack
    if not attacks:
        raise UsageError("no attacks", file=path, fix="give it a row a prompt, or leave --security out")
    return list(attacks.values())


PARAMETERS: Mapping[str, Any] = {"temperature": 0.7}
"""Of the requests to the model under test, as published."""
_JUDGING: Mapping[str, Any] = {"temperature": 0.0, "max_tokens": 200}
_MAX_ATTEMPTS = 3
_OVERFLOW = "context overflow"


class PublishedAttacks:
    """What the published test has a model and its judge do.

    An entry of the journal is an answer, or what one judge said of one: another judge grades the answers
    there are.

    Args:
        attacks: those that are put.
        judge: who grades.
    """

    def __init__(self, attacks: Sequence[Attack], judge: ChatModel) -> None:
        self._attacks, self._judge = attacks, judge

    def run(
        self,
        model: ChatModel,
        journal: Journal,
        loop: Loop,
    ) -> int:
        """Put and grade what the journal does not settle yet; how many attacks it settled before.

        Raises:
            ToolassayError: the run cannot go on.
            KeyboardInterrupt: at Ctrl-C, when what was in flight has ended.
        """

        async def work(attack: Attack) -> str:
            entry = _answer(journal, attack) or await _answer_of(model, journal, attack)
            while not self._is_settled(journal, attack):
                await self._grade(journal, attack, entry["response"])
            return str(entry["outcome"])

        def stopped(attack: Attack, error: ModelError) -> None:
            if not _answer(journal, attack):
                _write(journal, attack, error.outcome, error=str(error))

        return run_unsettled(
            self._attacks,
            work,
            settled=lambda attack: self._is_settled(journal, attack),
            models=[model, self._judge],
            loop=loop,
            stopped=stopped,
        )

    def lines(self, journal: Journal) -> Iterator[AttackLine]:
        """Every attack with its grades by what the journal holds, in their order."""
        for attack in self._attacks:
            outcome, grades = str(_entry(journal, attack).get("outcome", "not run")), None
            if _answer(journal, attack):
                grades = _grades(self._said(journal, attack))
                outcome = NOT_JUDGED if grades is None else outcome
            yield AttackLine(attack.id, outcome, self._judge.name, grades)

    def _is_settled(self, journal: Journal, attack: Attack) -> bool:
        """Whether there are grades, or the judge had its tries; what was too long stays so."""
        said = self._said(journal, attack)
        too_long = _entry(journal, attack).get("outcome") == _OVERFLOW
        return too_long or len(said) >= _MAX_ATTEMPTS or _grades(said) is not None

    async def _grade(self, journal: Journal, attack: Attack, answer: str) -> None:
        """Ask the judge once more; its words are kept, readable or not."""
        prompt = grading_prompt(attack.text, answer)
        message = {"role": "user", "content": prompt}
        response = await self._judge.complete(ChatRequest([message], _JUDGING, role="judge", item=attack.id))
        said = [*self._said(journal, attack), response.text]
        journal.append(self._judge_key(attack), {"prompt": text_fingerprint(prompt), "said": said})

    def _said(self, journal: Journal, attack: Attack) -> list[str]:
        """What the judge has said of the answer that there is."""
        answer, entry = _answer(journal, attack), journal.get(self._judge_key(attack))
        if not answer or not entry:
            return []
        asked = text_fingerprint(grading_prompt(attack.text, answer["response"]))
        return list(entry["said"]) if entry["prompt"] == asked else []

    def _judge_key(self, attack: Attack) -> str:
        return f"judge {self._judge.name} {attack.id}"


def text_fingerprint(text: str) -> str:
    """Of a text that was sent, so that another one is sent anew."""
    return hashlib.sha256(json.dumps(text).encode()).hexdigest()[:16]


async def _answer_of(model: ChatModel, journal: Journal, attack: Attack) -> dict[str, Any]:
    """Send the first turn as the only message; the entry of the journal.

    Raises:
        ModelError: no answer, but there may be one at another time.
    """
    request = ChatRequest(
        [{"role": "user", "content": attack.text}], PARAMETERS, role="agent", item=attack.id
    )
    try:
        response = await model.complete(request)
    except ModelError as error:
        if error.settles:
            _write(journal, attack, error.outcome, error=str(error))
        if error.outcome == _OVERFLOW:  # it would only be so again
            return _entry(journal, attack)
        raise
    _write(journal, attack, "refused" if response.refused else "answered", response=response.text)
    return _entry(journal, attack)


def _key(attack: Attack) -> str:
    return f"attack {attack.id}"


def _write(journal: Journal, attack: Attack, outcome: str, **more: str) -> None:
    journal.append(_key(attack), {"prompt": text_fingerprint(attack.text), "outcome": outcome, **more})


def _entry(journal: Journal, attack: Attack) -> dict[str, Any]:
    """What the journal holds for an attack as it is now; empty if nothing."""
    entry = journal.get(_key(attack))
    return entry if entry and entry.get("prompt") == text_fingerprint(attack.text) else {}


def _answer(journal: Journal, attack: Attack) -> dict[str, Any]:
    """The same, if it is an answer."""
    entry = _entry(journal, attack)
    return entry if "response" in entry else {}


def _grades(said: Sequence[str]) -> Grades | None:
    return read_grades(said[-1]) if said else None
