"""Sampling subgraphs of a tool graph: single tools, chains and directed acyclic graphs.

Sample i of a seed depends on the seed, i and the graph alone: not on how many are drawn, nor in which
order, nor by how many workers.
"""

from toolassay.sampling.sampler import Sampler
from toolassay.sampling.weights import SHAPE_WEIGHTS, SIZE_WEIGHTS, parse_weights, wanted

__all__ = ["SHAPE_WEIGHTS", "SIZE_WEIGHTS", "Sampler", "parse_weights", "wanted"]
