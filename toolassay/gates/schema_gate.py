"""The gate "schema": every tool is known, every argument valid for its parameter or type, none missing.

It checks calls with named parameters, by their `input_schema` if the tool has one, and calls of resource
tools, whose arguments may be in any order. It finds values that are only placeholders ("N/A", "…", "<text>").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from toolassay.backinstruct.critics import Spellings
from toolassay.errors import UsageError
from toolassay.files.data_files import line_of_item
from toolassay.gates.declared_types import (
    family_of,
    literal_fit,
    options_of,
    type_in_words,
    value_fit,
)
from toolassay.gates.gate import Background, Finding, RuleGate, State, listed, shown
from toolassay.gates.references import (
    FITS,
    Fit,
    ReferenceReader,
    doubtful,
    is_empty,
    output_fit,
    output_part,
    place_text,
    takes,
    text_of_number,
    texts_of,
    wrong,
)
from toolassay.plans.gold import Gold, GoldNode
from toolassay.tools.argument_schemas import ArgumentValidator, schema_at
from toolassay.tools.library import Parameter, Tool, ToolLibrary, declares_parameters, is_required


@lru_cache(maxsize=8)
def validators_of(library: ToolLibrary) -> Mapping[str, ArgumentValidator]:
    """The validator of each tool with an `input_schema`; cached, as several gates need it.

    Raises:
        UsageError: an `input_schema` is not a valid schema; names the file, line and tool.
    """
    validators = {}
    for number, tool in enumerate(library, start=1):
        if tool.input_schema is None:
            continue
        try:
            validators[tool.id] = ArgumentValidator(tool.input_schema)
        except ValueError as error:
            path = library.path
            raise UsageError(
                f"'input_schema' of tool '{tool.id}' is not valid JSON Schema 2020-12: {error}",
                file=path,
                line=line_of_item(path, library.list_name, number, key="input_schema") if path else None,
                fix="correct it, or import the tools again: toolassay import --help",
            ) from None
    return validators


def takes_any_name(tool: Tool) -> bool:
    """Whether the `input_schema` says that further arguments are allowed.

    JSON Schema allows them by default; but then an unknown name is more likely an invented parameter.
    """
    schema = tool.input_schema or {}
    return bool(schema.get("additionalProperties")) or "patternProperties" in schema


def reference_test(reader: ReferenceReader, index: int) -> Callable[[str], bool]:
    """Whether a text of the node with index `index` is, as a whole, the output of another step."""

    def is_reference(text: str) -> bool:
        reading = reader.read(text, index)
        return reading is not None and reading.spelling != "inside"

    return is_reference


# A description that gives an empty text as a value: matches "such as 'Apt 1' or ''", not "the city's name".
_EMPTY = re.compile(r"(?<!\w)(''|\"\")(?!\w)")
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
    state: State | None = "quarantine" if small in _PERHAPS else None
    if small in _WORDS or _MARKS.fullmatch(small) or _FORM.fullmatch(small):
        state = "reject"
    if state is None:
        return None
    asked = request.casefold()
    if any(map(str.isalpha, small)):
        is_asked = small in asked
    else:
        is_asked = re.search(rf"['\"`“‘(]{re.escape(small)}['\"`”’)]", asked) is not None
    return None if is_asked else state


def _best_slots(fits: Sequence[Sequence[Fit]], slots: int) -> list[int | None]:
    """The input that each argument fills at the lowest total cost; None for a surplus argument.

    Args:
        fits: fits[argument][input].
        slots: the number of inputs.
    """
    slot_of: list[int | None] = [None] * len(fits)
    if len(fits) == slots and all(argument_fits[n].fits for n, argument_fits in enumerate(fits)):
        return [*range(slots)]
    if fits and slots:
        from scipy.optimize import linear_sum_assignment

        # Ties keep the order of the inputs.
        costs = [
            [fit.cost - 0.01 * (row == n) for n, fit in enumerate(argument_fits)]
            for row, argument_fits in enumerate(fits)
        ]
        for row, slot in zip(*linear_sum_assignment(costs), strict=True):
            slot_of[row] = int(slot)
    return slot_of


class SchemaGate(RuleGate):
    """Compares every call with the declarations of the tool library."""

    name = "schema"
    judges = frozenset({"plan", "values"})
    goes_to = "plan"

    def __init__(self, background: Background) -> None:
        super().__init__(background)
        self._library = background.library
        self._validators = validators_of(background.library)
        kinds = {kind for tool in background.library for kind in (*tool.inputs, *tool.outputs)}
        # The parameters of each tool, an index of their spellings, and the names of the required ones.
        self._declared = {
            tool.id: (
                named := {parameter.name: parameter for parameter in tool.parameters},
                Spellings(named),
                self._needs(tool),
            )
            for tool in background.library
        }
        self._families = {family for kind in kinds if (family := family_of(kind))}

    def check(self, gold: Gold) -> list[Finding]:
        """Findings on the form of a label, its tools and its arguments."""
        findings = [*self._faults(gold), *self._unknown(gold)]
        if not gold.has_arguments:
            return findings or self._without_arguments(gold)
        reader = ReferenceReader.of(gold)
        for node in gold.nodes:
            if (meant := self.tool_names.meant(node.tool)) is None:
                continue
            tool = self._library[meant]
            if self.background.takes_inputs(tool):
                findings += self._inputs(node, tool, reader)
            elif declares_parameters(tool):
                findings += self._named(node, tool, reader)
        return findings

    def _reject(self, reason: str, where: str) -> Finding:
        return Finding(self.name, "reject", reason, where)

    def _faults(self, gold: Gold) -> Iterator[Finding]:
        for fault in gold.faults:
            reason = f"{fault.where} {fault.reason}"
            if fault.where.startswith("task_steps"):
                if gold.record.get("task_steps") is not None:
                    yield Finding(self.name, "quarantine", reason, fault.where)
            elif not fault.where.startswith("sampled_"):  # the graph gate reports these
                yield self._reject(reason, fault.where)

    def _unknown(self, gold: Gold) -> Iterator[Finding]:
        for node in gold.nodes:
            if node.tool not in self._library:
                meant = self.tool_names.meant(node.tool)
                fix = f"; repair writes '{meant}', a tool spelt nearly so" if meant else ""
                yield self._reject(f"the library has no tool {shown(node.tool)}{fix}", f"{node.where}.task")

    def _without_arguments(self, gold: Gold) -> list[Finding]:
        """A plan of several calls may have no arguments; one call without what it needs has lost them."""
        tools = [self._library[node.tool] for node in gold.nodes]
        if len(tools) == 1 and (needs := self._needs(tools[0])):
            reason = f"'{tools[0].id}' has no arguments, but takes {listed(needs)}"
            return [Finding(self.name, "quarantine", reason, gold.nodes[0].where)]
        reason = "the gold has no arguments; its tools are known"
        if tools and not any(tool.is_resource or declares_parameters(tool) for tool in tools):
            reason = "the gold has no arguments, and its tools declare none; the tools are known"
        return [Finding(self.name, "not applicable", reason)]

    def _needs(self, tool: Tool) -> list[str]:
        if self.background.takes_inputs(tool):
            return list(tool.inputs)
        return [parameter.name for parameter in tool.parameters if is_required(parameter, tool)]

    # Named parameters

    def _named(self, node: GoldNode, tool: Tool, reader: ReferenceReader) -> Iterator[Finding]:
        """Findings on the arguments of a tool with named parameters."""
        parameters, names, needs = self._declared[tool.id]
        given = set[str]()
        empty = set[str]()
        values: dict[str, tuple[Any, int]] = {}  # with the place of each in the list of arguments

        def takes() -> str:
            return f"'{tool.id}' takes {listed(parameters) or 'no parameters'}"

        for position, argument in enumerate(node.arguments or ()):
            where = f"{node.where}.arguments[{position}]"
            if not isinstance(argument, Mapping) or not isinstance(name := argument.get("name"), str):
                yield self._reject(f'{shown(argument)} is not of the form {{"name": …, "value": …}}', where)
                given |= {name for name in parameters if isinstance(argument, Mapping) and name in argument}
                continue
            meant = names.meant(name) or (name if takes_any_name(tool) else None)
            if meant != name:
                yield self._reject(f"{takes()}, not {shown(name)}", f"{where}.name")
            if meant is None:
                continue
            if meant in given:
                yield self._reject(f"'{tool.id}' is given '{meant}' twice", where)
            given.add(meant)
            value = argument.get("value")
            # Whether null, [] and {} are values is a question for the `input_schema`.
            described = parameters[meant].description if meant in parameters else ""
            says_empty = tool.input_schema is not None and _EMPTY.search(described) is not None
            if is_empty(value) and not says_empty and (tool.input_schema is None or isinstance(value, str)):
                empty.add(meant)
            elif tool.input_schema is not None:
                values[meant] = value, position
            else:
                yield from self._value(value, parameters[meant], tool, node, reader, f"{where}.value")
        lacking = [name for name in needs if name not in given or name in empty]
        if lacking:
            yield self._reject(f"{takes()}; no value for {listed(lacking)}", f"{node.where}.arguments")
        if tool.input_schema is not None:
            yield from self._typed(values, tool, node, reader, lacks=bool(lacking))

    def _value(
        self,
        value: Any,
        parameter: Parameter,
        tool: Tool,
        node: GoldNode,
        reader: ReferenceReader,
        where: str,
    ) -> Iterator[Finding]:
        source = parameter.declaration
        if isinstance(value, str) and reader.read(value, node.place) is not None:
            return  # the output of another step, whose type is not declared
        # An optional parameter may be "none".
        needed = isinstance(value, str) and parameter.name in self._declared[tool.id][2]
        nothing = placeholder(value, reader.request) if needed else None
        if nothing and not options_of(parameter.type, source):
            reason = f"{shown(value)} says no value for '{parameter.name}' of '{tool.id}'"
            yield Finding(self.name, nothing, reason, where)
        elif not (fit := value_fit(value, parameter.type, source)).fits:
            due = f"'{parameter.name}' of '{tool.id}' is {type_in_words(parameter.type, source)}"
            yield Finding(self.name, fit.state, f"{due}; got {shown(value)}, {fit.what}", where)

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
        validator = self._validators[tool.id]
        is_reference = reference_test(reader, node.place)
        given = {name: value for name, (value, _) in values.items()}
        parameters, _, needs = self._declared[tool.id]
        needed = {*needs, *(given.keys() - parameters.keys())}

        def where(parts: Sequence[str | int]) -> str:
            return f"{node.where}.arguments[{values[str(parts[0])][1]}].value{place_text(parts[1:])}"

        for path, text in texts_of(given):
            is_choice = not schema_at(path, validator.schema).keys().isdisjoint(("enum", "const"))
            is_checked = path[0] in needed and not is_reference(text) and not is_choice
            if is_checked and (nothing := placeholder(text, reader.request)):
                reason = f"{shown(text)} says no value for '{place_text(path)[1:]}' of '{tool.id}'"
                yield Finding(self.name, nothing, reason, where(path))
            if self.background.kind == "schema" and (fault := self._output(text, path, tool, node, reader)):
                yield self._reject(fault, where(path))
        for problem in validator.problems(given, is_reference):
            # A violated `format` may be a spelling that the tool accepts.
            state: State = "quarantine" if problem.keyword == "format" else "reject"
            if problem.parts and str(problem.parts[0]) in values:
                reason = f"'{place_text(problem.parts)[1:]}' of '{tool.id}': {problem.reason}"
                yield Finding(self.name, state, reason, where(problem.parts))
            elif not (lacks and problem.keyword == "required"):
                reason = f"the arguments of '{tool.id}': {problem.reason}"
                yield Finding(self.name, state, reason, f"{node.where}.arguments")

    def _output(
        self, text: str, path: Sequence[str | int], tool: Tool, node: GoldNode, reader: ReferenceReader
    ) -> str | None:
        """What is wrong with a reference where an argument cannot take that part of the result."""
        reading = reader.read(text, node.place)
        if reading is None or reading.spelling == "inside" or len(reading.places) != 1:
            return None
        named = reader.tools[reading.places[0]] if reading.places[0] < len(reader.tools) else ""
        source = self.tool_names.meant(named or "")
        if source is None or source == tool.id or reading.places[0] in reader.repeated:
            return None
        part = output_part(self._library[source].output_schema, reading.path)
        wanted = takes(tool, path, is_whole=not reading.path)
        if not part.shapes or not wanted or part.shapes & wanted:
            return None
        gives = " or ".join(sorted(part.shapes))
        needs = " or ".join(sorted(wanted))
        return f"'{place_text(path)[1:]}' of '{tool.id}' takes {needs}; {shown(text)} is {gives}"

    # Resource tools

    def _inputs(self, node: GoldNode, tool: Tool, reader: ReferenceReader) -> Iterator[Finding]:
        """Findings on the arguments of a resource tool, which may be in any order."""
        given: list[tuple[str, Any, list[Fit]]] = []
        takes = f"'{tool.id}' takes {', '.join(tool.inputs) or 'nothing'}"
        for position, argument in enumerate(node.arguments or ()):
            where = f"{node.where}.arguments[{position}]"
            value = argument
            if isinstance(argument, Mapping):
                value = argument.get("value", argument)
                fix = ": repair takes its value" if isinstance(argument.get("value"), str) else ""
                yield self._reject(f"{takes}; {shown(argument)} is an object, not a text{fix}", where)
            elif isinstance(argument, bool | list):
                form = "a truth value" if isinstance(argument, bool) else "a list"
                yield self._reject(f"{takes}; {shown(argument)} is {form}, not a text", where)
            elif isinstance(argument, int | float):
                # Repair writes it as a text; but no published label may hold a number.
                value = text_of_number(argument)
                reason = f"{takes}; {shown(argument)} is a number, not a text"
                yield Finding(self.name, "quarantine", reason, where)
            if not is_empty(value):
                given.append((where, value, self._fits(value, node, tool, reader)))
        slots = _best_slots([fits for _, _, fits in given], len(tool.inputs))
        for (where, value, fits), slot in zip(given, slots, strict=True):
            if slot is None:
                yield self._reject(f"{takes}; {shown(value)} is one argument too many", where)
            elif not (fit := fits[slot]).fits:
                due = f"where the type is {tool.inputs[slot]}"
                yield Finding(self.name, fit.state, f"{takes}; got {shown(value)}, {fit.what}, {due}", where)
        if missing := [kind for slot, kind in enumerate(tool.inputs) if slot not in slots]:
            reason = f"{takes}; no argument gives the {' and '.join(missing)}"
            yield self._reject(reason, f"{node.where}.arguments")

    def _fits(self, value: Any, node: GoldNode, tool: Tool, reader: ReferenceReader) -> list[Fit]:
        anything = [FITS] * len(tool.inputs)
        if not isinstance(value, str):
            return anything  # its form is reported
        reading = reader.read(value, node.place)
        if reading is None and (nothing := placeholder(value, reader.request)):
            say = wrong if nothing == "reject" else doubtful
            return [say("which says nothing")] * len(tool.inputs)
        if reading is None or reading.spelling == "inside":
            return [literal_fit(value, kind, self._families) for kind in tool.inputs]
        index = reading.places[0] if reading.places else len(reader.tools)
        if index >= len(reader.tools) or index == node.place:
            return anything  # the wiring gate reports a reference to nothing
        if (meant := self.tool_names.meant(reader.tools[index] or "")) is None:
            return anything
        slots = range(len(tool.inputs))
        return [output_fit(self._library[meant], tool, slot, self.background) for slot in slots]
