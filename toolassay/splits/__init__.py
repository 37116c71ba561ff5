"""Splits for training and testing: no subgraph, no request and no near duplicate of it is in two of them.

Samples that repeat each other form a *group*, which goes into one split as a whole. A *stratum* is a shape
and a number of tools; each stratum has the requested shares, as closely as its groups allow.
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
