"""The final answer of a chat with results: a short text that states only what the results say."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

LONGEST = 600
"""Characters of an answer."""
EMPTY = "The result is empty."
_SHORT = 100  # characters of a text that counts as a short field
_MOST_FIELDS = 10  # fields of an object
_MOST_ITEMS = 5  # items of a list
_LEAST = 20  # characters that every one of several results keeps
# A number that a cut may have shortened: the "12" at the end of "in 12", also "1.2"; not the one in "12 men".
_LAST_NUMBER = re.compile(r"[\d.,]+$")


def grounded_answer(results: Sequence[str]) -> str:
    """An answer of results as the chat shows them, in order, one line each.

    It is made of the texts in the chat and not of other forms of the results, so that a model has read every
    fact of it.

    >>> print(grounded_answer(['{"id": 7, "title": "Heat", "cast": []}', '["a", "b"]', ""]))
    id: 7, title: Heat
    2 items: a; b
    The result is empty.
    """
    if len(results) == 1:
        return shortened(_answer(results[0]), LONGEST)
    lines = [" ".join(_answer(text).split()) for text in results]
    # Short lines leave their share to longer ones.
    lengths, left = [0] * len(lines), LONGEST - len(lines)
    for count, place in enumerate(sorted(range(len(lines)), key=lambda place: len(lines[place]))):
        lengths[place] = min(len(lines[place]), max(left // (len(lines) - count), _LEAST))
        left -= lengths[place]
    return "\n".join(map(shortened, lines, lengths))


def shortened(text: str, longest: int) -> str:
    """A text of at most `longest` characters, cut after a word.

    >>> shortened("The castle is open", 12), shortened("Room 1234", 7), shortened("x" * 9, 4)
    ('The castle …', 'Room …', 'xxx…')
    """
    if len(text) <= longest:
        return text
    head = text[: longest - 1]
    if text[longest - 1].isspace():
        return f"{head.rstrip()}…"
    # A text without spaces, such as Chinese or an address, is cut anywhere but in a number.
    words = re.match(r"(.*)\s", head, re.DOTALL)
    if words and len(words[1].rstrip()) * 2 >= longest:
        return f"{words[1].rstrip()} …"
    return f"{_LAST_NUMBER.sub('', head) or head}…"


def _answer(text: str) -> str:
    try:
        value = _parsed(text)
        return (value.strip() if isinstance(value, str) else _described(value)) or EMPTY
    except RecursionError:  # nested too deeply
        return text.strip()


class _Literal(str):
    """A number of a JSON text as it is written: 1e3 stays 1e3, and no digit is lost."""


def _parsed(text: str) -> Any:
    """The object or list that is all of a text; None for a text "null"; any other text itself."""
    if text.strip() == "null":
        return None
    if text.lstrip()[:1] not in ("{", "["):
        return text
    try:
        return json.loads(text, parse_int=_Literal, parse_float=_Literal, parse_constant=_Literal)
    except ValueError:
        return text


def _described(value: Any) -> str:
    """One line for a value; empty if it is empty."""
    if isinstance(value, Mapping):
        fields = list(_fields(value))
        # A long text is shown only if there is nothing else.
        shown = [one for one in fields if not one.is_long] or fields
        return ", ".join(f"{one.name}: {one.text}" for one in shown[:_MOST_FIELDS])
    if not isinstance(value, list):
        return _scalar(value)
    if not value:
        return ""
    items = [text for item in value[:_MOST_ITEMS] if (text := _item(item))]
    more = ["…"] if len(value) > _MOST_ITEMS and items else []
    return f"{_count(value)}: {'; '.join([*items, *more])}" if items else _count(value)


class _Field(NamedTuple):
    """A field of an object; a field of an object within it has both names, `owner.name`."""

    name: str
    text: str
    is_long: bool = False


def _fields(value: Mapping[str, Any], within: str = "") -> Iterator[_Field]:
    """The fields that are not empty: texts, numbers and truth values before lists and objects."""
    for name, item in value.items():
        if text := _scalar(item):
            yield _Field(f"{within}{name}", text, len(text) > _SHORT)
    for name, item in value.items():
        if isinstance(item, Mapping):
            yield from _fields(item, f"{within}{name}.")
        elif isinstance(item, list) and item:
            yield _Field(f"{within}{name}", _described(item))


def _item(value: Any) -> str:
    if isinstance(value, list):
        return _count(value)
    text = shortened(_described(value), _SHORT)
    return f"({text})" if text and isinstance(value, Mapping) else text


def _count(value: Sequence[Any]) -> str:
    return f"{len(value)} item{'' if len(value) == 1 else 's'}"


def _scalar(value: Any) -> str:
    """A text, number or truth value in one line; empty for everything else."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return " ".join(value.split()) if isinstance(value, str) else ""
