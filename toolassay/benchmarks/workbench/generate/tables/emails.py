"""The mailbox: 500 received e-mails of October and November 2023."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from typing import Any

from toolassay.benchmarks.workbench.generate.dice import Dice
from toolassay.benchmarks.workbench.generate.tables.ids import with_ids
from toolassay.benchmarks.workbench.generate.texts import texts
from toolassay.benchmarks.workbench.generate.world import PEOPLE, address

COUNT = 500
FIRST_DAY, DAYS = date(2023, 10, 1), 60
_MIDNIGHT = datetime.combine(FIRST_DAY, time())
_EVENT_SUBJECTS, _TASK_SUBJECTS = 40, 44
_OPENS, _CLOSES = 9 * 3600, 17 * 3600
_LINE_BREAK = "\\n"
"""Line breaks are two characters, backslash and n, as in the published mailbox."""


def emails(seed: int, task_names: Sequence[str]) -> list[dict[str, Any]]:
    """E-mails between 9:00 and 17:00, sorted by time; a subject comes at most once a day.

    Args:
        seed: of the random stream.
        task_names: what the e-mails about work are about.
    """
    dice = Dice(seed, "email")
    subjects = [
        ("event", event, dice.pick(texts("emails")["event"]["subjects"]))
        for event in dice.some(texts("events")["held"], _EVENT_SUBJECTS)
    ] + [
        ("task", task, dice.pick(texts("emails")["task"]["subjects"]))
        for task in dice.some(task_names, _TASK_SUBJECTS)
    ]
    rows: list[dict[str, Any]] = []
    times: set[datetime] = set()
    days: set[tuple[int, str]] = set()
    bodies: set[str] = set()
    while len(rows) < COUNT:
        person = dice.pick(PEOPLE)
        kind, topic, form = dice.pick(subjects)
        day, second = dice.below(DAYS), dice.between(_OPENS, _CLOSES)
        sent, body = _MIDNIGHT + timedelta(days=day, seconds=second), _body(dice, kind, topic, person)
        if (day, topic) in days or sent in times or body in bodies:
            continue
        days.add((day, topic))
        times.add(sent)
        bodies.add(body)
        rows.append(
            {
                "inbox/outbox": "inbox",
                "sender/recipient": address(person),
                "subject": form.format(topic),
                "sent_datetime": str(sent),
                "body": body,
            }
        )
    return with_ids(dice, "email_id", sorted(rows, key=lambda row: row["sent_datetime"]))


def _body(dice: Dice, kind: str, topic: str, person: str) -> str:
    """Greeting, two to four sentences, closing, name."""
    words = texts("emails")
    sentences = [
        dice.pick(words[kind]["openings"]).format(topic),
        *dice.some(words[kind]["details"], dice.between(0, 2)),
        dice.pick(words[kind]["asks"]),
    ]
    parts = [dice.pick(words["greetings"]), " ".join(sentences), dice.pick(words["closings"]), person]
    return _LINE_BREAK.join([parts[0], "", parts[1], "", parts[2], parts[3]])
