"""English for the writer: word lists (JSON files in `data/`), descriptions and names of tools."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Collection, Iterable
from functools import cache
from typing import Any

from toolassay.files.data_files import package_data


def read_list(name: str) -> Any:
    """The content of `data/{name}.json`."""
    return package_data(__package__, f"data/{name}.json")


@cache
def verbs() -> frozenset[str]:
    """The verbs the writer knows, in base form."""
    return frozenset(str(read_list("verbs")["verbs"]).split())


# "Sends a letter, e.g. by post." of "Sends a letter, e.g. by post. Costs vary."; "发信。" of "发信。收费"
_SENTENCE = re.compile(r".+?(?:[^\W_]{2}|[)\]\"'`])[.!?](?=\s|$)|.+?[。！？]")
_LONGEST = 200  # characters of a sentence


def first_sentence(description: str, common: Collection[str] = ()) -> str:
    """The first sentence of a description, without marks of Markdown; empty if there is none.

    Args:
        description: Of a tool.
        common: First sentences of other tools too; the one after them is taken.

    >>> first_sentence("# Pays bills, e.g. rent. Costs vary."), first_sentence("")
    ('Pays bills, e.g. rent.', '')
    """
    lines = (line.strip(" #*-") for line in description.splitlines())
    line = " ".join(next(filter(None, lines), "").split())
    match = _SENTENCE.match(line)
    if match and match[0] in common and (remainder := line[match.end() :].strip()):
        return first_sentence(remainder)
    return textwrap.shorten(match[0] if match else line, _LONGEST, placeholder=" …")


# The words of an id: "file_modify", "Search"; not the "." between words.
_NAME_WORD = re.compile(r"\w+")
# An id of two words or more: "Text Search", "file_modify", "user.name", "GetMovie"; not "Translation".
_TELLING = re.compile(r"[\s_.-]|[a-z][A-Z]")


class ToolNames:
    """The ids of a library that a request must not contain: those of two words or more.

    Args:
        ids: Of the tools.
        descriptions: Of the tools.

    Attributes:
        common: First sentences that several descriptions have, which do not say what a tool does.

    >>> ToolNames(["Text Search", "file_modify", "GetMovie", "Translation"]).occur_in("a text search, please")
    True
    >>> ToolNames(["Translation"]).occur_in("a translation")
    False
    """

    def __init__(self, ids: Iterable[str], descriptions: Iterable[str] = ()) -> None:
        openings = Counter(map(first_sentence, descriptions))
        self.common = {text for text, count in openings.items() if text and count > 1}
        self._by_first_word: dict[str, list[str]] = {}
        for name in ids:
            first = _NAME_WORD.search(name)
            if first and _TELLING.search(name):
                name = name[first.start() :].lower()
                self._by_first_word.setdefault(first[0].lower(), []).append(name)

    def occur_in(self, text: str) -> bool:
        """Whether one of the ids is in the text, in any case."""
        text = text.lower()
        return any(
            text.startswith(name, word.start())
            for word in _NAME_WORD.finditer(text)
            for name in self._by_first_word.get(word[0], ())
        )
