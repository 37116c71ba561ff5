"""The scores as they should be: errors count and are never right, nothing is removed."""

from toolassay.benchmarks.classic.scoring.strict.judged import Judged, judge
from toolassay.benchmarks.classic.scoring.strict.tree import strict_metrics

__all__ = ["Judged", "judge", "strict_metrics"]
