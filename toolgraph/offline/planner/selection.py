"""Which tools, and in which order: the best path through the candidates, by beam search."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from toolgraph.links import Links
from toolgraph.offline.planner.evidence import Evidence

MAX_TOOLS = 10
BEAM_WIDTH = 12

# A tool must bring this share of the best tool's relevance to be worth a step of its own …
COST = 0.8
# … unless the graph links it to the step before, which counts as much as half of that.
LINK = 0.4
# Steps that the graph does not join are possible, but less likely.
GAP = 0.2
# Later steps are usually spoken of later.
ORDER = 0.2


def select(evidence: Evidence, links: Links) -> list[int]:
    """The candidates to use, as positions in `evidence.tools`, in order of use; never empty.

    A path earns for every tool the mean of its relevance and of what it newly explains (the weight of
    each term counts once, for the tool that explains it best), less a cost; for every pair of steps what
    the graph and the order in the request say about it.
    """
    weights, relevance = evidence.weights, evidence.relevance
    steps = _steps(evidence, links)
    size = len(relevance)
    paths = [(candidate,) for candidate in range(size)]
    values = relevance - COST
    covered = weights
    best, best_value = paths[0], float(values[0])
    for _ in range(min(MAX_TOOLS, size) - 1):
        keep = np.argsort(-values, kind="stable")[:BEAM_WIDTH]
        paths = [paths[index] for index in keep.tolist()]
        values, covered = values[keep], covered[keep]
        gain = np.maximum(weights[None, :, :], covered[:, None, :]).sum(axis=2) - covered.sum(axis=1)[:, None]
        last = [path[-1] for path in paths]
        extended = values[:, None] + (gain + relevance) / 2 - COST + steps[last]
        for index, path in enumerate(paths):
            extended[index, list(path)] = -np.inf
        keep = np.argsort(-extended, axis=None, kind="stable")[:BEAM_WIDTH]
        rows, columns = np.unravel_index(keep, extended.shape)
        paths = [(*paths[row], column) for row, column in zip(rows.tolist(), columns.tolist(), strict=True)]
        values = extended[rows, columns]
        covered = np.maximum(covered[rows], weights[columns])
        if values[0] > best_value:
            best, best_value = paths[0], float(values[0])
    return list(best)


def _steps(evidence: Evidence, links: Links) -> NDArray[np.float64]:
    """(m, m): what it is worth to use one candidate directly after another."""
    tools = evidence.tools
    linked = np.array([[bool(links.types(source, target)) for target in tools] for source in tools])
    places = evidence.places / evidence.length
    forward = np.tanh(4 * (places[None, :] - places[:, None]))
    return np.where(linked, LINK, -GAP) + ORDER * forward
