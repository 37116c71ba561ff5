"""A call of a resource tool: its arguments, in any order, against the types of its inputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from toolassay.gates.compatibility import output_fit
from toolassay.gates.fit import FITS, Fit, doubtful, wrong
from toolassay.gates.gate import Background, Finding, State
from toolassay.gates.literals import is_empty, text_of_number
from toolassay.gates.quoting import shown
from toolassay.gates.references import Reader
from toolassay.gates.schema.content import MEDIA, content_of
from toolassay.gates.schema.families import family_of, literal_fit
from toolassay.gates.schema.matching import match
from toolassay.gates.schema.stand_ins import stand_in
from toolassay.gates.tool_names import names_of
from toolassay.gold import GoldNode
from toolassay.tools import Tool


class _Given(NamedTuple):
    """An argument that says something: its place, what it says, and how that fits each input."""

    place: int
    value: Any
    fits: list[Fit]


class ResourceCall:
    """Says what is wrong with the arguments of one call."""

    def __init__(self, background: Background, gate: str) -> None:
        self._background = background
        self._names = names_of(background.library)
        self._families = {
            family
            for tool in background.library
            for kind in (*tool.inputs, *tool.outputs)
            if (family := family_of(kind))
        }
        self._gate = gate

    def check(self, node: GoldNode, tool: Tool, reader: Reader) -> list[Finding]:
        """The findings on the arguments of a node that calls `tool`."""
        findings: list[Finding] = []
        given: list[_Given] = []
        takes = f"'{tool.id}' takes {', '.join(tool.inputs) or 'nothing'}"
        for place, argument in enumerate(node.arguments or ()):
            value, complaint = _read(argument)
            if complaint:
                state, words = complaint
                where = f"{node.where}.arguments[{place}]"
                findings.append(Finding(self._gate, state, f"{takes}; {shown(argument)} is {words}", where))
            if not is_empty(value):
                given.append(_Given(place, value, self._fits(value, node, tool, reader)))
        matching = match([item.fits for item in given], len(tool.inputs))
        for item, slot in zip(given, matching.slot_of, strict=True):
            where = f"{node.where}.arguments[{item.place}]"
            if slot is None:
                reason = f"{takes}; {shown(item.value)} is one argument too many"
                findings.append(Finding(self._gate, "reject", reason, where))
                continue
            fit, due = item.fits[slot], tool.inputs[slot]
            if not fit.fits:
                reason = f"{takes}; got {shown(item.value)}, {fit.what}, where the type is {due}"
                findings.append(Finding(self._gate, fit.state, reason, where))
        if matching.missing:
            lacking = " and ".join(tool.inputs[slot] for slot in matching.missing)
            reason = f"{takes}; no argument gives the {lacking}"
            findings.append(Finding(self._gate, "reject", reason, f"{node.where}.arguments"))
        return findings

    def _fits(self, value: Any, node: GoldNode, tool: Tool, reader: Reader) -> list[Fit]:
        anything = [FITS] * len(tool.inputs)
        if not isinstance(value, str):
            return anything  # its form has been complained of
        reading = reader.read(value, node.place)
        if reading is None and (nothing := stand_in(value, reader.request)):
            say = wrong if nothing == "reject" else doubtful
            return [say("which says nothing")] * len(tool.inputs)
        if reading is None or reading.spelling == "inside":
            fits = [literal_fit(value, kind, self._families) for kind in tool.inputs]
            return [_fetched(fit, value, tool) for fit in fits]
        source = (
            reader.tools[reading.places[0]]
            if reading.places and reading.places[0] < len(reader.tools)
            else None
        )
        meant = None if source is None or reading.places[0] == node.place else self._names.meant(source)
        if meant is None:
            return anything  # a reference to nothing is for the gate of the wiring
        library = self._background.library
        return [output_fit(library[meant], tool, slot, self._background) for slot in range(len(tool.inputs))]


def _fetched(fit: Fit, value: str, tool: Tool) -> Fit:
    """An address that fits, seen by what is there: an "Image Downloader" gets no sound from it."""
    gives = {family for kind in tool.outputs if (family := family_of(kind)) in MEDIA}
    if not (fit.fits and gives and "download" in tool.id.casefold()):
        return fit
    content = content_of(value)
    strange = "url" in content.kinds and content.media and not content.media & gives
    return doubtful(content.what) if strange else fit


def _read(argument: Any) -> tuple[Any, tuple[State, str] | None]:
    """What an argument says, and what is wrong with its form."""
    if argument is None or isinstance(argument, str):
        return argument, None
    if isinstance(argument, bool):
        return argument, ("reject", "a truth value, not a text")
    if isinstance(argument, int | float):
        # What it says is plain, and repair writes it as a text; but no published label may hold it.
        return text_of_number(argument), ("quarantine", "a number, not a text")
    if isinstance(argument, Mapping):
        value = argument.get("value", argument)
        fix = ": repair takes its value" if isinstance(argument.get("value"), str) else ""
        return value, ("reject", f"an object, not a text{fix}")
    return argument, ("reject", "a list, not a text" if isinstance(argument, list) else "no text")
