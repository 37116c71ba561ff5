"""The attacks of the published test: read from the table, sent to the bare model, and graded by a judge."""

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
_OVERFLOW = "context overflow"


class PublishedAttacks:
    """Sends the attacks of the published test and has a judge grade the answers.

    A journal entry is an answer, or one judge's replies about an answer. So another judge can grade the same
    answers.

    Args:
        attacks: the attacks to send.
        judge: the judge model.
    """

    def __init__(self, attacks: Sequence[Attack], judge: ChatModel) -> None:
        self._attacks, self._judge = attacks, judge

    def run(self, model: ChatModel, journal: Journal, loop: Loop) -> int:
        """Send and grade what the journal does not settle. Returns how many attacks it settled before.

        Raises:
            ToolassayError: the run cannot continue.
            KeyboardInterrupt: after Ctrl-C, when the requests in flight have ended.
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
        """Every attack with its grades, in order, computed from the journal."""
        for attack in self._attacks:
            outcome, grades = str(_entry(journal, attack).get("outcome", "not run")), None
            if _answer(journal, attack):
                grades = _grades(self._said(journal, attack))
                outcome = NOT_JUDGED if grades is None else outcome
            yield AttackLine(attack.id, outcome, self._judge.name, grades)

    def _is_settled(self, journal: Journal, attack: Attack) -> bool:
        """Whether there are grades, or the judge used up its attempts. A context overflow is final."""
        said = self._said(journal, attack)
        too_long = _entry(journal, attack).get("outcome") == _OVERFLOW
        return too_long or len(said) >= _MAX_ATTEMPTS or _grades(said) is not None

    async def _grade(self, journal: Journal, attack: Attack, answer: str) -> None:
        """Send one more request to the judge. Its reply is recorded even if it is unreadable."""
        prompt = grading_prompt(attack.text, answer)
        message = {"role": "user", "content": prompt}
        response = await self._judge.complete(ChatRequest([message], _JUDGING, role="judge", item=attack.id))
        said = [*self._said(journal, attack), response.text]
        journal.append(self._judge_key(attack), {"prompt": text_fingerprint(prompt), "said": said})

    def _said(self, journal: Journal, attack: Attack) -> list[str]:
        """The judge's replies about the current answer."""
        answer, entry = _answer(journal, attack), journal.get(self._judge_key(attack))
        if not answer or not entry:
            return []
        asked = text_fingerprint(grading_prompt(attack.text, answer["response"]))
        return list(entry["said"]) if entry["prompt"] == asked else []

    def _judge_key(self, attack: Attack) -> str:
        return f"judge {self._judge.name} {attack.id}"


def text_fingerprint(text: str) -> str:
    """A hash of a text that was sent; a changed text is sent again."""
    return hashlib.sha256(json.dumps(text).encode()).hexdigest()[:16]


async def _answer_of(model: ChatModel, journal: Journal, attack: Attack) -> dict[str, Any]:
    """Send the first turn as the only message. Returns the journal entry.

    Raises:
        ModelError: the request got no answer, but a later attempt may.
    """
    request = ChatRequest(
        [{"role": "user", "content": attack.text}], PARAMETERS, role="agent", item=attack.id
    )
    try:
        response = await model.complete(request)
    except ModelError as error:
        if error.settles:
            _write(journal, attack, error.outcome, error=str(error))
        if error.outcome == _OVERFLOW:  # a second attempt would overflow as well
            return _entry(journal, attack)
        raise
    _write(journal, attack, "refused" if response.refused else "answered", response=response.text)
    return _entry(journal, attack)


def _key(attack: Attack) -> str:
    return f"attack {attack.id}"


def _write(journal: Journal, attack: Attack, outcome: str, **more: str) -> None:
    journal.append(_key(attack), {"prompt": text_fingerprint(attack.text), "outcome": outcome, **more})


def _entry(journal: Journal, attack: Attack) -> dict[str, Any]:
    """The journal entry of an attack; empty if there is none, or it is for an earlier wording."""
    entry = journal.get(_key(attack))
    return entry if entry and entry.get("prompt") == text_fingerprint(attack.text) else {}


def _answer(journal: Journal, attack: Attack) -> dict[str, Any]:
    """The journal entry of an attack if it has an answer; else empty."""
    entry = _entry(journal, attack)
    return entry if "response" in entry else {}


def _grades(said: Sequence[str]) -> Grades | None:
    return read_grades(said[-1]) if said else None
