"""What several annotators chose, put together by majority."""

from toolgraph.benchmarks.classic.chats.merge.agreement import Agreement, agreement_of
from toolgraph.benchmarks.classic.chats.merge.merged import MergedSet, merge
from toolgraph.benchmarks.classic.chats.merge.verdict import Ties

__all__ = ["Agreement", "MergedSet", "Ties", "agreement_of", "merge"]
