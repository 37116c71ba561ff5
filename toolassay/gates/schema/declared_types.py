"""Whether a value fits a declared type: that of a parameter, or a resource type."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from functools import cache
from typing import Any

from toolassay.backinstruct.critics import same_tool
from toolassay.gates.fit import FITS, Fit, doubtful, wrong
from toolassay.gates.schema.content import MEDIA, Content, content_of
from toolassay.text_values.dates import is_impossible_day
from toolassay.text_values.plausibility import may_be_date, may_be_number, may_be_time, may_be_whole
from toolassay.type_names import choices_of, read_type, types_of

# What a value of a type is, by its format or else its type in JSON Schema.
_KINDS = {
    "string": "text", "number": "number", "integer": "integer", "boolean": "boolean", "array": "list",
    "object": "object", "date": "date", "time": "time", "date-time": "moment", "email": "email",
    "uri": "address", "url": "address", "phone": "phone",
}  # fmt: skip
_SHARPER = ("date", "time", "date-time", "email", "uri", "url")
# Words for what a value means, which libraries use as types.
_MEANT = {
    "text": "name title filename path city country address location language id identifier code enum "
    "duration person secret password",
    "number": "amount price percentage percent money",
    "phone": "phone telephone phone_number phonenumber",
}
_MEANINGS = {word: {"type": kind} for kind, words in _MEANT.items() for word in words.split()}
_CALLED = {
    "text": "a text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "list": "a list",
    "object": "an object",
    "date": "a date",
    "time": "a time",
    "moment": "a date and time",
    "email": "an e-mail address",
    "address": "a web address",
    "phone": "a phone number",
}
_TRUTH_WORDS = "true false yes no on off 1 0 y n t f enabled disabled enable disable"
_TRUTH = frozenset(_TRUTH_WORDS.split())


@cache
def kinds_of_type(declared: str) -> frozenset[str]:
    """The kinds of value that a declared type allows; none if the type is unknown.

    >>> sorted(kinds_of_type("Optional[int]")), sorted(kinds_of_type("string | number"))
    (['integer'], ['number', 'text'])
    >>> sorted(kinds_of_type("list[str]")), sorted(kinds_of_type("soil sample"))
    (['list'], [])
    """
    return _kinds_of_schema(read_type(declared, _MEANINGS.get) or {})


def _kinds_of_schema(schema: Mapping[str, Any]) -> frozenset[str]:
    form = schema.get("format")
    named = {form if kind == "string" and form in _KINDS else kind for kind in types_of(schema)}
    return frozenset(_KINDS.get(kind, kind) for kind in named - {"null"})


def type_in_words(declared: str, source: Mapping[str, Any] | None = None) -> str:
    """The expected value in words: "a number or a text"."""
    kinds = _kinds(declared, source or {})
    return " or ".join(_CALLED[kind] for kind in _CALLED if kind in kinds) or f"a {declared}"


def value_fit(value: Any, declared: str, source: Mapping[str, Any] | None = None) -> Fit:
    """Whether a value that is no reference fits a declared type.

    A text may state a number, a date or a list in words. An unknown type fits any value.

    Args:
        value: as in the label.
        declared: the type as the library writes it.
        source: the parameter's object in the library, with `enum`, `format`, `items` as in JSON Schema.

    >>> value_fit("42", "integer").fits, value_fit("banana", "date").what, value_fit(["x"], "string").what
    (True, 'a plain text', 'a list')
    """
    source = source or {}
    if options := options_of(declared, source):
        return _option_fit(value, options)
    fits = [_kind_fit(value, kind, source) for kind in _kinds(declared, source)]
    return min(fits, key=lambda fit: fit.cost, default=FITS)


def options_of(declared: str, source: Mapping[str, Any]) -> list[str]:
    """The values that a declaration restricts a parameter to; empty if it does not.

    >>> options_of("enum: low, high", {}), options_of("string", {"enum": ["a", None]})
    (['low', 'high'], ['a'])
    """
    for key in ("enum", "options", "choices", "allowed_values", "values"):
        given = source.get(key)
        if isinstance(given, list) and all(isinstance(item, str | int | float | None) for item in given):
            return [str(item) for item in given if item is not None]
    return choices_of(declared)


def _option_fit(value: Any, options: list[str]) -> Fit:
    values = value if isinstance(value, list) else [value]
    known = {same_tool(option) for option in options}
    what = f"none of {', '.join(options[:8])}"
    for item in values:
        if not isinstance(item, str | int | float):
            return wrong(_form(item))
        text = same_tool(str(item)) if not isinstance(item, int) or abs(item) < 10**18 else "…"
        if text in known:
            continue
        if any(re.search(rf"(?<!\w){re.escape(option)}(?!\w)", text) for option in known if option):
            return doubtful(what)
        return wrong(what)
    return FITS


def _kinds(declared: str, source: Mapping[str, Any]) -> frozenset[str]:
    given, wanted = source.get("type"), str(source.get("format")).casefold()
    names = given if isinstance(given, list) else [declared]
    kinds = kinds_of_type(" | ".join(map(str, names)))
    return frozenset({_KINDS[wanted]}) if wanted in _SHARPER and kinds <= {"text"} else kinds


def _kind_fit(value: Any, kind: str, source: Mapping[str, Any]) -> Fit:
    if isinstance(value, str):
        return _text_fit(value, kind)
    if isinstance(value, bool):
        return FITS if kind == "boolean" else wrong("a truth value")
    if isinstance(value, int | float):
        return _number_fit(value, kind)
    if isinstance(value, list):
        if kind != "list":
            return wrong("a list")
        items = source.get("items")
        inner = items.get("type") if isinstance(items, Mapping) else None
        if not isinstance(inner, str) or not isinstance(items, Mapping):
            return FITS
        fits = [value_fit(item, inner, items) for item in value[:100] if not isinstance(item, list)]
        worst = max(fits, key=lambda fit: fit.cost, default=FITS)
        return worst if worst.fits else worst._replace(what=f"a list with {worst.what} in it")
    if isinstance(value, Mapping):
        return FITS if kind == "object" else wrong("an object")
    return wrong(_form(value))


def _number_fit(value: float, kind: str) -> Fit:
    if value != value or value in (float("inf"), float("-inf")):
        return wrong("no number")
    if kind == "number" or (kind == "integer" and value == int(value)):
        return FITS
    if kind == "boolean" and value in (0, 1):
        return FITS
    if kind in ("text", "date", "time", "moment", "phone"):
        return doubtful("a number")
    return wrong("a number")


def _text_fit(text: str, kind: str) -> Fit:
    content = content_of(text)
    if kind in ("date", "moment") and is_impossible_day(text):
        return wrong("a day that no calendar has")
    if kind in _FIGURES and content.media and "text" not in content.kinds:
        return wrong(content.what)
    return FITS if _MAY_STATE[kind](text) else wrong(content.what)


# A list or an object may be written in words.
_MAY_STATE: dict[str, Callable[[str], bool]] = {
    "text": lambda text: True,
    "list": lambda text: True,
    "object": lambda text: True,
    "number": may_be_number,
    "integer": lambda text: may_be_number(text) and may_be_whole(text),
    "boolean": lambda text: text.strip(" .!'\"").casefold() in _TRUTH,
    "date": may_be_date,
    "time": may_be_time,
    "moment": lambda text: may_be_date(text) or may_be_time(text),
    "email": lambda text: re.search(r"\S@\S", text[:500]) is not None,
    "address": lambda text: "url" in content_of(text).kinds or re.search(r"://|\bwww\.", text) is not None,
    "phone": lambda text: sum(character.isdigit() for character in text[:200]) >= 3,
}
# "example2.mp3" has a digit, but is no number.
_FIGURES = frozenset({"number", "integer", "boolean", "date", "time", "moment", "phone"})


def _form(value: Any) -> str:
    if isinstance(value, list):
        return "a list"
    if isinstance(value, Mapping):
        return "an object"
    return "nothing" if value is None else f"a {type(value).__name__}"


_NAMES = {
    "image": "image images picture pictures photo photos photograph img jpg jpeg png gif drawing painting "
    "sketch illustration screenshot thumbnail portrait icon logo bitmap frame scan selfie",
    "audio": "audio audios sound sounds recording speech voice song music melody track tune podcast "
    "voiceover narration mp3 wav soundtrack",
    "video": "video videos clip footage film movie animation mp4 mov screencast",
    "text": "text texts string sentence sentences paragraph passage prompt query question description words "
    "word message script article caption transcript summary title keyword keywords essay story note "
    "instruction",
    "url": "url urls uri link links hyperlink",
    "document": "document documents doc pdf file report invoice receipt contract form letter spreadsheet "
    "resume cv table csv json xml html geojson dataset presentation slides",
}
_FAMILY = {word: family for family, words in _NAMES.items() for word in words.split()}
_CARRIER_WORDS = (
    "document documents doc docx pdf pdfs file files spreadsheet spreadsheets xlsx workbook "
    "presentation presentations slides pptx"
)
_CARRIERS = frozenset(_CARRIER_WORDS.split())
"""Types of which a plan holds the name, not the words, as it does of a picture."""
# A sign of a name, an address or contents: "form 7", "a: b", "the Annual"; not "extras are in" or "am I".
_NAMING = re.compile(r"[\d_/\\@#'\"`“”‘«|;:{}<>\[\]\n\t=]|\s(?!I\b)[A-Z]")
_LONGEST_PHRASE = 200
# An address with a path: "x.org/a", but not "x.org/".
_PAGE = re.compile(r"\w/[^/\s]*\w")
_ANYTHING = frozenset(
    {"any", "anything", "media", "content", "data", "object", "resource", "attachment", "file"}
)


@cache
def family_of(kind: str) -> str | None:
    """The family of a resource type: image, audio, video, text, url, document; None for any other.

    >>> family_of("Input Photo"), family_of("soil_sample")
    ('image', None)
    """
    words = re.findall(r"[a-z0-9]+", kind.casefold())
    whole = _FAMILY.get("".join(words))
    return whole or (_FAMILY.get(words[-1]) if words else None)


@cache
def _mentions(family: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![a-z])(?:{'|'.join(_NAMES[family].split())})(?![a-z])", re.IGNORECASE)


def literal_fit(literal: str, kind: str, others: Collection[str] = MEDIA) -> Fit:
    """Whether a literal can be a resource of a type.

    Args:
        literal: as in the label.
        kind: the type as the library writes it.
        others: the families of the library's types. If images have a type of their own, an image is no
            invoice; if they have none, the invoice may be a photo.

    >>> literal_fit("example.wav", "image").what, literal_fit("a red fox", "text").fits
    ('an audio file', True)
    """
    words = kind.casefold()
    if _is_carrier(kind) and _is_phrase(literal):
        return doubtful("a text that names none")
    if words in _ANYTHING:
        return FITS
    family, content = family_of(kind), content_of(literal)
    if family in MEDIA:
        return _medium_fit(literal, family, others)
    if family == "text":
        if "text" in content.kinds or not content.media:
            return FITS
        return doubtful(content.what) if "url" in content.kinds else wrong(content.what)
    if family == "url":
        return _address_fit(literal)
    if family == "document":
        return _foreign_fit(content, others, "audio", "video")
    if kinds_of_type(kind):
        return (
            wrong(content.what) if content.media and "text" not in content.kinds else value_fit(literal, kind)
        )
    return _foreign_fit(content, others)


@cache
def _is_carrier(kind: str) -> bool:
    words = re.findall(r"[a-z0-9]+", kind.casefold())
    return bool(words) and words[-1] in _CARRIERS


def _is_phrase(literal: str) -> bool:
    """Whether a literal is plain words, so no name, address, number or contents.

    >>> [_is_phrase(text) for text in ("extras are in", "contract", "the Annual Report", "form 7", "a: b")]
    [True, False, False, False, False]
    """
    content, text = content_of(literal), literal.strip()
    plain = content.kinds == {"text"} and not content.is_name
    return plain and len(text) <= _LONGEST_PHRASE and not _NAMING.search(text)


def _foreign_fit(content: Content, others: Collection[str], *never: str) -> Fit:
    """The fit of a file of some medium where the type names no medium."""
    if not content.media or "text" in content.kinds:
        return FITS
    if content.media <= set(never):
        return wrong(content.what)
    return doubtful(content.what) if content.media & {*others, "audio", "video"} else FITS


def _medium_fit(literal: str, family: str, others: Collection[str]) -> Fit:
    content = content_of(literal)
    if family in content.kinds:
        return FITS
    if content.media:
        return wrong(content.what)
    if "document" in content.kinds and family == "image":
        # A PDF may be scanned, and its pages are pictures.
        return FITS if literal.rstrip("'\"`.>)] ").casefold().endswith("pdf") else doubtful(content.what)
    if "url" in content.kinds:
        # If addresses have a type of their own, another tool may have to download the file first.
        return doubtful(content.what) if "url" in others or not _PAGE.search(literal) else FITS
    asks = literal.rstrip("'\"”’) ").endswith("?")  # "Who is in the picture?" names no picture
    if content.kinds == {"text"} and (
        content.is_name or (not asks and _mentions(family).search(literal[:200]))
    ):
        return doubtful(f"a text that names no {family} file")
    return wrong(content.what)


def _address_fit(literal: str) -> Fit:
    content = content_of(literal)
    if "url" in content.kinds:
        return FITS
    if content.kinds != {"text"} and "text" not in content.kinds:
        return wrong(content.what)
    if re.search(r"://|\bwww\.|\b(?:url|link|web ?site|web ?page|address)\b", literal[:500], re.IGNORECASE):
        return doubtful(f"{content.what}, no address as it stands")
    return wrong(content.what)
