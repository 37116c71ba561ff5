"""The words for months, weekdays, numbers and their parts, which all modules of this package share."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTH_NUMBERS = {name[:length]: number for number, name in enumerate(MONTHS, 1) for length in (3, len(name))}
MONTH_NUMBERS["sept"] = 9
WEEKDAY_ABBREVIATIONS = ("mon", "tue", "tues", "wed", "thu", "thur", "thurs", "fri", "sat", "sun")

# The beginnings of month and weekday names, as parts of regular expressions.
MONTH_STEMS = "|".join(name[:3] for name in MONTHS)
WEEKDAY_STEMS = "|".join(name[:3] for name in WEEKDAYS)

_UNDER_TWENTY = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
)
NUMBER_WORDS = _UNDER_TWENTY.split()
"""The words for 0 to 19; the index is the number."""
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
# Keys as they are after `with_digits`, which turns "three quarters" into "3 quarters".
FRACTIONS = {"half": Decimal("0.5"), "quarter": Decimal("0.25")}
FRACTIONS |= dict.fromkeys(("3 quarter", "3 quarters"), Decimal("0.75"))

# German, French, Spanish, Italian and Portuguese names that are not spelled as in English.
_FOREIGN_MONTHS = (
    "januar februar märz mai juni juli oktober dezember "
    "janvier février mars avril juin juillet août septembre octobre novembre décembre "
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre "
    "gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre "
    "janeiro fevereiro março maio junho julho setembro outubro novembro dezembro"
)
_FOREIGN_WEEKDAYS = (
    "montag dienstag mittwoch donnerstag freitag samstag sonntag "
    "lundi mardi mercredi jeudi vendredi samedi dimanche "
    "lunes martes miércoles jueves viernes sábado domingo"
)
_FOREIGN_NUMBERS = (
    "null eins ein eine einen zwei drei vier fünf sechs sieben acht neun zehn elf zwölf halb dutzend paar "
    "un une deux trois quatre cinq sept huit neuf dix onze douze quinze vingt trente cent mille douzaine "
    "demi uno una dos tres cuatro cinco seis siete ocho nueve diez once doce veinte cien docena "
    "tre quattro cinque sette otto nove dieci dodici um uma dois duas três quatro sete oito dez"
)
FOREIGN_MONTHS = _FOREIGN_MONTHS.split()
FOREIGN_WEEKDAYS = _FOREIGN_WEEKDAYS.split()
FOREIGN_NUMBERS = _FOREIGN_NUMBERS.split()


def longest_first(words: Iterable[str]) -> str:
    """The alternatives of a regular expression, so that no word hides a longer one that begins with it.

    >>> longest_first(["sep", "september", "sept"])
    'september|sept|sep'
    """
    return "|".join(sorted(words, key=len, reverse=True))


def word_set(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())
