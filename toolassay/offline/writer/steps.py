"""The steps of the gold plan in words, one for each call."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from toolassay.graph import DependencyType
from toolassay.offline.writer.phrases import PLACE, Phrases
from toolassay.offline.writer.roles import role_entry
from toolassay.offline.writer.wiring import Call
from toolassay.offline.writer.words import joined


def step_texts(
    calls: Sequence[Call],
    phrases: Sequence[Phrases],
    values: Sequence[Mapping[str, str]],
    nouns: Sequence[str],
    dependency_type: DependencyType,
) -> list[str]:
    """The steps: "Step 1: Use … to …" for resources, "Step 1: Call … with date: '…'" for parameters."""
    steps = []
    for number, (call, phrase) in enumerate(zip(calls, phrases, strict=True)):
        if dependency_type == "temporal" and call.slots:
            told = joined(
                [
                    f"{parameter.name}: '{value}'"
                    for parameter, value in zip(call.tool.parameters, values[number].values(), strict=True)
                ]
            )
            steps.append(f"Step {number + 1}: Call {call.tool.id} with {told}")
            continue
        verb = "Use" if dependency_type == "resource" else "Call"
        purpose = _purpose(call, phrase, values[number], nouns)
        steps.append(f"Step {number + 1}: {verb} {call.tool.id} to {purpose}")
    return steps


def _purpose(call: Call, phrases: Phrases, values: Mapping[str, str], nouns: Sequence[str]) -> str:
    fed = {slot.name: slot.source for slot in call.slots}

    def usable(action: str) -> bool:
        marks = [(m[1], m[2]) for m in PLACE.finditer(action) if m[2]]
        return all((fed[name] is not None) == (mark == "result") for name, mark in marks)

    action = next(
        (a for a in phrases.actions if usable(a) and not a.startswith(("tell me", "give me"))), None
    )
    action = action or next((a for a in phrases.actions if usable(a)), phrases.actions[0])

    def fill(match: re.Match[str]) -> str:
        name, mark = match.groups()
        source = fed[name]
        entry = role_entry(phrases.kinds[name], call.tool.inputs[int(name)])
        if source is None:
            return values[name] if mark == "bare" else str(entry["step"]).replace("{value}", values[name])
        noun = nouns[source].lstrip("+") or "result"
        wording = entry["result"]
        template = str(wording[0]) if isinstance(wording, list) else "{np}"
        return template.replace("{np}", f"the {noun} of step {source + 1}")

    return PLACE.sub(fill, action)
