"""Schemas of a document as JSON Schema whose references are definitions, shared between the tools.

A definition is converted once, whatever refers to it, and the tools hold the same object: 20,000 operations
that each reach thousands of schemas would not fit into memory otherwise. Schemas are never changed in place.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from toolassay.files.data_files import values_in
from toolassay.importers.importer import Note
from toolassay.importers.openapi.operations import Operation
from toolassay.importers.openapi.references import (
    Document,
    Node,
    SchemaReferences,
    UnresolvedError,
    pointer_tokens,
    shown,
)
from toolassay.tools.argument_schemas import SUBSCHEMAS, subschemas, with_subschemas

Direction = Literal["request", "response"]

_DROPPED = frozenset(("discriminator", "xml", "externalDocs", "$schema", "$recursiveRef"))
# They serve only references, which are resolved: `#/$defs/Name` would be looked up within another `$id`.
_RESOLVED = {"$id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$defs", "definitions", "$ref"}
_ANNOTATIONS = {
    *("description", "title", "summary", "default", "deprecated", "example", "readOnly", "writeOnly"),
}
_UNSENT = {
    "request": ("readOnly", Note("schema.readOnly", "read-only properties are not sent in requests")),
    "response": ("writeOnly", Note("schema.writeOnly", "write-only properties are not in responses")),
}
# Words of a pointer that say nothing about the schema: "/components/schemas/Pet" becomes "Pet".
_STRUCTURE = {
    *("components", "schemas", "definitions", "$defs", "properties", "paths", "content", "schema"),
    *("parameters", "responses", "requestBodies", "requestBody", "items", "application/json"),
}
# Characters of the name of a definition, of which the last ones are kept.
_LONGEST_NAME = 60
# Bounds on the search for read-only properties through `allOf`, which branches.
_MOST_BRANCHES = 20
_INHERITANCE = 1


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

    def __init__(self, references: SchemaReferences, *, has_siblings: bool) -> None:
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
        definitions = self._definitions[direction]
        if name not in definitions:
            node = self._targets[name]
            conversion = _Conversion(self, node.document, direction)
            schema = conversion.schema(node.value)
            definitions[name] = measured(schema, frozenset(conversion.losses))
            if not conversion.is_directed:
                other: Direction = "response" if direction == "request" else "request"
                self._definitions[other].setdefault(name, definitions[name])
        return definitions[name]

    def unsent(self, node: Node, flag: str) -> frozenset[str]:
        """Names of a schema's own properties that have this flag, themselves or where they refer to."""
        key = id(node.value), flag
        if key not in self._unsent:
            properties = node.value.get("properties")
            items = properties.items() if isinstance(properties, dict) else ()
            names = frozenset(
                name
                for name, item in items
                for candidate in (item, self.target(Node(item, node.document)).value)
                if isinstance(candidate, dict) and candidate.get(flag) is True
            )
            self._unsent[key] = names
        return self._unsent[key]

    def target(self, node: Node) -> Node:
        """What a schema refers to, or itself; an empty schema if that does not exist."""
        try:
            return self.references.follow(node)
        except UnresolvedError:
            return Node({}, node.document)

    def followed(self, node: Node, where: str, losses: dict[Note, None]) -> Node | None:
        """What a node refers to, or itself; None with a loss if that does not exist."""
        try:
            return self.references.follow(node)
        except UnresolvedError as error:
            losses[Note(f"{where}.$ref", f"{error}: {shown(node.value.get('$ref'))}")] = None
            return None

    def name(self, reference: str, document: Document) -> str:
        """The name of the definition that a reference leads to.

        Raises:
            UnresolvedError: It leads nowhere.
        """
        key = document, reference
        if key not in self._name_of:
            node = self.references.resolve(reference, document)
            target, fragment = self.references.located(reference, document)
            target_key = target, tuple(pointer_tokens(fragment) if fragment.startswith("/") else [fragment])
            if target_key not in self._names:
                self._names[target_key] = self._new_name(target_key[1], target)
                self._targets[self._names[target_key]] = node
            self._name_of[key] = self._names[target_key]
        return self._name_of[key]

    def _new_name(self, tokens: tuple[str, ...], document: Document) -> str:
        words = [token for token in tokens if token and token not in _STRUCTURE]
        text = ".".join(words[-3:]) or document.name
        # Matches "«" and "[" of "Page«Pet[]»"; not the dot of "v1.Pet".
        text = re.sub(r"[^A-Za-z0-9_.-]+", "_", text).strip("_")[-_LONGEST_NAME:] or "schema"
        name = text
        number = 1
        while name in self._targets:
            number += 1
            name = f"{text}_{number}"
        return name

    def finish(self, roots: Mapping[Direction, Iterable[Piece]]) -> None:
        """Convert everything that is reachable, and open the loops in which a validator would not end."""
        for direction, pieces in roots.items():
            waiting = deque(name for piece in pieces for name in piece.refs)
            seen = set(waiting)
            while waiting:
                for name in self.definition(waiting.popleft(), direction).refs:
                    if name not in seen:
                        seen.add(name)
                        waiting.append(name)
            open_loops(self._definitions[direction])

    def bundle(self, refs: Iterable[str], direction: Direction, most_values: int) -> Bundle:
        """The definitions reachable from `refs`, nearest first; those beyond the limit allow anything."""
        bundle = Bundle({}, 0, set(), [])
        values = 0
        waiting = deque(dict.fromkeys(refs))
        seen = set(waiting)
        while waiting:
            name = waiting.popleft()
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
                    waiting.append(following)
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
        own_unsent: frozenset[str] = frozenset()
        if "properties" in raw or "allOf" in raw:
            node = Node(raw, self._document)
            own_unsent = self._schemas.unsent(node, self._flag)
            unsent = unsent | own_unsent | self._inherited(node)
            if unsent:
                self.is_directed = True
                self.losses.add(self._unsent_note)
        for key, value in raw.items():
            if key in _RESOLVED or key == "$dynamicRef":
                continue
            if has_reference and not self._schemas.has_siblings and key not in _ANNOTATIONS:
                self.losses.add(Note("schema.$ref", "OpenAPI 3.0 ignores keywords beside a reference"))
            elif key in _DROPPED:
                self.losses.add(Note(f"schema.{key}", "not a keyword of JSON Schema"))
            elif key == "x-nullable":
                result.setdefault("nullable", value)
            elif key.startswith("x-"):
                continue
            elif key == "required" and unsent and isinstance(value, list):
                kept = [name for name in value if not (isinstance(name, str) and name in unsent)]
                if kept:
                    result[key] = kept
            elif key == "type" and value == "file":  # Swagger 2.0
                result |= {"type": "string", "format": "binary"}
            elif key in SUBSCHEMAS:
                self._subschemas(result, key, value, own_unsent if key == "properties" else unsent)
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
        form = SUBSCHEMAS[key]
        unresolved = self._unresolved
        is_list = isinstance(value, list) and (form == "list" or key == "items")
        if not (is_list or isinstance(value, {"map": dict, "one": dict | bool, "list": list}[form])):
            self.losses.add(Note(f"schema.{key}", "is malformed"))
            return
        if key == "properties":
            value = {name: item for name, item in value.items() if name not in unsent}
        inner = unsent if key == "allOf" else frozenset[str]()
        changed = with_subschemas(
            {key: value},
            lambda item, _: (
                item if key == "dependencies" and isinstance(item, list) else self.schema(item, inner)
            ),
        )
        result |= changed
        if self._unresolved > unresolved and key in ("oneOf", "not"):
            loosen(result)

    def _inherited(self, node: Node, depth: int = 0) -> frozenset[str]:
        """Names of the properties of the schemas under `allOf` that do not exist in this direction."""
        inherited = frozenset[str]()
        branches = node.value.get("allOf")
        for branch in branches[:_MOST_BRANCHES] if isinstance(branches, list) else ():
            target = self._schemas.target(Node(branch, node.document))
            if isinstance(target.value, dict):
                inherited |= self._schemas.unsent(target, self._flag)
                if depth < _INHERITANCE:
                    inherited |= self._inherited(target, depth + 1)
        return inherited


_IN_PLACE = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else")
_LOOPING = {*_IN_PLACE, "$ref", "dependentSchemas"}


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


def measured(schema: Any, losses: frozenset[Note] = frozenset()) -> Piece:
    """A converted schema with its size and references."""
    values = 0
    refs = dict[str, None]()
    waiting = deque([schema])
    while waiting:
        schema_part = waiting.popleft()
        if not isinstance(schema_part, dict):
            values += 1
            continue
        values += sum(
            1 for _ in values_in([item for key, item in schema_part.items() if key not in SUBSCHEMAS])
        )
        waiting.extend(inner for _, inner in subschemas(schema_part))
        if "$ref" in schema_part:
            refs[str(schema_part["$ref"]).removeprefix("#/$defs/")] = None
    return Piece(schema, values, tuple(refs), losses)


def loosened(schema: Any) -> Any:
    """A copy in which every schema may be replaced by one that allows more; see `loosen`."""
    if not isinstance(schema, dict):
        return schema
    result = with_subschemas(schema, lambda subschema, _: loosened(subschema))
    loosen(result)
    return result


def loosen(schema: dict[str, Any]) -> None:
    """Replace what would reject a value because an inner schema allows it: `oneOf`, `not`, `if`.

    `oneOf` of two schemas that were cut to `{}` would reject everything.
    """
    for key in ("not", "if", "then", "else"):
        schema.pop(key, None)
    branches = schema.pop("oneOf", None)
    if branches and "anyOf" not in schema:
        schema["anyOf"] = branches


def _in_place(schema: Any) -> Iterator[tuple[str, str]]:
    """The definitions that apply to the same value as a schema, each with the outermost keyword."""
    if not isinstance(schema, dict):
        return
    if "$ref" in schema:
        yield "$ref", str(schema["$ref"]).removeprefix("#/$defs/")
    for key in _IN_PLACE:
        if key in schema:
            value = schema[key]
            for subschema in value if isinstance(value, list) else [value]:
                yield from ((key, name) for _, name in _in_place(subschema))
    for subschema in (schema.get("dependentSchemas") or {}).values():
        yield from (("dependentSchemas", name) for _, name in _in_place(subschema))


def open_loops(definitions: dict[str, Piece]) -> None:
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
            branches = []
            for branch in value:
                names = [name for _, name in _in_place(branch) if name in loop]
                if not names:
                    branches.append(branch)
                elif originals and branch.get("$ref") == f"#/$defs/{names[0]}":
                    other = originals[names[0]]
                    inner = {key for key, name in _in_place(other) if name in loop}
                    branches.append({key: item for key, item in other.items() if key not in inner})
            if branches:
                result["allOf"] = branches
    return result


def read_response(
    operation: Operation, schemas: Schemas, root: Mapping[str, Any], losses: dict[Note, None]
) -> tuple[Piece | None, dict[str, str]]:
    """The schema of the first success that has one, and its status and media type.

    Args:
        operation: The operation.
        schemas: Converts schemas.
        root: The main document's root.
        losses: Gets what is not kept.
    """
    responses = operation.node.value.get("responses")
    if not isinstance(responses, dict):
        return None, {}
    statuses = [status for status in responses if not status.startswith("x-")]
    # 200, 201, other numbers, then `2XX`.
    successes = sorted(
        (status for status in statuses if status.startswith("2")),
        key=lambda status: (status != "200", status != "201", not status.isdecimal(), status),
    )
    for status in statuses if statuses == ["default"] else successes:
        raw = Node(responses[status], operation.node.document)
        node = schemas.followed(raw, f"responses.{status[:80]}", losses)
        if node is None or not isinstance(node.value, dict):
            continue
        content = node.value.get("content")
        if "schema" in node.value and "content" not in node.value:  # Swagger 2.0
            types = declared_media_types(operation, root, "produces") or ["application/json"]
            content = {media_type: {"schema": node.value["schema"]} for media_type in types}
        content = content if isinstance(content, dict) else {}
        with_schema = {
            key: media for key, media in content.items() if isinstance(media, dict) and "schema" in media
        }
        if not with_schema:
            continue
        media_type, _ = chosen_media_type(with_schema)
        lose_media_types(losses, f"responses.{status}", [other for other in content if other != media_type])
        piece = schemas.piece(Node(with_schema[media_type]["schema"], node.document), "response")
        # A reference alone becomes the definition it refers to, which says more to a reader.
        for _ in range(5):
            if not isinstance(piece.schema, dict) or piece.schema.keys() != {"$ref"}:
                break
            definition = schemas.definition(piece.refs[0], "response")
            piece = replace(definition, losses=piece.losses | definition.losses)
        text = node.text("description")
        if isinstance(piece.schema, dict) and text and "description" not in piece.schema:
            schema = {"description": text, **piece.schema}
            piece = replace(piece, schema=schema, values=piece.values + 1)
        return piece, {"status": status, "media_type": media_type}
    return None, {}


def lose_media_types(losses: dict[Note, None], where: str, media_types: Iterable[str]) -> None:
    """Note the media types that are not kept."""
    for media_type in media_types:
        losses[Note(f"{where}.{media_type[:80]}", "only one media type is kept")] = None


def declared_media_types(operation: Operation, root: Mapping[str, Any], key: str) -> list[str]:
    """Swagger's `consumes` or `produces` of an operation, or else of its document."""
    declared = operation.node.value.get(key, root.get(key))
    return (
        [media_type for media_type in declared if isinstance(media_type, str)]
        if isinstance(declared, list)
        else []
    )


def chosen_media_type(content: Mapping[str, Any]) -> tuple[str, list[str]]:
    """The media type that is kept, JSON if there is one, and the others."""

    def order(media_type: str) -> tuple[bool, int]:
        plain = media_type.partition(";")[0].strip().lower()
        ranks = (
            plain == "application/json" and plain == media_type,
            plain == "application/json",
            plain.endswith("+json"),
            "json" in plain,
            plain == "application/x-www-form-urlencoded",
            plain.startswith("multipart/"),
            plain == "*/*",
            True,
        )
        media = content[media_type]
        return not (isinstance(media, dict) and "schema" in media), ranks.index(True)

    chosen = min(content, key=order)
    return chosen, [media_type for media_type in content if media_type != chosen]
