"""A call of a tool with named parameters: its arguments against what the library declares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolassay.backinstruct.critics import Spellings
from toolassay.gates.gate import Finding
from toolassay.gates.literals import is_empty
from toolassay.gates.quoting import listed, shown
from toolassay.gates.references import Reader
from toolassay.gates.schema.declared import called, options_of, value_fit
from toolassay.gates.schema.stand_ins import stand_in
from toolassay.gold import GoldNode
from toolassay.parameters import declares_parameters, is_required, source_of
from toolassay.tools import Parameter, Tool


class NamedCall:
    """Says what is wrong with the arguments of one call."""

    def __init__(self, gate: str) -> None:
        self._gate = gate

    def check(self, node: GoldNode, tool: Tool, reader: Reader) -> list[Finding]:
        """The findings on the arguments of a node that calls `tool`; none if it declares no parameters."""
        if not declares_parameters(tool):
            return []
        parameters = {parameter.name: parameter for parameter in tool.parameters}
        names = Spellings(parameters)
        findings: list[Finding] = []
        given: set[str] = set()
        empty: set[str] = set()
        takes = f"'{tool.id}' takes {listed(parameters) or 'no parameters'}"
        for place, argument in enumerate(node.arguments or ()):
            where = f"{node.where}.arguments[{place}]"
            if not isinstance(argument, Mapping) or not isinstance(name := argument.get("name"), str):
                reason = f'{shown(argument)} is not of the form {{"name": …, "value": …}}'
                findings.append(Finding(self._gate, "reject", reason, where))
                given |= {name for name in parameters if isinstance(argument, Mapping) and name in argument}
                continue
            meant = names.meant(name)
            if meant is None or meant != name:
                fix = f"; repair writes '{meant}'" if meant else ""
                reason = f"{takes}, not {shown(name)}{fix}"
                findings.append(Finding(self._gate, "reject", reason, f"{where}.name"))
            if meant is None:
                continue
            if meant in given:
                reason = f"'{tool.id}' is given '{meant}' twice"
                findings.append(Finding(self._gate, "reject", reason, where))
            given.add(meant)
            if is_empty(argument.get("value")):
                empty.add(meant)
                continue
            value = argument["value"]
            findings += self._value(value, parameters[meant], tool, reader, node.place, f"{where}.value")
        lacking = [
            parameter.name
            for parameter in tool.parameters
            if (parameter.name not in given or parameter.name in empty) and is_required(parameter, tool)
        ]
        if lacking:
            reason = f"{takes}; no value for {listed(lacking)}"
            findings.append(Finding(self._gate, "reject", reason, f"{node.where}.arguments"))
        return findings

    def _value(
        self, value: Any, parameter: Parameter, tool: Tool, reader: Reader, place: int, where: str
    ) -> list[Finding]:
        source = source_of(parameter, tool)
        if isinstance(value, str) and reader.read(value, place) is not None:
            return []  # what another step gives, whose type is not declared
        # What the tool can do without may be said to be none.
        needed = is_required(parameter, tool) and not options_of(parameter.type, source)
        if needed and isinstance(value, str) and (nothing := stand_in(value, reader.request)):
            reason = f"{shown(value)} says no value for '{parameter.name}' of '{tool.id}'"
            return [Finding(self._gate, nothing, reason, where)]
        fit = value_fit(value, parameter.type, source)
        if fit.fits:
            return []
        due = f"'{parameter.name}' of '{tool.id}' is {called(parameter.type, source)}"
        reason = f"{due}; got {shown(value)}, {fit.what}"
        return [Finding(self._gate, fit.state, reason, where)]
