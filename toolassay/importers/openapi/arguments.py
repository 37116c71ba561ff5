"""Parameters and the request body of an operation as one object of arguments."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolassay.importers.importer import Note
from toolassay.importers.openapi.operations import Operation
from toolassay.importers.openapi.references import Node, UnresolvedError, shown
from toolassay.importers.openapi.schemas import (
    Piece,
    Schemas,
    chosen_media_type,
    declared_media_types,
    lose_media_types,
    measured,
)
from toolassay.tools.identifiers import singular, words

_LOCATIONS = ("path", "query", "header", "cookie", "querystring", "formData", "body")
"""Where a parameter may be. Of several with one name, the first in this order keeps it."""
# What a client makes for each request: "Content-Type", "X-Request-Id"; not "Accept-Language", "If-Match".
_OF_CLIENT = re.compile(
    r"(?:accept|content)-(?:type|length|encoding|charset|md5)|accept|user-agent|traceparent|tracestate"
    r"|.*(?:(?:request|correlation|trace)[-_]?id|idempotency[-_]?key)",
    re.IGNORECASE,
)
# A credential: "X-Api-Key", "PRIVATE-TOKEN", "Api-Username"; not "X-Next-Token", "X-Token-Limit".
_CREDENTIAL = re.compile(
    r".*(?:key|(?<!next)(?<!next.)(?<!page)(?<!page.)(?<!continuation.)token|secret|passw(?:or)?d|auth|authori[sz]ation"
    r"|authentication|credentials?|cookie|signature|bearer|jwt|username|(?:api|app|application|client|session)[-_]?id)",
    re.IGNORECASE,
)
# Of the arguments in a query, only these are surely the caller's own.
_QUERY_CREDENTIAL = re.compile(r"api[-_]?key|access[-_]?token", re.IGNORECASE)
_PARAMETER_KEYS = {
    *("name", "in", "description", "required", "deprecated", "allowEmptyValue", "style", "explode"),
    *("allowReserved", "schema", "example", "examples", "content", "collectionFormat", "$ref"),
}
# Swagger's `collectionFormat` as OpenAPI 3 writes it, for a query; "csv" is the default elsewhere.
_COLLECTION_FORMATS: dict[str, dict[str, Any]] = {
    "csv": {"explode": False},
    "ssv": {"style": "spaceDelimited"},
    "pipes": {"style": "pipeDelimited"},
    "multi": {},
}
# Characters of a parameter's name. Model services refuse far shorter ones.
_LONGEST_NAME = 200
_MOST_NESTED = 30  # definitions in definitions, when the properties of a body are collected
_SCALARS = ("string", "number", "integer", "boolean")
# Keywords with which an object is not only a list of properties.
_NOT_PLAIN = {
    *("anyOf", "oneOf", "not", "if", "then", "else", "enum", "const", "patternProperties"),
    *("propertyNames", "dependentSchemas", "dependentRequired", "dependencies", "unevaluatedProperties"),
    *("minProperties", "maxProperties", "items", "format"),
}
# Matches "{id}" and "{+name}", with "id" and "+name"; not "{}".
_TEMPLATE = re.compile(r"\{([^{}/]+)\}")


@dataclass(frozen=True, slots=True)
class OpenApiParameter:
    """A parameter or a form field.

    Attributes:
        name: As in the document.
        location: One of `_LOCATIONS`.
        piece: Its schema, with its description.
        required: Whether a call needs it.
        serialization: What differs from the defaults of OpenAPI 3: `style`, `explode`, `content` …
    """

    name: str
    location: str
    piece: Piece
    required: bool
    serialization: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Body:
    """A request body.

    Attributes:
        piece: Its schema.
        media_type: The one that is kept.
        required: Whether a call needs it.
        description: Empty if there is none.
        flat: Its properties, if it is nothing more than an object of them.
    """

    piece: Piece
    media_type: str
    required: bool
    description: str
    flat: Flat | None


@dataclass(slots=True)
class Flat:
    """The properties of an object schema, `allOf` merged.

    Attributes:
        properties: By name.
        required: Names of those that are required.
        is_closed: Whether there may be no others.
        description: Of the object.
        losses: Of definitions that were merged.
    """

    properties: dict[str, Any] = field(default_factory=dict)
    required: dict[str, None] = field(default_factory=dict)
    is_closed: bool = False
    description: str = ""
    losses: frozenset[Note] = frozenset()


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of an operation.

    Attributes:
        piece: The input schema.
        places: Where each argument is sent.
        source: `body`, `body_required` and `serialization`, those that apply.
        warnings: What looks like a mistake in the document.
    """

    piece: Piece
    places: dict[str, str]
    source: dict[str, Any]
    warnings: list[Note]


class ArgumentReader:
    """Reads parameters and bodies; each object of a document is read once.

    Args:
        schemas: Converts schemas.
        root: The main document's root.

    Attributes:
        notes: How the user gives what each security scheme adds to a request.
    """

    def __init__(self, schemas: Schemas, root: Mapping[str, Any]) -> None:
        self._schemas = schemas
        self._root = root
        credentials = dict(_credentials(schemas, root))
        self.notes = [*credentials]
        self._credentials = {*credentials.values()}
        # By the id of an object, which stays alive beside them.
        self._read_parameters: dict[int, tuple[Any, OpenApiParameter | Note]] = {}
        self._flat: dict[int, tuple[Piece, Flat | None]] = {}

    def read(self, operation: Operation, losses: dict[Note, None]) -> Arguments:
        """The arguments of an operation; what is not kept is added to `losses`."""
        parameters, fields, body_node = self._parameters(operation, losses)
        warnings: list[Note] = []
        _add_path_parameters(operation.path, parameters, warnings)
        if body_node:
            body: Body | None = self._swagger_body(body_node, operation, losses)
            if fields:
                losses[Note("parameters", "form fields beside a body")] = None
        else:
            body = self._request_body(operation, fields, losses)
        properties: dict[str, Any] = {}
        required: list[str] = []
        places: dict[str, str] = {}
        serialization: dict[str, Any] = {}
        pieces: list[Piece] = []
        schema: dict[str, Any] = {"type": "object"}
        source: dict[str, Any] = {}
        for name, parameter in _named(parameters):
            properties[name] = parameter.piece.schema
            places[name] = parameter.location + ("" if name == parameter.name else f":{parameter.name}")
            pieces.append(parameter.piece)
            if parameter.required:
                required.append(name)
            if parameter.serialization:
                serialization[name] = parameter.serialization
        if body and _is_empty_object(body):
            losses[Note("requestBody", "may only be an empty object")] = None
        elif body:
            source["body"] = body.media_type
            if body.required:
                source["body_required"] = True
            flat = body.flat
            if flat and properties.keys().isdisjoint(flat.properties):
                properties |= flat.properties
                places |= dict.fromkeys(flat.properties, "body")
                # A name in `required` that is no property says nothing about which arguments to send.
                inner = [name for name in flat.required if name in flat.properties]
                required += inner
                if inner and not body.required:
                    reason = "the body is optional, its required properties are required arguments"
                    losses[Note("requestBody.required", reason)] = None
                if flat.is_closed:
                    schema["additionalProperties"] = False
                description = body.description or flat.description
                if description:
                    schema["description"] = description
                pieces.append(measured({"properties": flat.properties}, body.piece.losses | flat.losses))
            else:
                name = _unused("body", properties)
                whole = body.piece.schema
                if not isinstance(whole, dict):  # true or false, to which a description cannot be added
                    whole = {} if whole else {"not": {}}
                properties[name] = {**whole, "description": body.description} if body.description else whole
                places[name] = "body:whole"
                pieces.append(body.piece)
                if body.required:
                    required.append(name)
        schema["properties"] = properties
        if required:
            schema["required"] = list(dict.fromkeys(required))
        if serialization:
            source["serialization"] = serialization
        refs = tuple(dict.fromkeys(name for piece in pieces for name in piece.refs))
        values = 4 + len(required) + sum(piece.values for piece in pieces)
        all_losses = frozenset().union(*(piece.losses for piece in pieces))
        return Arguments(Piece(schema, values, refs, all_losses), places, source, warnings)

    def _parameters(
        self, operation: Operation, losses: dict[Note, None]
    ) -> tuple[list[OpenApiParameter], list[OpenApiParameter], Node | None]:
        """Parameters, Swagger's form fields and body; those of the operation replace those of the path."""
        by_name_and_location: dict[tuple[str, str], OpenApiParameter] = {}
        body: Node | None = None
        for node in (*reversed(operation.items), operation.node):
            declared = node.value.get("parameters")
            if declared is not None and not isinstance(declared, list):
                losses[Note("parameters", "is not a list")] = None
            for value in declared if isinstance(declared, list) else ():
                raw = Node(value, node.document)
                parameter = self._parameter(raw)
                if isinstance(parameter, Note):
                    losses[parameter] = None
                elif parameter.location == "body":
                    body = self._schemas.target(raw)
                elif reason := self._not_an_argument(parameter, operation.path):
                    losses[Note(f"parameters.{parameter.name}", reason)] = None
                else:
                    by_name_and_location[parameter.name, parameter.location] = parameter
        parameters = [
            parameter for parameter in by_name_and_location.values() if parameter.location != "formData"
        ]
        return (
            parameters,
            [parameter for parameter in by_name_and_location.values() if parameter.location == "formData"],
            body,
        )

    def _not_an_argument(self, parameter: OpenApiParameter, path: str) -> str:
        """Why a parameter is the same for every request, or made by the client; empty for an argument."""
        name = parameter.name
        location = parameter.location
        if location == "header" and _OF_CLIENT.fullmatch(name):
            return "this header is set by the client"
        *about, last = words(name) or ("",)
        # A version is that of the protocol, unless the path has a thing of that name: X-Post-Version.
        things = {*map(singular, words(path))} - {"api"}
        if location == "header" and last == "version" and things.isdisjoint(about):
            return _configured(location, name, parameter.piece.schema.get("default", "…"))
        credential_pattern = {"header": _CREDENTIAL, "query": _QUERY_CREDENTIAL}.get(location)
        is_own = location == "cookie" or (location, name.lower()) in self._credentials
        return (
            _configured(location, name)
            if is_own or (credential_pattern and credential_pattern.fullmatch(name))
            else ""
        )

    def _parameter(self, node: Node) -> OpenApiParameter | Note:
        """A parameter, or why it is none."""
        key = id(node.value)
        if key not in self._read_parameters:
            self._read_parameters[key] = node.value, self._new_parameter(node)
        return self._read_parameters[key][1]

    def _new_parameter(self, node: Node) -> OpenApiParameter | Note:
        try:
            node = self._schemas.references.follow(node)
        except UnresolvedError as error:
            return Note("parameters.$ref", f"{error}: {shown(node.value.get('$ref'))}")
        value = node.value
        if not isinstance(value, dict):
            return Note("parameters", "is not an object")
        name = value.get("name")
        location = value.get("in")
        if not isinstance(name, str) or not name:
            return Note("parameters", "has no name")
        if len(name) > _LONGEST_NAME:
            return Note("parameters", f"has a name of more than {_LONGEST_NAME} characters")
        if location not in _LOCATIONS:
            return Note(f"parameters.{name}", f"is in none of {', '.join(_LOCATIONS[:4])}")
        raw, serialization = self._parameter_schema(value)
        piece = self._schemas.piece(Node(raw, node.document), "request")
        if isinstance(piece.schema, dict):
            schema = dict(piece.schema)
        else:  # true or false, to which a description cannot be added
            schema = {} if piece.schema else {"not": {}}
        description = value.get("description")
        if isinstance(description, str) and description.strip():
            schema["description"] = description
        if value.get("deprecated") is True:
            schema["deprecated"] = True
        if "example" in value and "schema" in value:
            schema.setdefault("example", value["example"])
        if isinstance(value.get("examples"), dict) and "examples" not in schema:
            examples = value["examples"].values()
            values = [
                example["value"] for example in examples if isinstance(example, dict) and "value" in example
            ]
            if values:
                schema["examples"] = values
        required = location == "path" or str(value.get("required")).casefold() == "true"
        return OpenApiParameter(name, location, measured(schema, piece.losses), required, serialization)

    def _parameter_schema(self, value: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
        """The schema of a parameter as in the document, and how it is written into a request."""
        location = value["in"]
        serialization: dict[str, Any] = {}
        default = "form" if location in ("query", "cookie") else "simple"
        style = value.get("style", default)
        if isinstance(style, str) and style != default:
            serialization["style"] = style
        explode = value.get("explode")
        schema = value.get("schema")
        # It means nothing for a text or a number, where generators write it all the same.
        is_scalar = isinstance(schema, dict) and schema.get("type") in _SCALARS
        if isinstance(explode, bool) and explode != (style == "form") and not is_scalar:
            serialization["explode"] = explode
        for key in ("allowReserved", "allowEmptyValue"):
            if value.get(key) is True:
                serialization[key] = True
        content = value.get("content")
        if isinstance(content, dict) and content and "schema" not in value:
            media_type, _ = chosen_media_type(content)
            media = content[media_type]
            return media.get("schema", {}) if isinstance(media, dict) else {}, {"content": media_type}
        if "schema" in value:
            return value["schema"], serialization
        # Swagger 2.0, whose keywords some OpenAPI 3 documents keep: the parameter is a schema itself.
        collection = value.get("collectionFormat", "csv")
        if value.get("type") == "array" and location == "query" and str(collection) in _COLLECTION_FORMATS:
            serialization = {**_COLLECTION_FORMATS[collection], **serialization}
        return {key: item for key, item in value.items() if key not in _PARAMETER_KEYS}, serialization

    def _request_body(
        self, operation: Operation, fields: Sequence[OpenApiParameter], losses: dict[Note, None]
    ) -> Body | None:
        """The request body of OpenAPI 3, or Swagger's form."""
        if fields:
            consumes = declared_media_types(operation, self._root, "consumes")
            is_file = any(field.piece.schema.get("format") == "binary" for field in fields)
            form = "multipart/form-data" if is_file else "application/x-www-form-urlencoded"
            media_type = next((candidate for candidate in consumes if "form" in candidate), form)
            schema: dict[str, Any] = {
                "type": "object",
                "properties": {field.name: field.piece.schema for field in fields},
            }
            required = [field.name for field in fields if field.required]
            if required:
                schema["required"] = required
            piece = measured(schema, frozenset().union(*(field.piece.losses for field in fields)))
            lose_media_types(losses, "requestBody", [other for other in consumes if other != media_type])
            return Body(piece, media_type, bool(required), "", self._flattened(piece))
        value = operation.node.value.get("requestBody")
        if value is None:
            return None
        node = self._schemas.followed(Node(value, operation.node.document), "requestBody", losses)
        if node is None:
            return None
        content = node.value.get("content") if isinstance(node.value, dict) else None
        if not isinstance(content, dict) or not content:
            losses[Note("requestBody", "has no content")] = None
            return None
        media_type, others = chosen_media_type(content)
        lose_media_types(losses, "requestBody", others)
        media = content[media_type]
        return self._body(node, media.get("schema", {}) if isinstance(media, dict) else {}, media_type)

    def _swagger_body(self, node: Node, operation: Operation, losses: dict[Note, None]) -> Body:
        """Swagger's parameter `in: body`."""
        consumes = declared_media_types(operation, self._root, "consumes") or ["application/json"]
        media_type, others = chosen_media_type({consumed: {} for consumed in consumes})
        lose_media_types(losses, "requestBody", others)
        return self._body(node, node.value.get("schema", {}), media_type)

    def _body(self, node: Node, schema: Any, media_type: str) -> Body:
        piece = self._schemas.piece(Node(schema, node.document), "request")
        required = str(node.value.get("required")).casefold() == "true"
        return Body(piece, media_type, required, node.text("description"), self._flattened(piece))

    def _flattened(self, piece: Piece) -> Flat | None:
        """The properties of a body; None if it is more than an object of properties."""
        key = id(piece)
        if key not in self._flat:
            flat = Flat()
            is_plain = self._collect(piece.schema, flat, set()) and bool(flat.properties)
            self._flat[key] = piece, flat if is_plain else None
        return self._flat[key][1]

    def _collect(
        self, schema: Any, into: Flat, seen: set[str], *, is_branch: bool = False, depth: int = 0
    ) -> bool:
        """Add the properties of a schema and its `allOf`; False if it is not plain. Each definition once."""
        if not isinstance(schema, dict) or not _NOT_PLAIN.isdisjoint(schema) or depth > _MOST_NESTED:
            return False
        types = schema.get("type", "object")
        if types not in ("object", ["object"], ["object", "null"], ["null", "object"]):
            return False
        into.description = into.description or str(schema.get("description") or "")
        if "$ref" in schema:
            name = str(schema["$ref"]).removeprefix("#/$defs/")
            if name not in seen:
                seen.add(name)
                definition = self._schemas.definition(name, "request")
                into.losses |= definition.losses
                if not self._collect(definition.schema, into, seen, is_branch=is_branch, depth=depth + 1):
                    return False
        branches = schema.get("allOf", ())
        additional = schema.get("additionalProperties", True)
        if (additional is False and (is_branch or branches)) or additional not in (True, False, {}):
            return False
        into.is_closed = into.is_closed or additional is False
        for branch in branches:
            if not self._collect(branch, into, seen, is_branch=True, depth=depth + 1):
                return False
        properties = schema.get("properties")
        for name, item in properties.items() if isinstance(properties, dict) else ():
            present = into.properties.get(name, item)
            into.properties[name] = item if present == item else {"allOf": [present, item]}
        required = schema.get("required")
        for name in required if isinstance(required, list) else ():
            if isinstance(name, str):
                into.required[name] = None
        return True


def _credentials(schemas: Schemas, root: Mapping[str, Any]) -> Iterator[tuple[Note, tuple[str, str]]]:
    """The security schemes of a document, with the place and the name in lower case of what each adds."""
    components = root.get("components")
    schemes = components.get("securitySchemes") if isinstance(components, Mapping) else None
    for scheme_objects in (schemes, root.get("securityDefinitions")):
        for key, value in scheme_objects.items() if isinstance(scheme_objects, Mapping) else ():
            scheme = schemas.target(Node(value, schemas.references.main)).value
            if not isinstance(scheme, Mapping) or not isinstance(scheme.get("type"), str):
                continue
            location = "header"
            name = "Authorization"
            text = f"{scheme.get('scheme', 'Bearer')} …"
            if scheme["type"] == "apiKey":
                location = str(scheme.get("in"))
                name = str(scheme.get("name"))
                text = "…"
            elif scheme["type"] == "basic":
                text = "Basic …"
            yield (
                Note(f"securitySchemes.{shown(key)}", _configured(location, name, text)),
                (location, name.lower()),
            )


def _configured(location: str, name: str, text: object = "…") -> str:
    """Where the user gives what is the same for every request."""
    if location == "query":
        return f"configuration, no argument: the server adds {shown(name)}=… to the address"
    header = f"Cookie: {name}={text}" if location == "cookie" else f"{name}: {text}"
    return f"configuration, no argument: give the server --header {shlex.quote(shown(header))}"


def _is_empty_object(body: Body) -> bool:
    """Whether a body that may be left out has nothing to say, as of many GET operations."""
    schema = body.piece.schema
    return (
        not body.required
        and isinstance(schema, dict)
        and schema.get("type") == "object"
        and schema.get("additionalProperties") is False
        and schema.keys() <= {"type", "additionalProperties", "properties", "description", "title"}
        and not schema.get("properties")
    )


def _add_path_parameters(path: str, parameters: list[OpenApiParameter], warnings: list[Note]) -> None:
    """Add those that the path names and the document does not describe: no call is possible without them."""
    path_names = {parameter.name for parameter in parameters if parameter.location == "path"}
    # Some documents write the operators of RFC 6570, as in "{+name}", "{.format}" and "{key*}".
    written_names = _TEMPLATE.findall(path)
    named_in_path = dict.fromkeys(
        name if name in path_names else name.strip("+#./;?&*") for name in written_names
    )
    for name in named_in_path:
        if name and name not in path_names:
            warnings.append(
                Note(f"parameters.{name[:80]}", "is in the path but not described; a text is assumed")
            )
            piece = Piece({"type": "string"}, 2, ())
            parameters.append(OpenApiParameter(name, "path", piece, True, {}))
    for name in path_names - named_in_path.keys():
        warnings.append(Note(f"parameters.{name}", "is not in the path"))


def _named(parameters: Sequence[OpenApiParameter]) -> list[tuple[str, OpenApiParameter]]:
    """The parameters with names of their own: of several `id`, one in the query becomes `id_query`."""
    first_by_name: dict[str, OpenApiParameter] = {}
    for parameter in sorted(parameters, key=lambda parameter: _LOCATIONS.index(parameter.location)):
        first_by_name.setdefault(parameter.name, parameter)
    used_names: dict[str, Any] = dict.fromkeys(parameter.name for parameter in parameters)
    named_parameters = []
    for parameter in parameters:
        name = (
            parameter.name
            if first_by_name[parameter.name] is parameter
            else _unused(f"{parameter.name}_{parameter.location}", used_names)
        )
        used_names[name] = None
        named_parameters.append((name, parameter))
    return named_parameters


def _unused(name: str, used_names: Mapping[str, Any]) -> str:
    candidate = name
    number = 1
    while candidate in used_names:
        number += 1
        candidate = f"{name}_{number}"
    return candidate
