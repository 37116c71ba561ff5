"""CLASSic (Wornow et al., 2025): an agent chooses the workflow to start for each message of a chat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from toolassay.benchmarks.benchmark import Benchmark, BenchmarkOptions, Entries, Entry, late
from toolassay.evaluation.item_detail import About
from toolassay.extras import Option


@dataclass(frozen=True)
class ChatOptions:
    """Options of `infer` for CLASSic folders.

    Attributes:
        agent: "cot", "reasoning", "tools" (one function per workflow), "retrieval" or "recorded"; None for
            "cot", or "retrieval" with the offline model.
        order: Order of the workflows in the prompt: "table", "name", or the seed of a shuffle; None for
            "table".
        recorded: File with the answers of the agent "recorded".
        none_as: Recorded answers that mean no workflow; empty for "none".
    """

    agent: str | None = None
    order: str | None = None
    recorded: Path | None = None
    none_as: Sequence[str] = ()


@dataclass(frozen=True)
class ChatScoring:
    """Options of `evaluate` and `verify` for CLASSic folders.

    Attributes:
        orders: Prediction folders of runs of the same models with another order of the workflows.
    """

    orders: Sequence[str | Path] = ()


_HERE = "toolassay.benchmarks.classic"


_ORDERS = Option(
    "orders",
    "Prediction folder of a run with another order of the workflows; may be repeated.",
    Path,
    multiple=True,
)


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
        infer=(
            Option(
                "agent",
                "cot (default), reasoning, tools (one function per workflow), retrieval (default of the "
                "offline model), recorded.",
            ),
            Option(
                "order", "Order of the workflows in the prompt [default: table].", metavar="table|name|SEED"
            ),
            Option("recorded", "File with recorded answers, CSV or JSON, for --agent recorded.", Path),
            Option(
                "none_as",
                "Recorded answer that means no workflow [default: none]; '' is an empty cell.",
                multiple=True,
            ),
        ),
        evaluate=(_ORDERS,),
        verify=(_ORDERS,),
        show=(
            Option(
                "with_published",
                "Add the published figures: true adds those of each domain, false none "
                "[default: the overall figures].",
                bool,
            ),
        ),
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
                f"{_HERE}.commands:command",
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
