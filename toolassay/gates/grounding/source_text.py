"""What a request, with the output of earlier calls, states: parsed once for all values of a plan."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from decimal import Decimal
from functools import cached_property
from itertools import accumulate, product

from toolassay.gates.grounding import identifiers
from toolassay.gates.grounding.normalization import key_of, lemma_key, stands_in, words_in
from toolassay.text_values.dates import Day, find_days
from toolassay.text_values.numbers import amounts_in, has_article, numbers_in, shares_in
from toolassay.text_values.times import MINUTES_PER_DAY, Duration, find_durations, find_times
from toolassay.text_values.vocabulary import plain, with_digits

# Days, times and lengths of a request from which others are derived: bounds the work on lists of them.
_MOST = 50
_NONE = re.compile(r"\b(?:no|without|none|nothing|nil|nobody|zero|not any|free of charge|isn't any)\b")


class SourceText:
    """A text and the values that it states. Each property is computed on first use.

    >>> source = SourceText("Book a table for two on 17 Oct at a quarter to eight")
    >>> source.states("A TABLE"), Decimal(2) in source.numbers, 19 * 60 + 45 in source.times
    (True, True, True)
    """

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def folded(self) -> str:
        return self.text.casefold()

    @cached_property
    def plain(self) -> str:
        return plain(self.text)

    @cached_property
    def digits(self) -> str:
        """The plain text with number words in digits."""
        return with_digits(re.sub(r"(?<=\d)t(?=\d\d:)", " ", self.plain))

    def states(self, text: str) -> bool:
        """Whether a text occurs in this one, apart from case, quotes, dashes, accents and white space."""
        return stands_in(text.casefold(), self.folded) or stands_in(plain(text), self.plain)

    @cached_property
    def word_row(self) -> str:
        """The words of the plain text with one blank around each."""
        return f" {' '.join(words_in(self.plain))} "

    @cached_property
    def urls(self) -> Collection[str]:
        """The web addresses and their hosts, by `url_key`."""
        keys = {identifiers.url_key(match.group()) for match in identifiers.URL.finditer(self.plain)}
        return keys | {re.split(r"[/?#]", key)[0] for key in keys}

    @cached_property
    def emails(self) -> Collection[str]:
        return {identifiers.email_key(match.group()) for match in identifiers.EMAIL.finditer(self.plain)}

    @cached_property
    def files(self) -> Collection[str]:
        """The names of files, in order, without folders."""
        matches = identifiers.FILE.finditer(self.plain)
        return dict.fromkeys(identifiers.file_key(match.group()) for match in matches)

    @cached_property
    def phones(self) -> Sequence[str]:
        """The phone numbers as they are spelled."""
        return identifiers.phones_in(self.plain)

    @cached_property
    def codes(self) -> Collection[str]:
        """The letter and digit sequences that may be codes, in any grouping."""
        return identifiers.codes_in(self.plain) | identifiers.codes_in(self.digits)

    @cached_property
    def numbers(self) -> Collection[Decimal]:
        """The quantities: numbers outside addresses, phone numbers, days and times; and the years."""
        spans = [match.span() for match, _ in (*find_days(self._quantities), *find_times(self._quantities))]
        text = list(self._quantities)
        for start, end in spans:
            text[start:end] = " " * (end - start)
        years = {Decimal(day.year) for day in self.days if day.year}
        return numbers_in("".join(text)) | years | amounts_in("".join(text))

    @cached_property
    def all_numbers(self) -> Collection[Decimal]:
        """The numbers, also those inside days and times: for a value that is nothing but a number."""
        article = {Decimal(1)} if has_article(self.digits) else set()
        return numbers_in(self._quantities) | shares_in(self.digits) | article

    @cached_property
    def _quantities(self) -> str:
        text = self.digits
        for pattern in (identifiers.URL, identifiers.EMAIL, identifiers.FILE):
            text = pattern.sub(" ", text)
        return identifiers.PHONE.sub(lambda m: " " if _looks_like_phone(m.group()) else m.group(), text)

    @cached_property
    def duration_numbers(self) -> Collection[Decimal]:
        """The lengths of time as bare numbers of seconds, minutes, …"""
        return {number for duration in self.durations for number in duration.numbers()}

    @cached_property
    def durations(self) -> Sequence[Duration]:
        """The lengths of time, in order."""
        return [duration for _, _, duration in find_durations(self.digits)]

    @cached_property
    def days(self) -> dict[Day, str]:
        """The days, each with the words that state it."""
        mentions = find_days(self.digits, lenient=True)
        return {day: match.group() for match, days in mentions for day in days}

    @cached_property
    def derived_days(self) -> Collection[Day]:
        """The days a stated length of time after a stated day, and those of its month ("the 28th").

        A length that may include its first day counts as a day less, too; one in nights does not. Lengths
        add up in their order: "2 nights in Rome, then 3 nights in Bari".
        """
        days = [int(duration.seconds // 86_400) for duration in self.durations]
        lengths = {
            (number, int(duration.months)) for number, duration in zip(days, self.durations, strict=True)
        }
        lengths |= {(total, 0) for total in accumulate(days)}
        lesses = (0,) if {"night", "nights"} & {*self._words} else (0, 1)
        moves = sorted(
            {(days - less, months) for days, months in lengths if days or months for less in lesses}
        )
        ordinals = {int(number) for number in re.findall(r"\b(\d\d?)(?:st|nd|rd|th)\b", self.digits)}
        derived = set[Day]()
        for day in [day for day in self.days if day.day][:_MOST]:
            derived |= {day.moved(days, months) for days, months in moves[:_MOST]}
            derived |= {day._replace(day=number) for number in ordinals}
        return derived

    @cached_property
    def times(self) -> Collection[float]:
        """The times of day, in minutes since midnight; each number that may be an hour counts."""
        return {time for _, times in find_times(self.digits, lenient=True) for time in times}

    @cached_property
    def derived_times(self) -> Collection[float]:
        """The times a stated length after a stated one, in minutes since midnight."""
        lengths = {float(duration.seconds / 60) for duration in self.durations}
        certain = {time for _, times in find_times(self.digits) for time in times}
        pairs = product(sorted(certain)[:_MOST], sorted(lengths)[:_MOST])
        return {(time + length) % MINUTES_PER_DAY for time, length in pairs}

    @property
    def states_none(self) -> bool:
        """Whether the text excludes something: "no bags", "without luggage"."""
        return _NONE.search(self.plain) is not None

    @cached_property
    def _words(self) -> list[str]:
        return words_in(self.digits)

    @cached_property
    def keys(self) -> Collection[str]:
        """The keys of the words, and of the units of measures."""
        keys = {key_of(word) for word in self._words}
        matches = map(identifiers.MEASURE.fullmatch, self._words)
        return keys | {key_of(match[2]) for match in matches if match}

    def has_word(self, key: str) -> bool:
        """Whether a word occurs in any form."""
        return key in self.keys

    def has_lemma(self, word: str) -> bool:
        """Whether another form of a word occurs, irregular ones included ("swam" for "swimming")."""
        return lemma_key(word) in self._lemmas

    @cached_property
    def _lemmas(self) -> Collection[str]:
        return {lemma_key(word) for word in set(self._words[:5000])} | set(self.keys)


def _looks_like_phone(text: str) -> bool:
    if not {"1000", "1000000", "1000000000"}.isdisjoint(text.split()):
        return False  # "2.5 million" in digits
    if re.fullmatch(r"\d+\.\d{1,2}", text):
        return False  # an amount: "10000000.00"
    return identifiers.is_phone(text) and (
        text.startswith("+") or len(identifiers.digits_of(text)) > 9 or " " in text
    )
