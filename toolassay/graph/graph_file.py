"""Reading `graph_desc.json`: a million listed links without an object for each.

A million links are 100 MB of text, and 600 MB as objects of `json`. So the list `links` is decoded in blocks
into columns of numbers. Whatever `msgspec` refuses is read with `json`, which also decides what is valid:
`msgspec` accepts no NaN and no half of a surrogate pair. An error is always that of `LinkReader`, which reads
link by link.
"""

from __future__ import annotations

import codecs
import json
import re
from array import array
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from toolassay.errors import UsageError
from toolassay.files import line_of_item, read_json
from toolassay.graph.dependencies import Dependency
from toolassay.graph.links import COMPLETE, LinkColumns, ListedLinks, NumberedLink
from toolassay.locks import open_regular
from toolassay.tools import ToolLibrary, normal_type

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_BLOCK = 1 << 18  # bytes of text that are decoded at once; larger blocks are no faster
_CUT = re.compile(rb"\}[ \t\r\n]*,")
Text = TypeVar("Text", bound=Hashable)


class _Link(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    source: str
    target: str
    type: str | None = None


class _Unusual(Exception):
    """A file that is read with `json` as a whole."""


class _Numbers(dict[Text, int]):
    """Numbers texts from 0 in order of first use."""

    def __missing__(self, text: Text) -> int:
        number = self[text] = len(self)
        return number


class WrittenLinks:
    """The links of a file that have texts as `source` and `target`, and a text or nothing as `type`.

    They hold 12 bytes for each link. Other keys are left out.

    Attributes:
        ids: The ids of tools in links, by number.
        names: The types of links, by number; None for no type.
        sources: The number of each link's source.
        targets: The number of each link's target.
        kinds: The number of each link's type.
    """

    def __init__(self, blocks: Iterable[Sequence[_Link]]) -> None:
        ids: _Numbers[str] = _Numbers()
        names: _Numbers[str | None] = _Numbers()
        self.sources, self.targets, self.kinds = array("i"), array("i"), array("i")
        for block in blocks:
            self.sources.extend(map(ids.__getitem__, map(attrgetter("source"), block)))
            self.targets.extend(map(ids.__getitem__, map(attrgetter("target"), block)))
            self.kinds.extend(map(names.__getitem__, map(attrgetter("type"), block)))
        self.ids, self.names = list(ids), list(names)

    def __iter__(self) -> Iterator[dict[str, str | None]]:
        """Each link as an object of the file."""
        for source, target, kind in zip(self.sources, self.targets, self.kinds, strict=True):
            yield {"source": self.ids[source], "target": self.ids[target], "type": self.names[kind]}


def read_graph_file(path: Path, *, fix: str | None = None) -> Any:
    """As `read_json`, but a list `links` without scores is `WrittenLinks` if its links are well-formed.

    Raises:
        UsageError: As `read_json`.
    """
    # MsgspecError: not JSON, or JSON that only Python accepts. ValueError: not UTF-8, or a very long number.
    with suppress(_Unusual, msgspec.MsgspecError, OSError, ValueError, RecursionError):
        return _read_in_blocks(path)
    return read_json(path, fix=fix)


def _read_in_blocks(path: Path) -> Any:
    with open_regular(path) as stream:
        text = stream.read().removeprefix(b"\xef\xbb\xbf")
    _check_encoding(text)
    value: dict[str, Any] = {}
    for key, raw in msgspec.json.decode(text, type=dict[str, msgspec.Raw]).items():
        part = memoryview(raw)
        if key == "links" and part[0] == ord("["):
            value[key] = WrittenLinks(map(_decode, _blocks(part)))
        else:
            value[key] = json.loads(str(part, "utf-8"))
    return value


def _check_encoding(text: bytes) -> None:
    """Raise a UnicodeDecodeError if the text is not UTF-8: `msgspec` does not check that in what it skips."""
    if not text.isascii():
        decoder = codecs.getincrementaldecoder("utf-8")()
        for start in range(0, len(text), _BLOCK):
            decoder.decode(text[start : start + _BLOCK])
        decoder.decode(b"", final=True)


def _blocks(text: memoryview) -> Iterator[bytes]:
    """Divide a valid JSON list of objects into lists of some of them, each of about `_BLOCK` bytes.

    A block ends at a comma after "}". If that comma is inside a text or another value, the block has an open
    quote or bracket, so that no decoder accepts it.
    """
    place = 1
    while len(text) - place > _BLOCK:
        block = text[place : place + _BLOCK].tobytes()
        end, cut = len(block), None
        while cut is None:
            end = block.rfind(b"}", 0, end)
            if end < 0:
                raise _Unusual
            cut = _CUT.match(block, end)
        yield b"[%b]" % block[: end + 1]
        place += cut.end()
    yield b"[%b" % text[place:].tobytes()


_decode_links = msgspec.json.Decoder(list[_Link]).decode


def _decode(block: bytes) -> list[_Link]:
    with suppress(msgspec.MsgspecError):
        return _decode_links(block)
    return list(map(_link, json.loads(block.decode())))


def _link(item: Any) -> _Link:
    if not isinstance(item, dict) or "score" in item:
        raise _Unusual
    source, target, kind = item.get("source"), item.get("target"), item.get("type")
    if not isinstance(source, str) or not isinstance(target, str) or not isinstance(kind, str | None):
        raise _Unusual
    return _Link(source, target, kind)


class LinkReader:
    """Parses the listed links of a graph file; errors name the file and line."""

    def __init__(self, path: Path, library: ToolLibrary, *, resource: bool, normalise_types: bool) -> None:
        self.path, self.library, self.resource = path, library, resource
        self.normalise_types = normalise_types

    def read_all(self, links: Iterable[Any]) -> ListedLinks:
        """The links of a graph that is not a schema graph.

        Args:
            links: `WrittenLinks`, or the objects.

        Raises:
            UsageError: A link is malformed, names an unknown tool, or has a type that its tools do not share.
        """
        if isinstance(links, WrittenLinks) and (columns := self.columns(links)):
            return ListedLinks(len(self.library), columns)
        each = (self.read(number, link) for number, link in enumerate(links, start=1))
        return ListedLinks(len(self.library), chain.from_iterable(each))

    def columns(self, links: WrittenLinks) -> LinkColumns | None:
        """The links between tool numbers; None if `read` has to find a mistake, or the types of a link."""
        import numpy as np

        known = self.library
        numbers = np.array([known.index(name) if name in known else -1 for name in links.ids], dtype=np.int32)
        if (numbers < 0).any() or (self.resource and not all(links.names)):
            return None
        names: _Numbers[str] = _Numbers()
        if self.resource:
            kinds = [names[self.spelling(name)] for name in links.names if name]
        else:
            kinds = [names[name or COMPLETE] for name in links.names]
        columns = LinkColumns(
            numbers[np.asarray(links.sources)],
            numbers[np.asarray(links.targets)],
            np.array(kinds, dtype=np.int32)[np.asarray(links.kinds)],
            list(names),
        )
        return columns if not self.resource or self.are_shared(columns) else None

    def are_shared(self, links: LinkColumns) -> bool:
        """Whether the source of each link gives its type, and the target takes it."""
        import numpy as np

        numbers = {name: number for number, name in enumerate(links.names)}

        def have(types: Iterable[Sequence[str]], tools: ArrayLike) -> bool:
            had = [
                tool * len(numbers) + numbers[kind]
                for tool, own in enumerate(types)
                for kind in own
                if kind in numbers
            ]
            return bool(np.isin(np.asarray(tools, dtype=np.int64) * len(numbers) + links.kinds, had).all())

        tools = self.library.tools
        gives, takes = (tool.outputs for tool in tools), (tool.inputs for tool in tools)
        return have(gives, links.sources) and have(takes, links.targets)

    def spelling(self, kind: str) -> str:
        """A type as the tools spell it."""
        return normal_type(kind) if self.normalise_types else kind

    def read(self, number: int, link: Any) -> list[NumberedLink]:
        """The links of an entry: one, or in a resource graph without a given type one per shared type."""
        if not isinstance(link, dict):
            raise self.fail(f"link {number} is not an object", 'write {"source": …, "target": …}', number)
        source, target = self.end(number, link, "source"), self.end(number, link, "target")
        given = link.get("type")
        if given is not None and not isinstance(given, str):
            raise self.fail(f"the type of link {number} is not text", "name a type", number, "type")
        if not self.resource:
            return [NumberedLink(source, target, given or COMPLETE)]
        return [NumberedLink(source, target, kind) for kind in self.types(number, source, target, given)]

    def dependency(self, number: int, link: Any) -> Dependency:
        """The link of an entry in a schema graph."""
        if not isinstance(link, dict):
            raise self.fail(f"link {number} is not an object", 'write {"source": …, "target": …}', number)
        ends = [self.end(number, link, key) for key in ("source", "target")]
        if ends[0] == ends[1]:
            raise self.fail(f"link {number} leads from a tool to itself", "remove it", number)
        try:
            return Dependency.from_json(link)
        except ValueError as error:
            raise self.fail(
                f"link {number}: {error}", "correct it, or make the graph again", number
            ) from None

    def end(self, number: int, link: dict[str, Any], key: str) -> int:
        name = link.get(key)
        if not isinstance(name, str):
            raise self.fail(f"link {number} has no {key}", "name a tool", number, key)
        if name not in self.library:
            raise self.fail(
                f"link {number} names the unknown tool '{name}'",
                "correct the name, or add the tool to 'nodes'",
                number,
                key,
            )
        return self.library.index(name)

    def types(self, number: int, source: int, target: int, given: str | None) -> Sequence[str]:
        giver, taker = self.library.tools[source], self.library.tools[target]
        if given:
            wanted = self.spelling(given)
            shared = [wanted] if wanted in giver.outputs and wanted in taker.inputs else []
        else:
            shared = [kind for kind in dict.fromkeys(giver.outputs) if kind in taker.inputs]
        if not shared:
            what = f"of type '{given}'" if given else "of any type"
            raise self.fail(
                f"link {number}: nothing {what} goes from '{giver.id}' to '{taker.id}'",
                "link tools that share the type, or use --dependency_type temporal",
                number,
                "type" if given else "target",
            )
        return shared

    def fail(self, message: str, fix: str, number: int, key: str | None = None) -> UsageError:
        line = line_of_item(self.path, "links", number, key=key)
        return UsageError(message, file=self.path, line=line, fix=fix)
