"""Requests, plans and labels: reads every published form and converts it to that of the repository.

The form of the published repository (Shen et al., 2024) has the keys `user_request`, `task_steps`,
`task_nodes`, `task_links`.
The form of the hub (`instruction`, `tool_steps`, `tool_nodes`, `tool_links`, `sampled_*`, some of them JSON
inside a string) is renamed and decoded on reading.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import msgspec

from toolassay.errors import UsageError, made_by
from toolassay.files.data_files import Line, LineRange, read_json, read_json_lines, record_of, values_in
from toolassay.graph import FieldPair, Link
from toolassay.tools.output_paths import Reference, parse_reference

Shape = Literal["single", "chain", "dag"]
SHAPES: tuple[Shape, ...] = ("single", "chain", "dag")

_HUB_NAMES = {
    "instruction": "user_request",
    "tool_steps": "task_steps",
    "tool_nodes": "task_nodes",
    "tool_links": "task_links",
}
_MAY_BE_TEXT = ("task_steps", "task_nodes", "task_links", "sampled_nodes", "sampled_links")
# The node of a reference: matches "<node-2>", not "<node-x>". Longer numbers are not references, and `int`
# rejects those with thousands of digits.
_REFERENCE = re.compile(r"<node-(\d{1,18})>")

RequestId = str | int

_MOST_VALUES = 10_000  # values that are visited in the arguments of a plan


class Request(NamedTuple):
    """One user request of `user_requests.json`; `line` counts from 1."""

    id: RequestId
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Sample:
    """A sampled subgraph of the tool graph.

    Attributes:
        index: Number of the sample.
        seed: Seed of the sampler.
        shape: Shape of the subgraph.
        nodes: Distinct tool ids in topological order; for a chain, the chain itself.
        links: The links with the type of their resource ("complete" in a temporal graph); at most one per
            input slot.
        fields: In a schema graph, the values that flow through each of `links`; no argument is filled twice.
        shared: In a schema graph, for each of `links` the arguments of both tools that take the same value.
    """

    index: int
    seed: int
    shape: Shape
    nodes: tuple[str, ...]
    links: tuple[Link, ...]
    fields: tuple[tuple[FieldPair, ...], ...] = ()
    shared: tuple[tuple[FieldPair, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class TaskGraph:
    """A plan.

    Attributes:
        steps: The steps as sentences.
        nodes: Tool calls `{"task": tool id, "arguments": […]}`. A resource argument is a text, in which
            `<node-j>` stands for the output of node j, counted from 0; a temporal or schema argument is
            `{"name": …, "value": …}`, where in a schema plan `<node-j>.path` stands for a part of an output.
        links: Links `{"source": tool id, "target": tool id}`.
    """

    steps: Sequence[str]
    nodes: Sequence[Mapping[str, Any]]
    links: Sequence[Mapping[str, str]]

    def to_json(self) -> dict[str, Any]:
        """The plan as the `result` of a prediction line."""
        return {
            "task_steps": list(self.steps),
            "task_nodes": list(self.nodes),
            "task_links": list(self.links),
        }


Difficulty = Literal["easy", "mixed", "hard"]
"""How demanding the tasks are that are asked of a writer."""
TASK_KIND = "task_kind"
"""The key of a label with the kind of its task."""

WORK_ORDER_OPENINGS = ("Please do the following:\n", "Please do the following, in this order:\n")
"""How a work order begins, a numbered list that rules made of the tools' sentences."""


def form_of(request: Any) -> dict[str, str]:
    r"""The mark of a work order in a record or a label; nothing for other requests.

    >>> form_of("Please do the following:\n1. Pay."), form_of("Pay, please.")
    ({'form': 'work order'}, {})
    """
    is_order = isinstance(request, str) and request.startswith(WORK_ORDER_OPENINGS)
    return {"form": "work order"} if is_order else {}


def repository_form(value: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a label or prediction line to the repository's form; other keys are kept.

    >>> repository_form({"id": 1, "instruction": "Hi", "tool_steps": '["a"]'})
    {'id': 1, 'user_request': 'Hi', 'task_steps': ['a']}
    """
    if value.keys().isdisjoint(_HUB_NAMES) and str not in map(type, map(value.get, _MAY_BE_TEXT)):
        return dict(value)  # most lines are in this form
    record: dict[str, Any] = {}
    for key, item in value.items():
        name = _HUB_NAMES.get(key, key)
        if name != key and name in value:
            name = key
        if name in _MAY_BE_TEXT and isinstance(item, str) and item.lstrip()[:1] in ("[", "{"):
            # A text that only looks like JSON stays a text.
            with contextlib.suppress(ValueError, RecursionError):
                item = json.loads(item)
        record[name] = item
    return record


def reference_index(argument: Any) -> int | None:
    """The index of the node that an argument refers to, if all of it is `<node-j>`; else None.

    >>> reference_index("<node-2>"), reference_index("text about <node-2>")
    (2, None)
    """
    match = _REFERENCE.fullmatch(argument.strip()) if isinstance(argument, str) else None
    return int(match.group(1)) if match else None


def references_in(value: Any) -> Iterator[Reference]:
    """The references in a JSON value, at any depth; each is all of a text.

    >>> list(references_in(["<node-0>.id", {"a": "<node-2>"}, "see <node-1>"]))
    [Reference(node=0, path=('id',)), Reference(node=2, path=())]
    """
    for item in islice(values_in(value), _MOST_VALUES):
        if isinstance(item, str) and (reference := parse_reference(item)) is not None:
            yield reference


def renumbered(text: str, numbers: Mapping[int, int]) -> str:
    """A reference with the new number of its node; any other text unchanged.

    >>> renumbered("<node-1>.id", {1: 0}), renumbered("see <node-1>", {1: 0})
    ('<node-0>.id', 'see <node-1>')
    """
    reference = parse_reference(text)
    if reference is None or reference.node not in numbers:
        return text
    return _REFERENCE.sub(f"<node-{numbers[reference.node]}>", text.strip(), count=1)


def shape_of(size: int, links: Iterable[tuple[Any, Any]], *, tools: Sequence[Any] = ()) -> Shape:
    """The shape of a plan: `single`, `chain` (one simple path over all nodes) or `dag`.

    Links name tools, so they are ambiguous if a tool is used twice. Then `tools` is needed, and the plan is a
    chain if each node is linked to the next.

    Args:
        size: Number of nodes.
        links: Links as (source tool, target tool).
        tools: The tool of each node, in order.

    >>> shape_of(1, []), shape_of(2, [("a", "b")]), shape_of(3, [("a", "b"), ("a", "c")])
    ('single', 'chain', 'dag')
    >>> shape_of(2, [("a", "a")], tools=["a", "a"])
    'chain'
    """
    if size <= 1:
        return "single"
    if len(set(tools)) < len(tools):
        return "chain" if Counter(links) == Counter(pairwise(tools)) else "dag"
    pairs = set(links)
    return "chain" if len(pairs) == size - 1 and is_paths(size, pairs) else "dag"


def is_paths(size: int, links: Iterable[tuple[Any, Any]], *, tools: Sequence[Any] = ()) -> bool:
    """Whether a plan has no branch, join or cycle: it is a chain, possibly with missing links.

    Args:
        size: Number of nodes.
        links: As for `shape_of`.
        tools: As for `shape_of`.

    >>> is_paths(3, [("a", "b")]), is_paths(3, [("a", "b"), ("a", "c")])
    (True, False)
    """
    if len(set(tools)) < len(tools):
        return not Counter(links) - Counter(pairwise(tools))
    pairs = set(links)
    following = dict(pairs)
    if len(following) < len(pairs) or len({target for _, target in pairs}) < len(pairs):
        return False
    steps = 0
    for start in following.keys() - following.values():
        node = start
        while node in following:
            node = following[node]
            steps = steps + 1
    return steps == len(pairs) < size  # the links of a cycle are not counted, because it has no start


def read_requests(path: str | Path) -> Iterator[Request]:
    """Yield the requests of `user_requests.json` or `data.json`, in file order.

    Raises:
        UsageError: The file is missing or a line is malformed (names its number).
    """
    path = Path(path)
    for number, value in read_json_lines(path, fix=made_by("format")):
        record = label_record(path, number, value)
        text = record.get("user_request")
        if not isinstance(text, str):
            raise UsageError("has no 'user_request' text", file=path, line=number, fix="add it")
        yield Request(record["id"], text, number)


"""What an error advises if a file of labels is missing."""


def read_labels(path: str | Path, lines: LineRange | None = None) -> Iterator[Line]:
    """Yield the labels of `data.json` in the repository's form, with their line numbers.

    Args:
        path: The file.
        lines: The lines to read; None for all.

    Raises:
        UsageError: The file is missing or a line is malformed (names its number).
    """
    path = Path(path)
    for number, value in read_json_lines(path, lines=lines, fix=made_by("format")):
        yield Line(number, label_record(path, number, value))


class LastLabels:
    """The labels or predictions of a file, read again by each iteration; of several with one id, the last.

    Args:
        path: The file.

    Attributes:
        path: The file.
        repeated: Number of lines whose id a later line has too.

    Raises:
        UsageError: The file is missing or a line is malformed (names its number).
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.repeated = 0
        self._last: dict[RequestId, int] = {}
        for number, label in read_labels(path):
            self.repeated += label["id"] in self._last
            self._last[label["id"]] = number

    def __len__(self) -> int:
        return len(self._last)

    def __iter__(self) -> Iterator[Line]:
        return (line for line in read_labels(self.path) if self._last[line.value["id"]] == line.number)


def label_record(path: Path, number: int, value: Any) -> dict[str, Any]:
    """Convert the value of a line of requests or labels to the repository's form.

    Args:
        path: The file, for messages.
        number: Number of the line.
        value: Value of the line.

    Raises:
        UsageError: The value is not an object, or has no id.
    """
    if not isinstance(value, dict):
        raise UsageError("not an object", file=path, line=number, fix='write {"id": …, …}')
    if not isinstance(value.get("id"), str | int) or isinstance(value["id"], bool):
        wrong = "has no 'id'" if value.get("id") is None else "has an 'id' that is not a text or whole number"
        raise UsageError(wrong, file=path, line=number, fix="give every line an id (text or whole number)")
    return repository_form(value)


class _Node(msgspec.Struct):
    task: str


class PlanLink(msgspec.Struct):
    """A link of a plan, by the names of its tools; other keys are in the label (`Gold.record`)."""

    source: str
    target: str


class WholeLabel(msgspec.Struct):
    """A label with all parts, in the repository's form; the contents of arguments are not checked."""

    user_request: Annotated[str, msgspec.Meta(min_length=1)]
    task_steps: list[Any]
    task_nodes: list[_Node]
    task_links: list[PlanLink]


Split = Literal["train", "dev", "test"]
SPLITS: tuple[Split, ...] = ("train", "dev", "test")
SplitIds = dict[str, list[RequestId]] | list[RequestId]
"""The ids of one split, by shape or not."""


class WrittenSplits(msgspec.Struct, frozen=True, kw_only=True):
    """`split_ids.json`: of `toolassay split`, or a published one, which has only `test_ids`.

    Attributes:
        made_by: The program.
        signature: Settings and data of the splits, in one line.
        seed: Seed of the draws.
        shares: Requested share of each split.
        hold_out_tools: Tools that occur in the test split only.
        near: Threshold of near duplicates; None if only exact repeats are kept together.
        train_ids: The training split.
        dev_ids: The development split.
        test_ids: The test split.
        sha256: Hash of the ids.
    """

    made_by: str = ""
    signature: str = ""
    seed: int = 0
    shares: dict[Split, float] = {}
    hold_out_tools: tuple[str, ...] = ()
    near: float | None = None
    train_ids: SplitIds | None = None
    dev_ids: SplitIds | None = None
    test_ids: SplitIds | None = None
    sha256: str = ""

    @classmethod
    def load(cls, path: Path) -> WrittenSplits:
        """Read a split file.

        Raises:
            UsageError: It is missing or malformed.
        """
        fix = made_by("split")
        return record_of(read_json(path, fix=fix), cls, file=path, fix=fix)

    def ids(self, split: str) -> list[RequestId] | None:
        """The ids of a split; None if the file does not name it."""
        split_ids: SplitIds | None = getattr(self, f"{split}_ids", None)
        return (
            [name for part in split_ids.values() for name in part]
            if isinstance(split_ids, dict)
            else split_ids
        )
