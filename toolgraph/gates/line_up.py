"""Which gates a sample goes through, in order."""

from __future__ import annotations

from toolgraph.gates.gate import Background, Gate


def line_up(background: Background) -> tuple[Gate, ...]:
    """The gates that look at one sample at a time, in the order in which the funnel shows them."""
    return ()
