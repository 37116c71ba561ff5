"""What an answer costs, by message, conversation and success."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import fsum
from typing import Any

from toolassay.benchmarks.classic.scoring.rows import Row
from toolassay.benchmarks.classic.scoring.strict.judged import Judged


def cost(judged: Sequence[Judged]) -> dict[str, Any]:
    """US dollars and tokens of the answers, as their rows say it.

    A retry or a request without an answer is in no row: what these cost is in the ledger of the run.

    Returns:
        `usd` (their sum), `usd_per_message`, `usd_per_1000_messages`, `usd_per_solved_message`,
        `usd_per_conversation`, `messages_of_unknown_cost` (left out of the means), `prompt_tokens`,
        `completion_tokens`. A message counts once in every trial. None where no row says it.
    """
    known = [one for one in judged if one.row is not None and one.row.cost is not None]
    usd = _sum(known, lambda row: row.cost)
    runs = [one for one in judged if one.row is not None]
    conversations = {(one.example.conversation, one.trial) for one in known}
    per_message = _over(usd, len(known))
    return {
        "usd": usd,
        "usd_per_message": per_message,
        "usd_per_1000_messages": None if per_message is None else 1000 * per_message,
        "usd_per_solved_message": _over(usd, sum(one.right for one in known)),
        "usd_per_conversation": _over(usd, len(conversations)),
        "messages_of_unknown_cost": len(runs) - len(known),
        "prompt_tokens": _sum(runs, lambda row: row.tokens_input),
        "completion_tokens": _sum(runs, lambda row: row.tokens_output),
    }


def _sum(judged: Sequence[Judged], value: Callable[[Row], float | None]) -> float | None:
    found = [number for one in judged if one.row is not None and (number := value(one.row)) is not None]
    return fsum(found) if found else None


def _over(usd: float | None, count: int) -> float | None:
    return None if usd is None or not count else usd / count
