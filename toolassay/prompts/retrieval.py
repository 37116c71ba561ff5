"""Which tools a request shows to a model: all, or those that a retriever finds for it.

BM25 is built in; installed packages register retrievers under the entry-point group `toolassay.retrievers`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple

from toolassay.errors import UsageError
from toolassay.extras import installed_extensions, needed
from toolassay.tools.identifiers import words
from toolassay.tools.library import Tool, ToolLibrary

GROUP = "toolassay.retrievers"
ALL = "all"

Find = Callable[[str, int], Sequence[str]]
"""The ids of the best tools for a request, by its text and the number of tools that are wanted."""


class ToolRetriever(ABC):
    """A way to find tools for a request.

    Attributes:
        name: Name in `retrieved:K:NAME`.
    """

    name: ClassVar[str]

    @abstractmethod
    def index(self, library: ToolLibrary) -> Find:
        """Prepare the tools of a folder; called once for a run.

        Raises:
            UsageError: A package is missing.
        """


class Bm25(ToolRetriever):
    """BM25 over names, descriptions and arguments of the tools, by the package bm25s.

    Words are stemmed as English. Between tools of one score, the order of the file decides.
    """

    name = "bm25"

    def index(self, library: ToolLibrary) -> Find:
        """See `ToolRetriever.index`."""
        import numpy as np
        import snowballstemmer

        bm25s = needed("bm25s", "--tools_in_context retrieved", "retrieval")
        stem = snowballstemmer.stemmer("english").stemWords

        def tokens(texts: Sequence[str]) -> Any:
            return bm25s.tokenize(texts, stemmer=stem, return_ids=False, show_progress=False)

        ranked = bm25s.BM25()
        ranked.index(tokens([_text(tool) for tool in library]), show_progress=False)

        def find(request: str, count: int) -> Sequence[str]:
            (asked,) = tokens([request])
            scores = ranked.get_scores(asked) if asked else np.zeros(len(library))
            return [library.ids[number] for number in np.argsort(-scores, kind="stable")[:count]]

        return find


def _text(tool: Tool) -> str:
    parameters = (text for parameter in tool.parameters for text in (parameter.name, parameter.description))
    return " ".join([tool.id, *words(tool.id), tool.description, *parameters])


class ToolsInContext(NamedTuple):
    """The value of `--tools_in_context` where not all tools are shown.

    Attributes:
        k: Number of tools.
        retriever: Name of the retriever.
    """

    k: int
    retriever: str = Bm25.name

    @classmethod
    def parse(cls, text: str) -> ToolsInContext | None:
        """Parse "all" (None), "retrieved:K" or "retrieved:K:NAME".

        Raises:
            UsageError: It is not one of them.

        >>> ToolsInContext.parse("retrieved:20")
        ToolsInContext(k=20, retriever='bm25')
        """
        if text == ALL:
            return None
        kind, count, name = [*text.split(":", 2), "", ""][:3]
        if kind != "retrieved" or not count.isdecimal() or not int(count):
            fix = "write all, retrieved:K or retrieved:K:NAME, K the number of tools"
            raise UsageError(f"unknown --tools_in_context '{text}'", fix=fix)
        return cls(int(count), name or Bm25.name)

    def __str__(self) -> str:
        """As signatures have it: "bm25@20"."""
        return f"{self.retriever}@{self.k}"

    def finder(self, library: ToolLibrary) -> Callable[[str], list[str]]:
        """A function from the text of a request to the ids of its tools, in the order of the library.

        Raises:
            UsageError: The retriever is unknown, a package is missing, or an id that it gives is unknown.
        """
        built_in: list[Any] = [Bm25()]
        retrievers = installed_extensions(GROUP, ToolRetriever, "retriever", built_in)
        retrievers_by_name = {retriever.name: retriever for retriever in retrievers}
        if self.retriever not in retrievers_by_name:
            fix = f"use one of {', '.join(retrievers_by_name)}"
            raise UsageError(f"there is no retriever '{self.retriever}'", fix=fix)
        find = retrievers_by_name[self.retriever].index(library)

        def find_tools(request: str) -> list[str]:
            ids = list(find(request, self.k))[: self.k]
            if unknown := next((tool_id for tool_id in ids if tool_id not in library), None):
                raise UsageError(f"the retriever '{self.retriever}' gives no tool of the folder: '{unknown}'")
            return sorted(ids, key=library.index)

        return find_tools
