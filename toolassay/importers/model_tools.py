"""Tools of model services and frameworks as JSON: OpenAI, Anthropic, LangChain, and the functions of BFCL."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from toolassay.importers.importer import DefinitionError, IncomingTool, Note
from toolassay.importers.tool_lists import (
    ToolListImporter,
    arguments_of,
    decoded,
    name_of,
    result_schema,
    text_of,
    unread,
)


class OpenAIImporter(ToolListImporter):
    """Reads `{"type": "function", "function": {…}}`, the Responses API's flat form, and bare functions."""

    name = "openai"
    title = "OpenAI tools"
    help = "Tools or functions of OpenAI's APIs, as a list or in request bodies."
    source_help = "A file of JSON or JSON Lines."
    example = '{"type": "function", "function": {"name": …, "parameters": {…}}}'

    def tool_of(self, value: dict[str, Any], namespace: Mapping[str, Any] | None) -> IncomingTool:
        """The tool of a definition; see `ToolListImporter.tool_of`."""
        return function_tool(value, namespace)


def function_tool(value: dict[str, Any], namespace: Mapping[str, Any] | None = None) -> IncomingTool:
    """The tool of a function definition in any of OpenAI's forms.

    Args:
        value: The definition.
        namespace: The object `{"type": "namespace", "name", "description", "tools"}` that has it, if any.

    Raises:
        DefinitionError: It is a built-in or custom tool, or malformed.
    """
    inner = value.get("function")
    kind = value.get("type", "function")
    if isinstance(inner, dict):
        losses = unread(value, ("type", "function"))
    elif kind != "function":
        raise DefinitionError(_not_a_function(kind, value))
    else:
        inner = value
        losses = []
    name = name_of(inner)
    losses += unread(inner, ("type", "name", "description", "parameters", "output_schema"))
    tool = IncomingTool(
        name,
        text_of(inner, "description", losses),
        arguments_of(inner, "parameters"),
        result_schema(inner, "output_schema", losses),
        losses=losses,
    )
    return tool if namespace is None else _in_namespace(tool, namespace)


def _in_namespace(tool: IncomingTool, namespace: Mapping[str, Any]) -> IncomingTool:
    group = namespace.get("name")
    notes = unread(namespace, ("type", "name", "tools"))
    losses = [*tool.losses, *(Note(f"namespace.{note.field}", note.reason) for note in notes)]
    if not isinstance(group, str) or not group.strip():
        return replace(tool, losses=losses)
    return replace(
        tool,
        tags=(group,),
        source={"namespace": group},
        further_names=(f"{group}.{tool.name}",),
        losses=losses,
    )


def _not_a_function(kind: Any, value: Mapping[str, Any]) -> str:
    label = value.get("name") or value.get("server_label") or kind
    if kind == "custom":
        return f"'{label}' is a custom tool, which takes a text instead of JSON arguments"
    if kind == "mcp":
        return f"'{label}' is an MCP server: import it with `toolassay import mcp`"
    return f"'{kind}' is a built-in tool of the provider, whose schema is not in the file"


class AnthropicImporter(ToolListImporter):
    """Reads `{"name", "description", "input_schema"}`; the provider's own tools are skipped."""

    name = "anthropic"
    title = "Anthropic tools"
    help = "Tools of Anthropic's Messages API, as a list or in request bodies."
    source_help = "A file of JSON or JSON Lines."
    example = '{"name": …, "description": …, "input_schema": {…}}'

    def tool_of(self, value: dict[str, Any], namespace: Mapping[str, Any] | None) -> IncomingTool:
        """The tool of a definition; see `ToolListImporter.tool_of`."""
        kind = value.get("type")
        if kind not in (None, "custom"):
            if kind == "mcp_toolset":
                raise DefinitionError("is an MCP server: import it with `toolassay import mcp`")
            raise DefinitionError(f"'{kind}' is a tool of the provider, whose schema is not in the file")
        name = name_of(value)
        losses = unread(value, ("type", "name", "description", "input_schema", "input_examples"))
        description = text_of(value, "description", losses)
        schema = arguments_of(value, "input_schema")
        examples = value.get("input_examples")
        if isinstance(examples, list) and examples:  # the intake warns of those that do not fit
            declared = schema.get("examples")
            schema = {**schema, "examples": [*(declared if isinstance(declared, list) else []), *examples]}
        elif examples:
            losses.append(Note("input_examples", "is no list"))
        return IncomingTool(name, description, schema, losses=losses)


# The schema that a model is sent comes first: `args_schema` has the arguments that the program adds too.
_SCHEMAS = ("tool_call_schema", "args_schema")
_READ = ("name", "description", *_SCHEMAS, "args", "tags", "output_schema")
# The defaults of a `StructuredTool`.
_UNSET: tuple[Any, ...] = (None, False, "", [], {}, "content")


class LangChainImporter(ToolListImporter):
    """Reads dumped `StructuredTool`s, alone, in lists and in JSON Lines."""

    name = "langchain"
    title = "LangChain tools"
    help = "LangChain tools (StructuredTool) with their schemas as JSON."
    source_help = "A file of JSON or JSON Lines with name, description and args_schema."
    example = '{"name": …, "description": …, "args_schema": {JSON Schema}}'

    def tool_of(self, value: dict[str, Any], namespace: Mapping[str, Any] | None) -> IncomingTool:
        """The tool of a definition; see `ToolListImporter.tool_of`."""
        if isinstance(value.get("function"), dict) or "parameters" in value:
            return function_tool(value, namespace)
        if "lc" in value:
            raise DefinitionError("is serialised without its schema: write tool.args_schema as JSON Schema")
        name = name_of(value)
        losses = unread(value, _READ, _UNSET)
        warnings = list[Note]()
        schema = _dumped_arguments(value, losses, warnings)
        about = schema.get("description")
        return IncomingTool(
            name,
            text_of(value, "description", losses) or (about if isinstance(about, str) else ""),
            schema,
            result_schema(value, "output_schema", losses),
            tags=_tags(value.get("tags"), losses),
            losses=losses,
            warnings=warnings,
        )


def _dumped_arguments(value: Mapping[str, Any], losses: list[Note], warnings: list[Note]) -> dict[str, Any]:
    keys = [key for key in _SCHEMAS if isinstance(decoded(value.get(key)), dict)]
    args = decoded(value.get("args"))
    if keys:
        schema = arguments_of(value, keys[0])
        if len(keys) == 2:
            properties = (decoded(value[key]).get("properties") for key in keys)
            sent_names, taken_names = (
                set(properties_of_key) if isinstance(properties_of_key, dict) else set()
                for properties_of_key in properties
            )
            losses += [
                Note(f"args_schema.properties.{name}", "the program adds it, not the model")
                for name in sorted(taken_names - sent_names)
            ]
        return schema
    if isinstance(args, dict):
        # `args` is the schema's `properties` and nothing else.
        required = [
            name
            for name, argument in args.items()
            if isinstance(argument, dict) and "default" not in argument
        ]
        return {"type": "object", "properties": args, "required": required}
    for key in _SCHEMAS:
        if value.get(key) is not None:
            raise DefinitionError(f"'{key}' is no JSON Schema: write {key}.model_json_schema()")
    warnings.append(Note("args_schema", "is missing: the tool has no arguments"))
    return arguments_of({}, "args_schema")


def _tags(tags: Any, losses: list[Note]) -> tuple[str, ...]:
    if tags is None or (isinstance(tags, list) and all(isinstance(tag, str) for tag in tags)):
        return tuple(tags or ())
    losses.append(Note("tags", "is no list of texts"))
    return ()


# The choices of an argument: "[Enum]: USD, RMB" and '[Enum]: ["on", "off"]'.
_CHOICES = re.compile(r"\[Enum\]:\s*(?P<list>\[[^\]\n]*\]|(?:[^.\n]|\.(?=\S))+)")


def _with_choices(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of a function's arguments with the choices that their descriptions list."""
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return schema
    changed = dict(properties)
    for name, argument in properties.items():
        text = argument.get("description") if isinstance(argument, dict) else None
        if not isinstance(text, str) or not (match := _CHOICES.search(text)):
            continue
        choices = decoded(match["list"])
        if isinstance(choices, str):
            if argument.get("type") != "string":
                continue
            choices = [item.strip("[] ") for item in choices.split(",")]
        if isinstance(items := argument.get("items"), dict):
            changed[name] = {**argument, "items": {"enum": choices, **items}}
        else:
            changed[name] = {"enum": choices, **argument}
    return {**schema, "properties": changed}


class BfclImporter(ToolListImporter):
    """Reads the questions of BFCL, `{"question", "function": […]}`, and its files of bare functions."""

    name = "bfcl"
    title = "BFCL functions"
    help = "Functions of the questions of the Berkeley Function Calling Leaderboard."
    source_help = "A file of BFCL: JSON Lines with 'function'."
    holders = ("function", "functions")
    example = '{"function": [{"name": …, "parameters": {"type": "dict", "properties": {…}}}]}'

    def tool_of(self, value: dict[str, Any], namespace: Mapping[str, Any] | None) -> IncomingTool:
        """The tool of a function; see `ToolListImporter.tool_of`."""
        losses = unread(value, ("name", "description", "parameters", "response"))
        return IncomingTool(
            name_of(value),
            text_of(value, "description", losses),
            _with_choices(arguments_of(value, "parameters")),
            result_schema(value, "response", losses),
            losses=losses,
        )


OPENAI = OpenAIImporter()
ANTHROPIC = AnthropicImporter()
LANGCHAIN = LangChainImporter()
BFCL = BfclImporter()
