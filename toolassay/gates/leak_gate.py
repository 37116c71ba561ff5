"""The gate "leak": does the request name tools, or the node references of the plan?

Finds tool names in a text, and distinguishes a tool's name from ordinary words of the task: "send an email"
describes the task of `send_email`; "use send_email" and "the Image Editing tool" name the tool.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Literal, NamedTuple

from toolassay.gates.gate import Background, Finding, State
from toolassay.gates.knowability.literals import literals_of
from toolassay.gold import Gold
from toolassay.offline.writer.english import verbs

__all__ = ["LeakGate"]


_RUN = re.compile(r"[^\W_]+")
# Chinese, Japanese and Korean, which set no blanks where words of other scripts begin.
_EAST = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_INSIDE = re.compile(
    rf"(?<=[^\W_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[{_EAST}])(?=\w)|(?<=\w)(?=[{_EAST}])"
)
# What may stand between two words of a name: nothing, a mark, blanks, a line break after a mark.
_GAP = re.compile(r"[-_/.:]?|[-_]?\s{1,6}[-_]?|\s?[()&]\s?|\s?[-_/]\s?")
_IDENTIFIER = re.compile(r"\S*(?:[_./:#]|[^\W_A-Z][A-Z])\S*|[a-z\d]+(?:-[a-z\d]+)+")

_JOINTS = ("", "_", "-", ".", "/", ":")
_MOST_JOINED = 8
_ADDRESS = re.compile(r"(?:https?://|www\.)[^\s<>\"'`]+", re.IGNORECASE)
_PART = re.compile(r"(?<=/)[\w-]+(?=[/?#),;!]|\.?$)")


class NameWord(NamedTuple):
    """A word of a text, in lower case, with its first character and the one behind it."""

    text: str
    start: int
    end: int


class ToolName(NamedTuple):
    """The name of a tool: its words in lower case, and whether a program would write it so (`send_email`)."""

    tool: str
    words: tuple[str, ...]
    is_identifier: bool
    gaps: tuple[str, ...] = ()

    @property
    def is_eastern(self) -> bool:
        """Whether it is written in a script without blanks."""
        return all(re.match(rf"[{_EAST}]", word) for word in self.words)


class NamePlace(NamedTuple):
    """Where a name stands in a text, with the characters between its words."""

    name: ToolName
    start: int
    end: int
    gaps: tuple[str, ...]


def words_of(text: str) -> list[NameWord]:
    """The words of a text; what is written as one with capitals inside falls apart.

    >>> [word.text for word in words_of("sendEmail to HTTPServer_2")]
    ['send', 'email', 'to', 'http', 'server', '2']
    """
    found = []
    for run in _RUN.finditer(text):
        start = run.start()
        for part in _INSIDE.split(run.group()):
            found.append(NameWord(part.casefold(), start, start + len(part)))
            start += len(part)
    return found


class ToolNameFinder:
    """Finds the names of many tools in a text, by the words they begin with.

    >>> names = ToolNameFinder(["Image Search", "Image Search (by Image)"])
    >>> [place.name.tool for place in names.find("an image search (by image), then an image_search")]
    ['Image Search (by Image)', 'Image Search']
    """

    def __init__(self, tools: Iterable[str]) -> None:
        self._names: dict[tuple[str, ...], ToolName] = {}
        self._lengths: dict[str, set[int]] = {}
        self._written_as_one: dict[str, ToolName] = {}
        for tool in tools:
            row = words_of(tool)
            words = tuple(word.text for word in row)
            if not words or words in self._names:
                continue
            name = ToolName(tool, words, _IDENTIFIER.fullmatch(tool.strip()) is not None, _gaps(tool, row))
            self._names[words] = name
            self._lengths.setdefault(words[0], set()).add(len(words))
            if len(words) > 1:
                self._written_as_one.setdefault("".join(words), name)

    def find(self, text: str) -> Iterator[NamePlace]:
        """Each place of a name, the longest where several begin, none within another."""
        words = words_of(text)
        place = 0
        while place < len(words):
            found = self._at(text, words, place)
            if found is None:
                place += 1
                continue
            yield found
            while place < len(words) and words[place].start < found.end:
                place += 1

    def _at(self, text: str, words: list[NameWord], place: int) -> NamePlace | None:
        first = words[place]
        for length in sorted(self._lengths.get(first.text, ()), reverse=True):
            row = words[place : place + length]
            name = self._named(tuple(word.text for word in row))
            if name is None:
                continue
            gaps = _gaps(text, row)
            fits = all(_GAP.fullmatch(gap) for gap in gaps) or gaps == name.gaps
            if fits and not _is_inside(text, row[0].start, row[-1].end):
                return NamePlace(name, first.start, row[-1].end, gaps)
        return self._joined(text, words, place)

    def _named(self, words: tuple[str, ...]) -> ToolName | None:
        """The name that words are, or are several of ("Image Editors")."""
        name = self._names.get(words)
        if name is None and len(words) > 1 and words[-1].endswith("s"):
            name = self._names.get((*words[:-1], words[-1][:-1]))
        return name

    def _joined(self, text: str, words: list[NameWord], place: int) -> NamePlace | None:
        """A name whose words are written as one, or as others: "texttospeech", "slack_postmessage"."""
        joined = ""
        for end in range(place, min(place + _MOST_JOINED, len(words))):
            if end > place and text[words[end - 1].end : words[end].start] not in _JOINTS:
                return None
            joined += words[end].text
            name = self._written_as_one.get(joined)
            if name is not None and not _is_inside(text, words[place].start, words[end].end):
                gaps = _gaps(text, words[place : end + 1])
                return NamePlace(name, words[place].start, words[end].end, gaps)
        return None

    def in_addresses(self, text: str) -> Iterator[NamePlace]:
        """Each part of a web address that is a name of several words: `https://x.org/api/send-email`."""
        for address in _ADDRESS.finditer(text):
            for part in _PART.finditer(address.group()):
                row = words_of(part.group())
                name = self._names.get(tuple(word.text for word in row))
                if name is not None and len(row) > 1:
                    start = address.start() + part.start()
                    yield NamePlace(name, start, start + len(part.group()), _gaps(part.group(), row))


def _gaps(text: str, row: list[NameWord]) -> tuple[str, ...]:
    return tuple(text[one.end : two.start] for one, two in pairwise(row))


def _is_inside(text: str, start: int, end: int) -> bool:
    """Whether a stretch is a part of a longer identifier or address."""
    before, after = (
        re.sub(f"[{_EAST}]", " ", part) for part in (text[start - 1 : start], text[end : end + 1])
    )
    if before.isalnum() or after.isalnum() or "_" in (before, after):
        return True
    return (before in ("@", "/", ".", "#") and text[start - 2 : start - 1].isalnum()) or (
        after in ("@", "/", ".", "=") and text[end + 1 : end + 2].isalnum()
    )


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


def naming(text: str, place: NamePlace, *, in_value: bool = False, shouted: bool = False) -> Naming:
    """Whether a place names its tool.

    Args:
        text: the request.
        place: where the words of the name stand.
        in_value: whether they are a part of a value of the plan, which capitals and quotes then belong to.
        shouted: whether the whole request is in capitals, which then say nothing.

    >>> from toolassay.gates.leak_gate import ToolNameFinder
    >>> names = ToolNameFinder(["send_email", "Image Editing"])
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


def _is_strange(place: NamePlace, uses: bool, before: str, behind: str) -> bool:
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
    surface: str, place: NamePlace, before: str, behind: str, uses: bool, called: bool, capital: bool
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


def _is_identifier(surface: str, place: NamePlace) -> bool:
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


def _is_capital(surface: str, place: NamePlace, before: str, behind: str) -> bool:
    """Whether every word has its capital, as names have, and no longer name goes on around them."""
    words = [word for word in re.findall(r"[^\W_]+", surface) if word not in _SMALL] or surface.split()
    if not all(word[:1].isupper() for word in words) or (len(words) == 1 < len(place.name.words)):
        return False
    if _CAPITAL_BEHIND.match(behind) and not _TOOL_BEHIND.match(behind) and not _MODEL_BEHIND.match(behind):
        return False
    neighbour = _CAPITAL_BEFORE.search(before)
    return neighbour is None or _SENTENCE_START.search(before[: neighbour.start()]) is not None


_PLUMBING = re.compile(r"<\s*node\s*-?\s*\d+\s*>|\b(?:task|tool)_(?:nodes|links|steps)\b", re.IGNORECASE)
_PERHAPS_PLUMBING = re.compile(
    r"\bnode[- ]?\d+\b|\bstep\s*\d+\s*:?\s*call\s+\w{1,80}\s+with\s+\w{1,80}\s*:", re.IGNORECASE
)
_INVISIBLE = re.compile("[\u00ad\u200b\u200c\u200d\u2060\ufeff]")
_DASH = re.compile(r"(?<=\w)[\u2010-\u2015](?=\w)")
_WHERE = "user_request"


class _Mention(NamedTuple):
    surface: str
    tool: str
    sure: bool
    planned: bool


class LeakGate:
    """Holds back requests that name tools: who reads them need not find out which tool does the work.

    A tool of the plan that is named is a reject; one that may be named, or a tool of the library that the
    plan does not use, is for a person to look at. Words that do their ordinary work are no names, whatever
    the tools are called.

    >>> from toolassay.tools import Tool, ToolLibrary
    >>> gate = LeakGate(Background(ToolLibrary([Tool("Image Editing"), Tool("Translation")]), "resource"))
    >>> plan = [{"task": "Image Editing"}]
    >>> gate.check(Gold.of({"id": 1, "user_request": "Make the sky blue", "task_nodes": plan}))
    []
    >>> label = {"id": 1, "user_request": "Use Image Editing on a.jpg", "task_nodes": plan}
    >>> gate.check(Gold.of(label))[0].reason
    "the request names the tool 'Image Editing' of the plan"
    """

    name = "leak"

    def __init__(self, background: Background) -> None:
        self._library = background.library
        self._names = ToolNameFinder(background.library.ids)

    def check(self, gold: Gold) -> list[Finding]:
        """One finding for each tool that is named, and for each mention of the plan's plumbing."""
        if not gold.request.strip():
            return [Finding(self.name, "not applicable", "there is no request")]
        text = _DASH.sub("-", _INVISIBLE.sub("", unicodedata.normalize("NFKC", gold.request)))
        findings = [
            Finding(self.name, "reject", f"the request speaks of the plan's own '{words}'", _WHERE)
            for words in dict.fromkeys(match.group() for match in _PLUMBING.finditer(text))
        ]
        if not findings and (match := _PERHAPS_PLUMBING.search(text)):
            reason = f"the request may speak of the plan's own '{match.group().strip()}'"
            findings.append(Finding(self.name, "quarantine", reason, _WHERE))
        return [*findings, *map(self._finding, self._mentions(gold, text))]

    def _finding(self, mention: _Mention) -> Finding:
        tool = f"the tool '{mention.tool}'" + (
            " of the plan" if mention.planned else ", which the plan does not use"
        )
        said = "" if mention.surface == mention.tool else f" by '{' '.join(mention.surface.split())}'"
        verb = "names" if mention.sure else "may name"
        state: State = "reject" if mention.sure and mention.planned else "quarantine"
        return Finding(self.name, state, f"the request {verb} {tool}{said}", _WHERE)

    def _mentions(self, gold: Gold, text: str) -> list[_Mention]:
        """The tools that are named, each once, the surest mention of each."""
        planned = {node.tool for node in gold.nodes}
        unknown = planned.difference(self._library.ids)
        finders = [self._names, *([ToolNameFinder(sorted(unknown))] if unknown else [])]
        letters = [character for character in text[:2000] if character.isalpha()]
        shouted = sum(map(str.isupper, letters)) > 0.6 * len(letters)
        values: list[tuple[int, int]] | None = None
        found: dict[str, _Mention] = {}
        for finder in finders:
            for place in finder.find(text):
                tool = place.name.tool
                if naming(text, place, shouted=shouted) == "no":
                    continue
                if values is None:
                    values = _values_in(gold, text)
                inside = any(start <= place.start and place.end <= end for start, end in values)
                verdict = naming(text, place, in_value=inside, shouted=shouted)
                sure, known = verdict == "yes", found.get(tool)
                if verdict == "no" or (verdict == "perhaps" and tool not in planned):
                    continue
                if known is None or (sure and not known.sure):
                    found[tool] = _Mention(text[place.start : place.end], tool, sure, tool in planned)
            for place in finder.in_addresses(text):
                tool = place.name.tool
                if values is None:
                    values = _values_in(gold, text)
                if tool in found or tool not in planned:
                    continue
                if not any(start <= place.start and place.end <= end for start, end in values):
                    found[tool] = _Mention(text[place.start : place.end], tool, False, True)
        return list(found.values())


def _values_in(gold: Gold, text: str) -> list[tuple[int, int]]:
    """Where the values of the plan stand in the request."""
    spans = []
    for literal in literals_of(gold):
        value = str(literal.value).strip()
        start = text.find(value) if value else -1
        if start >= 0:
            spans.append((start, start + len(value)))
    return spans
