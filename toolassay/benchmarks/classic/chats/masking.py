"""Replaces personal data by placeholders. It is found by patterns, optionally with a local language model
too.

Presidio does the detection, without any download or network access.
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
from toolassay.files.data_files import read_json

# "Lee", "O'Brien" and "Smith-Jones"; not "lee", although the patterns ignore case.
_WORD = r"(?-i:\p{Lu}[\p{L}'’-]+)"
# "Ann", "Ann Lee" and "Ann B. Lee"; not "ann lee".
_NAME = rf"{_WORD}(?: (?-i:\p{{Lu}}\.))?(?: {_WORD}){{0,2}}"

OWN_PATTERNS: tuple[tuple[str, str], ...] = (
    # Presidio's e-mail recogniser downloads a list of domains, and takes minutes for some long texts. Matches
    # "ann.lee@acme.example"; not "ann@acme".
    ("EMAIL", r"(?<![\w.+%-])[\w+%-][\w.+%'-]*@\w[\w-]*(?:\.\w[\w-]*)+"),
    # Matches "ann [at] acme.example"; not "ann at acme.example".
    ("EMAIL", r"(?<![\w.+%-])[\w+%-][\w.+%'-]*\s?[\[(]\s?at\s?[\])]\s?\w[\w-]*(?:\.\w[\w-]*)+"),
    # Presidio's URL recogniser takes any word that ends in one of a thousand domains, e.g. "done.so". Matches
    # "www.acme.example/a"; not the full stop after it.
    ("URL", r"\b(?:https?://|www\.)[^\s<>\"']*[^\s<>\"'.,;:!?)\]]"),
    # Matches "docs.acme.com/a"; not "done.so".
    (
        "URL",
        r"(?<![\w.-])(?:[a-z0-9-]+\.)+(?:com|org|net|edu|gov|io|co|uk|de|fr|example)\b"
        r"(?:/[^\s<>\"']*[^\s<>\"'.,;:!?)\]])?",
    ),
    # A name that the text introduces: matches the "Ann Lee" of "my name is Ann Lee"; not of "my name is
    # unusual".
    ("PERSON", rf"(?<=\b(?:my name is|my name's|i am called|name:) ){_NAME}"),
    ("PERSON", rf"(?<=\b(?:mr|mrs|ms|dr|prof)\.? ){_NAME}"),
    # Matches the date of "born on 3.4.1990"; not of "ordered on 3.4.2020".
    (
        "DATE_OF_BIRTH",
        r"(?<=\b(?:born(?: on)?|birthday(?: is)?|date of birth(?: is)?|dob)[: ] ?)"
        r"\d{1,4}[-/. ]\d{1,2}[-/. ]\d{1,4}",
    ),
)


_PURPOSE = "masking personal data"
# Presidio scores a telephone number without a context word 0.4, and a bare sequence of nine digits (US_SSN)
# 0.05.
_MIN_SCORE = 0.4
# Characters. spaCy refuses more than 1,000,000, because of models that are not loaded here.
_MAX_TEXT_LENGTH = 10**9
_KINDS = {
    "PHONE_NUMBER": "PHONE",
    "IBAN_CODE": "IBAN",
    "CREDIT_CARD": "CARD",
    "IP_ADDRESS": "IP",
    "US_SSN": "SSN",
    "MAC_ADDRESS": "MAC",
}
_RECOGNISERS = ("Iban", "CreditCard", "Ip", "MacAddress", "UsSsn")
_MODEL_ENTITIES = ("PERSON", "LOCATION")


class PiiSpan(NamedTuple):
    """A range of characters in a text, and the kind of personal data in it."""

    start: int
    end: int
    kind: str


Finder = Callable[[str], list[PiiSpan]]
"""Finds the personal data in a text: in order, without overlaps."""


def find_with(
    model: Path | None = None, *, regions: Sequence[str] = (), own: Mapping[str, str] | None = None
) -> Finder:
    """Create a finder of personal data.

    Args:
        model: the folder of a spaCy model for names of people and places; None uses patterns only.
        regions: of telephone numbers without a country code, e.g. `("US", "DE")`; default: Presidio's.
        own: additional patterns by kind, e.g. `{"EMPLOYEE": "E[0-9]{6}"}`.

    Raises:
        UsageError: Presidio is not installed, the model does not exist, a pattern is invalid, or a region is
            unknown.
    """
    for kind, pattern in (own or {}).items():
        _check_pattern(kind, pattern)
    presidio = needed("presidio_analyzer", _PURPOSE, "chats")
    if unknown := {*regions} - {*needed("phonenumbers", _PURPOSE, "chats").SUPPORTED_REGIONS}:
        raise UsageError(f"--phone_regions: unknown region {min(unknown)!r}", fix="use codes as US,DE,GB")
    # At the level DEBUG Presidio logs the words around personal data.
    logging.getLogger("presidio-analyzer").setLevel(logging.WARNING)
    language, engine = _engine(model)
    known = needed("presidio_analyzer.predefined_recognizers", _PURPOSE, "chats")
    shared = {"supported_language": language}
    named = [getattr(known, f"{name}Recognizer")(**shared) for name in _RECOGNISERS]
    patterns = [
        presidio.PatternRecognizer(kind, patterns=[presidio.Pattern(kind, pattern, 0.9)], **shared)
        for kind, pattern in [*OWN_PATTERNS, *(own or {}).items()]
    ]
    phones = known.PhoneRecognizer(**({"supported_regions": tuple(regions)} if regions else {}), **shared)
    recognisers = [phones, *named, *patterns]
    if model is not None:
        recognisers.append(known.SpacyRecognizer(supported_entities=list(_MODEL_ENTITIES), **shared))
    analyzer = presidio.AnalyzerEngine(
        registry=presidio.RecognizerRegistry(recognizers=recognisers, supported_languages=[language]),
        nlp_engine=engine,
        supported_languages=[language],
    )

    def find(text: str) -> list[PiiSpan]:
        results = analyzer.analyze(text, language=language, score_threshold=_MIN_SCORE)
        kinds = (_KINDS.get(result.entity_type, result.entity_type) for result in results)
        return without_overlaps(
            [PiiSpan(result.start, result.end, kind) for result, kind in zip(results, kinds, strict=True)]
        )

    return find


def without_overlaps(spans: Sequence[PiiSpan]) -> list[PiiSpan]:
    """Merge overlapping ranges into one that covers them, with the kind of the longest; in order.

    >>> without_overlaps([PiiSpan(0, 9, "EMAIL"), PiiSpan(4, 12, "URL"), PiiSpan(20, 25, "IP")])
    [PiiSpan(start=0, end=12, kind='EMAIL'), PiiSpan(start=20, end=25, kind='IP')]
    """
    groups: list[list[PiiSpan]] = []
    end = 0
    for span in sorted(spans, key=lambda span: (span.start, -span.end, span.kind)):
        if not groups or span.start >= end:
            groups.append([])
        groups[-1].append(span)
        end = max(end, span.end)
    longest = (max(group, key=lambda span: span.end - span.start) for group in groups)  # the first of several
    return [
        PiiSpan(group[0].start, max(span.end for span in group), most.kind)
        for group, most in zip(groups, longest, strict=True)
    ]


def _check_pattern(kind: str, pattern: str) -> None:
    if not regex.fullmatch("[A-Z][A-Z_]*", kind):
        raise UsageError(f"{kind!r} cannot be the name of a kind", fix="write it like EMPLOYEE_ID")
    try:
        if regex.search(pattern, "") is None:
            return
        problem = "matches an empty text"
    except regex.error as error:
        problem = f"is invalid: {error}"
    raise UsageError(f"the pattern of {kind} {problem}", fix="correct the regular expression")


def _engine(model: Path | None) -> tuple[str, Any]:
    """The language and the NLP engine: a model on disk, or only a tokenizer."""
    spacy = needed("spacy", _PURPOSE, "chats")
    engines = needed("presidio_analyzer.nlp_engine", _PURPOSE, "chats")
    if model is not None:
        meta = model / "meta.json"
        if not meta.is_file() or not (model / "config.cfg").is_file():
            raise UsageError(
                "is not the folder of a spaCy model",
                file=model,
                fix="give the folder with config.cfg and meta.json; nothing is downloaded",
            )
        language = str(read_json(meta).get("lang", "en"))
        return language, engines.SpacyNlpEngine([{"lang_code": language, "model_name": str(model)}])
    # Presidio raises the score of a number near certain words, which it looks up as lemmas. Lemmas need a
    # model, so the lower-cased words are used instead.
    spacy.Language.component("toolassay_words_as_lemmas", func=_words_as_lemmas)
    blank = spacy.blank("en")
    # Splitting at blanks suffices; spaCy's rules for English take minutes for some long texts.
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


# Matches "<PERSON_1>"; not "<your name>".
_PLACEHOLDER = re.compile(r"<[A-Z][A-Z_]*_\d+>")
# Characters. A shorter value, such as "Al", is masked only where it is recognised: it may be a word.
_MIN_VALUE_LENGTH = 3


@dataclass
class Scope:
    """The values of one chat, which share the numbering of placeholders.

    Attributes:
        find: finds personal data.
        counts: number of masked values by kind; several scopes may share it.
    """

    find: Finder
    counts: Counter[str] = field(default_factory=Counter)
    _numbers: dict[tuple[str, str], int] = field(default_factory=dict)
    _known: dict[str, tuple[str, int]] = field(default_factory=dict)
    _in_any_case: dict[str, tuple[str, int]] = field(default_factory=dict)

    def mask(self, texts: list[str]) -> list[str]:
        r"""Mask texts. A value found in one text is masked in the others as well.

        >>> def find(text):
        ...     return [PiiSpan(m.start(), m.end(), "EMAIL") for m in re.finditer(r"\S+@\S+", text)]
        >>> Scope(find).mask(["write to a@b.example", "to A@B.example or c@d.example"])
        ['write to <EMAIL_1>', 'to <EMAIL_1> or <EMAIL_2>']
        """
        taken = [[match.span() for match in _PLACEHOLDER.finditer(text)] for text in texts]
        spans_by_text = [
            [
                span
                for span in self.find(text)
                if not any(span.start < end and start < span.end for start, end in spans)
            ]
            for text, spans in zip(texts, taken, strict=True)
        ]
        for text, spans in zip(texts, spans_by_text, strict=True):
            for span in spans:
                self._remember(text[span.start : span.end], span.kind)
        return [self._replaced(text, spans) for text, spans in zip(texts, spans_by_text, strict=True)]

    def _remember(self, value: str, kind: str) -> None:
        key = kind, _same(value, kind)
        number = self._numbers.setdefault(key, 1 + sum(known == kind for known, _ in self._numbers))
        # A single name may be an ordinary word: "Will" and "WILL" are masked, "will" is not.
        if len(value) >= _MIN_VALUE_LENGTH and (kind != "PERSON" or " " in value):
            self._in_any_case.setdefault(value.casefold(), (kind, number))
        for part in (value, *(value.split() if kind == "PERSON" else ())):
            if len(part) >= _MIN_VALUE_LENGTH:
                self._known.setdefault(part, (kind, number))
                self._known.setdefault(part.upper(), (kind, number))

    def _number_of(self, value: str) -> tuple[str, int] | None:
        return self._known.get(value) or self._in_any_case.get(value.casefold())

    def _replaced(self, text: str, spans: list[PiiSpan]) -> str:
        masked = []
        end = 0
        for span in without_overlaps([*spans, *self._again(text)]):
            value = text[span.start : span.end]
            kind, number = self._number_of(value) or (
                span.kind,
                self._numbers.get((span.kind, _same(value, span.kind)), 0),
            )
            if not number:  # the merged range of overlapping values is a new value
                self._remember(value, kind)
                number = self._numbers[kind, _same(value, kind)]
            masked += [text[end : span.start], f"<{kind}_{number}>"]
            end = span.end
            self.counts[kind] += 1
        return "".join([*masked, text[end:]])

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
    """A chat with placeholders. `counts` is increased by the number of masked values by kind."""
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
    """The form of a value in which its spellings are equal."""
    if kind in ("PHONE", "CARD", "SSN"):
        return re.sub(r"\D", "", value)
    return re.sub(r"[\s-]+", "", value.casefold()) if kind == "IBAN" else " ".join(value.casefold().split())
