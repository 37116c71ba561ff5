"""The strict scores: errors count and are never right, and no message is removed."""

from toolassay.benchmarks.classic.scoring.strict.metrics import strict_metrics
from toolassay.benchmarks.classic.scoring.strict.outcomes import MessageOutcome, message_outcomes

__all__ = ["MessageOutcome", "message_outcomes", "strict_metrics"]
