"""A model proposes links of a schema graph and shapes of unknown results; the data folder keeps them.

Each tool is one request, which shows the tool with a bounded number of others. What the model answers is
checked against the schemas whenever the graph is built, so that a changed tool needs no new answer.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from string import Template
from typing import Any, Literal, NamedTuple

import msgspec

from toolassay.console.screen import DEFAULT, WARNING, Screen
from toolassay.console.text_formatting import count_of, some_of
from toolassay.errors import UsageError
from toolassay.files.data_files import read_json, write_json, write_json_lines
from toolassay.graph.dependencies import Dependency, fields_of, is_pinned
from toolassay.graph.derive.evidence import Similarity
from toolassay.graph.derive.fields import (
    IDENTITIES,
    attribute_fit,
    meaning_of,
    route_of,
    same_thing,
    thing_of,
    things_of_tool,
)
from toolassay.graph.derive.given_fields import is_informative, scalar_of
from toolassay.graph.edits import field_problem
from toolassay.graph.links import FieldPair
from toolassay.models import ChatRequest, ModelOptions
from toolassay.models.json_answers import read_answer, shown_forms
from toolassay.models.structured_output import json_schema
from toolassay.prompts.signatures import argument_descriptions, shown_tool
from toolassay.prompts.templates import package_template
from toolassay.runs import Journal
from toolassay.runs.items import FINAL, Ask, ItemWork
from toolassay.runs.journal import ItemEntry
from toolassay.runs.ledger import FREE
from toolassay.runs.run import Run
from toolassay.runs.settings import Limits, ModelSettings, RunChoices, RunSettings
from toolassay.runs.trials import Trial
from toolassay.runs.work import Work, WorkFacts, Written
from toolassay.tools.argument_schemas import kinds_of, schema_at
from toolassay.tools.library import Tool, ToolLibrary
from toolassay.tools.output_paths import EACH, Part, parse_path

FOLDER = "graph_proposals"
"""Folder of the proposals, below the data folder."""
CANDIDATES = 40
"""Maximum number of other tools that a request shows."""
SCORE = 0.6
"""Score of a proposed link; a derived link without a value that has more keeps it."""
PARAMETERS: Mapping[str, Any] = {"temperature": 0.0, "top_p": 1.0, "max_tokens": 3000}
CONFLICT_FIX = "use those settings, or --force true (keeps the old run, and asks about every tool again)"
_MOST_FIELDS, _MOST_LINKS = 40, 30  # of one answer
_DEEPEST = 8  # parts of a path
_MOST_DESCRIPTION = 900  # characters of the description of another tool
_MOST_OF_ARGUMENT, _MOST_ARGUMENTS = 120, 8  # characters of what an argument means; described arguments
_MOST_REASON = 200  # characters
_MOST_NAMED = 5  # refused links in a message
_SCALARS = frozenset({"string", "integer", "number"})
_NUMBERS = frozenset({"integer", "number", "null"})
_AGAIN = "This is not the requested JSON object. Answer with it and nothing else."
_KEYS = ("fields", "links")
# In `source` of a tool: where its output schema comes from, and the one that its server declares.
_SHAPE, _PROPOSED, _DECLARED = "output_schema", "proposed", "declared_output_schema"


class ProposedField(msgspec.Struct, frozen=True):
    """A text, number or truth value in a result, by its path."""

    path: str
    type: Literal["string", "integer", "number", "boolean"]


class ProposedLink(msgspec.Struct, frozen=True):
    """A value that fills an argument: `field` of the result of `source`, `argument` of `target`."""

    source: str = msgspec.field(name="from")
    field: str
    target: str = msgspec.field(name="to")
    argument: str
    reason: str = ""


class Proposal(msgspec.Struct, frozen=True):
    """What a model proposes about one tool: the fields of its result, and links from and to it."""

    fields: list[ProposedField]
    links: list[ProposedLink]
    tool: str = ""
    model: str = ""


class WithProposals(NamedTuple):
    """Links with the proposals, the tools with proposed shapes, and why proposed links were refused."""

    dependencies: list[Dependency]
    library: ToolLibrary
    refused: list[str]


def shape_of(fields: Iterable[ProposedField]) -> dict[str, Any]:
    """The schema of a result that has these fields; the first of contradicting ones counts.

    >>> shape_of([ProposedField("ids[]", "integer"), ProposedField("ids.x", "string")])
    {'type': 'object', 'properties': {'ids': {'type': 'array', 'items': {'type': 'integer'}}}}
    """
    found = [(parse_path(one.path)[:_DEEPEST], one.type) for one in fields]
    return _shape(found[:_MOST_FIELDS]) if found else {}


def _shape(fields: Sequence[tuple[Sequence[Part], str]]) -> dict[str, Any]:
    (first, kind) = fields[0]
    if not first:
        return {"type": kind}
    inner: dict[Part, list[tuple[Sequence[Part], str]]] = defaultdict(list)
    for parts, type_ in fields:
        if parts:
            inner[parts[0] if _is_name(parts[0]) else EACH].append((parts[1:], type_))
    if not _is_name(first[0]):
        return {"type": "array", "items": _shape(inner[EACH])}
    names = {name: _shape(those) for name, those in inner.items() if name != EACH}
    return {"type": "object", "properties": names}


def _is_name(part: Part) -> bool:
    return isinstance(part, str) and part != EACH


def with_shape(tool: Tool, shape: Mapping[str, Any]) -> Tool:
    """A tool with a proposed output schema; that which its server declares is kept in `source`."""
    source = dict(tool.source)
    if tool.output_schema is not None:
        source[_DECLARED] = tool.output_schema
    return _replaced(tool, shape, {**source, _SHAPE: _PROPOSED})


def without_shape(tool: Tool) -> Tool:
    """A tool as its server declares it."""
    if tool.source.get(_SHAPE) != _PROPOSED:
        return tool
    source = {key: value for key, value in tool.source.items() if key not in (_SHAPE, _DECLARED)}
    return _replaced(tool, tool.source.get(_DECLARED), source)


def _replaced(tool: Tool, shape: Mapping[str, Any] | None, source: Mapping[str, Any]) -> Tool:
    raw = {key: value for key, value in tool.raw.items() if key not in (_SHAPE, "source")}
    return replace(tool, output_schema=shape, source=source, raw=raw)


def write_shapes(path: Path, library: ToolLibrary) -> None:
    """Write proposed output schemas into a tool file, and take those out that are proposed no more."""
    content = read_json(path)
    tools = {tool.id: tool for tool in library}
    for node in content["nodes"] if isinstance(content, dict) else content:
        tool = tools.get(node["id"])
        before = node.get("source") or {}
        if tool is not None and _PROPOSED in (tool.source.get(_SHAPE), before.get(_SHAPE)):
            node |= {_SHAPE: tool.output_schema, "source": dict(tool.source)}
            if tool.output_schema is None:
                del node[_SHAPE]
    write_json(path, content)


def apply_proposals(
    dependencies: Iterable[Dependency], proposals: Sequence[Proposal], library: ToolLibrary
) -> WithProposals:
    """Add proposed links and shapes that fit the tools.

    A proposed link takes the place of one that says only the order. Links with values, and those that a
    person decided on, stay as they are.

    Args:
        dependencies: The links without proposals.
        proposals: What models proposed.
        library: The tools, without proposed shapes.
    """
    if not proposals:
        return WithProposals([*dependencies], library, [])
    shapes = {
        one.tool: shape
        for one in proposals
        if one.tool in library and is_unknown(library[one.tool]) and (shape := shape_of(one.fields))
    }
    shaped = library.with_tools(
        [with_shape(tool, shapes[tool.id]) if tool.id in shapes else tool for tool in library]
    )
    subjects = {one.thing[-1] for tool in library for one in things_of_tool(tool, route_of(tool))}
    found: dict[tuple[str, str], dict[str, tuple[ProposedLink, str]]] = defaultdict(dict)
    refused = []
    for proposal in proposals:
        for one in proposal.links[:_MOST_LINKS]:
            if problem := problem_of(one, shaped, subjects):
                refused.append(f"{one.source} → {one.target}: {problem}")
            else:
                found[one.source, one.target].setdefault(one.argument, (one, proposal.model))
    links = {(one.source, one.target): one for one in dependencies}
    for pair, flows in found.items():
        before = links.get(pair)
        if before is None or not (fields_of(before) or is_pinned(before)):
            links[pair] = _link(before, [one for one, _ in flows.values()], shaped).with_further(
                model=next(model for _, model in flows.values())
            )
    return WithProposals([*links.values()], shaped, refused)


def _link(before: Dependency | None, flows: Sequence[ProposedLink], library: ToolLibrary) -> Dependency:
    first = flows[0]
    source, target = library[first.source], library[first.target]
    names = {one.name for one in source.parameters}
    shared = (
        before.shared
        if before
        else (
            FieldPair(one.name, one.name) for one in target.parameters if one.required and one.name in names
        )
    )
    filled = {one.argument for one in flows}
    return replace(
        before or Dependency(source.id, target.id, score=SCORE),
        type=first.argument,
        score=max(SCORE, before.score if before else 0.0),
        fields=tuple(FieldPair(one.field, one.argument) for one in flows),
        reasons=tuple(one.reason[:_MOST_REASON] for one in flows if one.reason),
        kind="dependency",
        origin="proposed",
        shared=tuple(pair for pair in shared if pair.target not in filled),
    )


def is_unknown(tool: Tool) -> bool:
    """Whether a tool does not say what is in its result."""
    return tool.output_schema is None or not (
        is_informative(tool.output_schema) or scalar_of(tool.output_schema).kinds
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
    source, target = library[link.source], library[link.target]
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
    field, argument = (meaning_of(parts[-1] if parts else ""), meaning_of(link.argument.rpartition(".")[2]))
    # Documents declare ids carelessly; any other text is no number.
    if given == {"string"} and taken and taken <= _NUMBERS and field.attribute not in IDENTITIES:
        return f"'{link.field}' is a text, '{link.argument}' takes a number"
    if field.attribute and argument.attribute and not attribute_fit(field.attribute, argument.attribute):
        return f"'{link.field}' is no {argument.attribute}"
    owners = [field.thing, *(thing_of(part) for part in parts[-2:-1])]
    if len(parse_path(link.field)) == len(parts) == 1:
        # The one thing in a result is what its tool is about; what a search finds need not be.
        owners += [one.thing for one in things_of_tool(source, route_of(source))]
    thing = next(filter(None, owners), ())
    # A service may call one thing by two names: a private message is read by its topic id.
    takes = (argument.thing, *(one.thing for one in things_of_tool(target, route_of(target))))
    is_other = {*thing[-1:], *argument.thing[-1:]} <= {*subjects}
    is_other = is_other and not any(same_thing(thing, one) for one in takes)
    if is_other and thing and argument.thing and argument.attribute in IDENTITIES:
        return f"'{link.field}' is of {' '.join(thing)}, not of {' '.join(argument.thing)}"
    return ""


def template() -> str:
    """The text of `templates/proposals.txt`, with placeholders."""
    return package_template("link_proposals", "proposals")


def proposal_prompt(tool: Tool, others: Iterable[Tool]) -> str:
    """The prompt about a tool. Each tool is one line of JSON, so that no description can add another."""
    fields = (
        "what its result has is not declared: the texts, numbers and truth values that it most likely has, "
        "each with its place and type. A result that the description calls a formatted text is one text."
        if is_unknown(tool)
        else "its result is declared: give an empty list."
    )
    return Template(template()).substitute(
        tool=_line(tool, with_paths=True),
        others="\n".join(map(_line, others)),
        fields=fields,
        most_fields=_MOST_FIELDS,
        most_links=_MOST_LINKS,
    )


def answer_schema() -> dict[str, Any]:
    """The `response_format` parameter of a request."""
    text = {"type": "string"}
    field = _object(path=text, type={"type": "string", "enum": ["string", "integer", "number", "boolean"]})
    link = _object(**dict.fromkeys(("from", "field", "to", "argument", "reason"), text))
    fields = {"type": "array", "items": field, "maxItems": _MOST_FIELDS}
    links = {"type": "array", "items": link, "maxItems": _MOST_LINKS}
    return json_schema("proposal", _object(fields=fields, links=links))


def _object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }


def read_proposal(text: str, finish_reason: str | None = None) -> Proposal | None:
    """The proposal in an answer; None if it is cut off or is not the requested object.

    >>> read_proposal('{"fields": [{"path": "id", "type": "string"}], "links": []}').fields[0].path
    'id'
    """
    forms = shown_forms((template(),), keys=_KEYS)
    answer = read_answer(text, keys=_KEYS, forms=forms, nested=False, finish_reason=finish_reason)
    if answer.value is None or answer.truncated:
        return None
    try:
        return msgspec.convert({key: answer.value[key] for key in _KEYS}, Proposal)
    except (KeyError, msgspec.ValidationError):
        return None


def _line(tool: Tool, *, with_paths: bool = False) -> str:
    """A tool with what its arguments mean."""

    def cut(text: str, most: int) -> str:
        return text if len(text) <= most else f"{text[: most - 1]}…"

    shown = shown_tool(tool, with_paths=with_paths)
    needs = {one.name for one in tool.parameters if one.required}
    described = argument_descriptions(tool.input_schema or {}).items()
    first = sorted(described, key=lambda one: one[0].split(".")[0] not in needs)[:_MOST_ARGUMENTS]
    said = {path: cut(text, _MOST_OF_ARGUMENT) for path, text in first}
    more = {"arguments": said} if said else {}
    about = shown["desc"] if with_paths else cut(shown["desc"], _MOST_DESCRIPTION)
    return json.dumps({**shown, "desc": about, **more}, ensure_ascii=False)


def candidates_of(library: ToolLibrary, dependencies: Iterable[Dependency]) -> dict[str, list[Tool]]:
    """The other tools that the request about each tool shows, by its id: at most `CANDIDATES`.

    First those with which it is linked, the best links first, then those with similar names, descriptions and
    arguments.
    """
    linked: dict[str, dict[str, None]] = defaultdict(dict)
    for one in sorted(dependencies, key=lambda one: -one.score):
        linked[one.source][one.target] = linked[one.target][one.source] = None
    similarity = Similarity(
        [f"{tool.id} {tool.description} {' '.join(one.name for one in tool.parameters)}" for tool in library]
    )
    places = range(len(library))
    found: dict[str, list[Tool]] = {}
    for place, tool in enumerate(library):
        alike = similarity.of(place, places)
        names = [*linked[tool.id], *(library.ids[n] for n in sorted(places, key=lambda n: -alike[n]))]
        others = [library[name] for name in dict.fromkeys(names) if name != tool.id]
        found[tool.id] = others[:CANDIDATES]
    return found


class ProposalEntry(ItemEntry):
    """What a model answered about a tool; `prompt` is a hash."""

    prompt: str = ""
    proposal: Proposal | None = None


@dataclass(frozen=True)
class ProposalItems(ItemWork[Tool]):
    """The requests about single tools.

    Attributes:
        others: The other tools that each request shows, by id of its tool.
    """

    others: Mapping[str, Sequence[Tool]]
    final = FINAL
    record = ProposalEntry

    def key_of(self, item: Tool) -> str:
        """The id of the tool."""
        return item.id

    def identity(self, item: Tool) -> dict[str, Any]:
        """The prompt: a changed tool is asked about again."""
        prompt = proposal_prompt(item, self.others[item.id])
        return {"prompt": hashlib.sha256(prompt.encode(errors="replace")).hexdigest()[:24]}

    async def answer(self, item: Tool, ask: Ask) -> ProposalEntry:
        """Ask for a proposal; once more if the answer is not the requested object."""
        messages = [{"role": "user", "content": proposal_prompt(item, self.others[item.id])}]
        for _ in range(2):
            response = await ask(ChatRequest(messages, {**PARAMETERS, **answer_schema()}, role="proposer"))
            proposal = read_proposal(response.text, response.finish_reason)
            if proposal is not None:
                return ProposalEntry(outcome="answered", proposal=proposal)
            if response.refused:
                return ProposalEntry(outcome="refused")
            messages += [
                {"role": "assistant", "content": response.text},
                {"role": "user", "content": _AGAIN},
            ]
        return ProposalEntry(outcome="malformed")


class ProposalWork(Work):
    """The proposals of one model about all tools.

    Args:
        llm: Name of the model.
        library: The tools, without proposed shapes.
        dependencies: The links without proposals.
    """

    def __init__(self, llm: str, library: ToolLibrary, dependencies: Sequence[Dependency]) -> None:
        self._llm, self._library, self._dependencies = llm, library, dependencies

    @cached_property
    def facts(self) -> WorkFacts:
        """Which tools there are is no setting: a run continues with others."""
        wording = hashlib.sha256(template().encode()).hexdigest()
        return WorkFacts(
            "tool",
            {"role": "proposer", **PARAMETERS, "candidates": CANDIDATES, "prompt_sha256": wording},
            PARAMETERS,
            len(self._library),
            len(self._library),
            {"prompt": wording},
            stage="propose links",
            not_counted="; a second request about tools without a readable answer",
            conflict_fix=CONFLICT_FIX,
        )

    @cached_property
    def items(self) -> ProposalItems:
        """The requests."""
        return ProposalItems(candidates_of(self._library, self._dependencies))

    @property
    def chosen(self) -> Sequence[Tool]:
        """All tools."""
        return self._library.tools

    def write(self, output: Path, journal: Journal) -> Written:
        """Write one line for each tool with a proposal."""
        entries = {tool.id: self.items.entry_of(journal, tool) for tool in self._library}
        lines = [
            msgspec.to_builtins(msgspec.structs.replace(entry.proposal, tool=name, model=self._llm))
            for name, entry in entries.items()
            if entry.proposal is not None
        ]
        unread = sum(entry.outcome in FINAL and entry.proposal is None for entry in entries.values())
        return Written(write_json_lines(output, lines), unread)


@dataclass(frozen=True)
class ProposeOptions:
    """Options of the proposals of links.

    Attributes:
        model: Model that proposes.
        options: Endpoint and HTTP client; None for the defaults and the environment variables.
        limits: Limits of the run.
        force: Start a new run if the settings differ from those of the existing run, which is kept.
        dry_run: Show the requests and their estimated cost. Nothing is sent or written.
        command: Command line, recorded in the manifest.
    """

    model: str
    options: ModelOptions | None = None
    limits: Limits = field(default_factory=Limits)
    force: bool = False
    dry_run: bool = False
    command: Sequence[str] | None = None


def propose(
    folder: Path,
    library: ToolLibrary,
    dependencies: Sequence[Dependency],
    options: ProposeOptions,
    *,
    screen: Screen = DEFAULT,
) -> bool:
    """Let a model propose links and shapes of results; returns whether every tool was answered.

    Args:
        folder: Data folder; the proposals are in its subfolder `graph_proposals/`.
        library: The tools, without proposed shapes.
        dependencies: The links without proposals.
        options: The model, its limits and choices.
        screen: Receives messages, results and progress.

    Raises:
        UsageError: The model is a built-in one, or the settings differ from those of the existing run.
        ToolassayError: The model cannot be reached.
    """
    if options.model in FREE:
        raise UsageError(
            f"'{options.model}' cannot propose links", fix="name a served model: --propose MODEL"
        )
    settings = RunSettings(
        ModelSettings(options.model, options.options),
        options.limits,
        RunChoices(force=options.force, dry_run=options.dry_run),
        options.command,
        screen,
    )
    work = ProposalWork(options.model, library, dependencies)
    ended = Run(work, Trial(folder / FOLDER, options.model), settings).carry_out()
    return ended.summary.complete


def stored_proposals(folder: Path) -> list[Proposal]:
    """The proposals of all models in a data folder.

    Raises:
        UsageError: A file is malformed.
    """
    found: list[Proposal] = []
    for path in sorted((folder / FOLDER).glob("*.json")):
        try:
            found += msgspec.json.Decoder(Proposal).decode_lines(path.read_bytes())
        except msgspec.DecodeError as error:
            raise UsageError(
                f"malformed proposal: {error}", file=path, fix="delete it, and give --propose again"
            ) from None
    return found


def proposed(
    folder: Path, library: ToolLibrary, dependencies: Sequence[Dependency], screen: Screen
) -> WithProposals:
    """The links with the stored proposals; refused ones are reported."""
    applied = apply_proposals(dependencies, stored_proposals(folder), library)
    if count := sum(one.origin == "proposed" for one in applied.dependencies):
        screen.say(f"{count_of(count, 'proposed link')} ({folder / FOLDER})")
    if applied.refused:
        screen.say(
            f"{WARNING}{count_of(len(applied.refused), 'proposed link')} refused: "
            f"{some_of(applied.refused, _MOST_NAMED)}"
        )
    return applied
