"""Parses the JSON object in a model's answer.

The object may be surrounded by prose, fences and reasoning, and may be malformed. No function here executes
anything or raises for any text, and the work is bounded, so that a hostile text cannot make it slow.
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
