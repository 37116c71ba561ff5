"""Values and arguments that a schema allows, drawn at random; a seed fixes them.

A value comes from the first of these that its schema has: listed values, examples, the default, a quotation
in its description, the format (or one that its name ends in: `email`), the bounds, the pattern. Else it is
the last word of its name with a number, "title-4821".
"""

from __future__ import annotations

import importlib
import re
import string
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from fractions import Fraction
from functools import lru_cache
from math import ceil, isfinite
from random import Random
from typing import Any
from uuid import UUID

from toolassay.argument_values.allowed_values import allowed_range, allowed_values, quoted_in
from toolassay.argument_values.fed_arguments import FedArgument, included, is_fed, with_fed
from toolassay.argument_values.places import (
    ABSENT,
    Path,
    SchemaWalk,
    ValuePlace,
    as_text,
    filled,
    is_statable,
    template_of,
    value_places,
)
from toolassay.tools.argument_schemas import ArgumentValidator, schema_problems
from toolassay.tools.library import Parameter, Tool, is_required
from toolassay.tools.output_paths import EACH, parse_path, parse_reference
from toolassay.tools.type_names import read_type

_MOST_STATED = 12  # values of one call
_MOST_OPTIONAL = 64  # optional arguments among which a draw chooses
_DRAWS = 8  # of a whole call, until one is valid
_LONGEST = 200  # characters of a text


class UnfillableError(Exception):
    """No valid arguments were found; the text says why."""


@dataclass(frozen=True, slots=True)
class DrawnArguments:
    """The arguments of one call.

    Attributes:
        arguments: By name; valid against the `input_schema`. Fed arguments are references. Values of a tool
            without `input_schema` are texts.
        stated: The values that a request has to state, as text, by their place in the arguments, in order.
            Fixed values (`const`), null and fed values are not stated.
    """

    arguments: Mapping[str, Any]
    stated: Sequence[tuple[str, Any]]


def draw_arguments(
    tool: Tool,
    rng: Random,
    *,
    fed: Sequence[FedArgument] = (),
    given: Mapping[str, Any] | None = None,
    taken: Collection[str] = (),
) -> DrawnArguments:
    """Valid arguments for a call of a tool: the required ones, and up to two others.

    Args:
        tool: The tool.
        rng: Random numbers.
        fed: The arguments that take values of earlier steps.
        given: Values that the call has, by place (`guest.name`); a list has one for each item. With them it
            has no other optional arguments.
        taken: Texts to avoid while there are others.

    Raises:
        UnfillableError: No draw was valid.

    >>> room = {"properties": {"size": {"enum": ["single"]}, "guest": {"const": "me"}}, "required": ["size"]}
    >>> draw_arguments(Tool("t", input_schema=room), Random(1)).stated
    [('size', 'single')]
    """
    problem = ""
    try:
        for number in range(_DRAWS):
            draw = _Draw(tool, rng, fed, given, taken, extra=number % 4 if number else rng.choice((0, 1, 2)))
            try:
                return draw.arguments()
            except UnfillableError as error:
                problem = str(error)
    except Exception:
        # Checking each schema first would take longer than all draws together.
        schema_problem = (
            next(schema_problems(tool.input_schema), None) if tool.input_schema is not None else None
        )
        if schema_problem is None:
            raise
        problem = f"its schema is not valid: {schema_problem.path} {schema_problem.reason}"[:160]
    raise UnfillableError(problem)


class _Draw:
    """One draw of the arguments of a call."""

    def __init__(
        self,
        tool: Tool,
        rng: Random,
        fed: Sequence[FedArgument],
        given: Mapping[str, Any] | None,
        taken: Collection[str],
        extra: int,
    ) -> None:
        self.tool = tool
        self.rng = rng
        self.fed = fed
        self.given = {_names(name): value for name, value in (given or {}).items()}
        # A name of another argument is no example: "either this or `group_ids`".
        self.taken = {*taken, *(parameter.name for parameter in tool.parameters)}
        self.stated: list[tuple[str, Any]] = []
        prefixes = {path[:end] for path in self.given for end in range(1, len(path) + 1)}
        include = included(fed) | prefixes
        if given is None and extra:
            needed = {place.path[:1] for place in self._slots(include)}
            optional = dict.fromkeys(
                value_place.path[:1] for value_place in value_places(tool, _MOST_OPTIONAL, include)
            )
            free = [path for path in optional if path not in needed]
            include |= {*rng.sample(free, min(extra, len(free)))}
        self.include = include

    def _slots(self, include: frozenset[Path]) -> Sequence[ValuePlace]:
        if self.tool.input_schema is not None:
            return value_places(self.tool, 0, include)
        parameters = self.tool.parameters
        chosen = [
            parameter
            for parameter in parameters
            if is_required(parameter, self.tool) or (parameter.name,) in include
        ]
        return [declared_place(parameter) for parameter in chosen]

    def arguments(self) -> DrawnArguments:
        """The arguments; raises UnfillableError if they are not valid."""
        if self.tool.input_schema is None:
            template: Mapping[str, Any] = {place.path[0]: place for place in self._slots(self.include)}
        else:
            template = template_of(self.tool, 0, self.include)
        drawn = filled(template, self._value, self._size)
        arguments = {} if drawn is ABSENT else drawn
        if self.tool.input_schema is None:
            arguments = {name: as_text(value) for name, value in arguments.items()}
            self.stated = [*arguments.items()]
        if self.fed:
            pairs = [{"name": name, "value": value} for name, value in arguments.items()]
            arguments = {argument["name"]: argument["value"] for argument in with_fed(pairs, self.fed)}
        if len(self.stated) > _MOST_STATED:
            raise UnfillableError(f"a request would have to state more than {_MOST_STATED} values")
        problems = self.tool.input_schema is not None and _validator_of(self.tool).problems(
            arguments, lambda text: parse_reference(text) is not None
        )
        if problems:
            raise UnfillableError(
                f"no valid value was found for '{problems[0].path[:80]}': {problems[0].reason[:80]}"
            )
        return DrawnArguments(arguments, self.stated)

    def _size(self, path: Path) -> int:
        """The number of items that given values have of the list at a path; 0 without them."""
        inside = (value for names, value in self.given.items() if names[: len(path)] == path)
        return max((len(value) for value in inside if isinstance(value, list)), default=0)

    def _value(self, slot: ValuePlace, item: int) -> Any:
        if is_fed(slot.parameter.name, self.fed):
            return ABSENT
        value = self.given.get(slot.path)
        if isinstance(value, list):
            value = value[item] if item < len(value) else None
        if value is None:
            value = drawn_value(slot, self.rng, self.taken)
            if value is None:
                raise UnfillableError(f"no valid value was found for '{slot.parameter.name}'")
        else:
            if slot.kind == "string":
                value = as_text(value)
            elif isinstance(value, str):
                value = ValuePlace(Parameter(""), slot.kind).typed(value)
            if not slot.allows(value) or not is_statable(value):
                raise UnfillableError(f"'{slot.parameter.name}' does not take the value {value!r}")
        self.taken.add(as_text(value))
        self.stated.append((slot.parameter.name, value))
        return value


def _names(name: str) -> Path:
    return tuple(part for part in parse_path(name) if isinstance(part, str) and part != EACH) or (name,)


@lru_cache(maxsize=4096)
def _validator_of(tool: Tool) -> ArgumentValidator:
    return ArgumentValidator(tool.input_schema or {}, is_valid=True)


@lru_cache(maxsize=4096)
def declared_place(parameter: Parameter) -> ValuePlace:
    """The place of a parameter of a tool without `input_schema`, with the type that its text means.

    >>> declared_place(Parameter("tags", "list[integer]")).kind
    'integer'
    """
    schema = read_type(parameter.type) or {"type": "string"}
    both = {
        **schema,
        **{key: setting for key, setting in parameter.declaration.items() if key not in ("type", "items")},
    }
    schema = both if next(schema_problems(both), None) is None else schema
    items = schema.get("items", {}) if schema.get("type") == "array" else schema
    walk = SchemaWalk({})
    about = {key: setting for key, setting in items.items() if key != "type" or "enum" not in items}
    slot = walk.place(walk.chosen({**about, "description": parameter.description}), (parameter.name,))
    listed = tuple(slot.typed(text) for text in allowed_values(parameter))
    return replace(slot, choices=slot.choices or listed)


# Fixed, not today, so that a seed draws the same days whenever it runs.
_FIRST_DAY = date(2026, 1, 5)
_FORMATS: Mapping[str, Callable[[Random, int], str]] = {
    "date": lambda rng, number: _day(rng),
    "date-time": lambda rng, number: f"{_day(rng)}T{_clock(rng)}:00Z",
    "time": lambda rng, number: f"{_clock(rng)}:00Z",
    "duration": lambda rng, number: f"PT{rng.randrange(5, 55)}M",
    **dict.fromkeys(("email", "idn-email"), lambda rng, number: f"user{number}@example.com"),
    **dict.fromkeys(("hostname", "idn-hostname"), lambda rng, number: f"host{number}.example.com"),
    **dict.fromkeys(
        ("uri", "iri", "uri-reference", "url"), lambda rng, number: f"https://www.example.com/{number}"
    ),
    "uuid": lambda rng, number: str(UUID(int=rng.getrandbits(128), version=4)),
    "ipv4": lambda rng, number: f"192.0.2.{rng.randrange(1, 255)}",
    "ipv6": lambda rng, number: f"2001:db8::{rng.randrange(1, 65_536):x}",
    "phone": lambda rng, number: f"+1 555 010 {number}",
}
"""Values of the formats of JSON Schema; addresses and numbers are those reserved for examples."""


def _day(rng: Random) -> str:
    return (_FIRST_DAY + timedelta(days=rng.randrange(540))).isoformat()


def _clock(rng: Random) -> str:
    return f"{rng.randrange(6, 22):02d}:{rng.choice(('00', '15', '30', '45'))}"


# "HH:MM", "DD.MM.YYYY" and "yyyymmdd"; not "MM" alone, or the end of "ADD".
_FORM = re.compile(
    r"(?<![^\W_])(?:yyyy|yy|mm|dd|hh|ss)(?:[-/:. T]?(?:yyyy|yy|mm|dd|hh|ss))+(?![^\W_])", re.IGNORECASE
)
_CODES = {"yyyy": "%Y", "yy": "%y", "dd": "%d", "hh": "%H", "ss": "%S"}


def written_form(description: str) -> str:
    """The form of dates or times that a description shows, as `strftime` takes it; empty without one.

    >>> written_form("24-hour format (HH:MM)"), written_form("as DD.MM.YYYY"), written_form("in mm")
    ('%H:%M', '%d.%m.%Y', '')
    """
    match = _FORM.search(description)
    form = match[0] if match else ""

    def code(token: re.Match[str]) -> str:
        is_month = not re.search("h", form[: token.start()], re.IGNORECASE) and re.search(
            "[yd]", form, re.IGNORECASE
        )
        return _CODES.get(token[0].casefold(), "%m" if is_month else "%M")

    return re.sub("yyyy|yy|mm|dd|hh|ss", code, form, flags=re.IGNORECASE)


def drawn_value(slot: ValuePlace, rng: Random, taken: Collection[str] = ()) -> Any:
    """A value that a place allows, if possible not one of the texts `taken`; None if no value is found.

    >>> drawn_value(ValuePlace(Parameter("order_id"), path=("order_id",)), Random(1))
    'id-3201'
    """
    taken_value = None
    for value in _candidates(slot, rng):
        if slot.allows(value):
            if as_text(value) not in taken:
                return value
            taken_value = value if taken_value is None else taken_value
    return taken_value


def _candidates(slot: ValuePlace, rng: Random) -> Iterator[Any]:
    """Values that fit a place by one piece of evidence after the other; not all are valid."""
    schema = slot.parameter.declaration
    if slot.choices:
        yield from rng.sample(slot.choices, len(slot.choices))
        return
    if slot.kind == "boolean":
        yield rng.random() < 0.5
        return
    listed = [slot.typed(text) for text in allowed_values(slot.parameter)]
    examples = schema.get("examples")
    examples = [*examples] if isinstance(examples, list) else []
    quoted = [slot.typed(text) for text in quoted_in(slot.parameter.description)]
    for values in (listed, [*examples, schema.get("example")], [schema.get("default")], quoted):
        usable = [value for value in values if is_statable(value)]
        yield from rng.sample(usable, len(usable))
    if slot.kind != "string":
        for _ in range(12):
            yield _number(slot, rng)
        return
    if form := written_form(slot.parameter.description):
        yield datetime.fromisoformat(f"{_day(rng)}T{_clock(rng)}").strftime(form)
    # The last word: the name of a tool, "user.name", has more than one.
    name = (re.findall(r"[^\W_]+", slot.path[-1] if slot.path else "") or ["value"])[-1].casefold()
    make = _FORMATS.get(str(schema.get("format", name)))
    for _ in range(3):
        number = rng.randrange(1_000, 10_000)
        yield make(rng, number) if make is not None else f"{name}-{number}"
        yield str(number)
    least = schema.get("minLength")
    yield rng.choice(string.ascii_letters)
    if isinstance(least, int) and 0 < least <= _LONGEST:
        yield "".join(rng.choices(string.ascii_lowercase, k=least))
    if isinstance(pattern := schema.get("pattern"), str):
        for _ in range(8):
            yield matching_text(pattern, rng)


def _number(slot: ValuePlace, rng: Random) -> int | float:
    """A number in the bounds of the description or the schema, near a single bound; else from 1 to 99."""
    schema = slot.parameter.declaration
    if (span := allowed_range(slot.parameter)) is not None:
        low = span.low
        high = span.high
    else:
        lows, highs = (
            _numbers(schema, least, f"exclusive{least.capitalize()}") for least in ("minimum", "maximum")
        )
        high = max(lows) + 20 if lows else 99
        if highs:
            high = min(highs)
        low = max(lows) if lows else min(1, high - 20)
    digits = 0
    if slot.kind != "integer" and high - low <= 9:
        digits = 1 if high - low > 1 else 2
    steps = _numbers(schema, "multipleOf")
    unit = Fraction(repr(steps[0])) if steps and steps[0] > 0 else Fraction(1, 10**digits)
    least = ceil(Fraction(low) / unit)
    most = Fraction(high) // unit
    number = rng.randint(least, max(least, most)) * unit
    return int(number) if number.denominator == 1 else float(number)


def _numbers(schema: Mapping[str, Any], *keywords: str) -> list[float]:
    values = [schema[keyword] for keyword in keywords if keyword in schema]
    return [keyword for keyword in values if isinstance(keyword, int | float) and isfinite(keyword)]


# A class of characters is narrowed to those of the first row that it has.
_READABLE = (string.ascii_lowercase + string.digits, string.ascii_letters, "".join(map(chr, range(32, 127))))
_MOST_STEPS = 400  # of one text: hostile patterns nest repetitions
_MORE_REPEATS = 5  # repetitions beyond the fewest
_CATEGORIES = {
    "DIGIT": r"\d",
    "SPACE": " ",
    "WORD": r"\w",
    "NOT_DIGIT": r"\D",
    "NOT_SPACE": r"\S",
    "NOT_WORD": r"\W",
}
# The name of a group in JavaScript, "(?<year>"; not a lookbehind, "(?<=" or "(?<!".
_GROUP_NAME = re.compile(r"\(\?<(?=[A-Za-z_])")


def matching_text(pattern: str, rng: Random) -> str | None:
    """A short text that matches a pattern; None if Python does not know it, or its texts are long.

    Of the packages that do this, rstr draws from sets, so that a seed fixes nothing, and exrex is AGPL.
    Lookarounds are skipped, so the caller checks the result.

    >>> matching_text("^BN[0-9]{4}$", Random(1))
    'BN9141'
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about spellings that are errors in later versions of Python
        try:
            parts = importlib.import_module("re._parser").parse(_GROUP_NAME.sub("(?P<", pattern[:500]))
            return _PatternText(rng).text(parts)
        except (re.error, OverflowError, RecursionError, ValueError):
            return None


class _PatternText:
    def __init__(self, rng: Random) -> None:
        self.rng, self.groups, self.steps = rng, dict[int, str](), 0

    def text(self, parts: Any) -> str:
        return "".join(self.part(str(operation), value) for operation, value in parts)

    def part(self, operation: str, value: Any) -> str:
        self.steps += 1
        if self.steps > _MOST_STEPS:
            raise ValueError("texts of the pattern are too long")
        match operation:
            case "LITERAL":
                return chr(value)
            case "NOT_LITERAL" | "ANY":
                return self.one_of([("NEGATE", None), ("LITERAL", value or 10)])
            case "IN":
                return self.one_of(value)
            case "BRANCH":
                return self.text(self.rng.choice(value[1]))
            case "SUBPATTERN":
                text = self.text(value[-1])
                self.groups[value[0]] = text
                return text
            case "GROUPREF":
                return self.groups.get(value, "")
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                least, most, inner = value
                # "^[a-z]*$" should not be empty, but an optional part may be left out.
                low = max(least, 1) if most > 1 else least
                times = self.rng.randint(low, min(int(most), low + _MORE_REPEATS))
                return "".join(self.text(inner) for _ in range(times))
            case "AT" | "ASSERT" | "ASSERT_NOT":
                return ""
        raise ValueError(f"the pattern has {operation.lower()}")

    def one_of(self, parts: Sequence[Any]) -> str:
        """A character of a class, a readable one if there is one."""
        negated = any(str(operation) == "NEGATE" for operation, _ in parts)
        for row in _READABLE:
            if fitting := [character for character in row if _is_member(character, parts) != negated]:
                return self.rng.choice(fitting)
        raise ValueError("a class of the pattern has no printable character")


def _is_member(character: str, parts: Sequence[Any]) -> bool:
    for operation, value in parts:
        match str(operation):
            case "LITERAL":
                is_member = ord(character) == value
            case "RANGE":
                is_member = value[0] <= ord(character) <= value[1]
            case "CATEGORY":
                name = str(value).removeprefix("CATEGORY_").removeprefix("UNI_")
                is_member = re.fullmatch(_CATEGORIES[name], character) is not None
            case _:
                is_member = False
        if is_member:
            return True
    return False
