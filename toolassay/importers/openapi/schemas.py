"""Schemas of a document as JSON Schema whose references are definitions, shared between the tools.

A definition is converted once, whatever refers to it, and the tools hold the same object: 20,000 operations
that each reach thousands of schemas would not fit into memory otherwise. Schemas are never changed in place.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from toolassay.importers.importer import Note
from toolassay.importers.openapi.references import (
    Document,
    Node,
    References,
    UnresolvedError,
    pointer_tokens,
    shown,
)

Direction = Literal["request", "response"]

_POSITIONS = {
    **dict.fromkeys(("properties", "patternProperties", "dependentSchemas"), "map"),
    **dict.fromkeys(("allOf", "anyOf", "oneOf", "prefixItems"), "list"),
    **dict.fromkeys(("not", "if", "then", "else", "contains", "propertyNames", "contentSchema"), "one"),
    **dict.fromkeys(("additionalProperties", "unevaluatedProperties", "unevaluatedItems"), "one"),
    **dict.fromkeys(("additionalItems", "items"), "one"),
}
"""Where a keyword has schemas. In drafts 4 to 7 `items` may be a list, `dependencies` a map with lists."""
_DROPPED = {
    "discriminator": Note("schema.discriminator", "not a keyword of JSON Schema"),
    "xml": Note("schema.xml", "not a keyword of JSON Schema"),
    "externalDocs": Note("schema.externalDocs", "not a keyword of JSON Schema"),
    "$schema": Note("schema.$schema", "one dialect for all schemas"),
    "$recursiveRef": Note("schema.$recursiveRef", "not supported"),
}
# They serve only references, which are resolved: `#/$defs/Name` would be looked up within another `$id`.
_RESOLVED = {"$id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$defs", "definitions", "$ref"}
_ANNOTATIONS = {
    "description",
    "title",
    "default",
    "deprecated",
    "example",
    "readOnly",
    "writeOnly",
    "summary",
}
_UNSENT = {
    "request": ("readOnly", Note("schema.readOnly", "read-only properties are not sent in requests")),
    "response": ("writeOnly", Note("schema.writeOnly", "write-only properties are not in responses")),
}
_IN_PLACE = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else")
EXTENSION = "extensions are not kept"
"""Reason of the notes whose field begins with `x-`; a tool has one note for all of them."""
# Words of a pointer that say nothing about the schema: "/components/schemas/Pet" becomes "Pet".
_STRUCTURE = {
    *("components", "schemas", "definitions", "$defs", "properties", "paths", "content", "schema"),
    *("parameters", "responses", "requestBodies", "requestBody", "items", "application/json"),
}
_LONGEST_NAME = 60
# Bounds on the search for read-only properties through `allOf`, which branches.
_MOST_BRANCHES = 20
_INHERITANCE = 1


@dataclass(frozen=True, slots=True)
class Piece:
    """A converted schema.

    Attributes:
        schema: A dictionary or a truth value.
        values: Number of JSON values in it.
        refs: Names of the definitions it refers to, in order.
        losses: What was not converted.
    """

    schema: Any
    values: int
    refs: tuple[str, ...]
    losses: frozenset[Note] = frozenset()


class Bundle(NamedTuple):
    """The definitions of a tool's schema.

    Attributes:
        definitions: By name.
        values: Number of JSON values in them.
        losses: Of their conversion.
        cut: Names of those that are left open because the tool would become too large.
    """

    definitions: dict[str, Any]
    values: int
    losses: set[Note]
    cut: list[str]


class Schemas:
    """Converts the schemas of one import.

    Args:
        references: Resolves `$ref`.
        has_siblings: Whether keywords beside `$ref` count, as in OpenAPI 3.1.
    """

    def __init__(self, references: References, *, has_siblings: bool) -> None:
        self.references = references
        self.has_siblings = has_siblings
        self._targets: dict[str, Node] = {}
        self._names: dict[tuple[Document, tuple[str, ...]], str] = {}
        self._name_of: dict[tuple[Document, str], str] = {}
        self._pieces: dict[tuple[int, Direction], Piece] = {}
        self._alive: list[Any] = []
        self._unsent: dict[tuple[int, str], frozenset[str]] = {}
        self._definitions: dict[Direction, dict[str, Piece]] = {"request": {}, "response": {}}
        self._loosened: dict[tuple[str, Direction], Any] = {}

    def piece(self, node: Node, direction: Direction) -> Piece:
        """The converted schema; the same one each time for the same object."""
        key = id(node.value), direction
        if key not in self._pieces:
            self._alive.append(node.value)  # its id is not used again
            conversion = _Conversion(self, node.document, direction)
            schema = conversion.schema(node.value)
            self._pieces[key] = measured(schema, frozenset(conversion.losses))
        return self._pieces[key]

    def definition(self, name: str, direction: Direction) -> Piece:
        """A definition, converted when it is first needed."""
        known = self._definitions[direction]
        if name not in known:
            node = self._targets[name]
            conversion = _Conversion(self, node.document, direction)
            schema = conversion.schema(node.value)
            known[name] = measured(schema, frozenset(conversion.losses))
            if not conversion.is_directed:
                other: Direction = "response" if direction == "request" else "request"
                self._definitions[other].setdefault(name, known[name])
        return known[name]

    def unsent(self, node: Node, flag: str) -> frozenset[str]:
        """Names of a schema's own properties that have this flag, themselves or where they refer to."""
        key = id(node.value), flag
        if key not in self._unsent:
            properties = node.value.get("properties")
            items = properties.items() if isinstance(properties, dict) else ()
            names = frozenset(
                name
                for name, item in items
                if isinstance(item, dict)
                and (
                    item.get(flag) is True
                    or ("$ref" in item and _is_set(self.target(Node(item, node.document)).value, flag))
                )
            )
            self._unsent[key] = names
        return self._unsent[key]

    def target(self, node: Node) -> Node:
        """What a schema refers to, or itself; an empty schema if that does not exist."""
        try:
            return self.references.follow(node)
        except UnresolvedError:
            return Node({}, node.document)

    def name(self, reference: str, document: Document) -> str:
        """The name of the definition that a reference leads to.

        Raises:
            UnresolvedError: It leads nowhere.
        """
        key = document, reference
        if key not in self._name_of:
            node = self.references.resolve(reference, document)
            target, fragment = self.references.located(reference, document)
            place = target, tuple(pointer_tokens(fragment) if fragment.startswith("/") else [fragment])
            if place not in self._names:
                self._names[place] = self._new_name(place[1], target)
                self._targets[self._names[place]] = node
            self._name_of[key] = self._names[place]
        return self._name_of[key]

    def _new_name(self, tokens: tuple[str, ...], document: Document) -> str:
        words = [token for token in tokens if token and token not in _STRUCTURE]
        text = ".".join(words[-3:]) or document.name
        # Matches "«" and "[" of "Page«Pet[]»"; not the dot of "v1.Pet".
        text = re.sub(r"[^A-Za-z0-9_.-]+", "_", text).strip("_")[-_LONGEST_NAME:] or "schema"
        name, number = text, 1
        while name in self._targets:
            number += 1
            name = f"{text}_{number}"
        return name

    def finish(self, roots: Mapping[Direction, Iterable[Piece]]) -> None:
        """Convert everything that is reachable, and open the loops in which a validator would not end."""
        for direction, pieces in roots.items():
            rest = deque(name for piece in pieces for name in piece.refs)
            seen = set(rest)
            while rest:
                for name in self.definition(rest.popleft(), direction).refs:
                    if name not in seen:
                        seen.add(name)
                        rest.append(name)
            _open_loops(self._definitions[direction])

    def bundle(self, refs: Iterable[str], direction: Direction, most_values: int) -> Bundle:
        """The definitions reachable from `refs`, nearest first; those beyond the limit allow anything."""
        bundle = Bundle({}, 0, set(), [])
        values = 0
        rest = deque(dict.fromkeys(refs))
        seen = set(rest)
        while rest:
            name = rest.popleft()
            piece = self.definition(name, direction)
            if values + piece.values > most_values:
                bundle.definitions[name] = {}
                bundle.cut.append(name)
                continue
            values += piece.values
            bundle.definitions[name] = piece.schema
            bundle.losses.update(piece.losses)
            for following in piece.refs:
                if following not in seen:
                    seen.add(following)
                    rest.append(following)
        if bundle.cut:
            cut = set(bundle.cut)
            for name in bundle.definitions:
                bundle.definitions[name] = self._loose(name, direction) if name not in cut else {}
        return bundle._replace(values=values)

    def _loose(self, name: str, direction: Direction) -> Any:
        """A definition for a tool whose schemas are cut, shared like the others."""
        key = name, direction
        if key not in self._loosened:
            schema = self.definition(name, direction).schema
            loose = loosened(schema)
            self._loosened[key] = schema if loose == schema else loose
        return self._loosened[key]


class _Conversion:
    """Converts one schema; recursion ends, as documents have at most `DEEPEST` levels."""

    def __init__(self, schemas: Schemas, document: Document, direction: Direction) -> None:
        self._schemas = schemas
        self._document = document
        self._flag, self._unsent_note = _UNSENT[direction]
        self._unresolved = 0
        self.losses: set[Note] = set()
        self.is_directed = False  # whether the other direction would give another result

    def schema(self, raw: Any, unsent: frozenset[str] = frozenset()) -> Any:
        """A schema without what JSON Schema does not know.

        Args:
            raw: As in the document.
            unsent: Properties of a schema around it that do not exist in this direction.
        """
        if isinstance(raw, bool):
            return raw
        if not isinstance(raw, dict):
            self.losses.add(Note("schema", "is not an object"))
            return {}
        result: dict[str, Any] = {}
        reference = raw.get("$ref", raw.get("$dynamicRef"))
        has_reference = isinstance(reference, str)
        if isinstance(reference, str):
            result |= self._reference(reference)
            if "$dynamicRef" in raw:
                self.losses.add(Note("schema.$dynamicRef", "resolved as $ref"))
        own: frozenset[str] = frozenset()
        if "properties" in raw or "allOf" in raw:
            node = Node(raw, self._document)
            own = self._schemas.unsent(node, self._flag)
            unsent = unsent | own | self._inherited(node)
            if unsent:
                self.is_directed = True
                self.losses.add(self._unsent_note)
        for key, value in raw.items():
            if key in _RESOLVED or key == "$dynamicRef":
                continue
            if has_reference and not self._schemas.has_siblings and key not in _ANNOTATIONS:
                self.losses.add(Note("schema.$ref", "OpenAPI 3.0 ignores keywords beside a reference"))
            elif key in _DROPPED:
                self.losses.add(_DROPPED[key])
            elif key == "x-nullable":
                result.setdefault("nullable", value)
            elif key.startswith("x-"):
                self.losses.add(Note(key, EXTENSION))
            elif key == "required" and unsent and isinstance(value, list):
                kept = [name for name in value if not (isinstance(name, str) and name in unsent)]
                if kept:
                    result[key] = kept
            elif key == "type" and value == "file":  # Swagger 2.0
                result |= {"type": "string", "format": "binary"}
            elif key in _POSITIONS or key == "dependencies":
                self._subschemas(result, key, value, own if key == "properties" else unsent)
            else:
                result[key] = value
        return result

    def _reference(self, reference: str) -> dict[str, str]:
        try:
            return {"$ref": f"#/$defs/{self._schemas.name(reference, self._document)}"}
        except UnresolvedError as error:
            self._unresolved += 1
            self.losses.add(Note("schema.$ref", f"{error}: {shown(reference)}"))
            return {}

    def _subschemas(self, result: dict[str, Any], key: str, value: Any, unsent: frozenset[str]) -> None:
        kind = _POSITIONS.get(key)
        unresolved = self._unresolved
        inner = unsent if key == "allOf" else frozenset[str]()
        if key == "dependencies" and isinstance(value, dict):
            result[key] = {
                name: item if isinstance(item, list) else self.schema(item) for name, item in value.items()
            }
        elif kind == "map" and isinstance(value, dict):
            dropped = unsent if key == "properties" else frozenset[str]()
            result[key] = {name: self.schema(item) for name, item in value.items() if name not in dropped}
        elif (kind == "list" or key == "items") and isinstance(value, list):
            result[key] = [self.schema(item, inner) for item in value]
        elif kind == "one" and isinstance(value, dict | bool):
            result[key] = self.schema(value)
        else:
            self.losses.add(Note(f"schema.{key}", "is malformed"))
        if self._unresolved > unresolved and key in ("oneOf", "not"):
            _loosen(result)

    def _inherited(self, node: Node, depth: int = 0) -> frozenset[str]:
        """Names of the properties of the schemas under `allOf` that do not exist in this direction."""
        found = frozenset[str]()
        branches = node.value.get("allOf")
        for branch in branches[:_MOST_BRANCHES] if isinstance(branches, list) else ():
            target = self._schemas.target(Node(branch, node.document))
            if isinstance(target.value, dict):
                found |= self._schemas.unsent(target, self._flag)
                if depth < _INHERITANCE:
                    found |= self._inherited(target, depth + 1)
        return found


def _is_set(schema: Any, flag: str) -> bool:
    return isinstance(schema, dict) and schema.get(flag) is True


def measured(schema: Any, losses: frozenset[Note] = frozenset()) -> Piece:
    """A converted schema with its size and references."""
    values = 0
    refs: dict[str, None] = {}
    rest = deque([schema])
    while rest:
        one = rest.popleft()
        own, children = _parts(one)
        values += own
        rest.extend(children)
        if isinstance(one, dict) and "$ref" in one:
            refs[str(one["$ref"]).removeprefix("#/$defs/")] = None
    return Piece(schema, values, tuple(refs), losses)


def pruned(schema: Any, most_values: int, least_depth: int = 0) -> Any:
    """A copy of the first levels that fit into the limit; below them it allows anything.

    Args:
        schema: A converted schema of more values than the limit.
        most_values: Maximum number of JSON values; what allows anything counts as one.
        least_depth: Levels that are kept even if they do not fit.
    """
    level, depth, values = [schema], 0, 0
    while level:
        parts = [_parts(one) for one in level]
        if values + len(level) > most_values:
            depth -= 1
            break
        values += sum(own for own, _ in parts)
        if values > most_values:
            break
        level = [child for _, children in parts for child in children]
        depth += 1
    return _until(schema, max(depth, least_depth))


def _until(schema: Any, depth: int) -> Any:
    """The first levels of a schema."""
    if depth <= 0 or not isinstance(schema, dict):
        return schema if isinstance(schema, bool) else {}
    return {key: _mapped(key, value, lambda one: _until(one, depth - 1)) for key, value in schema.items()}


def _mapped(key: str, value: Any, change: Any) -> Any:
    """The value of a keyword with its schemas changed."""
    if key not in _POSITIONS and key != "dependencies":
        return value
    if isinstance(value, dict) and _POSITIONS.get(key) != "one":
        return {name: item if isinstance(item, list) else change(item) for name, item in value.items()}
    return [change(item) for item in value] if isinstance(value, list) else change(value)


def loosened(schema: Any) -> Any:
    """A copy in which every schema may be replaced by one that allows more; see `_loosen`."""
    if not isinstance(schema, dict):
        return schema
    result = {key: _mapped(key, value, loosened) for key, value in schema.items()}
    _loosen(result)
    return result


def _loosen(schema: dict[str, Any]) -> None:
    """Replace what would reject a value because an inner schema allows it: `oneOf`, `not`, `if`.

    `oneOf` of two schemas that were cut to `{}` would reject everything.
    """
    for key in ("not", "if", "then", "else"):
        schema.pop(key, None)
    branches = schema.pop("oneOf", None)
    if branches and "anyOf" not in schema:
        schema["anyOf"] = branches


def _parts(schema: Any) -> tuple[int, list[Any]]:
    """The number of JSON values in a schema without those in its schemas, and these schemas."""
    if not isinstance(schema, dict):
        return 1, []
    values = 1
    children: list[Any] = []
    for key, value in schema.items():
        if key in _POSITIONS:
            if isinstance(value, list):
                children += value
            elif isinstance(value, dict) and _POSITIONS[key] != "one":
                children += value.values()
            else:
                children.append(value)
        elif key == "dependencies":
            children += [item for item in value.values() if not isinstance(item, list)]
        else:
            values += 1 if not isinstance(value, dict | list) else _size(value)
    return values, children


def _size(value: Any) -> int:
    """The number of JSON values in an example, a default or an enumeration."""
    values, rest = 0, [value]
    while rest:
        values += 1
        one = rest.pop()
        if isinstance(one, dict | list):
            items = one.values() if isinstance(one, dict) else one
            containers = [item for item in items if isinstance(item, dict | list)]
            values += len(one) - len(containers)
            rest += containers
    return values


def _in_place(schema: Any) -> Iterator[tuple[str, str]]:
    """The definitions that apply to the same value as a schema, each with the outermost keyword."""
    if not isinstance(schema, dict):
        return
    if "$ref" in schema:
        yield "$ref", str(schema["$ref"]).removeprefix("#/$defs/")
    for key in _IN_PLACE:
        if key in schema:
            value = schema[key]
            for one in value if isinstance(value, list) else [value]:
                yield from ((key, name) for _, name in _in_place(one))
    for one in (schema.get("dependentSchemas") or {}).values():
        yield from (("dependentSchemas", name) for _, name in _in_place(one))


def _open_loops(definitions: dict[str, Piece]) -> None:
    """Change definitions that apply themselves to the same value, on which a validator would not end.

    Mostly `Pet: {oneOf: [Cat]}` with `Cat: {allOf: [Pet, …]}`. There `Cat` gets a copy of what else `Pet`
    says; `Pet` stays. Where that does not help, the keyword that closes the loop is removed.
    """
    note = Note("schema.$ref", "a schema that applies itself to the same value is opened")
    for is_last in (False, True):
        for loop in _loops(definitions):
            originals = {name: definitions[name].schema for name in loop}
            for name in sorted(loop):
                schema = _opened(originals[name], loop, {} if is_last else originals)
                if schema is not originals[name]:
                    losses = definitions[name].losses | {note}
                    definitions[name] = measured(schema, losses)


def _loops(definitions: Mapping[str, Piece]) -> list[set[str]]:
    edges = [
        (name, target)
        for name, piece in definitions.items()
        if isinstance(piece.schema, dict) and not piece.schema.keys().isdisjoint(_LOOPING)
        for _, target in _in_place(piece.schema)
    ]
    if not edges:
        return []
    import networkx

    graph = networkx.DiGraph(edges)
    return [
        component
        for component in networkx.strongly_connected_components(graph)
        if len(component) > 1 or any(graph.has_edge(name, name) for name in component)
    ]


_LOOPING = {*_IN_PLACE, "$ref", "dependentSchemas"}


def _opened(schema: dict[str, Any], loop: set[str], originals: Mapping[str, Any]) -> dict[str, Any]:
    """A schema of a loop without what closes it.

    Args:
        schema: A definition of the loop.
        loop: Names of its definitions.
        originals: Definitions to copy into `allOf`; empty to remove every keyword that closes the loop.
    """
    closing = {key for key, name in _in_place(schema) if name in loop}
    if not closing or (originals and "allOf" not in closing):
        return schema
    result = dict(schema)
    if originals:
        closing = {"allOf"}
    for key in closing:
        value = result.pop(key)
        if key == "allOf":
            kept = []
            for branch in value:
                names = [name for _, name in _in_place(branch) if name in loop]
                if not names:
                    kept.append(branch)
                elif originals and branch.get("$ref") == f"#/$defs/{names[0]}":
                    other = originals[names[0]]
                    inner = {key for key, name in _in_place(other) if name in loop}
                    kept.append({key: item for key, item in other.items() if key not in inner})
            if kept:
                result["allOf"] = kept
    return result
