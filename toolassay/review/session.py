"""The logic of the review page, without HTTP: what it shows of a sample, and what it saves."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

from toolassay.errors import UsageError
from toolassay.gates.gate import (
    Background,
    CheckedSample,
    Finding,
    Gate,
    Level,
    level_of,
)
from toolassay.graph import DependencyType
from toolassay.plans.gold import Gold
from toolassay.prompts.signatures import details_of
from toolassay.records.dataset import RequestId, Shape, references_in
from toolassay.reports.style import given_type, type_colours, types_by_use
from toolassay.review.decision import (
    COMMENT,
    UNDO,
    Action,
    ChangedSample,
    EditProblems,
    Log,
    Record,
    RequestedDecision,
    RequestedEdit,
    ReviewStore,
    Role,
    changed_parts,
    check,
    decision_record,
    edited,
)
from toolassay.review.outcome import HumanVerification, Outcome, markdown, outcomes, verification
from toolassay.review.samples import Parts, ReviewSample, Shares
from toolassay.tools.library import Tool, ToolLibrary

Queue = Literal["all", "conflicts"]
QUEUES: tuple[Queue, ...] = ("all", "conflicts")


class DrawnNode(msgspec.Struct, frozen=True):
    """A node of a drawn plan.

    Attributes:
        place: its number in the plan; negative for a missing one.
        tool: the tool.
        known: whether the library has it.
        missing: whether only a link names it.
        colour: that of its output type.
    """

    place: int
    tool: str
    known: bool
    missing: bool
    colour: str


class DrawnLine(msgspec.Struct, frozen=True, rename={"start": "from", "end": "to"}):
    """A line between two places, of the types that the source gives and the target takes; "" without."""

    start: int
    end: int
    kind: Literal["link", "reference"]
    type: str


class PlanDrawing(msgspec.Struct, frozen=True):
    """The nodes of a plan and the lines between them."""

    nodes: list[DrawnNode]
    lines: list[DrawnLine]


class ToolCard(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A tool as the page describes it.

    Attributes:
        name: its name.
        known: whether the library has it.
        description: of `tool_desc.json`.
        takes: its input types.
        gives: its output types.
        parameters: name, type and description of each.
        required: of an imported tool: the page lists an optional argument only if it is given.
        signature: of an imported tool, and the further `details_of` it.
    """

    name: str
    known: bool
    description: str
    takes: tuple[str, ...]
    gives: tuple[str, ...]
    parameters: list[tuple[str, str, str]]
    signature: str | UnsetType = UNSET
    result: str | UnsetType = UNSET
    annotations: dict[str, str | float] = {}
    tags: list[str] = []
    source: dict[str, str] = {}
    required: list[str] | UnsetType = UNSET


class ShownPlan(msgspec.Struct, frozen=True):
    """The drawing of a plan, and its tools by name."""

    plan: PlanDrawing
    cards: dict[str, ToolCard]


class ShownRecord(Record, frozen=True):
    """A decision, and whether it was on an earlier version of the sample."""

    stale: bool = False


class ShownSample(ShownPlan, frozen=True, kw_only=True):
    """A sample with everything that the page shows.

    Attributes:
        number: its place in the file, from 0.
        id: the id of the request.
        line: its line in the file, from 1.
        shape: its shape.
        fingerprint: of this version.
        parts: the parts that can be edited.
        level: the level of its findings.
        findings: as in `gates.jsonl`.
        mine: the reviewer's own decision.
        note: the reviewer's comment.
        votes: the decisions of all, for an adjudicator only.
        edited: the plan after the reviewer's own fix.
    """

    number: int
    id: RequestId
    line: int
    shape: Shape
    fingerprint: str
    parts: Parts
    level: Level
    findings: Sequence[Finding]
    mine: ShownRecord | None
    note: str
    votes: dict[str, ShownRecord]
    edited: ShownPlan | None


class QueueItem(msgspec.Struct, frozen=True):
    """A sample in a queue; `level` is None while it is not known, `decision` until the reviewer decides."""

    number: int
    id: RequestId
    shape: Shape
    level: Level | None
    decision: Action | None
    stale: bool


class ReviewProgress(msgspec.Struct, frozen=True):
    """The number of samples, of those that each reviewer decided, and of open conflicts."""

    samples: int
    reviewers: dict[str, int]
    conflicts: int


class ReviewOverview(msgspec.Struct, frozen=True):
    """The samples of a queue, the progress, and the place of the first undecided one (`first`)."""

    name: str
    queue: Queue
    items: list[QueueItem]
    first: int
    progress: ReviewProgress
    tools: list[str]
    kind: DependencyType


class AfterAction(msgspec.Struct, frozen=True):
    """The sample of an action and the progress after it; `number` is None if nothing was done."""

    number: int | None
    item: QueueItem | UnsetType = UNSET
    progress: ReviewProgress | UnsetType = UNSET
    action: Action | UnsetType = UNSET


class ReviewSummary(HumanVerification, frozen=True):
    """The verification, and its tables with their headings."""

    markdown: tuple[tuple[str, str], ...] = ()


def draw_plan(gold: Gold, library: ToolLibrary) -> PlanDrawing:
    """Draw a plan.

    A line is a `link` of the label, or a `reference`: an argument takes the output of a node, and no link
    says so. A link names tools. Where the plan uses a tool more than once, the link joins the nodes that a
    reference joins, else the first node of its source and the last of its target. A link to a tool that no
    node uses ends at an extra node, which is `missing`.

    Args:
        gold: the plan.
        library: describes its tools; gives the colour of a node (its output type) and the type of a line.
    """
    tools = {node.place: node.tool for node in gold.nodes}
    lines, missing = _lines(gold, tools, _references(gold))
    names = {**tools, **{position: tool for tool, position in missing.items()}}
    colours = type_colours([*types_by_use(library), ""])

    def flowing(source: str, target: str) -> str:
        if source not in library or target not in library:
            return ""
        taken = library[target].inputs
        return ", ".join(dict.fromkeys(kind for kind in library[source].outputs if kind in taken))

    nodes = []
    for position, name in names.items():
        colour = colours[given_type(library[name]) if name in library else ""]
        nodes.append(DrawnNode(position, name, name in library, position not in tools, colour))
    drawn_lines = [
        DrawnLine(source, target, kind, flowing(names[source], names[target]))
        for source, target, kind in lines
    ]
    return PlanDrawing(nodes, drawn_lines)


def tool_card(name: str, library: ToolLibrary) -> ToolCard:
    """A tool as the page describes it."""
    tool = library[name] if name in library else Tool(name)
    required = [item.name for item in tool.parameters if item.required]
    return ToolCard(
        name=name,
        known=name in library,
        description=tool.description,
        takes=tool.inputs,
        gives=tool.outputs,
        parameters=[(item.name, item.type, item.description) for item in tool.parameters],
        **({} if tool.input_schema is None else details_of(tool) | {"required": required}),
    )


def _references(gold: Gold) -> list[tuple[int, int]]:
    """Pairs of the node that is referred to and the node that refers to it; each once, in order."""
    references: dict[tuple[int, int], None] = {}
    for node in gold.nodes:
        for argument in node.arguments or ():
            value = argument.get("value") if isinstance(argument, dict) else argument
            for reference in references_in(value):
                references[reference.node, node.place] = None
    return list(references)


def _lines(
    gold: Gold, tools: dict[int, str], references: list[tuple[int, int]]
) -> tuple[list[tuple[int, int, Literal["link", "reference"]]], dict[str, int]]:
    """The lines of a plan as (from, to, kind), and the place of each missing tool."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for position, tool in tools.items():
        places[tool].append(position)
    missing: dict[str, int] = {}
    unlinked = [pair for pair in references if pair[0] in tools]
    lines: list[tuple[int, int, Literal["link", "reference"]]] = []
    for source, target in gold.links:
        joined = next((p for p in unlinked if (tools[p[0]], tools[p[1]]) == (source, target)), None)
        if joined is not None:
            unlinked.remove(joined)
            start, end = joined
        else:
            for tool in (source, target):
                if tool not in places:
                    missing.setdefault(tool, -1 - len(missing))
            start = places[source][0] if source in places else missing[source]
            end = places[target][-1] if target in places else missing[target]
        lines.append((start, end, "link"))
    return [*lines, *((start, end, "reference") for start, end in unlinked)], missing


FILE = "gates.jsonl"


class Findings:
    """The level and the findings of each sample.

    Args:
        written: the lines of `gates.jsonl`, by id; empty without the file.
        gates: the gates to run on a sample that the file lacks.
    """

    def __init__(self, written: Mapping[RequestId, CheckedSample], gates: Sequence[Gate]) -> None:
        self._checked_samples = dict(written)
        self._gates = gates

    def of(self, sample: ReviewSample) -> CheckedSample:
        """What the gates found in a sample."""
        if sample.id not in self._checked_samples:
            checked = check(sample.gold, self._gates)
            findings = (*(Finding("form", "reject", fault) for fault in checked.faults), *checked.findings)
            level = level_of(finding.state for finding in findings)
            self._checked_samples[sample.id] = CheckedSample(sample.id, level, findings)
        return self._checked_samples[sample.id]

    def level(self, sample: ReviewSample) -> Level | None:
        """The level, if it is known without running the gates; else None."""
        checked = self._checked_samples.get(sample.id)
        return checked.level if checked else None


@dataclass(eq=False)
class Session:
    """The review of one data folder.

    Attributes:
        name: the name of the folder, which the page shows.
        samples: its samples.
        background: its tools.
        gates: the gates that edits must pass.
        findings: the findings on the samples.
        store: where decisions are saved.
        unchanged: says whether the folder still has these samples; by default it is assumed to.
        shares: which reviewer looks at which samples; by default all look at all.
    """

    name: str
    samples: Sequence[ReviewSample]
    background: Background
    gates: Sequence[Gate]
    findings: Findings
    store: ReviewStore
    unchanged: Callable[[], bool] = lambda: True
    shares: Shares = field(default_factory=Shares)

    def __post_init__(self) -> None:
        self._by_id = {sample.id: sample for sample in self.samples}

    def outcomes(self) -> list[Outcome]:
        """The outcome of every sample, by the current content of the files of decisions."""
        return outcomes(self.samples, self.store.logs())

    def overview(self, reviewer: str, queue: Queue) -> ReviewOverview:
        """The samples of a queue, each reviewer's progress, and the place of the first undecided sample."""
        log = self.store.log(reviewer)
        role = role_of(queue)
        if queue == "all":
            self.shares.check(reviewer)
        standing = log.standing(role)
        all_outcomes = self.outcomes()
        items = [
            self._item(item, standing.get(item.sample.id))
            for item in all_outcomes
            if (
                (item.disputed or item.settled is not None)
                if queue == "conflicts"
                else self.shares.holds(reviewer, item.sample.id)
            )
        ]
        open_ones = [position for position, item in enumerate(items) if not item.decision or item.stale]
        return ReviewOverview(
            self.name,
            queue,
            items,
            open_ones[0] if open_ones else 0,
            self.progress(all_outcomes),
            sorted(self.background.library.ids),
            self.background.kind,
        )

    def progress(self, outcomes: Sequence[Outcome] | None = None) -> ReviewProgress:
        """The number of samples that each reviewer has decided, and the number of open conflicts."""
        outcomes = self._decided() if outcomes is None else outcomes
        names = sorted({name for item in outcomes for name in item.votes})
        return ReviewProgress(
            len(self.samples),
            {name: sum(name in item.votes for item in outcomes) for name in names},
            sum(item.state == "conflict" for item in outcomes),
        )

    def show(self, number: int, reviewer: str, queue: Queue) -> ShownSample:
        """A sample with everything that the page shows.

        Raises:
            UsageError: the number is out of range, or the name of the reviewer cannot be used.
        """
        sample = self._sample(number)
        role = role_of(queue)
        log = self.store.log(reviewer)
        checked = self.findings.of(sample)
        record = log.standing(role).get(sample.id)
        fix = record.parts if record and not _stale(record, sample) else None
        plan_drawing = self._drawn(sample.gold)
        votes = outcomes([sample], self.store.logs())[0].votes if queue == "conflicts" else {}
        return ShownSample(
            number=number,
            id=sample.id,
            line=sample.gold.line,
            shape=sample.shape,
            fingerprint=sample.fingerprint,
            parts=sample.parts,
            level=checked.level,
            findings=checked.findings,
            mine=None if record is None else _shown_record(record, sample),
            note=log.notes.get((role, sample.id), ""),
            votes={name: _shown_record(vote, sample) for name, vote in votes.items()},
            plan=plan_drawing.plan,
            cards=plan_drawing.cards,
            edited=self._drawn(edited(sample.gold, fix)) if fix else None,
        )

    def check(self, requested: RequestedEdit) -> EditProblems:
        """Check an edit without saving it: its changed parts, faults and findings."""
        sample = self._sample(requested.number)
        changed = changed_parts(sample.gold, requested.parts)
        problems = check(edited(sample.gold, changed), self.gates)
        return msgspec.structs.replace(problems, changed=tuple(changed))

    def decide(self, reviewer: str, queue: Queue, requested: RequestedDecision) -> AfterAction:
        """Save a decision or a comment; it is on the disk when this returns.

        One that changes nothing is not saved again.

        Raises:
            ChangedSample: the sample has changed since the reviewer saw it, or `data.json` has.
            RejectedEdit: gates reject the fix, or its form is wrong.
            UsageError: the decision is not valid.
            ToolassayError: the file cannot be written.
        """
        sample = self._sample(requested.number)
        if not self.unchanged():
            raise ChangedSample(
                "data.json has changed since this review was started",
                fix="start the review again; all decisions are saved",
            )
        record = decision_record(sample, reviewer, role_of(queue), requested, self.gates)

        def make(log: Log) -> list[Record]:
            key = record.role, sample.id
            note = log.notes.get(key, "") if requested.note is None else requested.note
            standing = log.standing(record.role).get(sample.id)
            unchanged = record.action == COMMENT or (
                record.same_as(standing) and standing is not None and not _stale(standing, sample)
            )
            if unchanged and note == log.notes.get(key, ""):
                return []
            return [msgspec.structs.replace(record, note=note)]

        self.store.append(reviewer, make)
        return self._after(sample, reviewer, queue)

    def undo(self, reviewer: str, queue: Queue) -> AfterAction:
        """Take back the reviewer's last decision; `number` is its sample, or None if there is no decision."""
        role = role_of(queue)
        undone: list[ReviewSample] = []

        def make(log: Log) -> list[Record]:
            last = log.last(role)
            if last is None or last.id not in self._by_id:
                return []
            undone.append(self._by_id[last.id])
            return [
                Record(id=last.id, fingerprint=last.fingerprint, action=UNDO, reviewer=reviewer, role=role)
            ]

        self.store.append(reviewer, make)
        if not undone:
            return AfterAction(None, action=UNDO)
        return self._after(undone[0], reviewer, queue, UNDO)

    def search(self, text: str) -> list[int]:
        """The numbers of the samples with a text in id, request, steps or tools, ignoring case."""
        sought = text.casefold().strip()
        return [sample.number for sample in self.samples if sought in _searched(sample)]

    def summary(self) -> ReviewSummary:
        """The human-verification table, as JSON and as Markdown."""
        table = verification(self.outcomes())
        return ReviewSummary(table.samples, table.agreement, tuple(markdown(table)))

    def _after(
        self, sample: ReviewSample, reviewer: str, queue: Queue, action: Action | UnsetType = UNSET
    ) -> AfterAction:
        """The state of a sample and the progress, which the page gets after each action."""
        outcome = outcomes([sample], self.store.logs())[0]
        standing = self.store.log(reviewer).standing(role_of(queue)).get(sample.id)
        return AfterAction(sample.number, self._item(outcome, standing), self.progress(), action)

    def _decided(self) -> list[Outcome]:
        """The outcomes of the samples with any decision."""
        logs = self.store.logs()
        ids = {sample for log in logs.values() for _, sample in log.taken}
        return outcomes([self._by_id[sample] for sample in ids if sample in self._by_id], logs)

    def _item(self, item: Outcome, record: Record | None) -> QueueItem:
        sample = item.sample
        return QueueItem(
            sample.number,
            sample.id,
            sample.shape,
            self.findings.level(sample),
            record.action if record else None,
            record is not None and _stale(record, sample),
        )

    def _drawn(self, gold: Gold) -> ShownPlan:
        library = self.background.library
        names = dict.fromkeys(node.tool for node in gold.nodes)
        return ShownPlan(draw_plan(gold, library), {name: tool_card(name, library) for name in names})

    def _sample(self, number: int) -> ReviewSample:
        if not 0 <= number < len(self.samples):
            raise UsageError(
                f"there is no sample {number}", fix=f"use a number from 0 to {len(self.samples) - 1}"
            )
        return self.samples[number]


def role_of(queue: Queue) -> Role:
    """The role of a reviewer in a queue: conflicts are settled by an adjudicator."""
    return "adjudicator" if queue == "conflicts" else "reviewer"


def _stale(record: Record, sample: ReviewSample) -> bool:
    return record.fingerprint != sample.fingerprint


def _shown_record(record: Record, sample: ReviewSample) -> ShownRecord:
    return ShownRecord(**msgspec.structs.asdict(record), stale=_stale(record, sample))


def _searched(sample: ReviewSample) -> str:
    gold = sample.gold
    tools = (node.tool for node in gold.nodes)
    return "\n".join([str(sample.id), gold.request, *gold.steps, *tools]).casefold()
