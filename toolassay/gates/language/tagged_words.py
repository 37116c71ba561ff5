"""Harper, the grammar checker, and the words of a text with their parts of speech.

Harper tags every word for its own rules, but shows no tags. Its rule language (Weir) can match a part of
speech, so one rule for each part of speech makes Harper report them. Harper's grammar rules run in the same
call.
"""

from __future__ import annotations

import io
import json
import re
import threading
import zipfile
from functools import lru_cache
from typing import Final, NamedTuple

from toolassay.gates.language.masked_text import MaskedText, mask

# The grammar rules of Harper that found real errors and hardly a false one in some 24,000 requests. Its rules
# for spelling, style, brands and idioms are off; so are those that took names, units and -ing nouns for
# errors.
HARPER_RULES: Final = (
    *(
        "AnA",
        "AnAnother",
        "AnotherAn",
        "AnotherOnes",
        "AnotherThings",
        "TheAnother",
        "TheMy",
        "TheTheToThatThe",
    ),
    *("SomeWithoutArticle", "PronounVerbAgreement", "PronounInflectionBe", "IAmAgreement", "IDo", "HeDos"),
    *("NominalWants", "HavePronoun", "InflectedVerbAfterTo", "DidPast", "WillNonLemma", "HelpedPast"),
    *(
        "DoubleModal",
        "ModalOf",
        "LetToDo",
        "ModalBeAdjective",
        "SimplePastToPastParticiple",
        "RegularIrregulars",
    ),
    *("ProgressiveNeedsBe", "WantBe", "IsBeenAuxSequence", "MakeItSeem", "LooksLikes", "HowDoesCompared"),
    *("ToAdverb", "AdjectiveDoubleDegree", "MoreBetter", "LessWorse", "TheyToThem"),
)
_TAGS: Final = (
    *(
        "ADJ",
        "ADP",
        "ADV",
        "AUX",
        "CCONJ",
        "DET",
        "INTJ",
        "NOUN",
        "NUM",
        "PART",
        "PRON",
        "PROPN",
        "SCONJ",
        "VERB",
    ),
)
_TAG_RULE: Final = "PartOfSpeech"

# "don't", "check-in", "guests'", "12"; not the mark of "'x".
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|\d+")


class Word(NamedTuple):
    """A word of a masked text.

    Attributes:
        text: the word as written; a made-up word if it stands for data.
        low: the same in lower case, with straight apostrophes.
        tag: its part of speech (`NOUN`, `VERB`, …); "DATA" for data, "" if unknown.
        start: place of the first character.
        end: place after the last character.
        gap: the text between the word before and this one.
    """

    text: str
    low: str
    tag: str
    start: int
    end: int
    gap: str

    @property
    def follows(self) -> bool:
        """Whether only blanks are between the word before and this one."""
        return bool(self.gap) and self.gap.isspace() and "\n\n" not in self.gap

    @property
    def opens_sentence(self) -> bool:
        """Whether a sentence ends before the word, or the text starts with it."""
        return self.gap != " " and (not self.gap or any(mark in self.gap for mark in ".!?:;\n•"))


class HarperFinding(NamedTuple):
    """What one of Harper's rules found at `text[start:end]`."""

    rule: str
    start: int
    end: int


class TaggedText(NamedTuple):
    """A text as the rules read it.

    Attributes:
        masked: the text with data masked.
        words: its words, in order.
        places: for each word in lower case, its places in `words`.
        harper: what Harper's rules found, data left out.
        parameters: parameter names of the plan's tools.
    """

    masked: MaskedText
    words: tuple[Word, ...]
    places: dict[str, list[int]]
    harper: tuple[HarperFinding, ...]
    parameters: frozenset[str] = frozenset()

    def places_of(self, words: frozenset[str]) -> list[int]:
        """The places of some words, in order."""
        if len(words) < len(self.places):
            found = [place for word in words if word in self.places for place in self.places[word]]
        else:
            found = [place for word, places in self.places.items() if word in words for place in places]
        return sorted(found)

    def at(self, place: int) -> Word:
        """The word at a place; an empty one beyond the ends."""
        return self.words[place] if 0 <= place < len(self.words) else _NO_WORD

    def next(self, place: int) -> Word:
        """The word that follows with only blanks between; else an empty one."""
        word = self.at(place + 1)
        return word if word.follows else _NO_WORD

    def previous(self, place: int) -> Word:
        """The word before with only blanks between; else an empty one."""
        return self.at(place - 1) if place > 0 and self.words[place].follows else _NO_WORD


_NO_WORD: Final = Word("", "", "", 0, 0, "")


class _Harper:
    """The grammar checker of the process: it takes a second to build, and one call at a time."""

    def __init__(self) -> None:
        from harper import Language, Linter  # late: its library has 19 MB

        self._plain = Language.PLAINTEXT
        self._linter = Linter()
        failed = self._linter.load_weirpack(_tag_rules())
        if failed:
            raise RuntimeError(f"Harper reads rules for parts of speech differently: {failed}")
        known = self._linter.get_lint_config()
        self._tags_only = {name: name.startswith(_TAG_RULE) for name in known}
        self._linter.set_lint_config(
            {name: on or name in HARPER_RULES for name, on in self._tags_only.items()}
        )
        self._lock = threading.Lock()

    def read(self, text: str) -> tuple[dict[int, str], list[HarperFinding]]:
        """The part of speech of each word by its place, and what the grammar rules find."""
        with self._lock:
            lints = self._linter.lint(text, language=self._plain, dedup=False)
            tags = {}
            faults = 0
            for lint in lints:
                if (message := lint.message).startswith(_TAG_RULE):
                    tags[lint.span.start] = message.removeprefix(_TAG_RULE)
                else:
                    faults += 1
            # A lint does not name its rule; the other method does, and is eight times slower.
            named = self._linter.organized_lints(text, language=self._plain, dedup=False) if faults else {}
        found = [
            HarperFinding(rule, lint.span.start, lint.span.end)
            for rule, lints in named.items()
            if not rule.startswith(_TAG_RULE)
            for lint in lints
        ]
        return tags, found


def _tag_rules() -> bytes:
    """A pack of Weir rules, one for each part of speech."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as pack:
        manifest = {"name": _TAG_RULE, "author": "", "version": "1", "description": "", "license": "MIT"}
        pack.writestr("manifest.json", json.dumps(manifest))
        for tag in _TAGS:
            pack.writestr(
                f"{_TAG_RULE}{tag}.weir",
                f'expr main {tag}\n\nlet message "{_TAG_RULE}{tag}"\nlet description "{tag}"\n'
                f'let kind "Miscellaneous"\nlet becomes "{tag}"\n',
            )
    return packed.getvalue()


@lru_cache(maxsize=1)
def _harper() -> _Harper:
    return _Harper()


def tagged(text: str, parameters: frozenset[str] = frozenset()) -> TaggedText:
    """Mask the data of a text and tag its words.

    >>> [(word.text, word.tag) for word in tagged("Send 'a b' to me").words]
    [('Send', 'VERB'), ('Xxxxx', 'DATA'), ('to', 'ADP'), ('me', 'PRON')]
    """
    masked = mask(text)
    tags, found = _harper().read(masked.text)
    data = {start for start, _ in masked.spans}
    words: list[Word] = []
    places: dict[str, list[int]] = {}
    end = 0
    for match in _WORD.finditer(masked.text):
        start = match.start()
        word = match.group()
        if start in data:
            tag, low = "DATA", ""
        else:
            low = word.lower().replace("’", "'")
            # The last part of a compound has its part of speech: the noun in "check-in desk" is "desk".
            tag = tags.get(start, "") if "-" not in word else tags.get(start + word.rindex("-") + 1, "")
            places.setdefault(low, []).append(len(words))
        words.append(Word(word, low, tag, start, match.end(), masked.text[end:start]))
        end = match.end()
    found = [fault for fault in found if not masked.touches_data(fault.start, fault.end)]
    return TaggedText(masked, tuple(words), places, tuple(found), parameters)


@lru_cache(maxsize=65_536)
def lemma(word: str) -> str:
    """The dictionary form of a word in lower case.

    >>> lemma("rooms"), lemma("sent"), lemma("news")
    ('room', 'send', 'news')
    """
    if len(word) > 40 or not word.isascii() or not word.isalpha():
        return word
    import simplemma  # late: its dictionary takes a quarter of a second to load

    return simplemma.lemmatize(word, lang="en")


@lru_cache(maxsize=65_536)
def is_known(word: str) -> bool:
    """Whether the dictionary has a word in lower case: not "sms", whose first sound depends on the reader."""
    import simplemma

    return simplemma.is_known(word, lang="en")
