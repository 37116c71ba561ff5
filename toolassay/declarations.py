"""Options, each declared once: as a field of a dataclass or a parameter of a command.

    temperature: Annotated[float | None, Option("Sampling temperature, 0 or more.", minimum=0)] = 0.2

The flag, the keyword of the Python function, its type, the check of its value, the help and the reference
page follow from the declaration. A dataclass may have further dataclasses as fields; their options are flags
and keywords as well.
"""

from __future__ import annotations

import inspect
import math
import sys
from collections import ChainMap
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from toolassay.errors import UsageError

Options = TypeVar("Options")
REQUIRED = MISSING
"""Default of an option that must be given."""


@dataclass(frozen=True)
class Option:
    """What a type and a default do not say of an option.

    Attributes:
        help: One sentence or two, with the unit.
        name: Flag and keyword, if they differ from the field's name.
        flags: Further flags, e.g. `("-m",)`.
        old: Flags of earlier versions; they still work, with a notice.
        metavar: Placeholder for the value in the help; empty for its type.
        minimum: Least number.
        maximum: Greatest number.
        above: Whether `minimum` itself is excluded.
        choices: Allowed values where the type does not list them; a function is called when they are needed.
        listed: Whether several values are one text, separated by commas.
        positional: Whether the command line takes the value without a flag.
        read: Converts the text of the command line; raises `ValueError` or `UsageError`.
        section: Title above it in the help; empty for that of its class.
        common: Whether `--help` shows it; `--help-all` shows every option.
        hidden: Whether the flag is an old name, which only works.
        command_default: Default of the command line, where the Python function has none.
    """

    help: str = ""
    name: str = ""
    flags: Sequence[str] = ()
    old: Sequence[str] = ()
    metavar: str = ""
    minimum: float | None = None
    maximum: float | None = None
    above: bool = False
    choices: Sequence[str] | Callable[[], Sequence[str]] = ()
    listed: bool = False
    positional: bool = False
    read: Callable[[str], Any] | None = None
    section: str = ""
    common: bool = False
    hidden: bool = False
    command_default: Any = None


@dataclass(frozen=True)
class NoOptions:
    """The options of a benchmark, executor or importer that has none."""


@dataclass(frozen=True)
class ChosenOptions:
    """Marks an options object whose class another argument chooses, e.g. the benchmark of the data folder.

    Attributes:
        classes: Gives every class with the title of its owner.
        choose: Gives the title of the owner, by the other arguments.
        refusal: Message for an option of another owner; {flag} and {owner} are filled in.
    """

    classes: Callable[[], Mapping[str, type[Any]]]
    choose: Callable[[Mapping[str, Any]], str]
    refusal: str


@dataclass(frozen=True)
class Declared:
    """An option with its type and default.

    Attributes:
        field: Name of the field or parameter.
        type: Its type, without None.
        optional: Whether None is allowed.
        default: `REQUIRED` if there is none.
        option: What is declared besides.
        section: Title above it in the help.
    """

    field: str
    type: Any
    optional: bool
    default: Any
    option: Option
    section: str

    @property
    def name(self) -> str:
        """Flag without dashes, and keyword."""
        return self.option.name or self.field

    @property
    def first(self) -> Any:
        """The form of the command line: the first one of several types."""
        is_union = get_origin(self.type) in (Union, UnionType)
        return get_args(self.type)[0] if is_union and not _is_choice(self.type) else self.type

    @property
    def item(self) -> Any:
        """Type of one value; of a sequence that of its items."""
        return _item_of(self.first) or self.first

    @property
    def is_repeated(self) -> bool:
        """Whether the command line takes a sequence of any length."""
        return _item_of(self.first) is not None

    @property
    def choices(self) -> Sequence[str]:
        """The values that are allowed as text; empty for any."""
        given = self.option.choices
        if given:
            return given() if callable(given) else given
        kind = self.item
        parts = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
        return [str(text) for part in parts if get_origin(part) is Literal for text in get_args(part)]

    def problem(self, value: Any) -> str:
        """What is wrong with a value; empty if nothing is."""
        option = self.option
        values = value if self.is_repeated and isinstance(value, list | tuple) else [value]
        for item in values:
            if isinstance(item, int | float) and not isinstance(item, bool):
                low = option.minimum is not None and (
                    item <= option.minimum if option.above else item < option.minimum
                )
                if low or not math.isfinite(item) or (option.maximum is not None and item > option.maximum):
                    return f"{item} is not {self.bounds or 'a number'}"
            elif isinstance(item, str) and self.choices and item not in self.choices:
                return f"'{item}' is not one of {', '.join(self.choices)}"
        return ""

    def refused(self, problem: str) -> UsageError:
        """The error for a value."""
        expected = self.bounds or (f"one of {', '.join(self.choices)}" if self.choices else "another value")
        return UsageError(f"--{self.name} {problem}", fix=f"write {expected}")

    @property
    def bounds(self) -> str:
        """The allowed numbers in words.

        >>> Declared("share", float, False, 0.5, Option(minimum=0, maximum=1), "").bounds
        'a number from 0 to 1'
        """
        low = self.option.minimum
        high = self.option.maximum
        noun = "a whole number" if self.item is int else "a number"
        if low is None and high is None:
            return ""
        start = "" if low is None else f" above {low:g}" if self.option.above else f" from {low:g}"
        return f"{noun}{start}{'' if high is None else f' to {high:g}'}"


def _item_of(kind: Any) -> Any:
    """The type of the items of a sequence of any length; None for another type."""
    origin = get_origin(kind)
    if not (isinstance(origin, type) and issubclass(origin, Collection)) or issubclass(origin, Mapping):
        return None
    items = get_args(kind)
    if origin is tuple and items[-1] is not Ellipsis:
        return None
    item = items[0]
    is_union = get_origin(item) in (Union, UnionType)
    return get_args(item)[0] if is_union else item


def _is_choice(kind: Any) -> bool:
    return any(get_origin(part) is Literal for part in get_args(kind))


def _without_none(kind: Any) -> tuple[Any, bool]:
    """A type without None, and whether it had None."""
    if get_origin(kind) not in (Union, UnionType):
        return kind, False
    parts = tuple(part for part in get_args(kind) if part is not NoneType)
    return Union[parts], len(parts) < len(get_args(kind))  # noqa: UP007 - of a tuple


class _Known(dict[str, Any]):
    """Names of types that are imported for type checkers only."""

    def __missing__(self, name: str) -> Any:
        return Any


def _annotation(owner: Any, written: Any) -> Any:
    """The type that an annotation writes."""
    if not isinstance(written, str):
        return written
    module = sys.modules[owner.__module__].__dict__
    builtins = module["__builtins__"]
    names = builtins if isinstance(builtins, dict) else builtins.__dict__
    return eval(written, {}, ChainMap(module, names, _Known()))


@dataclass(frozen=True)
class DeclaredMember:
    """A field or parameter: an option, an options object, or an object of a class that is chosen.

    Attributes:
        name: Of the field or parameter.
        default: `REQUIRED` if there is none.
        option: None for objects.
        group: Class of the options object; None for another member.
        chosen: None for an object of a known class.
    """

    name: str
    default: Any
    option: Declared | None = None
    group: type[Any] | None = None
    chosen: ChosenOptions | None = None


def members(owner: Any) -> tuple[DeclaredMember, ...]:
    """The options and options objects of a dataclass, a command or a stage, in order.

    Other fields and parameters are left out. A class attribute `section` is the title above its options.
    """
    return _members(owner)


@cache
def _members(owner: Any) -> tuple[DeclaredMember, ...]:
    written: list[tuple[str, Any, Any, Any]] = []
    if isinstance(owner, type):
        for field in fields(owner):
            default = field.default
            if field.default_factory is not MISSING:
                default = field.default_factory()
            written.append((field.name, default, _home(owner, field.name), field.type))
    else:
        for name, parameter in inspect.signature(owner).parameters.items():
            default = REQUIRED if parameter.default is parameter.empty else parameter.default
            written.append((name, default, owner, parameter.annotation))
    section = getattr(owner, "section", "")
    found = (_member(*row, section) for row in written)
    return tuple(member for member in found if member is not None)


def _home(owner: type[Any], name: str) -> type[Any]:
    """The class that declares a field."""
    return next(one for one in owner.__mro__ if name in inspect.get_annotations(one))


def _member(name: str, default: Any, owner: Any, written: Any, section: str) -> DeclaredMember | None:
    kind = _annotation(owner, written)
    marks = kind.__metadata__ if get_origin(kind) is Annotated else ()
    kind, optional = _without_none(kind.__origin__ if marks else kind)
    for mark in marks:
        if isinstance(mark, ChosenOptions):
            return DeclaredMember(name, default, chosen=mark)
        if isinstance(mark, Option):
            declared = Declared(name, kind, optional, default, mark, mark.section or section)
            return DeclaredMember(name, default, option=declared)
    if is_dataclass(kind) and isinstance(kind, type) and any(members(kind)):
        return DeclaredMember(name, default, group=kind)
    return None


def declared_in(owner: Any, default: Any = None) -> Iterator[Declared]:
    """Every option of a dataclass, a command or a stage, those of its options objects included.

    Args:
        owner: The class or function.
        default: An instance of the class that has the defaults.
    """
    for member in members(owner):
        value = member.default if default is None else getattr(default, member.name)
        if member.option is not None:
            yield replace(member.option, default=value)
        elif member.group is not None:
            given = value if isinstance(value, member.group) else None
            yield from declared_in(member.group, given)
        elif member.chosen is not None:
            yield from declared_of(member.chosen)


def declared_of(chosen: ChosenOptions) -> Iterator[Declared]:
    """The options of every class, each name once; one that several have says so."""
    by_name: dict[str, list[tuple[str, Declared]]] = {}
    for title, kind in chosen.classes().items():
        for one in declared_in(kind):
            by_name.setdefault(one.name, []).append((title, one))
    for owners in by_name.values():
        title, one = owners[0]
        texts = dict.fromkeys(other.option.help for _, other in owners)
        text = " ".join(texts) if len(texts) == 1 else " ".join(f"{t}: {o.option.help}" for t, o in owners)
        section = one.section or " and ".join(title for title, _ in owners)
        yield replace(one, option=replace(one.option, help=text), section=section)


def with_given(default: Options, given: dict[str, Any]) -> Options:
    """An options object with the fields that keywords name; these are removed from `given`.

    Raises:
        UsageError: A value is not allowed.
    """
    changed = _taken(type(default), default, given)
    return replace(default, **changed) if changed else default  # type: ignore[type-var]


def _taken(kind: type[Any], default: Any, given: dict[str, Any]) -> dict[str, Any]:
    """The fields of a class that keywords name, the options of its options objects among them."""
    taken = {field.name: given.pop(field.name) for field in fields(kind) if field.name in given}
    for member in members(kind):
        if member.option is not None:
            if member.option.name in given:
                taken[member.name] = given.pop(member.option.name)
        elif member.group is not None:
            if not isinstance(taken.get(member.name), member.group | NoneType):
                given[member.name] = taken.pop(member.name)  # an option has the name of the object
            before = taken.get(member.name, getattr(default, member.name, None))
            after = _group(member.group, before, given)
            if after is not before:
                taken[member.name] = after
        elif member.chosen is not None:
            before = taken.get(member.name, getattr(default, member.name, None))
            arguments = {
                other.name: taken.get(other.name, getattr(default, other.name, other.default))
                for other in members(kind)
            }
            after = chosen_options(member.chosen, before, arguments, given)
            if after is not before:
                taken[member.name] = after
    return taken


def _group(kind: type[Any], before: Any, given: dict[str, Any]) -> Any:
    """An options object with what is given of it; `before` itself if nothing is."""
    changed = _taken(kind, before, given)
    if before is None and changed:
        for member in members(kind):
            if member.default is REQUIRED and member.name not in changed:
                first = next(iter(changed))
                needed = member.option.name if member.option else member.name
                raise UsageError(f"--{first} needs --{needed}", fix=f"add --{needed}, or omit --{first}")
        return kind(**changed)
    if before is None:
        return None
    return replace(before, **changed) if changed else before


def _check(declared: Declared, value: Any) -> None:
    if problem := declared.problem(value):
        raise declared.refused(problem)


def checked(options: Any) -> Any:
    """An options object, every option of which was checked; None for None."""
    for declared in () if options is None else declared_in(type(options), options):
        _check(declared, declared.default)
    return options


def arguments_of(function: Callable[..., Any], given: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a command or a stage, with its options objects made of flat keywords.

    Args:
        function: The command or stage.
        given: Keywords, options objects among them.

    Raises:
        TypeError: A keyword is unknown.
        UsageError: A value is not allowed, or an option belongs to another benchmark or executor.
    """
    left = dict(given)
    arguments: dict[str, Any] = {}
    for name in inspect.signature(function).parameters:
        if name in left:
            arguments[name] = left.pop(name)
    chosen = []
    for member in members(function):
        if member.option is not None and member.option.name in left:
            arguments[member.name] = left.pop(member.option.name)
        default = None if member.default is REQUIRED else member.default
        value = arguments.get(member.name, default)
        if member.option is not None and member.name in arguments:
            _check(member.option, value)
        elif member.group is not None:
            if value is not None and not isinstance(value, member.group):
                raise TypeError(
                    f"{member.name} is {type(value).__name__}, it must be {member.group.__name__}"
                )
            arguments[member.name] = checked(_group(member.group, value, left))
        elif member.chosen is not None:
            chosen.append(member)
    for member in chosen:
        assert member.chosen is not None
        defaults = {
            name: parameter.default
            for name, parameter in inspect.signature(function).parameters.items()
            if parameter.default is not parameter.empty
        }
        value = arguments.get(member.name)
        made = chosen_options(member.chosen, value, defaults | arguments, left)
        arguments[member.name] = checked(made)
    for name in left:
        raise TypeError(f"{function.__name__}() got an unexpected keyword argument '{name}'")
    return arguments


def chosen_options(
    chosen: ChosenOptions, value: Any, arguments: Mapping[str, Any], given: dict[str, Any]
) -> Any:
    """The options object of the class that the other arguments choose; its options leave `given`.

    `value` itself if nothing is given.

    Raises:
        UsageError: An option of another class is given, and not with its default.
    """
    if not given:
        return value
    classes = chosen.classes()
    owner = chosen.choose(arguments)
    if owner not in classes:
        return value  # the stage says which there are
    known = {one.name for one in declared_in(classes[owner])} | {
        field.name for field in fields(classes[owner])
    }
    own = {name: given.pop(name) for name in list(given) if name in known}
    options = with_given(classes[owner]() if value is None else value, own) if own else value
    for kind in classes.values():
        for one in declared_in(kind):
            if one.name not in given:
                continue
            other = given.pop(one.name)
            is_default = list(other) == list(one.default or ()) if one.is_repeated else other == one.default
            if other and not is_default:
                raise UsageError(chosen.refusal.format(flag=f"--{one.name}", owner=owner), fix="omit it")
    return options
