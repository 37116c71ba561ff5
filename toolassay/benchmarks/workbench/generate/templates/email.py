"""Templates of requests about e-mail."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from toolassay.benchmarks.workbench.calls import WorkbenchCall
from toolassay.benchmarks.workbench.generate.company import (
    PEOPLE,
    TODAY,
    YESTERDAY,
    Row,
    Tables,
    address,
    person_of,
    texts,
)
from toolassay.benchmarks.workbench.generate.seeded_random import SeededRandom
from toolassay.benchmarks.workbench.generate.tables import FIRST_EMAIL_DAY
from toolassay.benchmarks.workbench.generate.templates.lookups import emails, sent_day, text
from toolassay.benchmarks.workbench.generate.templates.template import (
    FilledTemplate,
    Mix,
    Template,
    call,
    day_text,
)

_EMAIL = ("email",)


def send(person: str, subject: str, body: str) -> WorkbenchCall:
    """The ground-truth call that sends an e-mail."""
    return call("email.send_email", recipient=address(person), subject=subject, body=body)


def letter(rng: SeededRandom, kind: str) -> dict[str, str]:
    """The texts of an e-mail: `subject` and `body`, for some kinds also `else_subject` and `else_body`."""
    return rng.pick(list[dict[str, str]](texts("emails")["messages"][kind]))


def _forward(mails: Iterable[Row], *people: str) -> tuple[WorkbenchCall, ...]:
    return tuple(
        call("email.forward_email", email_id=text(mail, "email_id"), recipient=address(person))
        for mail in mails
        for person in people
    )


def _reply(mail: Row, body: str) -> tuple[WorkbenchCall, ...]:
    return (call("email.reply_email", email_id=text(mail, "email_id"), body=body),)


def _delete(mails: Iterable[Row]) -> tuple[WorkbenchCall, ...]:
    return tuple(call("email.delete_email", email_id=text(mail, "email_id")) for mail in mails)


def _answer(rng: SeededRandom) -> str:
    return rng.pick(list[str](texts("emails")["outgoing"]["replies"]))


def _delete_last(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    person = rng.pick(PEOPLE)
    return FilledTemplate({"person": person}, _delete(emails(tables, sender=person)[:1]))


def _delete_recent(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    person, days = rng.pick(PEOPLE), rng.between(3, 12)
    since = TODAY - timedelta(days=days)
    found = [mail for mail in emails(tables, sender=person) if sent_day(mail) >= since]
    return FilledTemplate({"person": person, "days": str(days), "since": day_text(since)}, _delete(found))


def _send(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    person, letters = rng.pick(PEOPLE), texts("emails")["outgoing"]
    subject, body = rng.pick(list(zip(letters["subjects"], letters["bodies"], strict=True)))
    return FilledTemplate(
        {"person": person, "subject": subject, "body": body}, (send(person, subject, body),)
    )


def _reply_about(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    some, body = rng.pick(tables.email), _answer(rng)
    person, subject = person_of(text(some, "sender/recipient")), text(some, "subject")
    mail = emails(tables, sender=person, subject=subject)[0]
    return FilledTemplate({"person": person, "subject": subject, "body": body}, _reply(mail, body))


def _forward_period(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    some = rng.pick(tables.email)
    person, subject = person_of(text(some, "sender/recipient")), text(some, "subject")
    first = max(FIRST_EMAIL_DAY, sent_day(some) - timedelta(days=rng.between(0, 6)))
    last = min(YESTERDAY, sent_day(some) + timedelta(days=rng.between(7, 28)))
    to = rng.pick([other for other in PEOPLE if other != person])
    found = [m for m in emails(tables, sender=person, subject=subject) if first <= sent_day(m) <= last]
    slots = {"person": person, "subject": subject, "first": day_text(first), "last": day_text(last), "to": to}
    return FilledTemplate(slots, _forward(reversed(found), to))


def _forward_about(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    mail = emails(tables, subject=text(rng.pick(tables.email), "subject"))[0]
    person = person_of(text(mail, "sender/recipient"))
    to = rng.pick([other for other in PEOPLE if other != person])
    return FilledTemplate({"subject": text(mail, "subject"), "to": to}, _forward([mail], to))


def _forward_from(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    person, to = rng.some(PEOPLE, 2)
    return FilledTemplate({"person": person, "to": to}, _forward(emails(tables, sender=person)[:1], to))


def _forward_to_two(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    mail = emails(tables, subject=text(rng.pick(tables.email), "subject"))[0]
    person = person_of(text(mail, "sender/recipient"))
    to, other = rng.some([name for name in PEOPLE if name != person], 2)
    return FilledTemplate(
        {"subject": text(mail, "subject"), "to": to, "other": other}, _forward([mail], to, other)
    )


def _reply_latest(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    person, body = rng.pick(PEOPLE), _answer(rng)
    return FilledTemplate({"person": person, "body": body}, _reply(emails(tables, sender=person)[0], body))


TEMPLATES = (
    Template("email.delete_last", _EMAIL, Mix(one=10), _delete_last),
    Template("email.delete_recent", _EMAIL, Mix(1, 5, 4), _delete_recent),
    Template("email.send", _EMAIL, Mix(one=10), _send),
    Template("email.reply_about", _EMAIL, Mix(one=10), _reply_about),
    Template("email.forward_period", _EMAIL, Mix(one=9, many=1), _forward_period),
    Template("email.forward_about", _EMAIL, Mix(one=10), _forward_about),
    Template("email.forward_from", _EMAIL, Mix(one=10), _forward_from),
    Template("email.forward_to_two", _EMAIL, Mix(many=10), _forward_to_two),
    Template("email.reply_latest", _EMAIL, Mix(one=10), _reply_latest),
)
