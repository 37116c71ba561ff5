"""The resource types of a library, and whether a literal can be one."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache

from toolassay.gates.fit import FITS, Fit, doubtful, wrong
from toolassay.gates.schema.content import MEDIA, Content, content_of
from toolassay.gates.schema.declared import kinds_of_type, value_fit

_NAMES = {
    "image": "image images picture pictures photo photos photograph img jpg jpeg png gif drawing painting "
    "sketch "
    "illustration screenshot thumbnail portrait icon logo bitmap frame scan selfie",
    "audio": "audio audios sound sounds recording speech voice song music melody track tune podcast "
    "voiceover "
    "narration mp3 wav soundtrack",
    "video": "video videos clip footage film movie animation mp4 mov screencast",
    "text": "text texts string sentence sentences paragraph passage prompt query question description words "
    "word "
    "message script article caption transcript summary title keyword keywords essay story note instruction",
    "url": "url urls uri link links hyperlink",
    "document": "document documents doc pdf file report invoice receipt contract form letter spreadsheet "
    "resume cv "
    "table csv json xml html geojson dataset presentation slides",
}
_FAMILY = {word: family for family, words in _NAMES.items() for word in words.split()}
_CARRIER_WORDS = (
    "document documents doc docx pdf pdfs file files spreadsheet spreadsheets xlsx workbook "
    "presentation presentations slides pptx"
)
_CARRIERS = frozenset(_CARRIER_WORDS.split())
"""Types of which a plan has the name and not the words, as it has of a picture."""
_NAMING = re.compile(r"[\d_/\\@#'\"`“”‘«|;:{}<>\[\]\n\t=]|\s(?!I\b)[A-Z]")
_LONGEST_PHRASE = 200
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
        literal: as the label has it.
        kind: the type, in the library's words.
        others: the families of the library's types. Where images have a type of their own, an image is
            no invoice; where they have none, the invoice may be the photo of one.

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
    """Whether a literal is plain words: no name, address or number of anything, and no contents either.

    >>> [_is_phrase(text) for text in ("extras are in", "contract", "the Annual Report", "form 7", "a: b")]
    [True, False, False, False, False]
    """
    content, text = content_of(literal), literal.strip()
    plain = content.kinds == {"text"} and not content.is_name
    return plain and len(text) <= _LONGEST_PHRASE and not _NAMING.search(text)


def _foreign_fit(content: Content, others: Collection[str], *never: str) -> Fit:
    """A file of some medium where none is due by name."""
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
        # The pages of a PDF are pictures of a document.
        return FITS if literal.rstrip("'\"`.>)] ").casefold().endswith("pdf") else doubtful(content.what)
    if "url" in content.kinds:
        # Where addresses have a type of their own, another tool may have to fetch it first.
        return doubtful(content.what) if "url" in others or not _PAGE.search(literal) else FITS
    asks = literal.rstrip("'\"”’) ").endswith("?")  # "Who is in the picture?" is the name of none
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
