"""Whether a text of any spelling may be a date, a time or a number, in figures or in words."""

from __future__ import annotations

import re
from collections.abc import Iterable

from toolassay.text_values.vocabulary import (
    FOREIGN_MONTHS,
    FOREIGN_NUMBERS,
    FOREIGN_WEEKDAYS,
    MONTH_NUMBERS,
    NUMBER_WORDS,
    TENS,
    WEEKDAY_ABBREVIATIONS,
    WEEKDAYS,
)

_DAYS = (
    "today tomorrow yesterday tonight now immediately asap soon later day days date weekday weekdays weekend "
    "weekends week weeks fortnight month months quarter year years annual annually daily weekly monthly "
    "yearly decade century spring summer autumn fall winter season heute morgen übermorgen demain mañana "
    "domani hoje amanhã christmas xmas easter thanksgiving halloween hanukkah ramadan eid diwali passover "
    "pentecost whitsun carnival valentine valentines holiday holidays birthday anniversary eve bank solstice "
    "equinox memorial labor labour independence juneteenth nye advent lent upcoming following"
)
_CLOCK = (
    "noon midday midnight morning afternoon evening night dawn dusk sunrise sunset lunchtime lunch dinner "
    "dinnertime breakfast teatime bedtime hour hours hr hrs minute minutes min mins second seconds sec secs "
    "am pm o'clock oclock uhr mittag mittags mitternacht abend abends nachmittag vormittag früh halb viertel "
    "stunde stunden midi minuit matin après-midi soir nuit heure heures mediodía medianoche tarde noche "
    "mezzogiorno mezzanotte mattina sera meio-dia meia-noite noite half quarter asap now immediately soon "
    "later tonight rush anytime"
)


def _any_word(words: Iterable[str]) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, words))})(?!\w)", re.IGNORECASE)


_DATE_WORDS = _any_word(
    (*MONTH_NUMBERS, *FOREIGN_MONTHS, *WEEKDAYS, *WEEKDAY_ABBREVIATIONS, *FOREIGN_WEEKDAYS, *_DAYS.split())
)
_CLOCK_WORDS = _any_word(_CLOCK.split())
# "3rd", but not "23rds".
_ORDINAL = re.compile(r"(?<!\w)\d{1,2}\s?(?:st|nd|rd|th)(?!\w)", re.IGNORECASE)
# "2026-05", "14/5", "14.5.26", "1.05", "2026", "5月14日" and "'26", but not "14.5".
_DATE_FIGURES = re.compile(
    r"(?<!\d)(?:\d{4}\s?[-/.年]\s?\d{1,2}(?:\s?[-/.月]\s?\d{1,2})?|\d{1,2}\s?[-/]\s?\d{1,2}(?:\s?[-/]\s?\d{2,4})?|\d{1,2}\.\s?\d{1,2}\.(?:\s?\d{2,4})?|\d{1,2}\.0[1-9]"
    r"|(?:18|19|20|21)\d{2}(?:[01]\d[0-3]\d)?|\d{1,2}月\d{1,2}日?|'\d{2})(?!\d)"
)
# "19:45", "7 pm", "7h" and "T19:45", but not "25:00" or "7".
_CLOCK_FIGURES = re.compile(
    r"(?<![\d-])(?:[01]?\d|2[0-4])(?:\s?[:.h]\s?[0-5]\d(?:[:.][0-5]\d)?|\s?(?:am|pm|a\.m\.|p\.m\.|h|o.clock|uhr)(?!\w))"
    r"|T[0-2]\d:?[0-5]\d",
    re.IGNORECASE,
)
# A whole text that is an hour without a sign that it is one: "7", "at seven", "1930", but not "at 7 sharp".
_HOUR = re.compile(
    rf"(?:at |by |around |about )?(?:[01]?\d|2[0-4]|[012]\d[0-5]\d|{'|'.join(NUMBER_WORDS[1:13])})",
    re.IGNORECASE,
)


def _is_foreign(text: str) -> bool:
    """Whether most letters are of a script whose words are not listed here."""
    letters = [letter for letter in text if letter.isalpha()]
    return bool(letters) and sum(ord(letter) > 0x2FF for letter in letters) > len(letters) / 2


def may_be_date(text: str) -> bool:
    """Whether a text may state a day, a month or a year.

    >>> [may_be_date(text) for text in ("2026-05-14", "next Friday", "the 3rd", "banana", "19:45")]
    [True, True, True, False, False]
    """
    text = text[:500]
    return bool(
        _DATE_FIGURES.search(_CLOCK_FIGURES.sub(" ", text) if ":" in text else text)
        or _DATE_WORDS.search(text)
        or _ORDINAL.search(text)
        or _is_foreign(text)
    )


def may_be_time(text: str) -> bool:
    """Whether a text may state a time of day.

    >>> [may_be_time(text) for text in ("06:30", "half past six", "in two hours", "banana", "2026-05-14")]
    [True, True, True, False, False]
    """
    text = text[:500]
    return bool(
        _CLOCK_FIGURES.search(text)
        or _CLOCK_WORDS.search(text)
        or _HOUR.fullmatch(text.strip())
        or _is_foreign(text)
        or (_DATE_WORDS.search(text) and not _DATE_FIGURES.search(text))
    )


_QUANTITIES = (
    "hundred hundreds thousand thousands million millions billion dozen dozens half quarter third double "
    "triple single couple pair once twice thrice few several all none no minimum maximum"
)
_WORDS = frozenset({*NUMBER_WORDS, *TENS, *_QUANTITIES.split(), *FOREIGN_NUMBERS})
# German writes compound numbers as one word: "einundzwanzig", but not "zwanziger".
_COMPOUND = re.compile(
    r"\w*(?:zwanzig|dreißig|vierzig|fünfzig|sechzig|siebzig|achtzig|neunzig|zehn|hundert|tausend)",
    re.IGNORECASE,
)
_MOST_WORDS = 6
# Figures that are no quantity: "2026-05-14", "19:45", "+1 415 555 0172", "INV-2041"; not "42" or "5 May".
_OTHER = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}.*|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{1,2}:\d{2}(?::\d{2})?(?:\s?[ap]m)?"
    r"|\+\d[\d\s()-]{6,}|[^\W\d_]+-?\d[\w-]*|\S+@\S+",
    re.IGNORECASE,
)
# A quantity although letters precede it: "EUR20", "no.5", "x2"; not "INV-2041".
_LABELLED = re.compile(
    r"(?:usd|eur|gbp|chf|jpy|inr|cny|aud|cad|rs|no|nr|x|v|us)\.?-?\d[\d.,]*", re.IGNORECASE
)


def may_be_number(text: str) -> bool:
    """Whether a text may state a number.

    >>> [may_be_number(text) for text in ("42", "about 20 euros", "two dozen", "banana", "2026-05-14")]
    [True, True, True, False, False]
    """
    text = text.strip(" .'\"")
    if len(text) > 200:
        return False
    words = re.findall(r"[^\W\d_]+", text.casefold())
    if len(words) > _MOST_WORDS:
        return False
    if any(character.isnumeric() for character in text):
        return _LABELLED.fullmatch(text) is not None or _OTHER.fullmatch(text) is None
    if any(ord(character) > 0x2FF for character in text):
        return True  # figures of another script
    return bool(_WORDS & set(words)) or any(map(_COMPOUND.fullmatch, words))


def may_be_whole(text: str) -> bool:
    """Whether the number that a text states may be whole: no figures after a point but zeros or thousands.

    >>> [may_be_whole(text) for text in ("3", "1,000", "2.0", "2.5 kg", "three")]
    [True, True, True, False, True]
    """
    match = re.fullmatch(r"\D*?-?\d+[.](\d+)\D*", text.strip())
    return match is None or set(match[1]) == {"0"} or len(match[1]) == 3
