"""What simulated tools do with which resource, and the objects of one simulated world."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from toolassay.executors.executor import one_line
from toolassay.graph.derive import fields
from toolassay.graph.derive.fields import IDENTITIES, Route, Words, meaning_of, route_of, same_thing
from toolassay.tools import Tool, ToolLibrary, is_required

_SHOWN_FIELDS = 5  # of an object in a text
_LONGEST_SHOWN = 60  # characters of a value in a text
# Verbs of no group in `words.json` that change something outside, unlike "calculate" and "click".
_EFFECTS = frozenset({
    "apply", "approve", "assign", "attach", "commit", "invite", "join", "merge", "push", "send", "submit"
})  # fmt: skip
_ENDINGS = frozenset({"archive", "cancel", "close"})  # the object is still there
_CHANGES = ("make", "change", "remove")
_IGNORED = fields.word_list("empty names") | {"bulk", "multiple", "my", "new", "or"}  # before a thing
# Attributes by which people name things.
_NAMING = fields.IDENTIFYING | fields.word_list("describing attributes")


@dataclass(frozen=True)
class Action:
    """What a tool does with which resource."""

    kind: str  # "read", "list", "get", "create", "change" or "remove"
    thing: Words  # the resource in words
    resource: str  # as the state names it
    reads: bool  # whether the tool changes nothing
    verb: str = ""  # the first one of its name
    key: str = ""  # the parameter that identifies the resource
    attribute: str = "id"  # what the parameter is of it
    scope: tuple[str, ...] = ()  # parameters within whose values the key is unique, as `owner` and `repo`


class Actions:
    """What each tool of a library does.

    >>> from toolassay.tools import Parameter
    >>> tools = Tool("create_user"), Tool("get_user", parameters=(Parameter("user_id"),))
    >>> actions = Actions(ToolLibrary(tools))
    >>> [(one.kind, one.resource, one.key) for one in map(actions.of, tools)]
    [('create', 'user', ''), ('get', 'user', 'user_id')]
    """

    def __init__(self, library: ToolLibrary) -> None:
        self._has_servers = len({tool.source.get("server") for tool in library}) > 1
        self._known: frozenset[str] = frozenset()
        self.attributes: dict[str, str] = {}  # by which tools identify a resource; an id if one does
        first = map(self.of, library)
        self._known = frozenset(one.resource for one in first if one.key or one.kind == "create")
        for one in map(self.of, library):
            if one.kind != "create" and one.key and self.attributes.get(one.resource) not in IDENTITIES:
                self.attributes[one.resource] = one.attribute

    def of(self, tool: Tool) -> Action:
        """What a tool does."""
        route, words = route_of(tool), fields.name_words(tool)
        verbs = [word for word in words if word in fields.tool_verbs()]
        verb, does = verbs[0] if verbs else "", fields.verb_of(tool, route)
        changes = [one for one in map(fields.tool_verbs().__getitem__, verbs) if one in _CHANGES]
        is_marked = tool.annotations.get("readOnlyHint") is True
        reads = is_marked or (does in ("find", "search") and (route is not None or not changes))
        if route is None and changes and "and" in words:
            does = changes[0]  # "search_and_replace"
        thing, resource = self._resource(tool, route)
        if not thing or (tool.is_resource and not tool.parameters):
            return Action("read", thing, resource, reads)
        key, attribute, scope = _identifiers(tool, route, thing)
        kind = "read"
        if not is_marked and (does == "make" or (verb in _EFFECTS and not key)):
            kind, attribute = "create", self.attributes.get(resource, "id")
            key = next((one.name for one in tool.parameters if is_key(one.name, thing, attribute)), "")
        elif not is_marked and (does in _CHANGES or verb in _EFFECTS):
            kind = "remove" if does == "remove" and verb not in _ENDINGS else "change"
        elif key and (does != "search" or attribute in IDENTITIES or route is not None):
            kind = "get"
        elif reads and (fields.word_list("listing") & {*words} or tool.id[-1] == "s" != words[-1][-1]):
            kind = "list"  # by a verb, or by a plural at the end of its name
        key, scope = "" if kind in ("list", "read") else key, () if attribute in IDENTITIES else scope
        return Action(kind, thing, resource, reads, verb, key, attribute, scope)

    def _resource(self, tool: Tool, route: Route | None) -> tuple[Words, str]:
        """The thing that a tool is about, preferably one that other tools create or identify."""
        server = str(tool.source.get("server") or "") if self._has_servers else ""
        found: list[tuple[Words, str]] = []
        for owner in fields.things_of_tool(tool, route):
            if route is None and owner.thing[0] in ("by", "for", "from", "in", "of", "to", "with"):
                break  # `search_by_engine` is not about engines
            thing = tuple(word for word in owner.thing if word not in _IGNORED) or owner.thing
            found.append((thing, "/".join(filter(None, (server, "_".join(thing))))))
        known = (one for one in found if one[1] in self._known)
        return next(known, found[0] if found else ((), server))


def is_key(name: str, thing: Words, attribute: str) -> bool:
    """Whether a parameter or a field with a name is an attribute of a thing; ids have several names."""
    own, given = meaning_of(name)
    return (not own or same_thing(own, thing) > 0) and (
        given == attribute or {given, attribute} <= IDENTITIES
    )


def _identifiers(tool: Tool, route: Route | None, thing: Words) -> tuple[str, str, tuple[str, ...]]:
    """The parameter that identifies the resource, its attribute, and the parameters that identify others."""
    best: tuple[float, str, str] = (0.0, "", "id")
    others = []
    for one in tool.parameters:
        own, attribute = meaning_of(one.name)
        fit = same_thing(own, thing) if own else 0.9
        is_id, is_name = attribute in IDENTITIES, attribute in _NAMING or (bool(own) and not attribute)
        is_scalar = not one.type.casefold().startswith(("array", "list", "object", "bool"))
        if not is_scalar or "enum" in one.declaration or not (is_id or (is_name and is_required(one, tool))):
            continue
        if not fit and is_required(one, tool) and (attribute or not fields.is_control(one.name)):
            others.append(one.name)
        is_last = route is None or f"{{{one.name}}}" in route.parts[-1:]  # of a path only the last part
        if fit and is_last and fit + is_id > best[0]:
            best = fit + is_id, one.name, attribute or ("name" if route is None else "id")
    return best[1], best[2], tuple(others)


@dataclass
class Resource:
    """An object of the world."""

    name: str  # its place in the state, without the key
    thing: Words
    attribute: str  # what the key is
    key: Any  # "" for the only one of its kind
    scope: dict[str, Any]  # values within which the key is unique
    fields: dict[str, Any] = field(default_factory=dict)  # all that is known
    written: dict[str, Any] = field(default_factory=dict)  # what calls of the plan have set
    is_new: bool = False
    is_deleted: bool = False

    @property
    def own(self) -> dict[str, Any]:
        """Its fields with the key under the names that results use."""
        names = () if self.key == "" else (self.attribute, "_".join((*self.thing, self.attribute)))
        return self.fields | dict.fromkeys(names, self.key)

    @property
    def label(self) -> str:
        """The resource in words: "customer 7"."""
        return " ".join(filter(None, (" ".join(self.thing), shown(self.key))))

    def described(self) -> str:
        """The object in one line: "customer 7: name Ann Lee"."""
        some = [f"{name} {shown(one)}" for name, one in self.fields.items() if str(one) != str(self.key)]
        return f"{self.label}: {', '.join(some[:_SHOWN_FIELDS])}" if some else self.label

    def write(self, values: dict[str, Any]) -> None:
        """Set fields by a call of the plan."""
        self.fields, self.written = self.fields | values, self.written | values

    def remember(self, result: Any) -> None:
        """Keep what a result says of the object, so that later results say the same."""
        for name, value in result.items() if isinstance(result, dict) else ():
            if isinstance(value, str | int | float):
                self.fields.setdefault(name, value)


class ResourceStore:
    """The objects of one environment."""

    def __init__(self) -> None:
        self._resources: dict[str, list[Resource]] = {}

    def all(self, resource: str) -> list[Resource]:
        """The objects of a kind, in the order in which they became known."""
        return self._resources.setdefault(resource, [])

    def find(self, resource: str, attribute: str, value: Any, scope: Mapping[str, Any]) -> Resource | None:
        """The object with an attribute; a deleted one only if no other has it."""

        def fits(one: Resource) -> bool:
            known = one.key if one.attribute == attribute else one.fields.get(attribute)
            is_inside = all(one.scope.get(name, inner) == inner for name, inner in scope.items())
            return is_inside and str(value) == str(known)

        return min(filter(fits, self.all(resource)), key=lambda one: one.is_deleted, default=None)

    def state(self) -> dict[str, Any]:
        """What differs from the start, by place."""
        places: dict[str, Any] = {}
        for name in sorted(self._resources):
            for one in self._resources[name]:
                own = {} if one.key == "" else {one.attribute: one.key}
                place = "/".join(map(str, (name, *one.scope.values(), *own.values())))
                if one.is_deleted and not one.is_new:
                    places.setdefault(place, {"deleted": True})
                elif not one.is_deleted and (one.is_new or one.written):
                    places[place] = own | copy.deepcopy(one.written)
        return places


def shown(value: Any) -> str:
    """A value in a text, cut to a length."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return one_line(text, _LONGEST_SHOWN)
