"""Whether a value fits a declared type: that of a parameter, or a resource type.

A text may state a number, a date or a list in words. What a text is for a resource type follows from its
spelling: the ending of a file name, an address, or plain words.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping
from functools import cache, lru_cache
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from toolassay.backinstruct.critics import same_tool
from toolassay.gates.references import FITS, Fit, doubtful, wrong
from toolassay.text_values.dates import is_impossible_day
from toolassay.text_values.plausibility import may_be_date, may_be_number, may_be_time, may_be_whole
from toolassay.type_names import Schema, choices_of, read_type, types_of

MEDIA = frozenset({"image", "audio", "video"})
_ENDINGS = {
    "image": "jpg jpeg jpe jfif jp2 j2k png apng gif bmp dib tif tiff webp heic heif avif svg svgz ico psd "
    "raw cr2 cr3 nef arw dng orf rw2 tga exr hdr dds xcf eps dcm pbm pgm ppm icns",
    "audio": "wav wave mp3 mp2 mpga m4a m4b aac flac ogg oga opus wma aif aiff aifc amr mid midi au snd ra "
    "mka ape caf weba dsf wv ac3 3ga spx webm 3gp mpeg",
    "video": "mp4 m4v mov qt avi mkv webm wmv flv f4v mpg mpeg mpe m1v m2v 3gp 3g2 ogv ogg mts m2ts vob rm "
    "rmvb asf divx mxf gifv gif",
    "text": "txt text md markdown rst log csv tsv json jsonl xml html htm yaml yml toml ini srt vtt sub tex "
    "py js java c cpp css sql geojson kml gpx ics vcf",
    "document": "pdf doc docx odt rtf ppt pptx odp xls xlsx xlsm ods epub mobi pages numbers key djvu ps tex",
}
_WHAT = {"image": "an image", "audio": "an audio", "video": "a video"}
_WHAT |= {"document": "a document", "text": "a text"}
_WRAPPING = " \t\r\n'\"`<>[](){}“”‘’«»,;:!?."
# The extension of "example.wav" and ".png", but not of "v1.2/readme".
_ENDING = re.compile(r"[^\s./\\?#][^/\\?#\n]*\.([A-Za-z0-9]{1,7})$|^\.([A-Za-z0-9]{1,7})$")
# "s3://bucket/a", but not "mailto:a@x.org".
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\S+")
# "data:image/png;base64,…", but not "data:application/pdf,…".
_DATA = re.compile(r"data:(image|audio|video|text)/[^\s,;]+[;,]", re.IGNORECASE)
# "x.org/a" and "x.org:80", but not "a..b" or "x".
_HOST = re.compile(r"(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.)+[A-Za-z]{2,24}(?::\d+)?(?:[/?#]\S*)?")
_LONGEST_NAME = 255


class Content(NamedTuple):
    """What a literal may be.

    Attributes:
        kinds: of image, audio, video, document, text, url; several if the spelling leaves it open.
        what: the same in words, such as "an audio file".
        is_name: whether it is one word, which may name anything.
    """

    kinds: frozenset[str]
    what: str
    is_name: bool = False

    @property
    def media(self) -> frozenset[str]:
        """The media, unless it may be a text that names one."""
        return frozenset() if "text" in self.kinds else self.kinds & MEDIA


@lru_cache(maxsize=1_024)  # a value is compared with every input of its tool, and by several gates
def content_of(literal: str) -> Content:
    """The content of a literal; quotation marks, brackets and punctuation around it do not count.

    >>> sorted(content_of("example.WAV").kinds), sorted(content_of("https://x.org/a.png?s=1").kinds)
    (['audio'], ['image', 'url'])
    >>> content_of("I like apples").what, sorted(content_of("look at example.jpg").kinds)
    ('a plain text', ['image', 'text'])
    """
    text = literal.strip(_WRAPPING)
    if match := _DATA.match(text):
        kind = match[1].casefold()
        return Content(frozenset({kind, "url"}), f"{_WHAT[kind]} as data")
    if _SCHEME.fullmatch(text):
        return _address(text)
    if len(text) > _LONGEST_NAME:
        return Content(frozenset({"text"}), "a plain text")
    kinds, one_word = _kinds_by_ending(text), not re.search(r"\s", text)
    is_host = one_word and _HOST.fullmatch(text) is not None
    if is_host and (not kinds or "/" in text or text.casefold().startswith("www.")):
        return _address(f"http://{text}")
    if not kinds:
        return Content(frozenset({"text"}), "a plain text", one_word)
    if one_word:
        return Content(kinds, f"{_in_words(kinds)} file")
    return Content(kinds | {"text"}, f"a text that ends with the name of {_in_words(kinds)} file")


def _address(text: str) -> Content:
    try:
        kinds = _kinds_by_ending(urlsplit(text).path.rstrip("/")) & MEDIA
    except ValueError:
        kinds = frozenset()
    if kinds:
        return Content(kinds | {"url"}, f"the address of {_in_words(kinds)} file")
    return Content(frozenset({"url", "text"}), "a web address")


def _kinds_by_ending(text: str) -> frozenset[str]:
    match = _ENDING.search(text.rsplit("/", 1)[-1][-_LONGEST_NAME:])
    ending = (match[1] or match[2]).casefold() if match else ""
    return frozenset(kind for kind, endings in _ENDINGS.items() if ending in endings.split())


def _in_words(kinds: frozenset[str]) -> str:
    """The words "an image", or for several kinds "an audio or video"."""
    first, *others = [kind for kind in _WHAT if kind in kinds]
    return " or ".join([_WHAT[first], *others])


# Kinds of value: JSON types, and formats of texts.
_CALLED = {
    "string": "a text", "number": "a number", "integer": "a whole number", "boolean": "true or false",
    "array": "a list", "object": "an object", "date": "a date", "time": "a time",
    "date-time": "a date and time", "email": "an e-mail address", "uri": "a web address",
    "phone": "a phone number",
}  # fmt: skip
# Types that say what a text means, beside those of JSON Schema.
_MEANINGS: dict[str, Schema] = {"enum": {"type": "string"}, "phone": {"type": "string", "format": "phone"}}
_TRUTH_WORDS = "true false yes no on off 1 0 y n t f enabled disabled enable disable"
# What a text of each kind may state; of other kinds any text. A list or an object may be written in words.
_MAY_STATE: dict[str, Callable[[str], bool]] = {
    "number": may_be_number,
    "integer": lambda text: may_be_number(text) and may_be_whole(text),
    "boolean": lambda text: text.strip(" .!'\"").casefold() in _TRUTH_WORDS.split(),
    "date": may_be_date,
    "time": may_be_time,
    "date-time": lambda text: may_be_date(text) or may_be_time(text),
    "email": lambda text: re.search(r"\S@\S", text[:500]) is not None,
    "uri": lambda text: "url" in content_of(text).kinds or re.search(r"://|\bwww\.", text) is not None,
    "phone": lambda text: sum(character.isdigit() for character in text[:200]) >= 3,
}
# "example2.mp3" has a digit, but is no number.
_FIGURES = frozenset(_MAY_STATE) - {"email", "uri"}


@cache
def kinds_of_type(declared: str) -> frozenset[str]:
    """The kinds of value that a declared type allows: JSON types, and formats of texts; none if unknown.

    >>> sorted(kinds_of_type("Optional[int]")), sorted(kinds_of_type("date | list[str]"))
    (['integer'], ['array', 'date'])
    >>> kinds_of_type("soil sample")
    frozenset()
    """
    schema = read_type(declared, _MEANINGS.get) or {}
    kinds = {*types_of(schema)} - {"null"}
    form = schema.get("format")
    return frozenset(form if kind == "string" and form in _CALLED else kind for kind in kinds)


def _kinds(declared: str, source: Mapping[str, Any]) -> frozenset[str]:
    given, form = source.get("type"), str(source.get("format")).casefold().replace("url", "uri")
    kinds = kinds_of_type(" | ".join(map(str, given if isinstance(given, list) else [declared])))
    return (
        frozenset({form})
        if form in ("date", "time", "date-time", "email", "uri") and kinds <= {"string"}
        else kinds
    )


def type_in_words(declared: str, source: Mapping[str, Any]) -> str:
    """The expected value in words: "a number or a text"."""
    kinds = _kinds(declared, source)
    return " or ".join(words for kind, words in _CALLED.items() if kind in kinds) or f"a {declared}"


def value_fit(value: Any, declared: str, source: Mapping[str, Any]) -> Fit:
    """Whether a value that is no reference fits a declared type; an unknown type fits any value.

    Args:
        value: as in the label.
        declared: the type as the library writes it.
        source: the parameter's object in the library, with `enum`, `format`, `items` as in JSON Schema.

    >>> value_fit("42", "integer", {}).fits, value_fit("banana", "date", {}).what
    (True, 'a plain text')
    """
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
    return _choices_of(declared)


_choices_of = lru_cache(maxsize=4096)(choices_of)


def _option_fit(value: Any, options: list[str]) -> Fit:
    known = {same_tool(option) for option in options}
    what = f"none of {', '.join(options[:8])}"
    for item in value if isinstance(value, list) else [value]:
        if not isinstance(item, str | int | float):
            return wrong(_form(item))
        text = same_tool(str(item)) if not isinstance(item, int) or abs(item) < 10**18 else "…"
        if text in known:
            continue
        is_inside = any(re.search(rf"(?<!\w){re.escape(one)}(?!\w)", text) for one in known if one)
        return doubtful(what) if is_inside else wrong(what)
    return FITS


def _kind_fit(value: Any, kind: str, source: Mapping[str, Any]) -> Fit:
    if isinstance(value, str):
        content = content_of(value)
        if kind in ("date", "date-time") and is_impossible_day(value):
            return wrong("a day that no calendar has")
        may_state = _MAY_STATE.get(kind)
        is_file = kind in _FIGURES and content.media
        return FITS if not is_file and (may_state is None or may_state(value)) else wrong(content.what)
    if isinstance(value, list) and kind == "array":
        items = source.get("items")
        inner = items.get("type") if isinstance(items, Mapping) else None
        if not isinstance(inner, str) or not isinstance(items, Mapping):
            return FITS
        fits = [value_fit(item, inner, items) for item in value[:100] if not isinstance(item, list)]
        worst = max(fits, key=lambda fit: fit.cost, default=FITS)
        return worst if worst.fits else worst._replace(what=f"a list with {worst.what} in it")
    if isinstance(value, float) and not math.isfinite(value):
        return wrong("no number")
    if isinstance(value, int | float) and not isinstance(value, bool):
        is_whole = kind == "integer" and value == int(value)
        if kind == "number" or is_whole or (kind == "boolean" and value in (0, 1)):
            return FITS
        is_written = kind in ("string", "date", "time", "date-time", "phone")
        return doubtful("a number") if is_written else wrong("a number")
    is_truth, is_object = isinstance(value, bool), isinstance(value, Mapping)
    has_kind = (is_truth and kind == "boolean") or (is_object and kind == "object")
    return FITS if has_kind else wrong(_form(value))


def _form(value: Any) -> str:
    forms = {bool: "a truth value", list: "a list", dict: "an object", type(None): "nothing"}
    return forms.get(type(value), f"a {type(value).__name__}")


_FAMILIES = {
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
_FAMILY = {word: family for family, words in _FAMILIES.items() for word in words.split()}
_ANYTHING = "any anything media content data object resource attachment file"


@cache
def family_of(kind: str) -> str | None:
    """The family of a resource type: image, audio, video, text, url, document; None for any other.

    >>> family_of("Input Photo"), family_of("soil_sample")
    ('image', None)
    """
    words = re.findall(r"[a-z0-9]+", kind.casefold())
    return _FAMILY.get("".join(words), _FAMILY.get(words[-1]) if words else None)


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
    family, content = family_of(kind), content_of(literal)
    if kind.casefold() in _ANYTHING.split() or family in content.kinds:
        return FITS
    if family in MEDIA:
        return _medium_fit(content, family or "", others)
    if family == "url":
        return wrong(content.what)
    if family is None and kinds_of_type(kind):
        return wrong(content.what) if content.media else value_fit(literal, kind, {})
    if not content.media:
        return FITS
    if family == "text":
        return doubtful(content.what) if "url" in content.kinds else wrong(content.what)
    # A file of some medium where the type names no medium.
    if family == "document" and content.media <= {"audio", "video"}:
        return wrong(content.what)
    return doubtful(content.what) if content.media & {*others, "audio", "video"} else FITS


def _medium_fit(content: Content, family: str, others: Collection[str]) -> Fit:
    if "document" in content.kinds and family == "image":
        return FITS  # its pages may be pictures
    if "url" in content.kinds and not content.media:
        # If addresses have a type of their own, another tool may have to download the file first.
        return doubtful(content.what) if "url" in others else FITS
    is_name = content.is_name and content.kinds == {"text"}
    return doubtful(f"a text that names no {family} file") if is_name else wrong(content.what)
