"""How varied a data set is: requests that repeat one another, wording, tools, links, sizes and shapes."""

from toolgraph.variety.bars import DEFAULT_THRESHOLD, Bars, Plans
from toolgraph.variety.duplicates import Item, find_repeats
from toolgraph.variety.plans import PlanDigest
from toolgraph.variety.repeats import Match, Repeats

__all__ = ["DEFAULT_THRESHOLD", "Bars", "Item", "Match", "PlanDigest", "Plans", "Repeats", "find_repeats"]
