"""The text of a plan's steps, as the published evaluator hands it to ROUGE."""

from __future__ import annotations

from typing import Any

_KEYS = ("task", "step", "id", "step_name")


def published_steps_text(steps: Any) -> str:
    r"""Steps joined by newlines; of steps that are objects, the key is chosen from the first one only.

    Whatever cannot be read that way becomes its Python spelling, and a plain text one character a line,
    as published.

    >>> published_steps_text(["a", "b"]), published_steps_text([{"step": "a"}]), published_steps_text(None)
    ('a\nb', 'a', 'None')
    """
    try:
        first = steps[0]
        if isinstance(first, str):
            return "\n".join(steps)
        key = next((key for key in _KEYS if key in first), "description")
        return "\n".join([step[key] for step in steps])
    except Exception:
        return str(steps)
