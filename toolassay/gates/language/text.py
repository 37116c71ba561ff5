"""A request as tokens: what is data (quotations, addresses, files, codes) is one token that no rule reads."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

MOST_READ = 20_000
"""Characters of a request that are read."""
DATA = "\ue000"
"""The text of a token that is data."""

# Quotations: 'a text', "a text", “a text”, `a text`; not the apostrophes of "the guests' bags".
_QUOTATION = re.compile(
    r"(?<!\w)'(?=\S)[^'\n]*(?:'(?=[\w])[^'\n]*)*'(?!\w)|\"[^\"\n]{0,2000}\"|“[^”]{0,2000}”|‘[^’\n]{0,2000}’(?!\w)|`[^`]{0,2000}`"
)
# Addresses, files, paths, e-mails, hashtags and codes: "a@b.org", "example.jpg", "/srv/a", "BK-2041", "2026-05-14".
_LITERAL = re.compile(
    r"(?:https?://|www\.)[^\s()\[\]<>']+|[\w.+-]+@[\w-]+\.[\w.-]+|(?<!\w)[~.]{0,2}/[\w./-]+|[\w-]+\.[a-zA-Z]\w{1,4}\b(?!\.\w)|[#@]\w+"
    r"|\b(?=[\w/-]*\d)(?=[\w/-]*[A-Za-z_/-])[\w/-]+\b|\b\d[\d.,:/-]*\d\b|\b\w+(?:_\w+)+\b|\b[a-z]+[A-Z]\w*"
)
_TOKEN = re.compile(rf"{DATA}\ue001*|[A-Za-z]+(?:['’-][A-Za-z]+)*['’]?|\d+|[^\w\s]|\w+")
_END = frozenset(".!?\n")


class Token(NamedTuple):
    """A word, a number, a sign, or `DATA`.

    Attributes:
        text: As written.
        start: Where it begins in the request.
        is_spaced: Whether a blank or the beginning comes before it.
    """

    text: str
    start: int
    is_spaced: bool

    @property
    def word(self) -> str:
        """The text in lower case."""
        return self.text.lower()

    @property
    def is_word(self) -> bool:
        """Whether it has letters only."""
        return self.text.isalpha() or (self.text[:1].isalpha() and self.text != DATA)


@dataclass(frozen=True)
class RequestText:
    """A request: masked text and the tokens of each sentence.

    >>> [token.text for token in RequestText.of("Send 'Hi there' to a@b.org.").sentences[0]] == [
    ...     "Send", DATA, "to", DATA, "."]
    True
    """

    text: str
    masked: str
    sentences: Sequence[Sequence[Token]]

    @classmethod
    def of(cls, text: str) -> RequestText:
        """Read a request; of a longer one the first 20,000 characters."""
        text = text[:MOST_READ]
        masked = _LITERAL.sub(_mask, _QUOTATION.sub(_mask, text))
        sentences: list[list[Token]] = [[]]
        last = 0
        for match in _TOKEN.finditer(masked):
            gap = masked[last : match.start()]
            if "\n" in gap and sentences[-1]:
                sentences.append([])
            word = DATA if match[0][0] == DATA else match[0].rstrip("’'") or match[0]
            sentences[-1].append(Token(word, match.start(), bool(gap) or not last))
            last = match.end()
            if match[0] in _END and (last == len(masked) or masked[last : last + 1].isspace()):
                sentences.append([])
        return cls(text, masked, [one for one in sentences if one])


def _mask(match: re.Match[str]) -> str:
    """A text of the same length: one `DATA`, then fillers."""
    return DATA + "\ue001" * (len(match[0]) - 1)
