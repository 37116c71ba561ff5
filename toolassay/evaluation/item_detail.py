"""What reports show of a benchmark without knowing it: names, a model's accuracy, and one item in detail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import msgspec

from toolassay.metrics.confidence_interval import Interval


class About(NamedTuple):
    """Names of a benchmark and its definition of a correct item.

    Attributes:
        name: Name in `benchmark.json`.
        title: Name in reports.
        item: Singular noun of an item.
        right: Condition for a correct item, completing "an item is right if ...".
        default_folder: Default data folder of its commands.
        cluster: Description of a cluster of dependent items, e.g. "the tasks of one template"; empty for the
            items of one sampled subgraph.
        order: Rank among the built-in benchmarks in lists and help.
    """

    name: str
    title: str
    item: str
    right: str
    default_folder: str = ""
    cluster: str = ""
    order: int = 100


class Axis(NamedTuple):
    """Accuracy and stability in the metrics of a model.

    Attributes:
        items: Number of labelled items.
        accuracy: From 0 to 1.
        stability: `pass^k`, `answer_agreement`, `trials` and `tasks` (number of items with k runs); None with
            one trial.
        cost: For runs without a ledger: `usd_per_1000_messages`, `usd_per_solved_message`,
            `messages_of_unknown_cost`.
        latency: For runs without a ledger: `p50` and `p95`, in seconds.
        harm: Share of items with unwanted changes; None where nothing is executed.
    """

    items: int
    accuracy: Interval
    stability: Mapping[str, Any] | None = None
    cost: Mapping[str, Any] = MappingProxyType({})
    latency: Mapping[str, Any] = MappingProxyType({})
    harm: Interval | None = None


Status = Literal["right", "missing", "extra", "wrong"]
"""Of a call, argument or link: as in the gold, only in the gold, only predicted, or with another value."""


class DrawnArgument(msgspec.Struct, frozen=True):
    """An argument of a call.

    Attributes:
        name: Its name; empty where the plan has values only.
        value: As JSON; references are written `<node-j>`.
        status: Against the other plan.
    """

    name: str
    value: Any
    status: Status


class DrawnCall(msgspec.Struct, frozen=True):
    """A call of a plan.

    Attributes:
        tool: Name of the tool.
        arguments: In plan order.
        status: Against the other plan; "wrong" is not used for a call.
    """

    tool: str
    arguments: Sequence[DrawnArgument]
    status: Status


class DrawnPlan(msgspec.Struct, frozen=True):
    """A plan, with every part marked against the other plan.

    Attributes:
        calls: In plan order.
        links: Each as (source, target, status), positions in `calls`.
    """

    calls: Sequence[DrawnCall]
    links: Sequence[tuple[int, int, Status]]


class Section(msgspec.Struct, frozen=True):
    """A titled part of the details.

    Attributes:
        title: Heading.
        kind: Form of `body`.
        body: A JSON value. "text": a text. "chat": a list of {"role", "text"}. "table": {"columns": names,
            "rows": lists of cells, "marks": for each row "wanted", "unwanted", "missing" or ""}. "calls": a
            list of {"tool", "arguments", "result", "error"}; `result` and `error` are texts or None; with
            "step", the number of the model's answer.
    """

    title: str
    kind: Literal["text", "chat", "table", "calls"]
    body: Any

    @classmethod
    def of_rows(
        cls, title: str, columns: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]]
    ) -> Section:
        """A table; each row has a mark before its cells."""
        cells = [list(row) for _, row in rows]
        marks = [mark for mark, _ in rows]
        return cls(title, "table", {"columns": list(columns), "rows": cells, "marks": marks})


def drawn_in_order(gold: Sequence[Call], predicted: Sequence[Call]) -> tuple[DrawnPlan, DrawnPlan]:
    """Plans of calls that are only ordered, e.g. of an agent: calls with equal arguments are right.

    Links join successive calls.
    """
    unmatched = list(gold)
    marks: list[Status] = []
    gold_marks: list[Status] = []
    for call in predicted:
        marks.append("right" if call in unmatched else "extra")
        if call in unmatched:
            unmatched.remove(call)
    for call in gold:
        gold_marks.append("missing" if call in unmatched else "right")
        if call in unmatched:
            unmatched.remove(call)
    return _chain(gold, gold_marks), _chain(predicted, marks)


Call = tuple[str, Mapping[str, Any]]
"""A tool with its arguments."""


def _chain(calls: Sequence[Call], marks: Sequence[Status]) -> DrawnPlan:
    drawn_calls = [
        DrawnCall(tool, [DrawnArgument(name, value, mark) for name, value in arguments.items()], mark)
        for (tool, arguments), mark in zip(calls, marks, strict=True)
    ]
    links = [(position, position + 1, mark) for position, mark in enumerate(marks[1:])]
    return DrawnPlan(drawn_calls, links)


class AgentStep(NamedTuple):
    """A call of an agent.

    Attributes:
        step: Number of the model's answer, from 1.
        tool: Name of the tool.
        arguments: As a JSON value.
        result: What the agent got.
        failed: Whether the call was refused.
    """

    step: int
    tool: str
    arguments: Any
    result: str
    failed: bool


class TrajectoryFigures(msgspec.Struct, frozen=True):
    """The calls of an agent against those of the gold.

    Attributes:
        steps: Number of the model's answers.
        calls: Number of calls.
        gold: Number of calls of the gold.
        wasted: Accepted calls that the gold lacks.
        repeated: Accepted calls that are equal to an earlier one.
        failed: Refused calls.
        recovered: Refused calls after which one of the same tool was accepted.
        first_wrong: Number, from 1, of the first call that was refused or that the gold lacks; None without
            one.
    """

    steps: int
    calls: int
    gold: int
    wasted: int
    repeated: int
    failed: int
    recovered: int
    first_wrong: int | None

    @classmethod
    def of(
        cls, steps_made: Sequence[AgentStep], gold: Sequence[tuple[str, Mapping[str, Any] | None]], steps: int
    ) -> TrajectoryFigures:
        """Compare calls with those of the gold, in any order.

        Args:
            steps_made: The calls.
            gold: The calls of the gold; one without arguments is matched by its tool alone.
            steps: Number of the model's answers.

        >>> made = [AgentStep(1, "find", {"q": 1}, "", False), AgentStep(2, "buy", {}, "no", True),
        ...         AgentStep(3, "buy", {"id": 7}, "", False), AgentStep(4, "find", {"q": 1}, "", False)]
        >>> found = TrajectoryFigures.of(made, [("find", {"q": 1}), ("buy", None)], 5)
        >>> found.wasted, found.repeated, found.failed, found.recovered, found.first_wrong
        (1, 1, 1, 1, 2)
        """
        unmatched = list(gold)
        earlier_calls = list[tuple[str, Any]]()
        wrong_numbers = list[int]()
        repeated = 0
        for number, call in enumerate(steps_made, start=1):
            signature = call.tool, call.arguments
            match = next(
                (gold_call for gold_call in unmatched if gold_call in (signature, (call.tool, None))), None
            )
            if call.failed or match is None:
                wrong_numbers.append(number)
            else:
                unmatched.remove(match)
            if not call.failed:
                repeated += signature in earlier_calls
                earlier_calls.append(signature)
        failed = [position for position, call in enumerate(steps_made) if call.failed]
        recovered = sum(
            any(
                later.tool == steps_made[position].tool and not later.failed
                for later in steps_made[position:]
            )
            for position in failed
        )
        counts = (
            len(steps_made),
            len(gold),
            len(wrong_numbers) - len(failed),
            repeated,
            len(failed),
            recovered,
        )
        return cls(steps, *counts, wrong_numbers[0] if wrong_numbers else None)

    def section(self, title: str, steps_made: Sequence[AgentStep]) -> Section:
        """The calls with their results, below a title with the figures."""
        first = "" if self.first_wrong is None else f"; the first wrong call is number {self.first_wrong}"
        about = (
            f"{self.steps} answers, {self.calls} calls ({self.gold} in the gold): {self.wasted} beyond the "
            f"gold, {self.repeated} repeated, {self.failed} refused, {self.recovered} recovered{first}"
        )
        rows = [
            {
                "step": step.step,
                "tool": step.tool,
                "arguments": step.arguments,
                "result": None if step.failed else step.result,
                "error": step.result if step.failed else None,
            }
            for step in steps_made
        ]
        return Section(f"{title}: {about}", "calls", rows)


class RecordedTrajectory(NamedTuple):
    """The conversation of an agent about an item, as an export writes it.

    Attributes:
        id: Id of the item.
        messages: In the form of OpenAI.
        tools: The functions that were offered, each as an entry of `tools` in a chat request.
        outcome: How it ended: "answered", "malformed", "refused" or "context overflow".
        limit: The limit that ended it; empty for none.
    """

    id: str
    messages: Sequence[Mapping[str, Any]]
    tools: Sequence[Mapping[str, Any]]
    outcome: str
    limit: str = ""


class ItemGold(msgspec.Struct, frozen=True):
    """What does not depend on a model.

    Attributes:
        id: Id as text, as in the file of items.
        request: What the model was asked, as plain text.
        tools: Names of the tools of the gold, without duplicates, in order.
        groups: Values of further groupings, e.g. {"domain": "email"}; the shape and size are in the file of
            items.
        sections: Further parts, e.g. the chat and the candidates.
    """

    id: str
    request: str
    tools: Sequence[str]
    groups: Mapping[str, str] = {}
    sections: Sequence[Section] = ()


class ItemAnswer(msgspec.Struct, frozen=True):
    """What one model did about an item.

    Attributes:
        gold: The gold plan, marked against the prediction; None if the item has no plan.
        predicted: The predicted plan; None without a readable answer.
        tools: Names of the called tools, with duplicates, in order.
        raw: The raw answer of the model; None if it was not kept.
        harm: Names of the tools whose calls caused unwanted changes; empty without any.
        sections: Further parts, e.g. calls with observations, or differences of tables.
        trajectory: Figures of an agent's calls; None for other answers.
    """

    gold: DrawnPlan | None
    predicted: DrawnPlan | None
    tools: Sequence[str] = ()
    raw: str | None = None
    harm: Sequence[str] = ()
    sections: Sequence[Section] = ()
    trajectory: TrajectoryFigures | None = None


def confused(gold_tools: Sequence[str], called: Sequence[str]) -> tuple[str, str] | None:
    """The tool of the gold and the one that was called in its place, if exactly one is missing and one extra.

    >>> confused(["find", "book"], ["find", "cancel"]), confused(["find"], ["find", "book"])
    (('book', 'cancel'), None)
    """
    missing = list(dict.fromkeys(tool for tool in gold_tools if tool not in called))
    extra = list(dict.fromkeys(tool for tool in called if tool not in gold_tools))
    return (missing[0], extra[0]) if len(missing) == len(extra) == 1 else None
