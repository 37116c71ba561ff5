"""Whether a place where a tool's words stand names the tool, or only speaks the language of the task.

"Send an email" asks for what the tool `send_email` does; "use send_email", "the Image Editing tool" name it.
"""

from __future__ import annotations

import re
from typing import Literal

from toolassay.gates.leak.names import Place
from toolassay.offline.writer.words import verbs

Naming = Literal["no", "perhaps", "yes"]

_TOOL = (
    r"(?:(?:tool|api|function|endpoint|plugin|plug-in|outil|fonction|funzione|función|função|herramienta"
    r"|ferramenta|strumento)s?|werkzeugs?|tools|funktion|schnittstelle)\b"
)
_EASTERN_TOOL = r"(?:工具|函数|函數|接口|插件|ツール|関数|도구|함수)"
_TOOL_BEHIND = re.compile(rf"['\"`*”’)\]}}]*(?:\s+{_TOOL}|\s*{_EASTERN_TOOL}|\s*api\b)", re.IGNORECASE)
_EASTERN_USE = re.compile(r"(?:使用|调用|調用|利用|通过)\s*['\"`“‘「『(]*$")
_KEY_BEFORE = re.compile(r"['\"](?:task|tool|tool_name|name|function|api)['\"]\s*:\s*['\"]$", re.IGNORECASE)
_CALL_BEHIND = re.compile(r"\(\)|\([^()]{0,80}[=:'\"_][^()]{0,80}\)")
_OWN_MARK = re.compile(r"[/{}\[\]#:@]")
_MODEL_BEHIND = re.compile(r"['\"`*”’)\]]*\s+(?:model|module|pipeline|task|node)s?\b", re.IGNORECASE)
_TOOL_BEFORE = re.compile(rf"\b{_TOOL}\s*(?:called|named|is|:)?\s*['\"`*“‘(\[]*$", re.IGNORECASE)
_USE_BEFORE = re.compile(
    r"\b(?:us(?:e|es|ed|ing)|utili[sz](?:e|es|ing)|invok(?:e|es|ing)|via|call(?:ing)?|run(?:ning)?"
    r"|by means of|with the help of)\s+(?:the\s+|our\s+|your\s+)?['\"`*“‘(\[]*$",
    re.IGNORECASE,
)
_WITH_BEFORE = re.compile(r"\b(?:with|through|by)\s+['\"“‘*]*$", re.IGNORECASE)
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
_SMALL = frozenset({"to", "of", "for", "by", "the", "and", "in", "on", "with", "from", "a", "an", "at"})
_LONG = 12
_WORD = 5


def naming(text: str, place: Place, *, in_value: bool = False, shouted: bool = False) -> Naming:
    """Whether a place names its tool.

    Args:
        text: the request.
        place: where the words of the name stand.
        in_value: whether they are a part of a value of the plan, which capitals and quotes then belong to.
        shouted: whether the whole request is in capitals, which then say nothing.

    >>> from toolassay.gates.leak.names import Names
    >>> names = Names(["send_email", "Image Editing"])
    >>> def first(text):
    ...     return naming(text, next(names.find(text)))
    >>> first("please send email to Bo"), first("please sendEmail to Bo"), first("first Image Editing, then")
    ('no', 'yes', 'yes')
    """
    before = text[max(0, place.start - _NEARBY) : place.start]
    behind = text[place.end : place.end + _NEARBY]
    surface = text[place.start : place.end]
    if place.name.is_eastern:
        return _naming_eastern(before, behind)
    if _is_identifier(surface, place) or (before.endswith("`") and behind.startswith("`")):
        return "yes"
    if _KEY_BEFORE.search(before) or _CALL_BEHIND.match(behind):
        return "yes"
    uses = _USE_BEFORE.search(before) is not None
    called = _TOOL_BEHIND.match(behind) is not None or _TOOL_BEFORE.search(before) is not None
    capital = not shouted and _is_capital(surface, place, before, behind)
    if len(place.name.words) == 1:
        return _naming_word(surface, place, before, behind, uses, called, capital and not in_value)
    if called:
        return "yes"
    model = _MODEL_BEHIND.match(behind) is not None
    if capital and place.gaps and (not in_value or uses or model):
        return "perhaps" if place.name.is_identifier and not uses and not model else "yes"
    if not in_value and before[-1:] and before[-1:] in "'\"“‘«*" and behind[:1] and behind[:1] in "'\"”’»*":
        return "perhaps"
    return "perhaps" if model or _is_strange(place, uses, before, behind) else "no"


def _naming_eastern(before: str, behind: str) -> Naming:
    """Of a name in a script without blanks, which may be what people say for the task."""
    if _TOOL_BEHIND.match(behind):
        return "yes"
    quoted = before[-1:] and before[-1:] in "'\"“‘「『`" and behind[:1] and behind[:1] in "'\"”’」』`"
    return "perhaps" if quoted or _EASTERN_USE.search(before) else "no"


def _is_strange(place: Place, uses: bool, before: str, behind: str) -> bool:
    """Whether words of a name in lower case stand where only a name can."""
    name = place.name
    means = uses or (_WITH_BEFORE.search(before) is not None and _CLAUSE_BEHIND.match(behind) is not None)
    if not place.gaps:
        # "voiceover" is a word, "visualquestionanswering" is none.
        return uses or len(name.words) > 2 or sum(map(len, name.words)) >= _LONG
    if not name.is_identifier:
        kebab = all(gap == "-" for gap in place.gaps) and place.gaps != tuple(_own_gaps(name.tool))
        return means or (kebab and (len(name.words) > 2 or _CLAUSE_BEHIND.match(behind) is not None))
    # "Use online banking" is English, "use send email" is not.
    return means and (name.words[0] in verbs() or len(name.words) > 2)


def _own_gaps(tool: str) -> list[str]:
    return re.findall(r"[\W_]+", tool.strip())


def _naming_word(
    surface: str, place: Place, before: str, behind: str, uses: bool, called: bool, capital: bool
) -> Naming:
    """Of a name of one word, which the request may need to say what it wants."""
    stressed = capital and surface.isupper() and len(surface) >= _WORD
    if called and (capital or not _ANY_BEFORE.search(before)):
        return "yes" if capital or uses or re.match(r"\W*(?:api|function)\b", behind, re.I) else "perhaps"
    starts = _SENTENCE_START.search(before) is not None
    if (stressed or (capital and surface == place.name.tool.strip())) and not starts:
        return "yes" if uses or _MODEL_BEHIND.match(behind) else "perhaps"
    alone = before.endswith("(") and behind.startswith(")") and capital and surface == place.name.tool.strip()
    if alone or (uses and capital and not starts):
        return "perhaps"
    if _CLAUSE_BEHIND.match(behind) is None:
        return "no"
    # "With translate", unlike "with the weather", is no English.
    quoted = before[-1:] and before[-1:] in "'\"“‘«*"
    by = _WITH_BEFORE.search(before) is not None and (quoted or place.name.words[0] in verbs())
    return "perhaps" if uses or by else "no"


def _is_identifier(surface: str, place: Place) -> bool:
    """Whether the words are written together as programs do, where people would not."""
    own = place.name.tool
    if any("_" in gap for gap in place.gaps):
        return True
    if surface in own and any(_OWN_MARK.search(gap) for gap in place.gaps) and place.gaps == place.name.gaps:
        return place.name.is_identifier or " " in own
    if any(gap == "" for gap in place.gaps):
        return surface not in own or surface == own.strip()
    if place.gaps and all(gap in ("-", ".", "/", ":") for gap in place.gaps) and place.name.is_identifier:
        return len(place.gaps) > 1 or place.gaps[0] != "-" or place.name.words[1] not in _PARTICLES
    return False


def _is_capital(surface: str, place: Place, before: str, behind: str) -> bool:
    """Whether every word has its capital, as names have, and no longer name goes on around them."""
    words = [word for word in re.findall(r"[^\W_]+", surface) if word not in _SMALL] or surface.split()
    if not all(word[:1].isupper() for word in words) or (len(words) == 1 < len(place.name.words)):
        return False
    if _CAPITAL_BEHIND.match(behind) and not _TOOL_BEHIND.match(behind) and not _MODEL_BEHIND.match(behind):
        return False
    neighbour = _CAPITAL_BEFORE.search(before)
    return neighbour is None or _SENTENCE_START.search(before[: neighbour.start()]) is not None
