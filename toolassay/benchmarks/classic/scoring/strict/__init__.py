"""Strict scores: errors count as wrong answers, and no message is left out."""

from toolassay.benchmarks.classic.scoring.strict.metrics import strict_metrics
from toolassay.benchmarks.classic.scoring.strict.outcomes import MessageOutcome, message_outcomes

__all__ = ["MessageOutcome", "message_outcomes", "strict_metrics"]
