"""Tools and the tool library, read from either published form of `tool_desc.json`.

A *resource* tool declares the types of resources that it takes and gives (`input-type`, `output-type`); a
*temporal* tool declares its parameters (`parameters`), an imported one also with a JSON Schema
(`input_schema`). A tool may declare neither.
"""

from __future__ import annotations

import copyreg
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

from toolassay.argument_schemas import properties_of, type_name
from toolassay.errors import UsageError
from toolassay.files import line_of_item, read_json

_NONE: Mapping[str, Any] = MappingProxyType({})


def _read_only(values: dict[str, Any]) -> MappingProxyType[str, Any]:
    return MappingProxyType(values)


# Without it a library cannot be sent to another process.
copyreg.pickle(MappingProxyType, lambda proxy: (_read_only, (dict(proxy),)))


def _none() -> Mapping[str, Any]:
    return _NONE


@dataclass(frozen=True, slots=True)
class Parameter:
    """A named argument of a tool.

    Attributes:
        name: Unique within the tool.
        type: Any text that the library uses: `string`, `date`, `list[integer]`, …
        description: What it means.
        declaration: Its JSON object in the tool file, or its JSON Schema in `input_schema`.
        required: Whether `input_schema` requires it; None without one (`is_required` decides).
    """

    name: str
    type: str = "string"
    description: str = ""
    declaration: Mapping[str, Any] = field(default_factory=_none, compare=False, repr=False)
    required: bool | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool.

    Attributes:
        id: Unique id.
        description: What the tool does.
        inputs: Resource types of its inputs, one entry per slot: `("text", "text")` takes two texts.
        outputs: Resource types of its outputs.
        parameters: Named parameters.
        input_schema: JSON Schema 2020-12 of the arguments object; None for a published library.
        output_schema: JSON Schema of the result; None if it is unknown.
        annotations: Hints of its server, as in MCP: `readOnlyHint`, `destructiveHint`, `idempotentHint`.
        tags: Groups to which it belongs.
        source: Where it comes from: `kind`, `name`, `method`, `path`, `operation_id`, `server`.
        raw: JSON object from which the tool was read; `to_json` keeps its other keys.

    >>> tool = Tool("Text Translator", "Translates a text.", inputs=("text",), outputs=("text",))
    >>> tool.is_resource
    True
    """

    id: str
    description: str = ""
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    input_schema: Mapping[str, Any] | None = field(default=None, hash=False, repr=False)
    output_schema: Mapping[str, Any] | None = field(default=None, hash=False, repr=False)
    annotations: Mapping[str, Any] = field(default_factory=_none, hash=False, repr=False)
    tags: tuple[str, ...] = field(default=(), repr=False)
    source: Mapping[str, Any] = field(default_factory=_none, hash=False, repr=False)
    raw: Mapping[str, Any] = field(default_factory=_none, compare=False, repr=False)

    @property
    def is_resource(self) -> bool:
        """Whether the tool declares resource types."""
        return bool(self.inputs or self.outputs)

    def to_json(self) -> dict[str, Any]:
        """The tool as an object of `tool_desc.json`; other keys of `raw` are kept."""
        value: dict[str, Any] = {"id": self.id, "desc": self.description, **self.raw}
        if self.is_resource:
            value |= {"input-type": list(self.inputs), "output-type": list(self.outputs)}
        if self.parameters and "parameters" not in value:
            value["parameters"] = [
                {"name": p.name, "type": p.type, "desc": p.description} for p in self.parameters
            ]
        for key in _SCHEMA_KEYS:
            if given := getattr(self, key):
                value.setdefault(key, list(given) if key == "tags" else given)
        return value


_SCHEMA_KEYS = ("input_schema", "output_schema", "annotations", "tags", "source")


def normal_type(name: str) -> str:
    """Normalise the spelling of a resource type.

    >>> normal_type("Image ")
    'image'
    """
    return name.strip().casefold()


class ToolLibrary:
    """Tools with unique ids, in file order.

    Args:
        tools: The tools.
        normalised: Notices about types whose spelling was normalised, one sentence each.
        path: File that they come from, for messages.
        list_name: Key of the list of tools in that file; None if the file itself is the list.
        service: What the service is that offers the tools, in its own words; empty if unknown.

    Raises:
        UsageError: There are no tools, or an id occurs twice.

    >>> library = ToolLibrary([Tool("a"), Tool("b")])
    >>> library.index("b"), library["b"].id, "c" in library
    (1, 'b', False)
    """

    def __init__(
        self,
        tools: Sequence[Tool],
        *,
        normalised: Sequence[str] = (),
        path: Path | None = None,
        list_name: str | None = None,
        service: str = "",
    ) -> None:
        if not tools:
            raise UsageError("the tool library is empty", fix="give at least one tool under 'nodes'")
        self._tools = tuple(tools)
        self._positions = {tool.id: position for position, tool in enumerate(self._tools)}
        if len(self._positions) != len(self._tools):
            twice = next(name for name, count in Counter(t.id for t in tools).items() if count > 1)
            raise UsageError(f"tool id '{twice}' occurs twice", fix="give every tool its own id")
        self.normalised = tuple(normalised)
        self.path = path
        self.list_name = list_name
        self.service = service

    def __len__(self) -> int:
        return len(self._tools)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools)

    def __getitem__(self, tool_id: str) -> Tool:
        return self._tools[self._positions[tool_id]]

    def __contains__(self, tool_id: object) -> bool:
        return tool_id in self._positions

    def index(self, tool_id: str) -> int:
        """The position of a tool in file order, from 0.

        Raises:
            KeyError: No tool has this id.
        """
        return self._positions[tool_id]

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools in file order."""
        return self._tools

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """The tool ids in file order."""
        return tuple(tool.id for tool in self._tools)

    @property
    def has_types(self) -> bool:
        """Whether any tool declares resource types."""
        return any(tool.is_resource for tool in self._tools)

    def to_json(self) -> dict[str, Any]:
        """The library as the object of `tool_desc.json`."""
        service = {"service": self.service} if self.service else {}
        return {"nodes": [tool.to_json() for tool in self._tools], **service}

    @classmethod
    def load(cls, path: str | Path, *, normalise_types: bool = True) -> ToolLibrary:
        """Read `tool_desc.json`, or the `nodes` of a `graph_desc.json`.

        Args:
            path: The file.
            normalise_types: Whether to normalise the spelling of types (`Image` becomes `image`).

        Raises:
            UsageError: The file is missing or malformed; names the line of the tool.
        """
        path = Path(path)
        return cls.from_json(read_json(path), path=path, normalise_types=normalise_types)

    @classmethod
    def from_json(cls, value: Any, *, path: Path | None = None, normalise_types: bool = True) -> ToolLibrary:
        """Build a library from the object `{"nodes": [...]}` or a bare list of tools; raises as `load`."""
        return _Reader(path, normalise_types).library(value)


_IMPORT = "; convert tools in another form: toolassay import --help"


class _Reader:
    """Parses the JSON of a tool file; every error names the file, line and tool."""

    def __init__(self, path: Path | None, normalise_types: bool) -> None:
        self.path = path
        self.normalise_types = normalise_types
        self.type_names: dict[str, str] = {}
        self.list_name: str | None = None
        self.number = 0

    def fail(self, message: str, fix: str, *, key: str | None = None) -> UsageError:
        """An error about the current tool (or the whole file), at the line of its `key`."""
        line = None
        if self.path is not None and self.number:
            line = line_of_item(self.path, self.list_name, self.number, key=key)
        return UsageError(message, file=self.path, line=line, fix=fix)

    def library(self, value: Any) -> ToolLibrary:
        nodes = value.get("nodes") if isinstance(value, dict) else value
        self.list_name = "nodes" if isinstance(value, dict) else None
        if not isinstance(nodes, list):
            raise self.fail("no list of tools", f'write {{"nodes": [{{"id": …, "desc": …}}, …]}}{_IMPORT}')
        if not nodes:
            raise self.fail("the tool library is empty", "give at least one tool under 'nodes'")
        tools: list[Tool] = []
        seen: set[str] = set()
        for self.number, node in enumerate(nodes, start=1):
            tool = self.tool(node)
            if tool.id in seen:
                raise self.fail(f"tool id '{tool.id}' occurs twice", "give every tool its own id", key="id")
            seen.add(tool.id)
            tools.append(tool)
        changed: dict[str, list[str]] = {}
        for spelling, name in self.type_names.items():
            if spelling != name:
                changed.setdefault(name, []).append(repr(spelling))
        normalised = [f"resource type {', '.join(those)} read as '{name}'" for name, those in changed.items()]
        service = value.get("service") if isinstance(value, dict) else None
        return ToolLibrary(
            tools,
            normalised=normalised,
            path=self.path,
            list_name=self.list_name,
            service=service if isinstance(service, str) else "",
        )

    def tool(self, node: Any) -> Tool:
        if not isinstance(node, dict):
            raise self.fail(f"tool {self.number} is not an object", 'write {"id": …, "desc": …}')
        name = node.get("id")
        if not isinstance(name, str) or not name.strip():
            raise self.fail(
                f"tool {self.number} has no id", f"give it a non-empty text under 'id'{_IMPORT}", key="id"
            )
        for key in node:
            meant = key.casefold().replace("_", "-")
            if key != meant and meant in ("input-type", "output-type"):
                raise self.fail(f"tool '{name}' has the key '{key}'", f"write '{meant}'", key=key)
        key = "desc" if "desc" in node else "description"
        description = node.get(key, "")
        if not isinstance(description, str):
            raise self.fail(f"the description of tool '{name}' is not text", "write a sentence", key=key)
        input_schema = self.object(name, node, "input_schema")
        tags = node.get("tags")
        return Tool(
            name,
            description,
            self.types(name, node, "input-type"),
            self.types(name, node, "output-type"),
            self.parameters(name, node.get("parameters"), input_schema),
            input_schema,
            self.object(name, node, "output_schema"),
            self.object(name, node, "annotations") or _NONE,
            tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else (),
            self.object(name, node, "source") or _NONE,
            MappingProxyType(node),
        )

    def object(self, tool: str, node: dict[str, Any], key: str) -> Mapping[str, Any] | None:
        """The JSON object under a key; None without one. `source` may be any value in published files."""
        value = node.get(key)
        if value is None or isinstance(value, dict) or key in ("annotations", "source"):
            return value if isinstance(value, dict) else None
        raise self.fail(f"'{key}' of tool '{tool}' is not an object", 'write {"type": "object", …}', key=key)

    def types(self, tool: str, node: dict[str, Any], key: str) -> tuple[str, ...]:
        value = node.get(key)
        if value is None:
            return ()
        if isinstance(value, str):
            value = [value]
        names = []
        for item in value if isinstance(value, list) else [None]:
            if not isinstance(item, str) or not item.strip():
                raise self.fail(
                    f"'{key}' of tool '{tool}' is not a list of type names", 'write ["text"]', key=key
                )
            name = self.type_names.get(item)
            if name is None:
                name = self.type_names[item] = normal_type(item) if self.normalise_types else item
            names.append(name)
        return tuple(names)

    def parameters(
        self, tool: str, value: Any, input_schema: Mapping[str, Any] | None
    ) -> tuple[Parameter, ...]:
        if input_schema is not None:
            return self.schema_parameters(tool, value, input_schema)
        if value is None:
            return ()
        if not isinstance(value, list):
            raise self.fail(
                f"'parameters' of tool '{tool}' is not a list", 'write [{"name": …}]', key="parameters"
            )
        parameters = []
        for item in value:
            item = {"name": item} if isinstance(item, str) else item
            if not isinstance(item, dict) or not isinstance(item.get("name"), str) or not item["name"]:
                raise self.fail(
                    f"a parameter of tool '{tool}' has no name", 'write {"name": …}', key="parameters"
                )
            kind, text = item.get("type", "string"), item.get("desc", item.get("description", ""))
            parameters.append(Parameter(item["name"], str(kind), text if isinstance(text, str) else "", item))
        if len({parameter.name for parameter in parameters}) != len(parameters):
            raise self.fail(f"tool '{tool}' has two parameters of one name", "rename one", key="parameters")
        return tuple(parameters)

    def schema_parameters(
        self, tool: str, value: Any, input_schema: Mapping[str, Any]
    ) -> tuple[Parameter, ...]:
        """The parameters of an `input_schema`; a list `parameters` beside it must have the same names."""
        found = parameters_of(input_schema)
        if isinstance(value, list):
            listed = {item.get("name") if isinstance(item, dict) else item for item in value}
            differing = sorted(str(name) for name in listed ^ {one.name for one in found})
            if differing:
                raise self.fail(
                    f"'parameters' and 'input_schema' of tool '{tool}' differ in '{differing[0]}'",
                    "delete 'parameters': it follows from 'input_schema'",
                    key="parameters",
                )
        return found


def parameters_of(input_schema: Mapping[str, Any]) -> tuple[Parameter, ...]:
    """The parameters that a JSON Schema of arguments declares.

    >>> schema = {"properties": {"n": {"type": "integer", "description": "How many."}}, "required": ["n"]}
    >>> parameters_of(schema)
    (Parameter(name='n', type='integer', description='How many.', required=True),)
    """
    return tuple(
        Parameter(
            one.name,
            type_name(one.schema, input_schema),
            text if isinstance(text := one.schema.get("description"), str) else "",
            one.schema,
            one.required,
        )
        for one in properties_of(input_schema)
    )


# A description of an optional parameter: matches "Optional day", "the day (optional)" and "today if not
# given", not "an optional extra of the hotel".
_OPTIONAL = re.compile(
    r"^\W*optional\b|\(\s*optional\b|\boptional\W*$|\bif not (?:given|specified)\b", re.IGNORECASE
)


def declares_parameters(tool: Tool) -> bool:
    """Whether the tool has a list of parameters, even an empty one."""
    return (
        bool(tool.parameters) or tool.input_schema is not None or isinstance(tool.raw.get("parameters"), list)
    )


def is_required(parameter: Parameter, tool: Tool) -> bool:
    """Whether a call needs the parameter.

    An `input_schema` decides. Without one, every declared parameter is required unless the library says
    otherwise: by a list `required` of the tool; by a mark of the parameter (`required`, `optional`,
    `default`, type "Optional[int]", description "(optional)"); or because other parameters of the tool are
    marked as required and this one is not.

    >>> [is_required(Parameter("day", "date", text), Tool("t")) for text in ("the day", "Optional day")]
    [True, False]
    """
    if parameter.required is not None:
        return parameter.required
    source = parameter.declaration
    listed = tool.raw.get("required")
    if isinstance(listed, list):
        return parameter.name in listed
    said = source.get("required")
    if isinstance(said, bool):
        return said
    if source.get("optional") is not None:
        return source["optional"] is False
    kind = parameter.type.strip().casefold()
    if "default" in source or _OPTIONAL.search(parameter.description) or kind.startswith("optional"):
        return False
    given = tool.raw.get("parameters")
    others = given if isinstance(given, list) else []
    return not any(isinstance(item, Mapping) and item.get("required") is True for item in others)
