"""Reading `graph_desc.json`: a million listed links without an object for each.

The list `links` is decoded with `msgspec` into columns of numbers. Whatever `msgspec` refuses is read with
`json`, which also decides what is valid. An error is always that of `LinkReader`, which reads link by link.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from toolassay.errors import UsageError
from toolassay.files.data_files import line_of_item, read_json
from toolassay.files.locks import open_regular
from toolassay.graph.dependencies import Dependency
from toolassay.graph.links import COMPLETE, LinkColumns, ListedLinks, NumberedLink
from toolassay.tools.library import ToolLibrary, normal_type

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Text = TypeVar("Text", bound=Hashable)


class _Link(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    source: str
    target: str
    type: str | None = None


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

    def __init__(self, links: Sequence[_Link]) -> None:
        ids: _Numbers[str] = _Numbers()
        names: _Numbers[str | None] = _Numbers()
        self.sources = array("i", (ids[link.source] for link in links))
        self.targets = array("i", (ids[link.target] for link in links))
        self.kinds = array("i", (names[link.type] for link in links))
        self.ids = list(ids)
        self.names = list(names)

    def __iter__(self) -> Iterator[dict[str, str | None]]:
        """Each link as an object of the file."""
        for source, target, kind in zip(self.sources, self.targets, self.kinds, strict=True):
            yield {"source": self.ids[source], "target": self.ids[target], "type": self.names[kind]}


def read_graph_file(path: Path, *, fix: str | None = None) -> Any:
    """As `read_json`, but a list `links` without scores is `WrittenLinks` if its links are well-formed.

    Raises:
        UsageError: As `read_json`.
    """
    # MsgspecError: not JSON, JSON that only Python accepts, or further keys of a link. ValueError: not UTF-8.
    with suppress(msgspec.MsgspecError, OSError, ValueError, RecursionError):
        with open_regular(path) as stream:
            text = stream.read().removeprefix(b"\xef\xbb\xbf")
        text.decode()  # `msgspec` does not check the encoding of what it skips
        value: dict[str, Any] = {}
        for key, raw in msgspec.json.decode(text, type=dict[str, msgspec.Raw]).items():
            part = memoryview(raw)
            if key == "links" and part[0] == ord("["):
                value[key] = WrittenLinks(msgspec.json.decode(part, type=list[_Link]))
            else:
                value[key] = json.loads(str(part, "utf-8"))
        return value
    return read_json(path, fix=fix)


class LinkReader:
    """Parses the listed links of a graph file; errors name the file and line."""

    def __init__(self, path: Path, library: ToolLibrary, *, resource: bool, normalise_types: bool) -> None:
        self.path = path
        self.library = library
        self.resource = resource
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

        library = self.library
        numbers = np.array(
            [library.index(name) if name in library else -1 for name in links.ids], dtype=np.int32
        )
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
                for tool, declared in enumerate(types)
                for kind in declared
                if kind in numbers
            ]
            return bool(np.isin(np.asarray(tools, dtype=np.int64) * len(numbers) + links.kinds, had).all())

        tools = self.library.tools
        gives = (tool.outputs for tool in tools)
        takes = (tool.inputs for tool in tools)
        return have(gives, links.sources) and have(takes, links.targets)

    def spelling(self, kind: str) -> str:
        """A type as the tools spell it."""
        return normal_type(kind) if self.normalise_types else kind

    def read(self, number: int, link: Any) -> list[NumberedLink]:
        """The links of an entry: one, or in a resource graph without a given type one per shared type."""
        if not isinstance(link, dict):
            raise self.fail(f"link {number} is not an object", 'write {"source": …, "target": …}', number)
        source = self.end(number, link, "source")
        target = self.end(number, link, "target")
        written_type = link.get("type")
        if written_type is not None and not isinstance(written_type, str):
            raise self.fail(f"the type of link {number} is not text", "name a type", number, "type")
        if not self.resource:
            return [NumberedLink(source, target, written_type or COMPLETE)]
        return [
            NumberedLink(source, target, kind) for kind in self.types(number, source, target, written_type)
        ]

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

    def types(self, number: int, source: int, target: int, written_type: str | None) -> Sequence[str]:
        giver = self.library.tools[source]
        taker = self.library.tools[target]
        if written_type:
            spelled_type = self.spelling(written_type)
            shared = [spelled_type] if spelled_type in giver.outputs and spelled_type in taker.inputs else []
        else:
            shared = [kind for kind in dict.fromkeys(giver.outputs) if kind in taker.inputs]
        if not shared:
            description = f"of type '{written_type}'" if written_type else "of any type"
            raise self.fail(
                f"link {number}: nothing {description} goes from '{giver.id}' to '{taker.id}'",
                "link tools that share the type, or use --dependency_type temporal",
                number,
                "type" if written_type else "target",
            )
        return shared

    def fail(self, message: str, fix: str, number: int, key: str | None = None) -> UsageError:
        line = line_of_item(self.path, "links", number, key=key)
        return UsageError(message, file=self.path, line=line, fix=fix)
