"""Whether a text can be a date, a time or a number, in figures or in words."""

from __future__ import annotations

import re
from calendar import monthrange

_MONTHS = (
    "january february march april may june july august september october november december "
    "jan feb mar apr jun jul aug sep sept oct nov dec "
    "januar februar märz mai juni juli oktober dezember "
    "janvier février mars avril juin juillet août septembre octobre novembre décembre "
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre "
    "gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre "
    "janeiro fevereiro março maio junho julho setembro outubro novembro dezembro"
)
_WEEKDAYS = (
    "monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun "
    "montag dienstag mittwoch donnerstag freitag samstag sonntag "
    "lundi mardi mercredi jeudi vendredi samedi dimanche "
    "lunes martes miércoles jueves viernes sábado domingo"
)
_DAYS = (
    "today tomorrow yesterday tonight now immediately asap soon later day days date weekday weekdays "
    "weekend weekends "
    "week weeks fortnight month months quarter year years annual annually daily weekly monthly yearly "
    "decade century "
    "spring summer autumn fall winter season heute morgen übermorgen demain mañana domani hoje amanhã "
    "christmas xmas easter thanksgiving halloween hanukkah ramadan eid diwali passover pentecost whitsun "
    "carnival "
    "valentine valentines holiday holidays birthday anniversary eve bank solstice equinox memorial labor "
    "labour "
    "independence juneteenth nye advent lent upcoming following"
)
_CLOCK = (
    "noon midday midnight morning afternoon evening night dawn dusk sunrise sunset lunchtime lunch dinner "
    "dinnertime "
    "breakfast teatime bedtime hour hours hr hrs minute minutes min mins second seconds sec secs am pm "
    "o'clock oclock "
    "uhr mittag mittags mitternacht abend abends nachmittag vormittag früh halb viertel stunde stunden "
    "midi minuit matin après-midi soir nuit heure heures mediodía medianoche tarde noche "
    "mezzogiorno mezzanotte mattina sera meio-dia meia-noite noite "
    "half quarter asap now immediately soon later tonight rush anytime"
)


def _words(text: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, text.split()))})(?!\w)", re.IGNORECASE)


_DATE_WORDS = _words(f"{_MONTHS} {_WEEKDAYS} {_DAYS}")
_CLOCK_WORDS = _words(_CLOCK)
_ORDINAL = re.compile(r"(?<!\w)\d{1,2}\s?(?:st|nd|rd|th)(?!\w)", re.IGNORECASE)
_DATE_FIGURES = re.compile(
    r"(?<!\d)(?:\d{4}\s?[-/.年]\s?\d{1,2}(?:\s?[-/.月]\s?\d{1,2})?|\d{1,2}\s?[-/]\s?\d{1,2}(?:\s?[-/]\s?\d{2,4})?|\d{1,2}\.\s?\d{1,2}\.(?:\s?\d{2,4})?|\d{1,2}\.0[1-9]"
    r"|(?:18|19|20|21)\d{2}(?:[01]\d[0-3]\d)?|\d{1,2}月\d{1,2}日?|'\d{2})(?!\d)"
)
_CLOCK_FIGURES = re.compile(
    r"(?<![\d-])(?:[01]?\d|2[0-4])(?:\s?[:.h]\s?[0-5]\d(?:[:.][0-5]\d)?|\s?(?:am|pm|a\.m\.|p\.m\.|h|o.clock|uhr)(?!\w))"
    r"|T[0-2]\d:?[0-5]\d",
    re.IGNORECASE,
)
_HOUR = re.compile(
    r"(?:at |by |around |about )?"
    r"(?:[01]?\d|2[0-4]|[012]\d[0-5]\d|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)",
    re.IGNORECASE,
)


_ENGLISH = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_LEAP_YEAR = 2000
_YEAR_FIRST = re.compile(
    r"(?<![\d-])(?P<year>(?:19|20)\d\d)(?P<dash>[-/.])(?P<month>\d{1,2})(?P=dash)(?P<day>\d{1,2})(?!\d|-\d)"
)
_YEAR_LAST = re.compile(
    r"(?<![\d.-])(?P<one>\d{1,2})(?P<dash>[-/.])(?P<two>\d{1,2})(?P=dash)(?P<year>(?:19|20)\d\d)(?!\d)"
)
_NAME = (
    r"(?P<name>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_DAY_AND_MONTH = re.compile(
    rf"(?<![\d:.,-])(?P<day>\d\d?)(?:st|nd|rd|th)?(?: of)? {_NAME}(?!\w)", re.IGNORECASE
)
_MONTH_AND_DAY = re.compile(
    rf"(?<!\w){_NAME}\.? (?P<day>\d\d?)(?:st|nd|rd|th)?(?![\w:]|[.,-]\d)", re.IGNORECASE
)


def _is_foreign(text: str) -> bool:
    """Whether a text is in a script whose words are not known here."""
    letters = [letter for letter in text if letter.isalpha()]
    return bool(letters) and sum(ord(letter) > 0x2FF for letter in letters) > len(letters) / 2


def is_no_day(text: str) -> bool:
    """Whether a text says a day that no calendar has, however its figures are read.

    >>> [is_no_day(text) for text in ("2026-02-31", "2026-13-05", "31 June", "29 February", "31/12/2026")]
    [True, True, True, False, False]
    >>> [is_no_day(text) for text in ("2027-02-29", "29.02.2027", "2028-02-29", "02/29/2028")]
    [True, True, False, False]
    """
    text = text[:500]
    days = [_possible(int(m["month"]), int(m["day"]), int(m["year"])) for m in _YEAR_FIRST.finditer(text)]
    for match in _YEAR_LAST.finditer(text):
        one, two, year = int(match["one"]), int(match["two"]), int(match["year"])
        days.append(_possible(one, two, year) or _possible(two, one, year))
    for match in (*_DAY_AND_MONTH.finditer(text), *_MONTH_AND_DAY.finditer(text)):
        days.append(_possible(1 + _ENGLISH.index(match["name"][:3].casefold()), int(match["day"])))
    return bool(days) and not all(days)


def _possible(month: int, day: int, year: int = _LEAP_YEAR) -> bool:
    return 1 <= month <= 12 and 1 <= day <= monthrange(year, month)[1]


def may_be_date(text: str) -> bool:
    """Whether a text can say a day, a month or a year.

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
    """Whether a text can say a time of day.

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


_NUMBERS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred hundreds "
    "thousand thousands million millions billion dozen dozens half quarter third double triple single couple "
    "pair once twice thrice few several all none no minimum maximum"
)
_FOREIGN = (
    "null eins ein eine einen zwei drei vier fünf sechs sieben acht neun zehn elf zwölf halb dutzend paar "
    "un une deux trois quatre cinq sept huit neuf dix onze douze quinze vingt trente cent mille douzaine "
    "demi uno una dos tres cuatro cinco seis siete ocho nueve diez once doce veinte cien docena "
    "tre quattro cinque sette otto nove dieci dodici um uma dois duas três quatro sete oito dez"
)
_WORDS = frozenset(f"{_NUMBERS} {_FOREIGN}".split())
_COMPOUND = re.compile(
    r"\w*(?:zwanzig|dreißig|vierzig|fünfzig|sechzig|siebzig|achtzig|neunzig|zehn|hundert|tausend)",
    re.IGNORECASE,
)
_MOST_WORDS = 6
# 2026-05-14, 19:45, +1 415 555 0172, INV-2041: figures, but no quantity.
_OTHER = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}.*|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{1,2}:\d{2}(?::\d{2})?(?:\s?[ap]m)?"
    r"|\+\d[\d\s()-]{6,}|[^\W\d_]+-?\d[\w-]*|\S+@\S+",
    re.IGNORECASE,
)
_CURRENCY = re.compile(
    r"(?:usd|eur|gbp|chf|jpy|inr|cny|aud|cad|rs|no|nr|x|v|us)\.?-?\d[\d.,]*", re.IGNORECASE
)


def may_be_number(text: str) -> bool:
    """Whether a text can say a number.

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
        return _CURRENCY.fullmatch(text) is not None or _OTHER.fullmatch(text) is None
    if any(ord(character) > 0x2FF for character in text):
        return True  # figures of another script
    return bool(_WORDS & set(words)) or any(map(_COMPOUND.fullmatch, words))


def is_whole(text: str) -> bool:
    """Whether the number a text says is whole, as far as its figures tell.

    >>> is_whole("3"), is_whole("1,000"), is_whole("2.0"), is_whole("2.5 kg"), is_whole("three")
    (True, True, True, False, True)
    """
    match = re.fullmatch(r"\D*?-?\d+[.](\d+)\D*", text.strip())
    return match is None or set(match[1]) == {"0"} or len(match[1]) == 3
