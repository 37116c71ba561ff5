"""The places for values in the arguments of a tool, the values that a parameter may take, and fed arguments.

The places are those of the smallest valid object, or all that the schema has. The work order, the planner,
the random baseline and the collector of live values fill them; `typed` turns texts into JSON values. A tool
without `input_schema` has a place for each parameter. The allowed values, from the parameter's type and
description, are a list or the numbers of a range. A fed argument takes a value from the result of an earlier
step, in plans of schema graphs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from toolassay.graph import FieldPair
from toolassay.graph.derive.fields import meaning_of
from toolassay.records.dataset import Sample
from toolassay.tools.argument_schemas import (
    ArgumentValidator,
    Schema,
    declared_at,
    kinds_of,
    properties_at,
    resolve,
    schema_at,
)
from toolassay.tools.library import Parameter, Tool, ToolLibrary
from toolassay.tools.output_paths import EACH, Part, Reference, parse_path, reference_text
from toolassay.tools.type_names import read_type

_DEEPEST = 6  # names in a path; below, only what is required is filled
_MOST_LEVELS = 32  # objects and lists within each other
_MOST_VALUES = 1_000  # of one tool; objects and lists after these are empty
_MOST_ITEMS = 3
SIMPLE = ("integer", "number", "string", "boolean")
"""The types of values that are neither lists nor objects, in the order in which one of several is chosen."""

Path = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class ValuePlace:
    """A place for one value that is neither a list nor an object.

    Attributes:
        parameter: The place as a parameter: its path (`member.email`), type and schema.
        kind: "string", "integer", "number" or "boolean".
        choices: Allowed values; empty if any is.
        path: The names on the way to it, without the numbers of items.
    """

    parameter: Parameter
    kind: str = "string"
    choices: tuple[Any, ...] = ()
    path: Path = ()

    def typed(self, text: str) -> Any:
        """The JSON value that a text states; the text itself if it states no value of the place's type.

        >>> place = ValuePlace(Parameter("n"), "integer")
        >>> place.typed("1,200"), place.typed("x")
        (1200, 'x')
        """
        if self.choices:
            return next((one for one in self.choices if as_text(one).casefold() == text.casefold()), text)
        if self.kind == "boolean":
            return {"true": True, "false": False}.get(text.casefold(), text)
        number = _NUMBER.fullmatch(text.replace(",", "").strip()) if self.kind != "string" else None
        if number is None or (self.kind == "integer" and "." in text):
            return text
        return float(number[0]) if "." in number[0] else int(number[0])

    def allows(self, value: Any) -> bool:
        """Whether a JSON value is valid here."""
        return not _validator(self).problems({"value": value})


# Keywords that refer to nothing outside of the schema of a value.
_LIMITS = (
    *("type", "enum", "format", "pattern", "minLength", "maxLength", "multipleOf"),
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
)
# "-7.5" and "12", not "12 metres".
_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,15})?")


@lru_cache(maxsize=8192)
def _validator(place: ValuePlace) -> ArgumentValidator:
    declared = place.parameter.declaration
    known = {key: declared[key] for key in _LIMITS if key in declared}
    return ArgumentValidator({"properties": {"value": known}}, is_valid=True)


def as_text(value: Any) -> str:
    """A scalar as text: `true`, `4`, `red`."""
    return str(value).lower() if isinstance(value, bool) else str(value)


NO_PATHS: frozenset[Path] = frozenset()


@lru_cache(maxsize=4096)
def template_of(tool: Tool, optional: int, include: frozenset[Path] = NO_PATHS) -> Mapping[str, Any]:
    """The arguments object of a tool with a `ValuePlace` for each value.

    It has the required arguments and the first optional ones that are scalars or lists of scalars. Optional
    objects are left out. What is nested too deeply is empty, and then the arguments may be invalid.

    Args:
        tool: The tool.
        optional: Maximum number of optional arguments.
        include: Paths of further arguments that it has, `("filter", "movie_id")`, each with all its prefixes.
    """
    if tool.input_schema is None:
        return {one.name: place_of_parameter(one) for one in tool.parameters}
    return _Templates(tool.input_schema, include).object(tool.input_schema, (), optional)


def place_of_parameter(parameter: Parameter) -> ValuePlace:
    """The place of a parameter of a tool without `input_schema`, which takes a text."""
    return ValuePlace(parameter, path=(parameter.name,))


@lru_cache(maxsize=4096)
def places_of(tool: Tool, optional: int, include: frozenset[Path] = NO_PATHS) -> tuple[ValuePlace, ...]:
    """The places of `template_of`, in order."""
    return tuple(_places(template_of(tool, optional, include)))


def _places(template: Any) -> Iterator[ValuePlace]:
    if isinstance(template, ValuePlace):
        yield template
    inner = template.values() if isinstance(template, Mapping) else template if type(template) is list else ()
    for one in inner:
        yield from _places(one)


ABSENT = object()
"""What a place without a value is filled with."""


def filled_arguments(tool: Tool, optional: int, value: Callable[[ValuePlace], Any]) -> list[dict[str, Any]]:
    """The arguments of a call, each `{"name": …, "value": …}`.

    Args:
        tool: The tool.
        optional: As for `template_of`.
        value: Gives the value of each place, in order, or `ABSENT`. Lists and objects that have only absent
            values are absent.
    """
    found = filled(template_of(tool, optional, NO_PATHS), lambda place, item: value(place))
    return [{"name": name, "value": one} for name, one in found.items()] if found is not ABSENT else []


def filled(
    template: Any,
    value: Callable[[ValuePlace, int], Any],
    size: Callable[[Path], int] = lambda path: 0,
    path: Path = (),
    item: int = 0,
) -> Any:
    """A template with the value of each place; see `filled_arguments`.

    Args:
        template: The template, or a part of it.
        value: Gives the value of a place in an item of the innermost list, by its number.
        size: The number of items of the list at a path; 0 for that of the template.
        path: That of the part.
        item: Number of the item of the innermost list that the part is in.
    """
    if isinstance(template, ValuePlace):
        return value(template, item)
    if isinstance(template, Mapping):
        named = {name: filled(one, value, size, (*path, name), item) for name, one in template.items()}
        present = {name: one for name, one in named.items() if one is not ABSENT}
        return present if present or not named else ABSENT
    if not isinstance(template, list) or not template:
        return template
    numbers = range(size(path) or len(template))
    parts = [filled(template[min(one, len(template) - 1)], value, size, path, one) for one in numbers]
    return [part for part in parts if part is not ABSENT] or ABSENT


class SchemaWalk:
    """Walks a JSON Schema whose references, merged parts and alternatives are resolved on the way.

    Args:
        root: The whole schema.
        pick: Chooses one of several alternatives; the first one by default.
    """

    def __init__(
        self, root: Mapping[str, Any], pick: Callable[[Sequence[Any]], Any] = lambda parts: parts[0]
    ) -> None:
        self.root, self.pick = root, pick

    def chosen(self, schema: Any, left: int = _DEEPEST) -> Mapping[str, Any]:
        """The schema with one alternative that is not null in place of all, and `allOf` and `if` merged."""
        schema = resolve(schema, self.root)
        parts = list(schema.get("allOf") or ())
        groups = [schema.get("anyOf") or (), schema.get("oneOf") or ()]
        if "if" in schema:
            held = {"allOf": [schema["if"], schema.get("then", True)]}
            groups.append([schema.get("else", True), held])
        for group in groups:
            given = [part for part in group if kinds_of(part, self.root) != {"null"}]
            parts += [self.pick(given)] if given else []
        merged = {key: one for key, one in schema.items() if key not in _COMBINED}
        for part in parts if left else ():
            merged = _both(merged, self.chosen(part, left - 1))
        return merged

    def place(self, schema: Mapping[str, Any], path: Path, name: str = "") -> ValuePlace:
        """The place for a scalar that a chosen schema describes, of the first of its types."""
        kinds = kinds_of(schema, self.root)
        kind = next((kind for kind in SIMPLE if kind in kinds), "string")
        text = schema.get("description")
        form = schema.get("format") if kind == "string" else None
        values = schema.get("enum")
        choices = [value for value in values if is_statable(value)] if isinstance(values, list) else ()
        parameter = Parameter(
            name or ".".join(path),
            form if isinstance(form, str) else kind,
            text if isinstance(text, str) else "",
            schema,
        )
        return ValuePlace(parameter, kind, tuple(choices), path)


_COMBINED = frozenset({"allOf", "anyOf", "oneOf", "if", "then", "else"})


def is_statable(value: Any) -> bool:
    """Whether a sentence can state a value: a scalar, not empty, without a line break, "|" or brace."""
    return isinstance(value, str | int | float) and not re.search(r"^$|[|{}\n]", as_text(value))


def _both(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Two schemas that hold together, as far as properties and required names go; else the first decides."""
    both = {**other, **one}
    own, further = one.get("properties"), other.get("properties")
    if isinstance(own, Mapping) and isinstance(further, Mapping):
        common = {name: {"allOf": [own[name], further[name]]} for name in own if name in further}
        both["properties"] = {**further, **own, **common}
    if isinstance(one.get("required"), list) and isinstance(other.get("required"), list):
        both["required"] = [*one["required"], *other["required"]]
    return both


class _Templates(SchemaWalk):
    """Makes the template of one `input_schema`."""

    def __init__(self, root: Mapping[str, Any], include: frozenset[Path]) -> None:
        wanted = {name for path in include for name in path}
        super().__init__(
            root, lambda parts: max(parts, key=lambda part: len(wanted & declared_at(part, root).keys()))
        )
        self.include = include
        self.levels = 0
        self.left = _MOST_VALUES

    def object(self, schema: Any, path: Path, optional: int) -> dict[str, Any]:
        properties = properties_at(self.chosen(schema), self.root)
        plain = tuple(part for part in path if not part.isdigit())
        needed = [one for one in properties if one.required]
        included = [one for one in properties if (*plain, one.name) in self.include]
        names = {one.name for one in [*needed, *included]}
        further = [one for one in properties if one.name not in names and self.is_simple(one.schema)]
        kept = names | {one.name for one in further[:optional]}
        return {one.name: self.of(one.schema, (*path, one.name)) for one in properties if one.name in kept}

    def of(self, schema: Any, path: Path) -> Any:
        self.levels += 1
        self.left -= 1
        value = self.of_chosen(self.chosen(schema), path)
        self.levels -= 1
        return value

    def of_chosen(self, schema: Mapping[str, Any], path: Path) -> Any:
        if "const" in schema:
            return schema["const"]
        values = schema.get("enum")
        if isinstance(values, list) and values:
            return self.place(schema, path) if any(map(is_statable, values)) else values[0]
        kinds = kinds_of(schema, self.root) or {"string"}
        if kinds == {"null"}:
            return None
        if not kinds.isdisjoint(SIMPLE):
            return self.place(schema, path)
        is_list, is_deep = "array" in kinds, len(path) > _DEEPEST
        if self.levels > _MOST_LEVELS or self.left <= 0:
            return [] if is_list else {}
        if is_list:
            given = schema.get("prefixItems")
            least = schema.get("minItems")
            if is_deep and not least:
                return []
            number = min(least, _MOST_ITEMS) if isinstance(least, int) and least > 0 else 1
            items = given[:_MOST_ITEMS] if isinstance(given, list) else [schema.get("items")] * number
            names = [path] if len(items) == 1 else [(*path, str(place)) for place in range(1, len(items) + 1)]
            return [self.of(item, name) for item, name in zip(items, names, strict=True)]
        found = self.object(schema, path, 0)
        return found if found or is_deep else self.object(schema, path, 1)

    def place(self, schema: Mapping[str, Any], path: Path, name: str = "") -> ValuePlace:
        plain = tuple(part for part in path if not part.isdigit())
        return super().place(schema, plain, name or ".".join(path))

    def is_simple(self, schema: Any) -> bool:
        schema = self.chosen(schema)
        kinds = kinds_of(schema, self.root)
        if "array" in kinds:
            kinds = kinds_of(self.chosen(schema.get("items")), self.root)
        # A pattern is often one that no draw meets: such an optional argument is left out.
        return not kinds.isdisjoint(SIMPLE) and schema.keys().isdisjoint(("const", "pattern"))


_MOST = 24
_ITEM = re.compile(r"[^|{}\n]{1,60}")
# "one of: red, blue" and "options: a, b", but not "optional: a".
_CHOICE = re.compile(
    r"(?:\bone of(?: the following)?(?: values)?\s*:?|(?<!use )(?<!provide )\beither\b"
    r"|\b(?:options?|choices|values?)\s*:)"
    r"\s*(?P<list>(?:[^.;()\n]|\.(?=\d))+)",
    re.IGNORECASE,
)
_QUOTED = r"(?:'[^'\n]{1,40}'|\"[^\"\n]{1,40}\"|`[^`\n]{1,40}`)"
# "YYYY-MM-DD" and "hh:mm"
_DATE_FORM = re.compile(r"(?:[yY]{2,4}+|[mM]{2}|[dD]{2}|[hH]{2}|[sS]{2}|[-/:. T]){2,}")
# Between the items of a list: ", ", ", or " and " or "; not "for".
_OR = re.compile(r",\s*(?:or\b|and\b)?|\bor\b")
# What stands in a sentence and in no value.
_OF_SENTENCE = re.compile(r"[,;\"“”，。：；、？！]")
# "'metric' or 'imperial'", but not "'metric'" alone.
_QUOTES = re.compile(rf"(?<!\w){_QUOTED}(?:\s*(?:,\s*(?:or\b|and\b)?|\bor\b|\band\b|/|\|)\s*{_QUOTED})+")
# What stands before such a list: "Valid values are: ", "must be ", "Unit: ". Others have another role:
# "required for 'add' or 'reply'", "the filters are 'artist' and 'year'", "e.g. 'a', 'b'".
_ANNOUNCED = re.compile(
    r"(?:^|\b(?:values?|types?|options?|choices?|enum)\]?(?:\s+(?:are|is|include))?\s*:?|\beither"
    r"|\bone of(?: the following)?\s*:?|\b(?:must|can|may|should) be|^(?!examples?)[^.,:(]{1,40}:)"
    r"\s*[\[(]?\s*$",
    re.IGNORECASE,
)
# "(asc/desc)", but not "(a/b)", whose parts are too short, or "asc/desc".
_SLASHES = re.compile(r"\(\s*(?P<list>[\w+-]{2,}(?:\s*/\s*[\w+-]{2,})+)\s*\)")
# "LOCK" and "IN_STOCK"; not "ID", "Lock" or the parts of "YYYY-MM-DD".
_CAPITALS = re.compile(r"(?<![\w-])[A-Z][A-Z0-9_]{2,40}(?![\w-])")
# "[Enum]: LOCK, UNLOCK" and "(CSV/JSON)"; not "CSV" alone, or "an ID or URL" in a sentence.
_CAPITAL_LIST = re.compile(
    rf"(?:^|[:(\[])\s*(?P<list>{_CAPITALS.pattern}(?:\s*(?:,\s*(?:or\b|and\b)?|\bor\b|/)\s*{_CAPITALS.pattern})+)"
    r"(?=\s*(?:[.)\];]|$))"
)
# "Site: Hamburg, Lyon or Porto", "(US or New Zealand)" and "Must be Rome or Oslo."; not "e.g. Rome or Oslo".
_NAMES = r"[^\W\d_][\w+-]*(?: (?-i:[A-Z])[\w+-]*)*"
_NAMED_LIST = re.compile(
    r"(?:(?P<alone>^|(?<!\be\.g)(?<!\beg)(?<!\bex)(?<!\bi\.e)(?<!example)(?<!examples)[.:]\s)"
    r"|\(|\b(?:must|can|may|should) be\b)"
    rf"\s*(?P<list>{_NAMES}(?:,\s*{_NAMES})*,?\s+or\s+{_NAMES})(?=\s*(?:[.);]|$))",
    re.IGNORECASE,
)
# "enum: a, b" and "Literal[a, b]", but not "string".
_TYPE = re.compile(r"^(?:enum|literal|choice|one ?of)\s*[:(\[<]?\s*(?P<list>.+?)[)\]>]?$", re.IGNORECASE)
# Lists of types and of parts of a pattern look the same: "string | null", "(dd/mm/yyyy)".
_NO_VALUES = frozenset(
    re.findall(
        r"\w+",
        "str string int integer float number bool boolean null none object array list dict any and or "
        "dd mm yy yyyy hh ss lat lon latitude longitude",
    )
)
_SIGNED = r"-?\d+(?:\.\d+)?"
# "from 5 to 30", "1-5" and "0..1", but not "2026-05-14" or "10:15".
_RANGE = re.compile(
    rf"(?<![\w.:/-])(?P<low>{_SIGNED})\s?%?\s?(?:\bto\b|\band\b|-|–|\.\.\.?)\s?(?P<high>{_SIGNED})(?![\w:/-]|\.\d)"
)
# "5 to 30 characters" limits the length of a value, not the value.
_LENGTH = re.compile(r"\s*(?:characters?|letters?|words?|digits?|lines?)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Range:
    """Numbers from `low` to `high` inclusive, with `decimals` digits after the point."""

    low: float
    high: float
    decimals: int = 0

    def holds(self, text: str) -> bool:
        """Whether a text is a number of the range, currency and percent signs apart.

        >>> Range(1, 5).holds("3"), Range(1, 5).holds("7"), Range(1, 5).holds("three")
        (True, False, False)
        """
        number = re.fullmatch(rf"[$€£¥]?({_SIGNED})\s?%?", text.replace(",", ""))
        return number is not None and self.low <= float(number[1]) <= self.high


def allowed_values(parameter: Parameter) -> list[str]:
    """The values that a parameter is restricted to, in the order given; empty if it is not restricted.

    They come from the `enum` of the library file, the type or the description.

    >>> allowed_values(Parameter("size", "string", "small | medium | large"))
    ['small', 'medium', 'large']
    >>> allowed_values(Parameter("units", "string", "'metric' or 'imperial'"))
    ['metric', 'imperial']
    >>> allowed_values(Parameter("customer", "string", "one of the customers"))
    []
    """
    given = parameter.declaration.get("enum")
    if isinstance(given, list):
        texts = (
            str(item).lower() if isinstance(item, bool) else str(item) for item in given if item is not None
        )
        if values := _clean(texts, fewest=1):
            return values
    kind = _TYPE.match(parameter.type.strip())
    for text in (kind["list"] if kind else "", parameter.type if "|" in parameter.type else ""):
        if values := _clean(re.split(r"[,|]", text)):
            return values
    values = _described(parameter.description)
    pattern = parameter.declaration.get("pattern")
    if values and isinstance(pattern, str) and not all(_meets(pattern, one) for one in values):
        return []
    return values


@lru_cache(maxsize=1024)
def _meets(pattern: str, text: str) -> bool:
    return not ArgumentValidator({"properties": {"value": {"pattern": pattern}}}).problems({"value": text})


def quoted_in(description: str) -> list[str]:
    """The texts in quotation marks, which are examples where they list no alternatives.

    Forms of dates are none.

    >>> quoted_in("A city, e.g. 'Porto'; not the customer's, on 'DD.MM.YYYY'")
    ['Porto']
    """
    found = re.findall(rf"(?<![A-Za-z\d_]){_QUOTED}(?![A-Za-z\d_])", description)
    return [one[1:-1] for one in found if not _DATE_FORM.fullmatch(one[1:-1])]


def allowed_range(parameter: Parameter) -> Range | None:
    """The range that a parameter is restricted to, by its description or its `minimum` and `maximum`.

    >>> allowed_range(Parameter("level", "int", "from 5 to 30"))
    Range(low=5.0, high=30.0, decimals=0)
    """
    source = parameter.declaration
    match = _RANGE.search(parameter.description)
    if isinstance(source.get("minimum"), int | float) and isinstance(source.get("maximum"), int | float):
        low, high = str(source["minimum"]), str(source["maximum"])
    elif match and not _LENGTH.match(parameter.description, match.end()):
        low, high = match["low"], match["high"]
    else:
        return None
    if not re.fullmatch(_SIGNED, low) or not re.fullmatch(_SIGNED, high) or float(low) >= float(high):
        return None
    decimals = max(len(text.partition(".")[2]) for text in (low, high))
    whole = (read_type(parameter.type) or {}).get("type") == "integer"
    if not whole and float(high) - float(low) <= 1:
        decimals = max(decimals, 2)
    return Range(float(low), float(high), 0 if whole else decimals)


def _described(description: str) -> list[str]:
    """The values that a description lists, other than examples."""
    parts = re.split(r"[:;()\[\]\n]|\.\s", description)
    piped = [[item.strip() for item in part.split("|")] for part in parts if "|" in part]
    # A "|" in a sentence is what the values of a list are divided by.
    if any(_OF_SENTENCE.search(item) for items in piped for item in items[1:]):
        piped = []
    for items in piped:
        if all(len(item.split()) <= 3 for item in items[1:]):
            first = items[0] if len(items[0].split()) <= 3 else items[0].split()[-1]
            if values := _clean([first, *items[1:]]):
                return values
    if (match := _QUOTES.search(description)) and _ANNOUNCED.search(description[: match.start()]):
        return _clean(text[1:-1] for text in re.findall(_QUOTED, match[0]))
    if match := _CAPITAL_LIST.search(description):
        return _clean(_CAPITALS.findall(match["list"]))
    if match := _SLASHES.search(description):
        return _clean(match["list"].split("/"))
    if match := _CHOICE.search(description):
        items = [item.strip() for item in _OR.split(match["list"])]
        if not any(
            re.match(r"(?:an?|the|our|your|my|this|these|those|its?|their|any)\b", item) for item in items
        ):
            return _clean(item for item in items if len(item.split()) <= 4)
    if match := _NAMED_LIST.search(description):
        items = [item.strip() for item in _OR.split(match["list"])]
        # Proper names, or words in place of a sentence. "Email or phone" are kinds of values.
        is_list = all(item[0].isupper() for item in items) or (
            match["alone"] is not None and match["list"][1:].islower()
        )
        return _clean(items) if is_list and not any(meaning_of(item).attribute for item in items) else []
    return []


def _clean(items: Iterable[str], *, fewest: int = 2) -> list[str]:
    """The items without quotation marks and repetitions; empty if they are no values."""
    values = list(dict.fromkeys(item.strip(" .'\"`") for item in items))
    values = [value for value in values if value and value.casefold() != "etc" and _ITEM.fullmatch(value)]
    if len(values) < fewest or _NO_VALUES.intersection(value.casefold() for value in values):
        return []
    return values[:_MOST]


# The number of an item in the name of a place: ".2" in "lines.2.amount", not in "v.2a".
_ITEM_NUMBER = re.compile(r"\.\d+(?=\.|$)")


class FedArgument(NamedTuple):
    """An argument, or a part of one, that takes a value from an earlier step.

    Attributes:
        parts: The path of the argument.
        source: Index of the node that gives the value.
        value: What the plan has in its place: a reference, or a list of one.
        path: The path in the result; an item of a list has a number, `EACH` stands for all items.
    """

    parts: tuple[Part, ...]
    source: int
    value: Any
    path: tuple[Part, ...]

    @property
    def name(self) -> str:
        """The name of the innermost argument."""
        return next((part for part in reversed(self.parts) if isinstance(part, str) and part != EACH), "")

    @property
    def place(self) -> str:
        """The name of the argument as `ValuePlace` spells it: `filter.movie_id`."""
        return ".".join(_names(self.parts))


def fed_arguments(sample: Sample, library: ToolLibrary) -> list[tuple[FedArgument, ...]]:
    """The fed arguments of each node of a sample, in the order of its nodes.

    An argument with the same value as a fed argument of an earlier node is fed in the same way.
    """
    order = {name: number for number, name in enumerate(sample.nodes)}
    fed: list[list[FedArgument]] = [[] for _ in sample.nodes]
    for link, pairs in zip(sample.links, sample.fields, strict=False):
        for pair in pairs:
            giver, taker = library[link.source], library[link.target]
            fed[order[link.target]].append(fed_argument(pair, order[link.source], giver, taker))
    # Nodes are in topological order: what a source shares is complete before its targets come.
    for link, pairs in sorted(
        zip(sample.links, sample.shared, strict=False), key=lambda one: order[one[0].source]
    ):
        for pair in pairs:
            for one in fed[order[link.source]]:
                if one.place == pair.source:
                    same = one._replace(parts=parse_path(pair.target))
                    fed[order[link.target]].append(same)
    return [tuple(arguments) for arguments in fed]


def fed_argument(pair: FieldPair, source: int, giver: Tool, taker: Tool) -> FedArgument:
    """The argument that a pair of fields fills.

    Of the items of a list, a single value takes the first, and a list takes all. A single value that fills a
    list is its only item.

    Args:
        pair: The path in the result, and the argument.
        source: Index of the node that gives the result.
        giver: The tool of that node.
        taker: The tool with the argument.
    """
    path, parts = parse_path(pair.source), parse_path(pair.target)
    if any(one.name == pair.target for one in taker.parameters):
        parts = (pair.target,)
    if parts[-1:] == (EACH,) and EACH in path:
        parts = parts[:-1]
    wanted, given = _kinds(parts, taker.input_schema), _kinds(path, giver.output_schema)
    if wanted == {"array"} and given != {"array"}:
        if EACH not in path:
            return FedArgument(parts, source, [reference_text(Reference(source, path))], path)
        last = len(path) - 1 - path[::-1].index(EACH)
        path = (*_first(path[:last]), *path[last:])
    else:
        path = _first(path)
        if given == {"array"} and wanted and "array" not in wanted:
            path = (*path, 0)
    return FedArgument(parts, source, reference_text(Reference(source, path)), path)


def _first(path: Sequence[Part]) -> tuple[Part, ...]:
    return tuple(0 if part == EACH else part for part in path)


def _kinds(parts: Sequence[Part], schema: Schema | None) -> frozenset[str]:
    """The JSON types at a path, without null; empty if unknown."""
    if schema is None:
        return frozenset()
    return kinds_of(schema_at(_first(parts), schema), schema) - {"null"}


def _names(parts: Iterable[Part]) -> tuple[str, ...]:
    return tuple(part for part in parts if isinstance(part, str) and part != EACH)


def included(fed: Iterable[FedArgument]) -> frozenset[tuple[str, ...]]:
    """The fed arguments and the objects that they are in, as paths of names."""
    paths = [_names(one.parts) for one in fed]
    return frozenset(path[:end] for path in paths for end in range(1, len(path) + 1))


def is_fed(place: str, fed: Iterable[FedArgument]) -> bool:
    """Whether a place in the arguments, named as by `ValuePlace`, is fed or part of a fed argument.

    >>> movie = FedArgument(("filter", "movie_id"), 0, "<node-0>.id", ("id",))
    >>> is_fed("filter.movie_id", [movie]), is_fed("filter.language", [movie])
    (True, False)
    """
    plain = _ITEM_NUMBER.sub("", place)
    return any(plain == one.place or plain.startswith(f"{one.place}.") for one in fed)


def with_fed(arguments: Iterable[Mapping[str, Any]], fed: Iterable[FedArgument]) -> list[dict[str, Any]]:
    """Arguments, `{"name", "value"}` each, with the values of the fed ones.

    >>> with_fed([], [FedArgument(("filter", "ids", EACH), 0, "<node-0>", ())])
    [{'name': 'filter', 'value': {'ids': ['<node-0>']}}]
    """
    values: Any = {one["name"]: one["value"] for one in arguments}
    for one in fed:
        values = _with(values, one.parts, one.value)
    return [{"name": name, "value": value} for name, value in values.items()]


def _with(given: Any, parts: Sequence[Part], value: Any) -> Any:
    if not parts:
        return value
    first, *rest = parts
    if first == EACH or isinstance(first, int):
        items = given if isinstance(given, list) else []
        return [_with(items[0] if items else None, rest, value), *items[1:]]
    known = given if isinstance(given, dict) else {}
    return {**known, first: _with(known.get(first), rest, value)}
