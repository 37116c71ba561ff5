"""E-mail."""

from __future__ import annotations

import re

from toolassay.offline.agent.desk import Made, Row, Steps, emails
from toolassay.offline.agent.reading import Reading, the_first


def calls(reading: Reading, condition: bool) -> Steps[list[Made] | None]:
    """Send, reply, forward, delete."""
    if not reading.has(
        "e-?mails?", "e-mailed", "sent me", "mailbox", "write to", "write them", "sent", "wrote"
    ):
        return None
    if (
        reading.has("meetings?")
        and not reading.has("participant")
        and not reading.has("write", "send", "get an")
    ):
        return None
    if not condition:
        return []
    texts = re.findall(r'"([^"]*)"', reading.request)
    past = [day for day in reading.days if day < reading.today]
    if reading.has(
        "forward", "pass", "forward it", "has not seen", "should see", "of interest", "should get a copy"
    ):
        return (yield from _forward(reading, texts))
    if reading.has("reply", "answer", "waiting for a word"):
        subject = texts[0] if len(texts) > 1 and not texts[0].endswith((".", "!", "?")) else None
        if len(texts) > 1 and subject is None:
            subject = texts[1]
        body = the_first(text for text in texts if text != subject)
        found = yield from _from(reading.people[0], subject)
        return [("email.reply_email", {"email_id": found[0]["email_id"], "body": body})]
    if reading.has("delete", "remove", "get rid", "clear"):
        found = yield from emails(reading.people[0], min(past, default=None))
        found = [row for row in found if row["sender/recipient"] == reading.people[0]]
        chosen = found if past else found[:1]
        return [("email.delete_email", {"email_id": row["email_id"]}) for row in chosen]
    if len(texts) >= 2 and reading.people:
        return [send(reading.people[0], texts[0], texts[1])]
    return None


def send(to: str, subject: str, body: str) -> Made:
    """An e-mail."""
    return ("email.send_email", {"recipient": to, "subject": subject, "body": body})


def _from(person: str | None, subject: str | None) -> Steps[list[Row]]:
    """What somebody sent under a subject, newest first."""
    found = yield from emails(" ".join(text for text in (person, subject) if text))
    return [
        row
        for row in found
        if person in (None, row["sender/recipient"]) and subject in (None, row["subject"])
    ]


def _forward(reading: Reading, texts: list[str]) -> Steps[list[Made]]:
    subject = texts[0] if texts else None
    past = sorted(day for day in reading.days if day < reading.today)
    to, sender = list(reading.people), None
    if past or subject is None:
        to, sender = _receiver_and_sender(reading)
    found = yield from _from(sender, subject)
    if past:
        chosen = [row for row in found if str(past[0]) <= row["sent_datetime"][:10] <= str(past[-1])][::-1]
    else:
        chosen = found[:1]
    return [
        ("email.forward_email", {"email_id": row["email_id"], "recipient": person})
        for row in chosen
        for person in to
    ]


def _receiver_and_sender(reading: Reading) -> tuple[list[str], str]:
    """Who follows "to", "forward" or stands before "should see" receives; the other one has sent."""
    one, other = reading.people[:2]
    for pattern in (
        r"(?:to|Forward) (\w+)\b(?= all| the|\.|\?|,)",
        r"^(\w+) should see",
        r"interest to (\w+)",
    ):
        for found in re.finditer(pattern, reading.request):
            for person in (one, other):
                if person.startswith(f"{found[1].lower()}."):
                    return [person], other if person == one else one
    return [one], other
