"""The workflow that a chat asks for, retrieved by TF-IDF: the baseline of an agent that only chooses."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from toolassay.models import ChatResponse, ToolCall
from toolassay.offline.model_tasks import ChoiceTask
from toolassay.offline.planner.terms import terms_of

EARLIER_USER, LAST_BOT = 0.4, 0.2
"""What earlier messages weigh; the last one weighs 1. Set once, without a look at labels."""
_FEATURES = 2**18
_KEPT = 64  # lists of candidates


def choose(task: ChoiceTask) -> ChatResponse:
    """The answer: the name as a JSON object, or as a call."""
    name = nearest(task)
    if task.as_call:
        return ChatResponse("", "tool_calls", tool_calls=(ToolCall("call_0", name, "{}"),))
    return ChatResponse(json.dumps({"workflow": name}, ensure_ascii=False))


def nearest(task: ChoiceTask) -> str:
    """The name of the candidate most like the chat; that for none, where none shares a word with it.

    Words (stemmed, with what people say for the same action) and parts of words count alike. Of candidates
    that are as near, the first by name.

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
    """Texts and their weights: the last message, what its writer said before, and the last reply."""
    earlier = " ".join(text for sender, text in chat[:-1] if sender == "user")
    replies = [text for sender, text in chat[:-1] if sender == "bot"]
    return [(chat[-1][1], 1.0), (earlier, EARLIER_USER), (replies[-1] if replies else "", LAST_BOT)]


class _Index:
    """The candidates as vectors; hashed, so that words which none of them has are not left out."""

    def __init__(self, texts: tuple[str, ...]) -> None:
        from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer

        common: dict[str, Any] = {"n_features": _FEATURES, "norm": None, "alternate_sign": False}
        self._parts = []
        for kind in ({"analyzer": terms_of}, {"analyzer": "char_wb", "ngram_range": (3, 5)}):
            counts = HashingVectorizer(**common, **kind)
            weigh = TfidfTransformer(sublinear_tf=True)
            self._parts.append((counts, weigh, weigh.fit_transform(counts.transform(texts))))

    def scores(self, chat: Sequence[tuple[str, float]]) -> list[float]:
        """How like the chat each candidate is, from 0 to 1, rounded so that machines agree; 0 without a word
        in common.
        """
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
