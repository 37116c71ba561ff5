"""The arguments of a gold plan, how they refer to the output of another node, and whether that output fits.

A reference has the published spelling or a near one, names a tool, is a placeholder, or is inside a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

from toolassay.backinstruct.critics import same_tool
from toolassay.gates.gate import Background, State
from toolassay.graph.derive.fields import IDENTITIES, attribute_fit, meaning_of, things_of_tool
from toolassay.graph.derive.given_fields import is_informative
from toolassay.plans.gold import Gold, GoldNode
from toolassay.records.dataset import references_in
from toolassay.tools.argument_schemas import Schema, has_place, kinds_of, schema_at
from toolassay.tools.library import Tool, normal_type
from toolassay.tools.output_paths import (
    EACH,
    FOR_EACH,
    Part,
    Reference,
    Selector,
    Step,
    parse_path,
    parse_reference,
    path_text,
    schema_path,
)

Leaf = str | int | float | bool
Place = tuple[str | int, ...]
# Bounds the work on values that are very deep or wide.
_MOST_LEAVES = 10_000
# Soft hyphen, zero-width characters, word joiner and byte order mark.
_INVISIBLE = re.compile("[\u00ad\u200b\u200c\u200d\u2060\ufeff]")


class PlanValue(NamedTuple):
    """A value in an argument.

    Attributes:
        place: index of the argument in its node.
        value: the value, of any JSON type.
        where: path of the value in the label.
    """

    place: int
    value: Any
    where: str


def arguments_of(node: GoldNode) -> Iterator[PlanValue]:
    """The values of a node's arguments: `value` of an object (temporal), otherwise the whole (resource)."""
    for position, argument in enumerate(node.arguments or ()):
        where = f"{node.where}.arguments[{position}]"
        if isinstance(argument, Mapping) and "value" in argument:
            yield PlanValue(position, argument["value"], f"{where}.value")
        else:
            yield PlanValue(position, argument, where)


def texts_in(argument: PlanValue) -> Iterator[PlanValue]:
    """The texts in an argument, including those in its lists and objects, depth first.

    >>> [(text.value, text.where) for text in texts_in(PlanValue(0, ["a", {"b": "c"}], "arguments[0].value"))]
    [('a', 'arguments[0].value[0]'), ('c', 'arguments[0].value[1].b')]
    """
    for path, text in texts_of(argument.value):
        yield PlanValue(argument.place, text, f"{argument.where}{place_text(path)}")


def leaves(value: Any) -> Iterator[Leaf]:
    """The texts, numbers and booleans in a JSON value, in order.

    >>> list(leaves({"a": [1, "x"], "b": None}))
    [1, 'x']
    """
    return (leaf for _, leaf in placed_leaves(value))


def placed_leaves(value: Any) -> Iterator[tuple[Place, Leaf]]:
    """`leaves`, each with its place in the value.

    >>> list(placed_leaves({"a": [1, "x"], "b": None}))
    [(('a', 0), 1), (('a', 1), 'x')]
    """
    waiting: list[tuple[Place, Any]] = [((), value)]
    count = 0
    while waiting and count < _MOST_LEAVES:
        path, item = waiting.pop()
        count += 1  # lists in lists too: a place is as long as they are deep
        if isinstance(item, str | int | float):
            yield path, item
        elif isinstance(item, Mapping):
            waiting.extend(((*path, str(key)), child) for key, child in reversed(list(item.items())))
        elif isinstance(item, list | tuple):
            waiting.extend(((*path, number), child) for number, child in reversed(list(enumerate(item))))


def texts_of(value: Any) -> Iterator[tuple[Place, str]]:
    """The texts in a JSON value, each with its place.

    >>> list(texts_of({"a": ["x", 1]}))
    [(('a', 0), 'x')]
    """
    return ((path, leaf) for path, leaf in placed_leaves(value) if isinstance(leaf, str))


def place_text(parts: Sequence[str | int]) -> str:
    """A place in a value as text.

    >>> place_text(["filter", "tags", 0])
    '.filter.tags[0]'
    """
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)


def is_empty(value: Any) -> bool:
    """Whether a value is null, "null", "<empty>", a blank text, or an empty list or object."""
    if isinstance(value, str):
        text = _INVISIBLE.sub("", value).strip()
        return not text or text.casefold() in ("<empty>", "null")
    return value is None or (isinstance(value, list | Mapping) and not value)


def text_of_number(value: float) -> str:
    """A number as text; in hexadecimal if it has more digits than Python writes in decimal.

    >>> text_of_number(2), text_of_number(1.5)
    ('2', '1.5')
    """
    try:
        return str(value)
    except ValueError:  # the limit of sys.set_int_max_str_digits
        return hex(int(value))


# Longer texts are prose: they may have a reference inside, but are none as a whole.
_LONGEST = 200
# At most 18 digits, so that an index fits 64 bits.
_INDEX = r"[ _\-#:.]?(?P<index>\d{1,18})"
# A whole argument that is nearly a reference: "<Node_1>", "output of node 1", "{{node-1.output}}",
# "task_nodes[1].result". Not "node" without a number, nor "see node 1".
_NEAR = re.compile(
    rf"[<\[({{$%]*\s*(?:(?:the )?(?:output|result)[ _](?:of|from)[ _])?(?:task[ _]?)?nodes?{_INDEX}"
    r"(?:[ _.](?:output|result)s?)?\s*[>\])}%]*"
    r"|[<\[({$%]*task_?nodes?\[(?P<item>\d{1,18})\].{0,80}",
    re.IGNORECASE,
)
# A reference without a usable number: "<node-x>", "[nodes]". Not "<nodejs>".
_MALFORMED = re.compile(r"[<\[{]+\s*nodes?\b[^<>]*[>\]}]+", re.IGNORECASE)
# A reference inside a text: in "about <node-1>" and "use {{node_1}} here". Not in "about node 1".
_INSIDE = re.compile(
    r"<\s*node[ _-]?(?P<angle>\d{1,18})\s*>|\{\{\s*node[ _-]?(?P<curly>\d{1,18})\s*\}\}", re.IGNORECASE
)
# A whole text in brackets or percent signs: "[text from step 2]", "%result%". Not "see [1]".
_BRACKETED = re.compile(r"<[^<>]+>|\[[^\[\]]+\]|\{[^{}]+\}|%.+%")
# A template variable: "${image}", "{{image}}". Not "$5" nor "{image}".
_TEMPLATE = re.compile(r"[$%][\[{(].+|\{\{[^{}]+\}\}")
# The output of a tool or step: "the output of Text Search", "Text Search's result". Not "search results for".
_OUTPUT = re.compile(
    r"(?:the[ _])?(?:final[ _])?(?:outputs?|results?)[ _](?:of|from)[ _](?P<of>.+)"
    r"|(?P<name>.+?)(?:[ _.]|'s )(?:output|result)s?",
    re.IGNORECASE,
)
# "step 2", "task_1". Not "second step".
_STEP = re.compile(r"(?:step|task|tool|node)[ _#-]?\d+", re.IGNORECASE)
# Words that make a bracketed text a placeholder for an output, and not a value in brackets such as "[red]".
_SPEAKS = re.compile(
    r"output|result|step|node|previous|generated|extracted|transcribed|downloaded|translated|simplified|returned",
    re.IGNORECASE,
)

# What every reference has that is not only the name of a tool.
_SIGN = re.compile(r"[<\[{(%$]|node|output|result", re.IGNORECASE)

Spelling = Literal["published", "near", "malformed", "name", "placeholder", "inside"]


class ReferenceReading(NamedTuple):
    """How an argument refers to other nodes.

    Attributes:
        spelling: `<node-1>` and `<node-1>.id` are "published", `<Node_1>` is "near", `<node-x>` is
            "malformed", a tool of the plan or "output of" it is "name", "[text from step 2]" is
            "placeholder", "about <node-1>" is "inside".
        places: indices of the nodes, as far as they can be resolved.
        step: the number of the step that a placeholder names, if any.
        path: the part of the output, in a schema graph; empty for all of it.
    """

    spelling: Spelling
    places: tuple[int, ...] = ()
    step: int | None = None
    path: tuple[Step, ...] = ()


@dataclass(frozen=True)
class ReferenceReader:
    """Parses the references in the arguments of one plan.

    Attributes:
        tools: the tool of each node; None if its node is malformed.
        request: the user's words. A text of the request is a literal, even if it looks like a reference.
        repeated: the nodes with `[each]`, whose result is a list that no schema declares.
    """

    tools: Sequence[str | None]
    request: str = ""
    repeated: frozenset[int] = frozenset()

    @classmethod
    def of(cls, gold: Gold) -> ReferenceReader:
        """The reader for a gold plan."""
        nodes = gold.record.get("task_nodes")
        tools: list[str | None] = [None] * (len(nodes) if isinstance(nodes, list) else 0)
        for node in gold.nodes:
            tools[node.place] = node.tool
        repeated = (
            node.place
            for node in gold.nodes
            for reference in references_in(node.arguments)
            if FOR_EACH in reference.path
        )
        return cls(tools, gold.request, frozenset(repeated))

    @cached_property
    def _plain(self) -> Sequence[str | None]:
        return [None if tool is None else same_tool(tool) for tool in self.tools]

    def read(self, text: str, index: int) -> ReferenceReading | None:
        """Parse the argument `text` of the node with index `index`; None for a literal.

        >>> reader = ReferenceReader(["Text Search", "Translation"], "Say [result] in German")
        >>> reader.read("<node-0>", 1).spelling, reader.read("[result]", 1)
        ('published', None)
        >>> [reader.read(text, 1).spelling for text in ("output of Text_Search", "on <node-0>")]
        ['name', 'inside']
        """
        reference = parse_reference(text)
        if reference is not None:
            return ReferenceReading("published", (reference.node,), path=reference.path)
        stripped = text.strip()
        if len(stripped) <= _LONGEST:
            reading = self._whole(stripped, index)
            if reading is not None:
                quoted = stripped.casefold() in self.request.casefold() and not stripped.startswith("<node-")
                return None if quoted else reading
        matches = _INSIDE.finditer(text) if "<" in text or "{{" in text else ()
        indices = [match["angle"] or match["curly"] for match in matches]
        return ReferenceReading("inside", tuple(map(int, indices))) if indices else None

    def _whole(self, text: str, index: int) -> ReferenceReading | None:
        if not _SIGN.search(text):  # most literals
            named = self._named(text, index)
            return ReferenceReading("name", named) if named else None
        if match := _NEAR.fullmatch(text):
            return ReferenceReading("near", (int(match["index"] or match["item"]),))
        if _MALFORMED.fullmatch(text):
            return ReferenceReading("malformed")
        if named := self._named(text, index):
            return ReferenceReading("name", named)
        bare = text.strip("<>[](){}$% '\"")
        if match := _OUTPUT.fullmatch(bare):
            name = (match["of"] or match["name"]).strip("'\" ")
            if named := self._named(name, index):
                return ReferenceReading("name", named)
            if match["of"] and (_STEP.fullmatch(name) or _STEP.search(name)):
                return ReferenceReading("placeholder", step=_step_in(text))
        if _TEMPLATE.fullmatch(text) or (_BRACKETED.fullmatch(text) and _SPEAKS.search(text)):
            return ReferenceReading("placeholder", step=_step_in(text))
        return None

    def _named(self, name: str, index: int) -> tuple[int, ...]:
        """Indices of the other nodes whose tool is named: earlier nodes first, the nearest first."""
        plain = same_tool(name)
        if plain not in self._plain:
            return ()
        indices = [p for p, tool in enumerate(self._plain) if p != index and tool == plain]
        return tuple(sorted(indices, key=lambda candidate: (candidate > index, abs(candidate - index))))


def _step_in(text: str) -> int | None:
    numbers = re.findall(r"step[ _#-]?(\d{1,9})(?!\d)", text, re.IGNORECASE)
    return int(numbers[0]) if len(numbers) == 1 else None


class Fit(NamedTuple):
    """How well a value matches the type of an input.

    Attributes:
        grade: "doubtful" if the author may have meant it, "wrong" if every reader would reject it.
        what: what the value is instead ("an audio file"); empty if it fits.
    """

    grade: Literal["fits", "doubtful", "wrong"]
    what: str = ""

    @property
    def fits(self) -> bool:
        """Whether the grade is "fits"."""
        return self.grade == "fits"

    @property
    def state(self) -> State:
        """The state that a gate reports: doubtful values are quarantined, wrong ones rejected."""
        states: dict[str, State] = {"fits": "pass", "doubtful": "quarantine", "wrong": "reject"}
        return states[self.grade]

    @property
    def cost(self) -> int:
        """The cost of assigning the value to the input: two doubtful values cost less than a wrong one."""
        return {"fits": 0, "doubtful": 1, "wrong": 3}[self.grade]


FITS = Fit("fits")


def doubtful(what: str) -> Fit:
    """A fit that a person should review; `what` names the value's own type."""
    return Fit("doubtful", what)


def wrong(what: str) -> Fit:
    """A fit that every reader would reject; `what` names the value's own type."""
    return Fit("wrong", what)


def output_fit(source: Tool, target: Tool, slot: int, background: Background) -> Fit:
    """How well an output of `source` matches one input of `target`.

    One matching output is enough. A link that the graph lists although no types match always fits.

    Args:
        source: the tool that runs first.
        target: the tool that takes its output.
        slot: index of the input in `target.inputs`.
        background: the graph that may list such a link.
    """
    outputs = {normal_type(kind) for kind in source.outputs}
    if normal_type(target.inputs[slot]) in outputs or is_order_only(source, target, background):
        return FITS
    gives = " and ".join(source.outputs) or "nothing"
    return wrong(f"the output of '{source.id}' ({gives})")


def is_order_only(source: Tool, target: Tool, background: Background) -> bool:
    """Whether the graph links two tools that share no type: the link gives an order, but passes no value."""
    graph = background.graph
    if graph is None or {*map(normal_type, source.outputs)} & {*map(normal_type, target.inputs)}:
        return False
    return bool(graph.link_types(source.id, target.id))


def can_feed(source: Tool, target: Tool, background: Background) -> bool:
    """Whether an output of `source` fits any input of `target`."""
    return any(output_fit(source, target, slot, background).fits for slot in range(len(target.inputs)))


Shape = Literal["a list", "an object", "a single value"]
_SHAPES: Mapping[str, Shape] = {"array": "a list", "object": "an object"}


class OutputPart(NamedTuple):
    """What a schema says of a part of a result.

    Attributes:
        is_declared: False if the schema lists the fields of the object around it, and not this one.
        shapes: What its value may be; empty if the schema does not say.
    """

    is_declared: bool
    shapes: frozenset[Shape]


def output_part(schema: Schema | None, path: Sequence[Step]) -> OutputPart:
    """What an `output_schema` says of a path.

    >>> movies = {"properties": {"results": {"items": {"properties": {"id": {"type": "integer"}}}}}}
    >>> output_part(movies, ("results", 0, "id"))
    OutputPart(is_declared=True, shapes=frozenset({'a single value'}))
    >>> output_part(movies, ("results", 0, "title")).is_declared, output_part(None, ("a",)).is_declared
    (False, True)
    """
    if schema is None or not is_informative(schema):
        return OutputPart(True, frozenset())
    parts = schema_path(path)
    place = [0 if part == EACH else part for part in parts]
    if not has_place(place, schema):
        return OutputPart(False, frozenset())
    is_many = EACH in parts
    return OutputPart(True, frozenset({"a list"}) if is_many else shapes_of(schema_at(place, schema), schema))


def shapes_of(schema: Schema, root: Schema) -> frozenset[Shape]:
    """What a value may be: a list, an object or a single value; empty if the schema does not say."""
    return frozenset(_SHAPES.get(kind, "a single value") for kind in kinds_of(schema, root) - {"null"})


def fault_of(
    reference: Reference,
    argument: str,
    source: Tool,
    target: Tool,
    background: Background,
    *,
    is_repeated: bool = False,
) -> tuple[State, str] | None:
    """Why a reference to a part of a result is wrong or doubtful; None if it may be right.

    An id is no e-mail address, also if the tool is only named so ("find_user_id").

    A part that the link of the tool graph names is right whatever the schema says. Another one is doubtful if
    the graph knows what fills the argument, or that nothing does.

    Args:
        reference: The reference.
        argument: Name of the argument that it fills.
        source: The tool that returns the part.
        target: The tool that takes it.
        background: The tool graph.
        is_repeated: Whether a step before has the same reference, which a later one may repeat.
    """
    names = [part for part in reference.path if isinstance(part, str) and part != EACH]
    things = [owner.thing[-1] for owner in things_of_tool(source, None)[:1]]
    given = meaning_of([*things, *names][-1] if names or things else "")
    taken = meaning_of(argument)
    if given.attribute in IDENTITIES and taken.attribute and not attribute_fit("id", taken.attribute):
        return "quarantine", f"it is an id, and '{argument}' of '{target.id}' is another kind of value"
    for depth, step in enumerate(reference.path, start=1):
        if isinstance(step, Selector) and step.field:
            field = (*schema_path(reference.path[:depth]), *step.field.split("."))
            if not output_part(source.output_schema, field).is_declared:
                return "reject", f"'{source.id}' returns no '{path_text(field)}'"
    graph = background.graph
    path = _plain(schema_path(reference.path))
    link = graph.dependency(source.id, target.id) if graph is not None and not graph.is_implied else None
    fields = link.fields if link is not None else ()
    if path in (
        _plain(parse_path(field.source)) for field in fields if parse_path(field.target)[:1] == (argument,)
    ):
        return None
    if not output_part(source.output_schema, reference.path).is_declared:
        return "reject", f"'{source.id}' returns no '{path_text(reference.path)}'"
    if link is not None and not is_repeated:
        return "quarantine", f"the tool graph does not fill '{argument}' of '{target.id}' so"
    return None


def _plain(path: Iterable[Part]) -> tuple[Part, ...]:
    """A path without the numbers of items, and without an item at its end."""
    parts = [EACH if isinstance(part, int) else part for part in path]
    while parts and parts[-1] == EACH:
        parts.pop()
    return tuple(parts)


def takes(tool: Tool, path: Iterable[str | int], *, is_whole: bool) -> frozenset[Shape]:
    """What an argument of a tool, or a part of one, may be; empty if its schema does not say.

    Args:
        tool: The tool.
        path: The path of the argument.
        is_whole: Whether a whole result is given, which any text can be.
    """
    root = tool.input_schema or {}
    schema = schema_at(list(path), root)
    return frozenset() if is_whole and "string" in kinds_of(schema, root) else shapes_of(schema, root)
