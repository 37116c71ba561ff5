"""Names of types as other languages spell them, as JSON Schema: `List<String>`, `int?`, `varchar(20)`.

The one table of such names: for imports, graphs, gates, the writer and exports.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from toolassay.files.data_files import package_data

# By the type, and for a text its format.
_SCHEMAS = {
    word: dict(zip(("type", "format"), kind.split(), strict=False))
    for kind, words in package_data(__package__, "type_names.json").items()
    for word in words.split()
}
_OPTIONAL = frozenset({"optional", "nullable", "option", "maybe"})
_REMARKS = frozenset({"optional", "required", "..."})  # "string, optional" and "tuple[int, ...]"
# What a name may have around a known one: "uint8", "bigint", "TYPE_STRING", "int64_t".
_AROUND = re.compile(r"^(?:type|unsigned|signed|big|small|medium|tiny|long|n|u|s)(?=[a-z])|(?<=.)\d+t?$")
# "enum: low, high", "one of (a|b)" and "Literal['a', 'b']", but not "choices".
_CHOICE = re.compile(
    r"(?:enum|literal|choice|one ?of)\s*(?::\s*(?P<open>.+)|[(\[<]\s*(?P<in>.+?)[)\]>]?)$", re.IGNORECASE
)
# "list[int]", "Map<String, Integer>", "varchar(20)", "list of strings", "map[string]int"; not "[String]".
_NAMED = re.compile(r"(?P<name>[\w .:-]*\w)\s*(?:[\[<({](?P<inner>.*)[\])>}].*)?", re.DOTALL)
# "string[]", "[]string", "[String]", "repeated string", "array of strings"; not "[String: Int]".
_LISTED = re.compile(
    r"(?P<before>.+)\[\d*\]|\[(?P<inside>[^:\]][^:]*)\]|"
    r"(?:\[\]|(?:repeated|(?:an? )?(?:list|array|sequence|set|tuple)s? of) )(?P<after>.+)",
    re.IGNORECASE | re.DOTALL,
)
_LONGEST = 200  # characters that are read, which limits the depth, too

Schema = dict[str, Any]
Unknown = Callable[[str], Schema | None]


def read_type(declared: str, unknown: Unknown = lambda name: None) -> Schema | None:
    """The JSON Schema of a type as any language spells it, in any case; {} for any value.

    Args:
        declared: The type, e.g. "Optional[List[int]]".
        unknown: Gives the schema of a name that is not in the table, in lower case; None if it has none.

    Returns:
        None if the type, or one of several that it names, is unknown.

    >>> read_type("List<Integer>"), read_type("VARCHAR(20)"), read_type("int?")
    ({'type': 'array', 'items': {'type': 'integer'}}, {'type': 'string'}, {'type': ['integer', 'null']})
    >>> read_type("datetime"), read_type("'asc' | 'desc'"), read_type("soil sample")
    ({'type': 'string', 'format': 'date-time'}, {'enum': ['asc', 'desc']}, None)
    """
    return _read(declared[:_LONGEST], unknown)


def read_types(declared: Any) -> Schema | None:
    """`read_type` of the value of a keyword `type`, a name or a list of names; None if it is neither.

    >>> read_types(["Int", "null"]), read_types("dict"), read_types(3)
    ({'type': ['integer', 'null']}, {'type': 'object'}, None)
    """
    names = declared if isinstance(declared, list) else [declared]
    return read_type(" | ".join(names)) if all(isinstance(name, str) for name in names) else None


def choices_of(declared: str) -> list[str]:
    """The values that a type lists; empty if it names a type.

    >>> choices_of("enum: low, high"), choices_of("Literal['a', 'b']"), choices_of("string | null")
    (['low', 'high'], ['a', 'b'], [])
    """
    text = declared.strip()
    if match := _CHOICE.fullmatch(text):
        values = re.split(r"[,|]", match["open"] or match["in"])
    else:
        values = _split(text)
        values = values if all(value.strip()[:1] in ("'", '"') for value in values) else []
    return [value for written in values if (value := written.strip(" '\""))]


def _read(text: str, unknown: Unknown) -> Schema | None:
    text = text.strip(" \t\n!*&;")
    if values := choices_of(text):
        return {"enum": values}
    if len(parts := _split(text)) > 1:
        return _either(parts, unknown)
    if text.endswith("?"):
        return _either([text[:-1], "null"], unknown)
    if match := _LISTED.fullmatch(text):
        return _list_of([match["before"] or match["after"] or match["inside"]], unknown)
    match = _NAMED.fullmatch(text)
    if match is None:
        return None
    inner = _split(match["inner"] or "")
    name = re.sub(r"[\W_]+", "", re.split(r"[.:]+", match["name"])[-1]).casefold()
    if name == "union" or (name in {"annotated", *_OPTIONAL} and match["inner"]):
        return _either(inner if name == "union" else [inner[0], *["null"] * (name in _OPTIONAL)], unknown)
    schema = _of_name(name)
    schema = schema if schema is not None else unknown(match["name"].strip().casefold())
    return _list_of(inner, unknown) if schema == {"type": "array"} and match["inner"] else schema


def _of_name(name: str) -> Schema | None:
    for _ in range(3):
        for spelling in (name, name.removesuffix("s")):
            if spelling in _SCHEMAS:
                return dict(_SCHEMAS[spelling])
        name = _AROUND.sub("", name)
    return None


def _list_of(inner: Iterable[str], unknown: Unknown) -> Schema:
    items = _either(inner, unknown)
    return {"type": "array"} if items is None else {"type": "array", "items": items}


def _either(parts: Iterable[str], unknown: Unknown) -> Schema | None:
    schemas = [_read(part, unknown) for part in parts if part.strip().casefold() not in _REMARKS]
    read_schemas = [schema for schema in schemas if schema is not None]
    if not read_schemas or len(read_schemas) < len(schemas):
        return None
    if {} in read_schemas:
        return {}
    types = list(dict.fromkeys(kind for schema in read_schemas for kind in types_of(schema)))
    if any("enum" in schema for schema in read_schemas):
        return {"anyOf": read_schemas} if len(read_schemas) > 1 else read_schemas[0]
    # Of two formats none is certain.
    agreed = {
        key: value
        for schema in read_schemas
        for key, value in schema.items()
        if all(other.get(key, value) == value for other in read_schemas)
    }
    return agreed | {"type": types if len(types) > 1 else types[0]}


def types_of(schema: Mapping[str, Any]) -> list[str]:
    """The JSON types that a schema names.

    >>> types_of({"type": "string"}), types_of({"type": ["string", "null"]}), types_of({})
    (['string'], ['string', 'null'], [])
    """
    kinds = schema.get("type")
    if isinstance(kinds, str):
        return [kinds]
    return kinds if isinstance(kinds, list) else []


def _split(text: str) -> list[str]:
    """The parts of a type that "|", "/", "," or "or" separate outside of brackets."""
    parts = [""]
    depth = 0
    for character in re.sub(r"\bor\b", "|", text, flags=re.IGNORECASE):
        depth += (character in "[<({") - (character in "])>}")
        if character in "|/," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts
