"""The published scores: cost, latency, accuracy, stability and security as its evaluator counts them."""

from toolassay.benchmarks.classic.scoring.compat.security import SecurityScore, security_score
from toolassay.benchmarks.classic.scoring.compat.tree import compat_metrics

__all__ = ["SecurityScore", "compat_metrics", "security_score"]
