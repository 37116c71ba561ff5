"""What two spellings of one request have in common: its words, and its letters and figures."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import regex

# Languages that put no blanks between words are cut into letters.
_ALONE = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}]"
_WORD = regex.compile(rf"{_ALONE}|[\p{{L}}\p{{M}}\p{{N}}]+")
_SPOKEN = regex.compile(rf"{_ALONE}|[\p{{L}}\p{{M}}\p{{N}}]+(?:'[\p{{L}}\p{{M}}]+)*")
# Signs that mean something ("C#", "3 + 5", "-5", "$ 5"); other punctuation does not count.
_WORD_OR_SIGN = regex.compile(
    r"[\p{L}\p{M}\p{N}]+|[\p{Sm}\p{Sc}\p{So}%#&*/@\\]|(?<![\p{L}\p{N}])[-−](?=\p{N})"
)
# The same two for ASCII, which most requests are: in a third of the time.
_PLAIN_WORD = re.compile(r"[a-z0-9]+")
_PLAIN_WORD_OR_SIGN = re.compile(r"[a-z0-9]+|[$+<=>|~%#&*/@\\]|(?<![a-z0-9])-(?=[0-9])")
_BETWEEN_FIGURES = re.compile(r"(?<=\d) (?=\d)")
_FIGURE = re.compile(r"\d")
_UNSEEN = regex.compile(r"\p{Cf}")
_APOSTROPHE = re.compile("[’‘ʼ`´]")
_ENDINGS = {"n't": " not", "'re": " are", "'ve": " have", "'ll": " will", "'d": " would"}
_SHORT_WORDS = {
    "can't": "can not",
    "cannot": "can not",
    "won't": "will not",
    "let's": "let us",
    "i'm": "i am",
    **{f"{word}'s": f"{word} is" for word in ("it", "that", "what", "there", "here", "who", "where")},
}
_SHORT_FORMS = _ENDINGS | _SHORT_WORDS
_SHORT_FORM = re.compile(rf"(?:{'|'.join(_ENDINGS)}|\b(?:{'|'.join(_SHORT_WORDS)}))\b")
# Words by which a request is made, not what it is for: "could you please …, thank you in advance".
_COURTESY = frozenset(Path(__file__).with_name("courtesy.txt").read_text(encoding="utf-8").split())


def plain(text: str) -> str:
    """A text without differences of case, of Unicode form, and without letters that nobody sees.

    >>> plain("ＣＡＦÉ\u200b")
    'café'
    """
    if text.isascii():
        return text.casefold()
    # Folded before and after: some folded letters have a shorter form, some forms fold further.
    return unicodedata.normalize("NFKC", _UNSEEN.sub("", unicodedata.normalize("NFKC", text).casefold()))


def same_words(text: str) -> str:
    """What stays of a text when case, punctuation, blanks and Unicode forms do not count.

    Two requests are *exact* duplicates if this is equal. Blanks and punctuation still part figures, and
    signs that mean something stay: "1.5" is not "15", nor "C#" "C".

    >>> same_words("Please,  crop EXAMPLE.jpg!") == same_words("please crop “example.jpg”")
    True
    >>> same_words("add 1.5"), same_words("add -15"), same_words("?!")
    ('add1 5', 'add-15', '?!')
    """
    folded = plain(text)
    pattern = _PLAIN_WORD_OR_SIGN if folded.isascii() else _WORD_OR_SIGN
    parted = _BETWEEN_FIGURES.sub("\0", " ".join(pattern.findall(folded)))
    return parted.replace(" ", "").replace("\0", " ") or "".join(folded.split())


def words(text: str) -> list[str]:
    """The words of a text, folded, in order.

    >>> words("Don’t crop example.jpg!")
    ["don't", 'crop', 'example', 'jpg']
    """
    found: list[str] = _SPOKEN.findall(_APOSTROPHE.sub("'", plain(text)))
    return found


def content(text: str) -> str:
    """The words that say what a request is for, in order: short forms written out, courtesy left out.

    Requests are *near* duplicates by the likeness of this. The words left out are English; a text that
    has no others keeps them all.

    >>> content("Hello! Could you please crop the photo? I don't need it bigger. Thank you very much!")
    'crop photo not bigger'
    """
    folded = _APOSTROPHE.sub("'", plain(text))
    if "'" in folded or "cannot" in folded:
        folded = _SHORT_FORM.sub(lambda found: _SHORT_FORMS[found[0]], folded)
    found = (_PLAIN_WORD if folded.isascii() else _WORD).findall(folded)
    return " ".join([word for word in found if word not in _COURTESY] or found or [same_words(text)])


def figures(text: str) -> str:
    """The figures in a text, sorted, so that neither their order nor how they are grouped counts.

    >>> figures("on 2026-07-22"), figures("20260722 it is")
    ('00222267', '00222267')
    """
    return "".join(sorted(_FIGURE.findall(text)))
