"""Separates a model's answer from the reasoning before it."""

from __future__ import annotations

import re

from toolassay.answers.spans import LONGEST, OBJECT_START, SCANNED, end_of_object

_REASONING = r"(?:seed:)?(?:think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis)"
# An opening or closing tag of any model: matches "<think>", "</seed:think>" and "[/THINK]", not "<thinker>".
_REASONING_TAG = re.compile(
    rf"(?P<open><{_REASONING}>|\[THINK\]|◁think▷)|"
    rf"(?P<close></{_REASONING}>|\[/THINK\]|◁/think▷|<\|channel\|>final<\|message\|>)",
    re.IGNORECASE,
)
# The text after a real closing tag: matches a line end, "{", "[", "`" and the end of the text, not '", "b"',
# which follows a tag inside a JSON string.
_AFTER_REASONING = re.compile(r"[ \t]{0,8}(?:[\r\n{\[`]|\Z)")


def without_reasoning(text: str) -> tuple[str, bool]:
    r"""The text without its reasoning blocks, and whether the last block is unclosed.

    >>> without_reasoning("<think>{draft}</think>\n{answer}"), without_reasoning("{draft}</think>No.")
    (('{answer}', False), ('No.', False))
    """
    parts, unclosed = visible_parts(text)
    return "".join(text[start:end] for start, end in parts).strip(), unclosed


def visible_parts(text: str) -> tuple[list[tuple[int, int]], bool]:
    """Find the parts of a text outside of reasoning blocks.

    A closing tag without an opening one ends a block that began in the prompt, so everything before it is
    reasoning. A tag inside a closed JSON object is part of a string, except for an opening tag at the start
    of a line and a closing tag at the end of a line or before a brace, bracket or fence. A text of more than
    `LONGEST` characters counts as one part.

    Returns:
        Start and end of each part in order, and whether the text ends inside a block.
    """
    if len(text) > LONGEST:
        return [(0, len(text))], False
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
    """Whether a closed object that begins at or after `brace` contains `place`.

    `budget` holds the number of characters that may still be read. When it is used up the answer is False,
    because it is safer to drop possible reasoning than to act on it.
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
