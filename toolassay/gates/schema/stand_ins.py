"""What is written where nothing is known: "N/A", "…", "<text>"."""

from __future__ import annotations

import re

from toolassay.gates.gate import State

_WORDS = frozenset(
    {
        *("n/a", "tbd", "tba", "todo", "undefined", "nil", "unspecified", "placeholder"),
        *("not specified", "not provided", "not given", "not available"),
        *("to be provided", "to be determined", "to be specified"),
    }
)
_PERHAPS = frozenset({"none", "unknown", "missing", "-", "--", "–", "—", "_"})
_MARKS = re.compile(r"(?:\.\.+|…|\?|__+)+")
_FORM = re.compile(
    r"<[^\W\d_][\w -]{0,30}>|\{\{?\s*[^\W\d_]\w{0,30}\s*\}?\}|your[ _]\w{1,20}[ _]here", re.IGNORECASE
)
_DASH_WORDS = re.compile(r"\b(?:dash|hyphen|minus|subtract|underscore)", re.IGNORECASE)
_OPEN, _CLOSE = "['\"`“‘„«(\\[]", "['\"`”’“»)\\]]"


def stand_in(text: str, request: str) -> State | None:
    """What a gate says of a value that only holds the place of one; None where it may be a value.

    What the request says too is the user's: "Translate 'none' into Finnish".

    >>> stand_in("N/A", "Mail Bo"), stand_in("…", "Mail Bo"), stand_in("none", "Mail Bo")
    ('reject', 'reject', 'quarantine')
    >>> stand_in("N/A", "What does N/A mean?"), stand_in("a red fox", "Paint one")
    (None, None)
    """
    small = text.strip().casefold()
    if len(small) > 60:
        return None
    in_words = small in _WORDS
    if not (in_words or small in _PERHAPS or _MARKS.fullmatch(small) or _FORM.fullmatch(small)):
        return None
    said = re.escape(small)
    if re.search(rf"{_OPEN}{said}{_CLOSE}", request.casefold()):
        return None
    if (small[0].isalpha() or small[0] in "<{") and re.search(rf"(?<!\w){said}(?!\w)", request.casefold()):
        return None
    if small in _PERHAPS:
        return None if not small[0].isalpha() and _DASH_WORDS.search(request) else "quarantine"
    return "reject"
