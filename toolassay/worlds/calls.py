"""Calls of tools in a world: arguments are checked against the schema before the operation has a say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolassay.tools.argument_schemas import ArgumentValidator, Schema, properties_of
from toolassay.tools.library import Tool, ToolLibrary, declares_parameters, is_required
from toolassay.worlds.operations import RefusedError, WorldState
from toolassay.worlds.world import World


def schema_of_arguments(tool: Tool) -> Schema:
    """The schema of a tool's arguments; one of names alone for a tool without `input_schema`."""
    if tool.input_schema is not None:
        return tool.input_schema
    return {
        "properties": {parameter.name: {} for parameter in tool.parameters},
        "required": [parameter.name for parameter in tool.parameters if is_required(parameter, tool)],
        "additionalProperties": not declares_parameters(tool),
    }


class WorldCalls:
    """The tools of a library in a world; what a tool needs is prepared with its first call."""

    def __init__(self, world: World, library: ToolLibrary) -> None:
        self.world = world
        self.library = library
        self._reasons = {one.tool: one.reason for one in world.uncovered}
        self._validators: dict[str, ArgumentValidator] = {}

    def missing(self, tool: str) -> str:
        """Why a tool does nothing in the world; empty if it does something."""
        if tool in self.world.tools:
            return ""
        return f"the world does not cover '{tool}': {self._reasons.get(tool, 'it is not in world.json')}"

    def call(self, state: WorldState, tool: Tool, arguments: Mapping[str, Any]) -> Any:
        """The result of a call.

        Args:
            state: Of the world; it changes if the tool changes something.
            tool: The tool.
            arguments: By name. Those with a default have it, if they are absent.

        Raises:
            RefusedError: The arguments are not valid, or the world refuses them.
            ValueError: The schema of the tool is not valid.
        """
        schema = schema_of_arguments(tool)
        if tool.id not in self._validators:
            self._validators[tool.id] = ArgumentValidator(schema)
        if problems := self._validators[tool.id].problems(dict(arguments)):
            where = f"argument '{problems[0].path}': " if problems[0].path else ""
            raise RefusedError(f"{where}{problems[0].reason}")
        if reason := self.missing(tool.id):
            raise RefusedError(reason)
        defaults = {
            declared.name: declared.schema["default"]
            for declared in properties_of(schema)
            if isinstance(declared.schema, dict) and "default" in declared.schema
        }
        return state.carry_out(self.world.tools[tool.id], {**defaults, **arguments})
