"""Variety of a data set: repeated requests, wording, and the use of tools, links, sizes and shapes."""

from toolassay.variety.near_duplicates import (
    DEFAULT_THRESHOLD,
    DuplicatePair,
    Item,
    Plans,
    Repeats,
    Thresholds,
    find_repeats,
)
from toolassay.variety.normal_form import PlanDigest

__all__ = [
    "DEFAULT_THRESHOLD",
    "DuplicatePair",
    "Item",
    "PlanDigest",
    "Plans",
    "Repeats",
    "Thresholds",
    "find_repeats",
]
