"""The names of tools that a request must not contain."""

from __future__ import annotations

import re
from collections.abc import Iterable

_WORD = re.compile(r"\w+")
# An id of two words or more: "Text Search", "file_modify" and "GetMovie", but not "Translation".
_TELLING = re.compile(r"[\s_-]|[a-z][A-Z]")


class ToolNames:
    """The ids of a library that a request must not contain: those of two words or more.

    >>> ToolNames(["Text Search", "file_modify", "GetMovie", "Translation"]).occur_in("a text search, please")
    True
    >>> ToolNames(["Translation"]).occur_in("a translation")
    False
    """

    def __init__(self, ids: Iterable[str]) -> None:
        self._by_first_word: dict[str, list[str]] = {}
        for name in ids:
            first = _WORD.search(name)
            if first and _TELLING.search(name):
                name = name[first.start() :].lower()
                self._by_first_word.setdefault(first[0].lower(), []).append(name)

    def occur_in(self, text: str) -> bool:
        """Whether one of the ids is in the text, in any case."""
        text = text.lower()
        return any(
            text.startswith(name, word.start())
            for word in _WORD.finditer(text)
            for name in self._by_first_word.get(word[0], ())
        )
