"""Which tools a plan uses, and in which order.

TF-IDF over the tools' names and descriptions scores how much, and where, a request mentions each tool. A beam
search finds the best path through the candidates. The constants are round numbers in the middle of a wide
plateau; tests check the scores they reach.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toolassay.graph import ToolGraph
from toolassay.offline.planner.terms import (
    StemmedWord,
    action_of,
    compounds,
    placed_terms,
    terms_of,
    words_of,
)
from toolassay.tools.library import ToolLibrary

Floats = NDArray[np.float64]

# The tools with the highest relevance that the search for a plan considers.
MAX_CANDIDATES = 20

# A clause in which no tool gets this share of the best tool's relevance requests nothing.
TELLING_CLAUSE = 0.2

# Where a clause ends: ", " and "then"; not the "," of "1,000" or the "and" of "Andrew".
_CLAUSE_END = re.compile(
    r"[.!?;:,](?=\s)|\n|\b(?:then|and|or|after|afterwards?|before|finally|also|next|so|while|but)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Evidence:
    """How much a request mentions its candidate tools (m tools, t different terms).

    Attributes:
        tools: length m, numbers of the candidate tools, the most similar to the request first.
        weights: (m, t), what each term contributes to each tool; the largest row sum is 1.
        relevance: length m, 0 to 1: half the similarity to the request relative to the best tool, half the
            best similarity to a telling clause relative to the best tool for that clause.
        clauses: length m, the number of the clause that mentions the tool most.
        places: length m, the mean character position of the tool's terms within that clause.
    """

    tools: tuple[int, ...]
    weights: Floats
    relevance: Floats
    clauses: NDArray[np.intp]
    places: Floats


class Retriever:
    """Finds the tools that a request mentions.

    A tool is a document: its name, twice as it is chosen with more care, and its description. Terms are
    weighted by TF-IDF with logarithmic term frequency and compared by the cosine
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
        """The evidence of a request; None if it mentions no tool."""
        known_terms = self._known_terms(request)
        if not known_terms:
            return None
        terms = [term for term, _ in known_terms]
        counts = Counter(terms)
        # Each mention carries its share of the term's logarithmic weight.
        query = np.array([self._rarity[term] * (1 + np.log(counts[term])) / counts[term] for term in terms])
        vector = np.bincount(terms, weights=query, minlength=self._weights.shape[1])
        similarity = self._weights @ vector
        # Rounded: equal similarities are equal on every machine, and ties go to the earlier tool.
        order = np.argsort(-similarity.round(9), kind="stable")[:MAX_CANDIDATES]
        tools = order[similarity[order] > 0]
        columns, inverse = np.unique(terms, return_inverse=True)
        rows = self._weights[tools][:, columns].toarray()
        weights = rows * vector[columns] / similarity[tools[0]]
        mentions = rows[:, inverse] * query / similarity[tools[0]]
        mentions_of_tools = mentions.sum(axis=1)
        starts = np.array([start for _, start in known_terms])
        firsts = _first_of_clauses(request, starts)
        by_clause = np.add.reduceat(mentions, firsts, axis=1)
        home = by_clause.argmax(axis=1)
        moments = np.add.reduceat(mentions * starts, firsts, axis=1)
        tool_numbers = np.arange(len(tools))
        best = by_clause.max(axis=0)
        shares = np.where(best >= TELLING_CLAUSE, by_clause / np.maximum(best, TELLING_CLAUSE), 0.0)
        return Evidence(
            tools=tuple(tools.tolist()),
            weights=weights,
            relevance=(mentions_of_tools + shares.max(axis=1)) / 2,
            clauses=home,
            places=moments[tool_numbers, home] / by_clause[tool_numbers, home],
        )

    def _known_terms(self, text: str) -> list[tuple[int, int]]:
        """The columns of the terms that occur in any tool, with their positions, in order of position."""
        terms = [
            (self._vocabulary[term], start)
            for term, start in (*placed_terms(text), *compounds(text))
            if term in self._vocabulary
        ]
        return sorted(terms, key=lambda item: item[1])


def _first_of_clauses(text: str, starts: NDArray[np.intp]) -> NDArray[np.intp]:
    """For each clause with any of the ascending positions, the index of its first one."""
    ends = [match.start() for match in _CLAUSE_END.finditer(text)]
    clause = np.searchsorted(np.array(ends, dtype=np.intp), starts, side="right")
    return np.flatnonzero(np.diff(clause, prepend=-1))


# Bounds of the search for a plan: tools of a plan, and plans that go on from one step to the next.
MAX_TOOLS = 10
BEAM_WIDTH = 12

# The share of the best tool's relevance that a tool needs to earn a step of its own …
COST = 0.85
# … less this, if the graph links it to the step before …
LINK = 0.4
# … and less this too, if the step before looks up what the step acts on ("search hotels, book hotel"):
# people request the action and leave the look-up out.
LOOKUP = 0.3
# Steps that the graph does not join are possible, but less likely.
GAP = 0.2
# Later steps are usually mentioned later.
ORDER = 0.2
# How much of a tool's worth is what no other tool of the plan explains; the rest is its relevance.
NOVELTY = 0.6


def select_tools(evidence: Evidence, graph: ToolGraph) -> list[int]:
    """The candidates to use, as positions in `evidence.tools`, in order of use; never empty.

    The value of a path is, for every tool, its relevance and what it newly explains (the weight of each term
    counts once, for the tool that explains it best), less a cost, plus for every two neighbouring steps a
    value from the graph and the order of the request.
    """
    weights = evidence.weights
    relevance = evidence.relevance
    steps = _step_values(evidence, graph)
    size = len(relevance)
    paths: list[tuple[int, ...]] = [(candidate,) for candidate in range(size)]
    values = relevance - COST
    covered = weights
    best = paths[int(values.argmax())]
    best_value = float(values.max())
    for _ in range(min(MAX_TOOLS, size) - 1):
        gain = np.maximum(weights[None, :, :], covered[:, None, :]).sum(axis=2) - covered.sum(axis=1)[:, None]
        worth = NOVELTY * gain + (1 - NOVELTY) * relevance - COST
        extended = values[:, None] + worth + steps[[path[-1] for path in paths]]
        for row, path in enumerate(paths):
            extended[row, list(path)] = -np.inf
        # Rounding makes equal sums equal on every machine, so that ties go to the earlier candidate.
        kept = np.argsort(-extended.round(9), axis=None, kind="stable")[:BEAM_WIDTH]
        rows, columns = np.unravel_index(kept, extended.shape)
        paths = [(*paths[row], column) for row, column in zip(rows.tolist(), columns.tolist(), strict=True)]
        values = extended[rows, columns]
        covered = np.maximum(covered[rows], weights[columns])
        if values[0] > best_value + 1e-9:
            best = paths[0]
            best_value = float(values[0])
    return list(best)


def _step_values(evidence: Evidence, graph: ToolGraph) -> Floats:
    """(m, m): the value of using one candidate directly after another."""
    tools = evidence.tools
    clauses = evidence.clauses
    places = evidence.places
    linked = np.array([[bool(graph.numbered.types(source, target)) for target in tools] for source in tools])
    lookup = _lookup_pairs(evidence, graph) & linked
    order = np.sign(clauses[None, :] - clauses[:, None]).astype(float)
    length = max(float(places.max() - places.min()), 1.0)
    within = np.tanh(2 * (places[None, :] - places[:, None]) / length)
    order = np.where(order == 0, within, order)
    order = np.where(lookup, np.maximum(order, 0), order)
    worth: Floats = np.where(linked, LINK, -GAP) + ORDER * order + LOOKUP * lookup
    return worth


def _lookup_pairs(evidence: Evidence, graph: ToolGraph) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    """(m, m): whether one candidate looks up the things that another one acts on.

    Judged by names alone, and not in resource graphs, whose types already say what an input must be.
    """
    size = len(evidence.tools)
    lookups = np.zeros((size, size), dtype=bool)
    if graph.dependency_type == "resource":
        return lookups
    names = [words_of(graph.library.ids[number]) for number in evidence.tools]
    objects = [{word.stem for word in name if not _is_lookup(word)} for name in names]
    looking = [any(_is_lookup(word) for word in name) for name in names]
    for source in range(size):
        for target in range(size):
            lookups[source, target] = (
                looking[source] and not looking[target] and bool(objects[source] & objects[target])
            )
    return lookups


def _is_lookup(word: StemmedWord) -> bool:
    return action_of(word) == "search"
