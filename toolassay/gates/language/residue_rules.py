"""What a template or a program left in a text: open places, values for no value, names of parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from toolassay.gates.language.masked_text import Span
from toolassay.gates.language.tagged_words import TaggedText, Word
from toolassay.text_values.vocabulary import word_set

# "{name}", "{{ city }}", "${team}", "$language", "<city>", "<node-0>", "%s", "%(n)s", "[INSERT NAME]",
# "[name]", "[object Object]", "__SONG__"; not "{}", "$30", "<3", "5 %", "[1, 2]", "[see below]" and
# "__init__.py".
_OPEN_PLACE: Final = re.compile(
    r"""
      \$?\{\{?\s?[A-Za-z_][\w .-]{0,40}\}?\}
    | (?<![\w$])\$[a-z_]\w{2,40}
    | <\s?[A-Za-z][\w .-]{0,40}>
    | %\([a-z_]{1,30}\)s | (?<![\w%])%[sd](?!\w)
    | \[(?i:insert|your|enter|add|fill|placeholder|todo|tbd|object)\b[\w .'-]{0,40}\]
    | \[[a-z]{2,20}(?:_[a-z]{1,20}){0,4}(?:\ (?:name|id|date|city|title|value|number|address|here))?\]
    | (?<!\w)__[A-Za-z]\w{1,40}__(?![\w.])
    | (?<!\w)_{3,}(?!\w)
    | \[[A-Z]{3,}(?:[\ _][A-Z]{2,}){0,3}\]
    """,
    re.VERBOSE,
)
# Without one of these marks no place is open: a fast test that most texts fail.
_MAY_OPEN: Final = re.compile(r"[{$<%\[]|__")
# What a program or a model leaves around a text: "User: ", "Here is the rewritten request:", "['a', 'b']",
# "on=True", "course(s)", "a/an"; not "e-mail(s)" of a form's label, nor "and/or".
_LEFT_OVER: Final = re.compile(
    r"""
      ^\s*(?:User|Assistant|Human|System|Request|Rewritten\ request|Output|Answer)\s?:\s
    | ^\s*(?:Here\ is|Here's|Sure,\ here|Below\ is)\b[^.!?\n]{0,60}\b(?:request|query|version|rewrite)\s?:
    | \[\s?'[^'\]]{1,60}'(?:,\s?'[^'\]]{1,60}'){0,9}\s?\]
    | \b\w{2,30}=(?:True|False|None|null|true|false)\b
    | \b[a-z]{3,20}\((?:s|es)\)
    | \ba/an\b
    """,
    re.VERBOSE,
)
# What each of these has: a colon, "['", "=", "(" or "a/an".
_MAY_BE_LEFT: Final = re.compile(r":|\[\s?'|=|\(|a/an")
# Brackets that writers mean: "[sic]"; and tags of HTML: "<b>", "<td>".
_NO_OPEN_PLACE: Final = re.compile(
    r"\[(?:sic|see)\b|</?(?:a|b|i|u|p|br|hr|em|li|ul|ol|div|span|strong|code|pre|table|tr|td|th|html|head|body|img|title"
    r"|h[1-6])\b",
    re.IGNORECASE,
)
# "lorem ipsum", and quotations of no value: "'undefined'", '"string"'; not "the 'string' section of the
# orchestra".
_FILLER: Final = re.compile(
    r"\blorem ipsum\b|(?<!\w)(?P<mark>['\"`])(?:undefined|null|none|nan|n/a|tbd|string|str|object"
    r"|placeholder)(?P=mark)"
    r"(?=[.,;?!]|\s(?:to|for|and|with|by|in|on|as)\b|$)",
    re.IGNORECASE,
)
# What programs print where a value is missing, as they write it.
_PRINTED: Final = frozenset({"undefined", "null", "NULL", "NaN", "None", "TODO", "TBD", "FIXME", "XXX"})
_PRINTED_LOW: Final = frozenset(word.lower() for word in _PRINTED) | {"string"}
# What a program has that is null or undefined.
_OF_PROGRAMS: Final = word_set(
    "value values behaviour behavior pointer pointers check checks variable variables hypothesis byte "
    "bytes entry entries field fields row rows column columns result results error errors type reference "
    "references and or"
)
# Words before a value: "set it to None", "with TODO and salt"; not "a null value", "a TODO list".
_BEFORE_VALUE: Final = word_set("to for in on of with from by is as at about called named titled and or")


def left_overs(text: TaggedText) -> Iterator[Span]:
    """What a program or a model leaves around a text."""
    if _MAY_BE_LEFT.search(text.masked.original) is None:
        return
    for match in _LEFT_OVER.finditer(text.masked.original):
        yield match.span()


def open_places(text: str) -> Iterator[Span]:
    """Places of a template that nothing filled."""
    if _MAY_OPEN.search(text) is None:
        return
    for match in _OPEN_PLACE.finditer(text):
        if _NO_OPEN_PLACE.match(match.group()) is None:
            yield match.span()


def unfilled_places(text: TaggedText) -> Iterator[Span]:
    """Places of a template that nothing filled, in quotations too."""
    yield from open_places(text.masked.original)


def missing_values(text: TaggedText) -> Iterator[Span]:
    """Words in the place of a value that is missing."""
    for match in _FILLER.finditer(text.masked.original):
        yield match.span()
    for place in text.places_of(_PRINTED_LOW):
        word, before, after = text.words[place], text.previous(place), text.next(place)
        if word.low == "string":
            if not after.text and before.low in ("called", "named", "titled", "to"):
                yield word.start, word.end
        elif word.text in _PRINTED and not _is_meant(word, before, after):
            yield word.start, word.end


def _is_meant(word: Word, before: Word, after: Word) -> bool:
    """Whether a text speaks of what programs print: "null values", "None of them", "the date is TBD"."""
    if before.low in ("called", "named", "titled"):
        return False
    if word.text == "None":
        return not word.follows or after.low == "of"
    if word.low in ("todo", "xxx", "fixme"):
        return before.low not in _BEFORE_VALUE or after.tag == "NOUN" or after.text[:1].isupper()
    if word.low == "tbd":
        return before.low not in _BEFORE_VALUE - {"is", "as"} and not (after.text and before.tag != "AUX")
    return after.low in _OF_PROGRAMS or before.low in (
        "not",
        "non",
        "is",
        "are",
        "be",
        "or",
        "no",
        "any",
        "all",
        "if",
    )


# "the parameter recipient.", "argument units as", "the limit parameter to", "the option 'sort' to"; not "a
# parameter".
_CALLED_PARAMETER: Final = re.compile(
    r"""
      \b(?:parameter|argument|param)\s['"`]?[a-z][\w-]{0,40}['"`]?\s(?:to|as|is|set|equals?|being|with)\b
    | \b(?:the|for|as|set)\s(?:parameter|argument|param)\s['"`]?[\w-]{1,40}['"`]?(?=[.,;\s]|$)
    | \b(?:the|set)\s(?:option|flag|field|switch|property|input)\s['"`][\w-]{1,40}['"`]
      \s(?:to|as|is|set|on|off)\b
    | \b[\w-]{2,40}['"`]?\s(?:parameter|argument|param)\s(?:set\s|equal\s)?(?:to|of|as|is|being|at)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
# Each of these has one of them.
_CALLED: Final = ("param", "argument", "option", "flag", "field", "switch", "property", "input")
# "check_in_date", "roomType"; not "iPhone", "room_12", "'a_b'", "a_b.txt" and "x.org/a_b".
_IDENTIFIER: Final = re.compile(
    r"(?<![\w./\\@#&:'\"`“-])(?:[a-z]{1,30}(?:_[a-z]{1,30}){1,6}|[a-z]{2,30}(?:[A-Z][a-z]{1,30}){1,5}(?:ID)?)"
    r"(?![\w/\\@:'\"`”-]|\.\w|\()"
)
# What each of these has: "k_i" and "mT" in them.
_MAY_IDENTIFY: Final = re.compile(r"[a-z](?:_[a-z]|[A-Z])")
# "seat=window", "page_size = 20"; not "a == b", "?a=1" and "x=3".
_ASSIGNMENT: Final = re.compile(r"(?<![\w.'\"`/?&=])[a-z][a-zA-Z_]{2,40}\s?=\s?(?=['\"\w])")
# What an identifier may be the name of: "the user jo_doe", "a branch fix_bug", "the column user_id".
_NAMED: Final = re.compile(
    r"\b(?:user(?:name)?|account|handle|login|password|branch|tag|label|column|field|table|database|dataset|file|folder"
    r"|directory|named?|called|titled|function|method|class|variable|repo(?:sitory)?|project|package|module|hashtag"
    r"|channel|bucket|script|model|command|collection|index|schema|view|software|app|device|version|query|event)s?"
    r"\W{1,3}(?:is\s|of\s)?$",
    re.IGNORECASE,
)


def named_parameters(text: TaggedText) -> Iterator[Span]:
    """Parameters that a request names as a program does."""
    original = text.masked.original
    low = original.lower()
    if not low.isascii() or any(word in low for word in _CALLED):  # "ſwitch" is matched, too
        for match in _CALLED_PARAMETER.finditer(original):
            yield match.span()
    if "=" in original:
        for match in _ASSIGNMENT.finditer(original):
            yield match.start(), match.end()
    if _MAY_IDENTIFY.search(original) is None:
        return
    for match in _IDENTIFIER.finditer(original):
        before = original[max(0, match.start() - 24) : match.start()]
        if match.group() in text.parameters or _NAMED.search(before) is None:
            yield match.span()
