"""CLASSic (Wornow et al., 2025): an agent chooses the workflow to start for each message of a chat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from toolassay.benchmarks.benchmark import Benchmark, BenchmarkOptions, Entries, Entry, late
from toolassay.declarations import Option
from toolassay.evaluation.item_detail import About


@dataclass(frozen=True)
class ChatOptions:
    """Options of `infer` for CLASSic folders."""

    agent: Annotated[
        str | None,
        Option(
            "Built-in agent: cot (default), reasoning, tools (one function per workflow), retrieval (default "
            "of the offline model), recorded.",
            common=True,
        ),
    ] = None
    order: Annotated[
        str | None,
        Option("Order of the workflows in the prompt [default: table].", metavar="table|name|SEED"),
    ] = None
    recorded: Annotated[
        Path | None, Option("File with recorded answers, CSV or JSON, for --agent recorded.")
    ] = None
    none_as: Annotated[
        Sequence[str],
        Option("Recorded answer that means no workflow [default: none]; '' is an empty cell."),
    ] = ()


@dataclass(frozen=True)
class ChatScoring:
    """Options of `evaluate` and `verify` for CLASSic folders."""

    orders: Annotated[
        Sequence[Path | str],
        Option("Prediction folder of a run with another order of the workflows."),
    ] = ()


@dataclass(frozen=True)
class ChatTables:
    """What `evaluate` shows of CLASSic folders."""

    with_published: Annotated[
        bool | None,
        Option(
            "Add the published figures: true adds those of each domain, false none [default: the overall "
            "figures]."
        ),
    ] = None


_HERE = "toolassay.benchmarks.classic"


class Classic(Benchmark):
    """Folders with tables of chats, workflows and domains."""

    about = About(
        "classic",
        "CLASSic",
        "message",
        "the workflow, or none, is one that the labels accept",
        "data_classic",
        "the messages of one conversation",
        order=2,
    )
    options = BenchmarkOptions(
        run=ChatOptions,
        scoring=ChatScoring,
        verify=ChatScoring,
        show=ChatTables,
        help_notes={
            "max_tokens": "512, or 4096 for --agent reasoning",
            "structured": "a schema without the workflow names",
        },
        security_modes={
            "published": Entry(
                "the published test of the model without the agent, graded by --judge",
                f"{_HERE}.published_attacks:probe_as_published",
            )
        },
    )
    entries = Entries(
        commands={
            "classic": Entry(
                "Run agents that choose workflows, score predictions, build a data set from your chats.",
                f"{_HERE}.commands:group",
                ("classic run",),
            )
        },
        importers={
            "classic": Entry("CLASSic: the four published tables.", f"{_HERE}.commands:import_command")
        },
        prompt_reader=f"{_HERE}.agents.prompt:prompted_choice",
    )
    data = late("data:FACTS")
    items = late("item_details:ITEMS")
    scores = late("scoring.leaderboard:SCORES")
    work = late("work:chat_work")
    prober = late("security:chat_prober")
    evaluate = late("evaluation:evaluate_chats")
    verify = late("work:reparsed_rows")


BENCHMARK = Classic()
