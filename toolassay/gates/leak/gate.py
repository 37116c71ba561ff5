"""The gate: does the request name the tools, or the plumbing of the plan?"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from toolassay.gates.gate import Background, Finding, State
from toolassay.gates.knowability.literals import literals_of
from toolassay.gates.leak.names import Names
from toolassay.gates.leak.surface import naming
from toolassay.gold import Gold

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
        self._names = Names(background.library.ids)

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
        finders = [self._names, *([Names(sorted(unknown))] if unknown else [])]
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
