"""Executes calls of tools without a server: results are drawn from output schemas, resources share state.

Every environment is an empty world. What a tool does with which thing is read from its name, or from the
method and path of an operation. A thing that a plan names without creating it exists already; it is derived
from its id.
"""

from __future__ import annotations

import copy
import hashlib
import json
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Literal

from toolassay.argument_schemas import ArgumentValidator, Problem, kinds_of, properties_of
from toolassay.english.plurals import plural
from toolassay.english.verb_forms import participle
from toolassay.executors import simulated_results as results
from toolassay.executors.executor import (
    CallResult,
    Environment,
    EnvironmentFailure,
    ExecutionContext,
    Executor,
    OpenExecutor,
    Refusal,
    State,
    one_line,
)
from toolassay.executors.simulated_results import (
    LONGEST_SHOWN,
    Place,
    Resource,
    ResourceStore,
    ResultMaker,
    UnmakeableError,
    shown,
)
from toolassay.graph.derive import fields, names
from toolassay.graph.derive.fields import Route, route_of
from toolassay.graph.derive.names import IDENTITIES, Words, meaning_of, same_thing, words_of
from toolassay.offline.own_tools.declared_parameters import declared_schema
from toolassay.tools import Parameter, Tool, ToolLibrary, declares_parameters, is_required

_MOST_FIELDS = 6  # fields of a derived object
_MOST_LISTED = 20  # objects in one list
_MOST_KEYS = 20  # drawn for a new object, until one is free
_SCALARS = frozenset({"string", "integer", "number", "boolean"})

# Verbs after which the object is still there, with a status.
_ENDINGS = frozenset({"archive", "cancel", "clear", "close", "kill", "revoke"})
_STATUSES = _ENDINGS | {"approve", "disable", "enable", "merge", "pause", "resume", "stop", "submit"}
# Verbs of no group that change something outside, unlike "calculate" and "click".
_EFFECTS = _STATUSES | {"apply", "assign", "attach", "commit", "detach", "invite", "join", "push", "send"}
_OVERWRITING = frozenset({"copy", "generate", "open", "save", "start", "upload"})
_READING = frozenset({"inspect", "load", "preview", "view"})  # besides the verbs of `words.json`
_FILLERS = frozenset({"a", "an", "and", "bulk", "multiple", "my", "new", "or", "the"})
_PREPOSITIONS = frozenset({"by", "for", "from", "in", "of", "to", "with"})
_LIMITS = frozenset({"count", "limit", "max_results", "maxresults", "page_size", "per_page", "top"})
_QUERIES = frozenset({"keyword", "keywords", "q", "query", "search", "search_term", "term", "text"})
# Attributes by which people name things.
_NAMING = fields.IDENTIFYING | {
    "code", "email", "handle", "login", "number", "path", "symbol", "title", "url", "username",
}  # fmt: skip
_FILES = {
    "image": "png", "photo": "jpg", "audio": "mp3", "speech": "mp3", "video": "mp4", "document": "pdf",
    "pdf": "pdf", "table": "csv", "code": "py", "json": "json",
}  # fmt: skip
# The start of a word in "getUserNames".
_WORD_START = re.compile(r"(?<=[a-z])(?=[A-Z])")
# "'path' is a required property", "Additional properties are not allowed ('x' was unexpected)".
_MISSING = re.compile(r"^'(.+)' is a required property$")
_UNEXPECTED = re.compile(r"\('(.+?)'.* (?:was|were) unexpected\)")

ActionKind = Literal["read", "list", "get", "create", "change", "remove"]


class SimulateExecutor(Executor):
    """Simulated tools."""

    name = "simulate"
    help = "simulated tools: valid results without a server"
    is_harmless = True

    @asynccontextmanager
    async def open(self, context: ExecutionContext, options: Any) -> AsyncIterator[OpenExecutor]:
        """Nothing is started; what a tool needs is prepared with its first call."""
        yield _OpenSimulation(context)


EXECUTOR = SimulateExecutor()


@dataclass(frozen=True)
class Action:
    """What a tool does with which resource.

    Attributes:
        kind: "read": a result without a resource. The others as their names say.
        thing: The resource in words.
        resource: The resource as the state names it.
        verb: The verb of the tool's name; empty without one.
        key: Parameter that identifies the resource; empty without one.
        attribute: Its attribute that the parameter is: "id", "name", …
        scope: Parameters within whose values the key is unique, as `owner` and `repo` of an issue number.
        reads: Whether the tool changes nothing.
    """

    kind: ActionKind
    thing: Words
    resource: str
    verb: str = ""
    key: str = ""
    attribute: str = "id"
    scope: tuple[str, ...] = ()
    reads: bool = False


class Actions:
    """What each tool of a library does.

    >>> tools = Tool("create_user"), Tool("get_user", parameters=(Parameter("user_id"),))
    >>> actions = Actions(ToolLibrary(tools))
    >>> [(one.kind, one.resource, one.key) for one in map(actions.of, tools)]
    [('create', 'user', ''), ('get', 'user', 'user_id')]
    """

    def __init__(self, library: ToolLibrary) -> None:
        self._has_servers = len({tool.source.get("server") for tool in library}) > 1
        self._known: frozenset[str] = frozenset()
        self._actions: dict[str, Action] = {}
        self.makers: dict[str, Tool] = {}
        self.keys: dict[str, tuple[Tool, str, str]] = {}  # a tool, its parameter, and the attribute
        first = [self._action(tool) for tool in library]
        self._known = frozenset(one.resource for one in first if one.key or one.kind == "create")
        for tool, one in [(tool, self._action(tool)) for tool in library]:
            if one.kind == "create":
                self.makers.setdefault(one.resource, tool)
            elif one.key and self.attribute(one.resource, "") not in IDENTITIES:
                self.keys[one.resource] = tool, one.key, one.attribute

    def attribute(self, resource: str, otherwise: str = "id") -> str:
        """The attribute by which tools identify a resource."""
        return self.keys[resource][2] if resource in self.keys else otherwise

    def of(self, tool: Tool) -> Action:
        """What a tool does."""
        if tool.id not in self._actions:
            self._actions[tool.id] = self._action(tool)
        return self._actions[tool.id]

    def _action(self, tool: Tool) -> Action:
        route, words = route_of(tool), fields.name_words(tool)
        verb = next((word for word in words if word in fields.tool_verbs()), "")
        does = fields.verb_of(tool, route)
        does = "find" if not does and words[:1] and words[0] in _READING else does
        is_marked = tool.annotations.get("readOnlyHint") is True
        reads = does in ("find", "search") or (is_marked and does not in ("", "other"))
        thing, resource = self._resource(tool, route)
        if not thing or (tool.is_resource and not tool.parameters):
            return Action("read", thing, resource, verb, reads=reads or is_marked)
        key, attribute = _key_of(tool, route, thing)
        kind: ActionKind = "read"
        if reads:
            kind = "list" if _lists(tool, does, key, attribute) else "get" if key else "read"
        elif is_marked:
            pass
        elif does == "make" or (does in ("", "other") and verb in _EFFECTS and not key):
            kind = "create"
            key, attribute = self._explicit_key(tool, thing, resource)
        elif does == "remove":
            kind = "change" if route is None and verb in _ENDINGS else "remove"
        elif does == "change" or verb in _EFFECTS:
            kind = "change"
        key = "" if kind in ("list", "read") else key
        scope = () if attribute in IDENTITIES else _scope_of(tool, route, thing, key)
        return Action(kind, thing, resource, verb, key, attribute, scope, reads or is_marked)

    def _resource(self, tool: Tool, route: Route | None) -> tuple[Words, str]:
        """The thing that a tool is about, preferably one that other tools create or identify."""
        server = str(tool.source.get("server") or "") if self._has_servers else ""
        ignored = names.word_list("empty names") | _FILLERS
        found: list[tuple[Words, str]] = []
        for owner in fields.things_of_tool(tool, route):
            if route is None and owner.thing[0] in _PREPOSITIONS:
                break  # `search_by_engine` is not about engines
            thing = tuple(word for word in owner.thing if word not in ignored) or owner.thing
            found.append((thing, "/".join(filter(None, (server, "_".join(thing))))))
        known = (one for one in found if one[1] in self._known)
        return next(known, found[0] if found else ((), server))

    def _explicit_key(self, tool: Tool, thing: Words, resource: str) -> tuple[str, str]:
        """The parameter of a creating tool that is the key of what it makes, and the attribute."""
        wanted = self.attribute(resource)
        for one in tool.parameters:
            meaning = meaning_of(one.name)
            is_own = not meaning.thing or same_thing(meaning.thing, thing) > 0
            if is_own and (meaning.attribute == wanted or {meaning.attribute, wanted} <= IDENTITIES):
                return one.name, wanted
        return "", wanted


def _lists(tool: Tool, does: str, key: str, attribute: str) -> bool:
    """Whether a reading tool lists things: by its verb, or by a plural in its name."""
    if tool.source.get("path"):
        return does == "search" and not key
    raw = re.findall("[a-z]+", _WORD_START.sub(" ", str(tool.source.get("name") or tool.id)).lower())
    if not names.word_list("listing").isdisjoint(raw):
        return not key or attribute not in IDENTITIES
    return not key and any(word[-1] == "s" and words_of(word) != (word,) for word in raw)


def _key_of(tool: Tool, route: Route | None, thing: Words) -> tuple[str, str]:
    """The parameter that identifies the resource, and its attribute."""
    if route is not None:
        name = route.parts[-1].strip("{}") if route.ends_in_parameter else ""
        attribute = meaning_of(name).attribute
        # "/trending/{time_window}" names nothing.
        is_key = any(one.name == name for one in tool.parameters) and (
            attribute or not names.is_control(name)
        )
        return (name, attribute or "id") if is_key else ("", "id")
    best: tuple[float, str, str] = (0.0, "", "id")
    for one in tool.parameters:
        meaning = meaning_of(one.name)
        fit = same_thing(meaning.thing, thing) if meaning.thing else 0.9
        fit = 0.5 if words_of(one.name)[:1] == ("source",) else fit  # of a file that is moved
        is_id = meaning.attribute in IDENTITIES
        is_scalar = not one.type.casefold().startswith(("array", "list", "object", "bool"))
        if not fit or not is_scalar or not (is_id or is_required(one, tool)):
            continue
        rank = 3.0 if is_id else 2.0 if meaning.attribute in _NAMING else 0.0
        rank = rank or (1.5 if meaning.thing and not meaning.attribute else 0.0)
        if rank and rank + fit > best[0]:
            best = rank + fit, one.name, meaning.attribute or "name"
    return best[1], best[2]


def _scope_of(tool: Tool, route: Route | None, thing: Words, key: str) -> tuple[str, ...]:
    """The required parameters that identify other things."""

    def is_scope(one: Parameter) -> bool:
        if route is not None and f"{{{one.name}}}" in route.parts:
            return True
        meaning = meaning_of(one.name)
        is_other = bool(meaning.thing) and not same_thing(meaning.thing, thing)
        is_name = one.type in ("string", "integer") and "enum" not in one.declaration
        return is_other and is_name and (meaning.attribute in _NAMING or not names.is_control(one.name))

    required = (one for one in tool.parameters if one.name != key and is_required(one, tool))
    return tuple(one.name for one in required if is_scope(one))


class _SimulatedTool:
    """A tool with what its calls need, prepared once; ValueError if a schema is not valid."""

    def __init__(self, tool: Tool, action: Action) -> None:
        self.tool, self.route = tool, route_of(tool)
        self._validator = None if tool.input_schema is None else ArgumentValidator(tool.input_schema)
        self.maker = None if tool.output_schema is None else ResultMaker(tool)
        self.place = Place((), None, None) if self.maker is None else self.maker.place(action.thing)
        is_list = action.kind == "read" and action.reads and self.place.listed is not None
        self.action = replace(action, kind="list") if is_list else action

    def check(self, arguments: Mapping[str, Any]) -> None:
        """Refuse invalid arguments."""
        named = {one.name: one for one in self.tool.parameters}
        lacking = (
            name for name, one in named.items() if name not in arguments and is_required(one, self.tool)
        )
        if name := next(lacking, None):
            raise Refusal(one_line(f"missing required argument '{name}'"))
        if self._validator is not None:
            if problems := self._validator.problems(dict(arguments)):
                raise Refusal(_in_words(problems[0]))
        elif declares_parameters(self.tool) and (unknown := [one for one in arguments if one not in named]):
            raise Refusal(one_line(f"unknown argument '{unknown[0]}'"))


def _in_words(problem: Problem) -> str:
    """A problem as a server reports it."""
    where = f"{problem.path}." if problem.path else ""
    if match := _MISSING.match(problem.reason):
        return one_line(f"missing required argument '{where}{match[1]}'")
    if match := _UNEXPECTED.search(problem.reason):
        return one_line(f"unknown argument '{where}{match[1]}'")
    return one_line(f"argument '{problem.path}': {problem.reason}" if problem.path else problem.reason)


class _OpenSimulation(OpenExecutor):
    def __init__(self, context: ExecutionContext) -> None:
        self.seed, self.most_bytes = context.seed, context.limits.result_bytes
        self.identity = {"seed": context.seed}
        self.actions = Actions(context.library)
        self._tools: dict[str, _SimulatedTool] = {}
        self._bases: dict[str, ResultMaker | None] = {}

    def simulated(self, tool: Tool) -> _SimulatedTool:
        """A tool with what its calls need; EnvironmentFailure if a schema is not valid."""
        if tool.id not in self._tools:
            try:
                self._tools[tool.id] = _SimulatedTool(tool, self.actions.of(tool))
            except ValueError as error:
                raise EnvironmentFailure(one_line(f"a schema of '{tool.id}' is not valid: {error}")) from None
        return self._tools[tool.id]

    @asynccontextmanager
    async def environment(self) -> AsyncIterator[Environment]:
        """An empty world."""
        yield _Simulation(self)

    def is_read_only(self, tool: Tool) -> bool:
        """A hint of the server decides, else the verb of the name."""
        hint = tool.annotations.get("readOnlyHint")
        return hint if isinstance(hint, bool) else self.actions.of(tool).reads

    def missing(self, tool: Tool) -> str:
        """Why no result of a tool can be made."""
        try:
            if maker := self.simulated(tool).maker:
                maker.make(Random(0), small=True)
        except (EnvironmentFailure, UnmakeableError) as error:
            return one_line(error)
        return ""

    def base(self, action: Action, rng: Random) -> dict[str, Any]:
        """Fields of an object from before the plan, named as in the tool that creates such objects."""
        resource = action.resource
        is_id = self.actions.attribute(resource, action.attribute) in IDENTITIES
        if not is_id and resource not in self.actions.makers:
            return {}  # a symbol or a path may be of anything
        if resource not in self._bases:
            self._bases[resource] = self._base_maker(resource, action.thing)
        maker = self._bases[resource]
        try:
            return {} if maker is None else dict(maker.make(rng))
        except UnmakeableError:
            return {}

    def _base_maker(self, resource: str, thing: Words) -> ResultMaker | None:
        tool = self.actions.makers.get(resource) or Tool("_".join(("get", *thing)))
        schema = declared_schema(tool) if tool.input_schema is None else tool.input_schema
        scalars = {
            one.name: one.schema
            for one in properties_of(schema)
            if kinds_of(one.schema, schema) <= _SCALARS and one.name[:1].isalpha()
        }
        shape: dict[str, Any] = {key: schema[key] for key in ("$defs", "definitions") if key in schema}
        properties = dict(list(scalars.items())[:_MOST_FIELDS]) or {"name": {"type": "string"}}
        shape |= {"type": "object", "properties": properties}
        try:
            return ResultMaker(Tool(tool.id, tool.description, output_schema=shape, source=tool.source))
        except ValueError:
            return None

    def new_key(self, resource: str, rng: Random) -> Any:
        """An id of the kind that other tools take."""
        if resource in self.actions.keys:
            tool, name, _ = self.actions.keys[resource]
            if any(one.name == name and one.type == "integer" for one in tool.parameters):
                return rng.randint(1_000, 99_999)
        return results.plain_text(resource.rpartition("/")[2], rng)


class _Simulation:
    """The world of one plan."""

    def __init__(self, opened: _OpenSimulation) -> None:
        self._opened = opened
        self._store = ResourceStore()

    async def state(self) -> State | None:
        """What was created, changed or deleted."""
        return self._store.state()

    async def call(self, tool: Tool, arguments: Mapping[str, Any]) -> CallResult:
        """See `Environment.call`."""
        simulated = self._opened.simulated(tool)
        simulated.check(arguments)
        call = _Call(self._opened, self._store, simulated, copy.deepcopy(dict(arguments)))
        try:
            result = CallResult.of(call.result())
        except UnmakeableError as error:
            raise EnvironmentFailure(one_line(f"no result of '{tool.id}' can be made: {error}")) from None
        size = len(result.text.encode(errors="surrogatepass"))
        if size > self._opened.most_bytes:
            raise EnvironmentFailure(f"the result has {size:,} bytes, more than --max_result allows")
        return result


class _Call:
    """One call."""

    def __init__(
        self,
        opened: _OpenSimulation,
        store: ResourceStore,
        simulated: _SimulatedTool,
        arguments: dict[str, Any],
    ) -> None:
        self._opened, self._store, self._simulated = opened, store, simulated
        self._tool, self._arguments = simulated.tool, arguments
        self._action, self._maker, self._place = simulated.action, simulated.maker, simulated.place

    def result(self) -> Any:
        """Do what the tool does.

        Raises:
            Refusal: It does not fit the objects that there are.
            UnmakeableError: The schema allows no result.
        """
        match self._action.kind:
            case "list":
                return self._list()
            case "create":
                return self._create()
            case "change":
                return self._change()
            case "get":
                return self._answer(self._named(self._action, self._arguments))
            case "remove":
                one = self._named(self._action, self._arguments)
                result = self._answer(one, "Deleted")
                one.is_deleted = True
                return result
        written = [
            one for one in self._store.all(self._action.resource) if one.written and not one.is_deleted
        ]
        return self._answer(written[-1] if written else None)

    def _rng(self, *parts: Any) -> Random:
        """Random numbers that depend on the seed and the parts alone."""
        return Random(json.dumps([self._opened.seed, *parts], sort_keys=True, default=str))

    def _scope(self, action: Action) -> dict[str, Any]:
        return {name: self._arguments[name] for name in action.scope if name in self._arguments}

    def _named(self, action: Action, arguments: Mapping[str, Any]) -> Resource:
        """The object that arguments name; Refusal if it was deleted. One never seen existed before."""
        value, scope = arguments.get(action.key, ""), self._scope(action)
        if not action.key and action.kind == "remove":
            value = " ".join(map(shown, arguments.values()))
        one = self._store.find(action.resource, action.attribute, value, scope)
        if one is None:
            return self._derived(action.attribute, value, scope)
        if one.is_deleted:
            known_by = f" with {action.attribute} '{value}'" if action.key else ""
            raise Refusal(one_line(f"no {' '.join(action.thing)}{known_by}"))
        return one

    def _derived(self, attribute: str, value: Any, scope: dict[str, Any]) -> Resource:
        """An object that existed before the plan."""
        name = self._action.resource
        primary = self._opened.actions.attribute(name, attribute)
        rng = self._rng("object", name, attribute, str(value), scope)
        fields = self._opened.base(replace(self._action, attribute=primary), rng) | scope
        key = value
        if value != "" and primary != attribute:
            key = fields.pop(primary, None) or self._opened.new_key(name, rng)
        fields |= {attribute: value} if value != "" else {}
        one = Resource(name, key, primary, self._action.thing, scope, fields)
        self._store.all(name).append(one)
        return one

    def _create(self) -> Any:
        action, scope = self._action, self._scope(self._action)
        attribute, key = action.attribute, self._arguments.get(action.key) if action.key else None
        if key is not None:
            known = self._store.find(action.resource, attribute, key, scope)
            if known is not None and not known.is_deleted:
                if action.verb in _OVERWRITING:
                    return self._change()
                thing = " ".join(action.thing)
                raise Refusal(one_line(f"a {thing} with {attribute} '{key}' exists already"))
        number = sum(one.is_new for one in self._store.all(action.resource))
        drawn = self._made(number)
        found = results.identity_in(results.value_at(drawn, self._place.object), action.thing, attribute)
        # A drawn name is no id.
        found = found if found and meaning_of(found[0]).attribute in IDENTITIES | {attribute} else None
        for attempt in range(_MOST_KEYS):
            if key is None:
                rng = self._rng("key", action.resource, number, attempt)
                key = found[1] if found and not attempt else self._opened.new_key(action.resource, rng)
                key = None if self._store.find(action.resource, attribute, key, {}) else key
        one = Resource(action.resource, key or number, attribute, action.thing, scope, is_new=True)
        one.write(self._arguments)
        self._store.all(action.resource).append(one)
        return self._answer(one, "Created", drawn)

    def _change(self) -> Any:
        action, one = self._action, self._named(self._action, self._arguments)
        done, kept = "Updated", {action.key, *action.scope}
        changes = {name: value for name, value in _flat(self._arguments).items() if name not in kept}
        if action.verb in _STATUSES:
            changes["status"] = status = participle(action.verb)
            done = status.capitalize()
            if action.verb in _ENDINGS and one.written.get("status") == status:
                raise Refusal(one_line(f"{one.label} is already {status}"))
        one.write(changes)
        return self._answer(one, done)

    def _list(self) -> Any:
        """Objects that the plan created and that fit the arguments, then some that existed before."""
        maker, place, text = self._maker, self._place.listed, self._place.text
        if maker is not None and place is None and text is None:
            return self._answer(None)
        value = self._made()
        drawn = [0, 0] if maker is None or place is None else results.value_at(value, place)
        listed = self._listed(drawn if isinstance(drawn, list) else [])
        if maker is None or place is None:
            thing = " ".join(self._action.thing)
            each = "; ".join(one.described() for one, _ in listed)
            said = f"{len(listed)} {thing if len(listed) == 1 else plural(thing)}{': ' if each else ''}{each}"
            return said if maker is None else self._with_text(value, said)
        repeated = _repeated(self._arguments)
        made = [item | results.matching_fields(item, repeated | one.own) for one, item in listed]
        # All fields at once where that is valid, else one by one.
        tries = (results.replaced(value, place, items) for items in (made, [item for _, item in listed]))
        value = next(filter(maker.is_valid, tries), value)
        for number, (one, _) in enumerate(listed):
            value = maker.with_fields(value, (*place, number), repeated | one.own)
            _remember(one, results.value_at(value, (*place, number)))
        return maker.with_fields(value, (), self._echo(len(listed)))

    def _listed(self, drawn: list[Any]) -> list[tuple[Resource, dict[str, Any]]]:
        """The objects of a list, each with an item that is drawn from the schema."""
        arguments = self._arguments
        if named := self._all_named():
            return [(one, self._item(str(one.key))) for one in named]
        limits = [one for name, one in arguments.items() if name.casefold() in _LIMITS and type(one) is int]
        most = max(0, min([*limits, _MOST_LISTED]))
        those = [one for one in self._store.all(self._action.resource) if one.is_new and not one.is_deleted]
        created = [one for one in those if _fits(one, arguments)][:most]
        listed = [(one, self._item(str(one.key))) for one in created]
        filters = {name: one for name, one in arguments.items() if name.casefold() not in _LIMITS}
        for number in range(min(len(drawn), most - len(listed))):
            item = self._item(filters, number)
            one = self._existing(item, filters, number)
            if not one.is_deleted and all(one is not other for other, _ in listed):
                listed.append((one, item))
        return listed

    def _all_named(self) -> list[Resource]:
        """The objects that a list of ids or names asks for, as `paths` in `read_multiple_files`."""
        for name, values in self._arguments.items():
            meaning = meaning_of(name)
            is_own = not meaning.thing or same_thing(meaning.thing, self._action.thing) > 0
            if isinstance(values, list) and is_own and meaning.attribute in _NAMING:
                action = replace(self._action, key=name, attribute=meaning.attribute, scope=())
                scalars = [one for one in values[:_MOST_LISTED] if isinstance(one, str | int)]
                return [self._named(action, {name: one}) for one in dict.fromkeys(scalars)]
        return []

    def _item(self, *seeded: Any) -> dict[str, Any]:
        if self._maker is None or self._place.listed is None:
            return {}
        rng = self._rng("item", self._tool.id, self._action.resource, *seeded)
        item = self._maker.item(self._place.listed, rng)
        return item if isinstance(item, dict) else {}

    def _existing(self, item: dict[str, Any], filters: Mapping[str, Any], number: int) -> Resource:
        """The object of a list item; it existed before the plan."""
        resource, attribute = self._action.resource, self._opened.actions.attribute(self._action.resource)
        found = results.identity_in(item, self._action.thing, attribute)
        rng = self._rng("listed", resource, filters, number)
        key = self._opened.new_key(resource, rng) if found is None else found[1]
        one = self._store.find(resource, attribute, key, {})
        if one is None:
            one = self._derived(attribute, key, self._scope(self._action))
            query = next((text for name, text in filters.items() if name.casefold() in _QUERIES), None)
            titles = [name for name in ("title", "name") if name in item | one.fields and name != attribute]
            if not number and isinstance(query, str) and len(query) <= LONGEST_SHOWN and titles:
                one.fields[titles[0]] = query  # a search finds what it looks for
        return one

    def _made(self, *seeded: Any) -> Any:
        """A result drawn from the output schema, a small one if it is too large; None without a schema."""
        if self._maker is None:
            return None
        seeded = ("result", self._tool.id, self._arguments, *seeded)
        value = self._maker.make(self._rng(*seeded))
        if len(json.dumps(value)) > self._opened.most_bytes // 2:
            value = self._maker.make(self._rng(*seeded), small=True)
        return value

    def _answer(self, one: Resource | None, done: str = "", drawn: Any = None) -> Any:
        """The result of a call, with the object that it is about."""
        said = self._sentence(one, done)
        maker, place = self._maker, self._place.object
        if maker is None:
            return said
        value = self._made() if drawn is None else drawn
        own = _repeated(self._arguments)
        if one is not None:
            own |= one.own
        elif results.value_at(value, place) == {}:
            rng = self._rng("object", self._tool.id, self._arguments)
            own = self._opened.base(self._action, rng) | own
        value = maker.with_fields(value, place, own if place else self._echo() | own)
        value = maker.with_fields(value, (), self._echo()) if place else value
        if one is not None:
            _remember(one, results.value_at(value, place))
        return self._with_text(value, said)

    def _with_text(self, value: Any, said: str) -> Any:
        """The result with a sentence in its place for text, if it has one."""
        place, maker = self._place.text, self._maker
        if place is None or maker is None:
            return value
        changed = results.replaced(value, place, said)
        return changed if maker.is_valid(changed) else value

    def _echo(self, count: int | None = None) -> dict[str, Any]:
        """Values for fields at the top of a result: arguments, and the number of items of a list."""
        echo, route = dict(self._arguments), self._simulated.route
        if route is not None and self._action.kind in ("list", "read"):
            inside = [part[1:-1] for part in route.parts if part[:1] == "{"]
            if inside and inside[-1] in echo:
                echo.setdefault("id", echo[inside[-1]])  # /movie/{movie_id}/credits gives the film's id
        if count is not None:
            echo |= dict.fromkeys(("count", "total", "total_count", "total_results"), count)
            echo |= {"page": echo.get("page", 1), "total_pages": echo.get("page", 1)}
        return echo

    def _sentence(self, one: Resource | None, done: str) -> str:
        """The result of a tool without an output schema."""
        if self._tool.outputs:
            return self._typed()
        given = {name: shown(value) for name, value in self._arguments.items()}
        if one is not None and done:
            said = given if done in ("Created", "Updated") else {}
            more = "; ".join(f"{name} {text}" for name, text in said.items() if text != shown(one.key))
            return one_line(f"{done} {one.label}{f' ({more})' if more else ''}.")
        if one is not None and one.fields.keys() - given.keys() - {one.attribute}:
            return one_line(one.described())
        name = " ".join(re.findall(r"[^\W_]+", str(self._tool.source.get("name") or self._tool.id)))
        more = ", ".join(f"{name} {text}" for name, text in given.items())
        return one_line(f"Result of {name}{f' for {more}' if more else ''}.")

    def _typed(self) -> str:
        """File names and sentences, one for each declared type of output."""
        text = json.dumps([self._opened.seed, self._tool.id, self._arguments], sort_keys=True, default=str)
        given = ", ".join(map(shown, self._arguments.values()))
        found = []
        for number, kind in enumerate(self._tool.outputs):
            mark = hashlib.sha256(f"{number}{text}".encode(errors="surrogatepass")).hexdigest()[:6]
            name = re.sub(r"\W+", "-", kind.casefold()).strip("-") or "file"
            known = {
                "text": f"Text {mark} of {self._tool.id}{f' for {given}' if given else ''}.",
                "url": f"https://example.com/{mark}",
            }
            found.append(known.get(name, f"{name}-{mark}.{_FILES.get(name, 'txt')}"))
        return one_line(", ".join(found))


def _remember(one: Resource, given: Any) -> None:
    """Keep what a result says of an object, so that later results say the same."""
    for name, value in given.items() if isinstance(given, dict) else ():
        if isinstance(value, str | int | float):
            one.fields.setdefault(name, value)


def _flat(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments, with the content of `fields`, `body` and the like in place of them."""
    flat: dict[str, Any] = {}
    for name, value in arguments.items():
        holds = isinstance(value, dict) and (not names.thing_of(name) or names.is_transparent(name))
        flat |= value if holds else {name: value}
    return flat


def _repeated(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that the objects of a result repeat: scalars that are no ids and no marks of a page."""
    return {
        name: value
        for name, value in arguments.items()
        if isinstance(value, str | int | float)
        and name.casefold() not in _LIMITS | _QUERIES
        and meaning_of(name).attribute not in IDENTITIES
    }


def _fits(one: Resource, arguments: Mapping[str, Any]) -> bool:
    """Whether a list with these arguments has an object."""
    fields = {words_of(name): str(value).casefold() for name, value in one.own.items()}
    for name, value in arguments.items():
        text = str(value).casefold()
        if name.casefold() in _QUERIES:
            if not any(word in own for word in text.split() for own in fields.values()):
                return False
        elif name.casefold() not in _LIMITS and text not in fields.get(words_of(name), text):
            return False
    return True
