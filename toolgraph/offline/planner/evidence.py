"""How much, and where, a request speaks of each tool: TF-IDF over the tools' own words."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toolgraph.offline.planner.words import Word, terms_of, words_of
from toolgraph.tools import ToolLibrary

Floats = NDArray[np.float64]

MAX_CANDIDATES = 20


@dataclass(frozen=True)
class Evidence:
    """What a request says about its candidate tools (m tools, t terms of the request).

    Attributes:
        tools: numbers of the candidate tools, most relevant first, length m.
        weights: (m, t), what each term contributes to each tool; the largest row sum is 1.
        relevance: length m, the row sums: cosine similarity relative to the best tool's.
        places: length m, the mean character position of the terms that speak of the tool.
        length: number of characters of the request that were read.
    """

    tools: tuple[int, ...]
    weights: Floats
    relevance: Floats
    places: Floats
    length: int


class Retriever:
    """Finds the tools a request speaks of.

    A tool is a document: its name (twice, for a name is chosen with more care than a sentence) and its
    description. Terms are stems and pairs of neighbouring stems, weighted by TF-IDF with logarithmic
    term frequency (Salton and Buckley, "Term-weighting approaches in automatic text retrieval", 1988).
    """

    def __init__(self, library: ToolLibrary) -> None:
        from sklearn.feature_extraction.text import TfidfVectorizer

        vectorizer = TfidfVectorizer(analyzer=terms_of, sublinear_tf=True)
        documents = [f"{tool.id} {tool.id} {tool.description}" for tool in library]
        self._vocabulary: dict[str, int] = {}
        self._weights: Any = None
        if any(terms_of(document) for document in documents):
            self._weights = vectorizer.fit_transform(documents).tocsr()
            self._vocabulary = vectorizer.vocabulary_
            self._rarity: Floats = vectorizer.idf_

    def evidence(self, request: str) -> Evidence | None:
        """The evidence a request holds, or None where it speaks of no tool."""
        terms, places = self._terms(words_of(request))
        if not terms:
            return None
        counts = Counter(terms)
        # Each mention carries its share of the term's logarithmic weight.
        query = np.array([self._rarity[term] * (1 + np.log(counts[term])) / counts[term] for term in terms])
        columns = np.array(terms)
        vector = np.bincount(columns, weights=query, minlength=self._weights.shape[1])
        similarity = self._weights @ vector
        order = np.argsort(-similarity, kind="stable")[:MAX_CANDIDATES]
        tools = order[similarity[order] > 0]
        weights = self._weights[tools][:, columns].toarray() * query
        relevance = weights.sum(axis=1)
        best = relevance.max()
        position = np.array(places, dtype=float)
        return Evidence(
            tools=tuple(tools.tolist()),
            weights=weights / best,
            relevance=relevance / best,
            places=weights @ position / relevance,
            length=max(int(position[-1]) + 1, 1),
        )

    def _terms(self, words: list[Word]) -> tuple[list[int], list[int]]:
        """The columns of the terms that any tool knows, and the character positions they stand at."""
        columns, places = [], []
        for position, word in enumerate(words):
            following = words[position + 1].stem if position + 1 < len(words) else ""
            for term in (word.stem, f"{word.stem} {following}"):
                if term in self._vocabulary:
                    columns.append(self._vocabulary[term])
                    places.append(word.start)
        return columns, places
