"""Repeated words, marks of punctuation, and sentences that break off."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from toolassay.gates.language.english_forms import (
    BE_FORMS,
    DETERMINERS,
    NUMBER_WORDS,
    OBJECTS,
    QUESTION_WORDS,
    SUBJECTS,
    is_plural,
)
from toolassay.gates.language.masked_text import Span, quotation_spans, whole_text
from toolassay.gates.language.tagged_words import TaggedText
from toolassay.text_values.vocabulary import word_set

# Doubled words that are English: "that that", "had had", "turn it on on Monday", "very very", "bye bye".
_DOUBLED: Final = (
    word_set(
        "that had so very really much many no yes ha bye knock on off up out yo hush cha tuk pom chop choo "
        "boo la na yum bora pago walla duran"
    )
    | NUMBER_WORDS
    | {"one", "oh", "zero"}
)


def repeated_words(text: TaggedText) -> Iterator[Span]:
    """A word that directly follows itself."""
    for place in range(1, len(text.words)):
        word, before = text.words[place], text.words[place - 1]
        if not word.low or word.low != before.low or not word.follows or word.low.isdigit():
            continue
        if word.low in _DOUBLED or (len(word.low) == 1 and word.low not in "ai"):
            continue
        # "Sotto Sotto" and "in In Progress" are names; "The the" is not.
        if word.text[0].islower() or before.opens_sentence:
            yield before.start, word.end


def repeated_phrases(text: TaggedText) -> Iterator[Span]:
    """Two to four words that are said twice in a row."""
    words = text.words
    for place in range(2, len(words) - 1):
        for length in (2, 3, 4):
            start, end = place - length, place + length
            if start < 0 or end > len(words) or words[start].low != words[place].low:
                continue
            phrase = [word.low for word in words[start:place]]
            if phrase != [word.low for word in words[place:end]] or len(set(phrase)) < 2:
                continue
            known = all(low and not low.isdigit() and low not in NUMBER_WORDS for low in phrase)
            if known and "and" not in phrase and all(word.follows for word in words[start + 1 : end]):
                yield words[start].start, words[end - 1].end


# ",,", ", ,", " ,", "?.", ". ,", "pasta..": not "...", "?!", "p.m.,", "etc.," and " .jpg".
_DOUBLE_MARKS: Final = re.compile(
    r"""
      [,;:]\s{0,3}[,;](?!\w)
    | (?<=\w),\s{0,3}[.?!](?=\s|$)
    | (?<=[\w)'"])\.\.(?=\s|$)
    | (?<=\s)[.!?],
    | (?<=[a-z)])\?\.(?=\s|$)
    | (?<=[a-z])\ [,;](?=\s) | (?<=[a-z])\ [.?](?=$)
    """,
    re.VERBOSE,
)
# What every clash has, in a test that most texts fail at once: "a ,", ",.", "..".
_MAY_CLASH: Final = re.compile(r"[\s,;:.?!]\s{0,3}[,;.?!]")
# Quotations and brackets with nothing inside: '""', "“ ”", "( )"; not "f()" and the marks of '"a" "b"'.
_EMPTY: Final = re.compile(
    r"""(?:(?<=\s)|^)(?:""|''|``|“\s?”|‘\s?’|«\s?»|\(\s?\)|\[\s?\])(?=[\s.,;:?!]|$)|(?:(?<=\s)|^)(?:"\s"|'\s')(?=[.,;?!]|$)"""
)


# What every empty one has: an opening mark, at most a blank, a closing one.
_MAY_BE_EMPTY: Final = re.compile(r"[\"'`“‘«(\[]\s?[\"'`”’»)\]]")


def double_marks(text: TaggedText) -> Iterator[Span]:
    """Marks of punctuation that never stand together, and blanks before a comma."""
    if _MAY_CLASH.search(text.masked.text) is None:
        return
    for match in _DOUBLE_MARKS.finditer(text.masked.text):
        yield max(0, match.start() - 1), match.end()


def empty_quotations(text: TaggedText) -> Iterator[Span]:
    """Quotations and brackets around nothing."""
    if _MAY_BE_EMPTY.search(text.masked.original) is None:
        return
    for match in _EMPTY.finditer(text.masked.original):
        yield match.span()


# What is no closing bracket: "a)", "12)", "iv)" and ":)"; "(see 12)" has its own opening one.
_ITEM: Final = re.compile(r"(?:^|[\s,;:.(])(?:\d{1,2}|[a-zA-Z]|[ivx]{1,4}|[:;]-?)$")
# What opens a quotation: " 'Anna"; not "guests' ", "'til" and "'90s".
_OPENS: Final = re.compile(
    r"(?<![\w'’])'(?=[^\W\d])(?!(?:til|em|tis|twas|cause|n|bout|round)\b)", re.IGNORECASE
)
# Inches: '15"', '27-inch 15" screen'.
_INCHES: Final = re.compile(r"\d\s?\"")


_PAIRS: Final = {pair: re.compile(rf"[{re.escape(pair)}]") for pair in ("()", "[]", "{}", "“”")}


def unbalanced_marks(text: TaggedText) -> Iterator[Span]:
    """Quotation marks and brackets of which the other one is missing."""
    plain = list(text.masked.original)
    inside = whole_text(text.masked.original)
    plain[: inside[0]] = " " * inside[0]
    plain[inside[1] :] = " " * (len(plain) - inside[1])
    for start, end in quotation_spans(text.masked.original):
        plain[start:end] = " " * (end - start)
    rest = _INCHES.sub(lambda match: " " * len(match.group()), "".join(plain))
    for (left, right), marks in _PAIRS.items():
        opened: list[int] = []
        for match in marks.finditer(rest):
            place = match.start()
            if match.group() == left:
                opened.append(place)
            elif opened:
                opened.pop()
            elif right != ")" or _ITEM.search(rest[max(0, place - 6) : place]) is None:
                yield max(0, place - 20), place + 1
        for place in opened[:1]:
            if left != "(" or rest[place - 1 : place] not in (":", ";"):
                yield place, place + 20
    opening = _OPENS.search(rest)
    for place in (rest.find('"'), opening.start() if opening else -1):
        if place >= 0:
            yield place, place + 20


# Words that no sentence ends with.
_NEVER_LAST: Final = DETERMINERS - {"a"} | word_set(
    "and or nor because whose than although unless whether via per"
)
# Prepositions that end a sentence only in questions, relative clauses and after infinitives.
_SELDOM_LAST: Final = word_set(
    "of from with for to at by in into as between during towards toward until since upon about including"
)
# Names that are one letter: "plan a.", "vitamin a."
_LETTERED: Final = word_set(
    "plan option vitamin type section group team class room gate company bank part point version item "
    "answer grade hall building block terminal side variable appendix figure exhibit level hepatitis"
)
_HEADS_OF_TO: Final = word_set("want need like wish try trying going have able")
# The end of a sentence: ". ", "?" at the very end; not the first full stop of "a.m."
_CLOSED: Final = re.compile(r"\s*[.?!]+['\")\]]*(?:\s|$)")


def broken_ends(text: TaggedText) -> Iterator[Span]:
    """Sentences whose last word needs another."""
    words, masked = text.words, text.masked.text
    start = 0
    for place, word in enumerate(words):
        if word.opens_sentence:
            start = place
        is_last = place + 1 == len(words)
        if not (is_last and not masked[word.end :].strip()) and _CLOSED.match(masked, word.end) is None:
            continue
        if place > start and word.low and word.text.islower() and _breaks_off(text, start, place):
            yield words[max(start, place - 2)].start, word.end
    end = len(masked.rstrip())
    if words and masked[words[-1].end : end].strip() in (",", ";", "&", ", and", "-"):
        yield words[-1].start, end


def _breaks_off(text: TaggedText, start: int, place: int) -> bool:
    word, before = text.words[place], text.previous(place)
    # A question word further back asks for something else: "who they are, and order me two packs of".
    clause = max(start, place - 10)
    lows = [other.low.split("'")[0] for other in text.words[clause : place + 1]]
    if word.low in _NEVER_LAST:
        return True
    if not before.text:
        return False
    if word.low == "a":
        return before.low not in _LETTERED and before.tag not in ("PROPN", "NUM") and not before.low.isdigit()
    if word.low == "then":
        return before.low == "and"
    if word.low in ("who", "when", "where", "which"):
        return before.tag == "NOUN"
    if word.low == "that":
        return before.tag == "NOUN" and is_plural(before)
    relative = any(
        text.words[at].low in ("that", "which") and text.previous(at).tag in ("NOUN", "PROPN", "DATA")
        for at in range(start + 1, place)
    )
    asks = relative or not QUESTION_WORDS.isdisjoint(lows[:-1]) or "that" in lows[:-1]
    if word.low in ("is", "are", "was", "were"):
        if "how" in [other.low for other in text.words[start:place]]:
            return False
        return before.low == "which" or not (
            asks or before.low in SUBJECTS or {"as", "than", "there"} & set(lows)
        )
    return word.low in _SELDOM_LAST and not asks and _dangles(text, clause, place, lows)


def _dangles(text: TaggedText, start: int, place: int, lows: list[str]) -> bool:
    """Whether a preposition at the end lacks its noun: not so in "a hotel I stayed at"."""
    low, before = text.words[place].low, text.previous(place)
    if low == "to" and (before.tag == "ADV" or before.low == "as"):
        return True
    if low == "to" and before.low in _HEADS_OF_TO:
        return not {"if", "when", "whenever", "unless", "as", "but", "not", "because", "don"} & set(lows)
    if before.low in OBJECTS:
        return low in ("at", "from", "for", "of", "by")  # "call me at"
    if before.low.endswith("'s") or before.low in ("only", "is", "are", "was"):
        return low in ("for", "from", "with", "of", "at", "by", "to")  # "it's for"
    if before.tag == "VERB" and low in ("for", "to", "of", "from", "with", "at"):
        infinitive = text.previous(place - 1).low == "to" and text.previous(place - 2).low not in _HEADS_OF_TO
        passive = any(word in BE_FORMS or word in ("it", "get") for word in lows)
        others = any(word in SUBJECTS for word in lows[1:])
        return not (infinitive or passive or others)  # "please help me apply for"
    if before.tag not in ("NOUN", "PROPN", "DATA", "NUM") and not before.low.isdigit():
        return False
    if low == "in" and text.previous(place - 1).low not in ("a", "an", "any") and before.tag != "PROPN":
        return text.previous(place - 2).low in (
            "a",
            "an",
            "any",
        )  # "a quiet hotel in", not "bring the coats in"
    for at in range(max(start + 1, place - 7), place):
        first, second = text.words[at - 1], text.words[at]
        if not second.follows:
            continue
        relative = second.low.split("'")[0] in SUBJECTS or second.low in DETERMINERS | {"this"}
        # "Order a cake for": a verb that opens a clause and is tagged as a noun.
        opens = at - 1 == start or text.at(at - 2).low in ("please", "and", "then") or not first.follows
        # "the class the table falls into", but not "I'd like a picture of": that has its object.
        opens = opens or any(word.low in DETERMINERS for word in text.words[at + 1 : place])
        if (
            relative
            and not opens
            and first.tag in ("NOUN", "PROPN", "DATA", "PRON")
            and first.low not in ("me", "us", "him", "them")
        ):
            return False  # "the class the table falls into", "tools you have access to"
        if (
            second.low == "to"
            and text.next(at).tag == "VERB"
            and first.tag in ("NOUN", "PRON")
            and first.low != "me"
        ):
            return False  # "someone to have lunch with"
    return True


# Prepositions that need a noun before "and": no particles, as in "log in and", nor "taken care of and".
_BEFORE_AND: Final = word_set("from with for at into in")


def broken_middles(text: TaggedText) -> Iterator[Span]:
    """A noun that is missing inside a sentence: "a train from and a taxi", "find the, please"."""
    for place in text.places_of(_BEFORE_AND):
        word, before, after = text.words[place], text.previous(place), text.next(place)
        joins = after.low in ("and", "or", "but") or (word.low == "in" and after.low == "for")
        # "a hotel in and"; not "search for and", "the check in and", "in and out".
        if (
            not joins
            or before.tag != "NOUN"
            or text.previous(place - 1).low not in ("a", "an", "any", "another")
        ):
            continue
        if text.next(place + 1).tag != "ADP" and text.next(place + 1).low not in ("against", "out"):
            yield word.start, after.end
    for place in text.places_of(DETERMINERS - {"a"}):
        word, after = text.words[place], text.at(place + 1)
        if word.text.islower() and after.gap.strip()[:1] in (",", ";") and text.previous(place).text:
            yield word.start, word.end + 1


# A sentence in lower case after another: "Book it. then go", "Sunny? take a hat"; not "Node.js" and "3.
# item".
_LOWER_START: Final = re.compile(r"(?<=[a-z)])([.?!])\s{1,3}([a-z]+)(?=[\s,])")
# Abbreviations that end in a full stop inside a sentence: "e.g. one", "p.m. on", "approx. ten"; not "room.
# on".
_ABBREVIATION: Final = re.compile(
    r"(?:^|[\s(.])(?:[a-z]|etc|vs|approx|ca|dr|mr|mrs|ms|st|no|inc|ltd|co|corp|jr|sr|bros|min|max|dept|est|fig|ave|blvd|rd"
    r"|apt|ext|tel|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun|prof|gen|rev|vol|temp|incl"
    r"|excl|avg|std|hrs?|mins?|secs?|resp|cf|al|viz|pp|nr|misc|tbsp|tsp|oz|lbs?|ft|sq|in|mi)$",
    re.IGNORECASE,
)


def lower_starts(text: TaggedText) -> Iterator[Span]:
    """Sentences after the first that start in lower case, in a text that otherwise has capitals."""
    masked = text.masked.text
    if masked[:1].islower() or " i " in masked:
        return
    for match in _LOWER_START.finditer(masked):
        stop = match.start(1)
        if match.group(1) == "." and _ABBREVIATION.search(masked[max(0, stop - 12) : stop]):
            continue
        if not text.masked.touches_data(match.start(2), match.end(2)):
            yield stop - 1, match.end(2)


# Two prepositions of which no verb before can own the first: "a table at in a restaurant".
_CLASHES: Final = frozenset(
    (first, second)
    for first, seconds in {
        "at": "in of to",
        "to": "for of with as",
        "by": "with",
        "of": "for of to with from",
        "in": "of at",
        "from": "to with of",
        "with": "of for to from",
        "for": "of",
        "into": "to of",
        "on": "of",
    }.items()
    for second in seconds.split()
)


def clashing_prepositions(text: TaggedText) -> Iterator[Span]:
    """Two prepositions in a row that share no noun."""
    asks = any(low in text.places for low in QUESTION_WORDS) or "that" in text.places
    for place in text.places_of(frozenset(first for first, _ in _CLASHES)):
        word, after, before = text.words[place], text.next(place), text.previous(place)
        if asks or (word.low, after.low) not in _CLASHES or not text.next(place + 1).text:
            continue
        if before.tag in ("NOUN", "PROPN") and not before.text.endswith("ing") and not _relative(text, place):
            yield word.start, after.end


def _relative(text: TaggedText, place: int) -> bool:
    near = text.words[max(0, place - 6) : place]
    return any(word.low.split("'")[0] in SUBJECTS for word in near[1:]) or any(
        word.low in BE_FORMS for word in near
    )
