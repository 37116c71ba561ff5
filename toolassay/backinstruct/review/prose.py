"""Conclusions in a sentence: "The plan is executable and correct", "it is neither executable nor correct"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from toolassay.backinstruct.review.words import ASPECTS, CORRECT, EXECUTABLE, HEDGE, Said

_PLAN = "plan|task graph|graph|workflow|solution|sequence|pipeline|instruction|sample|answer"
_SENTENCE = re.compile(r"[^.;!?\n]+[.;!?]?")
_OPINION = re.compile(rf"\b(?:({_PLAN})|it|everything|this|they)\s+(?:is|are|was|were)\b")
_HEADING = re.compile(
    r"\W{0,9}(?:(?:final |overall )?(?:verdict|conclusion|result|judge?ment|assessment|overall)\s*[:–—-]+)?"
)
_LONGEST = 400  # characters of a sentence that concludes
_PART = re.compile(r"\b(?:steps?|nodes?|tools?|links?|arguments?|part|rest|most|half|of)\b")
_CONDITION = re.compile(
    r"\b(?:if|whether|would|should|could|check|verify|decide|ensure|sure that|when|asked?|judge)\b"
)
_UNSURE = re.compile(
    r"\b(?:not|n't|cannot|doubt|unsure|think|believe|seems?|appears?|probably|maybe|perhaps)\b"
)
_TOKEN = re.compile(r"[a-z]+(?:'[a-z]+)?|[^\sa-z]")
_PADDING = {
    *("fully", "completely", "entirely", "perfectly", "indeed", "also", "clearly", "therefore", "thus"),
    *("is", "are", "it", "both", "overall"),
}
_NO = {"incorrect": CORRECT, "unexecutable": EXECUTABLE, "inexecutable": EXECUTABLE}
_TURNS = {"but", "yet", "though", "although", "however"}


def sentences(text: str) -> Iterator[Said]:
    """Each such conclusion about the whole plan, in a text in lower case, in order."""
    for sentence in _SENTENCE.finditer(text):
        words = sentence[0]
        if len(words) <= _LONGEST and not words.endswith("?"):
            for aspect, value in _opinion(words).items():
                yield Said(aspect, value, sentence.start(), sentence.end())


def _opinion(sentence: str) -> dict[str, bool | None]:
    """What a sentence says of the whole plan."""
    sentence = sentence.replace("n't", " not").replace("nonexecutable", "not executable")
    found = _OPINION.search(sentence)
    if found is None:
        heading = _HEADING.match(sentence)
        said, whole = _adjectives(sentence[heading.end() if heading else 0 :].rstrip(".;! "))
        return said if whole and len(said) == len(ASPECTS) else {}
    before = sentence[: found.start()]
    if _PART.search(before) or _CONDITION.search(before):
        return {}
    said, _ = _adjectives(sentence[found.end() :].rstrip(".;! "))
    if found[1] is None and len(said) < len(ASPECTS):
        return {}  # "it" may be a step
    return dict.fromkeys(said) if _UNSURE.search(before) else said


def _adjectives(tail: str) -> tuple[dict[str, bool | None], bool]:
    """What is said of each aspect after "is", and whether nothing else is said."""
    said: dict[str, bool | None] = {}
    negated = carried = neither = unclear = False
    before = ""
    for token in _TOKEN.finditer(tail):
        word = token[0]
        if word in ("not", "never", "non", "neither"):
            unclear |= negated and not carried
            negated, carried, neither = True, False, word == "neither"
        elif word == "both":
            unclear |= negated  # "not both executable and correct"
        elif word == "or" and not negated:
            unclear = True
        elif word in _TURNS:
            negated = carried = False
        elif word in ("executable", "correct", *_NO):
            is_no = word in _NO
            unclear |= negated and is_no and (neither or not carried)
            # "not executable and correct": does "not" reach that far? "neither … nor", "not … or" do.
            reached = carried and negated and not (neither or is_no) and before not in ("or", "nor")
            said[_NO.get(word, word)] = None if reached else not (negated or is_no)
            carried = negated
        elif word not in _PADDING and word not in ("or", "nor", "and", ",", "&", "-"):
            if HEDGE.search(tail[token.start() :]) or before in _TURNS:
                unclear = True
            return ({aspect: None if unclear else value for aspect, value in said.items()}, False)
        if word not in _PADDING:
            before = word
    return ({aspect: None if unclear else value for aspect, value in said.items()}, True)
