"""Parses the JSON object out of a model's answer.

The object may be surrounded by prose, fences and reasoning, and may have mistakes. Nothing is executed,
nothing raises, and the work is bounded: a text made to be slow is given up.
"""

from toolassay.answers.parsed_answer import CUT_OFF, ECHO, ParsedAnswer, read_answer, shown_forms
from toolassay.answers.reasoning import visible_parts, without_reasoning

__all__ = [
    "CUT_OFF",
    "ECHO",
    "ParsedAnswer",
    "read_answer",
    "shown_forms",
    "visible_parts",
    "without_reasoning",
]
