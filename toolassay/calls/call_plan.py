"""`CallPlan`: a plan as calls that can be executed and exported, and how a label is parsed into it.

Parsing finds faults, numbers the references, sorts the calls and converts values to their types.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import networkx as nx

from toolassay.calls.function_schemas import ArgumentSlot, chosen_slots, slots_of
from toolassay.dataset import Shape, reference_index, shape_of
from toolassay.files import readable
from toolassay.gold import Fault, Gold, GoldNode
from toolassay.graph import DependencyType
from toolassay.output_paths import parse_reference, reference_text
from toolassay.tools import ToolLibrary

# The canonical references that this module writes: "<node-2>", also inside "as <node-2>"; not "<Node-2>".
_REFERENCES = re.compile(r"<node-(\d+)>")


class Unfit(ValueError):
    """A label that cannot be exported; `fault` has the reason and the path in the label."""

    def __init__(self, reason: str, where: str = "") -> None:
        super().__init__(f"{where}: {reason}" if where else reason)
        self.fault = Fault(reason, where)


class Argument(NamedTuple):
    """A named JSON value of a call; `<node-j>` in it is the result of call j, `<node-j>.id` a part of it."""

    name: str
    value: Any


class Call(NamedTuple):
    """A call of a tool with its arguments, in the order of the label."""

    tool: str
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class CallPlan:
    """A request and the calls that answer it.

    Attributes:
        id: the id of the label, as text.
        request: the user's words.
        steps: the plan in words.
        calls: sorted so that references and links point back; `<node-j>` is the result of call j, from 0.
        links: (number of the source call, number of the target call), unique and sorted.
        has_arguments: whether the label has arguments; if not, those of all calls are empty.
        nodes: for each call, its index in the label's `task_nodes`; not compared, exported rows lack it.
    """

    id: str
    request: str
    steps: tuple[str, ...]
    calls: tuple[Call, ...]
    links: tuple[tuple[int, int], ...]
    has_arguments: bool = True
    nodes: tuple[int, ...] = field(default=(), compare=False)

    @property
    def fingerprint(self) -> str:
        """A hash of the calls, by which an execution names the plan that was executed."""
        calls = [[call.tool, {one.name: one.value for one in call.arguments}] for call in self.calls]
        text = json.dumps(calls, ensure_ascii=False, sort_keys=True)
        return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]

    @property
    def shape(self) -> Shape:
        """The shape that the calls and links form, whatever the label's `type`."""
        return shape_of(len(self.calls), self.links)

    @property
    def size(self) -> int:
        """The number of calls."""
        return len(self.calls)

    def needs(self) -> list[set[int]]:
        """For each call, the numbers of the calls that it refers to or that a link puts before it."""
        needed = [set(references(call.arguments)) - {place} for place, call in enumerate(self.calls)]
        for source, target in self.links:
            needed[target].add(source)
        return [{place for place in before if place < len(self.calls)} for before in needed]

    def results(self) -> list[int]:
        """The numbers of the calls that no other call needs: their results go to the user."""
        used = set().union(*self.needs())
        return [place for place in range(len(self.calls)) if place not in used]


def references(value: Any) -> Iterator[int]:
    """The numbers j of all `<node-j>` in a JSON value, at any depth, also inside longer texts.

    >>> list(references([Argument("a", ["<node-2>", {"b": "of <node-0>"}]), 7]))
    [2, 0]
    """
    for text in _texts(value):
        yield from (int(number) for number in _REFERENCES.findall(text))


def renumbered(value: Any, numbers: Sequence[int]) -> Any:
    """A JSON value with each `<node-j>` replaced by `<node-numbers[j]>`; larger j stay unchanged.

    >>> renumbered(["<node-1>", "as <node-0> and <node-9>"], [1, 0])
    ['<node-0>', 'as <node-1> and <node-9>']
    """

    def new(match: re.Match[str]) -> str:
        old = int(match[1])
        return f"<node-{numbers[old]}>" if old < len(numbers) else match[0]

    return with_texts(value, lambda text: _REFERENCES.sub(new, text))


def with_texts(value: Any, change: Callable[[str], str]) -> Any:
    """A JSON value with `change` applied to its texts; keys of objects only become valid UTF-8."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [with_texts(item, change) for item in value]
    if isinstance(value, dict):
        return {readable(key): with_texts(item, change) for key, item in value.items()}
    return value


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)


_NAMED = frozenset({"name", "value"})


def plan_of(gold: Gold, library: ToolLibrary, kind: DependencyType) -> CallPlan:
    """Parse the plan of a label.

    A reference is `<node-j>` or, along a link, the name of the tool whose result it is. Texts are converted
    to the types of their parameters: `"3"` becomes 3 for an integer.

    Args:
        gold: the label.
        library: the tools; all tools of the plan must be in it.
        kind: the dependency type, which decides the form of arguments.

    Raises:
        Unfit: the plan has an unknown tool, a reference that does not resolve, a cycle, an argument that its
            tool does not take, or a malformed part.

    >>> from toolassay.tools import Tool
    >>> library = ToolLibrary([Tool("Paint", inputs=("text",), outputs=("image",))])
    >>> nodes = [{"task": "Paint", "arguments": ["a cat"]}]
    >>> label = {"id": 1, "user_request": "Paint a cat", "task_steps": [], "task_nodes": nodes}
    >>> plan_of(Gold.of(label), library, "resource").calls
    (Call(tool='Paint', arguments=(Argument(name='text', value='a cat'),)),)
    """
    for fault in gold.faults:
        if fault.where != "task_steps" or gold.record.get("task_steps") is not None:
            raise Unfit(fault.reason, fault.where)
    for node in gold.nodes:
        if node.tool not in library:
            raise Unfit(f"names the tool '{node.tool}', which the library does not have", node.where)
    calls = [Call(node.tool, _arguments(node, gold, library, kind)) for node in gold.nodes]
    links = _numbered_links(gold, calls)
    order = _order(calls, links)
    numbers = [0] * len(order)
    for new, old in enumerate(order):
        numbers[old] = new
    return CallPlan(
        readable(str(gold.id)),
        readable(gold.request),
        tuple(readable(step) for step in gold.steps),
        tuple(
            Call(
                calls[old].tool,
                tuple(Argument(name, renumbered(value, numbers)) for name, value in calls[old].arguments),
            )
            for old in order
        ),
        tuple(sorted((numbers[source], numbers[target]) for source, target in links)),
        gold.has_arguments,
        tuple(gold.nodes[old].place for old in order),
    )


def _arguments(
    node: GoldNode, gold: Gold, library: ToolLibrary, kind: DependencyType
) -> tuple[Argument, ...]:
    slots = slots_of(library[node.tool], kind)
    items = node.arguments or ()
    named = [isinstance(item, Mapping) and item.keys() >= _NAMED for item in items]
    if any(named) and not all(named):
        raise Unfit("mixes named values with others", f"{node.where}.arguments")
    values = [item["value"] if any(named) else item for item in items]
    values = [_value(value, node, place, gold) for place, value in enumerate(values)]
    if all(named):
        return _by_name([item["name"] for item in items], values, node, slots)
    if len(values) > len(slots):
        takes = ", ".join(slot.kind for slot in slots) or "nothing"
        raise Unfit(f"has {len(values)} arguments, '{node.tool}' takes {takes}", f"{node.where}.arguments")
    given = [_types(value, gold, library) for value in values]
    chosen = chosen_slots(values, given, slots)
    return tuple(Argument(slot.name, slot.typed(value)) for slot, value in zip(chosen, values, strict=True))


def _by_name(
    names: Sequence[Any], values: Sequence[Any], node: GoldNode, slots: Sequence[ArgumentSlot]
) -> tuple[Argument, ...]:
    known = {slot.name: slot for slot in slots}
    for place, name in enumerate(names):
        where = f"{node.where}.arguments[{place}]"
        if not isinstance(name, str) or name not in known:
            raise Unfit(f"'{name}' is not a parameter of '{node.tool}'", where)
        if name in names[:place]:
            raise Unfit(f"gives '{name}' twice", where)
    return tuple(Argument(name, known[name].typed(value)) for name, value in zip(names, values, strict=True))


def _value(value: Any, node: GoldNode, place: int, gold: Gold) -> Any:
    """The value with its references as `<node-j>`, and with texts that are valid UTF-8."""
    where = f"{node.where}.arguments[{place}]"
    try:
        json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError):
        raise Unfit("holds a value that JSON does not have, such as NaN", where) from None
    return with_texts(value, lambda text: _reference(text, node, where, gold))


def _reference(text: str, node: GoldNode, where: str, gold: Gold) -> str:
    reference = parse_reference(text)
    if reference is None:
        sources = [other.place for other in gold.nodes if other.tool == text]
        if len(sources) == 1 and sources[0] != node.place and (text, node.tool) in gold.links:
            return f"<node-{sources[0]}>"
        return readable(text)
    number = reference.node
    if number >= len(gold.nodes):
        raise Unfit(f"refers to {text.strip()}, but the plan has {len(gold.nodes)} nodes", where)
    if number == node.place:
        raise Unfit(f"refers to {text.strip()}, which is its own node", where)
    return reference_text(reference)


def _types(value: Any, gold: Gold, library: ToolLibrary) -> tuple[str, ...] | None:
    number = reference_index(value)
    return None if number is None else library[gold.nodes[number].tool].outputs


def _numbered_links(gold: Gold, calls: Sequence[Call]) -> list[tuple[int, int]]:
    """The links as numbers of calls. If a tool is called twice, references decide which call a link means."""
    takes = [set(references(call.arguments)) for call in calls]
    links: dict[tuple[int, int], None] = {}
    wanted = Counter(gold.links)
    several = len({call.tool for call in calls}) < len(calls)
    for place, ends in enumerate(gold.links):
        if wanted[ends] == 0:
            continue
        wanted[ends] = wanted[ends] - 1 if several else 0
        pairs = [
            (source, target)
            for target, call in enumerate(calls)
            if call.tool == ends[1]
            for source, other in enumerate(calls)
            if other.tool == ends[0] and source != target
        ]
        if not pairs:
            raise Unfit(
                f"links '{ends[0]}' to '{ends[1]}', but has no two such calls", f"task_links[{place}]"
            )
        left = [pair for pair in pairs if pair not in links]
        if left:
            links[min(left, key=lambda pair: (pair[0] not in takes[pair[1]], pair[0] > pair[1], pair))] = None
    return list(links)


def _order(calls: Sequence[Call], links: Sequence[tuple[int, int]]) -> list[int]:
    """The numbers of the calls, sorted topologically; the given order if that is valid."""
    needs: nx.DiGraph[int] = nx.DiGraph()
    needs.add_nodes_from(range(len(calls)))
    needs.add_edges_from(links)
    for place, call in enumerate(calls):
        taken = {number for number in references(call.arguments) if number < len(calls)} - {place}
        needs.add_edges_from((number, place) for number in taken)
    order: list[int] = []
    try:
        # One by one, so that `order` holds the calls before a cycle when the error names those in it.
        for place in nx.lexicographical_topological_sort(needs):
            order.append(place)
    except nx.NetworkXUnfeasible:
        waiting = [f"'{call.tool}'" for place, call in enumerate(calls) if place not in order]
        raise Unfit(f"calls depend on each other: {', '.join(waiting)}", "task_links") from None
    return order
