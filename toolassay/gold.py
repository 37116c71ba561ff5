"""`Gold`: the gold plan of a label, parsed leniently so that its errors can be reported.

Every malformed part becomes a `Fault`; all other parts are valid, and other code may rely on them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from toolassay.dataset import RequestId, repository_form

Ends = tuple[str, str]


class Fault(NamedTuple):
    """A malformed part of a label: what is wrong, and where (`task_nodes[1].arguments`)."""

    reason: str
    where: str


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
        nodes: The tool calls, in order; nodes without a valid tool are left out (see `faults`).
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
    def has_arguments(self) -> bool:
        """Whether any node has arguments, even an empty list."""
        return any(node.arguments is not None for node in self.nodes)

    @classmethod
    def of(cls, record: Mapping[str, Any], line: int = 0) -> Gold:
        """Parse a label in any published form; it must have an `id` (see `toolassay.dataset.read_labels`).

        >>> gold = Gold.of({"id": 1, "user_request": "Hi", "task_nodes": [{"task": "a"}, {"tusk": "b"}]})
        >>> [node.tool for node in gold.nodes], [fault.where for fault in gold.faults]
        (['a'], ['task_steps', 'task_nodes[1]'])
        """
        record = repository_form(record)
        faults: list[Fault] = []
        request, steps = record.get("user_request"), record.get("task_steps")
        if not isinstance(request, str) or not request.strip():
            faults.append(Fault("is not a text", "user_request"))
        if not isinstance(steps, list) or not all(isinstance(step, str) for step in steps):
            faults.append(Fault("is not a list of texts", "task_steps"))
            steps = []
        return cls(
            record["id"],
            line,
            request if isinstance(request, str) else "",
            tuple(steps),
            _nodes(record.get("task_nodes"), faults),
            _links(record.get("task_links"), "task_links", faults) or (),
            _sampled_nodes(record.get("sampled_nodes"), faults),
            _links(record.get("sampled_links"), "sampled_links", faults),
            tuple(faults),
            record,
        )


def _nodes(value: Any, faults: list[Fault]) -> tuple[GoldNode, ...]:
    if not isinstance(value, list) or not value:
        faults.append(Fault("is not a list of nodes", "task_nodes"))
        return ()
    nodes = []
    for place, node in enumerate(value):
        where = f"task_nodes[{place}]"
        tool = node.get("task", node.get("id")) if isinstance(node, Mapping) else None
        if not isinstance(tool, str) or not tool.strip():
            faults.append(Fault("has no tool", where))
            continue
        arguments = node.get("arguments")
        if "arguments" in node and not isinstance(arguments, list):
            faults.append(Fault("is not a list of arguments", f"{where}.arguments"))
            arguments = []
        nodes.append(
            GoldNode(place, tool, None if arguments is None else tuple(arguments), node.get("output"))
        )
    return tuple(nodes)


def _sampled_nodes(value: Any, faults: list[Fault]) -> tuple[str, ...] | None:
    if value is None:
        return None
    names: list[Any] = []
    if isinstance(value, list):
        names = [node.get("task", node.get("id")) if isinstance(node, Mapping) else node for node in value]
    if not isinstance(value, list) or not all(isinstance(name, str) for name in names):
        faults.append(Fault("is not a list of tools", "sampled_nodes"))
        return None
    return tuple(names)


def _links(value: Any, key: str, faults: list[Fault]) -> tuple[Ends, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list):
        faults.append(Fault("is not a list of links", key))
        return None
    links = []
    for place, link in enumerate(value):
        ends = (link.get("source"), link.get("target")) if isinstance(link, Mapping) else (None, None)
        if not all(isinstance(end, str) for end in ends):
            faults.append(Fault("lacks a source or a target", f"{key}[{place}]"))
            continue
        links.append((str(ends[0]), str(ends[1])))
    return tuple(links)
