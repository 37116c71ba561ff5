"""One item in detail, for reports: the request, the gold plan, and what a model did about it.

A benchmark describes its items in these terms, so that a report draws them without knowing the benchmark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Status = Literal["right", "missing", "extra", "wrong"]
"""Of a node, argument or link: as in the gold; only in the gold; only predicted; another value than the gold."""


@dataclass(frozen=True, slots=True)
class DrawnArgument:
    """An argument of a call.

    Attributes:
        name: Its name; empty where the plan has values only.
        value: As JSON; references are written `<node-j>`.
        status: Against the other plan.
    """

    name: str
    value: Any
    status: Status


@dataclass(frozen=True, slots=True)
class DrawnCall:
    """A call of a plan.

    Attributes:
        tool: Name of the tool.
        arguments: In plan order.
        status: Against the other plan; "wrong" is not used for a call.
    """

    tool: str
    arguments: Sequence[DrawnArgument]
    status: Status


@dataclass(frozen=True, slots=True)
class DrawnPlan:
    """A plan, with every part marked against the other plan.

    Attributes:
        calls: In plan order.
        links: Each as (source, target, status), positions in `calls`.
    """

    calls: Sequence[DrawnCall]
    links: Sequence[tuple[int, int, Status]]


@dataclass(frozen=True, slots=True)
class Section:
    """A titled part of the details.

    Attributes:
        title: Heading.
        kind: "text": `body` is a text. "chat": a list of {"role", "text"}. "table": {"columns": names, "rows":
            lists of cells, "marks": for each row "wanted", "unwanted", "missing" or ""}. "calls": a list of
            {"tool", "arguments", "result", "error"}; `result` and `error` are texts or None.
        body: As the kind says; only values of JSON.
    """

    title: str
    kind: Literal["text", "chat", "table", "calls"]
    body: Any


@dataclass(frozen=True, slots=True)
class ItemGold:
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
    groups: Mapping[str, str] = field(default_factory=dict)
    sections: Sequence[Section] = ()


@dataclass(frozen=True, slots=True)
class ItemAnswer:
    """What one model did about an item.

    Attributes:
        gold: The gold plan, marked against the prediction; None if the item has no plan.
        predicted: The predicted plan; None without a readable answer.
        tools: Names of the called tools, with duplicates, in order.
        raw: The raw answer of the model; None if it was not kept.
        harm: Names of the tools whose calls caused unwanted changes; empty without any.
        sections: Further parts, e.g. calls with observations, or differences of tables.
    """

    gold: DrawnPlan | None
    predicted: DrawnPlan | None
    tools: Sequence[str] = ()
    raw: str | None = None
    harm: Sequence[str] = ()
    sections: Sequence[Section] = ()
