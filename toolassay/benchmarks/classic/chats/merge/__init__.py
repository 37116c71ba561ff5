"""What several annotators chose, put together by majority."""

from toolassay.benchmarks.classic.chats.merge.merged import MergedSet, merge
from toolassay.benchmarks.classic.chats.merge.verdict import Ties
from toolassay.metrics.agreement import Agreement, agreement_of

__all__ = ["Agreement", "MergedSet", "Ties", "agreement_of", "merge"]
