"""Tools and the tool library, read from either published form of `tool_desc.json`.

A *resource* tool declares the types of resources that it takes and gives (`input-type`, `output-type`); a
*temporal* tool declares its parameters (`parameters`), an imported one also with a JSON Schema
(`input_schema`). A tool may declare neither.
"""

from __future__ import annotations

import copyreg
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

import msgspec

from toolassay.errors import UsageError
from toolassay.files.data_files import line_of_item, read_json
from toolassay.tools.argument_schemas import properties_of, type_name

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

    @property
    def is_marked_reading(self) -> bool:
        """Whether its server says that it changes nothing."""
        return self.annotations.get("readOnlyHint") is True

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
            if field_value := getattr(self, key):
                value.setdefault(key, list(field_value) if key == "tags" else field_value)
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
            raise UsageError(
                "the tool library is empty", file=path, fix="give at least one tool under 'nodes'"
            )
        self._tools = tuple(tools)
        self._positions: dict[str, int] = {}
        for position, tool in enumerate(self._tools):
            if self._positions.setdefault(tool.id, position) != position:
                line = None if path is None else line_of_item(path, list_name, position + 1, key="id")
                raise UsageError(
                    f"tool id '{tool.id}' occurs twice",
                    file=path,
                    line=line,
                    fix="give every tool its own id",
                )
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

    def with_tools(self, tools: Sequence[Tool]) -> ToolLibrary:
        """The library with other tools; what its file and the service say stays."""
        return ToolLibrary(
            tools,
            normalised=self.normalised,
            path=self.path,
            list_name=self.list_name,
            service=self.service,
        )

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


_FIX = (
    'write {"id": …, "desc": …}, types as "input-type": ["text"], parameters as [{"name": …}], schemas as '
    '{"type": "object", …}; convert tools in another form: toolassay import --help'
)
_Name = Annotated[str, msgspec.Meta(min_length=1)]
# The key of a tool in a message of msgspec: "desc" of "Expected `str` - at `$.desc`".
_KEY = re.compile(r"\$\.([\w-]+)")


class _WrittenParameter(msgspec.Struct):
    name: str  # JSON Schema allows the empty name
    type: Any = "string"
    desc: str | None = None
    description: str | None = None


class _WrittenTool(msgspec.Struct):
    """The form of a tool in a file; published files have any value as `tags`, `annotations` and `source`."""

    id: _Name
    desc: str | msgspec.UnsetType = msgspec.UNSET
    description: str = ""
    inputs: _Name | list[_Name] | None = msgspec.field(name="input-type", default=None)
    outputs: _Name | list[_Name] | None = msgspec.field(name="output-type", default=None)
    parameters: list[_Name | _WrittenParameter] | None = None
    input_schema: dict[str, Any] | None = None
    output_schema: dict[str, Any] | None = None
    annotations: Any = None
    tags: Any = None
    source: Any = None


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
            raise self.fail("no list of tools", f'write {{"nodes": […]}}: {_FIX}')
        tools: list[Tool] = []
        for self.number, node in enumerate(nodes, start=1):
            tools.append(self.tool(node))
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
        try:
            written = msgspec.convert(node, _WrittenTool)
        except msgspec.ValidationError as error:
            key = key_match[1] if (key_match := _KEY.search(str(error))) else None
            raise self.fail(f"tool {self.number} is malformed: {error}", _FIX, key=key) from None
        for key in node:
            meant = key.casefold().replace("_", "-")
            if key != meant and meant in ("input-type", "output-type"):
                raise self.fail(f"tool '{written.id}' has the key '{key}'", f"write '{meant}'", key=key)
        annotations = written.annotations
        source = written.source
        return Tool(
            written.id,
            written.description if written.desc is msgspec.UNSET else written.desc,
            self.types(written.inputs),
            self.types(written.outputs),
            self.parameters(written, node),
            written.input_schema,
            written.output_schema,
            annotations if isinstance(annotations, dict) else _NONE,
            tuple(tag for tag in written.tags if isinstance(tag, str))
            if isinstance(written.tags, list)
            else (),
            source if isinstance(source, dict) else _NONE,
            MappingProxyType(node),
        )

    def types(self, written: str | list[str] | None) -> tuple[str, ...]:
        spellings = [written] if isinstance(written, str) else written or []
        for spelling in spellings:
            self.type_names.setdefault(spelling, normal_type(spelling) if self.normalise_types else spelling)
        return tuple(self.type_names[spelling] for spelling in spellings)

    def parameters(self, tool: _WrittenTool, node: Mapping[str, Any]) -> tuple[Parameter, ...]:
        """The parameters of an `input_schema`, else of the list; if both are there, the names must agree."""
        parameters = []
        for written, raw in zip(tool.parameters or (), node.get("parameters") or (), strict=True):
            if isinstance(written, str):
                parameters.append(Parameter(written, declaration={"name": written}))
            else:
                text = written.description if written.desc is None else written.desc
                parameters.append(Parameter(written.name, str(written.type), text or "", raw))
        names = {parameter.name for parameter in parameters}
        if len(names) != len(parameters):
            raise self.fail(
                f"tool '{tool.id}' has two parameters of one name", "rename one", key="parameters"
            )
        if tool.input_schema is None:
            return tuple(parameters)
        declared = parameters_of(tool.input_schema)
        if tool.parameters is not None and (differing := names ^ {parameter.name for parameter in declared}):
            raise self.fail(
                f"'parameters' and 'input_schema' of tool '{tool.id}' differ in '{min(differing)}'",
                "delete 'parameters': it follows from 'input_schema'",
                key="parameters",
            )
        return declared


def parameters_of(input_schema: Mapping[str, Any]) -> tuple[Parameter, ...]:
    """The parameters that a JSON Schema of arguments declares.

    >>> schema = {"properties": {"n": {"type": "integer", "description": "How many."}}, "required": ["n"]}
    >>> parameters_of(schema)
    (Parameter(name='n', type='integer', description='How many.', required=True),)
    """
    return tuple(
        Parameter(
            declared.name,
            type_name(declared.schema, input_schema),
            text if isinstance(text := declared.schema.get("description"), str) else "",
            declared.schema,
            declared.required,
        )
        for declared in properties_of(input_schema)
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
    declared = source.get("required")
    if isinstance(declared, bool):
        return declared
    if source.get("optional") is not None:
        return source["optional"] is False
    kind = parameter.type.strip().casefold()
    if "default" in source or _OPTIONAL.search(parameter.description) or kind.startswith("optional"):
        return False
    written = tool.raw.get("parameters")
    others = written if isinstance(written, list) else []
    return not any(isinstance(item, Mapping) and item.get("required") is True for item in others)
