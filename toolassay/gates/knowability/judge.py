"""Could a value be known from what was said?

A value that stands there as it is, is known. Else its exact parts (numbers, days, addresses, codes) must have
been said, in any spelling, and each of its content words, in any form and order: plans put arguments into
their own words ("change the color to blue" for "make its colour blue"), but bring nothing of their own.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from toolassay.gates.knowability import exact, order, words
from toolassay.gates.knowability.currencies import is_currency
from toolassay.gates.knowability.dates import days_in
from toolassay.gates.knowability.parts import Part, take_parts
from toolassay.gates.knowability.results import is_result, is_variable
from toolassay.gates.knowability.said import Said
from toolassay.gates.knowability.spelling import plain, stands_in, with_digits

_AROUND = " \t\r\n'\"`“”‘’«».,;:!?()[]{}<>*"
_DECIMAL = re.compile(r"\.\d")
_BETWEEN_REFERENCES = re.compile(r"<node-\d+>")
_MOST_WORDS = 2000
_DAY = re.compile(r"\b(?:mon|tue|wed|thu|fri|sat|sun)(?:s?day|nesday|rs?day|urday|s|rs?)?\b")


class Doubt(NamedTuple):
    """Why a value is held back: "reject" where it is foreign, "quarantine" where a person should look."""

    state: Literal["quarantine", "reject"]
    reason: str


def judge(value: str, said: Said) -> Doubt | None:
    """What is in a value that nobody said; None where all of it is known.

    >>> said = Said("Change its colour to red, and mail it to Anne on 17 October")
    >>> judge("change the color to red", said), judge("2026-10-17", said)
    (None, None)
    >>> judge("change the color to blue", said)
    Doubt(state='quarantine', reason="'blue' of 'change the color to blue' is not in {it}")
    >>> judge("Paris", said)
    Doubt(state='reject', reason="'Paris' is not in {it}")
    """
    if "<node-" in value and len(pieces := _BETWEEN_REFERENCES.split(value)) > 1:
        return next(filter(None, (judge(piece, said) for piece in pieces)), None)
    text = value.strip()
    bare = text.strip(_AROUND) if not _DECIMAL.match(text) else text.rstrip(_AROUND)
    if not any(character.isalnum() for character in bare):
        return None
    # "US" is not said by "tell us".
    if said.says(bare) if not _is_short_name(bare) else stands_in(bare, said.text):
        return None
    if is_result(plain(text)):
        reason = f"'{shorten(value)}' stands for the result of a step; it is no value, nor a reference"
        return Doubt("reject", reason)
    if is_variable(plain(bare)):
        return Doubt("quarantine", f"'{shorten(value)}' looks like a name for the result of a step")
    if any(_is_said(name, said) for name in words.other_names(plain(bare))):
        return None
    if len(bare) == 3 and is_currency(bare):
        if bare.upper() in said.currencies.sure:
            return None
        if bare.upper() in said.currencies.possible:
            sure = ", ".join(sorted(said.currencies.sure)[:3])
            remark = f", whose words are read as {sure}" if sure else ", though it names a country with it"
            return Doubt("quarantine", f"'{bare}' is not in {{it}}{remark}")
    spelled = plain(bare)
    if exact.is_code(bare) and said.row_of_characters.spells(exact.code_key(spelled)):
        return None
    row = f" {' '.join(match.group() for match in words.words_in(spelled))} "
    has_exact = re.search(r"[\d@]|\w[./]\w", spelled)
    if has_exact is None and row in said.word_row and not _is_short_name(bare):
        return None
    return _weigh(value, with_digits(spelled), said)


def _is_short_name(text: str) -> bool:
    return text.isupper() and not words.is_content(text.casefold())


def _weigh(value: str, text: str, said: Said) -> Doubt | None:
    parts, rest = take_parts(text, said)
    wrong = [part for part in parts if not part.known]
    if any(not part.doubtful for part in wrong):
        return _held(value, [part for part in wrong if not part.doubtful], "reject")
    said_words, foreign = _sort_words(rest, text, said)
    content = [*said_words, *foreign]
    if not content and not parts:
        if words.is_said_in_short(text, said.word_row):
            return None
        return Doubt("reject", f"'{shorten(value)}' is not in {{it}}")
    if not foreign:
        return _held(value, wrong, "quarantine") if wrong else _out_of_place(value, text, said_words, said)
    share = (len(said_words) + len(parts) - len(wrong)) / (len(content) + len(parts))
    state: Literal["quarantine", "reject"] = (
        "reject" if share < 0.5 or _is_name(value, foreign) else "quarantine"
    )
    return _held(value, [*wrong, *(Part(word, False) for word in foreign)], state)


def _sort_words(rest: str, text: str, said: Said) -> tuple[dict[str, str], list[str]]:
    """The content words by key that were said, and the words that were not."""
    days = [*said.days, *(day for _, days in days_in(text) for day in days)] if _DAY.search(rest) else []
    weekdays = {day.weekday[:3] for day in days if day.weekday}
    weekdays |= set(said.weekdays if _DAY.search(rest) else ())
    known: dict[str, str] = {}
    foreign: dict[str, str] = {}
    row = [match.group() for match in words.words_in(words.signs_as_words(rest))][:_MOST_WORDS]
    for place, word in enumerate(row):
        key = words.key_of(word)
        if not words.is_content(word) or word in words.NEGATIONS:
            continue
        if _is_other_currency(word, said):
            foreign[key] = word
        elif said.knows(key) or _is_code_said(word, said) or (_DAY.fullmatch(word) and word[:3] in weekdays):
            known[key] = word
        elif not words.is_filler(key) and not (place == 0 and len(row) > 2 and words.is_light_verb(key)):
            beside = [row[i] for i in (place - 1, place + 1) if 0 <= i < len(row)]
            compounds = (joined for other in beside for joined in (other + word, word + other))
            if any(said.knows(words.key_of(joined)) for joined in compounds) or said.knows_form(word):
                known[key] = word
            else:
                foreign[key] = word
    return known, list(foreign.values())


def _out_of_place(value: str, text: str, known: dict[str, str], said: Said) -> Doubt | None:
    """Whether all words were said, but to say something else."""
    shown = f"'{shorten(value)}'"
    if fault := order.negation_fault(text, known, said):
        return Doubt("quarantine", fault.replace("{value}", shown))
    if word := order.replaced_word(text, said):
        return Doubt("quarantine", f"{{it}} has another word for '{word}' of {shown}")
    is_name = 1 < len(known) <= 4 and _is_name(value, list(known.values()), whole=True)
    if is_name and order.is_near(known, said) is None:
        return Doubt("quarantine", f"the words of {shown} do not stand together in {{it}}")
    return None


def _is_name(value: str, foreign: list[str], *, whole: bool = False) -> bool:
    """Whether what is foreign is a name, of which every word counts."""
    spelled = [word for word in re.findall(r"[^\W\d_][^\W_]*", value) if words.is_content(word.casefold())]
    capital = [plain(word) for word in spelled if word[0].isupper()]
    if len(spelled) <= 4 and len(capital) == len(spelled) > 1:
        return True
    inside = [plain(word) for word in spelled[1:] if word[0].isupper()]
    return not whole and 0 < len(inside) < len(spelled) / 2 and any(word in inside for word in foreign)


def _is_code_said(word: str, said: Said) -> bool:
    """Whether "chf" is said as francs."""
    if len(word) == 3 and word.upper() in said.currencies.sure:
        return True
    return len(word) > 2 and any(_is_said(name, said) for name in words.other_names(word))


def _is_other_currency(word: str, said: Said) -> bool:
    """Whether "usd" is put for the dollars of another country."""
    if len(word) != 3 or not words.key_of(word).startswith("=") or not is_currency(word):
        return False
    return bool(said.currencies.sure) and word.upper() not in said.currencies.sure and not said.says(word)


def _is_said(name: str, said: Said) -> bool:
    if not name[:1].isalpha():
        return name in said.plain
    if " " in name and said.says_keys(name.split()):
        return True
    return said.says(name) or said.knows(words.key_of(name)) or _begins(name, said)


def _begins(name: str, said: Said) -> bool:
    return len(name) > 4 and any(key.startswith(name) for key in said.places)


def _held(value: str, parts: list[Part], state: Literal["quarantine", "reject"]) -> Doubt:
    texts = [part.text for part in parts]
    named = ", ".join(f"'{shorten(text)}'" for text in texts[:5])
    of = "" if len(texts) == 1 and plain(value).strip(_AROUND) == texts[0] else f" of '{shorten(value)}'"
    named = f"'{shorten(value)}'" if not of else named
    remark = next((part.remark for part in parts if part.remark), "")
    verb = "is" if len(texts) == 1 else "are"
    return Doubt(state, f"{named}{of} {verb} not in {{it}}{f': {remark}' if remark else ''}")


def shorten(text: str, most: int = 60) -> str:
    """A text on one line, cut in the middle where it is long.

    >>> shorten("a" * 100, 9)
    'aaaa…aaaa'
    """
    text = " ".join(text[:10_000].split())
    half = (most - 1) // 2
    return text if len(text) <= most else f"{text[:half]}…{text[-half:]}"
