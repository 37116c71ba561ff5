"""The rules: each finds one kind of defect in the tokens of a request, with an example of what it finds and not."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from toolassay.english.plurals import is_plural, plural
from toolassay.english.verb_forms import base_of, can_be, past_forms
from toolassay.english.vocabulary import words
from toolassay.gates.language.text import DATA, RequestText, Token

Sentence = Sequence[Token]

_PREPOSITIONS = words("prepositions") | words("further prepositions")
_DETERMINERS = frozenset(
    [
        "a",
        "an",
        "the",
        "my",
        "your",
        "our",
        "their",
        "its",
        "his",
        "this",
        "these",
        "that",
        "those",
        "every",
        "each",
    ]
)
_ARTICLES = frozenset({"a", "an", "the", "my", "your", "our", "their", "its", "his", "every", "each"})
_UNCOUNTED = words("uncounted")
_STOPS = frozenset(".!?,;:")
_BE = {"is": False, "was": False, "has": False, "are": True, "were": True, "have": True}
_MODALS = frozenset(["can", "could", "will", "would", "should", "must", "may", "might", "shall"])
_SUBJECTS = frozenset(["i", "you", "we", "they", "he", "she", "it"])


class LanguageRule(NamedTuple):
    """A rule.

    Attributes:
        kind: The kind of defect.
        name: What it finds.
        wrong: A request in which it finds something.
        right: A similar one in which it finds nothing.
        find: Yields what is wrong, in words of the request.
    """

    kind: str
    name: str
    wrong: str
    right: str
    find: Callable[[RequestText], Iterator[str]]


def _quoted(*tokens: Token) -> str:
    return "'" + " ".join("…" if token.text == DATA else token.text for token in tokens) + "'"


def _each(rule: Callable[[Sentence], Iterator[str]]) -> Callable[[RequestText], Iterator[str]]:
    def find(text: RequestText) -> Iterator[str]:
        for sentence in text.sentences:
            yield from rule(sentence)

    return find


def _at(sentence: Sentence, place: int) -> str:
    """The word at a place, in lower case; empty outside."""
    return sentence[place].word if 0 <= place < len(sentence) else ""


def _is_noun(word: str, *, only: bool = False) -> bool:
    kinds = can_be(word)
    return "NOUN" in kinds and (not only or kinds <= {"NOUN", "PROPN"})


def _is_only_verb(word: str) -> bool:
    return can_be(word) == {"VERB"}


def _ends_phrase(sentence: Sentence, place: int) -> bool:
    """Whether a noun phrase ends before a place: no noun follows that it could be part of."""
    word = _at(sentence, place)
    if (
        not word
        or word in _STOPS
        or word in _PREPOSITIONS
        or word in _BE
        or word in _MODALS | {"and", "or", "that", "which", "to"}
    ):
        return True
    return _is_only_verb(word)


# Repeated words.

_TWICE = frozenset(
    [
        "had",
        "that",
        "very",
        "really",
        "so",
        "bye",
        "no",
        "ha",
        "knock",
        "hear",
        "there",
        "now",
        "please",
        "far",
        "many",
        "much",
        "yes",
        "tut",
        "hip",
        "ding",
        "more",
        "long",
    ]
)


def _repeated(sentence: Sentence) -> Iterator[str]:
    for one, other in zip(sentence, sentence[1:], strict=False):
        if not (one.text.isalpha() and one.word == other.word and other.is_spaced):
            continue
        is_name = (
            one.text[0].isupper() and other.text[0].isupper() and one.word not in _PREPOSITIONS | _DETERMINERS
        )
        if one.word not in _TWICE - {"please"} and not is_name and len(one.text) + len(other.text) > 2:
            yield _quoted(one, other)
    row = [token.word for token in sentence]
    for place in range(len(row) - 3):
        pair = row[place : place + 2]
        if pair == row[place + 2 : place + 4] and all(word.isalpha() for word in pair) and pair[0] != pair[1]:
            yield _quoted(*sentence[place : place + 4])


# Clashing articles.

_SECOND = _ARTICLES | {"this", "that", "these", "those", "which", "some", "any"}


def _clashing(sentence: Sentence) -> Iterator[str]:
    for place, (one, other) in enumerate(zip(sentence, sentence[1:], strict=False)):
        if one.word not in _ARTICLES or other.word not in _SECOND or one.word == other.word:
            continue
        if (one.text == "A" and place) or other.text[0].isupper() or not other.is_spaced:
            continue  # "bank A that", "the A list"
        if other.word in ("a", "each", "every", "that", "this") and one.word in ("its", "his"):
            continue
        if other.word == "that" and one.word in ("each", "every"):
            continue
        yield _quoted(one, other)


def _bare_article(sentence: Sentence) -> Iterator[str]:
    """An article without a noun: "get the in", "the and"."""
    after = frozenset(
        {"of", "for", "to", "from", "at", "and", "or", "is", "are", "with", "into", "in", "on", "by", "but"}
    )
    for place, (one, other) in enumerate(zip(sentence, sentence[1:], strict=False)):
        if one.text not in ("a", "an", "the", "my", "your", "our", "their"):
            continue
        is_stop = other.text in _STOPS and other.text != ":"
        if is_stop or (
            other.text in after and other.is_spaced and _at(sentence, place + 2) not in ("-", "/")
        ):
            yield _quoted(one, other)


# Agreement in number.

_MANY = frozenset(
    [
        "these",
        "those",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "several",
        "multiple",
        "various",
        "many",
        "few",
    ]
)
_AFTER_MANY = frozenset(
    [
        "more",
        "other",
        "dozen",
        "hundred",
        "thousand",
        "million",
        "billion",
        "percent",
        "people",
        "such",
        "times",
        "different",
        "new",
        "days",
        "fish",
        "sheep",
        "aircraft",
    ]
)
_ALL_OF = frozenset(
    [
        "day",
        "night",
        "year",
        "month",
        "week",
        "morning",
        "summer",
        "winter",
        "time",
        "way",
        "staff",
        "mail",
        "email",
        "stock",
        "england",
        "europe",
    ]
)
_ONE_PLURAL = frozenset(
    ["few", "many", "great", "dozen", "good", "couple", "hundred", "number", "series", "means", "lot"]
)


def _number(sentence: Sentence) -> Iterator[str]:
    for place, token in enumerate(sentence):
        word = token.word
        if word in ("a", "an", "every", "each", "another", "this") and not (token.text == "A" and place):
            yield from _singular(sentence, place)
        if word == "all" and _at(sentence, place - 1) not in ("at", "of", "after"):
            yield from _plural(sentence, place)
        if word in _MANY and _at(sentence, place - 1) not in (
            "the",
            "one",
            "of",
            "at",
            "part",
            "step",
            "number",
        ):
            yield from _plural(sentence, place)


def _singular(sentence: Sentence, place: int) -> Iterator[str]:
    """ "a rooms", "every comments", "this tickets", also with one adjective between."""
    for noun in (place + 1, place + 2):
        word = _at(sentence, noun)
        if noun == place + 2 and can_be(_at(sentence, place + 1)) - {"ADJ", "NOUN", "VERB"}:
            return
        if not word.isalpha() or word in _ONE_PLURAL or word in _MANY:
            return
        is_certain = (
            is_plural(word) and _is_noun(word) and word not in _UNCOUNTED and sentence[noun].text.islower()
        )
        if is_certain and sentence[place].word == "this" and "VERB" in can_be(word):
            is_certain = _at(sentence, noun + 1) in ("are", "were", "have")  # not "this means"
        if is_certain and noun == place + 2 and _is_noun(_at(sentence, place + 1)):
            is_certain = is_certain and "ADJ" in can_be(_at(sentence, place + 1))
        if is_certain and _ends_phrase(sentence, noun + 1) and not _is_possessive(sentence, noun):
            yield _quoted(*sentence[place : noun + 1])
            return
        if "ADJ" not in can_be(word):
            return


def _plural(sentence: Sentence, place: int) -> Iterator[str]:
    """ "two guest", "these booking"."""
    for noun in (place + 1, place + 2):
        word = _at(sentence, noun)
        if not word.isalpha() or word in _AFTER_MANY or not sentence[noun].text.islower():
            return
        kinds = can_be(word)
        if "NOUN" in kinds and not is_plural(word) and "ADJ" not in kinds and not word.endswith(("s", "ed")):
            if (
                word in _UNCOUNTED
                or plural(word) == word
                or (sentence[place].word in ("those", "these") and "VERB" in kinds)
            ):
                return
            end = _at(sentence, noun + 1)
            if end in _STOPS | {"", "and", "or", "are", "were"} | _MODALS or end in _PREPOSITIONS - {"as"}:
                yield _quoted(*sentence[place : noun + 1])
            return
        if "ADJ" not in kinds:
            return


def _is_possessive(sentence: Sentence, place: int) -> bool:
    return _at(sentence, place + 1) in ("'", "’") or sentence[place].text.endswith(("'", "’"))


def _measure(sentence: Sentence) -> Iterator[str]:
    """ "many information", "much files"."""
    for place, token in enumerate(sentence[:-1]):
        word = _at(sentence, place + 1)
        if (
            token.word in ("many", "few", "several")
            and word in _UNCOUNTED
            and word not in ("media", "data", "news")
        ):
            yield _quoted(token, sentence[place + 1])
        if (
            token.word == "much"
            and is_plural(word)
            and _is_noun(word, only=True)
            and _ends_phrase(sentence, place + 2)
        ):
            yield _quoted(token, sentence[place + 1])


# Agreement of verbs.

_COLLECTIVE = frozenset(
    [
        "staff",
        "team",
        "police",
        "data",
        "media",
        "committee",
        "family",
        "audience",
        "crew",
        "group",
        "rest",
        "majority",
        "number",
        "pair",
        "couple",
    ]
)


def _subject(sentence: Sentence) -> Iterator[tuple[int, bool]]:
    """The ends of noun phrases that begin a sentence or a clause, and whether each is plural."""
    starts = [
        0,
        *(
            n + 1
            for n, token in enumerate(sentence)
            if token.word in ("and", "but", "because", "that", "since", ",", "while")
        ),
    ]
    for start in starts:
        first = _at(sentence, start)
        if first not in (
            "the",
            "my",
            "our",
            "this",
            "these",
            "those",
            "his",
            "their",
            "its",
            "your",
            "a",
            "an",
            "each",
            "every",
        ):
            continue
        for end in (start + 1, start + 2):
            word = _at(sentence, end)
            if (
                not word.isalpha()
                or not sentence[end].text.islower()
                or "NOUN" not in can_be(word)
                or word in _COLLECTIVE
            ):
                break
            if _at(sentence, end + 1) in _BE or base_of(_at(sentence, end + 1))[0]:
                yield end, is_plural(word)
                break


def _verb_agreement(sentence: Sentence) -> Iterator[str]:
    row = [token.word for token in sentence]
    is_open = not row or row[0] in _MODALS | {
        "do",
        "does",
        "did",
        "is",
        "are",
        "was",
        "were",
        "has",
        "have",
        "if",
        "let",
        "make",
        "should",
    }
    for end, is_many in () if is_open else _subject(sentence):
        verb = sentence[end + 1]
        before = (
            _at(sentence, end - 2) if _at(sentence, end - 1) not in _DETERMINERS else _at(sentence, end - 2)
        )
        if before in ("if", "wish", "though", "let", "make", "and", "or", "of", "have", "suggest"):
            continue
        if verb.word in _BE:
            if _BE[verb.word] != is_many and not (
                is_many is False and verb.word in ("were", "have") and _wish(row)
            ):
                yield _quoted(sentence[end], verb)
        elif (not is_many and _is_base_here(sentence, end)) or (
            is_many
            and base_of(verb.word)[1] == "third"
            and _opens_object(sentence, end + 2)
            and not _is_noun(verb.word)
        ):
            yield _quoted(sentence[end], verb)


def _wish(row: Sequence[str]) -> bool:
    return bool({"if", "wish", "unless", "let", "make", "help", "see", "could", "would"} & set(row))


def _opens_object(sentence: Sentence, place: int) -> bool:
    return _at(sentence, place) in _DETERMINERS | {
        "me",
        "us",
        "him",
        "them",
        "it",
        "to",
        "no",
        "any",
        "some",
        "all",
    }


def _is_base_here(sentence: Sentence, end: int) -> bool:
    """Whether a bare verb follows a singular subject: "the report contain errors", "the customer want a refund"."""
    verb = _at(sentence, end + 1)
    base, form = base_of(verb)
    if form != "base" or verb in past_forms(verb) or _wish([token.word for token in sentence]):
        return False
    if can_be(verb) == {"VERB"}:
        return True
    return _opens_object(sentence, end + 2) and "ADJ" not in can_be(verb) and verb in _WANTING


_WANTING = frozenset(
    [
        "want",
        "need",
        "show",
        "contain",
        "include",
        "have",
        "look",
        "seem",
        "help",
        "start",
        "work",
        "cost",
        "go",
        "run",
        "use",
    ]
)


def _there(sentence: Sentence) -> Iterator[str]:
    """ "there is three rooms", "there are a room"."""
    for place, token in enumerate(sentence[:-2]):
        verb, following = _at(sentence, place + 1), _at(sentence, place + 2)
        if token.word != "there" or verb not in ("is", "was", "are", "were"):
            continue
        if verb in ("is", "was") and (
            following in _MANY - {"few"}
            or (is_plural(following) and _is_noun(following, only=True) and _ends_phrase(sentence, place + 3))
        ):
            yield _quoted(*sentence[place : place + 3])
        if (
            verb in ("are", "were")
            and following in ("a", "an", "one")
            and _at(sentence, place + 3)
            not in _ONE_PLURAL | {"bunch", "variety", "range", "handful", "million", "lot"}
        ):
            yield _quoted(*sentence[place : place + 3])


def _question(sentence: Sentence) -> Iterator[str]:
    """ "What is the prices of", "What are the price of", "Does the server has"."""
    for place, token in enumerate(sentence[:-3]):
        word = token.word
        if (
            word in ("what", "which", "where", "how")
            and _at(sentence, place + 1) in ("is", "are", "was", "were")
            and _at(sentence, place + 2) in ("the", "my", "our", "your")
        ):
            noun = _at(sentence, place + 3)
            many = _at(sentence, place + 1) in ("are", "were")
            if (
                not noun.isalpha()
                or not _is_noun(noun)
                or noun in _COLLECTIVE
                or not _ends_phrase(sentence, place + 4)
            ):
                continue
            if (
                many is not is_plural(noun)
                and not (many and noun in _UNCOUNTED | {"people", "cast"})
                and _at(sentence, place + 4) not in ("and", "or")
            ):
                yield _quoted(*sentence[place : place + 4])
        if word in ("does", "do", "did") and (place == 0 or not sentence[place - 1].is_word):
            for end in range(place + 2, min(place + 5, len(sentence))):
                verb = _at(sentence, end)
                if verb in ("has", "is", "was", "does") or (
                    base_of(verb)[1] == "third" and _is_only_verb(verb)
                ):
                    yield _quoted(*sentence[place : end + 1])
                    break
                if verb in _PREPOSITIONS | _STOPS | {"that", "and", "what", "who", "which"}:
                    break


def _pronoun(sentence: Sentence) -> Iterator[str]:
    """ "he need the file", "they wants it"."""
    for place, token in enumerate(sentence[:-1]):
        before = _at(sentence, place - 1)
        if token.word not in ("he", "she", "they", "we", "i") or before not in (
            "",
            ",",
            "and",
            "but",
            "because",
            "that",
            "since",
            "so",
            "when",
            "which",
            "what",
            "who",
            "while",
            "where",
        ):
            continue
        verb = _at(sentence, place + 1)
        base, form = base_of(verb)
        if (
            base is None
            or base in ("be", "have")
            or (place and _at(sentence, place - 2) in ("let", "make", "suggest", "recommend"))
        ):
            continue
        if (
            token.word in ("he", "she")
            and form == "base"
            and verb not in past_forms(verb)
            and verb not in _MODALS
        ):
            yield _quoted(token, sentence[place + 1])
        if (
            token.word not in ("he", "she")
            and form == "third"
            and (not _is_noun(verb) or _opens_object(sentence, place + 2))
        ):
            yield _quoted(token, sentence[place + 1])


# Forms of verbs.


def _forms(sentence: Sentence) -> Iterator[str]:
    for place, token in enumerate(sentence[:-1]):
        word = token.word
        verb = place + 1
        if (
            (word in _MODALS and _at(sentence, place + 1) in _SUBJECTS)
            or (word in ("does", "do", "did") and _at(sentence, place + 1) in _SUBJECTS - {"it"})
            or (word in ("let", "help") and _at(sentence, place + 1) in ("me", "us"))
        ):
            verb = place + 2
        elif word not in _MODALS | {
            "to",
            "please",
            "let's",
            "don't",
            "doesn't",
            "didn't",
            "cannot",
            "can't",
            "won't",
        }:
            continue
        if _at(sentence, verb) in (
            "also",
            "then",
            "now",
            "kindly",
            "please",
            "just",
            "first",
            "finally",
            "quickly",
        ):
            verb += 1
        if (
            verb >= len(sentence)
            or not sentence[verb].text.islower()
            or not _is_wrong_form(sentence, verb, word)
        ):
            continue
        yield _quoted(*sentence[place : verb + 1])


def _is_wrong_form(sentence: Sentence, place: int, after: str) -> bool:
    """Whether a base form should be here and another form is: "to booked a table", "please checking the status"."""
    word = _at(sentence, place)
    base, form = base_of(word)
    if base is None:
        base, form = next(((one, "past") for one in _bases_of_past(word)), (None, ""))
    if base is None or form == "base" or word == base or word in ("thanks", "been", "used", "can", "lots"):
        return False
    opens = _opens_object(sentence, place + 1) or _at(sentence, place + 1) == DATA
    if form == "gerund":
        return after == "please" and opens
    if form == "past" and "ADJ" in can_be(word) and not opens:
        return False
    if after == "to" or (form == "third" and _is_noun(word)):
        return opens and not (
            after == "to"
            and form == "third"
            and is_plural(word)
            and _at(sentence, place + 1) not in ("the", "a", "an", "my", "me")
        )
    return True


def _is_wrong_after(sentence: Sentence, place: int) -> bool:
    """Whether a base form is where a participle should be: "has arrive"; not "have found", "is put"."""
    word = _at(sentence, place)
    is_base = can_be(word) == {"VERB"} and base_of(word)[1] == "base" and word not in past_forms(word)
    return is_base and sentence[place].text.islower() and not _bases_of_past(word)


def _bases_of_past(word: str) -> list[str]:
    from lemminflect import getAllLemmas

    return [base for base in getAllLemmas(word, upos="VERB").get("VERB", ()) if base != word]


def _perfect(sentence: Sentence) -> Iterator[str]:
    """ "has arrive", "is contain"; not "I have work"."""
    for place, token in enumerate(sentence[:-1]):
        if token.word in _BE | {"had": False} and _is_wrong_after(sentence, place + 1):
            yield _quoted(token, sentence[place + 1])


# Truncated clauses.

_WANTS = frozenset({"need", "want", "wish", "like", "able", "try", "plan", "hope"})
_CLASH = frozenset(
    f"{one} {other}"
    for one in ("from", "with", "of", "for", "by", "into", "at", "in", "on")
    for other in ("to", "of", "from", "with", "for", "by", "into", "in", "on", "at")
    if one != other
) - frozenset(
    {
        "for in",
        "of in",
        "in on",
        "in by",
        "in at",
        "on in",
        "in for",
        "on at",
        "in with",
        "on to",
        "on by",
        "on for",
        "with in",
        "in to",
        "on with",
        "in of",
        "in from",
        "on from",
        "by in",
        "by at",
        "at in",
        "at on",
        "on of",
        "with at",
        "for at",
        "of at",
        "from at",
        "by with",
        "for on",
        "of on",
        "by on",
        "of over",
    }
)
_NEVER_LAST = frozenset(
    [
        "and",
        "or",
        "but",
        "the",
        "a",
        "an",
        "my",
        "your",
        "our",
        "their",
        "its",
        "of",
        "from",
        "than",
        "because",
        "into",
        "whether",
        "every",
    ]
)
_RARELY_LAST = frozenset({"of", "from", "with", "to", "for", "by", "at", "between", "about", "as"})


def _cut_off(sentence: Sentence) -> Iterator[str]:
    last = next((token for token in reversed(sentence) if token.text not in _STOPS), None)
    if last is None:
        return
    place = sentence.index(last)
    row = [token.word for token in sentence]
    if (last.text in _NEVER_LAST and place) or (
        last.text in _RARELY_LAST
        and place
        and row[-1] != "?"
        and not {"which", "what", "that", "who", "where", "how", "i", "we", "it", "you", "to"}
        & set(row[:place])
    ):
        yield _quoted(*sentence[max(0, place - 1) :])
    elif sentence[-1].text in (",", ";"):
        yield _quoted(*sentence[-2:])


def _missing_word(sentence: Sentence) -> Iterator[str]:
    """ "I need to the report", "a flight from to Oslo"."""
    for place, (one, other) in enumerate(zip(sentence, sentence[1:], strict=False)):
        if (
            one.word in _WANTS
            and other.word == "to"
            and _at(sentence, place + 2) in ("the", "a", "an", "my", "this", "these", "our")
        ):
            if one.word != "like" or _at(sentence, place - 1) in ("would", "i'd", "'d"):
                yield _quoted(*sentence[place : place + 3])
        if (
            f"{one.text} {other.text}" in _CLASH
            and other.is_spaced
            and _at(sentence, place + 2) not in ("least", "most", "once", "-")
        ):
            if not base_of(_at(sentence, place - 1))[0] or one.word in ("from", "with", "of", "for"):
                yield _quoted(one, other)


def _punctuation(text: RequestText) -> Iterator[str]:
    masked = text.masked
    pattern = (
        r"(?<![.…])\.\.(?!\.)|,\s*,|[,;]\s*[.!?](?!\w)|[!?]\s*\.(?!\w)|(?<=[a-z]{5})\.\s*,|\s[,;!?](?=\s|$)|(?<=[\w"
        + DATA
        + "\ue001"
        + r"])\s\.(?=\s|$)|\(\s*\)|''(?!\w)|\"\""
    )
    for source in (masked, text.text) if "''" in text.text or '""' in text.text else (masked,):
        if match := re.search(pattern, source):
            around = source[max(0, match.start() - 12) : match.end() + 4]
            yield "'" + re.sub(rf"{DATA}\ue001*", "…", around).strip() + "'"
            return
    if masked.count("(") != masked.count(")") and not re.search(r"[:;][()]|(?:^|\s)\w{1,2}\)", masked):
        yield "a bracket without its partner"
    if masked.count('"') % 2 or masked.count("“") != masked.count("”"):
        yield "a quotation mark without its partner"


# Words in the wrong case.


def _pronoun_case(sentence: Sentence) -> Iterator[str]:
    """ "send it to I", "me want"."""
    for place, token in enumerate(sentence[:-1]):
        other = sentence[place + 1]
        if token.word in ("to", "for", "with", "from", "of", "by", "at") and other.word in (
            "i",
            "he",
            "she",
            "we",
            "they",
        ):
            if (
                _at(sentence, place + 2) in _STOPS | {"", "and", "on", "by", "in", "at", "before", "after"}
                and other.text != "WE"
            ):
                yield _quoted(token, other)
    if (
        len(sentence) > 1
        and sentence[0].word in ("me", "him", "them", "us")
        and base_of(_at(sentence, 1))[1] in ("base", "third")
    ):
        yield _quoted(*sentence[:2])


def _small_start(text: RequestText) -> Iterator[str]:
    """A sentence within the text that starts with a small letter."""
    for before, sentence in zip(text.sentences, text.sentences[1:], strict=False):
        first = sentence[0]
        ends = before[-1].text in (".", "!", "?") and len(before) > 2 and len(before[-2].text) > 3
        gap = text.masked[before[-1].start + 1 : first.start]
        if (
            ends
            and gap == " "
            and first.text.islower()
            and first.text.isalpha()
            and len(first.text) > 1
            and len(sentence) > 2
        ):
            if can_be(first.word) or first.word in _DETERMINERS | _PREPOSITIONS:
                yield _quoted(*sentence[:2])


RULES: tuple[LanguageRule, ...] = (
    LanguageRule(
        "repeated words",
        "a word or a pair of words twice in a row",
        "Book the the room.",
        "I hope that that room is free.",
        _each(_repeated),
    ),
    LanguageRule(
        "clashing articles",
        "two determiners in a row",
        "Cancel a the booking.",
        "Pay all the invoices.",
        _each(_clashing),
    ),
    LanguageRule(
        "clashing articles",
        "an article without a noun",
        "Get the of the guest.",
        "Get the in-house phone number.",
        _each(_bare_article),
    ),
    LanguageRule(
        "broken agreement",
        "number of determiner and noun",
        "Reserve a rooms in Oslo.",
        "Write a sales report.",
        _each(_number),
    ),
    LanguageRule(
        "broken agreement",
        "'many' and 'much'",
        "Give me many information.",
        "Give me much information.",
        _each(_measure),
    ),
    LanguageRule(
        "broken agreement",
        "subject and verb",
        "The invoices is overdue.",
        "The invoice of the guests is overdue.",
        _each(_verb_agreement),
    ),
    LanguageRule(
        "broken agreement",
        "'there is' and its subject",
        "There is three rooms.",
        "There is a room.",
        _each(_there),
    ),
    LanguageRule(
        "broken agreement",
        "a question and its subject",
        "What are the price of it?",
        "What are the prices of it?",
        _each(_question),
    ),
    LanguageRule(
        "broken agreement",
        "pronoun and verb",
        "She need the file today.",
        "Let her know, he needs it.",
        _each(_pronoun),
    ),
    LanguageRule(
        "wrong form",
        "a verb after 'to', 'please' or a modal verb",
        "I want to booked a table.",
        "I look forward to meeting the team.",
        _each(_forms),
    ),
    LanguageRule(
        "wrong form",
        "a verb after 'have' or 'be'",
        "The parcel has arrive.",
        "The parcel has arrived.",
        _each(_perfect),
    ),
    LanguageRule(
        "wrong form",
        "a pronoun after a preposition",
        "Send it to I.",
        "Send it to me and I will read it.",
        _each(_pronoun_case),
    ),
    LanguageRule(
        "truncated clause",
        "a sentence that ends before its end",
        "Get the weather in Oslo and.",
        "Tell me which room it is in.",
        _each(_cut_off),
    ),
    LanguageRule(
        "truncated clause",
        "a missing word",
        "Book a flight from to Oslo.",
        "Book a flight from Lima to Oslo.",
        _each(_missing_word),
    ),
    LanguageRule(
        "truncated clause",
        "punctuation",
        "Send the file to , please.",
        "Send the file, please.",
        _punctuation,
    ),
    LanguageRule(
        "truncated clause",
        "a sentence with a small first letter",
        "The room is free. book it now.",
        "The room is free. iPhone users like it.",
        _small_start,
    ),
)
