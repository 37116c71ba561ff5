"""What the tools of a library do with which things, read from names, methods and paths."""

from __future__ import annotations

from dataclasses import dataclass

from toolassay.graph.derive import fields
from toolassay.graph.derive.fields import (
    IDENTITIES,
    Route,
    Words,
    meaning_of,
    route_of,
    same_thing,
)
from toolassay.tools.library import Tool, ToolLibrary, is_required

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
class ToolAction:
    """What a tool does with which resource."""

    kind: str  # "read", "list", "get", "create", "change" or "remove"
    thing: Words  # the resource in words
    resource: str  # as a world names it
    reads: bool  # whether the tool changes nothing
    verb: str = ""  # the first one of its name
    key: str = ""  # the parameter that identifies the resource
    attribute: str = "id"  # what the parameter is of it
    scope: tuple[str, ...] = ()  # parameters within whose values the key is unique, as `owner` and `repo`


class Actions:
    """What each tool of a library does.

    >>> from toolassay.tools.library import Parameter
    >>> tools = Tool("create_user"), Tool("get_user", parameters=(Parameter("user_id"),))
    >>> actions = Actions(ToolLibrary(tools))
    >>> [(one.kind, one.resource, one.key) for one in map(actions.of, tools)]
    [('create', 'user', ''), ('get', 'user', 'user_id')]
    """

    def __init__(self, library: ToolLibrary) -> None:
        self._has_servers = len({tool.source.get("server") for tool in library}) > 1
        self._resources: frozenset[str] = frozenset()
        self.attributes: dict[str, str] = {}  # by which tools identify a resource; an id if one does
        first = map(self.of, library)
        self._resources = frozenset(
            action.resource for action in first if action.key or action.kind == "create"
        )
        for action in map(self.of, library):
            if (
                action.kind != "create"
                and action.key
                and self.attributes.get(action.resource) not in IDENTITIES
            ):
                self.attributes[action.resource] = action.attribute

    def of(self, tool: Tool) -> ToolAction:
        """What a tool does."""
        route = route_of(tool)
        words = fields.name_words(tool)
        verbs = [word for word in words if word in fields.tool_verbs()]
        verb = verbs[0] if verbs else ""
        does = fields.verb_of(tool, route)
        changes = [change for change in map(fields.tool_verbs().__getitem__, verbs) if change in _CHANGES]
        is_marked = tool.is_marked_reading
        reads = is_marked or (does in ("find", "search") and (route is not None or not changes))
        if route is None and changes and "and" in words:
            does = changes[0]  # "search_and_replace"
        thing, resource = self._resource(tool, route)
        if not thing or (tool.is_resource and not tool.parameters):
            return ToolAction("read", thing, resource, reads)
        key, attribute, scope = _identifiers(tool, route, thing)
        kind = "read"
        if not is_marked and (does == "make" or (verb in _EFFECTS and not key)):
            kind = "create"
            attribute = self.attributes.get(resource, "id")
            key = next(
                (parameter.name for parameter in tool.parameters if is_key(parameter.name, thing, attribute)),
                "",
            )
        elif not is_marked and (does in _CHANGES or verb in _EFFECTS):
            kind = "remove" if does == "remove" and verb not in _ENDINGS else "change"
        elif key and (does != "search" or attribute in IDENTITIES or route is not None):
            kind = "get"
        elif reads and (fields.word_list("listing") & {*words} or tool.id[-1] == "s" != words[-1][-1]):
            kind = "list"  # by a verb, or by a plural at the end of its name
        key = "" if kind in ("list", "read") else key
        scope = () if attribute in IDENTITIES else scope
        return ToolAction(kind, thing, resource, reads, verb, key, attribute, scope)

    def _resource(self, tool: Tool, route: Route | None) -> tuple[Words, str]:
        """The thing that a tool is about, preferably one that other tools create or identify."""
        server = str(tool.source.get("server") or "") if self._has_servers else ""
        candidates: list[tuple[Words, str]] = []
        for owner in fields.things_of_tool(tool, route):
            if route is None and owner.thing[0] in ("by", "for", "from", "in", "of", "to", "with"):
                break  # `search_by_engine` is not about engines
            thing = tuple(word for word in owner.thing if word not in _IGNORED) or owner.thing
            candidates.append((thing, "/".join(filter(None, (server, "_".join(thing))))))
        known_resources = (candidate for candidate in candidates if candidate[1] in self._resources)
        return next(known_resources, candidates[0] if candidates else ((), server))


def is_key(name: str, thing: Words, attribute: str) -> bool:
    """Whether a parameter or a field with a name is an attribute of a thing; ids have several names."""
    name_thing, name_attribute = meaning_of(name)
    return (not name_thing or same_thing(name_thing, thing) > 0) and (
        name_attribute == attribute or {name_attribute, attribute} <= IDENTITIES
    )


def _identifiers(tool: Tool, route: Route | None, thing: Words) -> tuple[str, str, tuple[str, ...]]:
    """The parameter that identifies the resource, its attribute, and the parameters that identify others."""
    best: tuple[float, str, str] = (0.0, "", "id")
    others = []
    for parameter in tool.parameters:
        parameter_thing, attribute = meaning_of(parameter.name)
        fit = same_thing(parameter_thing, thing) if parameter_thing else 0.9
        is_id = attribute in IDENTITIES
        is_name = attribute in _NAMING or (bool(parameter_thing) and not attribute)
        is_scalar = not parameter.type.casefold().startswith(("array", "list", "object", "bool"))
        if (
            not is_scalar
            or "enum" in parameter.declaration
            or not (is_id or (is_name and is_required(parameter, tool)))
        ):
            continue
        if not fit and is_required(parameter, tool) and (attribute or not fields.is_control(parameter.name)):
            others.append(parameter.name)
        is_last = route is None or f"{{{parameter.name}}}" in route.parts[-1:]  # of a path only the last part
        if fit and is_last and fit + is_id > best[0]:
            best = fit + is_id, parameter.name, attribute or ("name" if route is None else "id")
    return best[1], best[2], tuple(others)
