"""One call in words: a verb phrase in which values have their places, and sentences for those that have none.

A value goes where a person would put it: behind the noun that it names ("cancel booking BK-2041"), behind a
preposition ("from 2026-05-14 to 2026-05-16", "for 2 guests"), else "with the priority 'high'"; what is too
much for one sentence follows in the next ("The note is 'Call first'.").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from toolassay.english.plurals import is_plural, plural, singular
from toolassay.english.verb_forms import base_of, can_be, gerund, participle
from toolassay.english.vocabulary import items, pairs, words
from toolassay.offline.fed_arguments import FedArgument
from toolassay.offline.own_tools.purpose import Purpose
from toolassay.offline.own_tools.slots import NAMING_WORDS, PREPOSITIONS, Slot, name_words
from toolassay.offline.writer.english import joined, with_article
from toolassay.output_paths import EACH, Part

_DETERMINERS = words("determiners")
_CONJUNCTIONS = words("ends of noun phrases")
# Adjectives that say no more than that there is one: "a specific booking".
_EMPTY = words("empty adjectives")
_MAKING = words("making verbs")
_FINDING = words("finding verbs")
_SENDING = words("sending verbs")
_AROUND = words("counted with for")
_UNITS = words("units")
# "the room number 214", where other numbers are "a duration of 30".
_NUMBERED = words("numbered")
_ADVERBIAL = {
    "sort": "sorted",
    "order": "ordered",
    "group": "grouped",
    "filter": "filtered",
    "limit": "limited",
}
_PAIRS = [pair.split() for pair in items("pairs of names")]
_WHEN = frozenset({"date", "moment", "time"})
# "due_before" ends with one, and so does "sample_taken_at"; "sort_of" does not.
_TRAILING = frozenset(["by", "to", "from", "at", "on", "in", "until", "since", "before", "after", "within"])
_WITHOUT_OBJECT = words("verbs without object")
# What a value is called whose name is a preposition: "the start" for "from".
_NOUNS_OF_PREPOSITIONS = {
    **dict.fromkeys(("city", "country", "place"), pairs("prepositions of places")),
    **dict.fromkeys(("person", "email", "phone"), pairs("prepositions of people")),
}
_NOUNS_OF_OTHERS = pairs("names of prepositions")
# A parameter called "any".
_NO_NOUNS = _DETERMINERS | words("small words")
_ENDS_OF_A_WAY = {"from": "source", "to": "target"}
# "a prescription with one or more lines": the number follows from the values.
_ANY_NUMBER = re.compile(r"\b(?:one|a) or (?:more|several|multiple) ")
_MEASURES = frozenset({"money", "number"})
_NAMED = words("named by value")
_LISTING = frozenset({"list", "search", "find", "show", "get", "look"})
_MOST_WORDS = 30  # of a verb phrase before its details get a sentence of their own
_MOST_DETAILS = 3  # in one sentence
# "get the artist's top tracks", "get the album tracks"; not "get the tracks".
_OWNED = re.compile(
    r"(?P<verb>[a-z]+) (?:the |an? )?(?:(?P<owner>[A-Za-z]+)['’]s|(?P<modifier>[a-z]+)) (?P<rest>[a-z ]+)$"
)
_COUNTS = {2: "two", 3: "three", 4: "four", 5: "five"}
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


class Source(NamedTuple):
    """An earlier call that feeds this one.

    Attributes:
        purpose: What its tool does.
        number: Its place in the plan, from 0.
        is_previous: Whether it is the call before this one.
        others: What the other earlier calls do.
    """

    purpose: Purpose
    number: int
    is_previous: bool
    others: tuple[str, ...] = ()

    def alone_has(self, noun: str) -> bool:
        """Whether no other earlier call is about such a thing, so that "the order" is clear."""
        last = noun.split()[-1].lower()
        forms = {last, plural(last)}
        return last not in _COLLECTIONS and not any(
            forms & set(re.findall(r"[\w'-]+", other.lower())) for other in self.others
        )


@dataclass
class CallText:
    """A call in words.

    Attributes:
        action: An imperative verb phrase, without a full stop.
        details: Sentences that follow it.
        is_led: Whether a value of an earlier call is mentioned, so that the order is clear without a word.
    """

    action: str
    details: list[str] = field(default_factory=list)
    is_led: bool = False


def call_text(
    purpose: Purpose, slots: Sequence[Slot], source_of: Callable[[FedArgument], Source]
) -> CallText:
    """A call in words; every `mention` of a slot occurs in the result.

    Args:
        purpose: What the tool does.
        slots: Its values.
        source_of: The earlier call that feeds an argument.
    """
    return _CallWriter(purpose, source_of).write(slots)


class _CallWriter:
    def __init__(self, purpose: Purpose, source_of: Callable[[FedArgument], Source]) -> None:
        self.purpose = purpose
        self.source_of = source_of
        self.text = purpose.imperative
        self.tail: list[str] = []
        self.named: dict[str, str] = {}  # things in the text that have their values
        self.about: dict[str, list[str]] = {}  # things behind "for", "to" and "from"

    def write(self, slots: Sequence[Slot]) -> CallText:
        self._count_items([slot.group for slot in slots if slot.group])
        single = [slot for slot in slots if not slot.group]
        left = self._pairs(self._amounts(single))
        left = [slot for slot in left if not self._names_a_noun(slot)]
        left = [slot for slot in left if not self._has_place(slot)]
        self.tail = [*(f"{joint} {joined(things)}" for joint, things in self.about.items()), *self.tail]
        details = self._with(left)
        details += _item_sentences([slot for slot in slots if slot.group], self._origin)
        action = " ".join([self.text, *self.tail])
        return CallText(re.sub(r"\s+", " ", action).strip(), details, any(slot.fed for slot in slots))

    def _count_items(self, groups: Sequence[tuple[Part, ...]]) -> None:
        """Say how many things there are: "create multiple entities" with one item is "create an entity"."""
        self.text = _ANY_NUMBER.sub("", self.text)
        for name in dict.fromkeys(group[0] for group in groups if len(group) == 2):
            number = len({group for group in groups if group[0] == name})
            place = _noun_phrase(name_words(str(name)) or ("item",), self.text)
            if place is None or not is_plural(place.noun):
                continue
            noun = with_article(singular(place.noun)) if number == 1 else f"{_COUNTS[number]} {place.noun}"
            self.text = f"{self.text[: place.start]}{noun}{self.text[place.end :]}"

    # Values that belong together.

    def _amounts(self, slots: list[Slot]) -> list[Slot]:
        """An amount and its only currency as one value: "250 EUR"."""
        money = [slot for slot in slots if slot.kind == "money" and slot.count == 1 and not slot.fed]
        currency = [slot for slot in slots if slot.kind == "currency" and slot.count == 1 and not slot.fed]
        if len(money) != 1 or len(currency) != 1:
            return slots
        both = replace(money[0], mention=f"{money[0].mention} {currency[0].mention}")
        return [both if slot is money[0] else slot for slot in slots if slot is not currency[0]]

    def _pairs(self, slots: list[Slot]) -> list[Slot]:
        """State starts and ends as "from … to …"."""
        left = list(slots)
        for first in slots:
            for second in slots:
                if first not in left or second not in left or first.fed or second.fed:
                    continue
                what = _pair(first, second)
                if what is None or re.search(r"\b(?:from|to)\b", " ".join([self.text, *self.tail])):
                    continue
                start, end = what
                self.text = re.sub(
                    r" between [\w ]+$", "", self.text
                )  # "convert the time between time zones"
                self.tail.append(start.format(first.mention) + end.format(second.mention))
                left = [slot for slot in left if slot is not first and slot is not second]
        return left

    # Values that name a thing.

    def _names_a_noun(self, slot: Slot) -> bool:
        """Put the value behind the noun that it names: "a booking" becomes "booking BK-2041"."""
        if not self.purpose.is_certain or slot.kind in ("text", "flag", "query"):
            return False
        if slot.kind == "choice":
            return self._names_a_means(slot)
        makes = self.purpose.verb in _MAKING
        place = None
        if self._owns_a_noun(slot):
            return True
        if slot.words == ("path",) and (place := _noun_phrase(("path",), self.text)):
            pass  # "all files in a path"
        elif slot.thing != slot.words and slot.thing:
            place = _noun_phrase(slot.thing, self.text)
        elif slot.is_name or slot.kind == "path":
            names = () if makes or slot.words[-1:] == ("title",) else self._innermost(slot)
            place = next(filter(None, (_noun_phrase((name,), self.text) for name in names)), None)
        elif slot.fed or slot.kind in _NAMED or slot.kind in _WHEN | _MEASURES:
            place = _noun_phrase(slot.words, self.text)
        if place is not None and slot.fed and slot.count == 1 and not slot.thing and is_plural(place.noun):
            return False  # "the changes made" is not what a path names
        if place is None or (makes and place.noun.split()[-1] == self.purpose.head):
            return False
        if (
            self.purpose.verb in ("list", "search")
            and slot.count == 1
            and place.noun.split()[-1] == self.purpose.head
        ):
            return False  # "list the batches", but not "list batch BT-4158"
        noun = place.noun
        if slot.fed is not None:
            mention = self._fed_noun(singular(noun), slot)
        else:
            noun = singular(noun) if slot.count == 1 else plural(noun)
            is_bare = slot.kind in ("integer", "code") and slot.count == 1
            mention = f"{'' if is_bare else 'the '}{noun} {slot.mention}"
            if slot.words == ("path",) and noun == "path":
                mention = slot.mention
            if slot.kind in _MEASURES and not is_bare:
                mention = slot.mention if " " in slot.mention else f"the {noun} {slot.mention}"
        if (head := noun.split()[-1]) in self.named:
            return self.named[head] == mention
        self.named[head] = mention
        self.text = f"{self.text[: place.start]}{mention}{self.text[place.end :]}"
        return True

    def _names_a_means(self, slot: Slot) -> bool:
        """Put a choice where the action speaks of it: "with a carrier" becomes "with the carrier 'DHL'"."""
        place = _noun_phrase(slot.words, self.text)
        if place is None or slot.count > 1 or not re.search(r"\b(?:with|by|via) $", self.text[: place.start]):
            return False
        mention = f"the {place.noun} {slot.mention}"
        self.text = f"{self.text[: place.start]}{mention}{self.text[place.end :]}"
        return True

    def _owns_a_noun(self, slot: Slot) -> bool:
        """State the owner: "the artist's tracks" and "the artist tracks" are "the tracks of the artist …"."""
        owned = _OWNED.match(self.text)
        if owned is None or slot.count > 1 or not slot.is_name:
            return False
        verb, owner, rest = owned["verb"], owned["owner"] or owned["modifier"], owned["rest"]
        if slot.thing not in ((), (owner.lower(),)) or (
            owned["modifier"]
            and (slot.thing or " " in rest or not is_plural(rest) or can_be(owner) != {"NOUN"})
        ):
            return False
        if slot.fed is not None:
            mention = self._fed_noun(owner.lower(), slot)
        else:
            mention = f"{'' if slot.kind in ('integer', 'code') else 'the '}{owner.lower()} {slot.mention}"
        self.text = f"{verb} the {rest} of {mention}"
        return True

    def _innermost(self, slot: Slot) -> list[str]:
        """The nouns that a bare "id", "name" or "path" may name, the likeliest first."""
        if slot.kind == "path":
            last = slot.mention.strip("'\"").rsplit("/", 1)[-1]
            if "." in last:
                return ["file", "document"]
            return ["directory", "folder", *(["file"] if re.search(r"\bfile\b", self.text) else [])]
        words = self.purpose.object.rsplit(" of ", 1)[-1].split()
        return [word for word in words[-1:] if not _is_participle(word)]  # "the changes made"

    def _fed_noun(self, noun: str, slot: Slot) -> str:
        """The thing that an earlier call gives: "that invoice", "the first movie found"."""
        assert slot.fed is not None
        source = self.source_of(slot.fed)
        noun = noun.removeprefix("first ")
        verb, is_whole = source.purpose.verb, not slot.fed.path
        is_found = verb in _FINDING or (is_whole and verb in _LISTING and is_plural(source.purpose.head))
        found = " found" if is_found else ""
        if EACH in slot.fed.path:
            text = f"all of the {plural(noun)}{found}"
        elif any(isinstance(part, int) for part in slot.fed.path):
            text = f"the first {noun}{found}"
        else:
            text = (
                f"{'that' if source.is_previous and not found else 'the'} {noun}{found if is_whole else ''}"
            )
        if source.is_previous or source.alone_has(noun):
            return text
        return f"{text} from the {_ordinal(source.number)} step"

    def _origin(self, fed: FedArgument) -> str:
        """The result that an argument comes from: "that invoice", "the first result"."""
        source = self.source_of(fed)
        slot = Slot(("result",), "", "code", fed=fed)
        return self._fed_noun(_item_of(fed) or singular(source.purpose.result) or "result", slot)

    # Values behind a preposition.

    def _has_place(self, slot: Slot) -> bool:
        if slot.fed is not None:
            return self._has_fed_place(slot)
        text = self._placed(slot)
        if text is None:
            return False
        if text:
            self.tail.append(text)
        return True

    def _has_fed_place(self, slot: Slot) -> bool:
        assert slot.fed is not None
        thing = slot.thing if slot.is_name else ()
        if not thing:
            return False
        mention = self._fed_noun(singular(" ".join(thing)), slot)
        if mention not in self.named.values():  # the owner and the name of "the first repository"
            self.about.setdefault(self._joint, []).append(mention)
        return True

    def _placed(self, slot: Slot) -> str | None:
        words, mention, verb = slot.words, slot.mention, self.purpose.verb
        whole = " ".join([self.text, *self.tail])
        name = slot.name
        if slot.kind == "flag":
            return _flag(slot)
        if words[-1] in _TRAILING and len(words) > 1:
            if len(words) > 2 and _is_participle(words[-2]):
                return None  # "sample taken at"
            if words[0] in _WITHOUT_OBJECT:
                return " ".join(["that", *words, mention])
            first = words[0]
            if len(words) == 2 and words[1] in ("to", "by", "at") and base_of(first)[1] == "base":
                # "send_to" is "sent to"; a start and an end are nouns.
                first = first if first in ("start", "end") else participle(first)
            return " ".join([_ADVERBIAL.get(words[0], first), *words[1:], mention])
        if (
            words[0] in PREPOSITIONS
            and (len(words) == 1 or slot.kind in _WHEN)
            and f" {words[0]} " not in whole
        ):
            return f"{words[0]} {mention}"
        if (
            name in ("query", "search query", "keyword", "keywords", "search term", "search")
            and slot.count == 1
        ):
            if self.text.endswith((" up", " out")):
                return mention  # "look up 'Vienna'"
            return (
                f"for {mention}"
                if verb in _FINDING and not re.search(r"\bfor\b", whole)
                else f"matching {mention}"
            )
        verb_of_name, form = base_of(words[-1])
        if verb_of_name and form == "third" and "NOUN" not in can_be(words[-1]):
            return " ".join([*words[:-1], gerund(verb_of_name), mention])  # "not_contains"
        if (
            slot.kind == "path"
            and slot.count == 1
            and name in ("path", "directory", "folder", "directory path")
        ):
            return f"{'in' if verb in _LISTING and ' in ' not in whole else 'at'} {mention}"
        if (
            slot.kind == "code"
            and len(words) == 1
            and words[0] not in NAMING_WORDS | PREPOSITIONS
            and slot.count == 1
        ):
            self.about.setdefault(self._joint, []).append(f"{words[0]} {mention}")
            return ""
        if slot.kind == "date" and name in ("date", "day") and " on " not in whole:
            return f"on {mention}"
        if slot.kind in ("time", "moment") and name in ("time", "date time", "timestamp", "datetime"):
            return f"at {mention}"
        if slot.kind in ("city", "country") and name in ("city", "location", "place", "country", "region"):
            return f"in {mention}" if " in " not in whole else f"for {mention}"
        if (
            slot.kind == "email"
            and verb in _SENDING
            and name in ("email", "recipient", "email address", "recipients")
        ):
            return f"to {mention}" if " to " not in whole else None
        if slot.kind in ("integer", "number", "money"):
            return self._number(slot, whole)
        if name in ("name", "title") and verb in _MAKING and slot.count == 1 and self.purpose.is_certain:
            return f"{'named' if name == 'name' else 'titled'} {mention}" if self.purpose.object else None
        if (
            slot.is_name
            and slot.thing
            and name != "file name"
            and words[-1] in ("ID", "IDs", "name", "key", "slug", "number")
        ):
            thing = " ".join(slot.thing)
            if self.purpose.is_certain and thing not in whole and words[-1] != "key" and slot.count == 1:
                the = "" if slot.kind in ("integer", "code") else "the "
                self.about.setdefault(self._joint, []).append(f"{the}{singular(thing)} {mention}")
                return ""
        return None

    @property
    def _joint(self) -> str:
        """The preposition before the thing that an action is about: "add a comment to that issue"."""
        if self.purpose.verb in ("add", "attach", "append", "assign") and not re.search(r" to ", self.text):
            return "to"
        return (
            "from"
            if self.purpose.verb in ("remove", "detach", "unassign") and " from " not in self.text
            else "for"
        )

    def _number(self, slot: Slot, whole: str) -> str | None:
        words, mention = slot.words, slot.mention
        last = words[-1].lower()
        if slot.count > 1:
            return None
        if last in _UNITS and len(words) > 2 and words[-2] in _TRAILING:
            return " ".join([*words[:-1], mention, words[-1]])  # "due_within_days"
        if last in _UNITS and len(words) == 1:
            return f"{'for' if last in _AROUND else 'with a value of'} {mention} {last}"
        if last in _UNITS and len(words) > 1:
            return f"with {with_article(' '.join(words[:-1]))} of {mention} {words[-1]}"
        if (
            is_plural(last)
            and slot.kind in ("integer", "number")
            and mention.isdigit()
            and last not in ("status", "address")
            and last not in _UNITS | {"IDs"}
        ):
            noun = slot.name if mention != "1" else " ".join([*words[:-1], singular(words[-1])])
            return f"{'for' if last in _AROUND else 'with'} {mention} {noun}"
        if last in _AROUND and slot.kind == "integer":
            return f"for {mention} {slot.name if mention != '1' else singular(slot.name)}"
        return None

    # The rest.

    def _with(self, left: list[Slot]) -> list[str]:
        """Put up to two values behind "with"; the sentences for others."""
        fed: dict[str, list[Slot]] = {}
        for slot in left:
            if slot.fed is not None:
                fed.setdefault(self._origin(slot.fed), []).append(slot)
        parts = [_from(slots, origin) for origin, slots in fed.items()]
        own = [slot for slot in left if slot.fed is None]
        whole = " ".join([self.text, *self.tail])
        words = len(whole.split()) + sum(len(slot.mention.split()) + 3 for slot in own)
        if len(own) + len(parts) <= 2 and words <= _MOST_WORDS:
            told = [slot for slot in own if slot.words[-1] in _TRAILING and len(slot.words) > 1]
            parts = [_described(slot) for slot in own if slot not in told] + parts
            own = told
        if parts:
            self.tail.append(f"{'using' if re.search(r' with ', whole) else 'with'} {joined(parts)}")
        return _sentences([_clause(slot) for slot in own])


def _from(slots: Sequence[Slot], origin: str) -> str:
    """Arguments that come from one thing: "the ID from the first team"; the team itself: "the first team"."""
    nouns = re.split(r" (?:from|found|in) ", origin)[0].split()
    other = [slot for slot in slots if slot.words[-1] != nouns[-1]]
    if not other:
        return origin
    parts = joined([f"the {slot.name}" for slot in other])
    # The thing itself is one of the values, too.
    return f"{parts} from {origin}" if len(other) == len(slots) else f"{origin} and {parts} from it"


class _NounPlace(NamedTuple):
    start: int
    end: int
    noun: str


def _noun_phrase(thing: Sequence[str], text: str) -> _NounPlace | None:
    """Where a text has a thing as a noun phrase of its own, not as part of a compound ("movie reviews")."""
    words = list(re.finditer(r"[\w'-]+", text))
    wanted = [word.lower() for word in thing]
    for at in range(1, len(words) - len(wanted) + 1):
        row = [words[at + n][0].lower() for n in range(len(wanted))]
        if words[at - 1][0].lower() in ("and", "or"):
            continue
        if row[:-1] != wanted[:-1] or row[-1] not in (wanted[-1], plural(wanted[-1]), singular(wanted[-1])):
            continue
        last = at + len(wanted) - 1
        after = words[last + 1][0].lower() if last + 1 < len(words) else ""
        gap = text[words[last].end() : words[last + 1].start()] if after else ""
        is_joined = after in ("and", "or") and not re.match(
            r"\s+(?:and|or) (?:their|its)\b", text[words[last].end() :]
        )
        if after and gap == " " and (is_joined or after not in PREPOSITIONS | _CONJUNCTIONS):
            continue
        first = at
        while (
            first > 1 and at - first < 3 and words[first - 1][0].lower() not in PREPOSITIONS | _CONJUNCTIONS
        ):
            first -= 1
            if words[first][0].lower() in _DETERMINERS:
                break
        kept = [words[n][0] for n in range(first, at)]
        kept = [word for word in kept if word.lower() not in _DETERMINERS | _EMPTY]
        noun = " ".join([*kept, *(words[at + n][0] for n in range(len(wanted)))])
        return _NounPlace(words[first].start(), words[last].end(), noun)
    return None


def _pair(first: Slot, second: Slot) -> tuple[str, str] | None:
    """How to state two values as a range or a way; None if they are no pair."""
    for start, end in _PAIRS:
        if start not in first.words or end not in second.words or first.count + second.count > 2:
            continue
        same = [word for word in first.words if word != start] == [
            word for word in second.words if word != end
        ]
        if not same or (first.kind != second.kind and first.kind in _WHEN):
            continue
        if (start, end) in (("left", "right"), ("first", "last"), ("old", "new")) or first.kind in (
            "integer",
            "number",
        ):
            return None
        return "from {}", " to {}"
    if (
        first.words[0] == "minimum"
        and second.words[0] == "maximum"
        and first.words[1:] == second.words[1:] != ()
    ):
        return f"with {with_article(' '.join(first.words[1:]))} between {{}}", " and {}"
    return None


def _flag(slot: Slot) -> str:
    """A switch in words: "including drafts", "without drafts", "marked as urgent"."""
    is_on, words = slot.mention.casefold() == "true", slot.words
    if words[0] in ("include", "with", "show") and len(words) > 1 and is_plural(words[-1]):
        return f"{'including' if is_on else 'without'} {' '.join(words[1:])}"
    if len(words) == 1 and "ADJ" in can_be(words[0]):
        return f"{'marked' if is_on else 'not marked'} as {words[0]}"
    return f"with the setting '{slot.name}' turned {'on' if is_on else 'off'}"


def _described(slot: Slot) -> str:
    """A value as part of a list behind "with": "the priority 'high'", "a limit of 10"."""
    if slot.kind in ("integer", "number", "money") and slot.count == 1 and not set(slot.words) & _NUMBERED:
        return f"{with_article(_noun(slot))} of {slot.mention}"
    return f"the {_noun(slot)} {slot.mention}"


def _noun(slot: Slot) -> str:
    """The name of a slot as a noun phrase, in the plural for several values."""
    *before, last = slot.words
    if not before and last in PREPOSITIONS:
        return _NOUNS_OF_PREPOSITIONS.get(slot.kind, {}).get(last, _NOUNS_OF_OTHERS.get(last, "value"))
    if last.lower() in _NO_NOUNS and last not in NAMING_WORDS:
        last = "value"
    if before and before[0] in _ENDS_OF_A_WAY and slot.kind not in _WHEN:  # "from_bin"
        before[0] = _ENDS_OF_A_WAY[before[0]]
    elif before and before[0] in PREPOSITIONS:  # "for_name"
        before = before[1:]
    if slot.count > 1 and not is_plural(last) and not last.endswith("s"):
        last = plural(last)
    return " ".join([*before, last])


def _is_participle(word: str) -> bool:
    """Whether a word is only a form of a verb, and no base form: "taken"."""
    return can_be(word.lower()) == {"VERB"} and base_of(word.lower())[0] is None


def _clause(slot: Slot) -> str:
    if slot.words[-1] in _TRAILING and len(slot.words) > 2 and _is_participle(slot.words[-2]):
        *before, participle, joint = slot.words  # "the sample was taken at 10:30"
        was = "were" if is_plural(before[-1]) else "was"
        return f"the {' '.join(before)} {was} {participle} {joint} {slot.mention}"
    return f"the {_noun(slot)} {'are' if slot.is_plural or slot.count > 1 else 'is'} {slot.mention}"


def _part(slot: Slot) -> str:
    """A value of an object: "the item 'Tea'", "a dose of 7.5 mg", "3 times per day"."""
    *before, last = slot.words
    if slot.count == 1 and slot.kind in ("integer", "number"):
        if last.lower() in _UNITS:
            return f"{with_article(' '.join(before))} of {slot.mention} {last}" if before else _counted(slot)
        if is_plural(slot.words[0]) and slot.kind == "integer":
            return _counted(slot)
    return f"the {_noun(slot)} {slot.mention}"


def _counted(slot: Slot) -> str:
    """A number of things: "5 days", "1 time per day"."""
    first = singular(slot.words[0]) if slot.mention == "1" else slot.words[0]
    return " ".join([slot.mention, first, *slot.words[1:]])


def _sentences(clauses: Sequence[str]) -> list[str]:
    """Clauses in sentences of up to three."""
    number = -(-len(clauses) // _MOST_DETAILS)
    size = -(-len(clauses) // number) if number else 1
    groups = [clauses[start : start + size] for start in range(0, len(clauses), size)]
    texts = [joined(list(group)) for group in groups]
    return [f"{text[0].upper()}{text[1:]}." for text in texts]


def _item_sentences(slots: Sequence[Slot], origin: Callable[[FedArgument], str]) -> list[str]:
    """A sentence for each object in a list: "The first line has the item 'Tea' and the quantity 2."."""
    groups: dict[tuple[object, ...], list[Slot]] = {}
    for slot in slots:
        groups.setdefault(slot.group, []).append(slot)
    sizes: dict[tuple[object, ...], int] = {}
    for group in groups:
        sizes[group[:-1]] = sizes.get(group[:-1], 0) + 1
    sentences = []
    for group, members in groups.items():
        names = [part for part in group if isinstance(part, str)]
        noun = singular(" ".join(name_words(names[-1]) or ("item",))) if names else "item"
        if base_of(noun)[1] == "third":  # "edits", which the lexicon knows as a verb alone
            noun = base_of(noun)[0] or noun
        index = group[-1]
        which = f"{_ordinal(index)} {noun}" if isinstance(index, int) and sizes[group[:-1]] > 1 else noun
        ways = [slot for slot in members if slot.name in ("from", "to") and slot.fed is None]
        way = f" goes {' '.join(f'{slot.name} {slot.mention}' for slot in ways)}" if ways else ""
        parts = [
            _part(slot) if slot.fed is None else _from([slot], origin(slot.fed))
            for slot in members
            if slot not in ways
        ]
        has = f" has {joined(parts)}" if parts else ""
        sentences.append(f"The {which}{way}{' and' if way and has else ''}{has}.")
    return sentences


# Names of lists that do not say what is in them.
_COLLECTIONS = words("names of collections")


def _item_of(fed: FedArgument) -> str:
    """The thing in a list that an argument comes from: "entity" of `entities[0].name`; empty if unknown."""
    places = [n for n, part in enumerate(fed.path) if part == EACH or isinstance(part, int)]
    names = [str(fed.path[place - 1]) for place in places if place]
    # The innermost list that says what is in it: "track" of `albums[0].tracks.items[0].id`.
    if names and singular(names[-1].casefold()) in _COLLECTIONS | {"item"} and places[-1] > 1:
        names.append(str(fed.path[places[-1] - 2]))
    found = singular(" ".join(name_words(names[-1]))) if names else ""
    return "" if not found or found in _COLLECTIONS or not found.replace(" ", "").isalpha() else found


def _ordinal(number: int) -> str:
    return _ORDINALS[number] if number < len(_ORDINALS) else f"{number + 1}th"
