"""Writes a world without a model: from the names, types and listed values of a library's schemas.

What a tool does with which thing is read from its name, or from the method and path of an operation. Records
have the fields that results and arguments of a thing's tools have. A tool whose operation does not work with
these records is not covered.
"""

from __future__ import annotations

import copy
import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time
from random import Random
from typing import Any

from toolassay.argument_values.drawn_results import (
    Path,
    ResultMaker,
    UnmakeableError,
    value_at,
)
from toolassay.argument_values.drawn_values import UnfillableError, draw_arguments
from toolassay.console.screen import Progress, no_progress
from toolassay.graph.derive.fields import (
    IDENTITIES,
    Words,
    meaning_of,
    name_words,
    route_of,
    same_thing,
    words_of,
)
from toolassay.offline.writer.english import read_list
from toolassay.offline.writer.story import Story
from toolassay.tools.library import Tool, ToolLibrary
from toolassay.worlds.actions import Actions, ToolAction
from toolassay.worlds.checks import used_things, without, world_flaws
from toolassay.worlds.result_places import identity_in, place_of
from toolassay.worlds.templates import EACH
from toolassay.worlds.world import (
    OFFLINE,
    AnyOperation,
    CreateRecord,
    Declare,
    DeleteRecord,
    FieldCondition,
    GetRecord,
    ListRecords,
    Record,
    Test,
    Thing,
    Uncovered,
    UpdateRecord,
    World,
)

_DAY = date(2026, 3, 2)  # in a world without another one: a Monday
_RECORDS = 6  # of a thing
_LIMITS = frozenset({"count", "limit", "max_results", "maxresults", "page_size", "per_page", "top"})
_SKIPS = frozenset({"offset", "skip", "start"})
_CONTROLS = frozenset(
    {"cursor", "fields", "format", "order", "order_by", "page", "page_token", "sort", "sort_by"}
)
_QUERIES = frozenset({"keyword", "keywords", "q", "query", "search", "search_term", "term", "text"})
_SPANS = (("start", "end"), ("from", "to"), ("min", "max"), ("begin", "end"))
_PEOPLE = frozenset({
    "account", "author", "client", "contact", "customer", "employee", "friend", "guest", "member", "owner",
    "patient", "person", "student", "teacher", "user",
})  # fmt: skip
_FILES = {"image": "png", "audio": "mp3", "video": "mp4", "document": "pdf", "pdf": "pdf", "table": "csv"}
# First and last words of arguments that bound a field: `min_price`, `created_after`.
_BOUNDS: Mapping[str, Test] = {
    **dict.fromkeys(("min", "minimum", "after", "since", "from"), "at_least"),
    **dict.fromkeys(("max", "maximum", "before", "until", "to"), "at_most"),
}
# Fields of results that say something of the whole list, or of the call.
_SAID = {
    **dict.fromkeys(("count", "total", "total_count", "total_results"), "${total}"),
    **dict.fromkeys(("has_more", "more", "has_next"), "${more}"),
    **dict.fromkeys(("success", "ok"), True),
    **dict.fromkeys(("page", "total_pages"), 1),
    "error": "",
    "errors": [],
}
_DRAWN_TEXT = re.compile(r"[a-z]+-\d{4}")  # what `drawn_value` makes of a name alone: "id-3201"
_UNFIT = "no operation of records fits it; a model, or a person in world.json, can say what it does"


def time_on(day: date | None) -> str:
    """The date and time in the world of a set that has a date, or has none.

    >>> time_on(date(2027, 1, 3)), time_on(None)
    ('2027-01-03T09:00:00+00:00', '2026-03-02T09:00:00+00:00')
    """
    return datetime.combine(day or _DAY, time(9), UTC).isoformat()


def world_by_rules(
    library: ToolLibrary, seed: int = 0, now: str = "", *, progress: Progress = no_progress
) -> World:
    """The world that rules write.

    Args:
        library: The tools.
        seed: Random seed of the records.
        now: Date and time in the world; empty for that of a set without a date.
        progress: Shows progress.

    >>> named = {"properties": {"name": {"type": "string"}}, "required": ["name"]}
    >>> tools = Tool("create_team", input_schema=named), Tool("list_teams", input_schema={})
    >>> world = world_by_rules(ToolLibrary(tools))
    >>> [type(operation).__name__ for operation in world.tools.values()], len(world.records["team"])
    (['CreateRecord', 'ListRecords'], 6)
    """
    now = now or time_on(None)
    rules = _Rules(library, seed)
    things, records = rules.stock(progress)
    world = World(now, things, records, {}, written_by=OFFLINE)
    uncovered = []
    for tool in library:
        operation = rules.operation(tool, records)
        if operation is None:
            uncovered.append(Uncovered(tool.id, _UNFIT))
        else:
            world.tools[tool.id] = operation
    world = World(now, things, records, world.tools, uncovered=tuple(uncovered))
    return used_things(without(world, world_flaws(world, library, seed, progress=progress)))


class _Rules:
    """The rules for one library."""

    def __init__(self, library: ToolLibrary, seed: int) -> None:
        self._seed = seed
        self._actions = Actions(library)
        self._action = {tool.id: self._actions.of(tool) for tool in library}
        kept = {
            one.resource: one.thing
            for one in self._action.values()
            if one.kind in ("create", "get", "list") and one.thing
        }
        self._action = {tool.id: self._of_kept(tool, self._action[tool.id], kept) for tool in library}
        self._makers = {tool.id: maker for tool in library if (maker := _maker(tool))}
        self._results: dict[tuple[str, int], Any] = {}
        self._tools: dict[str, list[Tool]] = defaultdict(list)  # by thing
        for tool in library:
            action = self._action[tool.id]
            if action.thing and not (action.kind == "read" and self._drawn_object(tool, 0) is None):
                self._tools[action.resource].append(tool)
        self._things: dict[str, Words] = {
            name: self._action[tools[0].id].thing for name, tools in self._tools.items()
        }
        self._keys: dict[str, str] = {}

    def _of_kept(self, tool: Tool, action: ToolAction, kept: Mapping[str, Words]) -> ToolAction:
        """What a tool does; about a thing that others make, get or list, if its own is none of these.

        A free room is a room, and who changes dates by the id of a booking changes the booking.
        """
        if action.kind == "create" and action.key and meaning_of(action.key).attribute in IDENTITIES:
            # Who books a room by its id makes no room.
            name = f"{action.resource}_{action.verb}"
            return replace(action, thing=(*action.thing, action.verb), resource=name, key="")
        if action.kind in ("create", "get") and action.verb:
            return action
        shorter = {name: words for name, words in kept.items() if len(words) < len(action.thing)}
        ends = [name for name, words in shorter.items() if action.thing[-len(words) :] == words]
        name, key = max(ends, key=len, default=""), action.key
        for parameter in () if name or action.resource in kept else _names(tool):
            owner, attribute = meaning_of(parameter)
            found = [other for other, words in kept.items() if words == owner and attribute in IDENTITIES]
            name, key = (found[0], parameter) if found else (name, key)
        if not name:
            return action
        attribute = self._actions.attributes.get(name, "id")
        return replace(action, thing=kept[name], resource=name, key=key, attribute=attribute)

    def stock(self, progress: Progress) -> tuple[dict[str, Thing], dict[str, list[Record]]]:
        """The things and their records; references name records that exist."""
        records: dict[str, list[Record]] = {}
        with progress("write records", len(self._tools)) as advance:
            for name in self._tools:
                records[name] = self._records(name)
                advance()
        keys = {name: [record[self._keys[name]] for record in rows] for name, rows in records.items()}
        references: dict[str, dict[str, str]] = {}
        for name, rows in records.items():
            references[name] = {
                field: other
                for field in rows[0]
                if field != self._keys[name] and (other := self._referred(field, rows, keys))
            }
            for number, row in enumerate(rows):
                for field, other in references[name].items():
                    rng = Random(f"{self._seed} {name} {number} {field}")
                    row[field] = rng.choice(keys[other])
        things = {}
        for name, rows in records.items():
            own = {self._keys[name], *references[name]}
            defaults = {field: value for field, value in rows[0].items() if field not in own}
            things[name] = Thing(self._keys[name], references[name], defaults)
        return things, records

    def operation(self, tool: Tool, records: Mapping[str, list[Record]]) -> AnyOperation | None:
        """What a tool does; None if no operation fits."""
        action = self._action[tool.id]
        rows = records.get(action.resource)
        is_clear = action.kind != "get" or action.reads or bool(action.verb) or route_of(tool) is not None
        if rows is None or not is_clear or tool not in self._tools[action.resource]:
            return _without_schema(tool)
        fields = {name: field for name in _names(tool) if (field := _field_of(name, action.thing, rows[0]))}
        named = dict.fromkeys((action.key, *action.scope))
        where = tuple(FieldCondition(fields[name], name) for name in named if name in fields)
        result = self._template(tool, rows[0])
        about = {"thing": action.resource, "result": result}
        if action.kind == "create":
            values = {field: f"${{arguments.{name}}}" for name, field in fields.items()}
            return CreateRecord(**about, fields=values)
        if action.kind in ("list", "read"):
            return self._list(tool, fields, about)
        if not where:
            return _without_schema(tool)
        if action.kind == "get":
            return GetRecord(**about, where=where)
        if action.kind == "remove":
            return DeleteRecord(**about, where=where)
        found_by = {condition.argument for condition in where}
        changed = {field: f"${{arguments.{name}}}" for name, field in fields.items() if name not in found_by}
        return UpdateRecord(**about, where=where, fields=changed or {action.verb or "changed": True})

    def _list(self, tool: Tool, fields: Mapping[str, str], about: Mapping[str, Any]) -> ListRecords:
        where = []
        limit = skip = page = ""
        for name in _names(tool):
            plain = name.casefold()
            if plain in _LIMITS:
                limit = name
            elif plain in _SKIPS:
                skip = name
            elif plain == "page":
                page = name
            elif plain in _QUERIES:
                where.append(FieldCondition("", name, test="contains"))
            elif name in fields:
                where.append(FieldCondition(fields[name], name, test=_test_of(name)))
        return ListRecords(**about, where=tuple(where), limit=limit, skip=skip, page=page)

    def _records(self, name: str) -> list[Record]:
        """The records of a thing, without references."""
        thing = self._things[name]
        attribute = self._actions.attributes.get(name, "id")
        rows: list[Record] = []
        for number in range(_RECORDS):
            row: Record = {}
            rng = Random(f"{self._seed} {name} {number}")
            for tool in self._tools[name]:
                row = {**(self._drawn_object(tool, number) or {}), **row}
            for tool in self._tools[name]:
                for argument, value in self._drawn_arguments(tool, number).items():
                    if not _field_of(argument, thing, row):
                        row[argument] = value
            rows.append(_in_order({name: _renamed(value, name, thing, rng) for name, value in row.items()}))
        common = [field for field in rows[0] if all(field in row for row in rows)]
        rows = [{field: row[field] for field in common} for row in rows]
        key = next((field for field in common if identity_in({field: "x"}, thing, attribute)), attribute)
        self._keys[name] = key
        taken: set[str] = set()
        for number, row in enumerate(rows):
            row[key] = _own_key(row.get(key), thing, number, taken)
            taken.add(str(row[key]))
        return [{key: row[key], **row} for row in rows]

    def _drawn_object(self, tool: Tool, number: int) -> Record | None:
        """What a drawn result says of the thing that a tool is about; None if it has no object of it."""
        value, path = self._drawn(tool, number)
        found = value_at(value, path)
        if isinstance(found, list):
            found = found[0] if found else None
        return found if isinstance(found, dict) and found else None

    def _drawn(self, tool: Tool, number: int) -> tuple[Any, Path]:
        """A drawn result, and where it has the object, or the list of objects, of its tool."""
        if (tool.id, number) not in self._results:
            maker = self._makers.get(tool.id)
            rng = Random(f"{self._seed} {tool.id} {number}")
            try:
                self._results[tool.id, number] = None if maker is None else maker.make(rng)
            except UnmakeableError:
                self._results[tool.id, number] = None
        value = self._results[tool.id, number]
        if value is None:
            return None, ()
        action = self._action[tool.id]
        place = place_of(value, action.thing)
        is_list = place.listed is not None and (action.kind in ("list", "read"))
        return value, place.listed if is_list and place.listed is not None else place.object

    def _drawn_arguments(self, tool: Tool, number: int) -> Record:
        """Drawn values of the arguments that say something of the thing."""
        action = self._action[tool.id]
        names = [
            name for name in _names(tool) if name.casefold() not in _LIMITS | _SKIPS | _QUERIES | _CONTROLS
        ]
        if action.kind == "list":  # by a day that results do not have, it lists what is free then
            is_known = self._drawn_object(tool, number) is not None
            names = [name for name in names if _test_of(name) == "is" and not is_known]
        drawn: Record = {}
        rng = Random(f"{self._seed} {tool.id} {number}")
        for name in names:
            try:
                arguments = draw_arguments(tool, rng, given={name: None}).arguments
            except UnfillableError:
                continue
            if name in arguments:
                drawn[name] = arguments[name]
        return drawn

    def _referred(self, field: str, rows: Sequence[Record], keys: Mapping[str, Sequence[Any]]) -> str:
        """The thing whose keys a field has; empty if it refers to none."""
        owner, attribute = meaning_of(field)
        if not owner or attribute not in {*IDENTITIES, ""}:
            return ""
        fits = {name: same_thing(owner, thing) for name, thing in self._things.items()}
        best = max(fits, key=lambda name: fits[name], default="")
        is_alike = best and all(type(row[field]) is type(keys[best][0]) for row in rows)
        return best if is_alike and fits[best] > 0 else ""

    def _template(self, tool: Tool, fields: Mapping[str, Any]) -> Any:
        """The template of a tool's result: what is drawn, with the record in its place."""
        value, path = self._drawn(tool, 0)
        if value is None or value == {}:
            if self._action[tool.id].kind not in ("list", "read"):
                return "${record}"
            return "${records}" if value is None else {"result": "${records}"}
        value = copy.deepcopy(value)
        found = value_at(value, path)
        if isinstance(found, list):
            item = found[0] if found else {}
            made: Any = {EACH: _of_record(item, fields)} if isinstance(item, dict) else []
        else:
            made = _of_record(found, fields) if isinstance(found, dict) else found
        if not path:
            return {**made, **_said(made)} if isinstance(made, dict) and EACH not in made else made
        value_at(value, path[:-1])[path[-1]] = made
        return {**value, **_said(value)} if isinstance(value, dict) else value


def _maker(tool: Tool) -> ResultMaker | None:
    try:
        return None if tool.output_schema is None else ResultMaker(tool)
    except ValueError:
        return None


def _names(tool: Tool) -> list[str]:
    return [parameter.name for parameter in tool.parameters]


def _test_of(name: str) -> Test:
    """How an argument of a list compares: `min_price` bounds a field."""
    names = words_of(name)
    return next((_BOUNDS[word] for word in (names[:1] + names[-1:]) if word in _BOUNDS), "is")


def _field_of(name: str, thing: Words, row: Mapping[str, Any]) -> str:
    """The field of a record that an argument names; empty if there is none.

    >>> _field_of("filmTitle", ("film",), {"id": 1, "title": "Up"}), _field_of("min_price", (), {"price": 3})
    ('title', 'price')
    """
    if name in row:
        return name
    names = words_of(name)
    fields = {words_of(field): field for field in reversed([*row])}
    shorter = [names, names[len(thing) :] if names[: len(thing)] == thing else ()]
    shorter += [
        part for part, end in ((names[1:], names[:1]), (names[:-1], names[-1:])) if {*end} & _BOUNDS.keys()
    ]
    if found := next((fields[words] for words in shorter if words in fields), ""):
        return found
    owner, attribute = meaning_of(name)
    if attribute in IDENTITIES and (not owner or same_thing(owner, thing) > 0):
        return next((field for field in row if identity_in({field: "x"}, thing)), "")
    return ""


def _own_key(value: Any, thing: Words, number: int, taken: Collection[str]) -> Any:
    """The key of a record: what was drawn, unless it says nothing, or another has it."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        value = None
    is_plain = value is None or (isinstance(value, str) and _DRAWN_TEXT.fullmatch(value))
    if isinstance(value, int) and (str(value) in taken or value < 1):
        value = 100 + number
        while str(value) in taken:
            value += 1
    elif is_plain or str(value) in taken:
        value = f"{(thing or ('record',))[-1][:2].upper()}-{1001 + number}"
    return value


def _renamed(value: Any, name: str, thing: Words, rng: Random) -> Any:
    """A drawn value of a field, or a better one if it was drawn from the field's name alone."""
    if not (isinstance(value, str) and _DRAWN_TEXT.fullmatch(value)):
        return value
    kinds = read_list("kinds")
    names = words_of(name)
    is_person = names == ("name",) and thing[-1:] and thing[-1] in _PEOPLE
    kind = (
        kinds["full name"]
        if is_person
        else kinds.get(" ".join(names)) or kinds.get(names[-1], kinds["title"])
    )
    return Story(rng).value(kind) if names[-1] not in IDENTITIES else value


def _in_order(row: Record) -> Record:
    """A record whose start is before its end: two texts, or two numbers."""
    for start, end in _SPANS:
        for name in [name for name in row if start in words_of(name)]:
            other = "_".join(end if word == start else word for word in words_of(name))
            last = next((field for field in row if "_".join(words_of(field)) == other), "")
            if last and type(row[name]) is type(row[last]) and row[last] < row[name]:
                row[name], row[last] = row[last], row[name]
    return row


def _of_record(drawn: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """The template of an object: fields of the record where it has them, else what was drawn."""
    return {name: f"${{record.{name}}}" if name in fields else value for name, value in drawn.items()}


def _said(value: Mapping[str, Any]) -> dict[str, Any]:
    """What a result says of the whole list, or of the call."""
    said = {name: _SAID[name.casefold()] for name in value if name.casefold() in _SAID}
    return {
        name: part
        for name, part in said.items()
        if not (isinstance(part, bool) and not isinstance(value[name], bool))
    }


def _without_schema(tool: Tool) -> Declare | None:
    """What a tool of a published library returns, which has no schemas: files and sentences."""
    if tool.input_schema is not None or tool.output_schema is not None:
        return None
    about = " ".join(name_words(tool)) or tool.id
    texts = []
    for kind in tool.outputs or ("text",):
        name = re.sub(r"\W+", "-", kind.casefold()).strip("-") or "file"
        is_text = name == "text"
        texts.append(
            f"Text ${{digest}} of {about}" if is_text else f"{name}-${{digest}}.{_FILES.get(name, 'txt')}"
        )
    return Declare(result=", ".join(texts))
