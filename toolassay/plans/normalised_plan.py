"""Normalised plans for the strict metrics: names, argument values and links; and digests of plans."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from itertools import chain, repeat
from typing import Any

from yarl import URL

from toolassay.files.data_files import map_texts
from toolassay.files.file_types import FILE_KINDS, MEDIA
from toolassay.graph import DependencyType
from toolassay.tools.argument_schemas import (
    Property,
    Schema,
    as_meant,
    items_of,
    kinds_of,
    properties_at,
    properties_of,
    resolve,
    type_name,
)
from toolassay.tools.library import Tool, ToolLibrary, is_required
from toolassay.tools.output_paths import parse_reference, reference_text

# A decimal number without leading zeros, which are significant in codes such as "007".
# Matches "-7.50" and "1e5"; must not match "07" or "1,000".
_NUMBER = re.compile(r"[+-]?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,4})?")
_QUOTES = "'\"`‘’“”"
_ANYTHING: Schema = {}
# What may be a file extension at the end of a word.
# Matches ".JPG" in "see photo.JPG!" and ".com" in "www.author.com"; must not match ".mp4" in "a.mp4.zip".
_EXTENSION = re.compile(r"\.([a-z0-9]{2,7})(?![a-z0-9]|\.[a-z])", re.IGNORECASE)


def comparable(value: Any) -> Hashable:
    """A key that is equal for values with the same meaning to a tool of a published library.

    7, 7.0 and "7" are equal, but "07" is text. true and "True" are equal; other text is case-sensitive. Lists
    and objects are compared as JSON. `canonical` says which texts and numbers are equal.

    >>> comparable(" '7' ") == comparable(7.0), comparable("07") == comparable(7), comparable({"a": [1]})
    (True, False, '{"a": [1]}')
    """
    return _published_key(canonical(value))


def _published_key(value: Any) -> Hashable:
    if isinstance(value, str):
        if value.casefold() in ("true", "false"):
            return value.casefold()
        return Decimal(value) if len(value) <= 40 and _NUMBER.fullmatch(value) else value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return Decimal(repr(value)) if value == value else "NaN"
    return _as_json(value)


def comparable_json(value: Any) -> str:
    """A key that is equal for equal JSON values: arguments of tools with an `input_schema`.

    The keys of objects have no order, items of lists do; 1 and 1.0 are equal, true and 1 are not. A text
    equals only a text: "4" for an integer is a call that its server refuses, and data sets of imported tools,
    unlike the published ones, have numbers as numbers.

    >>> comparable_json({"a": [1.0, True]}) == comparable_json({"a": [1, True]})
    True
    >>> comparable_json("4") == comparable_json(4), comparable_json(True) == comparable_json(1)
    (False, False)
    """
    return _json_key(canonical(value))


def _json_key(value: Any) -> str:
    return value if isinstance(value, str) else _JSON + _as_json(value)


_JSON = "\0"  # begins the key of a value that is not a text, so that no text equals it


def _as_json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def canonical(value: Any, schema: Any = None, root: Schema = _ANYTHING) -> Any:
    """One value for all JSON values that mean the same to the tool.

    - Text: in Unicode's composed form (NFC), every kind of blank is a blank, without blanks and pairs of
      quotes around it. A text of the format "date-time" or "time" is in UTC, without zeros at the end of its
      fraction; one without an offset stays apart. A "uuid" is in lower case, a "uri" as RFC 3986 says.
    - Numbers: to 15 significant digits, which every float has; 12.0 is 12. Integers are exact.
    - Objects: without the optional properties that have their default (`_is_default`).
    - Alternatives of a schema: those whose constants (`const`) the object has.
    - Lists: in order; sorted where the schema has `uniqueItems`, for a set has no order.

    Args:
        value: A JSON value.
        schema: Its schema; None if unknown.
        root: The schema of all arguments, to which references are relative.

    >>> canonical([0.1 + 0.2, 12.0, "S\u00e3o\u00a0Paulo", "Sa\u0303o Paulo"])
    [0.3, 12, 'São Paulo', 'São Paulo']
    """
    if isinstance(value, str):
        text = _plain_text(value)
        for form in type_name(schema, root).split(" | ") if schema else ():
            text = _spelled(text, form)
        return text
    if isinstance(value, float):
        number = float(f"{value:.15g}") if not value.is_integer() else value
        return int(number) if number.is_integer() else number
    if isinstance(value, list):
        listed = items_of(resolve(schema, root), root)
        first = listed.get("prefixItems")
        schemas = chain(first if isinstance(first, list) else (), repeat(listed.get("items")))
        items = [canonical(item, schema, root) for item, schema in zip(value, schemas, strict=False)]
        if listed.get("uniqueItems") is True:
            items.sort(key=lambda item: REFERENCE.sub("<node->", _as_json(item)))
        return items
    if isinstance(value, dict):
        declared_by_name = (
            {declared.name: declared for declared in properties_at(_chosen(schema, value, root), root)}
            if schema
            else {}
        )
        further = resolve(schema, root).get("additionalProperties")
        return {
            _plain_text(name): canonical(
                item, declared_by_name[name].schema if name in declared_by_name else further, root
            )
            for name, item in value.items()
            if name not in declared_by_name or not _is_default(item, declared_by_name[name], root)
        }
    return value


def _chosen(schema: Any, value: Mapping[str, Any], root: Schema) -> Schema:
    """A schema without the alternatives whose constants an object does not have: `kind` of a circle."""
    schema = resolve(schema, root)

    def fits(part: Any) -> bool:
        return all(
            value.get(tag.name, tag.schema["const"]) == tag.schema["const"]
            for tag in properties_at(part, root)
            if "const" in tag.schema
        )

    unions = {key: parts for key in ("anyOf", "oneOf") if isinstance(parts := schema.get(key), list)}
    return {**schema, **{key: [*filter(fits, parts)] for key, parts in unions.items()}} if unions else schema


def _is_default(
    value: Any, declared: Property, root: Schema, key: Callable[[Any], Hashable] = _json_key
) -> bool:
    """Whether an optional argument has the value that it has when it is left out.

    That is its default, or null if it declares none. Null for an argument that takes no null means that it is
    left out, too: structured output must write it (`argument_schemas.as_meant`).
    """
    if declared.required:
        return False
    parts = declared.schema.get("allOf")  # how OpenAPI 3.0 writes a reference with a description
    places = [declared.schema, *(resolve(part, root) for part in (parts if isinstance(parts, list) else ()))]
    default = next(
        (default_schema["default"] for default_schema in places if "default" in default_schema), None
    )
    if value is None:
        kinds = kinds_of(declared.schema, root)
        return default is None or ("null" not in kinds and bool(kinds))
    default_key, value_key = (
        key(canonical(compared, declared.schema, root)) for compared in (default, value)
    )
    return default_key == value_key


# A date and time of day as RFC 3339 and ISO 8601 write them. Matches "2024-05-01T10:00:00.50Z" and
# "2024-05-01 10:00+0200"; must not match "2024-05-01" or "10:00".
_MOMENT = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d(?::\d\d)?)(?:[.,](\d+))?([Zz]|[+-]\d\d(?::?\d\d)?)?", re.ASCII
)


# "123e4567-e89b-12d3-a456-426614174000", in either case; not with braces or without hyphens.
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def _spelled(text: str, form: str) -> str:
    """A text of a declared format in one spelling.

    >>> _spelled("10:00Z", "time"), _spelled("HTTPS://Ex.org:443", "uri"), _spelled("Ann", "uuid")
    ('10:00:00+00:00', 'https://ex.org/', 'Ann')
    """
    match form:
        case "date-time":
            return _moment(text)
        case "time":
            return _moment(f"2000-01-01T{text}")[11:]
        case "uuid" if _UUID.fullmatch(text):
            return text.lower()
        case "uri" if "<" not in text:  # yarl would encode a reference
            with contextlib.suppress(ValueError):
                url = URL(text)
                end = f"#{url.raw_fragment}" if url.raw_fragment else ""
                return text if url.user else f"{url.origin()}{url.raw_path_qs}{end}"
    return text


def _moment(text: str) -> str:
    """A date-time in one spelling; any other text unchanged.

    >>> _moment("2024-05-01t12:00:00.50+02:00"), _moment("2024-05-01 10:00"), _moment("tomorrow")
    ('2024-05-01T10:00:00+00:00.5', '2024-05-01T10:00:00', 'tomorrow')
    """
    match = _MOMENT.fullmatch(text)
    if match is None:
        return text
    date, time, fraction, offset = match.groups("")
    try:
        moment = datetime.fromisoformat(f"{date}T{time}{offset.upper()}")
        moment = moment.astimezone(UTC) if offset else moment
    except (ValueError, OverflowError):  # no such date, or one outside of the years 1 to 9999
        return text
    digits = fraction.rstrip("0")
    return f"{moment.isoformat()}.{digits}" if digits else moment.isoformat()


# Every kind of blank in a line but " ".
_BLANKS = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")


def _plain_text(text: str) -> str:
    if not text.isascii():
        text = _BLANKS.sub(" ", unicodedata.normalize("NFC", text))
    return _unquoted(text)


def _unquoted(value: str) -> str:
    """Text without surrounding blanks and pairs of quotes, also nested ones."""
    value = value.strip()
    while len(value) > 1 and value[0] in _QUOTES and value[-1] in _QUOTES:
        value = value[1:-1].strip()
    return value


def resource_type(text: str) -> str:
    """The resource type of a literal, by its file extension; "text" without one.

    >>> resource_type("see photo.JPG!"), resource_type("https://www.author.com"), resource_type("a.wav")
    ('image', 'text', 'audio')
    """
    for ending in _EXTENSION.findall(text) if "." in text else ():
        kind = FILE_KINDS.get(ending.casefold(), ("text",))[0]
        if kind in MEDIA:
            return kind
    return "text"


# Matches "<node-3>"; must not match "<node->" or "node-3".
REFERENCE = re.compile(r"<node-(\d{1,9})>")
# Literals without reference, file extension, number or quotes, which need no normalisation: most of them.
# Matches "a red bicycle"; must not match "photo.jpg", "<node-0>", "a bicycle " (trailing blank) or "a café".
_is_plain = re.compile(r"[A-Za-z][^.<\x80-\U0010ffff]{5,}(?<!\s)").fullmatch
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
        stated_links: Pairs of tool names in its list of links.
        steps: The steps as lines of text; None without steps.
        has_types: Whether an argument is named by its resource type instead of its parameter.
        has_references: Whether any argument contains a reference.
        references: The links in the arguments as (source node, target node), without duplicates and
            self-links.
        links: The links as pairs of tool names: those of the list, and those of references that it lacks.
    """

    names: list[str]
    arguments: list[list[Argument]] | None
    stated_links: list[tuple[str, str]]
    steps: str | None
    has_types: bool = True
    has_references: bool = field(init=False, repr=False)
    references: list[tuple[int, int]] = field(init=False, repr=False)
    links: list[tuple[str, str]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        references: dict[tuple[int, int], None] = {}
        self.has_references = False
        for target, arguments in enumerate(self.arguments or ()):
            for _, value in arguments:
                if type(value) is str and "<node-" in value:
                    self.has_references = True
                    for digits in REFERENCE.findall(value):
                        if (source := int(digits)) < len(self.names) and source != target:
                            references[source, target] = None
        self.references = list(references)
        self.links = self.links_of(self.references)

    def links_of(self, references: Sequence[tuple[int, int]]) -> list[tuple[str, str]]:
        """The links, if only these references make any."""
        pairs = [(self.names[source], self.names[target]) for source, target in references]
        if not pairs or sorted(pairs) == sorted(self.stated_links):  # faster than a `Counter`
            return self.stated_links
        return [*self.stated_links, *(Counter(pairs) - Counter(self.stated_links)).elements()]


def without_results(plan: Plan, gold: Mapping[str, Any]) -> Plan:
    """A plan without links, and without the arguments of tools that the gold fills with results."""
    dependent = {
        (node["task"], argument["name"])
        for node in gold["task_nodes"]
        for argument in node.get("arguments") or ()
        if isinstance(argument, dict) and "<node-" in json.dumps(argument["value"])
    }
    arguments = plan.arguments and [
        [argument for argument in arguments if (name, argument[0]) not in dependent]
        for name, arguments in zip(plan.names, plan.arguments, strict=True)
    ]
    return Plan(plan.names, arguments, [], plan.steps, plan.has_types)


class _ToolArguments:
    """Reads the arguments of one tool."""

    def __init__(self, tool: Tool) -> None:
        self.root: Schema = tool.input_schema or {
            "properties": {parameter.name: parameter.declaration for parameter in tool.parameters},
            "required": [parameter.name for parameter in tool.parameters if is_required(parameter, tool)],
        }
        self.key = _published_key if tool.input_schema is None else _json_key
        self.declared = {declared.name: declared for declared in properties_of(self.root)}


_UNKNOWN = _ToolArguments(Tool(""))


class PlanReader:
    """Normalises gold and predicted plans of one library, so that equal calls have equal arguments.

    The forms that models choose for arguments are one (`published_arguments`), values that mean the same are
    equal (`canonical`), and an optional argument with its default is left out.

    Args:
        library: The tools; a reference has the output type of its tool, and arguments of tools with an
            `input_schema` are compared as JSON (`comparable_json`), others by `comparable`.
        dependency_type: In names of resource plans, "_" is replaced by " ", and arguments are values without
            names. In schema plans, references with the same path are equal however it is spelled
            (`normal_references`).
    """

    def __init__(self, library: ToolLibrary, dependency_type: DependencyType) -> None:
        self._is_resource = dependency_type == "resource"
        self.name: Callable[[str], str] = (lambda name: name.replace("_", " ")) if self._is_resource else str
        self._normal: Normal = normal_references if dependency_type == "schema" else lambda value: value
        self._tools = {} if self._is_resource else {tool.id: _ToolArguments(tool) for tool in library}
        self._output_types = {
            self.name(tool.id): tool.outputs[0] if tool.outputs else "none" for tool in library
        }
        self._cached_key = lru_cache(maxsize=10_000, typed=True)(self._key)

    def plan(self, value: Any) -> Plan | None:
        """The plan in a JSON object; None if it has no list of named nodes or is nested too deeply."""
        nodes = value.get("task_nodes") if isinstance(value, Mapping) else None
        if not isinstance(nodes, list):
            return None
        names: list[str] = []
        arguments_of_nodes: list[Any] = []
        has_arguments = not nodes
        for node in nodes:
            if not isinstance(node, dict) or not isinstance(name := node.get("task"), str):
                return None
            names.append(self.name(name))
            arguments_of_nodes.append(node.get("arguments"))
            has_arguments = has_arguments or "arguments" in node
        try:
            arguments: list[list[Argument]] | None = None
            if has_arguments and self._is_resource:
                arguments = [
                    self._resources(arguments_of_node, names) for arguments_of_node in arguments_of_nodes
                ]
            elif has_arguments:
                arguments = [
                    self._arguments(name, arguments_of_node)
                    for name, arguments_of_node in zip(names, arguments_of_nodes, strict=True)
                ]
            links = self._links(value.get("task_links"))
            return Plan(names, arguments, links, steps_text(value.get("task_steps")), self._is_resource)
        except RecursionError:
            return None

    def _links(self, links: Any) -> list[tuple[str, str]]:
        name = self.name
        pairs: list[tuple[str, str]] = []
        for link in links if isinstance(links, list) else ():
            if (
                isinstance(link, dict)
                and isinstance(source := link.get("source"), str)
                and isinstance(target := link.get("target"), str)
            ):
                pairs.append((name(source), name(target)))
            else:
                pairs.append(("", f"unreadable: {json.dumps(link, sort_keys=True)}"))
        return pairs

    def _arguments(self, tool: str, arguments: Any) -> list[Argument]:
        if not arguments:
            return []
        declared = self._tools.get(tool, _UNKNOWN).declared
        arguments = published_arguments(arguments, declared)
        normalised: list[Argument] = []
        for argument in arguments if isinstance(arguments, list) else [arguments]:
            if not _is_named(argument):
                normalised.append(("unreadable", comparable(argument)))
                continue
            name = argument["name"].strip()
            value = argument["value"]
            is_short = not isinstance(value, list | dict) and (type(value) is not str or len(value) <= _SHORT)
            key = (self._cached_key if is_short else self._key)(tool, name, value)
            if key is not None:
                normalised.append((name, key))
        return normalised

    def _key(self, tool: str, name: str, value: Any) -> Hashable | None:
        """The comparable value of an argument; None for one that is as good as left out."""
        form = self._tools.get(tool, _UNKNOWN)
        if (declared := form.declared.get(name)) is None:
            return form.key(canonical(self._normal(value)))
        value = self._normal(as_meant(value, declared.schema, form.root))
        if _is_default(value, declared, form.root, form.key):
            return None
        return form.key(canonical(value, declared.schema, form.root))

    def _resources(self, arguments: Any, names: list[str]) -> list[Argument]:
        if arguments and not isinstance(arguments, list):
            arguments = published_arguments(arguments)
        if arguments and not isinstance(arguments, list):
            return [("unreadable", comparable(arguments))]
        return [
            ("text", argument)
            if type(argument) is str and _is_plain(argument)
            else self._resource(argument, names)
            for argument in arguments or ()
        ]

    def _resource(self, argument: Any, names: list[str]) -> Argument:
        if isinstance(argument, dict) and argument and _is_named(named := published_arguments([argument])[0]):
            argument = named["value"]
        if not isinstance(argument, str):
            return "object" if isinstance(argument, dict | list) else "text", comparable(argument)
        kind, value, source = _literal(argument)
        if source is None:
            return kind, value
        return self._output_types.get(names[source], "other") if source < len(names) else "other", value


def published_arguments(given: Any, parameters: Collection[str] | None = None) -> Any:
    """Arguments as the list that data sets have, from the forms that models choose; else unchanged.

    Read are JSON text, an object, and a list of objects with one or more arguments each, of such objects as
    JSON text, or of lists of a name and a value. Two keys of which neither is a parameter are a name and a
    value if one has the name of a parameter as its value; of more keys, `value` has the value.

    Args:
        given: The arguments of a call.
        parameters: The names that the tool declares. None if they are not known: then objects with several
            keys stay as they are.

    >>> published_arguments('{"city": "Rome"}')
    [{'name': 'city', 'value': 'Rome'}]
    >>> published_arguments([{"city": "Rome"}, {"parameter": "days", "is": 2}, "x"], ["city", "days"])
    [{'name': 'city', 'value': 'Rome'}, {'name': 'days', 'value': 2}, 'x']
    """
    if isinstance(given, str):
        given = decoded(given)
    if isinstance(given, dict):
        return [{"name": name, "value": value} for name, value in given.items()]
    if not isinstance(given, list):
        return given
    named: list[Any] = []
    parameter_names = parameters or ()
    for item in given:
        if isinstance(item, str) and parameter_names:
            item = decoded(item)
        if (
            isinstance(item, list)
            and len(item) == 2
            and isinstance(item[0], str)
            and item[0] in parameter_names
        ):
            item = {item[0]: item[1]}
        if not isinstance(item, dict) or _is_named(item) or (parameters is None and len(item) > 1):
            named.append(item)
            continue
        naming = [key for key, value in item.items() if isinstance(value, str) and value in parameter_names]
        values = ["value"] if "value" in item else [key for key in item if key not in naming]
        if len(naming) == len(values) == 1 and not any(key in parameter_names for key in item):
            named.append({"name": item[naming[0]], "value": item[values[0]]})
        else:
            named += [{"name": name, "value": value} for name, value in item.items()]
    return named


def decoded(text: str) -> Any:
    """The list or object that a text is as JSON, written once or several times; any other text unchanged.

    >>> decoded('["a"]'), decoded('"{}"'), decoded("7")
    (['a'], {}, '7')
    """
    value: Any = text
    try:
        while isinstance(value, str):
            value = json.loads(value)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):  # not JSON, or not serialisable (NaN, lone surrogates)
        return text
    return value if isinstance(value, list | dict) else text


def _is_named(argument: Any) -> bool:
    return isinstance(argument, dict) and isinstance(argument.get("name"), str) and "value" in argument


@lru_cache(maxsize=10_000)  # predictions repeat the literals of the gold
def _literal(text: str) -> tuple[str, Hashable, int | None]:
    """The type and the value of a text argument; for a reference, also the number of its node."""
    value = comparable(text)
    if not isinstance(value, str):
        return "text", value, None
    reference = REFERENCE.fullmatch(value) if value[:1] == "<" else None
    if reference is None:
        return resource_type(value) if "." in value else "text", value, None
    return "other", value, int(reference[1])


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


def normal_references(value: Any) -> Any:
    """A JSON value in which every reference has one spelling, also inside lists and objects.

    >>> normal_references(["'<node-0>.results.0.id'", {"a": "<node-1>.items[]", "b": "see <node-0>.x"}])
    ['<node-0>.results[0].id', {'a': '<node-1>.items[*]', 'b': 'see <node-0>.x'}]
    """

    def normal(text: str) -> str:
        reference = parse_reference(_unquoted(text)) if "<node-" in text else None
        return text if reference is None else reference_text(reference)

    return map_texts(value, normal, key=str)


def plan_digest(plan: Plan) -> int:
    """A non-negative hash that is equal for plans with the same nodes, links and arguments.

    As in the strict scores, the order of nodes, links and arguments is ignored, a reference stands for its
    node, and steps are ignored.

    >>> def plan(*nodes):
    ...     return Plan([name for name, _ in nodes], [[("text", value)] for _, value in nodes], [], None)
    >>> one = plan(("Painter", "a cat"), ("Captioner", "<node-0>"))
    >>> other = plan(("Captioner", "<node-1>"), ("Painter", "a cat"))
    >>> plan_digest(one) == plan_digest(other), plan_digest(one) == plan_digest(plan(("Painter", "a dog")))
    (True, False)
    """
    # Hashes, so that an argument does not equal a label by chance.
    nodes = [f"{_digest_number(name):x}" for name in plan.names]

    def label(reference: re.Match[str]) -> str:
        number = int(reference[1])
        return f"<{nodes[number]}>" if number < len(nodes) else f"<outside {number}>"

    def labelled(value: Hashable) -> str:
        # A hash of a number is equal for 7 and 7.0, and in every process.
        return REFERENCE.sub(label, value) if isinstance(value, str) else f"<number {hash(value)}>"

    # Each round distinguishes nodes by their references one step further (as in Weisfeiler-Leman refinement);
    # no path is longer than the number of nodes.
    for _ in range(len(nodes) if plan.has_references else 1):
        arguments_of_nodes = plan.arguments or [[] for _ in nodes]
        arguments = [
            sorted(repr((name, labelled(value))) for name, value in arguments_of_node)
            for arguments_of_node in arguments_of_nodes
        ]
        nodes = [f"{_digest_number(repr(pair)):x}" for pair in zip(plan.names, arguments, strict=True)]
    return _digest_number(repr((sorted(nodes), sorted(plan.links))))


def _digest_number(text: str) -> int:
    digest = hashlib.blake2b(text.encode(errors="replace"), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1
