"""A value of a type that the tool does not take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from measurements.planted_defects.forms import Change, Form, Plant, World
from measurements.planted_defects.plans import (
    MEDIA,
    Slot,
    file_type,
    is_reference,
    linked_by_references,
    links_of,
    put,
    put_also_in_steps,
    reference,
    slots,
    tools_of,
    type_of,
    words,
)
from measurements.planted_defects.samples import Parameter, Record

KIND = "wrong type"
FILES = {"image": "jpg", "audio": "wav", "video": "mp4"}
# Words that could be part of a date, a time or a number.
_TIME_WORDS = (
    "today tomorrow tonight now soon noon midnight half past quarter first second third last next "
    "monday tuesday wednesday thursday friday saturday sunday day week month year morning evening "
    "january february march april may june july august september october november december "
    "one two three four five six seven eight nine ten eleven twelve dozen hundred thousand "
)
TIME_WORDS = set(_TIME_WORDS.split())


def _inputs(slot: Slot, record: Record, world: World) -> tuple[str, ...]:
    tool = world.data.tools.get(record["task_nodes"][slot.node]["task"])
    return tool.inputs if tool else ()


def _parameter(slot: Slot, record: Record, world: World) -> Parameter | None:
    tool = world.data.tools.get(record["task_nodes"][slot.node]["task"])
    return tool.parameter(slot.name) if tool else None


def _changed(record: Record, slot: Slot, value: Any) -> Change:
    put(record, slot, value)
    return Change(slot.where, repr(slot.value), repr(value))


def _other_medium(record: Record, world: World) -> Change | None:
    """The file has another ending, in the request as well: only the type is wrong."""
    files = [slot for slot in slots(record) if file_type(slot.value) in MEDIA]
    files = [slot for slot in files if sum(other.value == slot.value for other in files) == 1]
    if not files:
        return None
    slot = world.chance.choice(files)
    inputs = _inputs(slot, record, world)
    media = [medium for medium in FILES if medium not in inputs]
    stem = slot.value.rsplit(".", 1)[0]
    names = [f"{stem}.{FILES[medium]}" for medium in media]
    names = [name for name in names if name not in record["user_request"]]
    if not names or not inputs:
        return None
    name = world.chance.choice(names)
    put_also_in_steps(record, slot, name)
    record["user_request"] = record["user_request"].replace(slot.value, name)
    return Change(slot.where, slot.value, f"{name} (in the request alike)")


def _wrong_output(record: Record, world: World) -> Change | None:
    """A reference to an earlier node that gives something else; the links say so too."""
    choices = []
    for slot in slots(record):
        now = reference(slot.value)
        for j in range(slot.node) if now is not None else ():
            given = type_of(f"<node-{j}>", record, world.data.tools)
            if j != now and given not in _inputs(slot, record, world):
                choices.append((slot, j))
    if not choices or linked_by_references(record) != links_of(record):
        return None
    slot, j = world.chance.choice(choices)
    names = tools_of(record)
    if names[j] == names[slot.node]:
        return None
    change = _changed(record, slot, f"<node-{j}>")
    links = [{"source": a, "target": b} for a, b in linked_by_references(record).elements()]
    record["task_links"], record["sampled_links"] = links, [dict(link) for link in links]
    return change


def _instead_of_text(make: Callable[[str], Any]) -> Plant:
    def plant(record: Record, world: World) -> Change | None:
        texts = []
        for slot in slots(record):
            parameter = _parameter(slot, record, world)
            text = parameter.type == "string" and not parameter.values if parameter else slot.name is None
            if text and isinstance(slot.value, str) and not is_reference(slot.value, record):
                texts.append(slot)
        if not texts:
            return None
        slot = world.chance.choice(texts)
        return _changed(record, slot, make(slot.value))

    return plant


def _file_for_text(record: Record, world: World) -> Change | None:
    """A file of the request where the tool wants words."""
    files = sorted({slot.value for slot in slots(record) if file_type(slot.value) in MEDIA})
    choices = [
        (slot, name)
        for slot in slots(record)
        if isinstance(slot.value, str) and type_of(slot.value, record, {}) == "text"
        for name in files
        if "text" in (inputs := _inputs(slot, record, world)) and file_type(name) not in inputs
    ]
    if not choices:
        return None
    slot, name = world.chance.choice(choices)
    return _changed(record, slot, name)


def _text_for_file(record: Record, world: World) -> Change | None:
    """Words of the request where the tool wants a file."""
    files = [
        slot
        for slot in slots(record)
        if file_type(slot.value) in MEDIA and "text" not in _inputs(slot, record, world)
    ]
    plain = record["user_request"].split()
    starts = [i for i in range(len(plain) - 3) if all(word.isalpha() for word in plain[i : i + 3])]
    if not files or not starts:
        return None
    start = world.chance.choice(starts)
    return _changed(record, world.chance.choice(files), " ".join(plain[start : start + 3]))


def _word_for(*types: str) -> Plant:
    """A word of the request that is none of these types."""

    def plant(record: Record, world: World) -> Change | None:
        found = [
            slot
            for slot in slots(record)
            if (parameter := _parameter(slot, record, world)) and parameter.type in types
            if not is_reference(slot.value, record)
        ]
        usual = [word for word in words(record["user_request"]) if len(word) > 4 and word.isalpha()]
        usual = [word for word in usual if word not in TIME_WORDS]
        if not found or not usual:
            return None
        return _changed(record, world.chance.choice(found), world.chance.choice(usual))

    return plant


def _banana(record: Record, world: World) -> Change | None:
    return _of_types(record, world, ("date", "time"), lambda _: "banana")


def _impossible(record: Record, world: World) -> Change | None:
    return _of_types(
        record, world, ("date", "time"), lambda kind: "25:70" if kind == "time" else "2027-02-31"
    )


def _fraction(record: Record, world: World) -> Change | None:
    return _of_types(record, world, ("integer",), lambda _: 2.5)


def _outside_enum(record: Record, world: World) -> Change | None:
    found = [
        slot for slot in slots(record) if (parameter := _parameter(slot, record, world)) and parameter.values
    ]
    if not found:
        return None
    return _changed(record, world.chance.choice(found), world.chance.choice(["SEK", "limousine", "gifts"]))


def _of_types(
    record: Record, world: World, types: tuple[str, ...], make: Callable[[str], Any]
) -> Change | None:
    found = [
        (slot, parameter.type)
        for slot in slots(record)
        if (parameter := _parameter(slot, record, world)) and parameter.type in types
    ]
    if not found:
        return None
    slot, kind = world.chance.choice(found)
    return _changed(record, slot, make(kind))


FORMS = (
    Form(KIND, "file of another medium, in the request alike", _other_medium),
    Form(KIND, "output of another type, links alike", _wrong_output),
    Form(KIND, "a file where words are due", _file_for_text),
    Form(KIND, "words where a file is due", _text_for_file),
    Form(KIND, "a number where a text is due", _instead_of_text(lambda _: 42)),
    Form(KIND, "a boolean where a text is due", _instead_of_text(lambda _: True)),
    Form(KIND, "a list where a text is due", _instead_of_text(lambda text: [text, "and more"])),
    Form(KIND, "an object where a text is due", _instead_of_text(lambda text: {"text": text})),
    Form(KIND, "a word where a number is due", _word_for("number", "integer", "boolean")),
    Form(KIND, "a word where a date or time is due", _word_for("date", "time")),
    Form(KIND, "a word where an e-mail address is due", _word_for("email")),
    Form(KIND, "banana for a date or time", _banana),
    Form(KIND, "a day or time that does not exist", _impossible),
    Form(KIND, "a fraction where a whole number is due", _fraction),
    Form(KIND, "a value outside the allowed ones", _outside_enum),
)
