"""Concrete particulars for tools that take no arguments: which film, which flight, which day."""

from __future__ import annotations

import re
from functools import cache

from toolassay.offline.writer.kinds import value_of
from toolassay.offline.writer.lists import read_list
from toolassay.offline.writer.story import Story

_SLOT = re.compile(r"\{(\w+)\}")
_MOST_WORDS = 12
_AFTER = "of|in|on|for|to|from|with|at|by|and|or|that|using|related|being|as"


@cache
def _entities() -> tuple[tuple[re.Pattern[str], str], ...]:
    entries = read_list("details")["entities"]
    return tuple(
        (re.compile(rf"\b(?:a|an|the|any) (?:\w+ )?(?:{words})\b(?=$|[,.']| (?:{_AFTER})\b)", re.I), t)
        for words, t in entries
    )


def _plain(verb: str) -> str:
    return "search for" if verb.startswith("search") else verb


@cache
def _searches() -> tuple[tuple[re.Pattern[str], str], ...]:
    entries = read_list("details")["searches"]
    verbs = "search for|look for|find|search|search and find"
    return tuple((re.compile(rf"({verbs}) (?:the )?(?:{words})$", re.I), text) for words, text in entries)


@cache
def _suffixes() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(words, re.I), text) for words, text in read_list("details")["suffixes"])


class Details:
    """Adds particulars to the bare actions of one request, each kind of them once.

    >>> from random import Random
    >>> details = Details(Story(Random(1)))
    >>> details.added("get the images of a movie").startswith("get the images of the film '")
    True
    """

    def __init__(self, story: Story) -> None:
        self.story = story
        self._told: dict[str, str] = {}
        self._fields: dict[str, str] = {}

    def added(self, action: str) -> str:
        """The action with a particular, where one fits and was not told before."""
        for pattern, template in _searches():
            match = pattern.match(action)
            if match:
                return f"{_plain(match[1])} {_SLOT.sub(self._field, template)}"
        for pattern, template in _entities():
            match = pattern.search(action)
            if match:
                if template in self._told:
                    name = self._told[template]
                else:
                    name = self._told[template] = _SLOT.sub(self._field, template)
                return f"{action[: match.start()]}{name}{action[match.end() :]}"
        if len(action.split()) > _MOST_WORDS:
            return action
        for pattern, template in _suffixes():
            if template not in self._told and pattern.search(action):
                joint = template.split()[0]
                if re.search(rf"\b{joint}\b", action) or action.endswith((" it", " them")):
                    continue
                self._told[template] = ""
                return action + _SLOT.sub(self._field, template)
        return action

    def _field(self, match: re.Match[str]) -> str:
        name = match.group(1)
        if name not in self._fields:
            own = read_list("details")["fields"].get(name)
            kinds = read_list("kinds")
            if own:
                value = self.story.pick(own)
            elif name in kinds:
                value = value_of(name, self.story)
            else:
                value = self.story.field(name)
            self._fields[name] = str(value)
        return self._fields[name]
