"""The gate "plan": calls that cannot be meant, by what tools declare and by what earlier calls did.

A wrong reading of a tool's name would reject good plans, so what rests on names is quarantined; what a schema
or the graph states is rejected.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from toolassay.argument_values.allowed_values import allowed_values
from toolassay.gates.gate import Background, Finding, RuleGate, State, listed, shown
from toolassay.gates.grounding.identifiers import EMAIL
from toolassay.gates.grounding.normalization import lists
from toolassay.gates.references import is_empty
from toolassay.graph.derive.fields import (
    IDENTIFYING,
    IDENTITIES,
    meaning_of,
    name_words,
    route_of,
    same_thing,
    things_of_tool,
    verb_of,
    words_of,
)
from toolassay.plans.gold import Gold, GoldNode
from toolassay.tools.identifiers import is_secret
from toolassay.tools.library import Tool, is_required
from toolassay.tools.output_paths import parse_reference

# Verbs after which a thing is there with other fields: not "close" and "assign", whose name says the change.
_ALTERS = frozenset({"update", "edit", "modify", "patch", "change"})
# Verbs after which a thing is gone: not "cancel" and "archive", after which one may look at it.
_DELETES = frozenset({"delete", "destroy", "drop", "erase", "purge", "remove"})


class _Call(NamedTuple):
    """A call whose tool is known: its node, and its arguments by name."""

    node: GoldNode
    tool: Tool
    values: Mapping[str, Any]


class PlanGate(RuleGate):
    """Holds back calls that change nothing, use what is deleted, or take a secret or a value of another kind.

    >>> from toolassay.tools.library import Parameter, ToolLibrary
    >>> user = Parameter("user_id", "string", required=True), Parameter("name", "string", required=False)
    >>> gate = PlanGate(Background(ToolLibrary([Tool("update_user", parameters=user)]), "temporal"))
    >>> plan = [{"task": "update_user", "arguments": [{"name": "user_id", "value": "U-1"}]}]
    >>> gate.check(Gold.of({"id": 1, "user_request": "Change user U-1", "task_nodes": plan}))[0].reason
    "'update_user' is given no field that it changes"
    """

    name = "plan"
    judges = frozenset({"plan", "values"})
    goes_to = "plan"

    def __init__(self, background: Background) -> None:
        super().__init__(background)
        self._library = background.library
        self._graph = background.graph
        self._kind = background.kind
        # What calls that read or remove need says which thing they are about.
        self._addresses = {
            words_of(parameter.name)
            for tool in background.library
            if verb_of(tool, route_of(tool)) in ("find", "remove")
            for parameter in tool.parameters
            if is_required(parameter, tool)
        }

    def check(self, gold: Gold) -> list[Finding]:
        """One finding for each call or value that cannot be meant."""
        calls = [
            _Call(
                node,
                self._library[node.tool],
                {argument["name"]: argument.get("value") for argument in node.arguments},
            )
            for node in gold.nodes
            if node.arguments is not None and node.tool in self._library
            if all(
                isinstance(argument, dict) and isinstance(argument.get("name"), str)
                for argument in node.arguments
            )
        ]
        if not any(call.values for call in calls):
            return [Finding(self.name, "not applicable", "no call has named arguments")]
        findings = [finding for call in calls for finding in self._alone(call)]
        findings += _after_deletions(calls)
        if self._kind == "schema" and self._graph is not None and not self._graph.is_implied:
            findings += [] if gold.follows_seed else self._links(calls, gold)
        return findings

    def _alone(self, call: _Call) -> Iterator[Finding]:
        tool = call.tool
        where = call.node.where
        given = {name for name, value in call.values.items() if not is_empty(value)}
        if _alters(tool):
            needed = {parameter.name for parameter in tool.parameters if is_required(parameter, tool)}
            # An id that may be left out is one that the thing gets: the category to which a topic is moved.
            fields = [
                parameter
                for parameter in tool.parameters
                if not self._is_address(parameter.name) or (needed and parameter.name not in needed)
            ]
            if fields and not any(field.name in given for field in fields):
                yield _finding("reject", f"'{tool.id}' is given no field that it changes", where)
        elif len(call.values) > len(given) and verb_of(tool, None) not in ("find", "search"):
            empty = [
                name
                for name, value in call.values.items()
                if name not in given and (value in ([], {}) or not self._is_address(name))
            ]
            if empty and all(map(self._is_address, given)):
                reason = f"{listed(empty)} of '{tool.id}' is empty, and the call gives nothing else"
                yield _finding("reject", reason, where)
        for first, second in _pairs(tool):
            if (first in given) != (second in given):
                has, lacks = (first, second) if first in given else (second, first)
                yield _finding("quarantine", f"'{tool.id}' is given '{has}' without '{lacks}'", where)
        for parameter in tool.parameters:
            value = call.values.get(parameter.name)
            is_said = isinstance(value, str | int) and not isinstance(value, bool) and not _refers(value)
            if is_said and is_secret(words_of(parameter.name)):
                reason = f"a request would have to say '{parameter.name}' of '{tool.id}', which is secret"
                yield _finding("quarantine", reason, where)
            if not isinstance(value, str) or parse_reference(value) is not None:
                continue
            allowed = _described_values(tool, parameter.name)
            if allowed and value.casefold() not in allowed:
                reason = f"'{parameter.name}' of '{tool.id}' takes {listed(allowed)}; got {shown(value)}"
                yield _finding("quarantine", reason, where)
            attribute = meaning_of(parameter.name).attribute
            is_address = EMAIL.fullmatch(value) is not None
            is_either = "mail" in parameter.description.casefold()  # "an e-mail address or the id of a user"
            is_wrong = attribute in IDENTITIES and is_address and not is_either
            if is_wrong or (attribute == "email" and "@" not in value):
                kind = "an e-mail address" if is_address else "no e-mail address"
                reason = f"'{parameter.name}' of '{tool.id}' is {shown(value)}, {kind}"
                yield _finding("quarantine", reason, where)

    def _is_address(self, name: str) -> bool:
        return words_of(name) in self._addresses or meaning_of(name).attribute in IDENTITIES

    def _links(self, calls: list[_Call], gold: Gold) -> Iterator[Finding]:
        """Findings on arguments that the tool graph says two linked calls share, and that differ."""
        once = {
            call.tool.id: call
            for call in calls
            if [node.tool for node in gold.nodes].count(call.tool.id) == 1
        }
        for source, target in dict.fromkeys(gold.links):
            link = self._graph and self._graph.dependency(source, target)
            for pair in link.shared if link and {source, target} <= once.keys() else ():
                first = once[source].values.get(pair.source)
                second = once[target].values.get(pair.target)
                if (
                    None not in (first, second)
                    and first != second
                    and not _refers(first)
                    and not _refers(second)
                ):
                    both = f"not {shown(first)} and {shown(second)}"
                    reason = f"'{pair.target}' is one for '{source}' and '{target}', {both}"
                    yield _finding("quarantine", reason, once[target].node.where)


def _finding(state: State, reason: str, where: str) -> Finding:
    return Finding(PlanGate.name, state, reason, where)


def _refers(value: Any) -> bool:
    return isinstance(value, str) and parse_reference(value) is not None


@lru_cache(maxsize=4096)
def _alters(tool: Tool) -> bool:
    """Whether a tool gives a thing other fields, all of which can be left out."""
    route = route_of(tool)
    is_named = bool(_ALTERS & {*name_words(tool)}) and verb_of(tool, route) == "change"
    return is_named or (route is not None and route.method == "PATCH")


@lru_cache(maxsize=4096)
def _pairs(tool: Tool) -> tuple[tuple[str, str], ...]:
    """Optional arguments that say something only together: the ends of a time that is written, a place."""
    names = {
        words_of(parameter.name): parameter.name
        for parameter in tool.parameters
        if not is_required(parameter, tool)
    }
    halves = {"latitude": ["longitude"]}
    if verb_of(tool, route_of(tool)) == "make":  # a change may be of one end, and a search without one
        halves |= lists()["ends"]
    return tuple(
        (name, names[whole])
        for words, name in names.items()
        for position, word in enumerate(words)
        for half in halves.get(word, ())
        if (whole := (*words[:position], half, *words[position + 1 :])) in names
    )


@lru_cache(maxsize=16_384)
def _described_values(tool: Tool, name: str) -> tuple[str, ...]:
    """The values that the description of a parameter lists, with case folded."""
    parameter = next(candidate for candidate in tool.parameters if candidate.name == name)
    if tool.input_schema is None or not parameter.declaration.keys().isdisjoint(("enum", "const")):
        return ()  # the gate "schema" compares them
    values = tuple(allowed_value.casefold() for allowed_value in allowed_values(parameter))
    # Ids with digits are examples, although "'C-1' or 'C-2'" is written like a choice.
    is_example = meaning_of(name).attribute in IDENTITIES or any(re.search(r"\d", value) for value in values)
    return () if is_example else values


def _after_deletions(calls: list[_Call]) -> Iterator[Finding]:
    """Findings on things that a call uses after an earlier one has deleted them."""
    gone: list[tuple[str, Any, _Call]] = []
    for call in calls if any(_deletes(call.tool) for call in calls) else ():
        route = route_of(call.tool)
        things = [owner.thing for owner in things_of_tool(call.tool, route)]
        identifying = [name for name in call.values if _identifies(name, things)]
        created = identifying if verb_of(call.tool, route) == "make" else []
        for name, value, earlier in gone:
            if any(
                given == value and _is_same(it, name) and it not in created
                for it, given in call.values.items()
            ):
                reason = f"'{call.tool.id}' uses {shown(value)}, which '{earlier.tool.id}' has deleted"
                yield _finding("reject", reason, call.node.where)
                break
        if _deletes(call.tool):
            gone += [
                (name, call.values[name], call)
                for name in identifying
                if isinstance(call.values[name], str | int)
            ]


@lru_cache(maxsize=4096)
def _deletes(tool: Tool) -> bool:
    route = route_of(tool)
    return bool(_DELETES & {*name_words(tool)}) or (route is not None and route.method == "DELETE")


def _identifies(name: str, things: list[tuple[str, ...]]) -> bool:
    """Whether an argument says which of the things is meant: `note_id`, `id` or `path` of a note."""
    thing, attribute = meaning_of(name)
    is_key = attribute in IDENTIFYING or attribute in ("", "path", "number")
    return is_key and (
        any(same_thing(candidate, thing) for candidate in things) if thing else bool(attribute)
    )


def _is_same(name: str, other_name: str) -> bool:
    """Whether two arguments may name the same thing: `id` and `note_id`, not `owner` and `note_id`."""
    first = meaning_of(name)
    second = meaning_of(other_name)
    return not first.thing or not second.thing or bool(same_thing(first.thing, second.thing))
