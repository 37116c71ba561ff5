"""Whether words that were all said were said to say this: a missing "not", a word put in for another one."""

from __future__ import annotations

import re
from collections.abc import Collection

from toolassay.gates.knowability.said import Said
from toolassay.gates.knowability.words import NEGATIONS, is_content, is_turned, words_in

_FEWEST_WORDS = 6
_MOST_WORDS = 80
_BESIDE = 2
_MOST_BEFORE = 4


def is_near(keys: Collection[str], said: Said) -> tuple[int, int] | None:
    """The stretch in which all these words stand close together; None where they are scattered.

    >>> is_near(["blue", "sky"], Said("make the sky blue")), is_near(["blue"], Said("red"))
    ((2, 3), None)
    """
    stretch = said.narrowest(keys)
    if stretch is None or stretch[1] - stretch[0] > 2 * len(keys) + 6:
        return None
    return stretch


def negation_fault(text: str, keys: Collection[str], said: Said) -> str | None:
    """What is wrong with the negations of a plain text whose content words were all said; None where nothing.

    >>> negation_fault("do not paint it", ["paint"], Said("please paint it"))
    "the 'not' of {value} is not in {it}"
    >>> negation_fault("paint the old door", ["paint", "old", "door"], Said("never paint the old door"))
    "{value} leaves out the 'never' of {it}"
    """
    own = [match.group() for match in words_in(text) if match.group() in NEGATIONS]
    is_sentence = len(keys) > 1 or text.count(" ") > 1
    stretch = is_near(keys, said) if keys and is_sentence else None
    if stretch is None:
        return f"the '{own[0]}' of {{value}} is not in {{it}}" if len(own) > len(said.negations) else None
    start = stretch[0]
    while start and stretch[0] - start < _MOST_BEFORE and _is_small(said.word_at(start - 1)):
        start -= 1
    start = min(start, stretch[0] - _BESIDE)
    near = [place for place in said.negations if start <= place <= stretch[1]]
    if len(own) > len(near):
        return f"the '{own[0]}' of {{value}} is not in {{it}}"
    if not own and near:
        return f"{{value}} leaves out the '{said.word_at(near[0])}' of {{it}}"
    return None


def replaced_word(text: str, said: Said) -> str | None:
    """The word of a plain text in whose place something else was said, all around it being the same.

    >>> replaced_word("the big dog sat on the mat", Said("the cat sat on the mat, the dog on the big chair"))
    >>> replaced_word("why the dog sat on the mat", Said("a dog asks why the cat sat on the mat"))
    'dog'
    """
    row = [match.group() for match in words_in(text)]
    if not _FEWEST_WORDS <= len(row) <= _MOST_WORDS:
        return None
    for place in range(_BESIDE, len(row) - _BESIDE):
        before, behind = " ".join(row[:place]), " ".join(row[place + 1 :])
        if f" {before} " in said.word_row and f" {behind} " in said.word_row:
            match = re.search(rf" {re.escape(before)} (\w+) {re.escape(behind)} ", said.word_row)
            if match and match[1] != row[place] and not (is_turned(match[1]) and is_turned(row[place])):
                return row[place]
    return None


def _is_small(word: str) -> bool:
    return word in NEGATIONS or not is_content(word)
