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
        self.tool = tool
        self.action = actions.of(tool)
        self.primary = actions.attributes.get(self.action.resource, self.action.attribute)
        schema = tool.input_schema
        if schema is None:
            schema = {
                "properties": {parameter.name: {} for parameter in tool.parameters},
                "required": [parameter.name for parameter in tool.parameters if is_required(parameter, tool)],
                "additionalProperties": not declares_parameters(tool),
            }
        self.validator = ArgumentValidator(schema)
        self.maker = None if tool.output_schema is None else ResultMaker(tool, types)


class OpenSimulation(OpenExecutor):
    """The simulator for the tools of a folder."""

    def __init__(self, context: ExecutionContext) -> None:
        self.seed = context.seed
        self.limits = context.limits
        self.identity = {"seed": context.seed}
        self.actions = Actions(context.library)
        self._types = results.types_of_arguments(context.library)
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
        self.opened = opened
        self.store = ResourceStore()

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

    def __init__(self, world: _Simulation, tool: _SimulatedTool, arguments: Values) -> None:
        self._opened = world.opened
        self._store = world.store
        self._arguments = arguments
        self._tool = tool.tool
        self._action = tool.action
        self._maker = tool.maker
        self._thing = " ".join(self._action.thing)
        self._primary = tool.primary
        self._those = world.store.all(self._action.resource)
        self._scope = {name: arguments[name] for name in self._action.scope if name in arguments}

    def result(self) -> Any:
        """Do what the tool does; Refusal if it does not fit the objects, UnmakeableError without a result."""
        if self._action.kind == "create":
            return self._create()
        if self._action.kind in ("list", "read"):
            value = self._new_result()
            has_list = results.place_of(value, self._action.thing).listed is not None
            is_list = self._action.kind == "list" or (self._action.reads and has_list)
            return self._list(value) if is_list else self._answer(value)
        resource = self._named()
        if self._action.kind == "change":
            return self._change(resource)
        resource.is_deleted = self._action.kind == "remove"
        return self._answer(self._new_result(), resource)

    def _rng(self, *parts: Any) -> Random:
        """Random numbers that depend on the seed and the parts alone."""
        return Random(json.dumps([self._opened.seed, *parts], sort_keys=True, default=str))

    def _new_key(self, *parts: Any) -> str:
        """An id in digits, valid as a text and as a number."""
        return str(self._rng(self._action.resource, *parts).randint(100_000, 999_999_999))

    def _new_result(self, number: int = 0) -> Any:
        """A result drawn from the output schema, a small one if it is too large; None without a schema."""
        if self._maker is None:
            return None
        logged_arguments = {
            name: argument for name, argument in self._arguments.items() if name.casefold() not in _LIMITS
        }
        parts = ("result", self._tool.id, logged_arguments, number)
        value = self._maker.make(self._rng(*parts))
        if len(json.dumps(value)) > self._opened.limits.result_bytes // 2:
            value = self._maker.make(self._rng(*parts), small=True)
        return value

    def _named(self) -> Resource:
        """The object that the arguments name; Refusal if it was deleted. One never seen existed before."""
        action = self._action
        # Without a key, what is removed is known by all arguments.
        otherwise = " ".join(map(str, self._arguments.values())) if action.kind == "remove" else ""
        value = self._arguments.get(action.key, otherwise)
        resource = self._store.find(action.resource, action.attribute, value, self._scope)
        if resource is not None and resource.is_deleted:
            raise Refusal(one_line(f"no {self._thing} with {action.attribute} '{value}'"))
        return resource or self._existing(action.attribute, value)

    def _existing(self, attribute: str, value: Any) -> Resource:
        """A new object that existed before the plan, known by one attribute."""
        is_primary = value == "" or attribute == self._primary
        key = value if is_primary else self._new_key(attribute, str(value), self._scope)
        fields = self._scope | ({} if value == "" else {attribute: value})
        resource = Resource(
            self._action.resource, self._action.thing, self._primary, key, self._scope, fields
        )
        self._those.append(resource)
        return resource

    def _create(self) -> Any:
        action = self._action
        key = self._arguments.get(action.key) if action.key else None
        existing = key and self._store.find(action.resource, action.attribute, key, self._scope)
        if existing and not existing.is_deleted:
            if action.verb in _OVERWRITING:
                return self._change(existing)
            raise Refusal(one_line(f"a {self._thing} with {action.attribute} '{key}' exists already"))
        number = sum(resource.is_new for resource in self._those)
        value = self._new_result(number)
        if key is None:
            inside = results.value_at(value, results.place_of(value, action.thing).object)
            drawn = results.identity_in(inside, action.thing, self._primary)
            used_keys = {str(resource.key) for resource in self._those} | {"None"}
            key = drawn if str(drawn) not in used_keys else self._new_key(number)
        resource = Resource(action.resource, action.thing, self._primary, key, self._scope, is_new=True)
        resource.write(self._arguments)
        self._those.append(resource)
        return self._answer(value, resource)

    def _change(self, resource: Resource) -> Any:
        kept = {self._action.key, *self._scope}
        changes = {name: value for name, value in self._arguments.items() if name not in kept}
        resource.write(changes or {self._action.verb or "changed": True})
        return self._answer(self._new_result(), resource)

    def _answer(self, value: Any, resource: Resource | None = None) -> Any:
        """The result of a call, with the object that it is about."""
        path = results.place_of(value, self._action.thing).object
        own_fields = self._repeated() | (resource.named_fields if resource else {})
        value = self._filled(
            value, resource and resource.named_fields, [((), self._arguments), (path, own_fields)]
        )
        if resource is not None:
            resource.remember(results.value_at(value, path))
        return value

    def _list(self, value: Any) -> Any:
        """Objects that the plan created and that fit the arguments, then some that existed before."""
        path = results.place_of(value, self._action.thing).listed
        if self._maker is None:
            drawn: Any = [{}, {}]
        else:
            drawn = [] if path is None else results.value_at(value, path)
        limits = [
            argument
            for name, argument in self._arguments.items()
            if name.casefold() in _LIMITS and type(argument) is int
        ]
        most = max(0, min([*limits, _MOST_LISTED]))
        listed = [
            resource
            for resource in self._those
            if resource.is_new and not resource.is_deleted and self._fits(resource)
        ][:most]
        items = [copy.deepcopy(drawn[number % len(drawn)]) for number in range(len(listed)) if drawn]
        for number, item in enumerate(drawn[: most - len(listed)]):
            key = results.identity_in(item, self._action.thing, self._primary)
            key = self._new_key("listed", self._arguments, number) if key is None else key
            resource = self._store.find(self._action.resource, self._primary, key, {})
            resource = resource or self._existing(self._primary, key)
            if not resource.is_deleted and all(resource is not other for other in listed):
                listed.append(resource)
                items.append(item)
        plain = [resource.named_fields for resource in listed]
        total = dict.fromkeys(("count", "total", "total_count", "total_results"), len(listed))
        wanted_fields: list[_Fields] = [((), {"page": 1, "total_pages": 1} | self._arguments | total)]
        if self._maker is None or path is None:
            return self._filled(value, plain, wanted_fields)
        if self._maker.change(value, [(results.value_at(value, path), slice(None), items)]):
            wanted_fields += [
                ((*path, number), self._repeated() | resource.named_fields)
                for number, resource in enumerate(listed)
            ]
        value = self._filled(value, plain, wanted_fields)
        for resource, (item_path, _) in zip(listed, wanted_fields[1:], strict=False):
            resource.remember(results.value_at(value, item_path))
        return value

    def _fits(self, resource: Resource) -> bool:
        """Whether a list with these arguments has an object that the plan created."""
        own_values = {words_of(name): str(value).casefold() for name, value in resource.named_fields.items()}
        for name, value in self._arguments.items():
            text = str(value).casefold()
            known_value = own_values.get(words_of(name))
            if name.casefold() in _QUERIES:
                known_value = " ".join(own_values.values())
                text = next((word for word in text.split() if word in known_value), text)
            if known_value is not None and text not in known_value and name.casefold() not in _LIMITS:
                return False
        return True

    def _repeated(self) -> Values:
        """The arguments that objects of a result repeat: no ids, and nothing that chooses among results."""
        return {
            name: argument
            for name, argument in self._arguments.items()
            if name.casefold() not in _LIMITS | _QUERIES and meaning_of(name).attribute not in IDENTITIES
        }

    def _filled(self, value: Any, plain: Any, wanted_fields: list[_Fields]) -> Any:
        """The drawn result with fields; without a schema files and texts, the plain value, or a sentence."""
        if self._maker is None:
            if self._tool.outputs:
                return self._typed()
            # What the arguments say must not read as a failure of the call: `error="no paper"`.
            is_plain = plain is not None and not is_refusal(plain)
            return plain if is_plain else self._sentence(f"Result of {' '.join(name_words(self._tool))}")
        self._maker.fill(value, *wanted_fields)
        return value

    def _sentence(self, about: str) -> str:
        arguments = ", ".join(f"{name} {value}" for name, value in self._arguments.items())
        return one_line(f"{about} for {arguments}." if arguments else f"{about}.", _LONGEST_TEXT)

    def _typed(self) -> str:
        """File names and sentences, one for each declared type of output."""
        texts = []
        for number, kind in enumerate(self._tool.outputs):
            mark = f"{self._rng('typed', self._tool.id, self._arguments, number).getrandbits(24):06x}"
            name = re.sub(r"\W+", "-", kind.casefold()).strip("-") or "file"
            text = self._sentence(f"Text {mark} of {self._tool.id}")
            texts.append(text if name == "text" else f"{name}-{mark}.{_FILES.get(name, 'txt')}")
        return ", ".join(texts)
