"""Separating what a model answers from what it thinks before."""

from __future__ import annotations

import re

from toolassay.answers.spans import OBJECT_START, SCANNED, end_of_object

_REASONING = r"(?:seed:)?(?:think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis)"
_REASONING_TAG = re.compile(
    rf"(?P<open><{_REASONING}>|\[THINK\]|◁think▷)|"
    rf"(?P<close></{_REASONING}>|\[/THINK\]|◁/think▷|<\|channel\|>final<\|message\|>)",
    re.IGNORECASE,
)
_AFTER_REASONING = re.compile(r"[ \t]{0,8}(?:[\r\n{\[`]|\Z)")


def without_reasoning(text: str) -> tuple[str, bool]:
    r"""The text without its reasoning blocks; and whether the last of them never ends.

    >>> without_reasoning("<think>{draft}</think>\n{answer}"), without_reasoning("{draft}</think>No.")
    (('{answer}', False), ('No.', False))
    """
    parts, unclosed = visible_parts(text)
    return "".join(text[start:end] for start, end in parts).strip(), unclosed


def visible_parts(text: str) -> tuple[list[tuple[int, int]], bool]:
    """Where the text is outside of reasoning blocks; and whether the last block never ends.

    A closing tag without an opening one ends a block that began in the prompt: all before it is reasoning.
    A tag inside a closed JSON object is part of a string, unless it looks like a tag: an opening one at the
    start of a line, a closing one at the end of a line or before a brace, a bracket or a fence.

    Returns:
        Start and end of each part in order, and whether the text ends inside a block.
    """
    parts: list[tuple[int, int]] = []
    start, inside = 0, False
    brace = text.find("{")
    budget = [SCANNED]
    for tag in _REASONING_TAG.finditer(text):
        place = tag.start()
        if tag["open"]:
            if not inside and (
                not 0 <= brace < place
                or text[place - 1] == "\n"
                or place == start
                or not _is_in_object(text, brace, place, budget)
            ):
                parts.append((start, place))
                inside = True
        elif inside:
            inside, start = False, tag.end()
        elif _AFTER_REASONING.match(text, tag.end()) or not _is_in_object(text, brace, place, budget):
            parts, start = [], tag.end()
        if 0 <= brace < start:
            brace = text.find("{", start)
    if not inside:
        parts.append((start, len(text)))
    return parts, inside


def _is_in_object(text: str, brace: int, place: int, budget: list[int]) -> bool:
    """Whether a closed object that begins at `brace` or later spans `place`.

    `budget` is the number of characters that may still be read. Where it is spent the answer is no: what may
    be reasoning is rather left out than acted on.
    """
    position = brace
    while budget[0] > 0 and 0 <= position < place:
        start = OBJECT_START.search(text, position, place)
        if start is None:
            return False
        end, whole = end_of_object(text, start.start())
        budget[0] -= 1 + end - start.start()
        if whole and end > place:
            return True
        position = end if whole else start.start() + 1
    return False
