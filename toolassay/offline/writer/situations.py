"""Why somebody asks: a short situation before the request, a word after it."""

from __future__ import annotations

import re

from toolassay.offline.writer.lists import read_list
from toolassay.offline.writer.story import Story

_SLOT = re.compile(r"\{(\w+)\}")
_SENTENCE_START = re.compile(r"^[a-z]|(?<=[.!?] )[a-z]")
_OF_TOPIC = frozenset(
    {"topic", "topic_query", "query", "fact", "scene", "draft", "question", "photo", "speech", "foreign"}
)


class Situations:
    """Situations and closings for one request, its people and deadlines the same throughout."""

    def __init__(self, story: Story) -> None:
        self.story = story
        self._memory: dict[str, str] = {}

    def opening(self, kind: str) -> str:
        """A sentence that says why, of a kind (`topic`, `general`, …)."""
        return self._told(self.story.pick(read_list("situations")[kind]))

    def kind(self, *, resource: bool) -> str:
        """The kind of situation that fits what the literals are about."""
        on_topic = bool(self.story.used & _OF_TOPIC)
        if resource:
            return "topic" if on_topic or self.story.chance(0.7) else "general"
        return "topic" if "topic" in self.story.used and self.story.chance(0.35) else "general"

    def closing(self) -> str:
        """A last word that does not contradict the opening."""
        closings = [text for text in read_list("situations")["closings"] if self._fits(text)]
        return self._told(self.story.pick(closings))

    def _fits(self, text: str) -> bool:
        timed = bool({"when", "day"} & self._memory.keys())
        return not (timed and re.search(r"\{(?:when|day)\}|hurry", text))

    def _told(self, template: str) -> str:
        text = _SLOT.sub(self._word, template)
        return _SENTENCE_START.sub(lambda match: match[0].upper(), text)

    def _word(self, match: re.Match[str]) -> str:
        name = match.group(1)
        words = read_list("situations")["slots"].get(name)
        if words is None:
            return self.story.field(name)
        if name not in self._memory:
            word = self.story.pick(words)
            self._memory[name] = ""
            self._memory[name] = _SLOT.sub(self._word, word)
        return self._memory[name]
