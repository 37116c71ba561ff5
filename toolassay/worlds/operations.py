"""Carries out the operations of a world on a copy of its records."""

from __future__ import annotations

import copy
import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, assert_never
from uuid import NAMESPACE_URL, UUID, uuid5

import msgspec
from msgspec import UNSET

from toolassay.argument_values.drawn_values import written_form
from toolassay.files.data_files import unescaped_json
from toolassay.worlds.templates import MISSING, filled, value_of
from toolassay.worlds.world import (
    AnyOperation,
    Convert,
    CreateRecord,
    Declare,
    DeleteRecord,
    FieldCondition,
    GetRecord,
    ListRecords,
    MeasureDistance,
    Record,
    RelateRecords,
    ShiftTime,
    TellTime,
    Thing,
    UpdateRecord,
    UseSetting,
    World,
    parts_of,
)

_EARTH_RADIUS = 6371.0088  # kilometres, mean (IUGG)
_MOST_RECORDS = 10_000  # of a thing
_FINDING = (GetRecord, UpdateRecord, DeleteRecord, RelateRecords)
# The number at the end of a key: "BK-2041", "42"; not "a1b".
_NUMBERED = re.compile(r"(?P<before>.*?)(?P<number>[0-9]{1,15})")


class RefusedError(Exception):
    """A world refuses a call; the text says why."""


def _copied(content: tuple[Any, Any]) -> Any:
    """A copy of JSON values, made much faster than `copy.deepcopy` does."""
    return msgspec.json.decode(msgspec.json.encode(content))


class WorldState:
    """The records and settings of a world during one plan.

    >>> world = World("2026-03-02", {"film": Thing("id")}, {"film": [{"id": 1, "title": "Up"}]}, {})
    >>> state = WorldState(world)
    >>> state.carry_out(CreateRecord(thing="film", fields={"title": "${arguments.title}"}), {"title": "Her"})
    {'id': 2, 'title': 'Her'}
    >>> state.carry_out(GetRecord(thing="film", where=(FieldCondition("id", "film_id"),)), {"film_id": "3"})
    Traceback (most recent call last):
    toolassay.worlds.operations.RefusedError: there is no film with id '3'
    """

    def __init__(self, world: World) -> None:
        self.world = world
        self.records: dict[str, list[Record]]
        self.records, self.settings = _copied((world.records, world.settings))

    def places(self) -> dict[str, Any]:
        """The records and settings as places of a state, in the form of rows of a database."""
        places: dict[str, Any] = {f"settings/{name}": value for name, value in self.settings.items()}
        for name, records in self.records.items():
            key = self.world.things[name].key
            for record in records:
                places[f"{name}/{unescaped_json({key: record[key], **record})}"] = 1
        return places

    def carry_out(self, operation: AnyOperation, given: Mapping[str, Any]) -> Any:
        """The result of a call.

        Args:
            operation: What its tool does.
            given: Its arguments, by name; null is the same as none.

        Raises:
            RefusedError: The world refuses it; nothing is changed.
        """
        arguments = {name: value for name, value in given.items() if value is not None}
        text = json.dumps(arguments, sort_keys=True, default=str)
        names: dict[str, Any] = {
            "arguments": arguments,
            "settings": self.settings,
            "now": self.world.now,
            "date": self.world.now[:10],
            "seconds": _moment(self.world.now).timestamp(),
            "digest": hashlib.sha256(text.encode(errors="replace")).hexdigest()[:8],
        }
        keys = {path: name for part in parts_of(operation) for path, name in part.exists.items()}
        is_several = bool(operation.also) or bool(getattr(operation, "each", ""))
        before = _copied((self.records, self.settings)) if is_several else None
        try:
            call = _Call(self, operation, names, keys)
            result = call.result()
            for other in operation.also:
                _Call(self, other, {**names, "first": call.names.get("record", MISSING)}, keys).result()
        except RefusedError:
            if before is not None:
                self.records, self.settings = before
            raise
        return result

    def by_key(self, name: str, key: Any) -> Record | None:
        """The record of a thing with a key."""
        field = self.world.things[name].key
        return next((record for record in self.records.get(name, ()) if _equal(record[field], key)), None)

    def follow(self, record: Mapping[str, Any], field: str) -> Any:
        """The record to which a field of a record refers; MISSING if it refers to none."""
        things = self.world.things
        having = [name for name, thing in things.items() if field in thing.references]
        own = [name for name in having if any(record is one for one in self.records.get(name, ()))]
        for name in own or having:
            return self.by_key(things[name].references[field], record[field]) or MISSING
        return MISSING

    def value(self, record: Mapping[str, Any], path: str) -> Any:
        """What a path names in a record, across references; MISSING if there is nothing."""
        return value_of(record, path, self.follow)


class _Call:
    """One operation of a call.

    Attributes:
        names: What its templates can name; the record that was found or made is added.
    """

    def __init__(
        self,
        state: WorldState,
        operation: AnyOperation,
        names: Mapping[str, Any],
        keys: Mapping[str, str],
    ) -> None:
        self._state = state
        self._keys = keys  # the things of arguments that are keys
        self._operation = operation
        self._arguments: Mapping[str, Any] = names["arguments"]
        self.names = dict(names)

    def result(self) -> Any:
        """Do it; RefusedError if the world refuses it."""
        operation = self._operation
        for condition in operation.needs:
            self._require(condition)
        for path, name in operation.exists.items():
            value = self._argument(path)
            for key in value if isinstance(value, list) else [value]:
                if key is not MISSING and self._state.by_key(name, key) is None:
                    raise RefusedError(f"there is no {name} {key!r}")
        if not isinstance(operation, (ListRecords, *_FINDING)):
            self._refuse_others({})
        found, otherwise = self._done()
        self.names |= found
        about = found.get("record", {})
        for name, listed in operation.lists.items():
            rows = [*self._matching(listed.thing, listed.where, about=about)]
            self.names[name] = self._sorted(rows, listed.sort)
        result = self._filled(otherwise if operation.result is UNSET else operation.result)
        return None if result is MISSING else copy.deepcopy(result)

    def _require(self, condition: FieldCondition) -> None:
        """Refuse the call unless a setting, or an argument, fulfils a condition, or one of several."""
        if condition.any:
            refusals = []
            for alternative in condition.any:
                try:
                    self._require(alternative)
                except RefusedError as refused:
                    refusals.append(str(refused))
            if len(refusals) == len(condition.any):
                raise RefusedError(", or ".join(refusals))
            return
        value = self._state.settings.get(condition.field)
        what = condition.field
        wanted = self._compared(condition)
        if not condition.field:
            what, value, wanted = condition.argument, wanted, self._filled(condition.value)
            if value is MISSING:
                return
        if wanted is not MISSING and not _fits(condition, value, wanted):
            test = condition.test.replace("_", " ")
            raise RefusedError(f"{what} is {value!r}; needed: {test} {wanted!r}")

    def _argument(self, path: str) -> Any:
        return value_of(self._arguments, path)

    def _filled(self, template: Any, **more: Any) -> Any:
        return filled(template, {**self.names, **more}, self._follow)

    def _follow(self, record: Mapping[str, Any], field: str) -> Any:
        """As the state does; an argument that must name a record leads to it."""
        if record is self._arguments:
            name = self._keys.get(field)
            return (self._state.by_key(name, record[field]) or MISSING) if name else MISSING
        return self._state.follow(record, field)

    def _done(self) -> tuple[dict[str, Any], str]:
        """Do what the operation does: names for its result, and the result without a template."""
        match self._operation:
            case ListRecords() as operation:
                return self._list(operation), "${records}"
            case GetRecord() as operation:
                return {"record": self._found(operation)[0]}, "${record}"
            case CreateRecord() as operation:
                if not operation.each:
                    return {"record": self._create(operation)}, "${record}"
                items = self._argument(operation.each)
                if not isinstance(items, list):
                    raise RefusedError(f"{operation.each} is no list")
                made = [self._create(operation, item=item) for item in items]
                return {"records": made, "count": len(made)}, "${records}"
            case UpdateRecord() as operation:
                found = self._found(operation)
                changed = [self._changed(operation, record) for record in found]
                for record, values in zip(found, changed, strict=True):
                    record.update(values)
                return _changes_of(found)
            case DeleteRecord() as operation:
                found = self._found(operation)
                records = self._state.records
                records[operation.thing] = [one for one in records[operation.thing] if one not in found]
                return _changes_of(found)
            case RelateRecords() as operation:
                return {"record": self._relate(operation)}, "${record}"
            case UseSetting() as operation:
                settings = self._state.settings
                if operation.value is not UNSET:
                    value = self._filled(operation.value)
                    if value is MISSING:
                        raise RefusedError(f"there is no value for {operation.name}")
                    settings[operation.name] = copy.deepcopy(value)
                return {"value": settings.get(operation.name)}, "${value}"
            case TellTime():
                return {}, "${now}"
            case Convert() as operation:
                return {"value": _converted(operation, self._arguments)}, "${value}"
            case ShiftTime() as operation:
                return {"value": _shifted(operation, self._arguments)}, "${value}"
            case MeasureDistance() as operation:
                places = [_number(self._arguments, place) for place in operation.places]
                return {"value": _distance(places)}, "${value}"
            case Declare():
                return {}, "done"
        assert_never(self._operation)

    def _list(self, operation: ListRecords) -> dict[str, Any]:
        found = [
            record
            for record in self._matching(operation.thing, operation.where)
            if not any(self._others(record))
        ]
        found = self._sorted(found, operation.sort)
        most = self._number_of(operation.limit, operation.most)
        start = self._number_of(operation.skip, 0)
        start += max(0, self._number_of(operation.page, 1) - 1) * most
        shown = found[start : start + most]
        more = start + len(shown) < len(found)
        return {"records": shown, "count": len(shown), "total": len(found), "more": more}

    def _sorted(self, records: list[Record], by: str) -> list[Record]:
        """Records by a field, those without it last; as they are without a field."""
        if not (name := by.lstrip("-")):
            return records
        values = [(self._state.value(record, name), record) for record in records]
        known = [(value, record) for value, record in values if value is not MISSING]
        known.sort(key=lambda pair: _ordered(pair[0]), reverse=by[0] == "-")
        return [record for _, record in known] + [record for value, record in values if value is MISSING]

    def _number_of(self, path: str, otherwise: int) -> int:
        """A number of records that an argument says."""
        given = self._argument(path) if path else MISSING
        return otherwise if given is MISSING else _whole(given, path)

    def _found(self, operation: GetRecord | UpdateRecord | DeleteRecord | RelateRecords) -> list[Record]:
        """The records that the operation is about: one, or with `every` all that fit."""
        named = [condition.argument for condition in operation.where if condition.argument]
        if named and all(self._argument(path) is MISSING for path in named):
            raise RefusedError(f"it needs {' or '.join(named)}")
        found = [*self._matching(operation.thing, operation.where)]
        is_every = isinstance(operation, UpdateRecord | DeleteRecord) and operation.every
        if not (found or is_every):
            said = [
                f"{condition.field or 'text'} {value!r}"
                for condition in operation.where
                if (value := self._compared(condition)) is not MISSING
            ]
            raise RefusedError(f"there is no {operation.thing} with {' and '.join(said) or 'this'}")
        found = found if is_every else found[:1]
        for record in found:
            self._refuse_others(record)
            for condition in () if isinstance(operation, GetRecord) else operation.only_if:
                if not self._holds(condition, record):
                    value = self._state.value(record, condition.field)
                    has = "no value" if value is MISSING else repr(value)
                    raise RefusedError(f"the {operation.thing} has {has} as {condition.field}")
        return found

    def _create(self, operation: CreateRecord, **item: Any) -> Record:
        thing = self._state.world.things[operation.thing]
        records = self._state.records.setdefault(operation.thing, [])
        values = {name: self._filled(template, **item) for name, template in operation.fields.items()}
        record = {name: value for name, value in values.items() if value is not MISSING}
        record = copy.deepcopy({**self._filled(thing.defaults), **record})
        if len(records) >= _MOST_RECORDS:
            raise RefusedError(f"there is no room for another {operation.thing}")
        if record.get(thing.key) is None:
            record = {thing.key: new_key(operation.thing, [one[thing.key] for one in records]), **record}
        self._check_references(thing, record)
        same = self._state.by_key(operation.thing, record[thing.key])
        if same is not None and operation.replace:
            same.update(record)
            return same
        for field in (thing.key, *operation.unique):
            if any(_equal(one.get(field), record.get(field)) for one in records):
                raise RefusedError(f"there is a {operation.thing} with {field} {record.get(field)!r} already")
        records.append(record)
        return record

    def _changed(self, operation: UpdateRecord, record: Record) -> Record:
        """The new values of a record's fields."""
        values = {name: self._filled(part, record=record) for name, part in operation.fields.items()}
        changed = {name: copy.deepcopy(value) for name, value in values.items() if value is not MISSING}
        self._check_references(self._state.world.things[operation.thing], changed)
        return changed

    def _relate(self, operation: RelateRecords) -> Record:
        record = self._found(operation)[0]
        value = self._filled(operation.value, record=record)
        if value is MISSING:
            raise RefusedError(f"there is no value for {operation.field}")
        values = value if isinstance(value, list) else [value]
        self._check_references(self._state.world.things[operation.thing], {operation.field: values})
        known = [*(record.get(operation.field) or [])]
        for one in values:
            is_there = any(_equal(one, other) for other in known)
            if is_there != operation.remove:
                raise RefusedError(f"{one!r} is {'not ' * operation.remove}in {operation.field} already")
            if operation.remove:
                known = [other for other in known if not _equal(one, other)]
            else:
                known.append(copy.deepcopy(one))
        record[operation.field] = known
        return record

    def _check_references(self, thing: Thing, record: Mapping[str, Any]) -> None:
        for field, name in thing.references.items():
            values = record.get(field)
            for key in values if isinstance(values, list) else [values]:
                if key is not None and self._state.by_key(name, key) is None:
                    raise RefusedError(f"there is no {name} {key!r}")

    def _others(self, record: Mapping[str, Any]) -> Iterator[tuple[str, Record]]:
        """Records that must not exist beside a record; those that refer to one need it."""
        for others in self._operation.unless:
            if others.field and not record:
                continue
            for other in self._matching(others.thing, others.where, about=record):
                thing = self._state.world.things[getattr(self._operation, "thing", others.thing)]
                if not others.field or _equal(self._state.value(other, others.field), record.get(thing.key)):
                    yield others.thing, other

    def _refuse_others(self, record: Mapping[str, Any]) -> None:
        for name, other in self._others(record):
            key = other[self._state.world.things[name].key]
            raise RefusedError(f"{name} {key!r} stands in the way")

    def _matching(
        self, thing: str, where: Sequence[FieldCondition], about: Mapping[str, Any] | None = None
    ) -> Iterator[Record]:
        for record in self._state.records.get(thing, ()):
            if all(self._holds(condition, record, about) for condition in where):
                yield record

    def _holds(
        self, condition: FieldCondition, record: Record, about: Mapping[str, Any] | None = None
    ) -> bool:
        """Whether a record fulfils a condition.

        Args:
            condition: The condition.
            record: The record.
            about: The record that a template of the condition names; the same by default.
        """
        if condition.any:
            return any(self._holds(one, record, about) for one in condition.any)
        wanted = self._compared(condition, record if about is None else about)
        if wanted is MISSING:
            return True
        if not condition.field:
            return all(word in _text(record) for word in _text(wanted).split())
        value = self._state.value(record, condition.field)
        return _fits(condition, None if value is MISSING else value, wanted)

    def _compared(self, condition: FieldCondition, record: Mapping[str, Any] | None = None) -> Any:
        """What a condition compares a field with; MISSING without its argument."""
        if condition.argument:
            return self._argument(condition.argument)
        return self._filled(condition.value, **({} if record is None else {"record": record}))


def _changes_of(found: list[Record]) -> tuple[dict[str, Any], str]:
    """What a result can name of changed records, and the result without a template."""
    first = {"record": found[0]} if found else {}
    return {**first, "records": found, "count": len(found)}, "${record}" if found else "${count}"


def _fits(condition: FieldCondition, value: Any, wanted: Any) -> bool:
    """Whether the value of a field fulfils a condition."""
    match condition.test:
        case "is":
            return _equal(value, wanted)
        case "not":
            return not _equal(value, wanted)
        case "in":
            return any(_equal(value, one) for one in (wanted if isinstance(wanted, list) else [wanted]))
        case "has":
            values = value if isinstance(value, list) else []
            wanted_values = wanted if isinstance(wanted, list) else [wanted]
            return all(any(_equal(one, other) for other in values) for one in wanted_values)
        case "contains":
            return value is not None and all(word in _text(value) for word in _text(wanted).split())
        case "starts":
            return isinstance(value, str) and value.startswith(str(wanted))
        case "ends":
            return isinstance(value, str) and value.endswith(str(wanted))
        case "form":
            try:
                return bool(datetime.strptime(str(value), written_form(str(wanted))))
            except ValueError:
                return False
    if value is None:
        return False
    left, right = _ordered(value), _ordered(wanted)
    if left[0] != right[0]:
        return False
    compared = (left > right) - (left < right)
    return {
        "at_least": compared >= 0,
        "at_most": compared <= 0,
        "above": compared > 0,
        "below": compared < 0,
    }[condition.test]


def _equal(value: Any, other: Any) -> bool:
    """Whether two values are the same; a number is the same as its digits."""
    if isinstance(value, bool) or isinstance(other, bool):
        return value is other
    if isinstance(value, int | float | str) and isinstance(other, int | float | str):
        return value == other or (type(value) is not type(other) and str(value) == str(other))
    return bool(value == other)


def _text(value: Any) -> str:
    """A value in small letters, as a search reads it; of an object its values."""
    if isinstance(value, Mapping):
        return " ".join(map(_text, value.values()))
    if isinstance(value, list):
        return " ".join(map(_text, value))
    return str(value).casefold()


def _ordered(value: Any) -> tuple[str, Any]:
    """A value by which records are ordered: numbers before times before texts."""
    if isinstance(value, int | float):
        return ("number", value)
    try:
        return ("time", _moment(str(value)).timestamp())
    except ValueError:
        return ("word", str(value).casefold())


def _moment(text: str) -> datetime:
    """A date or a time; UTC if it names no zone."""
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def new_key(thing: str, keys: Sequence[Any]) -> Any:
    """The key of another record, in the form of the last one.

    >>> new_key("user", [4, 9]), new_key("booking", ["BK-2041"]), new_key("page", [])
    (10, 'BK-2042', 'page-1')
    """
    last = keys[-1] if keys else f"{thing}-0"
    if isinstance(last, int):
        return max(key for key in keys if isinstance(key, int)) + 1
    try:
        UUID(str(last))
    except ValueError:
        pass
    else:
        key = str(uuid5(NAMESPACE_URL, f"{thing} {len(keys)} {max(map(str, keys))}"))
        return key if "-" in str(last) else key.replace("-", "")
    match = _NUMBERED.fullmatch(str(last))
    before, digits = (match["before"], match["number"]) if match else (f"{thing}-", "0")
    taken = {str(key) for key in keys}
    number = int(digits) + 1
    while f"{before}{number:0{len(digits)}d}" in taken:
        number += 1
    return f"{before}{number:0{len(digits)}d}"


def _number(arguments: Mapping[str, Any], path: str) -> float:
    """An argument that must be a number."""
    value = value_of(arguments, path)
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise RefusedError(f"{path} is no number") from None
    if not math.isfinite(number):
        raise RefusedError(f"{path} is no number")
    return number


def _whole(value: Any, name: str) -> int:
    """A number of records."""
    try:
        number = int(value)
    except (TypeError, ValueError, OverflowError):
        raise RefusedError(f"{name} is no whole number") from None
    if number < 0:
        raise RefusedError(f"{name} is below 0")
    return number


def _converted(operation: Convert, arguments: Mapping[str, Any]) -> float:
    """An amount in another unit."""
    amount = _number(arguments, operation.amount)
    factors = {unit.casefold(): factor for unit, factor in operation.factors.items()}
    sizes = []
    for path in (operation.source, operation.target):
        unit = value_of(arguments, path)
        if str(unit).casefold() not in factors:
            raise RefusedError(f"{path} {unit!r} is no unit that is known here")
        sizes.append(factors[str(unit).casefold()])
    (size, zero), (target_size, target_zero) = sizes
    return round((amount * size + zero - target_zero) / target_size, 9)


def _shifted(operation: ShiftTime, arguments: Mapping[str, Any]) -> Any:
    """A time some units later, in the form in which it came."""
    given = value_of(arguments, operation.time)
    is_number = isinstance(given, int | float) and not isinstance(given, bool)
    try:
        moment = datetime.fromtimestamp(given, UTC) if is_number else datetime.fromisoformat(str(given))
        for unit, name in operation.units.items():
            path = name.removeprefix("-")
            if value_of(arguments, path) is not MISSING:
                amount = _number(arguments, path) * (-1 if name != path else 1)
                moment += timedelta(**{unit: amount})
    except (ValueError, OverflowError, OSError):
        raise RefusedError(f"{operation.time} {given!r} is no time, or too far away") from None
    return moment.timestamp() if is_number else moment.isoformat()


def _distance(places: Sequence[float]) -> float:
    """The great-circle distance of two places in kilometres (haversine)."""
    if any(abs(degrees) > most for degrees, most in zip(places, (90, 180, 90, 180), strict=True)):
        raise RefusedError("a latitude is beyond 90 degrees, or a longitude beyond 180")
    latitude, longitude, other_latitude, other_longitude = map(math.radians, places)
    half = (
        math.sin((other_latitude - latitude) / 2) ** 2
        + math.cos(latitude) * math.cos(other_latitude) * math.sin((other_longitude - longitude) / 2) ** 2
    )
    return round(2 * _EARTH_RADIUS * math.asin(math.sqrt(half)), 3)
