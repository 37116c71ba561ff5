"""Whether a text can be a number, in figures or in words."""

from __future__ import annotations

import re

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
