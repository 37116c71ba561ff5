"""Where personal data stands in a text: Presidio, without a download and without the network."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import regex

from toolassay.benchmarks.classic.chats.masking.patterns import OWN_PATTERNS
from toolassay.errors import UsageError
from toolassay.extras import needed
from toolassay.files import read_json

_PURPOSE = "masking personal data"
# A telephone number without a word near it that says so scores 0.4, a bare row of nine digits 0.05.
_LEAST_SCORE = 0.4
_LONGEST_TEXT = 10**9
_NAMES = {
    "PHONE_NUMBER": "PHONE",
    "IBAN_CODE": "IBAN",
    "CREDIT_CARD": "CARD",
    "IP_ADDRESS": "IP",
    "US_SSN": "SSN",
    "MAC_ADDRESS": "MAC",
}
_OF_MODELS = ("PERSON", "LOCATION")


class Found(NamedTuple):
    """A stretch of a text, and the kind of data it is."""

    start: int
    end: int
    kind: str


Finder = Callable[[str], list[Found]]
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
        recognisers.append(known.SpacyRecognizer(supported_entities=list(_OF_MODELS), **told))
    analyzer = presidio.AnalyzerEngine(
        registry=presidio.RecognizerRegistry(recognizers=recognisers, supported_languages=[language]),
        nlp_engine=engine,
        supported_languages=[language],
    )

    def find(text: str) -> list[Found]:
        results = analyzer.analyze(text, language=language, score_threshold=_LEAST_SCORE)
        return without_overlaps(
            [
                Found(result.start, result.end, _NAMES.get(result.entity_type, result.entity_type))
                for result in results
            ]
        )

    return find


def without_overlaps(found: Sequence[Found]) -> list[Found]:
    """Of stretches that overlap, one that covers them all, of the kind of the longest; in order.

    >>> without_overlaps([Found(0, 9, "EMAIL"), Found(4, 12, "URL"), Found(20, 25, "IP")])
    [Found(start=0, end=12, kind='EMAIL'), Found(start=20, end=25, kind='IP')]
    """
    kept: list[Found] = []
    longest = 0
    for one in sorted(found, key=lambda one: (one.start, -one.end, one.kind)):
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
            longest = one.end - one.start
            continue
        last = kept.pop()
        kind = one.kind if one.end - one.start > longest else last.kind
        longest = max(longest, one.end - one.start)
        kept.append(Found(last.start, max(last.end, one.end), kind))
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
    blank.max_length = _LONGEST_TEXT
    blank.add_pipe("toolassay_words_as_lemmas")
    engine = engines.SpacyNlpEngine()
    engine.nlp = {"en": blank}
    return "en", engine


def _words_as_lemmas(document: Any) -> Any:
    for token in document:
        token.lemma_ = token.lower_
    return document
