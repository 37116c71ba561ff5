"""Rules about agreement: of determiners and nouns, of subjects and verbs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from toolassay.english.plurals import is_plural, plural
from toolassay.english.verb_forms import base_of, can_be, past_forms
from toolassay.gates.language.sentences import (
    BE,
    MODALS,
    PREPOSITIONS,
    STOPS,
    UNCOUNTED,
    Sentence,
    ends_phrase,
    is_noun,
    is_only_verb,
    opens_object,
    quoted,
    word_at,
)

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


def number(sentence: Sentence) -> Iterator[str]:
    for place, token in enumerate(sentence):
        word = token.word
        if word in ("a", "an", "every", "each", "another", "this") and not (token.text == "A" and place):
            yield from _singular(sentence, place)
        if word == "all" and word_at(sentence, place - 1) not in ("at", "of", "after"):
            yield from _plural(sentence, place)
        if word in _MANY and word_at(sentence, place - 1) not in (
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
    """E.g. "a rooms", "every comments", "this tickets", also with one adjective between."""
    for noun in (place + 1, place + 2):
        word = word_at(sentence, noun)
        if noun == place + 2 and can_be(word_at(sentence, place + 1)) - {"ADJ", "NOUN", "VERB"}:
            return
        if not word.isalpha() or word in _ONE_PLURAL or word in _MANY:
            return
        is_certain = (
            is_plural(word) and is_noun(word) and word not in UNCOUNTED and sentence[noun].text.islower()
        )
        if is_certain and sentence[place].word == "this" and "VERB" in can_be(word):
            is_certain = word_at(sentence, noun + 1) in ("are", "were", "have")  # not "this means"
        if is_certain and noun == place + 2 and is_noun(word_at(sentence, place + 1)):
            is_certain = "ADJ" in can_be(word_at(sentence, place + 1))
        if is_certain and ends_phrase(sentence, noun + 1) and not _is_possessive(sentence, noun):
            yield quoted(*sentence[place : noun + 1])
            return
        if "ADJ" not in can_be(word):
            return


def _plural(sentence: Sentence, place: int) -> Iterator[str]:
    """E.g. "two guest", "these booking"."""
    for noun in (place + 1, place + 2):
        word = word_at(sentence, noun)
        if not word.isalpha() or word in _AFTER_MANY or not sentence[noun].text.islower():
            return
        kinds = can_be(word)
        if "NOUN" in kinds and not is_plural(word) and "ADJ" not in kinds and not word.endswith(("s", "ed")):
            if (
                word in UNCOUNTED
                or plural(word) == word
                or (
                    sentence[place].word in ("those", "these")
                    and "VERB" in kinds
                    and word_at(sentence, noun + 1) not in MODALS | set(BE)
                )
            ):
                return
            end = word_at(sentence, noun + 1)
            if end in STOPS | {"", "and", "or", "are", "were"} | MODALS or end in PREPOSITIONS - {"as"}:
                yield quoted(*sentence[place : noun + 1])
            return
        if "ADJ" not in kinds:
            return


def _is_possessive(sentence: Sentence, place: int) -> bool:
    return word_at(sentence, place + 1) in ("'", "’") or sentence[place].text.endswith(("'", "’"))


def measure(sentence: Sentence) -> Iterator[str]:
    """E.g. "many information", "much files"."""
    for place, token in enumerate(sentence[:-1]):
        word = word_at(sentence, place + 1)
        if (
            token.word in ("many", "few", "several")
            and word in UNCOUNTED
            and word not in ("media", "data", "news")
        ):
            yield quoted(token, sentence[place + 1])
        if (
            token.word == "much"
            and is_plural(word)
            and is_noun(word, only=True)
            and ends_phrase(sentence, place + 2)
        ):
            yield quoted(token, sentence[place + 1])


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
        first = word_at(sentence, start)
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
            word = word_at(sentence, end)
            if (
                not word.isalpha()
                or not sentence[end].text.islower()
                or "NOUN" not in can_be(word)
                or word in _COLLECTIVE
            ):
                break
            if word_at(sentence, end + 1) in BE or base_of(word_at(sentence, end + 1))[0]:
                yield end, is_plural(word)
                break


# A sentence that starts so has its verb elsewhere: "Does the guest have …", "If the room were …".
_OPENING = MODALS | frozenset(
    ["do", "does", "did", "is", "are", "was", "were", "has", "have", "if", "let", "make"]
)


def verb_agreement(sentence: Sentence) -> Iterator[str]:
    row = [token.word for token in sentence]
    is_open = not row or row[0] in _OPENING
    for end, is_many in () if is_open else _subject(sentence):
        verb = sentence[end + 1]
        before = word_at(sentence, end - 2)
        if before in ("if", "wish", "though", "let", "make", "and", "or", "of", "have", "suggest"):
            continue
        if not verb.text.islower():
            continue  # "my nephew Peter"
        if verb.word in BE:
            if BE[verb.word] != is_many and not (
                is_many is False and verb.word in ("were", "have") and _wish(row)
            ):
                yield quoted(sentence[end], verb)
        elif (not is_many and _is_base_here(sentence, end)) or (
            is_many
            and base_of(verb.word)[1] == "third"
            and opens_object(sentence, end + 2)
            and not is_noun(verb.word)
        ):
            yield quoted(sentence[end], verb)


def _wish(row: Sequence[str]) -> bool:
    return bool({"if", "wish", "unless", "let", "make", "help", "see", "could", "would"} & set(row))


def _is_base_here(sentence: Sentence, end: int) -> bool:
    """Whether a bare verb follows a singular subject: "the report contain errors", "the customer want a refund"."""
    verb = word_at(sentence, end + 1)
    _base, form = base_of(verb)
    if form != "base" or verb in past_forms(verb) or _wish([token.word for token in sentence]):
        return False
    if can_be(verb) == {"VERB"}:
        return True
    return opens_object(sentence, end + 2) and "ADJ" not in can_be(verb) and verb in _WANTING


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


def there_is(sentence: Sentence) -> Iterator[str]:
    """E.g. "there is three rooms", "there are a room"."""
    for place, token in enumerate(sentence[:-2]):
        verb, following = word_at(sentence, place + 1), word_at(sentence, place + 2)
        if token.word != "there" or verb not in ("is", "was", "are", "were"):
            continue
        if verb in ("is", "was") and (
            following in _MANY - {"few"}
            or (is_plural(following) and is_noun(following, only=True) and ends_phrase(sentence, place + 3))
        ):
            yield quoted(*sentence[place : place + 3])
        if (
            verb in ("are", "were")
            and following in ("a", "an", "one")
            and word_at(sentence, place + 3)
            not in _ONE_PLURAL | {"bunch", "variety", "range", "handful", "million", "lot"}
        ):
            yield quoted(*sentence[place : place + 3])


def question(sentence: Sentence) -> Iterator[str]:
    """E.g. "What is the prices of", "What are the price of", "Does the server has"."""
    for place, token in enumerate(sentence[:-3]):
        word = token.word
        if (
            word in ("what", "which", "where", "how")
            and word_at(sentence, place + 1) in ("is", "are", "was", "were")
            and word_at(sentence, place + 2) in ("the", "my", "our", "your")
        ):
            noun = word_at(sentence, place + 3)
            many = word_at(sentence, place + 1) in ("are", "were")
            if (
                not noun.isalpha()
                or not is_noun(noun)
                or noun in _COLLECTIVE
                or not ends_phrase(sentence, place + 4)
            ):
                continue
            if (
                many is not is_plural(noun)
                and not (many and noun in UNCOUNTED | {"people", "cast"})
                and word_at(sentence, place + 4) not in ("and", "or")
            ):
                yield quoted(*sentence[place : place + 4])
        if word in ("does", "do", "did") and (place == 0 or not sentence[place - 1].is_word):
            for end in range(place + 2, min(place + 5, len(sentence))):
                verb = word_at(sentence, end)
                if verb in ("has", "is", "was", "does") or (
                    base_of(verb)[1] == "third" and is_only_verb(verb)
                ):
                    yield quoted(*sentence[place : end + 1])
                    break
                if verb in PREPOSITIONS | STOPS | {"that", "and", "what", "who", "which"}:
                    break


def pronoun(sentence: Sentence) -> Iterator[str]:
    """E.g. "he need the file", "they wants it"."""
    for place, token in enumerate(sentence[:-1]):
        before = word_at(sentence, place - 1)
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
        verb = word_at(sentence, place + 1)
        base, form = base_of(verb)
        if (
            base is None
            or base in ("be", "have")
            or (place and word_at(sentence, place - 2) in ("let", "make", "suggest", "recommend"))
        ):
            continue
        if (
            token.word in ("he", "she")
            and form == "base"
            and verb not in past_forms(verb)
            and verb not in MODALS
        ):
            yield quoted(token, sentence[place + 1])
        if (
            token.word not in ("he", "she")
            and form == "third"
            and (not is_noun(verb) or opens_object(sentence, place + 2))
        ):
            yield quoted(token, sentence[place + 1])
