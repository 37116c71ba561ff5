"""How people write a number, so that a changed one is surely not in the request."""

from __future__ import annotations

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
)
_TENS = "_ _ twenty thirty forty fifty sixty seventy eighty ninety"
ONES, TENS = _ONES.split(), _TENS.split()
ORDINAL = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
}
ORDINAL |= {"twelve": "twelfth"}


def in_words(number: int) -> str:
    """A whole number below 100.

    >>> in_words(7), in_words(42)
    ('seven', 'forty-two')
    """
    if number < 20:
        return ONES[number]
    tens, ones = divmod(number, 10)
    return TENS[tens] + (f"-{ONES[ones]}" if ones else "")


def ordinal(word: str) -> str:
    """The ordinal of a number in words.

    >>> ordinal("five"), ordinal("twenty"), ordinal("forty-two")
    ('fifth', 'twentieth', 'forty-second')
    """
    head, _, last = word.rpartition("-")
    last = ORDINAL.get(last) or (last[:-1] + "ieth" if last.endswith("y") else last + "th")
    return f"{head}-{last}" if head else last


def spellings(number: float) -> list[str]:
    """The ways in which a number may stand in a request, in small letters.

    >>> spellings(3)
    ['3', '03', 'three', 'third']
    """
    whole = int(number)
    if whole != number:
        return [f"{number:g}", f"{number:.2f}", f"{number:g}".replace(".", ",")]
    found = [str(whole), f"{whole:02d}", f"{whole:,}"]
    if 0 <= whole < 100:
        name = in_words(whole)
        found += [name, ordinal(name), name.replace("-", " ")]
    if 12 < whole < 24:
        found.append(in_words(whole - 12))
    return list(dict.fromkeys(found))
