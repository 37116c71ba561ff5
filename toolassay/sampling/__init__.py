"""Samples subgraphs of a tool graph: single tools, chains and directed acyclic graphs.

Sample i depends only on the seed, i and the graph, not on the number or order of samples or on concurrency.
"""

from toolassay.sampling.sampler import Sampler
from toolassay.sampling.search import SHAPE_WEIGHTS, SIZE_WEIGHTS, parse_weights, wanted

__all__ = ["SHAPE_WEIGHTS", "SIZE_WEIGHTS", "Sampler", "parse_weights", "wanted"]
