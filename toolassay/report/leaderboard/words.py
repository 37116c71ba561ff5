"""The cells of a leaderboard as text."""

from __future__ import annotations

from toolassay.report.leaderboard.board import UNKNOWN, Row


def percent(value: float | None) -> str:
    """A score.

    >>> percent(61.5), percent(None)
    ('61.50', '–')
    """
    return UNKNOWN if value is None else f"{value:.2f}"


def bounds(low: float | None, high: float | None) -> str:
    """The bounds of an interval; empty where there are none.

    >>> bounds(58.25, 64.0)
    '58.2–64.0'
    """
    return "" if low is None or high is None else f"{low:.1f}–{high:.1f}"


def whole_percent(value: float | None) -> str:
    """A share, rounded down so that 100 means all."""
    return UNKNOWN if value is None else str(int(value + 1e-9))


def money(value: float | None, *, at_least: bool = False) -> str:
    """US dollars; "≥" where some of the cost is unknown.

    >>> money(0.0421), money(12.5, at_least=True), money(None)
    ('0.0421', '≥ 12.50', '–')
    """
    if value is None:
        return UNKNOWN
    return f"{'≥ ' if at_least else ''}{value:.{2 if value >= 10 else 4}f}"


def used(row: Row) -> tuple[str, str, str]:
    """US dollars for 1,000 items, those of the whole run, and the median seconds to an answer."""
    usage = row.usage
    if usage is None:
        return UNKNOWN, UNKNOWN, UNKNOWN
    at_least = usage.unknown_cost > 0
    return (
        money(usage.cost_of_1000, at_least=at_least),
        money(usage.cost, at_least=at_least),
        seconds(usage.seconds, local=usage.is_local),
    )


def seconds(value: float | None, *, local: bool) -> str:
    """Seconds; those of this machine with more digits, and named so.

    >>> seconds(1.234, local=False), seconds(0.0041, local=True), seconds(None, local=True)
    ('1.23', '0.0041 local', '–')
    """
    if value is None:
        return UNKNOWN
    if not local:
        return f"{value:.2f}"
    return f"{value:.4f} local" if value >= 0.0001 else "<0.0001 local"


def printable(text: str) -> str:
    r"""A name without line breaks and control characters, which would change the table around it.

    >>> printable("a\x1b[31mb")
    'a?[31mb'
    """
    return "".join(character if character.isprintable() else "?" for character in text)
