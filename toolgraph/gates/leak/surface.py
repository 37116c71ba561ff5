"""Whether a place where a tool's words stand names the tool, or only speaks the language of the task.

"Send an email" asks for what the tool `send_email` does; "use send_email", "the Image Editing tool" name it.
"""

from __future__ import annotations

import re
from typing import Literal

from toolgraph.gates.leak.names import Place
from toolgraph.offline.writer.words import verbs

Naming = Literal["no", "perhaps", "yes"]

_TOOL = r"(?:tool|api|function|endpoint|plugin|plug-in)s?\b"
_TOOL_BEHIND = re.compile(rf"['\"`*”’)\]]*\s+{_TOOL}", re.IGNORECASE)
_MODEL_BEHIND = re.compile(r"['\"`*”’)\]]*\s+(?:model|module|pipeline|task|node)s?\b", re.IGNORECASE)
_TOOL_BEFORE = re.compile(rf"\b{_TOOL}\s*(?:called|named|is|:)?\s*['\"`*“‘(\[]*$", re.IGNORECASE)
_USE_BEFORE = re.compile(
    r"\b(?:us(?:e|es|ed|ing)|utili[sz](?:e|es|ing)|invok(?:e|es|ing)|via|call(?:ing)?|run(?:ning)?"
    r"|by means of|with the help of)\s+(?:the\s+|our\s+|your\s+)?['\"`*“‘(\[]*$",
    re.IGNORECASE,
)
_ANY_BEFORE = re.compile(r"\b(?:an?|any|some|which|what|no)\s+['\"`“‘]*$", re.IGNORECASE)
_CLAUSE_BEHIND = re.compile(
    r"['\"`*”’)\]]*(?:\s*[.,;:!?]|\s*$|\s+(?:to|for|on|and|then|first|next)\b)", re.IGNORECASE
)
_SENTENCE_START = re.compile(r"(?:^|[.!?:;…]['\")’”]*\s|\n|^\W+)\s*(?:[-*•]\s*|\(?\d+[.)]\s*)?['\"“‘(\[]*$")
_CAPITAL_BEFORE = re.compile(r"(?P<word>[A-Z][\w'’&-]*) $")
_CAPITAL_BEHIND = re.compile(r" (?!I\b)[A-Z]")
# "check-in" is an English word, "send-email" is not.
_PARTICLES = frozenset("in up out off on down over away back through around by to".split())  # noqa: SIM905
_NEARBY = 60
_SMALL = 3


def naming(text: str, place: Place, *, in_value: bool = False, shouted: bool = False) -> Naming:
    """Whether a place names its tool.

    Args:
        text: the request.
        place: where the words of the name stand.
        in_value: whether they are a part of a value of the plan, which capitals and quotes then belong to.
        shouted: whether the whole request is in capitals, which then say nothing.

    >>> from toolgraph.gates.leak.names import Names
    >>> names = Names(["send_email", "Image Editing"])
    >>> def first(text):
    ...     return naming(text, next(names.find(text)))
    >>> first("please send email to Bo"), first("please sendEmail to Bo"), first("first Image Editing, then")
    ('no', 'yes', 'yes')
    """
    before = text[max(0, place.start - _NEARBY) : place.start]
    behind = text[place.end : place.end + _NEARBY]
    surface = text[place.start : place.end]
    if _is_identifier(surface, place) or (before.endswith("`") and behind.startswith("`")):
        return "yes"
    uses = _USE_BEFORE.search(before) is not None
    called = _TOOL_BEHIND.match(behind) is not None or _TOOL_BEFORE.search(before) is not None
    capital = not shouted and _is_capital(surface, place, before, behind)
    if len(place.name.words) == 1:
        return _naming_word(surface, place, before, behind, uses, called, capital and not in_value)
    if called:
        return "yes"
    if not place.gaps:
        return "perhaps" if uses else "no"
    model = _MODEL_BEHIND.match(behind) is not None
    if capital and (not in_value or uses or model):
        return "perhaps" if place.name.is_identifier and not uses and not model else "yes"
    quoted = before[-1:] in "'\"“‘«*" and behind[:1] in "'\"”’»*" and before[-1:] and behind[:1]
    if quoted and not in_value:
        return "perhaps"
    # "Use online banking" is English, "use send email" is not.
    strange = not place.name.is_identifier or place.name.words[0] in verbs()
    return "perhaps" if model or (uses and strange) else "no"


def _naming_word(
    surface: str, place: Place, before: str, behind: str, uses: bool, called: bool, capital: bool
) -> Naming:
    """Of a name of one word, which the request may need to say what it wants."""
    written_so = surface == place.name.tool.strip()
    if called and (capital or not _ANY_BEFORE.search(before)):
        return "yes" if capital or uses or re.match(r"\W*(?:api|function)\b", behind, re.I) else "perhaps"
    if uses and written_so and not capital and _CLAUSE_BEHIND.match(behind):
        return "perhaps"
    if not capital or not written_so or _SENTENCE_START.search(before):
        return "no"
    return "yes" if uses or _MODEL_BEHIND.match(behind) else "perhaps"


def _is_identifier(surface: str, place: Place) -> bool:
    """Whether the words are written together as programs do, where people would not."""
    own = place.name.tool
    if any("_" in gap for gap in place.gaps):
        return True
    if any(gap == "" for gap in place.gaps):
        return surface not in own or surface == own.strip()
    if place.gaps and all(gap in ("-", ".", "/", ":") for gap in place.gaps) and place.name.is_identifier:
        return len(place.gaps) > 1 or place.gaps[0] != "-" or place.name.words[1] not in _PARTICLES
    return False


def _is_capital(surface: str, place: Place, before: str, behind: str) -> bool:
    """Whether every word has its capital, as names have, and no longer name goes on around them."""
    words = [word for word in re.findall(r"[^\W_]+", surface) if len(word) > _SMALL] or surface.split()
    if not all(word[:1].isupper() for word in words):
        return False
    if len(words) == 1 and len(place.name.words) > 1 and len(surface.split()) > 1:
        return False
    if _CAPITAL_BEHIND.match(behind) and not _TOOL_BEHIND.match(behind) and not _MODEL_BEHIND.match(behind):
        return False
    neighbour = _CAPITAL_BEFORE.search(before)
    return neighbour is None or _SENTENCE_START.search(before[: neighbour.start()]) is not None
