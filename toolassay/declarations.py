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
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from toolassay.errors import UsageError

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
    def kinds(self) -> tuple[Any, ...]:
        """Types of a value on the command line; of a sequence those of its items.

        Of several types it is the first one, unless a text tells them apart.
        """
        kinds = _alternatives(self.type)
        if self.is_repeated:
            kinds = _alternatives(get_args(kinds[0])[0])
        is_told_apart = bool in kinds or any(get_origin(kind) is Literal for kind in kinds)
        return kinds if is_told_apart else kinds[:1]

    @property
    def is_repeated(self) -> bool:
        """Whether the command line takes a sequence of any length."""
        kind = _alternatives(self.type)[0]
        origin = get_origin(kind)
        if origin is tuple:
            return get_args(kind)[-1] is Ellipsis
        is_collection = isinstance(origin, type) and issubclass(origin, Collection)
        return is_collection and not issubclass(origin, Mapping)

    @property
    def choices(self) -> Sequence[str]:
        """The texts that are allowed; empty for any."""
        given = self.option.choices
        listed = given() if callable(given) else given
        return listed or [
            str(t) for kind in self.kinds if get_origin(kind) is Literal for t in get_args(kind)
        ]

    @property
    def expected(self) -> str:
        """What a value is to be, in words; empty for any text.

        >>> Declared("share", float, False, 0.5, Option(minimum=0, maximum=1), "").expected
        'a number from 0 to 1'
        """
        low, high = self.option.minimum, self.option.maximum
        parts = list(self.choices)
        if int in self.kinds or float in self.kinds:
            noun = "a whole number" if int in self.kinds else "a number"
            start = "" if low is None else f" {'above' if self.option.above else 'from'} {low:g}"
            parts.insert(0, f"{noun}{start}{'' if high is None else f' to {high:g}'}")
        if bool in self.kinds:
            parts += ["true", "false"]
        return parts[0] if len(parts) == 1 else f"one of {', '.join(parts)}" * bool(parts)

    def check(self, value: Any) -> None:
        """Check a value of the right type.

        Raises:
            UsageError: It is out of range, or no choice.
        """
        low, high = self.option.minimum, self.option.maximum
        for item in value if isinstance(value, list | tuple) else [value]:
            # An empty text stands for no choice.
            is_wrong = isinstance(item, str) and item != "" and bool(self.choices)
            is_wrong = is_wrong and item not in self.choices
            if isinstance(item, int | float) and not isinstance(item, bool):
                is_low = low is not None and (item < low or (self.option.above and item == low))
                is_wrong = is_low or (high is not None and item > high) or not math.isfinite(item)
            if is_wrong:
                raise self.refused(f"{item!r} is not {self.expected}")

    def refused(self, problem: str) -> UsageError:
        """The error for a value."""
        return UsageError(f"--{self.name} {problem}", fix=f"write {self.expected or 'another value'}")


def _alternatives(kind: Any) -> tuple[Any, ...]:
    """The types of a union; a type itself."""
    return get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)


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


@cache
def _written(owner: Any) -> tuple[tuple[str, Any, Any, Any], ...]:
    """Name, default, owner and annotation of every field or parameter."""
    if not isinstance(owner, type):
        return tuple(
            (
                parameter.name,
                REQUIRED if parameter.default is parameter.empty else parameter.default,
                owner,
                parameter.annotation,
            )
            for parameter in inspect.signature(owner).parameters.values()
        )
    return tuple(
        (
            field.name,
            field.default if field.default_factory is MISSING else field.default_factory(),
            _home(owner, field.name),
            field.type,
        )
        for field in fields(owner)
    )


@cache
def _members(owner: Any) -> tuple[DeclaredMember, ...]:
    section = getattr(owner, "section", "")
    found = (_member(*row, section) for row in _written(owner))
    return tuple(member for member in found if member is not None)


def members(owner: Any) -> tuple[DeclaredMember, ...]:
    """The options and options objects of a dataclass, a command or a stage, in order.

    Other fields and parameters are left out. A class attribute `section` is the title above its options.
    """
    return _members(owner)


def _home(owner: type[Any], name: str) -> type[Any]:
    """The class that declares a field."""
    return next(one for one in owner.__mro__ if name in inspect.get_annotations(one))


def _member(name: str, default: Any, owner: Any, written: Any, section: str) -> DeclaredMember | None:
    kind = _annotation(owner, written)
    marks = kind.__metadata__ if get_origin(kind) is Annotated else ()
    kinds = _alternatives(kind.__origin__ if marks else kind)
    optional = NoneType in kinds
    kind = Union[tuple(one for one in kinds if one is not NoneType)]  # noqa: UP007 - of a tuple
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
            for declared in declared_in(member.group, given):
                # What an optional object needs is needed only if something of it is given.
                yield replace(declared, default=None) if declared.default is REQUIRED else declared
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


def taken(owner: Any, given: dict[str, Any], default: Any = None) -> dict[str, Any]:
    """The fields of a class, or the parameters of a function, that keywords name.

    Args:
        owner: The class or function.
        given: Keywords, options objects among them; what is taken is removed.
        default: Instance of the class whose options objects are changed.

    Raises:
        TypeError: An options object is of another class.
        UsageError: An option belongs to another benchmark or executor, or needs another one.
    """
    values = {name: getattr(default, name, value) for name, value, *_ in _written(owner)}
    changed = {name: given.pop(name) for name in values if name in given}
    for member in sorted(members(owner), key=lambda member: member.chosen is not None):
        name = member.name
        if member.option is not None:
            if member.option.name in given:
                changed[name] = given.pop(member.option.name)
            continue
        if member.group is not None and isinstance(changed.get(name), str):
            given[name] = changed.pop(name)  # an option has the name of the object
        before = changed.get(name, values[name])
        before = None if before is REQUIRED else before
        if member.chosen is not None:
            after = _chosen_options(member.chosen, before, values | changed, given)
        else:
            assert member.group is not None
            if not isinstance(before, member.group | NoneType):
                kind = member.group.__name__
                raise TypeError(f"{name} is of the class {type(before).__name__}, it must be of {kind}")
            after = _updated(member.group, before, given)
        if after is not before:
            changed[name] = after
    return changed


def _updated(kind: Any, before: Any, given: dict[str, Any]) -> Any:
    """An options object with what is given of it; `before` itself if nothing is."""
    changed = taken(kind, given, before)
    if not changed:
        return before
    if before is not None:
        return replace(before, **changed)
    for member in members(kind):
        if member.default is REQUIRED and member.name not in changed:
            first, needed = next(iter(changed)), member.option.name if member.option else member.name
            raise UsageError(f"--{first} needs --{needed}", fix=f"add --{needed}, or omit --{first}")
    return kind(**changed)


def _chosen_options(
    chosen: ChosenOptions, value: Any, arguments: Mapping[str, Any], given: dict[str, Any]
) -> Any:
    """The options object of the class that the other arguments choose, with what is given of it."""
    classes = chosen.classes() if given else {}
    owner = chosen.choose(arguments) if given else ""
    if owner not in classes:
        return value  # the stage says which there are
    options = _updated(classes[owner] if value is None else type(value), value, given)
    for declared in (one for kind in classes.values() for one in declared_in(kind) if one.name in given):
        other = given.pop(declared.name, None)
        default = list(declared.default or ()) if isinstance(other, list | tuple) else declared.default
        if other and (list(other) if isinstance(other, tuple) else other) != default:
            raise UsageError(chosen.refusal.format(flag=f"--{declared.name}", owner=owner), fix="omit it")
    return options


def checked(options: Any) -> Any:
    """An options object, every option of which was checked; None for None.

    Raises:
        UsageError: A value is not allowed.
    """
    for declared in () if options is None else declared_in(type(options), options):
        declared.check(declared.default)
    return options


def arguments_of(function: Callable[..., Any], given: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a command or a stage, with its options objects made of flat keywords.

    Raises:
        TypeError: A keyword is unknown, or an options object is of another class.
        UsageError: A value is not allowed, or an option belongs to another benchmark or executor.
    """
    left = dict(given)
    arguments = taken(function, left)
    for name in left:
        raise TypeError(f"{function.__name__}() got an unexpected keyword argument '{name}'")
    for member in members(function):
        if member.name in arguments:
            value = arguments[member.name]
            if member.option is None:
                checked(value)
            else:
                member.option.check(value)
    return arguments
