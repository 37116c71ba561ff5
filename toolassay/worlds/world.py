"""`world.json`: records of the things of a library, and what each tool does with them, as data.

A model, the rules or a person writes it. Nothing in it is code: `operations` carries it out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import UNSET

from toolassay.errors import UsageError, as_called
from toolassay.files.data_files import read_json, record_of, write_json

FILE = "world.json"
"""Its name in a data folder."""
OFFLINE = "offline"
"""`World.written_by` of one that rules wrote."""

Record = dict[str, Any]
Test = Literal[
    "is", "not", "contains", "starts", "ends", "in", "has", "at_least", "at_most", "above", "below", "form"
]


class FieldCondition(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A condition on a record, or on the settings.

    Attributes:
        field: Name of the field, or a path: "owner_id.name" follows a reference. Empty: any text of the
            record, for a search.
        argument: The argument with which the field is compared, or a path in the arguments. Without that
            argument the condition holds.
        value: What it is compared with instead: a template.
        test: How; "in": the field is one of a list; "has": the field is a list with the value in it;
            "form": it is a date or a time as the value shows, "YYYY-MM-DD"; "contains": it has every word of
            the value, in any order.
        any: Conditions of which one must hold, in place of the rest.
    """

    field: str = ""
    argument: str = ""
    value: Any = None
    test: Test = "is"
    any: tuple[FieldCondition, ...] = ()


class SomeRecords(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Records of a thing.

    Attributes:
        thing: The thing.
        where: Conditions on them; values may name the record that the operation is about: "${record.id}".
    """

    thing: str
    where: tuple[FieldCondition, ...] = ()


class OtherRecords(SomeRecords, frozen=True, omit_defaults=True):
    """Records that must not exist.

    Attributes:
        field: Their field that refers to the record that the operation is about; empty: they need not.
    """

    field: str = ""


class RecordList(SomeRecords, frozen=True, omit_defaults=True):
    """Further records for a result: the posts of a topic.

    Attributes:
        sort: As of `ListRecords`.
    """

    sort: str = ""


class ToolOperation(
    msgspec.Struct, frozen=True, tag_field="op", forbid_unknown_fields=True, omit_defaults=True
):
    """What a tool does. `templates` says how a result is written.

    Attributes:
        result: The template of its result; without one, what the operation is about.
        needs: Conditions on the settings; without a field on an argument, compared with the value. Else the
            call is refused.
        exists: Arguments that must name a record, by path, with the thing. Templates may go on across such an
            argument: `${arguments.room_id.price}`.
        lists: Further records for the result, by name.
        unless: Records that must not exist: what "list" would find is left out, other calls are refused.
        also: What it does besides, in this order; templates there may name the record of the first operation
            as `first`. If one is refused, nothing is done. Their results are not used.
    """

    result: Any = UNSET
    needs: tuple[FieldCondition, ...] = ()
    exists: dict[str, str] = {}
    lists: dict[str, RecordList] = {}
    unless: tuple[OtherRecords, ...] = ()
    also: tuple[AnyOperation, ...] = ()

    @property
    def further(self) -> list[SomeRecords]:
        """Records beside those that it is about."""
        return [*self.unless, *self.lists.values()]


class ListRecords(ToolOperation, tag="list", frozen=True, kw_only=True):
    """The records that fulfil conditions, and how many.

    Attributes:
        thing: The thing.
        where: Conditions on a record.
        sort: The field by which they are sorted; with "-" in front descending. Empty: in their order.
        limit: The argument with the largest number of records.
        most: That number without the argument.
        skip: The argument with the number of records that are left out first.
        page: The argument with the number of the page, from 1.
    """

    thing: str
    where: tuple[FieldCondition, ...] = ()
    sort: str = ""
    limit: str = ""
    most: Annotated[int, msgspec.Meta(ge=1)] = 100
    skip: str = ""
    page: str = ""


class GetRecord(ToolOperation, tag="get", frozen=True, kw_only=True):
    """The first record that fulfils conditions; refused if there is none."""

    thing: str
    where: tuple[FieldCondition, ...]


class CreateRecord(ToolOperation, tag="create", frozen=True, kw_only=True):
    """A new record.

    Attributes:
        thing: The thing.
        fields: Templates of its fields; a field without a value is left out. The key is given by the world if
            no argument says it.
        unique: Fields of which no other record may have the same value.
        replace: Whether a record with the same key gets the fields; else the call is refused.
        each: The argument with a list, for each item of which a record is made; templates name it `item`.
    """

    thing: str
    fields: dict[str, Any]
    unique: tuple[str, ...] = ()
    replace: bool = False
    each: str = ""


class UpdateRecord(ToolOperation, tag="update", frozen=True, kw_only=True):
    """Changed fields of the first record that fulfils conditions; refused if there is none.

    Attributes:
        thing: The thing.
        where: Conditions that find it.
        fields: Templates of the new values; a field without a value stays.
        only_if: Conditions on the record found; else the call is refused.
        every: Whether all records found are changed; then there may be none.
    """

    thing: str
    where: tuple[FieldCondition, ...]
    fields: dict[str, Any]
    only_if: tuple[FieldCondition, ...] = ()
    every: bool = False


class DeleteRecord(ToolOperation, tag="delete", frozen=True, kw_only=True):
    """The first record that fulfils conditions goes; refused if there is none. More at `UpdateRecord`."""

    thing: str
    where: tuple[FieldCondition, ...]
    only_if: tuple[FieldCondition, ...] = ()
    every: bool = False


class RelateRecords(ToolOperation, tag="relate", frozen=True, kw_only=True):
    """A value enters a list of a record, or leaves it; refused if it is there already, or not there.

    Attributes:
        thing: The thing.
        where: Conditions that find the record.
        field: The field with the list.
        value: Template of the value, mostly a key; of several if it is a list.
        remove: Whether it leaves.
        only_if: Conditions on the record found.
    """

    thing: str
    where: tuple[FieldCondition, ...]
    field: str
    value: Any
    remove: bool = False
    only_if: tuple[FieldCondition, ...] = ()


class UseSetting(ToolOperation, tag="setting", frozen=True, kw_only=True):
    """A setting is read, or set if there is a value.

    Attributes:
        name: Its name.
        value: Template of the new value.
    """

    name: str
    value: Any = UNSET


class TellTime(ToolOperation, tag="clock", frozen=True, kw_only=True):
    """The date and time that it is in the world."""


class Convert(ToolOperation, tag="convert", frozen=True, kw_only=True):
    """A quantity in another unit.

    Attributes:
        amount: Argument with the number.
        source: Argument with its unit.
        target: Argument with the unit that is wanted.
        factors: By unit, its size in a common one, and where its scale has its zero there.
    """

    amount: str
    source: str
    target: str
    factors: dict[str, tuple[float, float]]


class ShiftTime(ToolOperation, tag="shift", frozen=True, kw_only=True):
    """A time some units later; the result has the form of the argument.

    Attributes:
        time: Argument with the time, in ISO 8601 or as a number of seconds since 1970.
        units: Arguments with a number, by unit; a name with "-" in front counts backwards.
    """

    time: str
    units: dict[Literal["seconds", "minutes", "hours", "days", "weeks"], str]


class MeasureDistance(ToolOperation, tag="distance", frozen=True, kw_only=True):
    """The distance of two places on the earth in kilometres.

    Attributes:
        places: Arguments with latitude, longitude, latitude, longitude, in degrees.
    """

    places: tuple[str, str, str, str]


class Declare(ToolOperation, tag="declared", frozen=True, kw_only=True):
    """A result that is written down, the same for the same arguments. Nothing changes."""


AnyOperation = (
    ListRecords
    | GetRecord
    | CreateRecord
    | UpdateRecord
    | DeleteRecord
    | RelateRecords
    | UseSetting
    | TellTime
    | Convert
    | ShiftTime
    | MeasureDistance
    | Declare
)
OnRecords = ListRecords | GetRecord | CreateRecord | UpdateRecord | DeleteRecord | RelateRecords
CHANGING = (CreateRecord, UpdateRecord, DeleteRecord, RelateRecords)


def changes(operation: AnyOperation) -> bool:
    """Whether an operation changes the world."""
    is_set = isinstance(operation, UseSetting) and operation.value is not UNSET
    return is_set or isinstance(operation, CHANGING) or any(map(changes, operation.also))


def parts_of(operation: AnyOperation) -> tuple[AnyOperation, ...]:
    """An operation, and what it does besides."""
    return (operation, *operation.also)


class Thing(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A kind of record.

    Attributes:
        key: The field that names a record: one value for each.
        references: Fields with keys of other records, or lists of them, with the thing.
        defaults: Fields of a new record.
    """

    key: str
    references: dict[str, str] = {}
    defaults: dict[str, Any] = {}


class Uncovered(msgspec.Struct, frozen=True):
    """A tool that no operation fits, and why."""

    tool: str
    reason: str


class World(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A world.

    Attributes:
        now: Date and time in it, in ISO 8601.
        things: The kinds of records.
        records: Those of each thing.
        tools: What each tool does.
        settings: Values by name.
        uncovered: The tools of the library that do nothing in it.
        written_by: The model that wrote it; "offline" for the rules.
        version: Of this form.
    """

    now: str
    things: dict[str, Thing]
    records: dict[str, list[Record]]
    tools: dict[str, AnyOperation]
    settings: dict[str, Any] = {}
    uncovered: tuple[Uncovered, ...] = ()
    written_by: str = OFFLINE
    version: Literal[1] = 1

    @property
    def digest(self) -> str:
        """A hash of what the results of calls depend on."""
        content = msgspec.structs.replace(self, uncovered=(), written_by="")
        return hashlib.sha256(msgspec.json.encode(content, order="deterministic")).hexdigest()[:16]

    def write(self, folder: Path) -> Path:
        """Write it into a data folder; the file."""
        write_json(folder / FILE, msgspec.to_builtins(self))
        return folder / FILE


def read_world(folder: Path) -> World | None:
    """The world of a data folder; None if it has none.

    Raises:
        UsageError: The file is malformed, or names what it does not have.
    """
    path = folder / FILE
    if not path.is_file():
        return None
    fix = f"correct it, or write it again with {as_called('world', force=True)}"
    world = record_of(read_json(path), World, file=path, fix=fix)
    if flaw := next(flaws(world), None):
        raise UsageError(f"{flaw.tool}: {flaw.reason}".removeprefix(": "), file=path, fix=fix)
    return world


class Flaw(NamedTuple):
    """Something wrong with a world.

    Attributes:
        tool: The tool; empty for the records.
        reason: One clause.
    """

    tool: str
    reason: str


def flaws(world: World) -> Iterator[Flaw]:
    """What is wrong with the records of a world, and with the things that its operations name."""
    for tool, operation in world.tools.items():
        for part in parts_of(operation):
            about = [part.thing] if isinstance(part, OnRecords) else []
            others = [other.thing for other in part.further]
            for name in {*about, *others, *part.exists.values()} - world.things.keys():
                yield Flaw(tool, f"'{name}' is none of the things")
    for reason in _wrong_records(world):
        yield Flaw("", reason)


def _wrong_records(world: World) -> Iterator[str]:
    for name in world.records.keys() - world.things.keys():
        yield f"'{name}' has records, and is none of the things"
    keys = {
        name: [record.get(thing.key) for record in world.records.get(name, ())]
        for name, thing in world.things.items()
    }
    for name, thing in world.things.items():
        if len({*map(str, keys[name])}) < len(keys[name]) or None in keys[name]:
            yield f"the records of '{name}' need different values as '{thing.key}'"
        for field, other in thing.references.items():
            if other not in world.things:
                yield f"'{field}' of '{name}' refers to '{other}', which is none of the things"
                continue
            for record in world.records.get(name, ()):
                value = record.get(field)
                for key in value if isinstance(value, list) else [value]:
                    if key is not None and key not in keys[other]:
                        yield f"'{field}' of {name} {record.get(thing.key)!r}: there is no {other} {key!r}"
