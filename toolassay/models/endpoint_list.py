"""The endpoints that `--api_base` lists: URLs with commas, or a file with one URL a line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from toolassay.errors import UsageError
from toolassay.files import read_text
from toolassay.models.address import Address, split_addresses

_FLAG = "--api_base"
_KEY = "key_env="
_LINE = f"write URL, then optionally a weight above 0 and {_KEY}NAME with the environment variable of its key"
# A name of an environment variable: matches "KEY_B", not "sk-1", which may be a key in the wrong place.
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


@dataclass(frozen=True, slots=True)
class ListedEndpoint:
    """One endpoint of a list. The URL may hold secrets, so it is not in the `repr`.

    Attributes:
        url: Base URL.
        weight: How strongly it is preferred while several endpoints are free; see `EndpointPool`.
        key_variable: Environment variable of its key; None for the key of all.
    """

    url: str = field(repr=False)
    weight: float = 1.0
    key_variable: str | None = None


def listed_endpoints(text: str) -> tuple[ListedEndpoint, ...]:
    """The endpoints of a list or a file; none for a single plain URL.

    Args:
        text: URLs with commas, the path of a file, or one URL.

    Raises:
        UsageError: A line of the file is malformed, or an endpoint is listed twice.

    >>> [one.url for one in listed_endpoints("http://a/v1,http://b/v1")], listed_endpoints("http://a/v1")
    (['http://a/v1', 'http://b/v1'], ())
    """
    if names_file(text):
        status = Path(text).stat()
        return _of_file(text, status.st_mtime_ns, status.st_size)
    urls = split_addresses(text)
    if len(urls) < 2:
        return ()
    urls = [url.rstrip("/") for url in urls]
    for place, url in enumerate(urls):
        if url in urls[:place]:
            raise UsageError(f"{_FLAG} lists {Address.of(url).shown} twice", fix="list each endpoint once")
    return tuple(map(ListedEndpoint, urls))


def names_file(text: str) -> bool:
    """Whether a text is the path of a file rather than an address.

    >>> names_file("http://host/v1"), names_file("localhost:4000")
    (False, False)
    """
    try:
        return "://" not in text and Path(text).is_file()
    except OSError:  # too long for a path
        return False


@lru_cache(maxsize=32)
def _of_file(path: str, changed: int, size: int) -> tuple[ListedEndpoint, ...]:
    """Read a file; its time of change and size are in the key of the cache only."""
    found: list[ListedEndpoint] = []
    for number, one in _lines(Path(path)):
        if any((one.url, one.key_variable) == (other.url, other.key_variable) for other in found):
            shown = Address.of(one.url).shown
            raise UsageError(f"{shown} is listed twice", file=path, line=number, fix="remove this line")
        found.append(one)
    if not found:
        raise UsageError(f"{_FLAG} names a file without endpoints", file=path, fix=_LINE)
    return tuple(found)


def _lines(path: Path) -> Iterator[tuple[int, ListedEndpoint]]:
    """Yield each endpoint with the number of its line. Messages repeat no word, which may be a key."""
    for number, line in enumerate(read_text(path, fix=f"check {_FLAG}").splitlines(), start=1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        url, weight, variable = words[0].rstrip("/"), 1.0, None
        for word in words[1:]:
            if word.startswith(_KEY) and _NAME.fullmatch(word.removeprefix(_KEY)):
                variable = word.removeprefix(_KEY)
            elif (number_in := _weight(word)) is not None:
                weight = number_in
            else:
                raise UsageError("not an endpoint", file=path, line=number, fix=_LINE)
        if not url.startswith(("http://", "https://")):
            raise UsageError("no URL at the start of the line", file=path, line=number, fix=_LINE)
        if variable and Address.of(url).login:
            raise UsageError(
                f"a login in the URL and {_KEY} exclude each other", file=path, line=number, fix="remove one"
            )
        yield number, ListedEndpoint(url, weight, variable)


def _weight(word: str) -> float | None:
    try:
        weight = float(word)
    except ValueError:
        return None
    return weight if 0 < weight < 1e9 else None
