"""`Gold`: the gold plan of a label, parsed leniently so that its errors can be reported.

Every malformed part becomes a `Fault` and is empty; all other parts are valid, and other code may rely on
them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import msgspec

from toolassay.records.dataset import PlanLink, RequestId, repository_form

Ends = tuple[str, str]
ALTERNATIVES = "alternatives"
"""The key of a label with further right plans."""


class Fault(NamedTuple):
    """A malformed part of a label: what is wrong, and where (`task_nodes[1].arguments`)."""

    reason: str
    where: str


class _Node(msgspec.Struct):
    task: str = ""
    id: Any = ""
    arguments: tuple[Any, ...] | None = None
    output: Any = None

    def __post_init__(self) -> None:
        self.task = self.task or str(self.id)
        if not self.task.strip():
            raise ValueError("has no tool")


_PARTS: Mapping[str, Any] = {
    "user_request": Annotated[str, msgspec.Meta(pattern=r"\S")],
    "task_steps": tuple[str, ...],
    "task_nodes": Annotated[list[_Node], msgspec.Meta(min_length=1)],
    "task_links": list[PlanLink] | None,
    "sampled_nodes": list[str | _Node] | None,
    "sampled_links": list[PlanLink] | None,
}


class GoldNode(NamedTuple):
    """One tool call of a gold plan.

    Attributes:
        place: Index in `task_nodes`, to which `<node-j>` refers.
        tool: Name of the tool, as in the label.
        arguments: Arguments as in the label: texts (resource) or `{"name": …, "value": …}` (temporal); None
            if the node has none.
        output: Output of the call, if the label has one.
    """

    place: int
    tool: str
    arguments: tuple[Any, ...] | None
    output: Any = None

    @property
    def where(self) -> str:
        """The path of the node in its label."""
        return f"task_nodes[{self.place}]"


@dataclass(frozen=True, slots=True)
class Gold:
    """A request and its gold plan.

    Attributes:
        id: Id of the request.
        line: Line in `data.json`, from 1; 0 without a file.
        request: Text of the request; "" if missing.
        steps: The steps as sentences.
        nodes: The tool calls, in order.
        links: Links as (source tool, target tool).
        sampled_nodes: Tools of the sampled subgraph; None if the label has none.
        sampled_links: Links of the sampled subgraph; None if the label has none.
        faults: The malformed parts.
        record: The complete label, in the repository's form.
    """

    id: RequestId
    line: int
    request: str
    steps: tuple[str, ...]
    nodes: tuple[GoldNode, ...]
    links: tuple[Ends, ...]
    sampled_nodes: tuple[str, ...] | None
    sampled_links: tuple[Ends, ...] | None
    faults: tuple[Fault, ...]
    record: Mapping[str, Any]

    @property
    def follows_seed(self) -> bool:
        """Whether a model made the plan itself around the sampled tools, whatever the tool graph says."""
        return self.record.get("follow") == "seed"

    @property
    def has_arguments(self) -> bool:
        """Whether any node has arguments, even an empty list."""
        return any(node.arguments is not None for node in self.nodes)

    @classmethod
    def of(cls, record: Mapping[str, Any], line: int = 0) -> Gold:
        """Parse a label in any published form; it must have an `id` (see `read_labels`).

        >>> gold = Gold.of({"id": 1, "user_request": "Hi", "task_nodes": [{"task": "a"}, {"tusk": "b"}]})
        >>> gold.nodes, [fault.where for fault in gold.faults]
        ((), ['task_steps', 'task_nodes[1]'])
        """
        record = repository_form(record)
        faults = list[Fault]()
        parts = dict[str, Any]()
        for key, kind in _PARTS.items():
            try:
                parts[key] = msgspec.convert(record.get(key), kind)
            except msgspec.ValidationError as error:
                reason, _, path = str(error).partition(" - at `$")
                faults.append(Fault(f"is malformed: {reason}", key + path.rstrip("`")))
                parts[key] = None
        links, sampled = (
            None if parts[key] is None else tuple((link.source, link.target) for link in parts[key])
            for key in ("task_links", "sampled_links")
        )
        sampled_nodes = parts["sampled_nodes"]
        if sampled_nodes is not None:
            sampled_nodes = tuple(node if isinstance(node, str) else node.task for node in sampled_nodes)
        return cls(
            record["id"],
            line,
            parts["user_request"] or "",
            parts["task_steps"] or (),
            tuple(
                GoldNode(position, node.task, node.arguments, node.output)
                for position, node in enumerate(parts["task_nodes"] or ())
            ),
            links or (),
            sampled_nodes,
            sampled,
            tuple(faults),
            record,
        )


def alternative_labels(label: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A label with each of its further right plans in place of its own; one that is no object has no plan."""
    for written in label.get(ALTERNATIVES) or ():
        plan = written if isinstance(written, Mapping) else {"task_nodes": None}
        yield {**label, "task_steps": None, **plan}
