"""The workflow that a chat asks for, retrieved by TF-IDF: the baseline of an agent that only chooses."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from toolgraph.models import ChatResponse, ToolCall
from toolgraph.offline.planner.words import terms_of
from toolgraph.offline.tasks import ChoiceTask

# Set once, by what they mean, and not by looking at labels.
EARLIER_USER, LAST_BOT = 0.4, 0.2  # the weight of earlier messages; that of the last is 1
THRESHOLD = 0.1  # how near the best candidate must come; below it none is chosen
_FEATURES = 2**18
_KEPT = 64  # lists of candidates


def choose(task: ChoiceTask) -> ChatResponse:
    """The answer: the name as a JSON object, or as a call."""
    name = nearest(task)
    if task.as_call:
        return ChatResponse("", "tool_calls", tool_calls=(ToolCall("call_0", name, "{}"),))
    return ChatResponse(json.dumps({"workflow": name}, ensure_ascii=False))


def nearest(task: ChoiceTask) -> str:
    """The name of the candidate that is most like the chat, or that for none.

    Words (stemmed, with what people say for the same action) and parts of words count alike. Words that no
    candidate has count against all of them. Of candidates that are as near, the first by name.

    >>> names = (("Track Parcel", "Where is my parcel?"), ("Return Goods", "Sends goods back"))
    >>> nearest(ChoiceTask((("user", "my parcel is late"),), names, "none"))
    'Track Parcel'
    >>> nearest(ChoiceTask((("user", "hello there"),), names, "none"))
    'none'
    """
    if not task.candidates:
        return task.nothing
    scores = _index(task.candidates).scores(_weighted(task.chat))
    best, name = min((-score, name) for score, (name, _) in zip(scores, task.candidates, strict=True))
    return name if -best >= THRESHOLD else task.nothing


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

    def scores(self, chat: list[tuple[str, float]]) -> list[float]:
        """How like the chat each candidate is, from 0 to 1, rounded so that machines agree."""
        total = 0.0
        for counts, weigh, candidates in self._parts:
            asked = sum(
                weight * weigh.transform(counts.transform([text])) for text, weight in chat if text.strip()
            )
            length = float(asked.multiply(asked).sum()) ** 0.5
            total = total + (candidates @ asked.T).toarray()[:, 0] / (length or 1.0)
        return [round(float(score) / len(self._parts), 9) for score in total]  # type: ignore[attr-defined]


@lru_cache(_KEPT)
def _index(candidates: tuple[tuple[str, str], ...]) -> _Index:
    return _Index(tuple(f"{name}\n{text}" for name, text in candidates))
