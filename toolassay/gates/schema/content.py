"""The kind of a literal in a resource plan by its spelling: a file of some kind, an address, a text."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from mimetypes import MimeTypes
from typing import NamedTuple
from urllib.parse import urlsplit

MEDIA = frozenset({"image", "audio", "video"})
# Extensions that the standard library's list lacks or gives another kind than usual.
_MORE = {
    "image": "jpg jpeg jpe jfif jp2 j2k png apng gif bmp dib tif tiff webp heic heif avif svg svgz ico psd "
    "raw cr2 cr3 nef arw dng orf rw2 tga exr hdr dds xcf eps dcm pbm pgm ppm icns",
    "audio": "wav wave mp3 mp2 mpga m4a m4b aac flac ogg oga opus wma aif aiff aifc amr mid midi au snd ra "
    "mka ape caf weba dsf wv ac3 3ga spx",
    "video": "mp4 m4v mov qt avi mkv webm wmv flv f4v mpg mpeg mpe m1v m2v 3gp 3g2 ogv mts m2ts vob rm rmvb "
    "asf divx mxf gifv gif",
    "text": "txt text md markdown rst log csv tsv json jsonl xml html htm yaml yml toml ini srt vtt sub tex "
    "py js java c cpp css sql geojson kml gpx ics vcf",
    "document": "pdf doc docx odt rtf ppt pptx odp xls xlsx xlsm ods epub mobi pages numbers key tex djvu ps",
}
_AMBIGUOUS_TYPES = {"webm": "audio video", "ogg": "audio video", "3gp": "audio video", "mpeg": "audio video"}
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
        return self.kinds & MEDIA


@cache
def extensions() -> dict[str, frozenset[str]]:
    """The kinds of file by extension, in lower case and without the dot."""
    kinds: dict[str, set[str]] = {}
    for table in MimeTypes().types_map:
        for extension, mime in table.items():
            major = mime.split("/")[0]
            if major in (*MEDIA, "text"):
                kinds.setdefault(extension.lstrip(".").casefold(), set()).add(major)
    for kind, words in _MORE.items():
        for extension in words.split():
            if not kinds.get(extension, set()) & MEDIA or kind in MEDIA:
                kinds.setdefault(extension, set()).add(kind)
    for extension, words in _AMBIGUOUS_TYPES.items():
        kinds[extension] = set(words.split())
    return {extension: frozenset(found) for extension, found in kinds.items()}


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
    one_word = not re.search(r"\s", text)
    if _SCHEME.fullmatch(text):
        return _address(text)
    if len(text) > _LONGEST_NAME:
        return Content(frozenset({"text"}), "a plain text")
    kinds = _by_ending(text)
    hosted = one_word and bool(_HOST.fullmatch(text))
    if hosted and (not kinds or "/" in text or text.casefold().startswith("www.")):
        return _address("http://" + text)
    if kinds and one_word:
        return Content(kinds, f"{_words(kinds)} file")
    if kinds:
        return Content(kinds | {"text"}, f"a text that ends with the name of {_words(kinds)} file")
    return Content(frozenset({"text"}), "a plain text", one_word)


def _address(text: str) -> Content:
    try:
        path = urlsplit(text).path
    except ValueError:
        path = ""
    kinds = _by_ending(path.rstrip("/")) & MEDIA
    if kinds:
        return Content(kinds | {"url"}, f"the address of {_words(kinds)} file")
    return Content(frozenset({"url", "text"}), "a web address")


def _by_ending(text: str) -> frozenset[str]:
    match = _ENDING.search(text.rsplit("/", 1)[-1][-_LONGEST_NAME:])
    return extensions().get((match[1] or match[2]).casefold(), frozenset()) if match else frozenset()


def _words(kinds: frozenset[str]) -> str:
    """The words "an image", or for several kinds "an audio or video"."""
    names = [kind for kind in _WHAT if kind in kinds]
    first = _WHAT[names[0]] if names else "a"
    return " or ".join([first, *names[1:]])
