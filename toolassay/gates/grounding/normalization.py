"""Literals of a plan, whether one text occurs in another, and the keys by which content words are compared.

A literal is a value that is no reference to another call. A key is the stem of a word or of its dictionary
form.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache, lru_cache
from typing import NamedTuple, cast

from toolassay.files.data_files import package_data
from toolassay.gates.references import Leaf, placed_leaves
from toolassay.offline.planner.terms import STOP_WORDS
from toolassay.plans.gold import Gold, GoldNode
from toolassay.tools.output_paths import parse_reference

# Scripts without blanks between words: there a word may start anywhere.
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")

_SHORTEST_IDENTIFIER = 8  # characters; the parts of dates, times and numbers are shorter


def stands_in(text: str, inside: str) -> bool:
    """Whether a text occurs in another one, and not only as a part of words or numbers.

    >>> stands_in("art", "a work of art."), stands_in("art", "an article"), stands_in("10", "at 10:15")
    (True, False, False)
    >>> stands_in("1h0CEZCm6Ib", "https://music.org/list/1h0CEZCm6Ib, please"), stands_in("30-11", "1:30-11")
    (True, False)
    """
    start = inside.find(text)
    for _ in range(50):
        if start < 0 or not text:
            return False
        if _ends_before(text, inside, start) and _ends_after(text, inside, start + len(text)):
            return True
        start = inside.find(text, start + 1)
    return False


def _ends_before(text: str, inside: str, start: int) -> bool:
    if start == 0:
        return True
    before = inside[start - 1]
    first = text[0]
    if _is_word(before) and _is_word(first):
        return False
    if before in "/:" and _is_identifier(text):
        return True
    beyond = inside[start - 2] if start > 1 else " "
    if first.isdigit() and before in ".,:-/+":
        # A part of a larger number, date or time; or a negative number.
        return not (beyond.isalnum() or (before in "-+." and beyond.isspace()))
    return not (before in ".-+_@" and beyond.isalnum() and _is_exact(text))


def _ends_after(text: str, inside: str, end: int) -> bool:
    if end >= len(inside):
        return True
    after = inside[end]
    last = text[-1]
    if _is_word(after) and _is_word(last):
        return False
    if after in "/:" and _is_identifier(text):
        return True
    beyond = inside[end + 1] if end + 1 < len(inside) else " "
    if last.isdigit() and after in ".,:-/":
        return not beyond.isalnum()
    return not (after in ".-+_@/" and beyond.isalnum() and _is_exact(text))


def _is_word(character: str) -> bool:
    return (character.isalnum() or character == "_") and not _UNSPACED.match(character)


def _is_identifier(text: str) -> bool:
    """Whether a text is a long code, whole in an address: "…/1h0CEZCm6Ib", "song:1h0CEZCm6Ib"."""
    return len(text) >= _SHORTEST_IDENTIFIER and text.isalnum() and not text.isalpha()


def _is_exact(text: str) -> bool:
    """Whether a text is an address, a file or a code: a part of one is another one."""
    return " " not in text and any(not c.isalpha() for c in text)


def lists() -> Mapping[str, Mapping[str, list[str]]]:
    """The word lists in `data/words.json`, by name."""
    return cast(Mapping[str, Mapping[str, list[str]]], package_data(__package__, "data/words.json"))


_NEGATIONS = frozenset({"not", "no", "never", "without", "none", "neither", "nor", "cannot", "except"})
# Letters and digits: "café" and "2nd" whole; "snake_case" as two words, and nothing of "--".
_WORD = re.compile(r"[^\W_]+")
# Words that change in reported speech ("her" for "you"), and auxiliary verbs.
_TURNED_WORDS = """
    i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her
    hers herself it its itself they them their theirs themselves am is are was were be been being do does did
    have has had will would shall should can could may might must a an the that this to if whether and please
"""
_TURNED = frozenset(_TURNED_WORDS.split())
_STOP = STOP_WORDS | _TURNED | _NEGATIONS | {*["s", "t", "d", "m", "o", "x", "ll", "re", "ve"]}


@cache
def _stemmer() -> Callable[[str], str]:
    import snowballstemmer  # late: it loads stemmers for forty languages

    stem: Callable[[str], str] = snowballstemmer.stemmer("english").stemWord
    return stem


@lru_cache(maxsize=65_536)
def key_of(word: str) -> str:
    """The key of a plain word: its stem.

    >>> key_of("painting") == key_of("painted"), key_of("colours") == key_of("color")
    (True, True)
    """
    if len(word) > 40 or not word.isascii():
        return word
    # "colour" and "organise", not "hour" nor "wise".
    word = re.sub(r"(?<=[a-z]{2}[^f])our(?=s$|ed$|ing$|$)", "or", word)
    return _stemmer()(re.sub(r"(?<=[a-z]{3})is(?=(?:e|es|ed|ing|ation)$)", "iz", word))


def words_in(text: str) -> list[str]:
    """The words of a plain text: runs of letters and digits."""
    return _WORD.findall(text)


def is_content(word: str) -> bool:
    """Whether a plain word has a meaning of its own: no article, pronoun, auxiliary or filler."""
    return word not in _STOP


def other_names(value: str) -> list[str]:
    """The words for a code of a language, currency, country or unit.

    >>> other_names("fr"), other_names("fr-fr")
    (['french', 'france'], ['french', 'france'])
    """
    codes = lists()["codes"]
    for code in (value, re.split(r"[-_]", value)[0]):
        if code in codes:
            return codes[code]
    return []


@lru_cache(maxsize=65_536)
def lemma_key(word: str) -> str:
    """The key of the dictionary form of a plain word.

    >>> lemma_key("swam") == lemma_key("swimming"), lemma_key("geese") == lemma_key("goose")
    (True, True)
    """
    if len(word) > 40 or not word.isascii() or not word.isalpha():
        return word
    import simplemma  # late: its dictionary takes a quarter of a second to load

    return key_of(simplemma.lemmatize(word, lang="en"))


class PlanLiteral(NamedTuple):
    """A value of a plan.

    Attributes:
        node: the call.
        where: path of the argument in the label.
        parameter: the name of the argument; "" if it has none.
        value: the value.
        place: where it is in the argument, if that is a list or an object: `("tags", 0)`.
    """

    node: GoldNode
    where: str
    parameter: str
    value: Leaf
    place: tuple[str | int, ...] = ()


def literals_of(gold: Gold) -> Iterator[PlanLiteral]:
    """Every literal of a plan, in order; lists and objects yield each value in them.

    >>> arguments = ["<node-1>", {"name": "n", "value": [2]}]
    >>> gold = Gold.of({"id": 1, "task_nodes": [{"task": "a", "arguments": arguments}]})
    >>> [(literal.where, literal.parameter, literal.value) for literal in literals_of(gold)]
    [('task_nodes[0].arguments[1]', 'n', 2)]
    """
    tools = {_name(node.tool) for node in gold.nodes}
    for node in gold.nodes:
        for position, argument in enumerate(node.arguments or ()):
            name = ""
            value = argument
            if isinstance(argument, Mapping) and "value" in argument:
                name = str(argument.get("name", ""))
                value = argument["value"]
            for inner, leaf in placed_leaves(value):
                if isinstance(leaf, str) and (parse_reference(leaf) is not None or _name(leaf) in tools):
                    continue
                yield PlanLiteral(node, f"{node.where}.arguments[{position}]", name, leaf, inner)


def _name(text: str) -> str:
    return text.replace("_", " ").strip().casefold()
