"""Normalised plans for the strict metrics: names, argument values and links; and digests of plans."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property, lru_cache
from typing import Any

from toolassay.argument_schemas import as_meant
from toolassay.files import compact_json
from toolassay.graph import DependencyType
from toolassay.output_paths import parse_reference, reference_text
from toolassay.tools import ToolLibrary

# A decimal number without leading zeros, which are significant in codes such as "007".
# Matches "-7.50" and "1e5"; must not match "07" or "1,000".
_NUMBER = re.compile(r"[+-]?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,4})?")
_QUOTES = "'\"`‘’“”"
_EXACT = 2.0**53  # from here on, a float does not represent every whole number
# A file extension at the end of a word, by resource type.
# Matches ".JPG" in "see photo.JPG!"; must not match "www.author.com" or ".mp4" in "a.mp4.zip".
_EXTENSION = re.compile(
    r"\.(?:(?P<image>jpe?g|png|gif|bmp|tiff?|svg|ico|webp)"
    r"|(?P<audio>mp3|wav|wma|ogg|aac|flac|aiff|au|m4a)"
    r"|(?P<video>mp4|avi|mov|flv|wmv|mkv|webm|m4v|mpe?g))(?![a-z0-9]|\.[a-z])",
    re.IGNORECASE,
)


def comparable(value: Any) -> Hashable:
    """A key that is equal for values with the same meaning.

    Surrounding blanks and quotes are dropped. 7, 7.0 and "7" are equal, but "07" is text. true and "True" are
    equal; other text is case-sensitive. Lists and objects are compared as JSON.

    >>> comparable(" '7' ") == comparable(7.0), comparable("07") == comparable(7), comparable({"a": [1]})
    (True, False, '{"a": [1]}')
    """
    if isinstance(value, str):
        return comparable_text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return Decimal(value)
    if isinstance(value, float):
        return Decimal(repr(value)) if value == value else "NaN"
    if type(value) is dict and set(map(type, value.values())) == _TEXTS:  # faster than `json`
        pairs = [f"{_quoted(name)}: {_quoted(text)}" for name, text in sorted(value.items())]
        return f"{{{', '.join(pairs)}}}"
    return json.dumps(_with_whole_numbers(value), sort_keys=True, ensure_ascii=False)


_TEXTS = {str}
_quoted = json.encoder.encode_basestring


def comparable_json(value: Any) -> str:
    """A key that is equal for equal JSON values: arguments of tools with an `input_schema`.

    The keys of objects have no order, items of lists do; 1 and 1.0 are equal, true and 1 are not. A text
    equals only a text: "4" for an integer is a call that its server refuses, and data sets of imported tools,
    unlike the published ones, have numbers as numbers. Blanks and quotes around a text do not count.

    >>> comparable_json({"a": [1.0, True]}) == comparable_json({"a": [1, True]})
    True
    >>> comparable_json("4") == comparable_json(4), comparable_json(True) == comparable_json(1)
    (False, False)
    """
    if isinstance(value, str):
        return _unquoted(value)
    return _JSON + json.dumps(_plain_json(value), sort_keys=True, ensure_ascii=False)


_JSON = "\0"  # begins the key of a value that is not a text, so that no text equals it


def _plain_json(value: Any) -> Any:
    """A value with texts without quotes around them, and with whole floats as integers."""
    if isinstance(value, list):
        return [_plain_json(one) for one in value]
    if isinstance(value, dict):
        return {key: _plain_json(one) for key, one in value.items()}
    if isinstance(value, str):
        return _unquoted(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _with_whole_numbers(value: Any) -> Any:
    """Replace whole floats in lists and objects by integers: 7.0 becomes 7."""
    if isinstance(value, list):
        return [_with_whole_numbers(one) for one in value]
    if isinstance(value, dict):
        return {key: _with_whole_numbers(one) for key, one in value.items()}
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT else value


def comparable_text(value: str) -> Hashable:
    """`comparable` for text."""
    text = _unquoted(value)
    if len(text) > 5 and text[0].isalpha():
        return text
    if len(text) <= 5 and text.casefold() in ("true", "false"):
        return text.casefold()
    if len(text) <= 40 and _NUMBER.fullmatch(text):
        return Decimal(text)
    return text


def _unquoted(value: str) -> str:
    """Text without surrounding blanks and pairs of quotes, also nested ones."""
    start, end = 0, len(value)
    while True:
        while start < end and value[start].isspace():
            start += 1
        while start < end and value[end - 1].isspace():
            end -= 1
        if end - start < 2 or value[start] not in _QUOTES or value[end - 1] not in _QUOTES:
            return value[start:end]
        start, end = start + 1, end - 1


def resource_type(text: str) -> str:
    """The resource type of a literal, by its file extension; "text" without one.

    >>> resource_type("see photo.JPG!"), resource_type("https://www.author.com"), resource_type("a.wav")
    ('image', 'text', 'audio')
    """
    found = _EXTENSION.search(text) if "." in text else None
    return "text" if found is None else str(found.lastgroup)


# Matches "<node-3>"; must not match "<node->" or "node-3".
REFERENCE = re.compile(r"<node-(\d{1,9})>")
# Literals without reference, file extension, number or quotes, which need no normalisation: most of them.
# Matches "a red bicycle"; must not match "photo.jpg", "<node-0>" or "a bicycle " (trailing blank).
_is_plain = re.compile(r"[A-Za-z][^.<]{5,}(?<!\s)").fullmatch
_SHORT = 300  # characters: longer literals are not cached
PLAN_KEYS = ("task_nodes", "task_links", "task_steps")
STEP_KEYS = ("task", "step", "description", "step_name", "name", "id")

Argument = tuple[Hashable, Hashable]
"""A name (or resource type) and a comparable value; text may contain references `<node-j>`."""
Normal = Callable[[Any], Any]
"""Gives references in a value one spelling, or leaves them unchanged."""


@dataclass(eq=False)
class Plan:
    """A normalised plan.

    Attributes:
        names: Tool of each node.
        arguments: Arguments of each node; None if no node has any (a data set without gold arguments).
        links: Pairs of tool names; None without a list of links. Then `references` are the links.
        steps: The steps as lines of text; None without steps.
        has_types: Whether an argument is named by its resource type instead of its parameter.
    """

    names: list[str]
    arguments: list[list[Argument]] | None
    links: list[tuple[str, str]] | None
    steps: str | None
    has_types: bool = True
    _has_references: bool | None = field(default=None, init=False, repr=False)

    @property
    def has_references(self) -> bool:
        """Whether any argument contains a reference."""
        if self._has_references is None:
            self._has_references = self._find_reference()
        return self._has_references

    def _find_reference(self) -> bool:
        for arguments in self.arguments or ():  # faster than `any`
            for _, value in arguments:
                if type(value) is str and "<node-" in value:
                    return True
        return False

    @cached_property
    def references(self) -> list[tuple[int, int]]:
        """The links in the arguments as (source node, target node), without duplicates and self-links."""
        if not self.has_references:
            return []
        found: dict[tuple[int, int], None] = {}
        for target, arguments in enumerate(self.arguments or ()):
            for _, value in arguments:
                if isinstance(value, str) and "<node-" in value:
                    for digits in REFERENCE.findall(value):
                        if (source := int(digits)) < len(self.names) and source != target:
                            found[source, target] = None
        return list(found)


class PlanReader:
    """Normalises gold and predicted plans of one library.

    Args:
        library: The tools; a reference has the output type of its tool, and arguments of tools with an
            `input_schema` are compared as JSON (`comparable_json`).
        dependency_type: In names of resource plans, "_" is replaced by " ". In schema plans, references with
            the same path are equal however it is spelled (`normal_references`).
    """

    def __init__(self, library: ToolLibrary, dependency_type: DependencyType) -> None:
        self._is_resource = dependency_type == "resource"
        self.name: Callable[[str], str] = _with_blanks if self._is_resource else str
        self._normal: Normal = normal_references if dependency_type == "schema" else _unchanged
        self._schemas = {} if self._is_resource else {t.id: t.input_schema for t in library if t.input_schema}
        self._output_types = {
            self.name(tool.id): tool.outputs[0] if tool.outputs else "none" for tool in library
        }

    def plan(self, value: Any) -> Plan | None:
        """The plan in a JSON object; None if it has no list of named nodes or is nested too deeply."""
        nodes = value.get("task_nodes") if isinstance(value, Mapping) else None
        if not isinstance(nodes, list):
            return None
        names: list[str] = []
        given: list[Any] = []
        has_arguments = not nodes
        for node in nodes:
            if not isinstance(node, dict) or not isinstance(name := node.get("task"), str):
                return None
            names.append(self.name(name))
            given.append(node.get("arguments"))
            has_arguments = has_arguments or "arguments" in node
        try:
            arguments: list[list[Argument]] | None = None
            if has_arguments and self._schemas:
                schemas = map(self._schemas.get, names)
                arguments = [
                    self._arguments(one, names, schema) for one, schema in zip(given, schemas, strict=True)
                ]
            elif has_arguments:
                arguments = [self._arguments(one, names) for one in given]
            links = self._links(value.get("task_links"))
            return Plan(names, arguments, links, steps_text(value.get("task_steps")), self._is_resource)
        except RecursionError:
            return None

    def _links(self, links: Any) -> list[tuple[str, str]] | None:
        if not isinstance(links, list):
            return None
        name = self.name
        pairs: list[tuple[str, str]] = []
        for link in links:
            if (
                isinstance(link, dict)
                and isinstance(source := link.get("source"), str)
                and isinstance(target := link.get("target"), str)
            ):
                pairs.append((name(source), name(target)))
            else:
                pairs.append(("", f"unreadable: {json.dumps(link, sort_keys=True)}"))
        return pairs

    def _arguments(
        self, given: Any, names: list[str], schema: Mapping[str, Any] | None = None
    ) -> list[Argument]:
        if given is None:
            return []
        if not isinstance(given, list):
            return [("unreadable", comparable(given))]
        if schema is not None:
            return [found for argument in given if (found := _typed_argument(argument, schema, self._normal))]
        if not self._is_resource:
            return [_temporal_argument(argument, self._normal) for argument in given]
        return [
            ("text", argument)
            if type(argument) is str and _is_plain(argument)
            else self._resource_argument(argument, names)
            for argument in given
        ]

    def _resource_argument(self, argument: Any, names: list[str]) -> Argument:
        if not isinstance(argument, str):
            return "object" if isinstance(argument, dict | list) else "text", comparable(argument)
        kind, value, source = (_literal if len(argument) <= _SHORT else _read_literal)(argument)
        if source is None:
            return kind, value
        return self._output_types.get(names[source], "other") if source < len(names) else "other", value


def same_plan(gold: Mapping[str, Any], predicted: Any) -> bool:
    """Whether two plans as JSON have the same nodes, links and steps, spelled alike.

    >>> one, true = ({"task_nodes": [{"task": "Painter", "arguments": [value]}]} for value in (1, True))
    >>> same_plan(one, dict(one)), same_plan(one, true)
    (True, False)
    """
    if type(predicted) is not dict:
        return False
    try:
        for key in PLAN_KEYS:
            if gold.get(key) != predicted.get(key):
                return False
        # To Python, 1 is true, and objects are equal with their keys in another order. Spellings are not.
        wanted, given = ([plan.get(key) for key in PLAN_KEYS] for plan in (gold, predicted))
        return compact_json(wanted) == compact_json(given)
    except (ValueError, RecursionError):
        return False


def _read_literal(text: str) -> tuple[str, Hashable, int | None]:
    """The type and the value of a text argument; for a reference, also the number of its node."""
    value = comparable_text(text)
    if not isinstance(value, str):
        return "text", value, None
    reference = REFERENCE.fullmatch(value) if value[:1] == "<" else None
    if reference is None:
        return resource_type(value) if "." in value else "text", value, None
    return "other", value, int(reference[1])


_literal = lru_cache(maxsize=10_000)(_read_literal)  # predictions repeat the literals of the gold


def steps_text(steps: Any) -> str | None:
    r"""The steps as lines of text; None if there are none.

    >>> steps_text(["a", {"step": "b"}]), steps_text("a"), steps_text(7)
    ('a\nb', 'a', None)
    """
    if isinstance(steps, str):
        return steps
    if not isinstance(steps, list):
        return None
    try:
        return "\n".join(steps)
    except TypeError:
        return "\n".join(_step_text(step) for step in steps)


def _step_text(step: Any) -> str:
    if isinstance(step, dict):
        step = next((step[key] for key in STEP_KEYS if isinstance(step.get(key), str)), step)
    return step if isinstance(step, str) else json.dumps(step, ensure_ascii=False)


def _temporal_argument(argument: Any, normal: Normal) -> Argument:
    if isinstance(argument, dict) and isinstance(argument.get("name"), str) and "value" in argument:
        return argument["name"].strip(), comparable(normal(argument["value"]))
    return "unreadable", comparable(argument)


def normal_references(value: Any) -> Any:
    """A JSON value in which every reference has one spelling, also inside lists and objects.

    >>> normal_references(["'<node-0>.results.0.id'", {"a": "<node-1>.items[]", "b": "see <node-0>.x"}])
    ['<node-0>.results[0].id', {'a': '<node-1>.items[*]', 'b': 'see <node-0>.x'}]
    """
    if isinstance(value, list):
        return [normal_references(one) for one in value]
    if isinstance(value, dict):
        return {key: normal_references(one) for key, one in value.items()}
    if not isinstance(value, str) or "<node-" not in value:
        return value
    reference = parse_reference(_unquoted(value))
    return value if reference is None else reference_text(reference)


def _unchanged(value: Any) -> Any:
    return value


def _typed_argument(argument: Any, schema: Mapping[str, Any], normal: Normal) -> Argument | None:
    """An argument of an imported tool; None for null where that means no argument."""
    if isinstance(argument, dict) and isinstance(argument.get("name"), str) and "value" in argument:
        name, value = argument["name"].strip(), argument["value"]
        if isinstance(value, bool | int | float) or (
            isinstance(value, str) and "{" not in value and "[" not in value
        ):
            return name, comparable_json(normal(value))  # most values; `as_meant` leaves them as they are
        meant = as_meant({name: value}, schema, schema)
        return (name, comparable_json(normal(meant[name]))) if name in meant else None
    return "unreadable", comparable(argument)


def _with_blanks(name: str) -> str:
    return name.replace("_", " ") if "_" in name else name


def plan_digest(plan: Plan) -> int:
    """A non-negative hash that is equal for plans with the same nodes, links and arguments.

    As in the strict scores, the order of nodes, links and arguments is ignored, a reference stands for its
    node, and steps are ignored.

    >>> def plan(*nodes):
    ...     return Plan([name for name, _ in nodes], [[("text", value)] for _, value in nodes], None, None)
    >>> one = plan(("Painter", "a cat"), ("Captioner", "<node-0>"))
    >>> other = plan(("Captioner", "<node-1>"), ("Painter", "a cat"))
    >>> plan_digest(one) == plan_digest(other), plan_digest(one) == plan_digest(plan(("Painter", "a dog")))
    (True, False)
    """
    nodes = [
        f"{_digest_number(name):x}" for name in plan.names
    ]  # hashes, so that an argument does not equal a label by chance
    # Each round distinguishes nodes by their references one step further (as in Weisfeiler-Leman refinement);
    # no path is longer than the number of nodes.
    for _ in range(len(nodes) if plan.has_references else 1):
        nodes = [_node_digest(plan, place, nodes) for place in range(len(nodes))]
    return _digest_number(repr((sorted(nodes), plan.links if plan.links is None else sorted(plan.links))))


def _node_digest(plan: Plan, place: int, labels: list[str]) -> str:
    """Hash of a node and its arguments, with references replaced by the labels of their nodes."""
    given = plan.arguments[place] if plan.arguments is not None else []
    arguments = sorted(repr((name, _with_labels(value, labels))) for name, value in given)
    return f"{_digest_number(repr((plan.names[place], arguments))):x}"


def _with_labels(value: Hashable, labels: list[str]) -> str:
    if isinstance(value, str):
        return REFERENCE.sub(lambda found: _digest_label(int(found[1]), labels), value)
    return f"<number {hash(value)}>"  # equal for 7 and 7.0, and in every process


def _digest_label(place: int, labels: list[str]) -> str:
    return f"<{labels[place]}>" if place < len(labels) else f"<outside {place}>"


def _digest_number(text: str) -> int:
    digest = hashlib.blake2b(text.encode(errors="replace"), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1
