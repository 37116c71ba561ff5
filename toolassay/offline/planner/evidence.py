"""How much, and where, a request speaks of each tool: TF-IDF over the tools' own words."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toolassay.offline.planner.words import compounds, placed_terms, terms_of
from toolassay.tools import ToolLibrary

Floats = NDArray[np.float64]

MAX_CANDIDATES = 20

# A clause in which no tool gathers this share of the best tool's relevance asks for nothing.
TELLING_CLAUSE = 0.2

_CLAUSE_END = re.compile(
    r"[.!?;:,](?=\s)|\n|\b(?:then|and|or|after|afterwards?|before|finally|also|next|so|while|but)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Evidence:
    """What a request says about its candidate tools (m tools, t different terms).

    Attributes:
        tools: numbers of the candidate tools, most similar to the request first, length m.
        weights: (m, t), what each term contributes to each tool; the largest row sum is 1.
        relevance: length m, in 0..1: half the similarity to the request relative to the best tool, half
            the best similarity to a telling clause relative to the best tool for that clause.
        clauses: length m, the number of the clause that speaks most of the tool.
        places: length m, the mean character position, within that clause, of what speaks of the tool.
    """

    tools: tuple[int, ...]
    weights: Floats
    relevance: Floats
    clauses: NDArray[np.intp]
    places: Floats


class Retriever:
    """Finds the tools a request speaks of.

    A tool is a document: its name (twice, for a name is chosen with more care than a sentence) and its
    description. Terms are weighted by TF-IDF with logarithmic term frequency and compared by the cosine
    (Salton and Buckley, "Term-weighting approaches in automatic text retrieval", 1988).
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
        known = self._known_terms(request)
        if not known:
            return None
        terms = [term for term, _ in known]
        counts = Counter(terms)
        # Each mention carries its share of the term's logarithmic weight.
        query = np.array([self._rarity[term] * (1 + np.log(counts[term])) / counts[term] for term in terms])
        vector = np.bincount(terms, weights=query, minlength=self._weights.shape[1])
        similarity = self._weights @ vector
        order = np.argsort(-similarity, kind="stable")[:MAX_CANDIDATES]
        tools = order[similarity[order] > 0]
        columns, inverse = np.unique(terms, return_inverse=True)
        rows = self._weights[tools][:, columns].toarray()
        weights = rows * vector[columns] / similarity[tools[0]]
        mentions = rows[:, inverse] * query / similarity[tools[0]]
        whole = mentions.sum(axis=1)
        starts = np.array([start for _, start in known])
        firsts = _first_of_clauses(request, starts)
        by_clause = np.add.reduceat(mentions, firsts, axis=1)
        home = by_clause.argmax(axis=1)
        moments = np.add.reduceat(mentions * starts, firsts, axis=1)
        each = np.arange(len(tools))
        best = by_clause.max(axis=0)
        shares = np.where(best >= TELLING_CLAUSE, by_clause / np.maximum(best, TELLING_CLAUSE), 0.0)
        return Evidence(
            tools=tuple(tools.tolist()),
            weights=weights,
            relevance=(whole + shares.max(axis=1)) / 2,
            clauses=home,
            places=moments[each, home] / by_clause[each, home],
        )

    def _known_terms(self, text: str) -> list[tuple[int, int]]:
        """The columns of the terms that any tool knows, with their positions, in order of position."""
        found = [
            (self._vocabulary[term], start)
            for term, start in (*placed_terms(text), *compounds(text))
            if term in self._vocabulary
        ]
        return sorted(found, key=lambda item: item[1])


def _first_of_clauses(text: str, starts: NDArray[np.intp]) -> NDArray[np.intp]:
    """For each clause that holds any of the ascending positions: the index of the first one it holds."""
    ends = [match.start() for match in _CLAUSE_END.finditer(text)]
    clause = np.searchsorted(np.array(ends, dtype=np.intp), starts, side="right")
    return np.flatnonzero(np.diff(clause, prepend=-1))
