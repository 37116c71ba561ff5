"""Normal forms of requests and plans: what two spellings of one request, or two forms of one plan, share.

The words, the content words and the figures of a request, and digests of a plan's tools, links and values.
"""

from __future__ import annotations

import json
import re
import unicodedata
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import regex

from toolassay.dataset import reference_index
from toolassay.gold import Gold

# Languages that put no blanks between words are cut into letters.
_ALONE = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}]"
_WORD = regex.compile(rf"{_ALONE}|[\p{{L}}\p{{M}}\p{{N}}]+")
_SPOKEN = regex.compile(rf"{_ALONE}|[\p{{L}}\p{{M}}\p{{N}}]+(?:'[\p{{L}}\p{{M}}]+)*")
# Signs that mean something ("C#", "3 + 5", "-5", "$ 5"); other punctuation does not count.
_WORD_OR_SIGN = regex.compile(
    r"[\p{L}\p{M}\p{N}]+|[\p{Sm}\p{Sc}\p{So}%#&*/@\\]|(?<![\p{L}\p{N}])[-−](?=\p{N})"
)
# The same two for ASCII, which most requests are: in a third of the time.
_PLAIN_WORD = re.compile(r"[a-z0-9]+")
_PLAIN_WORD_OR_SIGN = re.compile(r"[a-z0-9]+|[$+<=>|~%#&*/@\\]|(?<![a-z0-9])-(?=[0-9])")
_BETWEEN_FIGURES = re.compile(r"(?<=\d) (?=\d)")
_FIGURE = re.compile(r"\d")
_UNSEEN = regex.compile(r"\p{Cf}")
_APOSTROPHE = re.compile("[’‘ʼ`´]")
_ENDINGS = {"n't": " not", "'re": " are", "'ve": " have", "'ll": " will", "'d": " would"}
_SHORT_WORDS = {
    "can't": "can not",
    "cannot": "can not",
    "won't": "will not",
    "let's": "let us",
    "i'm": "i am",
    **{f"{word}'s": f"{word} is" for word in ("it", "that", "what", "there", "here", "who", "where")},
}
_SHORT_FORMS = _ENDINGS | _SHORT_WORDS
_SHORT_FORM = re.compile(rf"(?:{'|'.join(_ENDINGS)}|\b(?:{'|'.join(_SHORT_WORDS)}))\b")
# Words by which a request is made, not what it is for: "could you please …, thank you in advance".
_COURTESY = frozenset(Path(__file__).with_name("courtesy.txt").read_text(encoding="utf-8").split())


def plain(text: str) -> str:
    """A text without differences of case, of Unicode form, and without letters that nobody sees.

    >>> plain("ＣＡＦÉ\u200b")
    'café'
    """
    if text.isascii():
        return text.casefold()
    # Folded before and after: some folded letters have a shorter form, some forms fold further.
    return unicodedata.normalize("NFKC", _UNSEEN.sub("", unicodedata.normalize("NFKC", text).casefold()))


def same_words(text: str) -> str:
    """What stays of a text when case, punctuation, blanks and Unicode forms do not count.

    Two requests are *exact* duplicates if this is equal. Blanks and punctuation still part figures, and
    signs that mean something stay: "1.5" is not "15", nor "C#" "C".

    >>> same_words("Please,  crop EXAMPLE.jpg!") == same_words("please crop “example.jpg”")
    True
    >>> same_words("add 1.5"), same_words("add -15"), same_words("?!")
    ('add1 5', 'add-15', '?!')
    """
    folded = plain(text)
    pattern = _PLAIN_WORD_OR_SIGN if folded.isascii() else _WORD_OR_SIGN
    parted = _BETWEEN_FIGURES.sub("\0", " ".join(pattern.findall(folded)))
    return parted.replace(" ", "").replace("\0", " ") or "".join(folded.split())


def words(text: str) -> list[str]:
    """The words of a text, folded, in order.

    >>> words("Don’t crop example.jpg!")
    ["don't", 'crop', 'example', 'jpg']
    """
    found: list[str] = _SPOKEN.findall(_APOSTROPHE.sub("'", plain(text)))
    return found


def content(text: str) -> str:
    """The words that say what a request is for, in order: short forms written out, courtesy left out.

    Requests are *near* duplicates by the likeness of this. The words left out are English; a text that
    has no others keeps them all.

    >>> content("Hello! Could you please crop the photo? I don't need it bigger. Thank you very much!")
    'crop photo not bigger'
    """
    folded = _APOSTROPHE.sub("'", plain(text))
    if "'" in folded or "cannot" in folded:
        folded = _SHORT_FORM.sub(lambda found: _SHORT_FORMS[found[0]], folded)
    found = (_PLAIN_WORD if folded.isascii() else _WORD).findall(folded)
    return " ".join([word for word in found if word not in _COURTESY] or found or [same_words(text)])


def figures(text: str) -> str:
    """The figures in a text, sorted, so that neither their order nor how they are grouped counts.

    >>> figures("on 2026-07-22"), figures("20260722 it is")
    ('00222267', '00222267')
    """
    return "".join(sorted(_FIGURE.findall(text)))


class PlanDigest(NamedTuple):
    """What a plan is compared by; 0 where it is not known.

    Attributes:
        tools: which tools it calls, in whatever order.
        whole: the tools with their values and links, in whatever order and spelling.
    """

    tools: int = 0
    whole: int = 0

    @classmethod
    def of(cls, gold: Gold) -> PlanDigest:
        """The digests of a label's plan.

        >>> def plan(*values):
        ...     nodes = [{"task": "crop", "arguments": [value]} for value in values]
        ...     return PlanDigest.of(Gold.of({"id": 1, "task_nodes": nodes}))
        >>> plan("a.jpg", "b.jpg") == plan("B.jpg", "a.jpg")
        True
        >>> plan("a.jpg").tools == plan("c.jpg").tools, plan("a.jpg").whole == plan("c.jpg").whole
        (True, False)
        """
        if not gold.nodes:
            return cls()
        tools = digest(sorted(node.tool for node in gold.nodes))
        if not gold.has_arguments:
            return cls(tools)
        at = {node.place: node.tool for node in gold.nodes}
        calls = sorted(
            [node.tool, sorted(_value(argument, at) for argument in node.arguments or ())]
            for node in gold.nodes
        )
        return cls(tools, digest([calls, sorted(gold.links)]))


def digest(value: Any) -> int:
    """A number of 64 bits for a JSON value, never 0, the same in every process."""
    text = json.dumps(value, ensure_ascii=True)
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little") or 1


def _value(argument: Any, at: dict[int, str]) -> str:
    if isinstance(argument, dict):
        return f"{argument.get('name')}={_value(argument.get('value'), at)}"
    place = reference_index(argument)
    if place is not None:
        return f"<{at.get(place)}>"
    return same_words(argument if isinstance(argument, str) else json.dumps(argument, ensure_ascii=False))
