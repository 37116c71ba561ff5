"""Which tools, and in which order: the best path through the candidates, by beam search.

The constants are round numbers in the middle of a wide plateau; `tests` hold the scores they reach.
"""

from __future__ import annotations

import numpy as np

from toolassay.graph import ToolGraph
from toolassay.offline.planner.evidence import Evidence, Floats
from toolassay.offline.planner.words import Word, action_of, words_of

MAX_TOOLS = 10
BEAM_WIDTH = 12

# The share of the best tool's relevance that a tool must bring to be worth a step of its own …
COST = 0.85
# … less this, if the graph links it to the step before …
LINK = 0.4
# … and less this too, if the step before looks up what the step acts on ("search hotels, book hotel"):
# people ask for the act and leave the look-up unsaid.
LOOKUP = 0.3
# Steps that the graph does not join are possible, but less likely.
GAP = 0.2
# What is to be done later is usually said later.
ORDER = 0.2
# How much of a tool's worth is what no other tool of the plan explains; the rest is its relevance.
NOVELTY = 0.6


def select(evidence: Evidence, graph: ToolGraph) -> list[int]:
    """The candidates to use, as positions in `evidence.tools`, in order of use; never empty.

    A path earns for every tool its relevance and what it newly explains (the weight of each term counts
    once, for the tool that explains it best), less a cost, and for every two neighbouring steps what the
    graph and the order of the request say about them.
    """
    weights, relevance = evidence.weights, evidence.relevance
    steps = _steps(evidence, graph)
    size = len(relevance)
    paths: list[tuple[int, ...]] = [(candidate,) for candidate in range(size)]
    values, covered = relevance - COST, weights
    best, best_value = paths[int(values.argmax())], float(values.max())
    for _ in range(min(MAX_TOOLS, size) - 1):
        gain = np.maximum(weights[None, :, :], covered[:, None, :]).sum(axis=2) - covered.sum(axis=1)[:, None]
        worth = NOVELTY * gain + (1 - NOVELTY) * relevance - COST
        extended = values[:, None] + worth + steps[[path[-1] for path in paths]]
        for row, path in enumerate(paths):
            extended[row, list(path)] = -np.inf
        # Ties go to the earlier candidate: rounding makes equal sums equal on every machine.
        kept = np.argsort(-extended.round(9), axis=None, kind="stable")[:BEAM_WIDTH]
        rows, columns = np.unravel_index(kept, extended.shape)
        paths = [(*paths[row], column) for row, column in zip(rows.tolist(), columns.tolist(), strict=True)]
        values, covered = extended[rows, columns], np.maximum(covered[rows], weights[columns])
        if values[0] > best_value + 1e-9:
            best, best_value = paths[0], float(values[0])
    return list(best)


def _steps(evidence: Evidence, graph: ToolGraph) -> Floats:
    """(m, m): what it is worth to use one candidate directly after another."""
    tools, clauses, places = evidence.tools, evidence.clauses, evidence.places
    linked = np.array([[bool(graph.numbered.types(one, two)) for two in tools] for one in tools])
    lookup = _lookups(evidence, graph) & linked
    order = np.sign(clauses[None, :] - clauses[:, None]).astype(float)
    length = max(float(places.max() - places.min()), 1.0)
    within = np.tanh(2 * (places[None, :] - places[:, None]) / length)
    order = np.where(order == 0, within, order)
    order = np.where(lookup, np.maximum(order, 0), order)
    worth: Floats = np.where(linked, LINK, -GAP) + ORDER * order + LOOKUP * lookup
    return worth


def _lookups(evidence: Evidence, graph: ToolGraph) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    """(m, m): whether one candidate looks up things of the kind another one acts on.

    Told by the names alone, and only where types do not already say what an input has to be.
    """
    size = len(evidence.tools)
    found = np.zeros((size, size), dtype=bool)
    if graph.dependency_type == "resource":
        return found
    names = [words_of(graph.library.ids[number]) for number in evidence.tools]
    objects = [{word.stem for word in name if not _looks_up(word)} for name in names]
    looking = [any(_looks_up(word) for word in name) for name in names]
    for one in range(size):
        for two in range(size):
            found[one, two] = looking[one] and not looking[two] and bool(objects[one] & objects[two])
    return found


def _looks_up(word: Word) -> bool:
    return action_of(word) == "search"
