"""The tables of a data folder, and the examples in them."""

from toolassay.benchmarks.classic.data.examples import Example, Question, Turn, Workflow
from toolassay.benchmarks.classic.data.folder import (
    ClassicData,
    fingerprint,
    holds_chats,
    is_classic,
    read_data,
)

__all__ = [
    "ClassicData",
    "Example",
    "Question",
    "Turn",
    "Workflow",
    "fingerprint",
    "holds_chats",
    "is_classic",
    "read_data",
]
