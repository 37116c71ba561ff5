"""The fields of results that may fill arguments, what they are of, and the arguments that they may fill."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from toolassay.graph.derive.fields import (
    BY_CONTAINER,
    BY_PATH,
    BY_PATH_BEFORE,
    IDENTIFYING,
    IDENTITIES,
    OF_USERS,
    SHORT,
    Given,
    Meaning,
    Owner,
    Route,
    Taken,
    Words,
    allowed_values,
    is_control,
    is_transparent,
    meaning_of,
    meanings_said,
    name_words,
    owners_of,
    same_thing,
    thing_of,
    things_of_tool,
    tool_verbs,
    verb_of,
    word_list,
    words_of,
    words_of_part,
)
from toolassay.tools.argument_schemas import Schema, declared_at, items_of, kinds_of, properties_at, resolve
from toolassay.tools.library import Tool
from toolassay.tools.output_paths import EACH, Part, parse_path, path_text
from toolassay.tools.type_names import read_type

# Bounds on what is read of one tool.
_DEEPEST_RESULT = 7
_MOST_RESULTS = 3_000
_MOST_BESIDE = 5  # plain fields beside a list in a page of results
_BY_CHOICE = 0.75  # certainty that a result is of a thing that a parameter lists
_PLAIN = frozenset({"string", "integer", "number", "boolean"})


def given_fields(
    tool: Tool, route: Route | None, argument_nouns: frozenset[str], member: Words = ()
) -> list[Given]:
    """The fields of a tool's result that may fill arguments.

    Args:
        tool: The tool.
        route: Its path.
        argument_nouns: The last words of the things and attributes that arguments refer to; other fields are
            left out.
        member: What a parameter names that follows its path: the index in "/databases/{index_name}".
    """
    schema = tool.output_schema
    if schema is None or not is_informative(schema):
        return []
    return list(_Result(tool, schema, route, argument_nouns, member).fields())


def is_informative(schema: Schema) -> bool:
    """Whether an output schema says what is in a result. If it does not, the output is as good as undeclared.

    It does not if a part may hold anything, such as an object without properties or a text, and no field has
    a name that says what it is. The `result` in which servers wrap a text says nothing.

    >>> is_informative({"properties": {"sites": {"items": {"properties": {"id": {"type": "integer"}}}}}})
    True
    >>> is_informative({"properties": {"sites": {"items": {"type": "object"}}, "count": {"type": "integer"}}})
    False
    >>> is_informative({"properties": {"result": {"type": "string"}}}), is_informative({"type": "boolean"})
    (False, True)
    """
    is_open = False
    seen = set[tuple[str, int]]()
    waiting: list[tuple[str, Any, bool]] = [("", schema, False)]
    while waiting:
        name, part, listed = waiting.pop()
        if (name, id(part)) in seen:  # it contains itself
            continue
        seen.add((name, id(part)))
        members = declared_at(part, schema)
        kinds = kinds_of(part, schema)
        items = items_of(resolve(part, schema), schema).get("items")
        if members:
            waiting += [(key, member, False) for key, member in members.items()]
        elif items:
            waiting.append((name, items, True))
        elif not kinds and meaning_of(name).attribute:
            return True
        elif kinds <= {"object", "array", "null"}:
            is_open = is_open or kinds != {"null"}
        elif not (thing_of(name) or meaning_of(name).attribute):
            is_open = is_open or not (listed or kinds <= {"boolean", "null"})
        elif not is_control(name) and kinds - {"boolean", "null"}:
            return True
    return not is_open


class Scalar(NamedTuple):
    """A text or a number in a result: its path, and its JSON types."""

    path: str
    kinds: frozenset[str]


def scalar_of(schema: Schema | None) -> Scalar:
    """The only value of a result that is declared as one text or number; without types for any other result.

    >>> scalar_of({"properties": {"result": {"type": "string"}}})
    Scalar(path='result', kinds=frozenset({'string'}))
    >>> scalar_of({"type": "object"}), scalar_of(None)
    (Scalar(path='', kinds=frozenset()), Scalar(path='', kinds=frozenset()))
    """
    schema = schema or {}
    for name, part in {"": schema, **declared_at(schema, schema)}.items():
        kinds = kinds_of(part, schema) - {"null"}
        if kinds and kinds <= _PLAIN - {"boolean"} and not thing_of(name):
            return Scalar(path_text((name,)) if name else "", kinds)
    return Scalar("", frozenset())


def _is_plain(schema: Any) -> bool:
    """Whether a schema declares one type that has no parts."""
    kind = schema.get("type") if isinstance(schema, Mapping) else None
    return isinstance(kind, str) and kind in _PLAIN


class _Location(NamedTuple):
    """An object in a result; see `Given` for the words."""

    path: tuple[Part, ...]
    schema: Any
    owners: tuple[Owner, ...]
    own: bool
    depth: int
    level: int
    top: bool
    shape: frozenset[str]


class _Result:
    """Walks the schema of one result, breadth first."""

    def __init__(
        self, tool: Tool, schema: Mapping[str, Any], route: Route | None, argument_nouns: frozenset[str],
        member: Words,
    ) -> None:  # fmt: skip
        self.tool = tool
        self.schema = schema
        self.route = route
        self.argument_nouns = argument_nouns
        self.about = things_of_tool(tool, route)
        if route is not None and self.about and self.about[0].thing[-1] in argument_nouns:
            self.about = self.about[:1]
        if member and all(member != owner.thing for owner in self.about):
            self.about += (Owner(member, BY_PATH_BEFORE, "a parameter after its path names one"),)
        self.about = (*self.about, *self._chosen_by_path())
        self.is_single = verb_of(tool, route) in ("make", "change") or bool(route and route.ends_in_parameter)
        self.left = _MOST_RESULTS

    def _chosen_by_path(self) -> Iterator[Owner]:
        """The things of which a parameter of the path lists the names: "/trending/{media_type}"."""
        parameters = declared_at(self.tool.input_schema or {}, self.tool.input_schema or {})
        for name in () if self.route is None else parameters:
            values = parameters[name].get("enum") if isinstance(parameters[name], Mapping) else None
            if self.route and self.route.before(name) is not None and isinstance(values, list):
                for value in values:
                    thing = thing_of(value) if isinstance(value, str) else ()
                    if thing and thing[-1] in self.argument_nouns:
                        yield Owner(thing, _BY_CHOICE, f"`{name}` may be `{value}`")

    def fields(self) -> Iterator[Given]:
        start, path, first = self._unlisted(self.schema, ())
        owners = self._named(first, self._about_root(start, path))
        waiting = [_Location(path, start, owners, True, 0, 0, True, frozenset())]
        kinds = kinds_of(start, self.schema) - {"null"}
        if path and kinds and kinds <= _PLAIN:
            # A list of plain values: what the tool is about.
            yield from self._given(waiting[0], "", start, path, kinds, frozenset(), self._described(start))
        seen: set[tuple[str, bool]] = set()
        while waiting and self.left > 0:
            location = waiting.pop(0)
            members = declared_at(location.schema, self.schema)
            # The fields in `metadata` are those of the object around it, which has a shape of its own.
            shape = location.shape or frozenset(members)
            is_page = location.level == 0 and any(
                "array" in kinds_of(one, self.schema) for one in members.values()
            )
            for name, member in members.items():
                self.left -= 1
                if is_page and name.strip("_").casefold() in word_list("of pages"):
                    continue
                if not self._matters(name) and _is_plain(member) and not self._described(member):
                    continue
                inner, inner_path, type_names = self._unlisted(member, (*location.path, name))
                kinds = kinds_of(inner, self.schema) - {"null"}
                if "object" in kinds or (not kinds and declared_at(inner, self.schema)):
                    reference = member.get("$ref") if isinstance(member, Mapping) else None
                    # A schema with a name is followed once: it may contain itself.
                    key = str(reference), location.own
                    if location.level < _DEEPEST_RESULT and (not reference or key not in seen):
                        if reference:
                            seen.add(key)
                        waiting.append(self._inside(location, name, inner, inner_path, type_names))
                    continue
                described = self._described(member) or self._described(inner)
                yield from self._given(location, name, inner, inner_path, kinds, shape, described)

    def _unlisted(self, schema: Any, path: tuple[Part, ...]) -> tuple[Any, tuple[Part, ...], tuple[str, ...]]:
        """The items of lists of a schema, the path to them, and the names of the schemas on the way."""
        names: list[str] = []
        for _ in range(4):
            if isinstance(schema, Mapping):
                reference = schema.get("$ref")
                if isinstance(reference, str):
                    names.append(reference.rpartition("/")[2])
                resolved = resolve(schema, self.schema)
                if isinstance(title := resolved.get("title"), str):
                    names.append(title)
                for keyword in ("allOf", "anyOf", "oneOf"):
                    parts = resolved.get(keyword)
                    for alternative in parts if isinstance(parts, list) else ():
                        if isinstance(alternative, Mapping) and isinstance(alternative.get("$ref"), str):
                            names.append(alternative["$ref"].rpartition("/")[2])
                if "array" in kinds_of(resolved, self.schema) and isinstance(resolved.get("items"), Mapping):
                    schema = resolved["items"]
                    path = (*path, EACH)
                    continue
                return resolved, path, tuple(names)
            break
        return schema, path, tuple(names)

    def _named(self, names: Iterable[str], others: tuple[Owner, ...]) -> tuple[Owner, ...]:
        """Owners by the names of schemas, then others."""
        owners: dict[Words, Owner] = {}
        for name in names:
            if 0 < len(thing := thing_of(name)) <= 4:
                for owner in owners_of(thing, 1.0, 0.75, f"its schema is `{name}`"):
                    owners.setdefault(owner.thing, owner)
        for owner in others:
            if owner.thing not in owners or owners[owner.thing].certainty < owner.certainty:
                owners[owner.thing] = owner
        return tuple(owners.values())

    def _inside(
        self, location: _Location, name: str, schema: Any, path: tuple[Part, ...], names: tuple[str, ...]
    ) -> _Location:
        is_list = EACH in path[len(location.path) :]
        if not is_list and self._identifies(schema):
            names = tuple(
                type_name for type_name in names if "list" not in words_of(type_name)
            )  # a task list is no task
        level = location.level + 1
        if is_transparent(name):
            shape = location.shape or frozenset(declared_at(location.schema, self.schema))
            return location._replace(path=path, schema=schema, level=level, shape=shape)
        if not thing_of(name):
            owners = self.about if location.level == 0 and location.top else location.owners
            is_within = EACH in location.path or (self.is_single and self._identifies(self.schema))
            if is_list and is_within:
                owners = ()  # "items" of a playlist are no playlists
            if (
                not any(map(thing_of, names))
                and words_of(name)[-1:]
                and words_of(name)[-1] in self.argument_nouns
            ):
                # "entities" may be just a list, or the entities that `entity_name` names.
                owners = (*owners, Owner(words_of(name), BY_CONTAINER, f"it is in `{name}`"))
            owners = self._named(names, owners)
            return _Location(
                path, schema, owners, location.own, location.depth, level, location.top, frozenset()
            )
        thing = thing_of(name)
        own = location.own and any(owner.thing == thing for owner in self.about)
        if location.top:
            # The list in the result of an operation on a list, or in an envelope, whatever its name.
            listed = is_list and not self.is_single and self._is_envelope(location.schema)
            own = own or listed or not self._identifies(location.schema)
        others = [*owners_of(thing, BY_CONTAINER, 0.8, f"it is in `{name}`")]
        if (
            location.depth == 0
            and location.own
            and is_list
            and not names
            and thing[-1] not in self.argument_nouns
            and len(declared_at(schema, self.schema)) > 2
        ):
            # "cast" of "credits": what the list is of may be what the tool is about.
            others += [Owner(owner.thing, owner.certainty * 0.6, owner.why) for owner in self.about]
        depth = location.depth + (0 if own else 1)
        return _Location(
            path, schema, self._named(names, tuple(others)), own, depth, level, False, frozenset()
        )

    def _about_root(self, schema: Any, path: tuple[Part, ...]) -> tuple[Owner, ...]:
        """What the fields of the whole result, or of each of its items, are of.

        The `id` beside the list in the credits of a movie is that of the movie.
        """
        lists = [
            member
            for member in declared_at(schema, self.schema).values()
            if "array" in kinds_of(member, self.schema)
        ]
        if path or self.is_single or not lists or self.route is None or not self._is_envelope(schema):
            return self.about
        parameters = (part.strip("{}") for part in reversed(self.route.parts) if part[:1] == "{")
        outer = meaning_of(next(parameters, "")).thing
        return (Owner(outer, BY_PATH, "it is beside a list, and the path names it"),) if outer else ()

    def _is_envelope(self, schema: Any) -> bool:
        """Whether an object has little beside lists and objects, as pages of results have."""
        members = declared_at(schema, self.schema).values()
        plain = (kinds_of(member, self.schema).isdisjoint({"array", "object"}) for member in members)
        return sum(plain) <= _MOST_BESIDE

    def _described(self, schema: Any) -> Meaning | None:
        # The paths of operations say more than their descriptions, and documents are large.
        meanings = () if self.route else said_of(schema)[:2]
        described = next(
            (meaning for meaning in meanings if meaning.thing and meaning.thing[-1] in self.argument_nouns),
            None,
        )
        # "Unique identifier of the ticket"
        return (
            described._replace(attribute=described.attribute or meanings[0].attribute) if described else None
        )

    def _meaning(self, name: str) -> Meaning:
        """What a field refers to by its name; "userid" is an id if arguments refer to users."""
        joined = _JOINED_ID.fullmatch(name)
        thing = words_of(joined["thing"]) if joined else ()
        return Meaning(thing, "id") if thing and thing[-1] in self.argument_nouns else meaning_of(name)

    def _matters(self, name: str) -> bool:
        """Whether some argument may refer to a field with this name."""
        thing, attribute = self._meaning(name)
        if not thing:
            return bool(attribute)
        return thing[-1] in self.argument_nouns or attribute in self.argument_nouns

    def _identifies(self, schema: Any) -> bool:
        """Whether an object has a field that identifies it."""
        field_words = (words_of(name) for name in declared_at(schema, self.schema))
        return any(len(words) == 1 and words[0] in IDENTIFYING for words in field_words)

    def _given(
        self, location: _Location, name: str, schema: Any, path: tuple[Part, ...], kinds: frozenset[str],
        shape: frozenset[str], described: Meaning | None,
    ) -> Iterator[Given]:  # fmt: skip
        """What a field is by its name, and by its description."""
        thing, attribute = self._meaning(name)
        own = location.own
        listed = path[-1:] == (EACH,)
        is_key = any(owner.thing == thing for owner in location.owners)  # the `version` of a version
        is_setting = is_control(name) and not (attribute or listed or is_key)
        if is_setting or (kinds and not kinds & (_PLAIN - {"boolean"})):
            return
        if listed and not attribute:
            thing = thing_of(name)
        if (
            thing
            and described
            and described.attribute
            and not attribute
            and (listed or described.thing == thing)
        ):
            attribute = described.attribute  # a list of stock symbols
        owners_by_attribute: dict[str, tuple[Owner, ...]] = {}
        if thing:
            owners_by_attribute[attribute] = owners_of(thing, 1.0, 0.85, f"its name is `{name}`")
            # `movie_id` in a movie is its own id, in a review that of another thing.
            # Whatever the schema is called, `bike_id` in the result of `list_bikes` is that of a bike.
            own = own and any(thing == owner.thing for owner in location.owners if owner.certainty >= 0.8)
        elif attribute or listed:
            users = owners_of(("user",), 0.8, 0.8, f"`{name}` is of a user") if attribute in OF_USERS else ()
            owners_by_attribute[attribute] = (*location.owners, *users)
            if listed and attribute:  # `tags` are tags, too
                owners_by_attribute[""] = owners_of((attribute,), 1.0, 1.0, f"its name is `{name}`")
        if described and (described.attribute or not thing):
            key = described.attribute or attribute
            owners_by_attribute[key] = owners_by_attribute.get(key, ()) + owners_of(
                described.thing, 0.9, 0.8, "its description"
            )
        values = allowed_values(schema.get("enum")) if isinstance(schema, Mapping) else frozenset()
        form = str(schema.get("format") or "") if isinstance(schema, Mapping) else ""
        for attribute, owners in owners_by_attribute.items():
            owners = tuple(
                owner for owner in owners if owner.thing and owner.thing[-1] in self.argument_nouns
            )
            if not owners:
                continue
            # A number without an attribute is a measure: `total_tracks`, `latitude`.
            is_measure = not attribute and bool(kinds & {"integer", "number"}) and not listed
            if not attribute and not kinds:
                continue  # it may be an object
            yield Given(
                path_text(path), owners, attribute, kinds - {"array"}, form, values, EACH in path, own,
                location.depth, shape, not thing, is_measure=is_measure,
            )  # fmt: skip


def said_of(schema: Any) -> tuple[Meaning, ...]:
    """What the description of a part of a schema says that it is, the most certain first."""
    text = schema.get("description") if isinstance(schema, Mapping) else None
    return meanings_said(text) if isinstance(text, str) else ()


# Bounds on what is read of one tool.
_DEEPEST_ARGUMENT = 3
# Bounds for schemas that nest without end: levels of an envelope, and arguments of a tool.
_DEEPEST_ENVELOPE = 7
_MOST_ARGUMENTS = 200


def taken_fields(tool: Tool, route: Route | None) -> list[Taken]:
    """The arguments of a tool that may come from other tools: not page sizes, free texts and the like."""
    schema = tool.input_schema
    if schema is None and not tool.parameters:
        return _named_things(tool)
    if schema is None:
        return [
            _taken(
                parameter.name,
                parameter.name,
                read_type(parameter.type) or {},
                {},
                parameter.required is not False,
                tool,
                route,
            )
            for parameter in tool.parameters
            if not is_control(parameter.name)
        ]
    arguments: list[Taken] = []
    waiting: list[tuple[tuple[Part, ...], Any, bool, int]] = [((), schema, True, 0)]
    left = _MOST_ARGUMENTS  # objects to look into
    while waiting and len(arguments) < _MOST_ARGUMENTS and left:
        left -= 1
        parent_path, part_schema, is_needed, depth = waiting.pop(0)
        for member in properties_at(part_schema, schema):
            path = (*parent_path, member.name)
            inner = member.schema
            required = is_needed and member.required
            kinds = kinds_of(inner, schema)
            items = resolve(inner.get("items"), schema) if "array" in kinds else {}
            if depth < _DEEPEST_ARGUMENT and ("object" in kinds or "object" in kinds_of(items, schema)):
                is_list = "object" not in kinds
                inside = (*path, EACH) if is_list else path
                if not thing_of(member.name):  # an envelope such as `data`, which may contain itself
                    if len(path) < _DEEPEST_ENVELOPE:
                        waiting.append((inside, items if is_list else inner, True, depth))
                else:
                    waiting.append((inside, items if is_list else inner, required, depth + 1))
                continue
            if depth and not required and meaning_of(member.name).attribute not in IDENTITIES:
                continue  # what an optional object has inside is data to write, but for an id
            taken = _taken(path_text(path), member.name, inner, schema, required, tool, route)
            # "{key}" in a path names what is before it, "/types/{type}" one of these.
            is_named = bool(taken.collection or (taken.route and meaning_of(member.name).attribute))
            if (is_named or not is_control(member.name)) and not _is_setting(taken, tool, route):
                arguments += (taken, *_by_description(taken, tool, route))
    return arguments


def _named_things(tool: Tool) -> list[Taken]:
    """What a tool without declared arguments is likely to work on: the nouns of its name.

    Of the things that a tool finds, the last noun is what it returns: the images in "get movie images".
    """
    words = [word for word in name_words(tool) if word not in tool_verbs() and not word.isdigit()]
    if verb_of(tool, None) in ("find", "search"):
        words = words[:-1]
    nothing: frozenset[str] = frozenset()
    return [
        Taken("", (word,), "", nothing, "", frozenset(), False, False, (), "")
        for word in dict.fromkeys(words)
    ]


_NEW = frozenset({"name", "id", "path", "title", ""})
"""Attributes that a tool which creates a thing gives it."""


def _is_setting(taken: Taken, tool: Tool, route: Route | None) -> bool:
    """Whether an argument is a value to set or a choice, rather than a reference to a thing."""
    name = str(parse_path(taken.path)[-1])
    around = [part for part in parse_path(taken.path)[:-1] if isinstance(part, str)]
    is_of_other = taken.attribute in IDENTITIES and any(map(thing_of, around))  # `venue.id` of an event
    bare = meaning_of(name).thing == () and bool(taken.attribute) and not is_of_other
    makes = verb_of(tool, route) == "make"
    # What a tool changes or sets as often as it refers to a thing by it.
    describing = word_list("describing attributes")
    # The `id` or `name` of what a tool creates is new, `ids` are those of other things. A tool without a path
    # may refer to a thing by its name.
    is_plural = taken.listed or name[-1:].casefold() == "s"
    is_new = makes and not is_plural
    tool_things = things_of_tool(tool, route)
    names_own = (
        bool(tool_things)
        and tool_things[0].thing[-len(taken.thing) :] == taken.thing
        and taken.attribute in _NEW
    )
    if names_own and is_new and not taken.route and taken.thing:
        return True  # `branch_name` of "create_branch"
    if bare and not taken.route and (is_new or (route is not None and taken.attribute in describing)):
        return True
    if taken.kinds == {"boolean"} or taken.format in ("date", "date-time", "time", "duration"):
        return True
    reads = verb_of(tool, route) in ("find", "search")
    if not taken.required and taken.attribute in describing - {"code", "number", "slug", "key", "token"}:
        return not (reads and meaning_of(name).thing)  # a search may be narrowed by `artistName`
    is_key = taken.attribute or taken.collection
    return not is_key and (bool(taken.values) or _CHOICE.search(taken.description) is not None)


# The description of an argument that chooses what to include: "true or false", "all or a comma-separated
# list of: name, url". Not "A comma-separated list of user ids".
_CHOICE = re.compile(
    r"^\W*(?:true or false|(?:one|any|some) of\b|either\b|whether\b|(?:all|none)\W+or\b)|\blist of:",
    re.IGNORECASE,
)


# The id of what the path names before it: "vid" in "/venues/{vid}", "groupid" in "/usergroups/{groupid}".
_JOINED_ID = re.compile(r"(?P<thing>[a-z]+?)_?id")
# Attributes that locate any thing. Without a path template they name no thing of their own.
_PLACES = frozenset({"url", "uri", "link", "href"})


def _taken(
    path: str, name: str, schema: Mapping[str, Any], root: Mapping[str, Any], required: bool, tool: Tool,
    route: Route | None,
) -> Taken:  # fmt: skip
    kinds = kinds_of(schema, root) - {"null"}
    listed = "array" in kinds
    declared = resolve(schema.get("items"), root) if listed else schema
    thing, attribute = meaning_of(name)
    before = None if route is None else route.before(name)
    if before and (joined := _JOINED_ID.fullmatch(name)):
        named = joined["thing"]
        last = "".join(words_of_part(before[-1])[1][-1:])
        if last.startswith(named) if len(named) <= SHORT else last.endswith(named):
            thing, attribute = (), "id"
        elif len(named) > SHORT and named in "".join(before).casefold():
            thing, attribute = words_of(named), "id"  # "/messages/outbound/{messageid}"
    elif before and not attribute and not thing_of(name):
        thing = words_of_part(before[-1])[1]  # "/photos/{item}"
    described = next(iter(said_of(schema)), None)
    if not thing and attribute in _PLACES and route is None:
        # of whatever a search found
        thing = ("url",)
        attribute = ""
    elif not thing and attribute:
        is_named = (
            described is not None and described.attribute == attribute and described.thing and not before
        )
        thing = described.thing if described and is_named else _thing_around(path, tool, route, before)
        if attribute in OF_USERS:
            thing = ("user",)  # "/u/{username}"
    elif thing and not attribute and described is not None and same_thing(described.thing, thing):
        attribute = described.attribute
    values = declared.get("enum")
    description = schema.get("description")
    return Taken(
        path,
        thing,
        attribute,
        (kinds_of(declared, root) - {"null"}) if listed else kinds - {"array"},
        str(declared.get("format") or ""),
        allowed_values(values),
        required,
        listed,
        before or (),
        description if isinstance(description, str) else "",
        thing if route else _full(thing, tool),
    )


def _full(thing: Words, tool: Tool) -> Words:
    """A thing with the words before it in the tool's name: the "issue comment" of "add_issue_comment"."""
    words = name_words(tool)
    verbs = tool_verbs()
    ends = word_list("prepositions") | {word for word, verb in verbs.items() if verb != "other"}
    for position in range(1, len(words) - len(thing) + 1):
        if words[position : position + len(thing)] == thing:
            first = 1 if words[0] in verbs else 0
            start = next((n for n in range(position, first, -1) if words[n - 1] in ends), first)
            return words[start : position + len(thing)]
    return thing


def _by_description(taken: Taken, tool: Tool, route: Route | None) -> Iterator[Taken]:
    """The argument as its description names it: `receiver`, "the user id of the receiver"."""
    meanings = () if route or taken.values else meanings_said(taken.description)[:2]
    # In "the issue or comment id" it is not the issue.
    if not meanings or (not meanings[0].attribute and meanings[-1].attribute):
        return
    thing, attribute = meanings[0]
    is_known = same_thing(taken.thing, thing) or same_thing(thing, taken.thing)
    if thing and not (is_known and attribute in ("", taken.attribute)):
        yield replace(taken, thing=thing, attribute=attribute, full=_full(thing, tool), is_said=True)


def _thing_around(path: str, tool: Tool, route: Route | None, before: tuple[str, ...] | None) -> Words:
    """What an argument named only `id` or `name` is of: the object around it, else what the path names."""
    around = [part for part in re.split(r"[.\[\]]+", path) if part][:-1]
    for part in reversed(around):
        if words := thing_of(part):
            return words
    if before:
        return words_of_part(before[-1])[1]
    owners = things_of_tool(tool, route)
    return owners[0].thing if owners else ()
