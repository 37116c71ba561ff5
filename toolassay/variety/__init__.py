"""How varied a data set is: requests that repeat one another, wording, tools, links, sizes and shapes."""

from toolassay.variety.bars import DEFAULT_THRESHOLD, Bars, Plans
from toolassay.variety.duplicates import Item, find_repeats
from toolassay.variety.plans import PlanDigest
from toolassay.variety.repeats import Match, Repeats

__all__ = ["DEFAULT_THRESHOLD", "Bars", "Item", "Match", "PlanDigest", "Plans", "Repeats", "find_repeats"]
