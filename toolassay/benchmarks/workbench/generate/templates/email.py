"""Requests about e-mail."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from toolassay.benchmarks.workbench.calls import Call
from toolassay.benchmarks.workbench.generate.dice import Dice
from toolassay.benchmarks.workbench.generate.tables.emails import FIRST_DAY
from toolassay.benchmarks.workbench.generate.templates.facts import emails, sent_day, text
from toolassay.benchmarks.workbench.generate.templates.template import Filled, Mix, Template, call
from toolassay.benchmarks.workbench.generate.templates.wording import day_text
from toolassay.benchmarks.workbench.generate.texts import texts
from toolassay.benchmarks.workbench.generate.world import (
    PEOPLE,
    TODAY,
    YESTERDAY,
    Row,
    World,
    address,
    person_of,
)

_EMAIL = ("email",)


def send(person: str, subject: str, body: str) -> Call:
    """The call that sends an e-mail."""
    return call("email.send_email", recipient=address(person), subject=subject, body=body)


def letter(dice: Dice, kind: str) -> dict[str, str]:
    """The words of an e-mail, to stand in a request: subject, body, and those of another one instead."""
    return dice.pick(list[dict[str, str]](texts("emails")["messages"][kind]))


def _forward(mails: Iterable[Row], *people: str) -> tuple[Call, ...]:
    return tuple(
        call("email.forward_email", email_id=text(mail, "email_id"), recipient=address(person))
        for mail in mails
        for person in people
    )


def _reply(mail: Row, body: str) -> tuple[Call, ...]:
    return (call("email.reply_email", email_id=text(mail, "email_id"), body=body),)


def _delete(mails: Iterable[Row]) -> tuple[Call, ...]:
    return tuple(call("email.delete_email", email_id=text(mail, "email_id")) for mail in mails)


def _answer(dice: Dice) -> str:
    return dice.pick(list[str](texts("emails")["outgoing"]["replies"]))


def _delete_last(world: World, dice: Dice) -> Filled:
    person = dice.pick(PEOPLE)
    return Filled({"person": person}, _delete(emails(world, sender=person)[:1]))


def _delete_recent(world: World, dice: Dice) -> Filled:
    person, days = dice.pick(PEOPLE), dice.between(3, 12)
    since = TODAY - timedelta(days=days)
    found = [mail for mail in emails(world, sender=person) if sent_day(mail) >= since]
    return Filled({"person": person, "days": str(days), "since": day_text(since)}, _delete(found))


def _send(world: World, dice: Dice) -> Filled:
    person, letters = dice.pick(PEOPLE), texts("emails")["outgoing"]
    subject, body = dice.pick(list(zip(letters["subjects"], letters["bodies"], strict=True)))
    return Filled({"person": person, "subject": subject, "body": body}, (send(person, subject, body),))


def _reply_about(world: World, dice: Dice) -> Filled:
    some, body = dice.pick(world.email), _answer(dice)
    person, subject = person_of(text(some, "sender/recipient")), text(some, "subject")
    mail = emails(world, sender=person, subject=subject)[0]
    return Filled({"person": person, "subject": subject, "body": body}, _reply(mail, body))


def _forward_period(world: World, dice: Dice) -> Filled:
    some = dice.pick(world.email)
    person, subject = person_of(text(some, "sender/recipient")), text(some, "subject")
    first = max(FIRST_DAY, sent_day(some) - timedelta(days=dice.between(0, 6)))
    last = min(YESTERDAY, sent_day(some) + timedelta(days=dice.between(7, 28)))
    to = dice.pick([other for other in PEOPLE if other != person])
    found = [m for m in emails(world, sender=person, subject=subject) if first <= sent_day(m) <= last]
    slots = {"person": person, "subject": subject, "first": day_text(first), "last": day_text(last), "to": to}
    return Filled(slots, _forward(reversed(found), to))


def _forward_about(world: World, dice: Dice) -> Filled:
    mail = emails(world, subject=text(dice.pick(world.email), "subject"))[0]
    person = person_of(text(mail, "sender/recipient"))
    to = dice.pick([other for other in PEOPLE if other != person])
    return Filled({"subject": text(mail, "subject"), "to": to}, _forward([mail], to))


def _forward_from(world: World, dice: Dice) -> Filled:
    person, to = dice.some(PEOPLE, 2)
    return Filled({"person": person, "to": to}, _forward(emails(world, sender=person)[:1], to))


def _forward_to_two(world: World, dice: Dice) -> Filled:
    mail = emails(world, subject=text(dice.pick(world.email), "subject"))[0]
    person = person_of(text(mail, "sender/recipient"))
    to, other = dice.some([name for name in PEOPLE if name != person], 2)
    return Filled({"subject": text(mail, "subject"), "to": to, "other": other}, _forward([mail], to, other))


def _reply_latest(world: World, dice: Dice) -> Filled:
    person, body = dice.pick(PEOPLE), _answer(dice)
    return Filled({"person": person, "body": body}, _reply(emails(world, sender=person)[0], body))


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
