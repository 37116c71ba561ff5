"""Splits for training and testing: no subgraph and no request, nor one nearly the same, is in two of them.

Shapes and sizes are shared out. Samples that repeat each other are one *group*, which goes into one split
whole. A *stratum* is a shape and a number of tools; the wished shares are held in each, as closely as its
groups allow.
"""

from toolassay.splits.sample_groups import Member, SampleGroup, Stratum, groups_of, near_repeats
from toolassay.splits.split_file import SplitFile
from toolassay.splits.splitting import DEFAULT_SHARES, SPLITS, Split, Splitting, assign

__all__ = [
    "DEFAULT_SHARES",
    "SPLITS",
    "Member",
    "SampleGroup",
    "Split",
    "SplitFile",
    "Splitting",
    "Stratum",
    "assign",
    "groups_of",
    "near_repeats",
]
