"""Work orders: requests for tools that the writer has no phrases for, made of the tools' own sentences.

    Please do the following, in this order:
    1. Gets an order. order id: "id-4821"
    2. Cancels an order. order id: the id from step 1; reason: "reason-7310"

No word is inflected and no sentence is rewritten, so that a work order is as sound as the descriptions are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from toolassay.argument_values.drawn_values import (
    DrawnArguments,
    UnfillableError,
    draw_arguments,
    drawn_value,
)
from toolassay.argument_values.fed_arguments import FedArgument, fed_arguments
from toolassay.argument_values.places import ValuePlace, as_text
from toolassay.console.text_formatting import joined
from toolassay.errors import ToolassayError
from toolassay.graph import DependencyType
from toolassay.graph.derive.fields import verb_of
from toolassay.offline.writer.clauses import wire_calls
from toolassay.offline.writer.english import ToolNames, first_sentence
from toolassay.records.dataset import WORK_ORDER_OPENINGS, Sample
from toolassay.tools.identifiers import words
from toolassay.tools.library import Parameter, Tool, ToolLibrary
from toolassay.tools.output_paths import EACH, parse_reference, path_text

NEEDS_MODEL = "needs --llm MODEL"

RealValues = Mapping[str, Mapping[str, Sequence[Any]]]
"""Values that exist on a server, `{tool: {argument: [value, …]}}`, the content of `values.json`.

Lists of equal length are columns: the values with one index are those of one call that the server accepted,
null for an argument that it did not have.
"""


def write_work_order(
    sample: Sample,
    library: ToolLibrary,
    dependency_type: DependencyType,
    names: ToolNames,
    attempt: int = 0,
    values: RealValues | None = None,
) -> dict[str, Any]:
    """A request, steps and gold plan, in the form of `write_instruction`.

    Args:
        sample: The tools and their links.
        library: The tools.
        dependency_type: Of the tool graph.
        names: The tool names that the request must not have.
        attempt: Other values, and another order of calls that no link orders, for each number.
        values: Values that exist on a server.

    Raises:
        ToolassayError: No valid arguments were found for a tool.
    """
    if values:
        sample = _removing_last(sample, library, attempt)
    rng = Random(f"order {sample.seed} {sample.index} {' '.join(sample.nodes)} {len(sample.links)} {attempt}")
    write = _resource_calls if dependency_type == "resource" else _parameter_calls
    items = []
    steps = []
    nodes = []
    for number, (stated, step, node) in enumerate(write(sample, library, rng, values or {}), start=1):
        tool = library[node["id"]]
        labels = [" ".join(words(label)) for label, _ in stated]
        if len(set(labels)) < len(labels):
            labels = [label for label, _ in stated]
        labelled = "; ".join(f"{label}: {text}" for label, (_, text) in zip(labels, stated, strict=True))
        items.append(f"{number}. {_sentence(tool, names)} {labelled}".strip())
        steps.append(f"Step {number}: {step}")
        nodes.append(node)
    return {
        "task_steps": steps,
        "user_request": WORK_ORDER_OPENINGS[len(items) > 1] + "\n".join(items),
        "invoking_graph": {
            "nodes": nodes,
            "links": [{"source": link.source, "target": link.target} for link in sample.links],
        },
    }


def unfillable(tools: Iterable[Tool], values: RealValues | None = None) -> dict[str, str]:
    """The tools for which no valid arguments are found, and why."""
    reasons = {}
    for tool in tools:
        rng = Random(0)
        try:
            draw_arguments(tool, rng, given=real_arguments(values or {}, tool.id, rng))
        except UnfillableError as error:
            reasons[tool.id] = str(error)
    return reasons


def real_arguments(
    values: RealValues, tool: str, rng: Random, preferred: Mapping[str, Sequence[Any]] | None = None
) -> dict[str, Any] | None:
    """Real values for one call of a tool, by argument; None if there are none for it.

    Args:
        values: The real values.
        tool: Id of the tool.
        rng: Random numbers.
        preferred: Values of which an argument should have one. A call with most of them is chosen.

    >>> values = {"show": {"repository": ["a", "b"], "commit": ["1f", "9c"]}}
    >>> real_arguments(values, "show", Random(1)), real_arguments(values, "log", Random(1))
    ({'repository': 'a', 'commit': '1f'}, None)
    >>> real_arguments(values, "show", Random(1), {"repository": ["b"]})
    {'repository': 'b', 'commit': '9c'}
    """
    columns = {name: list(column) for name, column in values.get(tool, {}).items() if column}
    if not columns:
        return None
    if len({len(column) for column in columns.values()}) > 1:
        chosen = {name: rng.choice(column) for name, column in columns.items()}
    else:
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        # Equal rows would make one call as frequent as it was tried.
        rows = [row for number, row in enumerate(rows) if row not in rows[:number]]
        agreeing = [
            sum(row.get(name) in preferred_values for name, preferred_values in (preferred or {}).items())
            for row in rows
        ]
        chosen = rng.choice(
            [row for row, count in zip(rows, agreeing, strict=True) if count == max(agreeing)]
        )
    return {name: value for name, value in chosen.items() if value is not None}


_Call = tuple[list[tuple[str, str]], str, dict[str, Any]]  # labelled values, the step, and the gold node


def _resource_calls(sample: Sample, library: ToolLibrary, rng: Random, values: RealValues) -> list[_Call]:
    calls: list[_Call] = []
    taken_values: set[str] = set()
    for call in wire_calls(sample, library, "resource"):
        stated = []
        inputs = []
        for number, (kind, slot) in enumerate(zip(call.tool.inputs, call.slots, strict=True)):
            same = call.tool.inputs.count(kind) > 1
            label = f"{kind} {call.tool.inputs[: number + 1].count(kind)}" if same else kind
            if slot.source is not None:
                stated.append((label, f"the {kind} from step {slot.source + 1}"))
                inputs.append(sample.nodes[slot.source])
                continue
            value = str(drawn_value(ValuePlace(Parameter(kind), path=(kind,)), rng, taken_values))
            value += _ENDINGS.get(kind.casefold(), "")
            taken_values.add(value)
            stated.append((label, _quoted(value)))
            inputs.append(value)
        step = f"Use {call.tool.id}" + (f" on {joined([text for _, text in stated])}" if stated else "")
        calls.append((stated, step, {"id": call.tool.id, "input": inputs}))
    return calls


_ENDINGS = {"image": ".jpg", "audio": ".wav", "video": ".mp4"}


def _parameter_calls(sample: Sample, library: ToolLibrary, rng: Random, values: RealValues) -> list[_Call]:
    calls: list[_Call] = []
    drawn_calls: list[DrawnArguments] = []
    taken_values: set[str] = set()
    for number, fed_of_call in enumerate(fed_arguments(sample, library)):
        tool = library[sample.nodes[number]]
        shared = _shared(sample, number, drawn_calls)
        # What a later call shares with this one should be a value with which that call was accepted.
        preferred = {
            pair.source: values.get(link.target, {}).get(pair.target, ())
            for link, pairs in zip(sample.links, sample.shared, strict=False)
            for pair in pairs
            if link.source == tool.id
        }
        real = real_arguments(
            values, tool.id, rng, preferred | {name: [value] for name, value in shared.items()}
        )
        given_arguments = None if real is None and not shared else {**(real or {}), **shared}
        try:
            drawn_call = draw_arguments(tool, rng, fed=fed_of_call, given=given_arguments, taken=taken_values)
        except UnfillableError as error:
            raise ToolassayError(
                f"the offline writer cannot fill '{tool.id}': {error}", fix=NEEDS_MODEL
            ) from error
        drawn_calls.append(drawn_call)
        taken_values |= {as_text(value) for _, value in drawn_call.stated}
        stated = [(label, _quoted(value)) for label, value in drawn_call.stated]
        stated += [(fed_argument.place, _result(fed_argument)) for fed_argument in fed_of_call]
        parts = [f"{name}: {_shown(value)}" for name, value in drawn_call.arguments.items()]
        step = f"Call {tool.id}" + (f" with {joined(parts)}" if parts else "")
        pairs = [{"name": name, "value": value} for name, value in drawn_call.arguments.items()]
        calls.append((stated, step, {"id": tool.id, "arguments": pairs}))
    return calls


def _shared(sample: Sample, number: int, drawn_calls: Sequence[DrawnArguments]) -> dict[str, Any]:
    """The values of arguments that a call has in common with earlier calls."""
    order = {name: position for position, name in enumerate(sample.nodes)}
    shared_values = {}
    for link, pairs in zip(sample.links, sample.shared, strict=False):
        if order[link.target] == number and order[link.source] < number:
            source_arguments = drawn_calls[order[link.source]].arguments
            for pair in pairs:
                if pair.source in source_arguments and "<node-" not in str(source_arguments[pair.source]):
                    shared_values[pair.target] = source_arguments[pair.source]
    return shared_values


def _removing_last(sample: Sample, library: ToolLibrary, attempt: int) -> Sample:
    """The sample with the tools that remove something as late as its links allow.

    On a real server a thing that is removed is gone for the calls that follow. Of several such tools the one
    with the most fed arguments is first, because it removes a part of a thing. After a refusal, other calls
    may run in another order: an edit of a file before the call that replaces its content.
    """
    names = list(sample.nodes)
    if attempt:
        Random(f"order {sample.seed} {sample.index} {attempt}").shuffle(names)
    position = {name: number for number, name in enumerate(names)}
    n_inputs = Counter(
        link.target for link, pairs in zip(sample.links, sample.fields, strict=False) for _ in pairs
    )
    sources = {name: {link.source for link in sample.links if link.target == name} for name in sample.nodes}
    waiting = list(sample.nodes)
    ordered = list[str]()
    while waiting:
        free = [name for name in waiting if sources[name].isdisjoint(waiting)] or waiting
        removes = {name: verb_of(library[name], None) == "remove" for name in free}
        first = min(free, key=lambda name: (removes[name], -n_inputs[name] * removes[name], position[name]))
        waiting.remove(first)
        ordered.append(first)
    return replace(sample, nodes=tuple(ordered))


def _sentence(tool: Tool, names: ToolNames) -> str:
    """The first sentence of a description, or the words of the name if there is none or it names a tool."""
    text = first_sentence(tool.description, names.common)
    if not text or names.occur_in(text):
        text = " ".join(words(tool.id)) or tool.id
        text = text[:1].upper() + text[1:]
    return text if text[-1] in ".!?。！？…" else f"{text}."


def _quoted(value: Any) -> str:
    """A value as a work order states it: a text in quotation marks, so that all of it is verbatim there."""
    mark = "'" if isinstance(value, str) and '"' in value else '"'
    return f"{mark}{value}{mark}" if isinstance(value, str) else as_text(value)


def _result(fed: FedArgument) -> str:
    """A fed argument in words: "the first id from step 1"."""
    name = next((part for part in reversed(fed.path) if isinstance(part, str) and part != EACH), "")
    if EACH in fed.path:
        which = "every"
    else:
        which = "the first" if 0 in fed.path else "the"
    return f"{which} {' '.join(words(name)) or 'result'} from step {fed.source + 1}"


def _shown(value: Any) -> str:
    if isinstance(value, str):
        reference = parse_reference(value)
        if reference is None:
            return f"'{value}'"
        path = path_text(reference.path).replace(EACH, "[*]") or "the result"
        return f"{path} of step {reference.node + 1}"
    if isinstance(value, list):
        return f"[{', '.join(map(_shown, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name}: {_shown(item)}' for name, item in value.items())}}}"
    return "null" if value is None else as_text(value)
