"""The gate "leak": does the request name tools, or the node references of the plan?

The gate finds tool names in a text, and distinguishes a tool's name from ordinary words for the task: "send
an email" describes the task of `send_email`; "use send_email" and "the Image Editing tool" name the tool.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Literal, NamedTuple

from toolassay.gates.gate import Background, Finding, RuleGate, State
from toolassay.gates.grounding.normalization import literals_of
from toolassay.plans.gold import Gold

# Chinese, Japanese and Korean, which put no blanks between their words and those of other scripts.
_EAST = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
# A word of a text or name: "send", "Email2" and "用" of "sendEmail2用", "HTTP" and "Server" of "HTTPServer".
_WORD = re.compile(rf"[{_EAST}]|[A-Z]+(?=[A-Z][a-z])|[A-Z]*[^\W_A-Z{_EAST}]+|[A-Z]+")
# The text between two words of one name: nothing, "_", " ", "-\n", " & ", " ("; not ", " nor ". ".
_GAP = re.compile(r"[-_/.:]?|[-_]?\s{1,6}[-_]?|\s?[()&]\s?|\s?[-_/]\s?")
# A name as a program writes it: "send_email", "sendEmail", "send-email"; not "Send-Email" nor "Email".
_IDENTIFIER = re.compile(r"\S*(?:[_./:#]|[^\W_A-Z][A-Z])\S*|[a-z\d]+(?:-[a-z\d]+)+")


class ToolName(NamedTuple):
    """The name of a tool.

    Attributes:
        tool: the name as the library has it.
        words: its words, with case folded.
        is_identifier: whether it is written as in a program (`send_email`, not "Send Email").
        gaps: the text between its words.
    """

    tool: str
    words: tuple[str, ...]
    is_identifier: bool
    gaps: tuple[str, ...] = ()


class NamePlace(NamedTuple):
    """An occurrence of a name: `text[start:end]`, and the text between its words."""

    name: ToolName
    start: int
    end: int
    gaps: tuple[str, ...]


class ToolNameFinder:
    """Finds the names of tools in a text, in a time that does not depend on the number of tools.

    Args:
        tools: the names. Of two names with the same words only the first is known.

    >>> names = ToolNameFinder(["Image Search", "Image Search (by Image)"])
    >>> [place.name.tool for place in names.find("an image search (by image), then an image_search")]
    ['Image Search (by Image)', 'Image Search']
    """

    def __init__(self, tools: Iterable[str]) -> None:
        self._names: dict[tuple[str, ...], ToolName] = {}
        self._lengths: dict[str, dict[int, None]] = {}  # of the names that begin with a word, longest first
        for tool in tools:
            row = list(_WORD.finditer(tool))
            words = tuple(word.group().casefold() for word in row)
            if not words or words in self._names:
                continue
            name = ToolName(tool, words, _IDENTIFIER.fullmatch(tool.strip()) is not None, _gaps(tool, row))
            self._names[words] = name
        for words in sorted(self._names, key=len, reverse=True):
            self._lengths.setdefault(words[0], {})[len(words)] = None

    def find(self, text: str) -> Iterator[NamePlace]:
        """The occurrences of names, without overlaps; the longest of several that begin at one word."""
        words = [word.casefold() for word in _WORD.findall(text)]
        row: list[re.Match[str]] = []
        free = 0  # the word behind the last name
        for position, word in enumerate(words):
            for length in self._lengths.get(word, ()) if position >= free else ():
                if (name := self._named(tuple(words[position : position + length]))) is None:
                    continue
                row = row or list(_WORD.finditer(text))
                matches = row[position : position + length]
                gaps = _gaps(text, matches)
                start = matches[0].start()
                end = matches[-1].end()
                fits = gaps == name.gaps or all(_GAP.fullmatch(gap) for gap in gaps)
                if fits and not _is_inside(text, start, end):
                    yield NamePlace(name, start, end, gaps)
                    free = position + length
                    break

    def _named(self, words: tuple[str, ...]) -> ToolName | None:
        """The name with these words, or with the last word in the singular ("Image Editors")."""
        name = self._names.get(words)
        if name is None and len(words) > 1 and words[-1].endswith("s"):
            name = self._names.get((*words[:-1], words[-1][:-1]))
        return name


def _gaps(text: str, row: list[re.Match[str]]) -> tuple[str, ...]:
    return tuple(text[first.end() : second.start()] for first, second in pairwise(row))


def _is_inside(text: str, start: int, end: int) -> bool:
    """Whether `text[start:end]` is part of a longer identifier or address."""
    before, after = (
        re.sub(f"[{_EAST}]", " ", part) for part in (text[start - 1 : start], text[end : end + 1])
    )
    if before.isalnum() or after.isalnum() or "_" in (before, after):
        return True
    return (before in ("@", "/", ".", "#") and text[start - 2 : start - 1].isalnum()) or (
        after in ("@", "/", ".", "=") and text[end + 1 : end + 2].isalnum()
    )


Naming = Literal["no", "perhaps", "yes"]

# Behind a name: " tool", "' API", "工具"; not " toolbox". Before it: "the tool called '", "API: ".
_TOOL = r"(?:tool|api|function|endpoint|plugin)s?\b"
_TOOL_BEHIND = re.compile(rf"['\"`*”’)\]}}]*\s*(?:{_TOOL}|工具)", re.IGNORECASE)
_TOOL_BEFORE = re.compile(rf"\b{_TOOL}\s*(?:called|named|is|:)?\s*['\"`*“‘(\[]*$", re.IGNORECASE)
# The name begins a sentence or a list item, so that its capital means nothing: before it is "", "Hi. ", "- ",
# "2) '"; not "use ".
_SENTENCE_START = re.compile(r"(?:^|[.!?:;…\n])[\W\d]*$")
# A capitalised word behind the name, which may belong to a longer name: " Pro"; not " I".
_CAPITAL_BEHIND = re.compile(r" (?!I\b)[A-Z]")
# Characters before and behind a name that the patterns see.
_NEARBY = 60
# Words that a title writes in lower case.
_SMALL = frozenset({"to", "of", "for", "by", "the", "and", "in", "on", "with", "from", "a", "an", "at"})


def naming(text: str, occurrence: NamePlace, *, in_value: bool = False, shouted: bool = False) -> Naming:
    """Whether the words of a name refer to the tool, and are not ordinary words for the task.

    Args:
        text: the request.
        occurrence: the occurrence of the name.
        in_value: whether it is part of an argument value; its capitals then belong to the value.
        shouted: whether the whole request is in capitals, which then mean nothing.

    >>> from toolassay.gates.leak_gate import ToolNameFinder
    >>> names = ToolNameFinder(["send_email", "Image Editing"])
    >>> def first(text):
    ...     return naming(text, next(names.find(text)))
    >>> first("please send email to Bo"), first("please sendEmail to Bo"), first("first Image Editing, then")
    ('no', 'yes', 'yes')
    """
    before = text[max(0, occurrence.start - _NEARBY) : occurrence.start]
    behind = text[occurrence.end : occurrence.end + _NEARBY]
    surface = text[occurrence.start : occurrence.end]
    is_one_word = len(occurrence.name.words) == 1
    called = _TOOL_BEHIND.match(behind) is not None or _TOOL_BEFORE.search(before) is not None
    if re.match(rf"[{_EAST}]", surface):  # the words of such a name are those for its task
        return "yes" if called else "no"
    if _is_identifier(surface, occurrence) or (before.endswith("`") and behind.startswith("`")):
        return "yes"
    capital = not shouted and not in_value and _is_capital(surface, occurrence, behind)
    if called and (capital or not is_one_word):
        return "yes"
    if not capital:
        return "no"
    if is_one_word:
        is_name = surface == occurrence.name.tool.strip() and not _SENTENCE_START.search(before)
        return "perhaps" if is_name else "no"
    return "perhaps" if occurrence.name.is_identifier else "yes"


def _is_identifier(surface: str, occurrence: NamePlace) -> bool:
    """Whether the words are joined as in a program: `send_email`, `sendEmail`, `send-email`."""
    tool_name = occurrence.name.tool.strip()
    marked = occurrence.gaps == occurrence.name.gaps and any(
        re.search(r"[/{}\[\]#:@]", gap) for gap in occurrence.gaps
    )
    if marked or any("_" in gap for gap in occurrence.gaps):
        return True
    if "" in occurrence.gaps:
        return surface not in tool_name or surface == tool_name
    # "check-in" is English; its tool is `check_in`.
    joined = bool(occurrence.gaps) and all(gap in ("-", ".", "/", ":") for gap in occurrence.gaps)
    return joined and occurrence.name.is_identifier and surface == tool_name


def _is_capital(surface: str, occurrence: NamePlace, behind: str) -> bool:
    """Whether every word is capitalised, as in names, and no capitalised word follows."""
    words = [word for word in re.findall(r"[^\W_]+", surface) if word not in _SMALL] or surface.split()
    if not all(word[:1].isupper() for word in words) or (len(words) == 1 < len(occurrence.name.words)):
        return False
    return not _CAPITAL_BEHIND.match(behind) or _TOOL_BEHIND.match(behind) is not None


# The internals of a plan: "<node-1>", "task_nodes"; not "node 1".
_PLUMBING = re.compile(r"<\s*node\s*-?\s*\d+\s*>|\b(?:task|tool)_(?:nodes|links|steps)\b", re.IGNORECASE)
# Soft hyphen, zero-width characters, word joiner and byte order mark.
_INVISIBLE = re.compile("[\u00ad\u200b\u200c\u200d\u2060\ufeff]")
# Typographic dashes inside a word: "send–email"; not "send – email".
_DASH = re.compile(r"(?<=\w)[\u2010-\u2015](?=\w)")
_WHERE = "user_request"


class _Mention(NamedTuple):
    """A named tool: the words of the request, whether they surely name it, and whether the plan uses it."""

    surface: str
    tool: str
    sure: bool
    planned: bool


class LeakGate(RuleGate):
    """Holds back requests that name tools, because a model then need not choose the tool itself.

    A request that names a tool of the plan is rejected. One that may name it, or names another tool of the
    library, is quarantined. Ordinary words for the task do not count, even if a tool has that name.

    >>> from toolassay.tools.library import Tool, ToolLibrary
    >>> gate = LeakGate(Background(ToolLibrary([Tool("Image Editing"), Tool("Translation")]), "resource"))
    >>> plan = [{"task": "Image Editing"}]
    >>> gate.check(Gold.of({"id": 1, "user_request": "Make the sky blue", "task_nodes": plan}))
    []
    >>> label = {"id": 1, "user_request": "Use Image Editing on a.jpg", "task_nodes": plan}
    >>> gate.check(Gold.of(label))[0].reason
    "the request names the tool 'Image Editing' of the plan"
    """

    name = "leak"
    judges = frozenset({"request"})
    goes_to = "request"

    def __init__(self, background: Background) -> None:
        super().__init__(background)
        self._library = background.library
        self._names = ToolNameFinder(background.library.ids)

    def check(self, gold: Gold) -> list[Finding]:
        """One finding for each named tool, and for each mention of the plan's internals."""
        if not gold.request.strip():
            return [Finding(self.name, "not applicable", "there is no request")]
        text = gold.request
        if not text.isascii():
            text = _DASH.sub("-", _INVISIBLE.sub("", unicodedata.normalize("NFKC", text)))
        findings = [
            Finding(self.name, "reject", f"the request mentions '{words}', an internal of the plan", _WHERE)
            for words in dict.fromkeys(_PLUMBING.findall(text) if "<" in text or "_" in text else ())
        ]
        return [*findings, *map(self._finding, self._mentions(gold, text))]

    def _finding(self, mention: _Mention) -> Finding:
        tool = f"the tool '{mention.tool}'" + (
            " of the plan" if mention.planned else ", which the plan does not use"
        )
        spelling = "" if mention.surface == mention.tool else f" by '{' '.join(mention.surface.split())}'"
        verb = "names" if mention.sure else "may name"
        state: State = "reject" if mention.sure and mention.planned else "quarantine"
        return Finding(self.name, state, f"the request {verb} {tool}{spelling}", _WHERE)

    def _mentions(self, gold: Gold, text: str) -> list[_Mention]:
        """The named tools, each with its surest mention."""
        planned = {node.tool for node in gold.nodes}
        mentions: dict[str, _Mention] = {}
        occurrences = list(self._names.find(text))
        values = _values_in(gold, text) if occurrences else []
        letters = [character for character in text[:2000] if character.isalpha()] if occurrences else []
        shouted = sum(map(str.isupper, letters)) > 0.6 * len(letters)
        for occurrence in occurrences:
            tool = occurrence.name.tool
            inside = any(start <= occurrence.start and occurrence.end <= end for start, end in values)
            verdict = naming(text, occurrence, in_value=inside, shouted=shouted)
            if verdict == "no" or (verdict == "perhaps" and tool not in planned):
                continue
            if tool not in mentions or (verdict == "yes" and not mentions[tool].sure):
                surface = text[occurrence.start : occurrence.end]
                mentions[tool] = _Mention(surface, tool, verdict == "yes", tool in planned)
        return list(mentions.values())


def _values_in(gold: Gold, text: str) -> list[tuple[int, int]]:
    """The spans of the request that are argument values of the plan."""
    spans = []
    for literal in literals_of(gold):
        value = str(literal.value).strip()
        start = text.find(value) if value else -1
        if start >= 0:
            spans.append((start, start + len(value)))
    return spans
