"""What templates and programs leave behind in a text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from toolassay.gates.gate import shown

RESIDUE = "template residue"
_ANYWHERE = re.compile(
    r"\{\{?\s*[A-Za-z_][\w .]*\s*\}?\}"  # {name}; not {"a": 1}
    r"|<(?!node-\d)(?:[A-Z][A-Z _-]+|(?:your|insert|the|placeholder|name|date|value|city|user|id)\b[^<>]{0,40}|\w+_\w+)>"
    r"|\[(?:insert|your|enter|placeholder|add)\b[^\[\]]{0,60}\]"
    r"|(?<!\w)%(?:s|d|\(\w+\)s)(?!\w)|(?<!\w)\$\{?[a-z_]{2,}\b\}?|\b__\w+__\b"
    r"|\b(?:lorem ipsum|TODO|FIXME|TBD|undefined|NaN)\b|<node-\d+>|\[object Object\]",
    re.IGNORECASE,
)
_CASED = frozenset({"todo", "fixme", "tbd", "nan"})
# "an undefined behaviour", not "to undefined".
_AS_ADJECTIVE = re.compile(r"\b(?:an|the|is|are|be|left|remains?|some|any) $")
# "[GUEST NAME]", not "[blank]".
_SHOUTED = re.compile(r"\[[A-Z][A-Z _]{2,}\]")
# "None" and "null" as values: "for None guests", "named null"; not "None of them".
_NOTHING = re.compile(r"(?<=[a-z,:] )(?:None|null)\b(?! (?:of|the less|but)\b)|(?<=[a-z,:] )(?:Null|NULL)\b")


def residue(text: str, masked: str) -> Iterator[str]:
    """What of a text is residue.

    Args:
        text: The text.
        masked: The same with data masked; "null" in a quotation is data.

    >>> list(residue("Book {room} now", "Book {room} now")), list(residue("Mail it.", "Mail it."))
    (["'{room}'"], [])
    """
    for match in _ANYWHERE.finditer(text):
        word = match[0]
        if word.lower() in _CASED and not word.isupper() and word != "NaN":
            continue
        if word.lower() == "undefined" and _AS_ADJECTIVE.search(text[: match.start()]):
            continue
        yield shown(word)
        return
    for pattern, where in ((_SHOUTED, text), (_NOTHING, masked)):
        if found := pattern.search(where):
            yield shown(found[0])
            return
