"""A value that the user never said."""

from __future__ import annotations

import re
from collections.abc import Callable

from measurements.planted_defects.forms import Change, Form, World
from measurements.planted_defects.numbers import spellings
from measurements.planted_defects.plans import (
    Slot,
    file_type,
    is_reference,
    occurs,
    put_also_in_steps,
    slots,
    tools_of,
    words,
)
from measurements.planted_defects.samples import Parameter, Record

KIND = "value not in the request"
NAMES = ("Marek", "Fatou", "Leipzig", "Novak", "Uppsala", "Beatriz", "Kowalski", "Tarragona", "Yusuf")
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
OTHER = {
    "red": "blue",
    "blue": "green",
    "green": "red",
    "black": "white",
    "white": "black",
    "old": "new",
    "new": "old",
    "small": "large",
    "large": "small",
    "short": "long",
    "long": "short",
    "cold": "hot",
    "warm": "cool",
    "wide": "narrow",
    "deeper": "higher",
    "older": "younger",
    "faster": "slower",
    "slow": "fast",
    "twice": "thrice",
    "half": "double",
    "first": "last",
    "happy": "sad",
    "big": "tiny",
    "night": "noon",
    "morning": "midnight",
    "above": "below",
    "over": "under",
    "after": "before",
}
NOUNS = (
    "umbrella",
    "harmonica",
    "plumber",
    "glacier",
    "tortoise",
    "orchard",
    "velvet",
    "lantern",
    "accordion",
)
INVENTED = (
    "The quarterly figures are attached.",
    "a lonely windmill in a snowstorm",
    "Do not forget the spare batteries.",
    "Everything you need to know about sourdough",
    "Grüße aus dem Urlaub",
)
DETAILS = (
    " with extra cheese",
    " in the style of Picasso",
    " before the end of the quarter",
    " at the main station",
)
FILES = {
    "image": "holiday_07.jpg",
    "audio": "track_03.mp3",
    "video": "clip_0412.mp4",
    "document": "appendix_c.pdf",
    "table": "stock_levels.csv",
}
_COMMON = "that with this from have will your what when where there they them about into over please"


def _parameter(slot: Slot, record: Record, world: World) -> Parameter | None:
    tool = world.data.tools.get(record["task_nodes"][slot.node]["task"])
    return tool.parameter(slot.name) if tool and slot.name else None


def _literals(record: Record, world: World) -> list[Slot]:
    """Values that a user says: no references, no choices from a list, no yes or no."""
    found = []
    for slot in slots(record):
        parameter = _parameter(slot, record, world)
        if isinstance(slot.value, bool) or (parameter and (parameter.values or parameter.type == "boolean")):
            continue
        if isinstance(slot.value, str | int | float) and not is_reference(slot.value, record):
            found.append(slot)
    return found


def _texts(record: Record, world: World) -> list[Slot]:
    """Values in words: no dates, files, addresses or numbers."""
    return [
        slot
        for slot in _literals(record, world)
        if isinstance(slot.value, str)
        and file_type(slot.value) is None
        and re.search(r"[A-Za-z]{3}", slot.value)
        and "@" not in slot.value
        and ((parameter := _parameter(slot, record, world)) is None or parameter.type == "string")
    ]


def _change(record: Record, slot: Slot, value: object) -> Change:
    put_also_in_steps(record, slot, value)
    return Change(slot.where, repr(slot.value), repr(value))


def _of_another_sample(record: Record, world: World) -> Change | None:
    """What the same slot of the same tool holds in another sample."""
    found = _literals(record, world)
    if not found:
        return None
    slot = world.chance.choice(found)
    tool, medium = tools_of(record)[slot.node], file_type(slot.value)
    values = []
    for other in world.data.records:
        tools = tools_of(other)
        for there in slots(other) if tool in tools else ():
            if (tools[there.node], there.name, there.place) != (tool, slot.name, slot.place):
                continue
            alike = type(there.value) is type(slot.value) and file_type(there.value) == medium
            if alike and not is_reference(there.value, other):
                values.append(there.value)
    values = [value for value in values if _unknown(value, record)]
    if not values:
        return None
    return _change(record, slot, world.chance.choice(sorted(values, key=str)))


def _unknown(value: object, record: Record) -> bool:
    """Surely not said: neither the text, nor most of its words, nor the number in any spelling."""
    request = record["user_request"]
    if isinstance(value, int | float):
        return not any(re.search(rf"\b{re.escape(form)}\b", request.casefold()) for form in spellings(value))
    text = str(value)
    own = [word for word in words(text) if len(word) > 2]
    said = set(words(request))
    if re.fullmatch(r"\d{4}-\d\d-\d\d|\d\d:\d\d", text):
        return not set(re.findall(r"\d+", text)) <= set(re.findall(r"\d+", request)) and not occurs(
            text, request
        )
    return not occurs(text, request) and 2 * sum(word in said for word in own) <= len(own)


def _digit_changed(record: Record, world: World) -> Change | None:
    """Another day, hour, amount, number of a house."""
    found = [
        slot
        for slot in _literals(record, world)
        if re.search(r"\d", str(slot.value)) and file_type(slot.value) is None
    ]
    world.chance.shuffle(found)
    for slot in found:
        for _ in range(20):
            value = _another_number(slot.value, world)
            if value is not None and _number_unsaid(slot.value, value, record):
                return _change(record, slot, value)
    return None


def _another_number(value: object, world: World) -> object | None:
    if isinstance(value, int | float):
        return round(value + world.chance.choice([1, 2, 3, 5, 7, 11]), 2)
    text = str(value)
    if match := re.fullmatch(r"(\d{4}-\d\d-)(\d\d)", text):
        return match[1] + f"{world.chance.randint(1, 28):02d}"
    if match := re.fullmatch(r"(\d\d):(\d\d)", text):
        return f"{world.chance.randint(6, 22):02d}:{match[2]}"
    places = [i for i, letter in enumerate(text) if letter.isdigit() and (i > 0 or len(text) == 1)]
    if not places:
        return None
    place = world.chance.choice(places)
    digit = world.chance.choice([digit for digit in "123456789" if digit != text[place]])
    return text[:place] + digit + text[place + 1 :]


def _number_unsaid(old: object, new: object, record: Record) -> bool:
    request = record["user_request"].casefold()
    if old == new or (isinstance(new, str) and occurs(new, request)):
        return False
    before, after = (re.findall(r"\d+(?:\.\d+)?", str(value)) for value in (old, new))
    changed = [number for number in after if number not in before]
    if re.fullmatch(r"\d\d:\d\d", str(new)):
        changed.append(str((int(str(new)[:2]) - 1) % 12 + 1))
        if changed[-1] == str((int(str(old)[:2]) - 1) % 12 + 1):
            return False
    return bool(changed) and not any(
        re.search(rf"(?<!\d){re.escape(form)}(?!\d)", request)
        for number in changed
        for form in spellings(float(number))
    )


def _name_changed(record: Record, world: World) -> Change | None:
    """A name is another one; a weekday another weekday."""
    pattern = r"(?<=[a-z] )[A-Z][a-zà-ÿ]{2,}|^[A-Z][a-zà-ÿ]{2,}$"
    return _word(record, world, pattern, lambda word: WEEKDAYS if word.rstrip("s") in WEEKDAYS else NAMES)


def _antonym(record: Record, world: World) -> Change | None:
    pattern = rf"\b(?:{'|'.join(OTHER)})\b"
    return _word(record, world, pattern, lambda word: (OTHER[word],))


def _noun_changed(record: Record, world: World) -> Change | None:
    """A word of some length is another one."""
    return _word(record, world, r"\b[a-z]{4,}\b", lambda word: () if word in _COMMON.split() else NOUNS)


def _word(
    record: Record, world: World, pattern: str, others: Callable[[str], tuple[str, ...]]
) -> Change | None:
    request = record["user_request"]
    choices = [
        (slot, match, other)
        for slot in _texts(record, world)
        for match in re.finditer(pattern, slot.value)
        for other in others(match[0])
        if not occurs(other, request)
    ]
    if not choices:
        return None
    slot, match, other = world.chance.choice(choices)
    return _change(record, slot, slot.value[: match.start()] + other + slot.value[match.end() :])


def _invented(record: Record, world: World) -> Change | None:
    found = _texts(record, world)
    values = [value for value in INVENTED if _unknown(value, record)]
    if not found or not values:
        return None
    return _change(record, world.chance.choice(found), world.chance.choice(values))


def _file(record: Record, world: World) -> Change | None:
    """A file of the right type that nobody named."""
    found = [slot for slot in slots(record) if file_type(slot.value) in FILES]
    if not found:
        return None
    slot = world.chance.choice(found)
    return _change(record, slot, FILES[str(file_type(slot.value))])


def _detail(record: Record, world: World) -> Change | None:
    found = _texts(record, world)
    if not found:
        return None
    slot = world.chance.choice(found)
    return _change(record, slot, slot.value.rstrip(".!?") + world.chance.choice(DETAILS))


def _choice(record: Record, world: World) -> Change | None:
    """Yes for no, or another of the allowed values: wrong only for one who understands the request."""
    choices = []
    for slot in slots(record):
        parameter = _parameter(slot, record, world)
        if isinstance(slot.value, bool):
            choices.append((slot, not slot.value))
        elif parameter and parameter.values:
            choices += [
                (slot, value)
                for value in parameter.values
                if value != slot.value and not occurs(str(value), record["user_request"])
            ]
    if not choices:
        return None
    slot, value = world.chance.choice(choices)
    return _change(record, slot, value)


FORMS = (
    Form(KIND, "value of another sample", _of_another_sample),
    Form(KIND, "a digit, day or amount changed", _digit_changed),
    Form(KIND, "a name changed", _name_changed),
    Form(KIND, "an adjective turned", _antonym),
    Form(KIND, "a word changed", _noun_changed),
    Form(KIND, "an invented text", _invented),
    Form(KIND, "a file nobody named", _file),
    Form(KIND, "a detail added", _detail),
    Form(KIND, "another choice", _choice, True),
)
