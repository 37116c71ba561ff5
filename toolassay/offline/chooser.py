"""The offline chooser: the workflow that a chat asks for, retrieved by TF-IDF."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from toolassay.models import ChatResponse
from toolassay.offline.model_tasks import ChoiceTask, choice_answer
from toolassay.offline.planner.terms import terms_of

EARLIER_USER = 0.4
LAST_BOT = 0.2
"""Weights of earlier messages; that of the last one is 1. Chosen once, without a look at labels."""
# Columns of the hashed features: with so many, two words of a chat rarely share one.
_FEATURES = 2**18
_KEPT = 64  # lists of candidates


def choose(task: ChoiceTask) -> ChatResponse:
    """The name of the nearest candidate, as a JSON object or as a call."""
    return choice_answer(task, nearest(task))


def nearest(task: ChoiceTask) -> str:
    """The name of the candidate most similar to the chat; the name for none if none shares a word with it.

    The similarity is the mean of two cosines: of words (stemmed, with synonyms of actions) and of parts of
    words. Ties go to the first candidate by name.

    >>> names = (("Track Parcel", "Where is my parcel?"), ("Return Goods", "Sends goods back"))
    >>> nearest(ChoiceTask((("user", "my parcel is late"),), names, "none"))
    'Track Parcel'
    >>> nearest(ChoiceTask((("user", "hello there"),), names, "none"))
    'none'
    """
    if not task.candidates:
        return task.nothing
    candidates = tuple(sorted(task.candidates))  # one index for all orders of a list
    scores = _index(candidates).scores(_weighted(task.chat))
    best, name = min((-score, name) for score, (name, _) in zip(scores, candidates, strict=True))
    return name if best < 0 else task.nothing


def _weighted(chat: tuple[tuple[str, str], ...]) -> list[tuple[str, float]]:
    """The last message, the earlier messages of its writer and the last reply, with their weights."""
    earlier = " ".join(text for sender, text in chat[:-1] if sender == "user")
    replies = [text for sender, text in chat[:-1] if sender == "bot"]
    return [(chat[-1][1], 1.0), (earlier, EARLIER_USER), (replies[-1] if replies else "", LAST_BOT)]


class _Index:
    """The candidates as vectors, hashed so that words of the chat that no candidate has count too."""

    def __init__(self, texts: tuple[str, ...]) -> None:
        from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer

        common: dict[str, Any] = {"n_features": _FEATURES, "norm": None, "alternate_sign": False}
        self._parts = []
        for kind in ({"analyzer": terms_of}, {"analyzer": "char_wb", "ngram_range": (3, 5)}):
            counts = HashingVectorizer(**common, **kind)
            weigh = TfidfTransformer(sublinear_tf=True)
            self._parts.append((counts, weigh, weigh.fit_transform(counts.transform(texts))))

    def scores(self, chat: Sequence[tuple[str, float]]) -> list[float]:
        """Similarity of each candidate, 0 to 1, rounded so that machines agree; 0 without a common word."""
        texts, weights = zip(*chat, strict=True)
        by_words, by_parts = (self._likeness(part, texts, weights) for part in self._parts)
        return [
            round((words + parts) / 2, 9) if words > 0 else 0.0
            for words, parts in zip(by_words, by_parts, strict=True)
        ]

    @staticmethod
    def _likeness(part: Any, texts: Sequence[str], weights: Sequence[float]) -> list[float]:
        """The cosine of each candidate and the chat."""
        from scipy.sparse import csr_matrix

        counts, weigh, candidates = part
        asked = csr_matrix([weights]) @ weigh.transform(counts.transform(texts))
        length = float((asked.data**2).sum()) ** 0.5 or 1.0
        return [float(score) / length for score in (candidates @ asked.T).toarray()[:, 0]]


@lru_cache(_KEPT)
def _index(candidates: tuple[tuple[str, str], ...]) -> _Index:
    return _Index(tuple(f"{name}\n{text}" for name, text in candidates))
