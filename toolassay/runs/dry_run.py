"""`--dry_run`: what a stage would send, and what that may cost, before anything is paid for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from toolassay.benchmarks.workbench.agents.episode import WorkbenchAgentSettings
from toolassay.benchmarks.workbench.agents.inference import DryRunPreview
from toolassay.models import ModelOptions
from toolassay.models.registry import is_served
from toolassay.runs.books import NO_PRICE
from toolassay.runs.budget import Estimate, ExpectedUsage
from toolassay.runs.ledger import FREE
from toolassay.runs.prices import Tariff


class Counts(NamedTuple):
    """How many are answered already, of what (requests or samples), and which calls cannot be foreseen."""

    already: int
    what: str
    also: str = ""


def dry_run_lines(
    estimate: Estimate, counts: Counts, llm: str, options: ModelOptions, prices: Mapping[str, Tariff]
) -> Iterator[str]:
    """What is said in place of a run: requests, tokens, money, and where they would go."""
    already, what, also = counts
    yield "dry run: nothing is sent, nothing is written"
    yield f"model: {llm}{f' at {options.endpoint}' if is_served(llm) else ', without a server'}"
    total = already + estimate.requests
    yield f"requests: {estimate.requests} to send; {already} of {total} {what} are answered"
    if llm in FREE:
        yield "money: none, it costs nothing"
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


def expected(estimate: Estimate, llm: str, prices: Mapping[str, Tariff]) -> ExpectedUsage:
    """What is foreseen, to be summed over trials; a model without a server uses no tokens."""
    return ExpectedUsage(estimate.requests, 0, 0, 0.0) if llm in FREE else estimate.expected(prices.get(llm))


def expected_of_agent(
    estimate: Estimate, settings: WorkbenchAgentSettings, llm: str, prices: Mapping[str, Tariff]
) -> tuple[ExpectedUsage, ExpectedUsage]:
    """The same if every task takes one answer, and if every task takes all it may."""
    answers = settings.max_steps + settings.resample
    if llm in FREE:
        return ExpectedUsage(estimate.requests, 0, 0, 0.0), ExpectedUsage(
            answers * estimate.requests, 0, 0, 0.0
        )
    price = prices.get(llm)
    return estimate.expected(price), estimate.expected(price, answers)


def agent_lines(
    estimate: Estimate,
    foresight: DryRunPreview,
    settings: WorkbenchAgentSettings,
    llm: str,
    options: ModelOptions,
    prices: Mapping[str, Tariff],
) -> Iterator[str]:
    """The same of a run of agents: one answer a task, what it may come to at most, the first request."""
    counts = Counts(foresight.already, "tasks", "; the further answers of each task")
    yield from dry_run_lines(estimate, counts, llm, options, prices)
    if foresight.first is None:
        return
    least, most = expected_of_agent(estimate, settings, llm, prices)
    yield (
        "the range: an agent sends one request for each step of a task, and each repeats the conversation so"
        " far; how many steps a task takes is not known before"
    )
    yield f"At least, if every task ends with its first answer: {least.words}"
    yield (
        f"At most (--max_steps {settings.max_steps}, --resample {settings.resample}): {most.words};"
        " what the tools return is not counted"
    )
    yield "to know it better: run it with --limit 5, then --dry_run again"
    yield f"the first request ({foresight.first.item}):"
    for message in foresight.first.messages:
        yield f"[{message['role']}] {message['content']}"
    tools = foresight.first.parameters.get("tools", ())
    if tools:
        yield f"[tools] {', '.join(tool['function']['name'] for tool in tools)}"
