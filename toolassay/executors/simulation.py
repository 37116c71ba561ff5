"""Executes calls of tools without a server: results are drawn from output schemas, resources share state.

Every environment is an empty world. What a tool does with which thing is read from its name, or from the
method and path of an operation. A thing that a plan names without creating it exists already.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from random import Random
from typing import Any

from toolassay.executors import simulated_results as results
from toolassay.executors.executor import (
    CallResult,
    Environment,
    EnvironmentFailure,
    ExecutionContext,
    OpenExecutor,
    Refusal,
    State,
    one_line,
)
from toolassay.executors.simulated_results import (
    Actions,
    Resource,
    ResourceStore,
    ResultMaker,
    UnmakeableError,
    Values,
)
from toolassay.graph.derive.fields import IDENTITIES, meaning_of, name_words, words_of
from toolassay.plans.execution_record import Arguments
from toolassay.tools.argument_schemas import ArgumentValidator
from toolassay.tools.library import Tool, declares_parameters, is_required
from toolassay.tools.results import is_refusal

_MOST_LISTED = 20  # objects in one list
_LONGEST_TEXT = 2_000  # characters of a text result
_OVERWRITING = frozenset({"copy", "generate", "open", "post", "save", "start", "upload"})
_LIMITS = frozenset({"count", "limit", "max_results", "maxresults", "page_size", "per_page", "top"})
_QUERIES = frozenset({"keyword", "keywords", "q", "query", "search", "search_term", "term", "text"})
_FILES = {"image": "png", "audio": "mp3", "video": "mp4", "document": "pdf", "pdf": "pdf", "table": "csv"}

# Values with which a result says that the call worked.
_SUCCESS: Values = {"success": True, "ok": True, "error": "", "errors": []}

_Fields = tuple[Sequence[str | int], Values]  # of the object at a path in a result


class _SimulatedTool:
    """A tool with what its calls need, prepared once; ValueError if a schema is not valid."""

    def __init__(self, tool: Tool, actions: Actions, types: Mapping[str, results.Types]) -> None:
        self.tool, self.action = tool, actions.of(tool)
        self.primary = actions.attributes.get(self.action.resource, self.action.attribute)
        schema = tool.input_schema
        if schema is None:
            schema = {
                "properties": {one.name: {} for one in tool.parameters},
                "required": [one.name for one in tool.parameters if is_required(one, tool)],
                "additionalProperties": not declares_parameters(tool),
            }
        self.validator = ArgumentValidator(schema)
        self.maker = None if tool.output_schema is None else ResultMaker(tool, types)


class OpenSimulation(OpenExecutor):
    """The simulator for the tools of a folder."""

    def __init__(self, context: ExecutionContext) -> None:
        self.seed, self.limits = context.seed, context.limits
        self.identity = {"seed": context.seed}
        self.actions, self._types = Actions(context.library), results.types_of_arguments(context.library)
        self._tools: dict[str, _SimulatedTool] = {}

    def simulated(self, tool: Tool) -> _SimulatedTool:
        """A tool with what its calls need; EnvironmentFailure if a schema is not valid."""
        if tool.id not in self._tools:
            try:
                self._tools[tool.id] = _SimulatedTool(tool, self.actions, self._types)
            except ValueError as error:
                raise EnvironmentFailure(one_line(f"a schema of '{tool.id}' is not valid: {error}")) from None
        return self._tools[tool.id]

    @asynccontextmanager
    async def environment(self, tools: Sequence[Tool] = ()) -> AsyncIterator[Environment]:
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


class _Simulation:
    """The world of one plan."""

    def __init__(self, opened: OpenSimulation) -> None:
        self.opened, self.store = opened, ResourceStore()

    async def state(self) -> State | None:
        """What was created, changed or deleted."""
        return self.store.state()

    async def call(self, tool: Tool, arguments: Arguments) -> CallResult:
        """See `Environment.call`."""
        simulated = self.opened.simulated(tool)
        if problems := simulated.validator.problems(dict(arguments)):
            where = f"argument '{problems[0].path}': " if problems[0].path else ""
            raise Refusal(one_line(f"{where}{problems[0].reason}"))
        call = _Call(self, simulated, copy.deepcopy(dict(arguments)))
        try:
            result = CallResult.of(_successful(call.result(), simulated.maker))
        except UnmakeableError as error:
            raise EnvironmentFailure(one_line(f"no result of '{tool.id}' can be made: {error}")) from None
        self.opened.limits.check(result.text)
        return result


def _successful(value: Any, maker: ResultMaker | None) -> Any:
    """A drawn result that does not say by chance that the call failed, where its schema permits that."""
    if maker is not None and isinstance(value, dict) and is_refusal(value):
        for name, good in _SUCCESS.items():
            if name in value and not maker.change(value, [(value, name, good)]):
                maker.change(value, [(value, name, None)])
    return value


class _Call:
    """One call."""

    def __init__(self, world: _Simulation, tool: _SimulatedTool, given: Values) -> None:
        self._opened, self._store, self._given = world.opened, world.store, given
        self._tool, self._action, self._maker = tool.tool, tool.action, tool.maker
        self._thing, self._primary = " ".join(self._action.thing), tool.primary
        self._those = world.store.all(self._action.resource)
        self._scope = {name: given[name] for name in self._action.scope if name in given}

    def result(self) -> Any:
        """Do what the tool does; Refusal if it does not fit the objects, UnmakeableError without a result."""
        if self._action.kind == "create":
            return self._create()
        if self._action.kind in ("list", "read"):
            value = self._made()
            has_list = results.place_of(value, self._action.thing).listed is not None
            is_list = self._action.kind == "list" or (self._action.reads and has_list)
            return self._list(value) if is_list else self._answer(value)
        one = self._named()
        if self._action.kind == "change":
            return self._change(one)
        one.is_deleted = self._action.kind == "remove"
        return self._answer(self._made(), one)

    def _rng(self, *parts: Any) -> Random:
        """Random numbers that depend on the seed and the parts alone."""
        return Random(json.dumps([self._opened.seed, *parts], sort_keys=True, default=str))

    def _new_key(self, *parts: Any) -> str:
        """An id in digits, valid as a text and as a number."""
        return str(self._rng(self._action.resource, *parts).randint(100_000, 999_999_999))

    def _made(self, number: int = 0) -> Any:
        """A result drawn from the output schema, a small one if it is too large; None without a schema."""
        if self._maker is None:
            return None
        given = {name: one for name, one in self._given.items() if name.casefold() not in _LIMITS}
        parts = ("result", self._tool.id, given, number)
        value = self._maker.make(self._rng(*parts))
        if len(json.dumps(value)) > self._opened.limits.result_bytes // 2:
            value = self._maker.make(self._rng(*parts), small=True)
        return value

    def _named(self) -> Resource:
        """The object that the arguments name; Refusal if it was deleted. One never seen existed before."""
        action = self._action
        # Without a key, what is removed is known by all arguments.
        otherwise = " ".join(map(str, self._given.values())) if action.kind == "remove" else ""
        value = self._given.get(action.key, otherwise)
        one = self._store.find(action.resource, action.attribute, value, self._scope)
        if one is not None and one.is_deleted:
            raise Refusal(one_line(f"no {self._thing} with {action.attribute} '{value}'"))
        return one or self._existing(action.attribute, value)

    def _existing(self, attribute: str, value: Any) -> Resource:
        """A new object that existed before the plan, known by one attribute."""
        is_primary = value == "" or attribute == self._primary
        key = value if is_primary else self._new_key(attribute, str(value), self._scope)
        fields = self._scope | ({} if value == "" else {attribute: value})
        one = Resource(self._action.resource, self._action.thing, self._primary, key, self._scope, fields)
        self._those.append(one)
        return one

    def _create(self) -> Any:
        action = self._action
        key = self._given.get(action.key) if action.key else None
        known = key and self._store.find(action.resource, action.attribute, key, self._scope)
        if known and not known.is_deleted:
            if action.verb in _OVERWRITING:
                return self._change(known)
            raise Refusal(one_line(f"a {self._thing} with {action.attribute} '{key}' exists already"))
        number = sum(one.is_new for one in self._those)
        value = self._made(number)
        if key is None:
            inside = results.value_at(value, results.place_of(value, action.thing).object)
            drawn = results.identity_in(inside, action.thing, self._primary)
            taken = {str(one.key) for one in self._those} | {"None"}
            key = drawn if str(drawn) not in taken else self._new_key(number)
        one = Resource(action.resource, action.thing, self._primary, key, self._scope, is_new=True)
        one.write(self._given)
        self._those.append(one)
        return self._answer(value, one)

    def _change(self, one: Resource) -> Any:
        kept = {self._action.key, *self._scope}
        changes = {name: value for name, value in self._given.items() if name not in kept}
        one.write(changes or {self._action.verb or "changed": True})
        return self._answer(self._made(), one)

    def _answer(self, value: Any, one: Resource | None = None) -> Any:
        """The result of a call, with the object that it is about."""
        path = results.place_of(value, self._action.thing).object
        own = self._repeated() | (one.own if one else {})
        value = self._filled(value, one and one.own, [((), self._given), (path, own)])
        if one is not None:
            one.remember(results.value_at(value, path))
        return value

    def _list(self, value: Any) -> Any:
        """Objects that the plan created and that fit the arguments, then some that existed before."""
        path = results.place_of(value, self._action.thing).listed
        drawn = [{}, {}] if self._maker is None else [] if path is None else results.value_at(value, path)
        limits = [one for name, one in self._given.items() if name.casefold() in _LIMITS and type(one) is int]
        most = max(0, min([*limits, _MOST_LISTED]))
        found = [one for one in self._those if one.is_new and not one.is_deleted and self._fits(one)][:most]
        items = [copy.deepcopy(drawn[number % len(drawn)]) for number in range(len(found)) if drawn]
        for number, item in enumerate(drawn[: most - len(found)]):
            key = results.identity_in(item, self._action.thing, self._primary)
            key = self._new_key("listed", self._given, number) if key is None else key
            one = self._store.find(self._action.resource, self._primary, key, {})
            one = one or self._existing(self._primary, key)
            if not one.is_deleted and all(one is not other for other in found):
                found.append(one)
                items.append(item)
        plain = [one.own for one in found]
        total = dict.fromkeys(("count", "total", "total_count", "total_results"), len(found))
        wanted: list[_Fields] = [((), {"page": 1, "total_pages": 1} | self._given | total)]
        if self._maker is None or path is None:
            return self._filled(value, plain, wanted)
        if self._maker.change(value, [(results.value_at(value, path), slice(None), items)]):
            wanted += [((*path, number), self._repeated() | one.own) for number, one in enumerate(found)]
        value = self._filled(value, plain, wanted)
        for one, (place, _) in zip(found, wanted[1:], strict=False):
            one.remember(results.value_at(value, place))
        return value

    def _fits(self, one: Resource) -> bool:
        """Whether a list with these arguments has an object that the plan created."""
        own = {words_of(name): str(value).casefold() for name, value in one.own.items()}
        for name, value in self._given.items():
            text, known = str(value).casefold(), own.get(words_of(name))
            if name.casefold() in _QUERIES:
                known = " ".join(own.values())
                text = next((word for word in text.split() if word in known), text)
            if known is not None and text not in known and name.casefold() not in _LIMITS:
                return False
        return True

    def _repeated(self) -> Values:
        """The arguments that objects of a result repeat: no ids, and nothing that chooses among results."""
        return {
            name: one
            for name, one in self._given.items()
            if name.casefold() not in _LIMITS | _QUERIES and meaning_of(name).attribute not in IDENTITIES
        }

    def _filled(self, value: Any, plain: Any, wanted: list[_Fields]) -> Any:
        """The drawn result with fields; without a schema files and texts, the plain value, or a sentence."""
        if self._maker is None:
            if self._tool.outputs:
                return self._typed()
            # What the arguments say must not read as a failure of the call: `error="no paper"`.
            is_plain = plain is not None and not is_refusal(plain)
            return plain if is_plain else self._sentence(f"Result of {' '.join(name_words(self._tool))}")
        self._maker.fill(value, *wanted)
        return value

    def _sentence(self, about: str) -> str:
        given = ", ".join(f"{name} {value}" for name, value in self._given.items())
        return one_line(f"{about} for {given}." if given else f"{about}.", _LONGEST_TEXT)

    def _typed(self) -> str:
        """File names and sentences, one for each declared type of output."""
        found = []
        for number, kind in enumerate(self._tool.outputs):
            mark = f"{self._rng('typed', self._tool.id, self._given, number).getrandbits(24):06x}"
            name = re.sub(r"\W+", "-", kind.casefold()).strip("-") or "file"
            text = self._sentence(f"Text {mark} of {self._tool.id}")
            found.append(text if name == "text" else f"{name}-{mark}.{_FILES.get(name, 'txt')}")
        return ", ".join(found)
