"""The setting of one request: a topic, a city, people and dates, the same in all its sentences."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from random import Random
from typing import TypeVar

from toolassay.offline.writer.english import read_list
from toolassay.text_values.vocabulary import MONTHS, WEEKDAYS

# "{city}", but not "{0:given}".
SLOT = re.compile(r"\{(\w+)\}")
_WORKING_DAYS = [name.capitalize() for name in WEEKDAYS[:5]]
_OPERATIONS = ("buy", "sell", "short")
# Right and wrong words for drafts to correct; the first right word in a sentence is replaced.
_MISTAKES = "are is, have has, were was, their there, than then, is are, was were, the teh"

Item = TypeVar("Item")


class Story:
    """The setting of one request. It remembers what was drawn, so that the request is coherent.

    Args:
        rng: the random numbers of this request alone.

    Attributes:
        used: the fields that literals have used; a situation may mention only those.
        literals: the values drawn so far.
    """

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.used: set[str] = set()
        self.literals: list[str] = []
        self._world = read_list("world")
        self._topic = self.pick(read_list("topics"))
        self._city, self._country = self.pick(self._world["cities"])
        self._day = date(2026, 1, 5) + timedelta(days=int(rng.random() * 540))
        self._facts = self.shuffled(self._topic["facts"])
        self._files = {"image": 0, "audio": 0, "video": 0}
        self._suffix = {"image": self.pick(("jpg", "jpg", "jpg", "png")), "audio": "wav", "video": "mp4"}
        self._iso = rng.random() < 0.7
        self._makers: dict[str, Callable[[], str]] = {
            "city": lambda: str(self._city),
            "country": lambda: str(self._country),
            "home": self._home,
            "date": self._date,
            "weekday": lambda: self.pick(_WORKING_DAYS),
            "time": lambda: f"{6 + self.below(16):02d}:{self.pick(('00', '15', '30', '45'))}",
            "person": lambda: str(self.pick(self._world["persons"])),
            "woman": lambda: str(self.pick(self._world["women"])),
            "man": lambda: str(self.pick(self._world["men"])),
            "town": self._home,
            "surname": lambda: str(self.pick(self._world["surnames"])),
            "street": lambda: f"{1 + self.below(98)} {self.pick(self._world['streets'])}",
            "amount": lambda: f"{5 * (2 + self.below(190))} {self.pick(('euros', 'dollars', 'pounds'))}",
            "shares": lambda: str(5 * (1 + self.below(30))),
            "operation_verb": lambda: self.pick(_OPERATIONS),
            "email": self._email,
            "phone": self._phone,
            "document": lambda: str(self.pick(self._world["documents"])),
            "user": lambda: str(self.pick(self._world["user names"])),
            "identifier": lambda: (
                f"{self.pick('ABCDEFGHKLMNPRST')}{self.pick('XRTQW')}-{1000 + self.below(9000)}"
            ),
            "url": lambda: self.url("page"),
            "url_page": lambda: self.url("page"),
            "image file": lambda: self.file("image"),
            "audio file": lambda: self.file("audio"),
            "video file": lambda: self.file("video"),
            "topic": lambda: str(self._topic["name"]),
            "topic_query": lambda: str(self.pick(self._topic["queries"])),
            "query": lambda: str(self.pick(self._topic["queries"])),
            "fact": self._fact,
            "draft": lambda: self._wrong(self._fact()),
            "praise": lambda: self.fill(self.pick(self._world["praise"])),
            "complaint": lambda: self.fill(self.pick(self._world["complaints"])),
        }

    def below(self, limit: int) -> int:
        """A whole number from 0 to `limit` - 1."""
        return int(self.rng.random() * limit)

    def pick(self, items: Sequence[Item]) -> Item:
        return items[int(self.rng.random() * len(items))]

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        result = list(items)
        self.rng.shuffle(result)
        return result

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def field(self, name: str) -> str:
        """A value of a field: drawn, or that of the topic."""
        maker = self._makers.get(name)
        if maker is not None:
            return maker()
        return str(self._topic[name])

    def fill(self, template: str) -> str:
        """The template with a value for each `{field}`, which is marked as used."""

        def replace(match: re.Match[str]) -> str:
            self.used.add(match.group(1))
            return self.field(match.group(1))

        return SLOT.sub(replace, template)

    def fresh(self, make: Callable[[], str], *, attempts: int = 12) -> str:
        """A value that overlaps no literal of this request, unless `attempts` draws find none."""
        value, home = make(), self._topic
        for attempt in range(attempts):
            if all(value not in other and other not in value for other in self.literals):
                break
            if attempt >= attempts // 2:  # the topic is exhausted: borrow from another
                self._topic = self.pick(read_list("topics"))
                self._facts = self.shuffled(self._topic["facts"])
            value = make()
        if self._topic is not home:
            self._topic, self._facts = home, self.shuffled(home["facts"])
        self.literals.append(value)
        return value

    def file(self, medium: str, names: str | None = None) -> str:
        """The next file of a medium: `example.jpg`, then others from the list `names` or the medium's."""
        number, suffix = self._files[medium], self._suffix[medium]
        self._files[medium] = number + 1
        if number == 0:
            return f"example.{suffix}"
        if number == 1 and self.chance(0.4):
            return f"example2.{suffix}"
        return f"{self.pick(self._world['extra files'][names or medium])}.{suffix}"

    def url(self, medium: str) -> str:
        """An address on the example site."""
        slug = self.pick(self._world["slugs"])
        subject = "-".join(re.findall(r"[a-z]+", str(self._topic["name"]).lower())[:2])
        ending = {"image": f".{self._suffix['image']}", "audio": ".wav", "video": ".mp4"}.get(medium, "")
        return f"https://www.example.com/{subject}/{slug}{ending}"

    def _fact(self) -> str:
        fact: str = self._facts.pop(0)
        self._facts.append(fact)
        return fact

    def _wrong(self, sentence: str) -> str:
        for right, wrong in map(str.split, _MISTAKES.split(",")):
            if f" {right} " in sentence:
                return sentence.replace(f" {right} ", f" {wrong} ", 1)
        return sentence[0].lower() + sentence[1:]

    def _home(self) -> str:
        cities = self._world["cities"]
        city = self.pick(cities)[0]
        while city == self._city:
            city = self.pick(cities)[0]
        return str(city)

    def _date(self) -> str:
        # Most dates of a request are the same day, the others up to nine days later.
        day = self._day + timedelta(days=0 if self.chance(0.6) else 1 + self.below(9))
        return day.isoformat() if self._iso else f"{day.day} {MONTHS[day.month - 1].capitalize()} {day.year}"

    def _email(self) -> str:
        name, domain = self.pick(self._world["persons"]), self.pick(self._world["domains"])
        surname = self.pick(self._world["surnames"])
        return f"{name}.{surname}@{domain}".lower() if self.chance(0.6) else f"{name}@{domain}".lower()

    def _phone(self) -> str:
        pattern = str(self.pick(self._world["dial"]))
        for digits in (2, 2, 3, 4):
            number = str(self.below(10**digits)).zfill(digits)
            pattern = pattern.replace(f"{{n{digits}}}", number, 1)
        return pattern


def value_of(kind: str, story: Story) -> str:
    """A new value of a kind, coherent with the story."""
    entry = read_list("kinds")[kind]
    if "from" not in entry:
        return story.fresh(lambda: story.fill(story.pick(entry["values"])))
    name = str(entry["from"])
    if kind not in ("city", "date", "topic", "country"):
        return story.fresh(lambda: _field(name, story))
    value = _field(name, story)
    if value not in story.literals:
        story.literals.append(value)
    return value


def _field(name: str, story: Story) -> str:
    story.used.add(name)
    return story.field(name)


def role_value(role: str, story: Story) -> str:
    """A new literal for the role of a resource input."""
    entry = read_list("roles")[role]
    if "file" in entry:
        return story.fresh(lambda: story.file(entry["file"], entry.get("names")))
    if "url" in entry:
        return story.fresh(lambda: story.url(entry["url"]))
    return story.fresh(lambda: story.fill(story.pick(entry["values"])))
