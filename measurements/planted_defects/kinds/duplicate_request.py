"""A request that stood in the set before, under another id."""

from __future__ import annotations

import re
from collections.abc import Callable

from measurements.planted_defects.forms import Change, Form, Plant, World
from measurements.planted_defects.plans import sentences, slots
from measurements.planted_defects.samples import Record

KIND = "duplicate request"
POLITE = ("Hello! ", "Hi there, ", "Good morning. ", "Hey, quick one: ", "Dear assistant, ")
THANKS = (" Thanks!", " Thank you very much.", " Cheers", " Much appreciated!")
SAME = {
    "please": "kindly",
    "could": "can",
    "would": "could",
    "want": "need",
    "need": "want",
    "like": "love",
    "then": "next",
    "afterwards": "later",
    "after": "following",
    "finally": "lastly",
    "make": "create",
    "find": "locate",
    "get": "fetch",
    "picture": "image",
    "photo": "picture",
    "and": "plus",
    "tell": "inform",
    "also": "additionally",
    "the": "this",
    "my": "our",
}


def _copied(change: Callable[[str, Record, World], str | None]) -> Plant:
    def plant(record: Record, world: World) -> Change | None:
        before = record["user_request"]
        after = change(before, record, world)
        if after is None:
            return None
        record["user_request"] = after
        return Change("user_request", f"request of {record['id']}", after)

    return plant


def _verbatim(text: str, record: Record, world: World) -> str | None:
    return text


def _marks(text: str, record: Record, world: World) -> str | None:
    """Capitals, blanks and marks at the end: nothing that is said."""
    new = world.chance.choice([str.lower, str.upper, str.title])(text)
    new = re.sub(r" ", lambda _: "  " if world.chance.random() < 0.15 else " ", new)
    return re.sub(r"[.!?]$", "", new) + world.chance.choice(["", "!!", " .", "…"])


def _polite(text: str, record: Record, world: World) -> str | None:
    return world.chance.choice(POLITE) + text + (world.chance.choice(THANKS) if len(text) > 80 else "")


def _words(text: str, record: Record, world: World) -> str | None:
    """One or two words replaced, none of them in a value; one where the request is short."""
    values = " ".join(str(slot.value) for slot in slots(record))
    found = [
        match
        for match in re.finditer(r"[A-Za-z]+", text)
        if match[0] in SAME and not re.search(rf"\b{match[0]}\b", values)
    ]
    if not found or len(text.split()) < 8:
        return None
    count = 2 if len(found) > 1 and len(text.split()) > 16 else 1
    for match in sorted(world.chance.sample(found, count), key=lambda match: -match.start()):
        text = text[: match.start()] + SAME[match[0]] + text[match.end() :]
    return text


def _order(text: str, record: Record, world: World) -> str | None:
    parts = sentences(text)
    if len(parts) < 3:
        return None
    new = list(parts)
    while new == parts:
        world.chance.shuffle(new)
    return " ".join(new)


FORMS = (
    Form(KIND, "verbatim", _copied(_verbatim)),
    Form(KIND, "other capitals, marks, blanks", _copied(_marks)),
    Form(KIND, "polite words around it", _copied(_polite)),
    Form(KIND, "one or two words replaced", _copied(_words)),
    Form(KIND, "sentences in another order", _copied(_order)),
)
