"""Normal forms of requests and plans, which are equal for two spellings of one request or plan.

The words, the content words and the digits of a request, and digests of a plan's tools, links and values.
"""

from __future__ import annotations

import json
import re
import unicodedata
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import regex

from toolassay.gold import Gold
from toolassay.normalised_plan import REFERENCE
from toolassay.output_paths import parse_reference, path_text

# Scripts without blanks between words: each letter counts as a word.
_ALONE = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}]"
# A run of letters, marks and digits: all of "café2", two words in "a_b", two in "图片".
_WORD = regex.compile(rf"{_ALONE}|[\p{{L}}\p{{M}}\p{{N}}]+")
# Likewise, with apostrophes inside: one word in "don't", but not the quotation marks of "'crop'".
_SPOKEN = regex.compile(rf"{_ALONE}|[\p{{L}}\p{{M}}\p{{N}}]+(?:'[\p{{L}}\p{{M}}]+)*")
# Words, and signs that carry meaning: the "#" of "C#", the "+" of "3 + 5", the "-" of "-5", the "$" of "$ 5".
# Not other punctuation, nor the hyphen of "a-b".
_WORD_OR_SIGN = regex.compile(
    r"[\p{L}\p{M}\p{N}]+|[\p{Sm}\p{Sc}\p{So}%#&*/@\\]|(?<![\p{L}\p{N}])[-−](?=\p{N})"
)
# The blank of "1 5", which must stay so that 1.5 and 15 differ; not that of "add 1".
_BETWEEN_FIGURES = re.compile(r"(?<=\d) (?=\d)")
# A digit of any script.
_FIGURE = re.compile(r"\d")
# Format characters, such as the zero-width space.
_UNSEEN = regex.compile(r"\p{Cf}")
_APOSTROPHE = re.compile("[’‘ʼ`´]")
# Words that phrase a request and say nothing about its subject: "could you please …, thank you in advance".
_COURTESY = frozenset(Path(__file__).with_name("courtesy.txt").read_text(encoding="utf-8").split())


def plain(text: str) -> str:
    """A text with case folded, in Unicode form NFKC, without invisible format characters.

    >>> plain("ＣＡＦÉ\u200b")
    'café'
    """
    if text.isascii():
        return text.casefold()
    # Folded before and after: some folded letters have a shorter form, some forms fold further.
    return unicodedata.normalize("NFKC", _UNSEEN.sub("", unicodedata.normalize("NFKC", text).casefold()))


def exact_form(text: str) -> str:
    """A text without case, punctuation, blanks and Unicode variants.

    Two requests are *exact* duplicates if this is equal. Numbers stay separate, and signs that carry meaning
    stay: "1.5" differs from "15", and "C#" from "C".

    >>> exact_form("Please,  crop EXAMPLE.jpg!") == exact_form("please crop “example.jpg”")
    True
    >>> exact_form("add 1.5"), exact_form("add -15"), exact_form("?!")
    ('add1 5', 'add-15', '?!')
    """
    folded = plain(text)
    parted = _BETWEEN_FIGURES.sub("\0", " ".join(_WORD_OR_SIGN.findall(folded)))
    return parted.replace(" ", "").replace("\0", " ") or "".join(folded.split())


def words(text: str) -> list[str]:
    """The words of a text in order, with case folded; a contraction is one word.

    >>> words("Don’t crop example.jpg!")
    ["don't", 'crop', 'example', 'jpg']
    """
    found: list[str] = _SPOKEN.findall(_APOSTROPHE.sub("'", plain(text)))
    return found


def content(text: str) -> str:
    """The content words of a request in order, words of courtesy left out.

    Requests are *near* duplicates if these are similar. The words left out are English; a text without
    content words keeps all its words.

    >>> content("Hello! Could you please crop the photo? I don't need it bigger. Thank you very much!")
    'crop photo don t bigger'
    """
    found: list[str] = _WORD.findall(plain(text))
    return " ".join([word for word in found if word not in _COURTESY] or found or [exact_form(text)])


def sorted_digits(text: str) -> str:
    """The digits of a text, sorted, so that neither their order nor their grouping matters.

    >>> sorted_digits("on 2026-07-22"), sorted_digits("20260722 it is")
    ('00222267', '00222267')
    """
    return "".join(sorted(_FIGURE.findall(text)))


class PlanDigest(NamedTuple):
    """Two digests of a plan, each 0 if unknown.

    Attributes:
        tools: digest of the tools that it calls, independent of their order.
        whole: digest of its tools, values and links, independent of order and of the spelling of values.
    """

    tools: int = 0
    whole: int = 0

    @classmethod
    def of(cls, gold: Gold) -> PlanDigest:
        """The digests of a label's plan; `whole` is unknown if the plan has no arguments.

        >>> def plan(*values):
        ...     nodes = [{"task": "crop", "arguments": [value]} for value in values]
        ...     return PlanDigest.of(Gold.of({"id": 1, "task_nodes": nodes}))
        >>> plan("a.jpg", "b.jpg") == plan("B.jpg", "a.jpg")
        True
        >>> plan("a.jpg").tools == plan("c.jpg").tools, plan("a.jpg").whole == plan("c.jpg").whole
        (True, False)
        """
        if not gold.nodes:
            return NO_PLAN
        tools = digest(sorted(node.tool for node in gold.nodes))
        if not gold.has_arguments:
            return cls(tools)
        at = {node.place: node.tool for node in gold.nodes}
        calls = sorted(
            [node.tool, sorted(_value(argument, at) for argument in node.arguments or ())]
            for node in gold.nodes
        )
        return cls(tools, digest([calls, sorted(gold.links)]))


NO_PLAN = PlanDigest()


def digest(value: Any) -> int:
    """A hash of 64 bits for a JSON value: never 0, and equal in every process."""
    text = json.dumps(value, ensure_ascii=True)
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little") or 1


def _value(argument: Any, at: dict[int, str]) -> str:
    if isinstance(argument, dict):
        return f"{argument.get('name')}={_text(argument.get('value'), at)}"
    return _text(argument, at)


def _text(value: Any, at: dict[int, str]) -> str:
    """A value as text, in which a reference names its tool and the keys of objects are sorted."""
    reference = parse_reference(value) if isinstance(value, str) else None
    if reference is not None:
        return f"<{at.get(reference.node)}>{path_text(reference.path)}"
    if isinstance(value, str):
        return exact_form(value)
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return exact_form(REFERENCE.sub(lambda found: f"<{at.get(int(found[1]))}>", text))
