"""The setting of one request: a topic, a city and a day, the same in all its sentences."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from random import Random
from typing import Any, TypeVar

from toolassay.offline.writer.english import read_list

# "{city}", but not "{0:given}".
_SLOT = re.compile(r"\{(\w+)\}")

Item = TypeVar("Item")


class Story:
    """The setting of one request. It remembers what was drawn, so that the request is coherent.

    Args:
        rng: the random numbers of this request alone.

    Attributes:
        used: the fields drawn so far.
        literals: the values drawn so far.
    """

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.used: set[str] = set()
        self.literals: list[str] = []
        self._topic = self._any_topic()
        self._city, self._country = self.pick(read_list("world")["cities"])
        self._day = date(2026, 1, 5) + timedelta(days=int(rng.random() * 540))

    def pick(self, items: Sequence[Item]) -> Item:
        return items[int(self.rng.random() * len(items))]

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        return self.rng.sample(items, len(items))

    def fill(self, template: str) -> str:
        """The template with a value for each `{field}`."""
        return _SLOT.sub(lambda match: self._field(match[1]), template)

    def value(self, kind: Mapping[str, Any]) -> str:
        """A value of a kind; unless the kind is shared, one that overlaps no other, if one is found soon."""
        topic = self._topic
        value = self.fill(self.pick(kind["values"]))
        for _ in range(0 if kind.get("shared") else 12):
            if not any(value in other or other in value for other in self.literals):
                break
            self._topic = self._any_topic()  # this one may be exhausted
            value = self.fill(self.pick(kind["values"]))
        self._topic = topic
        self.literals.append(value)
        return value

    def _any_topic(self) -> dict[str, Any]:
        topic = self.pick(read_list("topics"))
        return {name: self.shuffled(it) if isinstance(it, list) else it for name, it in topic.items()}

    def _field(self, name: str) -> str:
        self.used.add(name)
        world = read_list("world")
        if name in ("city", "country"):
            return str(self._city if name == "city" else self._country)
        if name == "town":
            return str(self.pick([city for city, _ in world["cities"] if city != self._city]))
        if name == "date":
            # Most dates of a request are the same day, the others up to nine days later.
            return str(self._day + timedelta(days=max(0, int(self.rng.random() * 25) - 15)))
        if name == "draft":  # to correct: it begins with a small letter
            fact = self._field("fact")
            return fact[0].lower() + fact[1:]
        if name in self._topic:
            topic = self._topic[name]
            if isinstance(topic, list):  # one after the other
                topic.append(topic.pop(0))
                topic = topic[-1]
            return str(topic)
        value = self.fill(self.pick(world[name]))
        return value.lower() if name == "email" else value
