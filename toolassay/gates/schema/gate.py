"""The gate "schema": every tool known, every argument valid for its parameter or type, none missing."""

from __future__ import annotations

from toolassay.gates.gate import Background, Finding
from toolassay.gates.quoting import listed, shown
from toolassay.gates.references import Reader
from toolassay.gates.schema.named_call import NamedCall
from toolassay.gates.schema.resource_call import ResourceCall
from toolassay.gates.tool_names import names_of
from toolassay.gold import Gold, GoldNode
from toolassay.parameters import declares_parameters, is_required
from toolassay.tools import Tool


class SchemaGate:
    """Holds every call against what the library declares."""

    name = "schema"

    def __init__(self, background: Background) -> None:
        self._library = background.library
        self._background = background
        self._names = names_of(background.library)
        self._inputs = ResourceCall(background, self.name)
        self._parameters = NamedCall(self.name)

    def check(self, gold: Gold) -> list[Finding]:
        """What is wrong with the form of a label, its tools and its arguments."""
        findings = self._faults(gold)
        findings += [finding for node in gold.nodes for finding in self._unknown(node)]
        if gold.has_arguments:
            reader = Reader.of(gold)
            for node in gold.nodes:
                findings += self._arguments(node, reader)
        elif not findings:
            findings += self._without_arguments(gold)
        return findings

    def _faults(self, gold: Gold) -> list[Finding]:
        findings = []
        for fault in gold.faults:
            if fault.where.startswith("sampled_"):
                continue  # for the gate of the graph
            if fault.where == "task_steps":
                if gold.record.get("task_steps") is not None:
                    findings.append(
                        Finding(self.name, "quarantine", f"task_steps {fault.reason}", fault.where)
                    )
                continue
            findings.append(Finding(self.name, "reject", f"{fault.where} {fault.reason}", fault.where))
        return findings

    def _unknown(self, node: GoldNode) -> list[Finding]:
        if node.tool in self._library:
            return []
        meant = self._names.meant(node.tool)
        fix = f"; repair writes '{meant}', a tool spelt nearly so" if meant else ""
        return [
            Finding(
                self.name, "reject", f"the library has no tool {shown(node.tool)}{fix}", f"{node.where}.task"
            )
        ]

    def _arguments(self, node: GoldNode, reader: Reader) -> list[Finding]:
        meant = self._names.meant(node.tool)
        if meant is None:
            return []
        tool = self._library[meant]
        if self._background.takes_inputs(tool):
            return self._inputs.check(node, tool, reader)
        return self._parameters.check(node, tool, reader)

    def _without_arguments(self, gold: Gold) -> list[Finding]:
        """Several calls may be meant without arguments; a single one without what it needs has lost them."""
        tools = [self._library[node.tool] for node in gold.nodes]
        if len(tools) == 1 and (needs := self._needs(tools[0])):
            reason = f"'{tools[0].id}' has no arguments, but takes {listed(needs)}"
            return [Finding(self.name, "quarantine", reason, gold.nodes[0].where)]
        if tools and not any(tool.is_resource or declares_parameters(tool) for tool in tools):
            reason = "the gold has no arguments, and its tools declare none; the tools are known"
        else:
            reason = "the gold has no arguments; its tools are known"
        return [Finding(self.name, "not applicable", reason)]

    def _needs(self, tool: Tool) -> list[str]:
        if self._background.takes_inputs(tool):
            return list(tool.inputs)
        return [parameter.name for parameter in tool.parameters if is_required(parameter, tool)]
