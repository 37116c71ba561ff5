"""`--dry_run`: what a stage would send, and what that may cost, before anything is paid for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from toolassay.models import ModelOptions
from toolassay.models.registry import is_served
from toolassay.runs.books import NO_PRICE
from toolassay.runs.budget import Estimate
from toolassay.runs.ledger import FREE
from toolassay.runs.prices import Tariff


class Counts(NamedTuple):
    """How many are answered already, of what (requests or samples), and which calls cannot be foreseen."""

    already: int
    what: str
    also: str = ""
    helpers: tuple[str, ...] = ()
    """Further models that are asked and cost money."""


def dry_run_lines(
    estimate: Estimate, counts: Counts, llm: str, options: ModelOptions, prices: Mapping[str, Tariff]
) -> Iterator[str]:
    """What is said in place of a run: requests, tokens, money, and where they would go."""
    already, what, also, helpers = counts
    yield "dry run: nothing is sent, nothing is written"
    yield f"model: {llm}{f' at {options.endpoint}' if is_served(llm) else ', without a server'}"
    total = already + estimate.requests
    yield f"requests: {estimate.requests} to send; {already} of {total} {what} are answered"
    if llm in FREE:
        asked = f"; what {', '.join(helpers)} costs is not counted" if helpers else ""
        yield f"money: none, {llm if helpers else 'it'} costs nothing{asked}"
        return
    how = f"as the {estimate.answers} answers there are" if estimate.answers else "4 bytes a token"
    yield f"tokens to read: about {estimate.prompt_tokens} ({how})"
    most, likely = estimate.most_completion_tokens, estimate.likely_completion_tokens
    yield (
        f"tokens to write: {most} at most ({estimate.limit} an answer)"
        f"{'' if likely is None else f', about {likely} if as long as the answers there are'}"
    )
    price = prices.get(llm)
    if price is None:
        yield f"money: {NO_PRICE}"
    elif price.local:
        yield f"money: none ({price.words})"
    else:
        yield (
            f"money: up to about ${estimate.cost(price, most=True):.4f}"
            f"{'' if likely is None else f', likely ${estimate.cost(price, most=False):.4f}'}"
        )
        yield f"price: {price.words}"
    yield f"not counted: tries after a failure{also}"
