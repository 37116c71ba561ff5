"""Which proposed links and shapes fit the tools, and the links of a graph with them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from toolassay.graph.dependencies import Dependency, fields_of, is_pinned
from toolassay.graph.derive.fields import (
    IDENTITIES,
    attribute_fit,
    meaning_of,
    route_of,
    same_thing,
    thing_of,
    things_of_tool,
)
from toolassay.graph.edits import field_problem
from toolassay.graph.links import FieldPair
from toolassay.link_proposals.proposal import MOST_LINKS, Proposal, ProposedLink, is_unknown
from toolassay.link_proposals.result_shapes import schema_of_fields, with_shape
from toolassay.tools.argument_schemas import kinds_of, schema_at
from toolassay.tools.library import ToolLibrary
from toolassay.tools.output_paths import EACH, parse_path

SCORE = 0.6
"""Score of a proposed link; a derived link without a value that has more keeps it."""
_MOST_REASON = 200  # characters
_SCALARS = frozenset({"string", "integer", "number"})
_NUMBERS = frozenset({"integer", "number", "null"})


class WithProposals(NamedTuple):
    """Links with the proposals, the tools with proposed shapes, and why proposed links were refused."""

    dependencies: list[Dependency]
    library: ToolLibrary
    refused: list[str]


def apply_proposals(
    dependencies: Iterable[Dependency], proposals: Sequence[Proposal], library: ToolLibrary
) -> WithProposals:
    """Add proposed links and shapes that fit the tools.

    A proposed link takes the place of one that says only the order, and adds arguments to one with values.
    Links that a person decided on stay as they are.

    Args:
        dependencies: The links without proposals.
        proposals: What models proposed.
        library: The tools, without proposed shapes.
    """
    if not proposals:
        return WithProposals([*dependencies], library, [])
    shapes = {
        proposal.tool: shape
        for proposal in proposals
        if proposal.tool in library
        and is_unknown(library[proposal.tool])
        and (shape := schema_of_fields(proposal.fields))
    }
    shaped = library.with_tools(
        [with_shape(tool, shapes[tool.id]) if tool.id in shapes else tool for tool in library]
    )
    subjects = {thing.thing[-1] for tool in library for thing in things_of_tool(tool, route_of(tool))}
    flows_by_pair: dict[tuple[str, str], dict[str, tuple[ProposedLink, str]]] = defaultdict(dict)
    refused = []
    for proposal in proposals:
        for link in proposal.links[:MOST_LINKS]:
            if problem := problem_of(link, shaped, subjects):
                refused.append(f"{link.source} → {link.target}: {problem}")
            else:
                flows_by_pair[link.source, link.target].setdefault(link.argument, (link, proposal.model))
    links = {(dependency.source, dependency.target): dependency for dependency in dependencies}
    for pair, flows in flows_by_pair.items():
        before = links.get(pair)
        if before is None or not (fields_of(before) or is_pinned(before)):
            conditions = dict.fromkeys(flow.when[:_MOST_REASON] for flow, _ in flows.values() if flow.when)
            links[pair] = _link(before, [flow for flow, _ in flows.values()], shaped).with_further(
                model=next(model for _, model in flows.values()), when="; ".join(conditions) or None
            )
        elif not is_pinned(before):
            known = {pair.target for pair in fields_of(before)}
            further = [FieldPair(flow.field, name) for name, (flow, _) in flows.items() if name not in known]
            links[pair] = replace(before, fields=(*fields_of(before), *further))
    return WithProposals([*links.values()], shaped, refused)


def _link(before: Dependency | None, flows: Sequence[ProposedLink], library: ToolLibrary) -> Dependency:
    first = flows[0]
    source = library[first.source]
    target = library[first.target]
    names = {parameter.name for parameter in source.parameters}
    shared = (
        before.shared
        if before
        else (
            FieldPair(parameter.name, parameter.name)
            for parameter in target.parameters
            if parameter.required and parameter.name in names
        )
    )
    filled = {flow.argument for flow in flows}
    return replace(
        before or Dependency(source.id, target.id, score=SCORE),
        type=first.argument,
        score=max(SCORE, before.score if before else 0.0),
        fields=tuple(FieldPair(flow.field, flow.argument) for flow in flows),
        reasons=tuple(flow.reason[:_MOST_REASON] for flow in flows if flow.reason),
        kind="dependency",
        origin="proposed",
        shared=tuple(pair for pair in shared if pair.target not in filled),
    )


def problem_of(link: ProposedLink, library: ToolLibrary, subjects: Collection[str]) -> str:
    """Why a proposed link cannot be; "" if it can.

    Args:
        link: The link.
        library: The tools, with proposed shapes.
        subjects: The last words of the things that tools are about, each of which is another thing.
    """
    unknown = [name for name in (link.source, link.target) if name not in library]
    if unknown or link.source == link.target:
        return f"there is no tool '{unknown[0]}'" if unknown else "a tool does not feed itself"
    source = library[link.source]
    target = library[link.target]
    if "*" in parse_path(link.field):
        return f"'{link.field}' is below any key of a map, and references name one"
    if problem := field_problem(FieldPair(link.field, link.argument), source, target):
        return problem
    given, taken = (
        kinds_of(
            schema_at([0 if part == EACH else part for part in parse_path(path)], schema or {}), schema or {}
        )
        for path, schema in ((link.field, source.output_schema), (link.argument, target.input_schema))
    )
    if given and not given & (_SCALARS | (taken & {"array", "object"})):
        return f"'{link.field}' is no text or number"
    parts = [part for part in parse_path(link.field) if isinstance(part, str) and part != EACH]
    field = meaning_of(parts[-1] if parts else "")
    argument = meaning_of(link.argument.rpartition(".")[2])
    # Documents declare ids carelessly; any other text is no number.
    if given == {"string"} and taken and taken <= _NUMBERS and field.attribute not in IDENTITIES:
        return f"'{link.field}' is a text, '{link.argument}' takes a number"
    if field.attribute and argument.attribute and not attribute_fit(field.attribute, argument.attribute):
        return f"'{link.field}' is no {argument.attribute}"
    owners = [field.thing, *(thing_of(part) for part in parts[-2:-1])]
    if len(parse_path(link.field)) == len(parts) == 1:
        # The one thing in a result is what its tool is about; what a search finds need not be.
        owners += [owner.thing for owner in things_of_tool(source, route_of(source))]
    thing = next(filter(None, owners), ())
    # A service may call one thing by two names: a private message is read by its topic id.
    takes = (argument.thing, *(owner.thing for owner in things_of_tool(target, route_of(target))))
    is_other = {*thing[-1:], *argument.thing[-1:]} <= {*subjects}
    is_other = is_other and not any(same_thing(thing, take) for take in takes)
    if is_other and thing and argument.thing and argument.attribute in IDENTITIES:
        return f"'{link.field}' is of {' '.join(thing)}, not of {' '.join(argument.thing)}"
    return ""
