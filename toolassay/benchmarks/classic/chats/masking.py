"""Personal data replaced by placeholders; found by patterns, or with a local language model too.

Detection is by Presidio, without a download and without the network.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import regex

from toolassay.benchmarks.classic.chats.chat import Chat
from toolassay.benchmarks.classic.data import Workflow
from toolassay.errors import UsageError
from toolassay.extras import needed
from toolassay.files import read_json

__all__ = ["Finder", "Scope", "find_with", "mask_chat", "mask_workflow"]


_WORD = r"(?-i:\p{Lu}[\p{L}'’-]+)"
_NAME = rf"{_WORD}(?: (?-i:\p{{Lu}}\.))?(?: {_WORD}){{0,2}}"

OWN_PATTERNS: tuple[tuple[str, str], ...] = (
    # Presidio's recogniser asks the network for a list of domains, and takes minutes for some long texts.
    ("EMAIL", r"(?<![\w.+%-])[\w+%-][\w.+%'-]*@\w[\w-]*(?:\.\w[\w-]*)+"),
    ("EMAIL", r"(?<![\w.+%-])[\w+%-][\w.+%'-]*\s?[\[(]\s?at\s?[\])]\s?\w[\w-]*(?:\.\w[\w-]*)+"),
    # Presidio's takes any word with a dot in it for an address, if its end is one of a thousand.
    ("URL", r"\b(?:https?://|www\.)[^\s<>\"']*[^\s<>\"'.,;:!?)\]]"),
    (
        "URL",
        r"(?<![\w.-])(?:[a-z0-9-]+\.)+(?:com|org|net|edu|gov|io|co|uk|de|fr|example)\b"
        r"(?:/[^\s<>\"']*[^\s<>\"'.,;:!?)\]])?",
    ),
    # Somebody who says who he is.
    ("PERSON", rf"(?<=\b(?:my name is|my name's|i am called|name:) ){_NAME}"),
    ("PERSON", rf"(?<=\b(?:mr|mrs|ms|dr|prof)\.? ){_NAME}"),
    (
        "DATE_OF_BIRTH",
        r"(?<=\b(?:born(?: on)?|birthday(?: is)?|date of birth(?: is)?|dob)[: ] ?)"
        r"\d{1,4}[-/. ]\d{1,2}[-/. ]\d{1,4}",
    ),
)


_PURPOSE = "masking personal data"
# A telephone number without a word near it that says so scores 0.4, a bare row of nine digits 0.05.
_MIN_SCORE = 0.4
_MAX_TEXT_LENGTH = 10**9
_KINDS = {
    "PHONE_NUMBER": "PHONE",
    "IBAN_CODE": "IBAN",
    "CREDIT_CARD": "CARD",
    "IP_ADDRESS": "IP",
    "US_SSN": "SSN",
    "MAC_ADDRESS": "MAC",
}
_MODEL_ENTITIES = ("PERSON", "LOCATION")


class PiiSpan(NamedTuple):
    """A stretch of a text, and the kind of data it is."""

    start: int
    end: int
    kind: str


Finder = Callable[[str], list[PiiSpan]]
"""What personal data a text has: in order, without overlaps."""


def find_with(
    model: Path | None = None, *, regions: Sequence[str] = (), own: Mapping[str, str] | None = None
) -> Finder:
    """A finder of personal data.

    Args:
        model: the folder of a spaCy model, for names of people and places; None looks for patterns alone.
        regions: of telephone numbers without a country code, e.g. `("US", "DE")`; Presidio's without.
        own: further patterns by kind, e.g. `{"EMPLOYEE": "E[0-9]{6}"}`.

    Raises:
        UsageError: Presidio is not installed, there is no such model, a pattern is none, or a region is
            unknown.
    """
    for kind, pattern in (own or {}).items():
        _check_pattern(kind, pattern)
    presidio = needed("presidio_analyzer", _PURPOSE, "chats")
    _check_regions(regions)
    # Told to, it would log the words around what it finds.
    logging.getLogger("presidio-analyzer").setLevel(logging.WARNING)
    language, engine = _engine(model)
    known = needed("presidio_analyzer.predefined_recognizers", _PURPOSE, "chats")
    told = {"supported_language": language}
    recognisers = [
        known.PhoneRecognizer(**({"supported_regions": tuple(regions)} if regions else {}), **told),
        *(
            recogniser(**told)
            for recogniser in (
                *(known.IbanRecognizer, known.CreditCardRecognizer, known.IpRecognizer),
                *(known.MacAddressRecognizer, known.UsSsnRecognizer),
            )
        ),
        *(
            presidio.PatternRecognizer(kind, patterns=[presidio.Pattern(kind, pattern, 0.9)], **told)
            for kind, pattern in [*OWN_PATTERNS, *(own or {}).items()]
        ),
    ]
    if model is not None:
        recognisers.append(known.SpacyRecognizer(supported_entities=list(_MODEL_ENTITIES), **told))
    analyzer = presidio.AnalyzerEngine(
        registry=presidio.RecognizerRegistry(recognizers=recognisers, supported_languages=[language]),
        nlp_engine=engine,
        supported_languages=[language],
    )

    def find(text: str) -> list[PiiSpan]:
        results = analyzer.analyze(text, language=language, score_threshold=_MIN_SCORE)
        return without_overlaps(
            [
                PiiSpan(result.start, result.end, _KINDS.get(result.entity_type, result.entity_type))
                for result in results
            ]
        )

    return find


def without_overlaps(found: Sequence[PiiSpan]) -> list[PiiSpan]:
    """Of stretches that overlap, one that covers them all, of the kind of the longest; in order.

    >>> without_overlaps([PiiSpan(0, 9, "EMAIL"), PiiSpan(4, 12, "URL"), PiiSpan(20, 25, "IP")])
    [PiiSpan(start=0, end=12, kind='EMAIL'), PiiSpan(start=20, end=25, kind='IP')]
    """
    kept: list[PiiSpan] = []
    longest = 0
    for one in sorted(found, key=lambda one: (one.start, -one.end, one.kind)):
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
            longest = one.end - one.start
            continue
        last = kept.pop()
        kind = one.kind if one.end - one.start > longest else last.kind
        longest = max(longest, one.end - one.start)
        kept.append(PiiSpan(last.start, max(last.end, one.end), kind))
    return kept


def _check_regions(regions: Sequence[str]) -> None:
    known = needed("phonenumbers", _PURPOSE, "chats").SUPPORTED_REGIONS
    if unknown := [region for region in regions if region not in known]:
        raise UsageError(
            f"--phone_regions {unknown[0]!r} is no region", fix="give codes of two capitals, e.g. US,DE,GB"
        )


def _check_pattern(kind: str, pattern: str) -> None:
    if not regex.fullmatch("[A-Z][A-Z_]*", kind):
        raise UsageError(f"{kind!r} is no name of a kind", fix="write it like EMPLOYEE_ID")
    try:
        empty = regex.search(pattern, "") is not None
    except regex.error as error:
        raise UsageError(f"the pattern of {kind} cannot be read: {error}", fix="mend it") from None
    if empty:
        raise UsageError(
            f"the pattern of {kind} matches an empty text", fix="let it match one character at least"
        )


def _engine(model: Path | None) -> tuple[str, Any]:
    """The language, and what cuts texts into words: a model on disk, or rules alone."""
    spacy = needed("spacy", _PURPOSE, "chats")
    engines = needed("presidio_analyzer.nlp_engine", _PURPOSE, "chats")
    if model is not None:
        meta = model / "meta.json"
        if not meta.is_file() or not (model / "config.cfg").is_file():
            raise UsageError(
                "is no folder of a spaCy model",
                file=model,
                fix="name the one that holds config.cfg and meta.json; nothing is downloaded",
            )
        language = str(read_json(meta).get("lang", "en"))
        return language, engines.SpacyNlpEngine([{"lang_code": language, "model_name": str(model)}])
    # Words near a number raise its score. They are looked up as lemmas, which take a model: words do.
    spacy.Language.component("toolassay_words_as_lemmas", func=_words_as_lemmas)
    blank = spacy.blank("en")
    # Blanks are enough between words; the rules of a language take minutes for some long texts.
    blank.tokenizer = needed("spacy.tokenizer", _PURPOSE, "chats").Tokenizer(blank.vocab)
    blank.max_length = _MAX_TEXT_LENGTH
    blank.add_pipe("toolassay_words_as_lemmas")
    engine = engines.SpacyNlpEngine()
    engine.nlp = {"en": blank}
    return "en", engine


def _words_as_lemmas(document: Any) -> Any:
    for token in document:
        token.lemma_ = token.lower_
    return document


_PLACEHOLDER = re.compile(r"<[A-Z][A-Z_]*_\d+>")
_MIN_VALUE_LENGTH = 3


@dataclass
class Scope:
    """The values of one chat; they are forgotten with it.

    Args:
        find: what finds them.
        counts: how many were masked, by kind; several scopes may share it.
    """

    find: Finder
    counts: Counter[str] = field(default_factory=Counter)
    _numbers: dict[tuple[str, str], int] = field(default_factory=dict)
    _known: dict[str, tuple[str, int]] = field(default_factory=dict)
    _in_any_case: dict[str, tuple[str, int]] = field(default_factory=dict)

    def mask(self, texts: list[str]) -> list[str]:
        r"""The texts with placeholders, also where a value that one text gives away stands in another.

        >>> def find(text):
        ...     return [PiiSpan(m.start(), m.end(), "EMAIL") for m in re.finditer(r"\S+@\S+", text)]
        >>> Scope(find).mask(["write to a@b.example", "to A@B.example or c@d.example"])
        ['write to <EMAIL_1>', 'to <EMAIL_1> or <EMAIL_2>']
        """
        found = [self._outside_placeholders(text) for text in texts]
        for text, these in zip(texts, found, strict=True):
            for one in these:
                self._remember(text[one.start : one.end], one.kind)
        return [self._replaced(text, these) for text, these in zip(texts, found, strict=True)]

    def _outside_placeholders(self, text: str) -> list[PiiSpan]:
        taken = [match.span() for match in _PLACEHOLDER.finditer(text)]
        return [
            one
            for one in self.find(text)
            if not any(one.start < end and start < one.end for start, end in taken)
        ]

    def _remember(self, value: str, kind: str) -> None:
        key = kind, _same(value, kind)
        number = self._numbers.setdefault(key, 1 + sum(known == kind for known, _ in self._numbers))
        # A single name may be a word of the language: "Will" is somebody, "WILL" may be, "will" is nobody.
        if len(value) >= _MIN_VALUE_LENGTH and (kind != "PERSON" or " " in value):
            self._in_any_case.setdefault(value.casefold(), (kind, number))
        for part in (value, *(value.split() if kind == "PERSON" else ())):
            if len(part) >= _MIN_VALUE_LENGTH:
                self._known.setdefault(part, (kind, number))
                self._known.setdefault(part.upper(), (kind, number))

    def _number_of(self, value: str) -> tuple[str, int] | None:
        return self._known.get(value) or self._in_any_case.get(value.casefold())

    def _replaced(self, text: str, found: list[PiiSpan]) -> str:
        masked, place = [], 0
        for one in without_overlaps([*found, *self._again(text)]):
            value = text[one.start : one.end]
            kind, number = self._number_of(value) or (
                one.kind,
                self._numbers.get((one.kind, _same(value, one.kind)), 0),
            )
            if not number:  # overlapping values made a longer one
                self._remember(value, kind)
                number = self._numbers[kind, _same(value, kind)]
            masked += [text[place : one.start], f"<{kind}_{number}>"]
            place = one.end
            self.counts[kind] += 1
        return "".join([*masked, text[place:]])

    def _again(self, text: str) -> list[PiiSpan]:
        if not self._known:
            return []
        loose, exact = (
            "|".join(map(re.escape, sorted(values, key=len, reverse=True))) or r"\Z."
            for values in (self._in_any_case, self._known)
        )
        pattern = re.compile(rf"(?<!\w)(?:(?i:{loose})|{exact})(?!\w)")
        return [
            PiiSpan(match.start(), match.end(), known[0])
            for match in pattern.finditer(text)
            if (known := self._number_of(match[0])) is not None
        ]


def mask_chat(chat: Chat, find: Finder, counts: Counter[str]) -> Chat:
    """A chat with placeholders; `counts` grows by what was masked, by kind."""
    texts = [text for exchange in chat.exchanges for text in (exchange.user, exchange.bot)]
    masked = Scope(find, counts).mask(texts)
    exchanges = (
        replace(exchange, user=user, bot=bot)
        for exchange, user, bot in zip(chat.exchanges, masked[::2], masked[1::2], strict=True)
    )
    return replace(chat, exchanges=tuple(exchanges))


def mask_workflow(workflow: Workflow, find: Finder, counts: Counter[str]) -> Workflow:
    """A workflow with placeholders in its name and description."""
    name, description = Scope(find, counts).mask([workflow.name, workflow.description])
    return replace(workflow, name=name, description=description)


def _same(value: str, kind: str) -> str:
    """What two spellings of one value have in common."""
    if kind in ("PHONE", "CARD", "SSN"):
        return re.sub(r"\D", "", value)
    return re.sub(r"[\s-]+", "", value.casefold()) if kind == "IBAN" else " ".join(value.casefold().split())
