"""A reviewer's decision on a sample: its record, the edited label, the checks before saving, and the store.

The decisions on a data folder are in `reviews/<reviewer>.jsonl`, an append-only file per reviewer. Every
action is on the disk before the page shows it as saved. A line is a record, or a batch of records (`{"batch":
[…]}`), so a sheet is imported as a whole or not at all. A last line that a crash left incomplete is cut off.
A file is locked while it is written, so a reviewer can work in two windows.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, get_args

import msgspec
from msgspec import UNSET, UnsetType

from toolassay.backinstruct.critics import JUDGED_BY, REVIEWS
from toolassay.errors import UsageError
from toolassay.executors.fact_sources import facts_of
from toolassay.gates.gate import Finding, Gate
from toolassay.plans.gold import ALTERNATIVES, Gold, alternative_labels
from toolassay.records.dataset import RequestId
from toolassay.review.samples import PARTS, Part, Parts, ReviewSample, drawn_shape
from toolassay.runs.journal import AppendOnlyLines
from toolassay.version import __version__

Decision = Literal["correct", "discard", "fix_syntax", "fix_instruction", "fix_graph"]
DECISIONS: tuple[Decision, ...] = get_args(Decision)
FIXES: tuple[Decision, ...] = ("fix_syntax", "fix_instruction", "fix_graph")
OutcomeDecision = Literal["right", "wrong"]
"""What a reviewer decides on the outcome of a model (`stages/audit.py`)."""
Action = Literal[Decision, OutcomeDecision, "comment", "undo"]
COMMENT: Action = "comment"
UNDO: Action = "undo"

Role = Literal["reviewer", "adjudicator"]

LONGEST_NOTE = 20_000  # characters; a cell of Excel holds 32,767


class Record(msgspec.Struct, frozen=True):
    """One action of a reviewer: an entry of `reviews/<reviewer>.jsonl`.

    Attributes:
        id: the id of the sample.
        fingerprint: of the version of the sample that the reviewer saw; of an outcome, also its verdict.
        action: one of `DECISIONS`, an `OutcomeDecision`, `COMMENT` (only the note changes) or `UNDO` (the
            last decision on this sample in this role no longer counts).
        reviewer: the reviewer's name.
        parts: the parts that a fix changed, by key of the label; empty for other actions.
        note: the reviewer's comment.
        insisted: the reasons for which gates reject the fix, if the reviewer saved it anyway.
        seconds: from showing the sample to the action.
        role: "adjudicator" if the reviewer settles a conflict of others.
        when: the time in UTC, ISO 8601.
        version: the version of this program.
    """

    id: RequestId
    fingerprint: str
    action: Action
    reviewer: str
    role: Role = "reviewer"
    parts: Parts = {}
    note: str = ""
    insisted: tuple[str, ...] = ()
    seconds: float = 0.0
    when: str = ""
    version: str = __version__

    def same_as(self, other: Record | None) -> bool:
        """Whether both records have the same decision and fix; reviewer and time may differ.

        >>> one = Record("a", "f", "correct", "Ann")
        >>> one.same_as(Record("a", "f", "correct", "Bob")), one.same_as(Record("a", "f", "discard", "Bob"))
        (True, False)
        """
        return other is not None and (self.action, self.parts) == (other.action, other.parts)


class EditProblems(msgspec.Struct, frozen=True):
    """The problems of a label, found before it is saved.

    Attributes:
        faults: parts in a wrong form; a label with a fault cannot be saved.
        findings: the findings of the gates, as in `gates.jsonl`.
        rejected: whether it is saved only if the reviewer insists.
        changed: the changed parts, for the page; absent from a refusal.
        error: the refusal, for people; absent from an edit that was only checked.
    """

    faults: tuple[str, ...]
    findings: tuple[Finding, ...]
    rejected: bool
    changed: tuple[Part, ...] | UnsetType = UNSET
    error: str | UnsetType = UNSET

    @property
    def rejections(self) -> tuple[str, ...]:
        """The reasons of the gates that reject the label."""
        return tuple(
            f"{finding.gate}: {finding.reason}" for finding in self.findings if finding.state == "reject"
        )


def changed_parts(gold: Gold, parts: Parts) -> Parts:
    """The parts that differ from the label.

    >>> gold = Gold.of({"id": 1, "user_request": "Hi", "task_links": []})
    >>> changed_parts(gold, {"user_request": "Ho", "task_links": []})
    {'user_request': 'Ho'}
    """
    return {key: parts[key] for key in PARTS if key in parts and parts[key] != gold.record.get(key)}


def edited(before: Gold, parts: Parts) -> Gold:
    """The label with changed parts, and with the entries that depend on them updated.

    The shape and the number of tools become those of the fixed plan. `sampled_nodes` and `sampled_links` are
    the plan that the request was written for; after a fix by a person that is the fixed plan, so they are
    replaced. The critics' verdicts on the earlier version (`check_by_teacher`, `reviews`, `judged_by`) are
    removed.

    Args:
        before: the label.
        parts: the changed parts, by key.
    """
    if not parts:
        return before
    label = {**before.record, **{str(part): value for part, value in parts.items()}}
    if "check_by_teacher" in label:
        label["check_by_teacher"] = None
    for key in (REVIEWS, JUDGED_BY):
        label.pop(key, None)
    gold = Gold.of(label, before.line)
    if "task_nodes" not in parts and "task_links" not in parts:
        return gold
    tools = [node.tool for node in gold.nodes]
    if "type" in label:
        label["type"] = drawn_shape(gold)
    if "n_tools" in label:
        label["n_tools"] = len(tools)
    if gold.sampled_nodes is not None and Counter(gold.sampled_nodes) != Counter(tools):
        label["sampled_nodes"] = [{"task": tool} for tool in tools]
    if gold.sampled_links is not None and Counter(gold.sampled_links) != Counter(gold.links):
        # The links of a schema graph have fields, which those that stay keep.
        written = [
            link for link in gold.record["sampled_links"] if isinstance(link, dict) and "fields" in link
        ]
        known_links = {(link.get("source"), link.get("target")): link for link in written}
        label["sampled_links"] = [
            known_links.get(link, {"source": link[0], "target": link[1]}) for link in gold.links
        ]
    return Gold.of(label, before.line)


def check(gold: Gold, gates: Sequence[Gate]) -> EditProblems:
    """Check the form of a label, and run the gates on it."""
    findings = tuple(finding for gate in gates for finding in gate.check(gold))
    faults = [f"{fault.where} {fault.reason}" for fault in gold.faults]
    faults += [
        f"{ALTERNATIVES}[{number}].{fault.where} {fault.reason}"
        for number, other in enumerate(alternative_labels(gold.record))
        for fault in Gold.of({**other, "task_steps": []}).faults
    ]
    try:
        facts_of(gold)
    except msgspec.ValidationError as error:
        faults.append(f"facts: {error}")
    return EditProblems(tuple(faults), findings, any(finding.state == "reject" for finding in findings))


_LATEST = 1e9  # seconds; no page is open for 30 years
_LONGEST_TIME = 24 * 3600.0  # seconds; more means that the page was left open


class RejectedEdit(UsageError):
    """A fix that is not saved: its form is wrong, or gates reject it and the reviewer did not insist."""

    def __init__(self, message: str, checked: EditProblems) -> None:
        super().__init__(message, fix="correct it, or insist")
        self.checked = checked


class ChangedSample(UsageError):
    """The decision was made on an earlier version of the sample."""


@dataclass(frozen=True)
class RequestedEdit:
    """An edit that the page asks to check.

    Attributes:
        number: the number of the sample.
        parts: the parts after the edit, by key of the label.
    """

    number: int
    parts: Parts


@dataclass(frozen=True)
class RequestedDecision:
    """A decision that the page or a sheet asks to save.

    Attributes:
        number: the number of the sample.
        fingerprint: of the version that the reviewer saw.
        action: one of `DECISIONS`, or `COMMENT`.
        parts: the parts after a fix; parts equal to the sample's are no change.
        note: a comment; None keeps the earlier one.
        insist: whether to save a fix that gates reject.
        seconds: the time that the decision took.
    """

    number: int
    fingerprint: str
    action: str
    parts: Parts = field(default_factory=dict)
    note: str | None = None
    insist: bool = False
    seconds: float = 0.0


def decision_record(
    sample: ReviewSample, reviewer: str, role: Role, requested: RequestedDecision, gates: Sequence[Gate]
) -> Record:
    """Validate a decision.

    Args:
        sample: the sample.
        reviewer: who decides.
        role: the reviewer's role.
        requested: the decision.
        gates: the gates that a fix must pass.

    Returns:
        The record to save, without its time.

    Raises:
        ChangedSample: the sample has changed since the reviewer saw it.
        RejectedEdit: gates reject the fix, or its form is wrong.
        UsageError: the decision is not valid, e.g. a fix that changes nothing.
    """
    if requested.fingerprint != sample.fingerprint:
        raise ChangedSample(f"the sample {sample.id!r} has changed since it was shown", fix="review it again")
    if requested.action not in (*DECISIONS, COMMENT):
        raise UsageError(
            f"unknown decision '{requested.action[:40]}'", fix=f"use one of {', '.join(DECISIONS)}"
        )
    if requested.note is not None and len(requested.note) > LONGEST_NOTE:
        raise UsageError(
            f"a comment of {len(requested.note):,} characters", fix=f"write {LONGEST_NOTE:,} at most"
        )
    changed = changed_parts(sample.gold, requested.parts)
    insisted: tuple[str, ...] = ()
    if requested.action in FIXES:
        if not changed:
            raise UsageError("nothing was changed", fix="change something, or decide correct or discard")
        checked = check(edited(sample.gold, changed), gates)
        if checked.faults:
            raise RejectedEdit(f"cannot be saved: {checked.faults[0]}", checked)
        if checked.rejections and not requested.insist:
            raise RejectedEdit(f"rejected: {checked.rejections[0]}", checked)
        insisted = checked.rejections
    elif changed:
        raise UsageError(f"'{requested.action}' with edits", fix="choose one of the fixes")
    if not 0 <= requested.seconds < _LATEST:
        raise UsageError("an impossible time", fix="send the seconds since the sample was shown")
    return Record(
        id=sample.id,
        fingerprint=sample.fingerprint,
        action=requested.action,
        reviewer=reviewer,
        parts=changed,
        note=requested.note or "",
        insisted=insisted,
        seconds=round(min(requested.seconds, _LONGEST_TIME), 1),
        role=role,
    )


FOLDER = "reviews"
# Characters. The name is part of a file name, which may have 255 bytes.
LONGEST_NAME = 60
_WHAT = "file of reviews"


@dataclass
class Log:
    """The state of one reviewer's decisions after replaying the file.

    Attributes:
        reviewer: the name; empty without records.
        taken: the decisions that were not undone, by role and sample, oldest first.
        notes: the current comments, by role and sample.
    """

    reviewer: str = ""
    taken: dict[tuple[Role, RequestId], list[Record]] = field(default_factory=dict)
    notes: dict[tuple[Role, RequestId], str] = field(default_factory=dict)
    _order: list[Record] = field(default_factory=list)

    def play(self, record: Record) -> None:
        """Apply the next record of the file."""
        self.reviewer = record.reviewer
        key = record.role, record.id
        if record.action == UNDO:
            stack = self.taken.get(key)
            if stack:
                gone = stack.pop()
                self._order = [other for other in self._order if other is not gone]
            return
        self.notes[key] = record.note
        if record.action != COMMENT:
            self.taken.setdefault(key, []).append(record)
            self._order.append(record)

    def standing(self, role: Role) -> dict[RequestId, Record]:
        """The current decision on each sample."""
        return {sample: stack[-1] for (whose, sample), stack in self.taken.items() if whose == role and stack}

    def last(self, role: Role) -> Record | None:
        """The latest decision on any sample, which `UNDO` would take back; None without one."""
        return next((record for record in reversed(self._order) if record.role == role), None)


Make = Callable[[Log], Sequence[Record]]
"""Builds the records to append from the current state of the reviewer's file."""


class ReviewStore:
    """The files of all reviewers of one data folder.

    Args:
        folder: the data folder.
        name: the folder of the files in it, created with the first decision.
    """

    def __init__(self, folder: Path, name: str = FOLDER) -> None:
        self.folder = folder / name
        self._seen: dict[Path, tuple[tuple[int, int], Log]] = {}

    def logs(self) -> dict[str, Log]:
        """The decisions of each reviewer, by name. Only files that changed are read again.

        Raises:
            UsageError: a line of a file is not a record; the error names it.
        """
        logs = (self._log(path) for path in sorted(self.folder.glob("*.jsonl")))
        return {log.reviewer: log for log in logs if log.reviewer}

    def log(self, reviewer: str) -> Log:
        """The decisions of one reviewer.

        Raises:
            UsageError: the name cannot be used.
        """
        return self._log(self.path(reviewer))

    def path(self, reviewer: str) -> Path:
        """The file of a reviewer.

        Raises:
            UsageError: the name is not valid, or its file belongs to another reviewer.
        """
        name = checked_name(reviewer)
        path = self.folder / f"{file_name(name)}.jsonl"
        for other in self.folder.glob("*.jsonl"):
            if other.name.casefold() == path.name.casefold():
                _check_owner(other, self._log(other).reviewer, name)
        return path

    def append(self, reviewer: str, make: Make) -> list[Record]:
        """Append records to a reviewer's file while it is locked.

        Args:
            reviewer: the name.
            make: builds the records from the current state of the file; their times are set afterwards.

        Returns:
            The records, which are on the disk.

        Raises:
            UsageError: the name cannot be used, or a line of the file is not a record.
            ToolassayError: the disk is full or the folder cannot be written; the file is then unchanged.
        """
        with closing(AppendOnlyLines(self.path(reviewer), what=_WHAT, wait=True)) as lines:
            log = _played(lines)
            # Another reviewer may have created the file since `path` looked.
            _check_owner(lines.path, log.reviewer, checked_name(reviewer))
            now = datetime.now(UTC).isoformat(timespec="seconds")
            records = [msgspec.structs.replace(record, when=now) for record in make(log)]
            if records:
                whole = msgspec.to_builtins(records)
                lines.append(whole[0] if len(whole) == 1 else {"batch": whole})
                lines.force()
        return records

    def _log(self, path: Path) -> Log:
        try:
            state = path.stat()
        except FileNotFoundError:
            return Log()
        stamp = state.st_size, state.st_mtime_ns
        cached = self._seen.get(path)
        if cached is None or cached[0] != stamp:
            with closing(AppendOnlyLines(path, what=_WHAT, read_only=True)) as lines:
                cached = self._seen[path] = stamp, _played(lines)
        return cached[1]


def _check_owner(path: Path, owner: str, name: str) -> None:
    if owner and owner != name:
        raise UsageError(
            f"the reviewer '{name}' would share a file with '{owner}'",
            file=path,
            fix="choose a name that differs by more than case and special characters",
        )


def file_name(name: str) -> str:
    """A file name for a reviewer: letters of all scripts are kept, and it never leaves its folder.

    >>> file_name("Zoë 李"), file_name("../a"), file_name("..")
    ('Zoë_李', '.._a', '_..')
    """
    # Everything but letters, digits and _ . - is replaced: "/" and " " are, the "ë" of "Zoë" is not.
    safe = re.sub(r"[^\w.-]", "_", name)
    return f"_{safe}" if not safe.strip(".") else safe


def checked_name(reviewer: str) -> str:
    """Validate and normalise the name of a reviewer: no spaces around it, accents composed (NFC).

    Raises:
        UsageError: it is empty, too long, or not printable.

    >>> checked_name(" Ann ")
    'Ann'
    """
    name = unicodedata.normalize("NFC", reviewer.strip())
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise UsageError(
            f"'{name[:20]}' is no name for a reviewer",
            fix=f"give --reviewer a name of 1 to {LONGEST_NAME} printable characters",
        )
    return name


def _played(lines: AppendOnlyLines) -> Log:
    log = Log()
    for _, records in lines.scan(lambda entry: msgspec.convert(entry.get("batch", [entry]), list[Record])):
        for record in records:
            log.play(record)
    return log
