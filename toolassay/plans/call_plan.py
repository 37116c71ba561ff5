"""`CallPlan`: a plan as calls of functions, which can be executed and exported, and how a label is parsed
into it.

Parsing finds faults, numbers the references, sorts the calls and converts values to their types. A function
has the argument slots of its tool, names that every service accepts (mapped to the library's), and a JSON
schema.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import msgspec

from toolassay.files.data_files import map_texts, readable, values_in
from toolassay.files.file_types import MEDIA
from toolassay.graph import DependencyType
from toolassay.plans.gold import Fault, Gold, GoldNode
from toolassay.plans.normalised_plan import resource_type
from toolassay.records.dataset import Shape, reference_index, references_in, shape_of
from toolassay.tools.argument_schemas import accepted_schema
from toolassay.tools.library import Tool, ToolLibrary, is_required, normal_type
from toolassay.tools.output_paths import Selector, parse_reference, reference_text
from toolassay.tools.type_names import read_type, types_of

# The Python types that a value of each JSON type has after parsing.
_READS_AS: dict[str, tuple[type, ...]] = {
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}
# "https://x.org", "www.x.org"; not "x.org".
_URL = re.compile(r"(?:https?://|www\.)\S+", re.IGNORECASE)


class FunctionSchema(msgspec.Struct, frozen=True):
    """OpenAI's value of `function`; `parameters` is a JSON Schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]


class NamedFunction(msgspec.Struct, frozen=True):
    """An entry of `names.json`: the tool of a function, and the parameter of each of its properties."""

    tool: str
    parameters: dict[str, str]


class ArgumentSlot(NamedTuple):
    """One argument that a tool takes.

    Attributes:
        name: unique within the tool: the name of the parameter, or the type of the input (`text`, `text_2`).
        kind: the type as the library writes it.
        description: the description for the model; may be empty.
        required: whether every call must have it.
        source: its object in the tool file; empty for an input.
        is_json: whether it belongs to an `input_schema`; its values are JSON values as they are.
    """

    name: str
    kind: str
    description: str
    required: bool
    source: Mapping[str, Any]
    is_json: bool = False

    @property
    def json_type(self) -> str:
        """The type in a JSON schema; "string" for an unknown type.

        >>> kinds = ("int", "List[str]", "date", "Enum", "Optional[int]", "null | number")
        >>> [ArgumentSlot("a", kind, "", True, {}).json_type for kind in kinds]
        ['integer', 'array', 'string', 'string', 'integer', 'number']
        """
        return next((kind for kind in types_of(read_type(self.kind) or {}) if kind != "null"), "string")

    def typed(self, value: Any) -> Any:
        """A text converted to the slot's type if it is valid JSON of that type; otherwise the value itself.

        >>> slot = ArgumentSlot("seats", "integer", "", True, {})
        >>> slot.typed("4"), slot.typed("four"), slot.typed("<node-0>"), slot.typed(4)
        (4, 'four', '<node-0>', 4)
        """
        json_types = None if self.is_json else _READS_AS.get(self.json_type)
        if json_types is None or not isinstance(value, str):
            return value
        try:
            parsed = json.loads(value.casefold() if bool in json_types else value)
        except (ValueError, RecursionError):
            return value
        if isinstance(parsed, float) and not math.isfinite(parsed):
            return value
        return parsed if type(parsed) in json_types else value


def slots_of(tool: Tool, kind: DependencyType) -> tuple[ArgumentSlot, ...]:
    """The argument slots of a tool: its typed inputs in a resource library, otherwise its parameters.

    >>> [slot.name for slot in slots_of(Tool("Answer", inputs=("text", "text", "image")), "resource")]
    ['text', 'text_2', 'image']
    """
    if kind == "resource" and tool.is_resource:
        return _input_slots(tool.inputs)
    is_json = tool.input_schema is not None
    return tuple(
        ArgumentSlot(
            parameter.name,
            parameter.type,
            parameter.description,
            is_required(parameter, tool),
            parameter.declaration,
            is_json,
        )
        for parameter in tool.parameters
    )


def _input_slots(inputs: Sequence[str]) -> tuple[ArgumentSlot, ...]:
    slots = []
    met = Counter[str]()
    for kind in inputs:
        met[kind] += 1
        name = kind if met[kind] == 1 else f"{kind}_{met[kind]}"
        slots.append(
            ArgumentSlot(name, kind, f"{kind}: as given, or the result of an earlier call", True, {})
        )
    return tuple(slots)


def chosen_slots(
    values: Sequence[Any], types_of_values: Sequence[Collection[str] | None], slots: Sequence[ArgumentSlot]
) -> list[ArgumentSlot]:
    """The input slot of each value of a resource call: by type first, by position for values left over.

    Args:
        values: the values; at most as many as there are slots.
        types_of_values: for each value that is the result of a call, its types; None for a literal.
        slots: the slots of the tool.
    """
    free = dict.fromkeys(range(len(slots)))
    chosen: dict[int, int] = {}
    for position, (value, types) in enumerate(zip(values, types_of_values, strict=True)):
        fitting = [slot for slot in free if _fits(value, types, slots[slot].kind)]
        if fitting:
            chosen[position] = position if position in fitting else fitting[0]
            del free[chosen[position]]
    for position in range(len(values)):
        if position not in chosen:
            chosen[position] = position if position in free else next(iter(free))
            del free[chosen[position]]
    return [slots[chosen[position]] for position in range(len(values))]


def _fits(value: Any, types: Collection[str] | None, kind: str) -> bool:
    if types is not None:
        return kind in {normal_type(name) for name in types} if types else True
    if not isinstance(value, str):
        return False
    if kind == "url":
        return _URL.fullmatch(value.strip()) is not None
    named_type = resource_type(value)
    return (
        named_type == kind if kind in MEDIA else named_type not in MEDIA and not _URL.fullmatch(value.strip())
    )


# OpenAI's rule for function names: "send_email"; not "send email".
VALID_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
# Anthropic's rule for names of properties: "user.name"; not "per page", "filter[id]" nor "größe".
_VALID_PROPERTY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
# The limit in these rules.
LONGEST_NAME = 64
# Runs of characters that become one "_": ": " and "é"; not "_".
_OTHERS = re.compile(r"[^a-zA-Z0-9_-]+")


MOST_TOOLS = 128
"""The limit of OpenAI's API on the functions of one request."""


@dataclass(frozen=True)
class Names:
    """The names of tools and parameters in chats.

    Attributes:
        functions: name of the function for each tool.
        parameters: for each tool, the name of the property for each parameter.
    """

    functions: Mapping[str, str]
    parameters: Mapping[str, Mapping[str, str]]

    @classmethod
    def of(cls, library: ToolLibrary, kind: DependencyType, *, strict: bool = False) -> Names:
        """Valid names for all tools and parameters; names that are valid already stay unchanged.

        So do the properties of an `input_schema`: OpenAI restricts the names of functions only. With `strict`
        those of them that Anthropic's API refuses are changed, too.

        >>> from toolassay.tools.library import Tool
        >>> Names.of(ToolLibrary([Tool("Edit Image"), Tool("Edit_Image"), Tool("画")]), "resource").functions
        {'Edit Image': 'Edit_Image_2', 'Edit_Image': 'Edit_Image', '画': 'tool'}
        """
        parameters = {}
        for tool in library:
            slots = [slot.name for slot in slots_of(tool, kind)]
            is_kept = _schema_of(tool, kind) is not None
            valid = _valid(slots, "argument")
            parameters[tool.id] = {
                name: name if is_kept and (not strict or _VALID_PROPERTY.fullmatch(name)) else new
                for name, new in valid.items()
            }
        return cls(_valid(library.ids, "tool"), parameters)

    @cached_property
    def by_function(self) -> dict[str, NamedFunction]:
        """The functions, as in `names.json`."""
        return {
            function: NamedFunction(tool, {name: slot for slot, name in self.parameters[tool].items()})
            for tool, function in self.functions.items()
        }


def _valid(names: Iterable[str], fallback: str) -> dict[str, str]:
    """A valid name for each name, unique even if case is ignored."""
    names_in_order = list(names)
    chosen = {name: name for name in names_in_order if VALID_NAME.fullmatch(name)}
    taken_names: set[str] = set()
    for name in list(chosen):
        if name.casefold() in taken_names:
            del chosen[name]
        taken_names.add(name.casefold())
    for name in names_in_order:
        if name in chosen:
            continue
        plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
        base = _OTHERS.sub("_", plain).strip("_")[:LONGEST_NAME] or fallback
        new = base
        number = 1
        while new.casefold() in taken_names:
            number += 1
            new = f"{base[: LONGEST_NAME - len(str(number)) - 1]}_{number}"
        taken_names.add(new.casefold())
        chosen[name] = new
    return {name: chosen[name] for name in names_in_order}


def _schema_of(tool: Tool, kind: DependencyType) -> Mapping[str, Any] | None:
    """The schema of a function's arguments as imported; None if it is built of its argument slots."""
    return None if kind == "resource" and tool.is_resource else tool.input_schema


def renamed(schema: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """The schema of arguments with other names for its properties."""
    declared = schema.get("properties", {})
    if not any(names.get(name, name) != name for name in declared):
        return schema
    required = [names.get(name, name) for name in schema.get("required", ())]
    properties = {names.get(name, name): property_schema for name, property_schema in declared.items()}
    return {**schema, "properties": properties, "required": required}


_FORMATS = frozenset({"date", "time", "date-time"})


def function_of(tool: Tool, kind: DependencyType, names: Names) -> FunctionSchema:
    """A tool as a function.

    The `parameters` of an imported tool are its `input_schema`, as model services accept it.

    Args:
        tool: the tool.
        kind: the dependency type; for "resource" the description names the outputs.
        names: names of functions and parameters.

    >>> from toolassay.tools.library import ToolLibrary
    >>> tool = Tool("Paint it", "Paints.", inputs=("text",), outputs=("image",))
    >>> function = function_of(tool, "resource", Names.of(ToolLibrary([tool]), "resource"))
    >>> function.name, function.parameters["required"], function.description
    ('Paint_it', ['text'], 'Paints. Gives image.')
    """
    slots = slots_of(tool, kind)
    called = names.parameters[tool.id]
    if (input_schema := _schema_of(tool, kind)) is not None:
        schema = renamed(accepted_schema({"type": "object", "properties": {}, **input_schema})[0], called)
        return FunctionSchema(names.functions[tool.id], tool.description, schema)
    gives = f"Gives {', '.join(tool.outputs)}." if kind == "resource" and tool.outputs else ""
    schema = {
        "type": "object",
        "properties": {called[slot.name]: _property(slot) for slot in slots},
        "required": [called[slot.name] for slot in slots if slot.required],
    }
    description = " ".join(text for text in (tool.description.strip(), gives) if text)
    return FunctionSchema(names.functions[tool.id], description, schema)


def _property(slot: ArgumentSlot) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": slot.json_type}
    if slot.description:
        schema["description"] = slot.description
    declared = read_type(slot.kind) or {}
    if declared.get("format") in _FORMATS:
        schema["format"] = declared["format"]
    values = slot.source.get("enum")
    if isinstance(values, list) and values:
        schema["enum"] = values
    if slot.json_type == "array":
        items = slot.source.get("items")
        schema["items"] = items if isinstance(items, dict) else declared.get("items", {})
    return schema


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
        calls = [
            [call.tool, {argument.name: argument.value for argument in call.arguments}] for call in self.calls
        ]
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
        needed_calls = [set(references(call.arguments)) - {number} for number, call in enumerate(self.calls)]
        for source, target in self.links:
            needed_calls[target].add(source)
        return [{number for number in needed if number < len(self.calls)} for needed in needed_calls]

    def results(self) -> list[int]:
        """The numbers of the calls that no other call needs: their results go to the user."""
        used = set().union(*self.needs())
        return [number for number in range(len(self.calls)) if number not in used]


def references(value: Any) -> Iterator[int]:
    """The numbers j of all `<node-j>` in a JSON value, at any depth, also inside longer texts.

    >>> list(references([Argument("a", ["<node-2>", {"b": "of <node-0>"}]), 7]))
    [2, 0]
    """
    for text in values_in(value):
        if isinstance(text, str):
            yield from map(int, _REFERENCES.findall(text))


def renumbered(value: Any, numbers: Sequence[int]) -> Any:
    """A JSON value with each `<node-j>` replaced by `<node-numbers[j]>`; larger j stay unchanged.

    >>> renumbered(["<node-1>", "as <node-0> and <node-9>"], [1, 0])
    ['<node-0>', 'as <node-1> and <node-9>']
    """

    def new(match: re.Match[str]) -> str:
        old = int(match[1])
        return f"<node-{numbers[old]}>" if old < len(numbers) else match[0]

    return map_texts(value, lambda text: _REFERENCES.sub(new, text), key=readable)


_NAMED = frozenset({"name", "value"})


def call_plan_of(gold: Gold, library: ToolLibrary, kind: DependencyType) -> CallPlan:
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

    >>> from toolassay.tools.library import Tool
    >>> library = ToolLibrary([Tool("Paint", inputs=("text",), outputs=("image",))])
    >>> nodes = [{"task": "Paint", "arguments": ["a cat"]}]
    >>> label = {"id": 1, "user_request": "Paint a cat", "task_steps": [], "task_nodes": nodes}
    >>> call_plan_of(Gold.of(label), library, "resource").calls
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
    are_named = [isinstance(item, Mapping) and item.keys() >= _NAMED for item in items]
    if any(are_named) and not all(are_named):
        raise Unfit("mixes named values with others", f"{node.where}.arguments")
    values = [item["value"] if any(are_named) else item for item in items]
    values = [_value(value, node, position, gold) for position, value in enumerate(values)]
    if kind != "schema" and any(
        isinstance(step, Selector) for ref in references_in(values) for step in ref.path
    ):
        raise Unfit("has a selector in a reference, which needs tools with schemas", node.where)
    if all(are_named):
        return _by_name([item["name"] for item in items], values, node, slots)
    if len(values) > len(slots):
        takes = ", ".join(slot.kind for slot in slots) or "nothing"
        raise Unfit(f"has {len(values)} arguments, '{node.tool}' takes {takes}", f"{node.where}.arguments")
    numbers = map(reference_index, values)
    types_of_sources = [
        None if number is None else library[gold.nodes[number].tool].outputs for number in numbers
    ]
    chosen = chosen_slots(values, types_of_sources, slots)
    return tuple(Argument(slot.name, slot.typed(value)) for slot, value in zip(chosen, values, strict=True))


def _by_name(
    names: Sequence[Any], values: Sequence[Any], node: GoldNode, slots: Sequence[ArgumentSlot]
) -> tuple[Argument, ...]:
    slots_by_name = {slot.name: slot for slot in slots}
    for position, name in enumerate(names):
        where = f"{node.where}.arguments[{position}]"
        if not isinstance(name, str) or name not in slots_by_name:
            raise Unfit(f"'{name}' is not a parameter of '{node.tool}'", where)
        if name in names[:position]:
            raise Unfit(f"gives '{name}' twice", where)
    return tuple(
        Argument(name, slots_by_name[name].typed(value)) for name, value in zip(names, values, strict=True)
    )


def _value(value: Any, node: GoldNode, position: int, gold: Gold) -> Any:
    """The value with its references as `<node-j>`, and with texts that are valid UTF-8."""
    where = f"{node.where}.arguments[{position}]"
    try:
        json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError):
        raise Unfit("holds a value that JSON does not have, such as NaN", where) from None
    return map_texts(value, lambda text: _reference(text, node, where, gold), key=readable)


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


def _numbered_links(gold: Gold, calls: Sequence[Call]) -> list[tuple[int, int]]:
    """The links as numbers of calls. If a tool is called twice, references decide which call a link means."""
    takes = [set(references(call.arguments)) for call in calls]
    links: dict[tuple[int, int], None] = {}
    expected = Counter(gold.links)
    several = len({call.tool for call in calls}) < len(calls)
    for number, ends in enumerate(gold.links):
        if expected[ends] == 0:
            continue
        expected[ends] = expected[ends] - 1 if several else 0
        pairs = [
            (source, target)
            for target, call in enumerate(calls)
            if call.tool == ends[1]
            for source, other in enumerate(calls)
            if other.tool == ends[0] and source != target
        ]
        if not pairs:
            raise Unfit(
                f"links '{ends[0]}' to '{ends[1]}', but has no two such calls", f"task_links[{number}]"
            )
        left = [pair for pair in pairs if pair not in links]
        if left:
            links[min(left, key=lambda pair: (pair[0] not in takes[pair[1]], pair[0] > pair[1], pair))] = None
    return list(links)


def _order(calls: Sequence[Call], links: Sequence[tuple[int, int]]) -> list[int]:
    """The numbers of the calls, sorted topologically; the given order if that is valid."""
    import networkx as nx  # 100 ms

    needs: nx.DiGraph[int] = nx.DiGraph()
    needs.add_nodes_from(range(len(calls)))
    needs.add_edges_from(links)
    for number, call in enumerate(calls):
        sources = {source for source in references(call.arguments) if source < len(calls)} - {number}
        needs.add_edges_from((source, number) for source in sources)
    order: list[int] = []
    try:
        # One by one, so that `order` holds the calls before a cycle when the error names those in it.
        for number in nx.lexicographical_topological_sort(needs):
            order.append(number)
    except nx.NetworkXUnfeasible:
        waiting = [f"'{call.tool}'" for number, call in enumerate(calls) if number not in order]
        raise Unfit(f"calls depend on each other: {', '.join(waiting)}", "task_links") from None
    return order
