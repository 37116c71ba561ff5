"""The listed links of `graph_desc.json`, read one by one; errors name the file and line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from toolassay.errors import UsageError
from toolassay.files import line_of_item
from toolassay.graph.dependencies import Dependency
from toolassay.graph.links import COMPLETE, ListedLinks, NumberedLink
from toolassay.tools import ToolLibrary, normal_type


class LinkReader:
    """Parses the listed links of a graph file; errors name the file and line."""

    def __init__(self, path: Path, library: ToolLibrary, *, resource: bool, normalise_types: bool) -> None:
        self.path, self.library, self.resource = path, library, resource
        self.normalise_types = normalise_types

    def read_all(self, links: Iterable[Any]) -> ListedLinks:
        """The links of a graph that is not a schema graph.

        Raises:
            UsageError: A link is malformed, names an unknown tool, or has a type that its tools do not share.
        """
        each = (self.read(number, link) for number, link in enumerate(links, start=1))
        return ListedLinks(len(self.library), chain.from_iterable(each))

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
