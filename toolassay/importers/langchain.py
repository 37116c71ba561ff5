"""LangChain's tools as JSON: `StructuredTool` with its `args_schema`, or in the form of OpenAI."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from toolassay.importers.importer import IncomingTool, Note
from toolassay.importers.openai import function_tool
from toolassay.importers.tool_lists import (
    DefinitionError,
    ToolListImporter,
    arguments_of,
    decoded,
    name_of,
    result_of,
    text_of,
    unread,
)

# The schema that a model is sent comes first: `args_schema` has the arguments that the program adds too.
_SCHEMAS = ("tool_call_schema", "args_schema")
_READ = ("name", "description", *_SCHEMAS, "args", "tags", "output_schema")
# The defaults of a `StructuredTool`.
_UNSET: tuple[Any, ...] = (None, False, "", [], {}, "content")


class LangChainImporter(ToolListImporter):
    """Reads dumped `StructuredTool`s, alone, in lists and in JSON Lines."""

    name: ClassVar[str] = "langchain"
    title: ClassVar[str] = "LangChain tools"
    help: ClassVar[str] = "LangChain tools (StructuredTool) with their schemas as JSON."
    source_help: ClassVar[str] = "A file of JSON or JSON Lines with name, description and args_schema."
    example: ClassVar[str] = '{"name": …, "description": …, "args_schema": {JSON Schema}}'

    def tool_of(self, value: dict[str, Any], namespace: Mapping[str, Any] | None) -> IncomingTool:
        """The tool of a definition; see `ToolListImporter.tool_of`."""
        if isinstance(value.get("function"), dict) or "parameters" in value:
            return function_tool(value, namespace)
        if "lc" in value:
            raise DefinitionError("is serialised without its schema: write tool.args_schema as JSON Schema")
        name = name_of(value)
        losses, warnings = unread(value, _READ, _UNSET), list[Note]()
        schema = _arguments(value, losses, warnings)
        about = schema.get("description")
        return IncomingTool(
            name,
            text_of(value, "description", losses) or (about if isinstance(about, str) else ""),
            schema,
            result_of(value, "output_schema", losses),
            tags=_tags(value.get("tags"), losses),
            losses=losses,
            warnings=warnings,
        )


def _arguments(value: Mapping[str, Any], losses: list[Note], warnings: list[Note]) -> dict[str, Any]:
    given = [key for key in _SCHEMAS if isinstance(decoded(value.get(key)), dict)]
    args = decoded(value.get("args"))
    if given:
        schema = arguments_of(value, given[0])
        if len(given) == 2:
            properties = (decoded(value[key]).get("properties") for key in given)
            sent, taken = (set(one) if isinstance(one, dict) else set() for one in properties)
            losses += [
                Note(f"args_schema.properties.{name}", "the program adds it, not the model")
                for name in sorted(taken - sent)
            ]
        return schema
    if isinstance(args, dict):
        # `args` is the schema's `properties` and nothing else.
        required = [name for name, one in args.items() if isinstance(one, dict) and "default" not in one]
        return {"type": "object", "properties": args, "required": required}
    for key in _SCHEMAS:
        if value.get(key) is not None:
            raise DefinitionError(f"'{key}' is no JSON Schema: write {key}.model_json_schema()")
    warnings.append(Note("args_schema", "is missing: the tool has no arguments"))
    return arguments_of({}, "args_schema")


def _tags(given: Any, losses: list[Note]) -> tuple[str, ...]:
    if given is None or (isinstance(given, list) and all(isinstance(tag, str) for tag in given)):
        return tuple(given or ())
    losses.append(Note("tags", "is no list of texts"))
    return ()


IMPORTER = LangChainImporter()
