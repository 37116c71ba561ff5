"""The gate: is every value of a plan in the request, or in what an earlier call gave?"""

from __future__ import annotations

import re
from typing import NamedTuple

from toolassay.gates.gate import Background, Finding
from toolassay.gates.knowability.currencies import is_currency
from toolassay.gates.knowability.judge import Doubt, judge, shorten
from toolassay.gates.knowability.literals import Literal, earlier_nodes, leaves, literals_of
from toolassay.gates.knowability.said import Said
from toolassay.gold import Gold, GoldNode
from toolassay.offline.writer.limits import allowed_values

_YES_OR_NO = frozenset({"true", "false", "yes", "no", "on", "off", "none", "null"})
_OPPOSITE = {"true": "false", "false": "true"}
# "Turn off the lights" for a switch that a plan puts on.
_SWITCHED = re.compile(r"\b(?:turn|switch|put|set|power|shut)(?:ed|ing|s)?\b[^.;!?]{0,40}?\b(on|off)\b")
_BOOLEAN = frozenset({"bool", "boolean"})


class _Slot(NamedTuple):
    """What a parameter says of its values: yes or no, some of a list, and the one it takes by itself."""

    is_boolean: bool
    allowed: tuple[str, ...]
    default: object


class KnowabilityGate:
    """Holds back plans with values that nobody could know.

    A value may stand in the request (or in the `output` of an earlier node) in other words: see
    `toolassay.gates.knowability.judge`. What is decided rather than said passes: true and false, the default
    of a parameter, and a value out of its own list as long as the request names no other one of the list.

    >>> from toolassay.tools import Tool, ToolLibrary
    >>> gate = KnowabilityGate(Background(ToolLibrary([Tool("fly")]), "temporal"))
    >>> plan = [{"task": "fly", "arguments": [{"name": "to", "value": "Rome"}]}]
    >>> gate.check(Gold.of({"id": 1, "user_request": "Get me to rome", "task_nodes": plan}))
    []
    >>> gate.check(Gold.of({"id": 1, "user_request": "Get me to Oslo", "task_nodes": plan}))[0].reason
    "'Rome' is not in the request"
    """

    name = "knowability"

    def __init__(self, background: Background) -> None:
        self._slots: dict[tuple[str, str], _Slot] = {}
        for tool in background.library:
            listed = tool.source.get("parameters")
            sources = {
                item["name"]: item
                for item in (listed if isinstance(listed, list) else [])
                if isinstance(item, dict) and isinstance(item.get("name"), str)
            }
            for parameter in tool.parameters:
                self._slots[tool.id, parameter.name] = _Slot(
                    parameter.type.strip().casefold() in _BOOLEAN,
                    tuple(allowed_values(parameter, tool)),
                    sources.get(parameter.name, {}).get("default"),
                )

    def check(self, gold: Gold) -> list[Finding]:
        """One finding for each value that nobody could know."""
        if not gold.has_arguments:
            return [Finding(self.name, "not applicable", "the plan has no arguments")]
        request, asked = Said(gold.request), dict[object, Doubt | None]()
        findings = []
        for literal in literals_of(gold):
            same = (literal.node.tool, literal.parameter, type(literal.value), literal.value)
            if same not in asked:
                asked[same] = self._doubt(literal, request)
            doubt, it = asked[same], "the request"
            outputs = [] if doubt is None else _outputs_before(gold, literal.node)
            if outputs:
                doubt = self._doubt(literal, Said("\n".join([gold.request, *outputs])))
                it = "the request, nor in what earlier calls gave"
            if doubt is not None:
                reason = doubt.reason.replace("{it}", it)
                findings.append(Finding(self.name, doubt.state, reason, literal.where))
        return findings

    def _doubt(self, literal: Literal, said: Said) -> Doubt | None:
        value = literal.value
        slot = self._slots.get((literal.node.tool, literal.parameter))
        if slot and slot.default is not None and slot.default == value:
            return None
        text = f"{value:.15g}" if isinstance(value, float) else str(value)
        small = text.strip().casefold()
        if isinstance(value, bool) or (small in _YES_OR_NO and (slot is None or slot.is_boolean)):
            switched = set(_SWITCHED.findall(said.plain)) if small in ("on", "off") else set()
            if switched and small not in switched:
                return Doubt("quarantine", f"{{it}} says '{switched.pop()}' rather than '{text}'")
            other = _OPPOSITE.get(small)
            if other is None or not said.says(other) or said.says(small):
                return None
            return Doubt("reject", f"'{text}' is not in {{it}}, but '{other}' is")
        doubt = judge(text, said)
        if doubt is None or slot is None or small not in {item.casefold() for item in slot.allowed}:
            return doubt
        if doubt.state == "quarantine" and is_currency(small):
            return doubt
        others = [item for item in slot.allowed if item.casefold() != small and judge(item, said) is None]
        if not others:
            return None
        takes = f"which '{literal.parameter}' takes as well"
        return Doubt("reject", f"'{shorten(text)}' is not in {{it}}, but '{others[0]}' is, {takes}")


def _outputs_before(gold: Gold, node: GoldNode) -> list[str]:
    """The texts and numbers that the calls before a node gave."""
    if all(other.output is None for other in gold.nodes):
        return []
    return [str(leaf) for leaf in leaves([other.output for other in earlier_nodes(gold, node)])]
