"""Reading the JSON object out of what a model really sent: prose, fences, reasoning, mistakes and all.

Nothing is executed, nothing raises, and the work is bounded: a text made to be slow is given up.
"""

from toolassay.answers.read import CUT_OFF, ECHO, Answer, read_answer, shown_forms
from toolassay.answers.reasoning import visible_parts, without_reasoning

__all__ = ["CUT_OFF", "ECHO", "Answer", "read_answer", "shown_forms", "visible_parts", "without_reasoning"]
