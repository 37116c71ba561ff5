"""The gate "schema": every tool is known, every argument valid for its parameter or type, none missing.

It checks calls with named parameters, by their `input_schema` if the tool has one, and calls of resource
tools, whose arguments may be in any order. It finds values that are only placeholders ("N/A", "…", "<text>").
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from toolassay.argument_schemas import schema_at
from toolassay.backinstruct.critics import Spellings
from toolassay.gates.fit import FITS, Fit, doubtful, output_fit, wrong
from toolassay.gates.gate import Background, Finding, State, listed, shown, tool_spellings
from toolassay.gates.output_fields import output_part, takes
from toolassay.gates.references import ReferenceReader, is_empty, text_of_number
from toolassay.gates.schema.argument_objects import (
    certain_value,
    path_text,
    reference_test,
    takes_any_name,
    texts_of,
    validators_of,
)
from toolassay.gates.schema.content import MEDIA, content_of
from toolassay.gates.schema.declared_types import family_of, literal_fit, options_of, type_in_words, value_fit
from toolassay.gold import Gold, GoldNode
from toolassay.metrics.assignment import best_assignment
from toolassay.tools import Parameter, Tool, declares_parameters, is_required

_WORDS = frozenset(
    {
        *("n/a", "tbd", "tba", "todo", "undefined", "nil", "unspecified", "placeholder"),
        *("not specified", "not provided", "not given", "not available"),
        *("to be provided", "to be determined", "to be specified"),
    }
)
_PERHAPS = frozenset({"none", "unknown", "missing", "-", "--", "–", "—", "_"})
# "...", "…" and "___", but not ".".
_MARKS = re.compile(r"(?:\.\.+|…|\?|__+)+")
# "<text>", "{{image}}" and "your file here", but not "<1>".
_FORM = re.compile(
    r"<[^\W\d_][\w -]{0,30}>|\{\{?\s*[^\W\d_]\w{0,30}\s*\}?\}|your[ _]\w{1,20}[ _]here", re.IGNORECASE
)
_DASH_WORDS = re.compile(r"\b(?:dash|hyphen|minus|subtract|underscore)", re.IGNORECASE)
_OPEN, _CLOSE = "['\"`“‘„«(\\[]", "['\"`”’“»)\\]]"


def placeholder(text: str, request: str) -> State | None:
    """The state of a value that is only a placeholder; None if it may be a value.

    A value that is also in the request is the user's: "Translate 'none' into Finnish".

    >>> placeholder("N/A", "Mail Bo"), placeholder("…", "Mail Bo"), placeholder("none", "Mail Bo")
    ('reject', 'reject', 'quarantine')
    >>> placeholder("N/A", "What does N/A mean?"), placeholder("a red fox", "Paint one")
    (None, None)
    """
    small = text.strip().casefold()
    if len(small) > 60:
        return None
    in_words = small in _WORDS
    if not (in_words or small in _PERHAPS or _MARKS.fullmatch(small) or _FORM.fullmatch(small)):
        return None
    escaped = re.escape(small)
    if re.search(rf"{_OPEN}{escaped}{_CLOSE}", request.casefold()):
        return None
    if (small[0].isalpha() or small[0] in "<{") and re.search(rf"(?<!\w){escaped}(?!\w)", request.casefold()):
        return None
    if small in _PERHAPS:
        return None if not small[0].isalpha() and _DASH_WORDS.search(request) else "quarantine"
    return "reject"


_MOST = 64  # arguments that are matched: the time of the assignment grows with the cube


class Matching(NamedTuple):
    """The best assignment of arguments to inputs.

    Attributes:
        slot_of: the input that each argument fills; None for a surplus argument.
        missing: the inputs that no argument fills.
    """

    slot_of: tuple[int | None, ...]
    missing: tuple[int, ...]


def match(fits: Sequence[Sequence[Fit]], slots: int) -> Matching:
    """Assign arguments to inputs at the lowest total cost; ties keep the order of the inputs.

    Args:
        fits: fits[argument][input].
        slots: the number of inputs.
    """
    arguments = min(len(fits), _MOST)
    size = max(arguments, slots)
    gains: list[list[float]] = [
        [-fits[row][column].cost if row < arguments and column < slots else 0 for column in range(size)]
        for row in range(size)
    ]
    # Breaks ties in favour of the order of the inputs.
    for place in range(min(arguments, slots)):
        gains[place][place] += 0.01
    row_of = best_assignment(gains)
    slot_of: list[int | None] = [None] * len(fits)
    for slot in range(slots):
        if row_of[slot] < arguments:
            slot_of[row_of[slot]] = slot
    filled = set(slot_of)
    return Matching(tuple(slot_of), tuple(slot for slot in range(slots) if slot not in filled))


class NamedCall:
    """Checks the arguments of a call of a tool with named parameters."""

    def __init__(self, background: Background, gate: str) -> None:
        self._background = background
        self._gate = gate
        self._names = tool_spellings(background.library)
        self._validators = validators_of(background.library)

    def check(self, node: GoldNode, tool: Tool, reader: ReferenceReader) -> list[Finding]:
        """The findings on the arguments of a node that calls `tool`; none if it declares no parameters."""
        if not declares_parameters(tool):
            return []
        parameters = {parameter.name: parameter for parameter in tool.parameters}
        names = Spellings(parameters)
        findings: list[Finding] = []
        given: set[str] = set()
        empty: set[str] = set()
        values: dict[str, tuple[Any, int]] = {}  # with the place of each in the list of arguments
        takes = f"'{tool.id}' takes {listed(parameters) or 'no parameters'}"
        for place, argument in enumerate(node.arguments or ()):
            where = f"{node.where}.arguments[{place}]"
            if not isinstance(argument, Mapping) or not isinstance(name := argument.get("name"), str):
                reason = f'{shown(argument)} is not of the form {{"name": …, "value": …}}'
                findings.append(Finding(self._gate, "reject", reason, where))
                given |= {name for name in parameters if isinstance(argument, Mapping) and name in argument}
                continue
            meant = names.meant(name)
            if meant is None and takes_any_name(tool):
                meant = name
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
            value = argument.get("value")
            # Whether null, [] and {} are values is a question for the `input_schema`.
            if is_empty(value) and (tool.input_schema is None or isinstance(value, str)):
                empty.add(meant)
                continue
            if tool.input_schema is not None:
                values[meant] = value, place
                continue
            findings += self._value(value, parameters[meant], tool, reader, node.place, f"{where}.value")
        lacking = [
            parameter.name
            for parameter in tool.parameters
            if (parameter.name not in given or parameter.name in empty) and is_required(parameter, tool)
        ]
        if lacking:
            reason = f"{takes}; no value for {listed(lacking)}"
            findings.append(Finding(self._gate, "reject", reason, f"{node.where}.arguments"))
        if tool.input_schema is not None:
            findings += self._typed(values, tool, node, reader, lacks=bool(lacking))
        return findings

    def _typed(
        self,
        values: Mapping[str, tuple[Any, int]],
        tool: Tool,
        node: GoldNode,
        reader: ReferenceReader,
        *,
        lacks: bool,
    ) -> Iterator[Finding]:
        """Findings on the values of an imported tool: placeholders, and what its `input_schema` forbids.

        Args:
            values: the value and the index of each argument, by name.
            tool: the tool.
            node: the call.
            reader: of the plan.
            lacks: whether a missing argument is reported already.
        """
        validator, is_reference = self._validators[tool.id], reference_test(reader, node.place)
        optional = {parameter.name for parameter in tool.parameters if not is_required(parameter, tool)}

        def is_choice(place: Sequence[str | int]) -> bool:
            return not schema_at(place, validator.schema).keys().isdisjoint(("enum", "const"))

        def where(parts: Sequence[str | int]) -> str:
            place = values[str(parts[0])][1]
            return f"{node.where}.arguments[{place}].value{path_text(parts[1:])}"

        for name, (value, _) in values.items():
            for place, text in texts_of(value):
                if name in optional or is_reference(text) or is_choice([name, *place]):
                    continue
                if nothing := placeholder(text, reader.request):
                    reason = f"{shown(text)} says no value for '{name}{path_text(place)}' of '{tool.id}'"
                    yield Finding(self._gate, nothing, reason, where([name, *place]))
        given = {name: value for name, (value, _) in values.items()}
        if self._background.kind == "schema":
            for place, text in texts_of(given):
                if fault := self._output(text, place, tool, node, reader):
                    yield Finding(self._gate, "reject", fault, where(place))
        for problem in validator.problems(given, is_reference):
            # A violated `format` may be a spelling that the tool accepts.
            state: State = "quarantine" if problem.keyword == "format" else "reject"
            if problem.parts and str(problem.parts[0]) in values:
                about = f"'{path_text(problem.parts)[1:]}' of '{tool.id}'"
                reason = f"{about}: {problem.reason}"
                if fix := certain_value(validator, given, problem, is_reference):
                    reason += f"; repair writes {json.dumps(fix.value, ensure_ascii=False)[:60]}"
                yield Finding(self._gate, state, reason, where(problem.parts))
            elif not (lacks and problem.keyword == "required"):
                reason = f"the arguments of '{tool.id}': {problem.reason}"
                yield Finding(self._gate, state, reason, f"{node.where}.arguments")

    def _output(
        self, text: str, place: Sequence[str | int], tool: Tool, node: GoldNode, reader: ReferenceReader
    ) -> str | None:
        """What is wrong with a reference where an argument cannot take that part of the result."""
        reading = reader.read(text, node.place)
        if reading is None or reading.spelling == "inside" or len(reading.places) != 1:
            return None
        named = reader.tools[reading.places[0]] if reading.places[0] < len(reader.tools) else None
        source = self._names.meant(named or "")
        if source is None or source == tool.id:
            return None
        part = output_part(self._background.library[source].output_schema, reading.path)
        wanted = takes(tool, place, is_whole=not reading.path)
        if not part.shapes or not wanted or part.shapes & wanted:
            return None
        gives, needs = " or ".join(sorted(part.shapes)), " or ".join(sorted(wanted))
        return f"'{path_text(place)[1:]}' of '{tool.id}' takes {needs}; {shown(text)} is {gives}"

    def _value(
        self, value: Any, parameter: Parameter, tool: Tool, reader: ReferenceReader, place: int, where: str
    ) -> list[Finding]:
        source = parameter.declaration
        if isinstance(value, str) and reader.read(value, place) is not None:
            return []  # the output of another step, whose type is not declared
        # An optional parameter may be "none".
        needed = is_required(parameter, tool) and not options_of(parameter.type, source)
        if needed and isinstance(value, str) and (nothing := placeholder(value, reader.request)):
            reason = f"{shown(value)} says no value for '{parameter.name}' of '{tool.id}'"
            return [Finding(self._gate, nothing, reason, where)]
        fit = value_fit(value, parameter.type, source)
        if fit.fits:
            return []
        due = f"'{parameter.name}' of '{tool.id}' is {type_in_words(parameter.type, source)}"
        reason = f"{due}; got {shown(value)}, {fit.what}"
        return [Finding(self._gate, fit.state, reason, where)]


class _Given(NamedTuple):
    """An argument that is not empty, and how it fits each input."""

    place: int
    value: Any
    fits: list[Fit]


class ResourceCall:
    """Checks the arguments of a call of a resource tool."""

    def __init__(self, background: Background, gate: str) -> None:
        self._background = background
        self._names = tool_spellings(background.library)
        self._families = {
            family
            for tool in background.library
            for kind in (*tool.inputs, *tool.outputs)
            if (family := family_of(kind))
        }
        self._gate = gate

    def check(self, node: GoldNode, tool: Tool, reader: ReferenceReader) -> list[Finding]:
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

    def _fits(self, value: Any, node: GoldNode, tool: Tool, reader: ReferenceReader) -> list[Fit]:
        anything = [FITS] * len(tool.inputs)
        if not isinstance(value, str):
            return anything  # `check` has reported its form
        reading = reader.read(value, node.place)
        if reading is None and (nothing := placeholder(value, reader.request)):
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
            return anything  # the wiring gate reports a reference to nothing
        library = self._background.library
        return [output_fit(library[meant], tool, slot, self._background) for slot in range(len(tool.inputs))]


def _fetched(fit: Fit, value: str, tool: Tool) -> Fit:
    """The fit of an address by the kind of file that is there: an "Image Downloader" downloads no audio."""
    gives = {family for kind in tool.outputs if (family := family_of(kind)) in MEDIA}
    if not (fit.fits and gives and "download" in tool.id.casefold()):
        return fit
    content = content_of(value)
    strange = "url" in content.kinds and content.media and not content.media & gives
    return doubtful(content.what) if strange else fit


def _read(argument: Any) -> tuple[Any, tuple[State, str] | None]:
    """The value of an argument, and what is wrong with its form."""
    if argument is None or isinstance(argument, str):
        return argument, None
    if isinstance(argument, bool):
        return argument, ("reject", "a truth value, not a text")
    if isinstance(argument, int | float):
        # Its value is clear, and repair writes it as a text; but no published label may hold a number.
        return text_of_number(argument), ("quarantine", "a number, not a text")
    if isinstance(argument, Mapping):
        value = argument.get("value", argument)
        fix = ": repair takes its value" if isinstance(argument.get("value"), str) else ""
        return value, ("reject", f"an object, not a text{fix}")
    return argument, ("reject", "a list, not a text" if isinstance(argument, list) else "no text")


class SchemaGate:
    """Compares every call with the declarations of the tool library."""

    name = "schema"

    def __init__(self, background: Background) -> None:
        self._library = background.library
        self._background = background
        self._names = tool_spellings(background.library)
        self._inputs = ResourceCall(background, self.name)
        self._parameters = NamedCall(background, self.name)

    def check(self, gold: Gold) -> list[Finding]:
        """Findings on the form of a label, its tools and its arguments."""
        findings = self._faults(gold)
        findings += [finding for node in gold.nodes for finding in self._unknown(node)]
        if gold.has_arguments:
            reader = ReferenceReader.of(gold)
            for node in gold.nodes:
                findings += self._arguments(node, reader)
        elif not findings:
            findings += self._without_arguments(gold)
        return findings

    def _faults(self, gold: Gold) -> list[Finding]:
        findings = []
        for fault in gold.faults:
            if fault.where.startswith("sampled_"):
                continue  # the graph gate reports these
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

    def _arguments(self, node: GoldNode, reader: ReferenceReader) -> list[Finding]:
        meant = self._names.meant(node.tool)
        if meant is None:
            return []
        tool = self._library[meant]
        if self._background.takes_inputs(tool):
            return self._inputs.check(node, tool, reader)
        return self._parameters.check(node, tool, reader)

    def _without_arguments(self, gold: Gold) -> list[Finding]:
        """A plan of several calls may have no arguments; one call without what it needs has lost them."""
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
