"""A reviewer's decision on a sample: its record, the edited label, and the checks before saving."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple, get_args

from toolassay.dataset import RequestId
from toolassay.errors import UsageError
from toolassay.gates.gate import Finding, Gate
from toolassay.gold import Gold
from toolassay.review.samples import PARTS, ReviewSample, drawn_shape
from toolassay.version import __version__

Decision = Literal["correct", "discard", "fix_syntax", "fix_instruction", "fix_graph"]
DECISIONS: tuple[Decision, ...] = get_args(Decision)
FIXES: tuple[Decision, ...] = ("fix_syntax", "fix_instruction", "fix_graph")
COMMENT, UNDO = "comment", "undo"

Role = Literal["reviewer", "adjudicator"]
ROLES: tuple[Role, ...] = get_args(Role)

LONGEST_NOTE = 20_000  # characters; a cell of Excel holds 32,767


@dataclass(frozen=True, slots=True)
class Record:
    """One action of a reviewer: an entry of `reviews/<reviewer>.jsonl`.

    Attributes:
        id: the id of the sample.
        fingerprint: of the version of the sample that the reviewer saw.
        action: one of `DECISIONS`, or `COMMENT` (only the note changes) or `UNDO` (the last decision on this
            sample in this role no longer counts).
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
    action: str
    reviewer: str
    parts: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""
    insisted: tuple[str, ...] = ()
    seconds: float = 0.0
    role: Role = "reviewer"
    when: str = ""
    version: str = __version__

    def to_json(self) -> dict[str, Any]:
        """The record as the JSON object of its line."""
        return {
            "id": self.id,
            "fingerprint": self.fingerprint,
            "action": self.action,
            "reviewer": self.reviewer,
            "role": self.role,
            "parts": dict(self.parts),
            "note": self.note,
            "insisted": list(self.insisted),
            "seconds": self.seconds,
            "when": self.when,
            "version": self.version,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Record:
        """Parse the JSON object of a line.

        Raises:
            KeyError: a key is missing.
            ValueError: a value is not valid.
        """
        texts = (value[name] for name in ("fingerprint", "action", "reviewer", "note", "when", "version"))
        if (
            value["action"] not in (*DECISIONS, COMMENT, UNDO)
            or value["role"] not in ROLES
            or not isinstance(value["id"], str | int)
            or not isinstance(value["parts"], dict)
            or not all(isinstance(text, str) for text in texts)
        ):
            raise ValueError("no record of a review")
        return cls(
            id=value["id"],
            fingerprint=value["fingerprint"],
            action=value["action"],
            reviewer=value["reviewer"],
            parts=value["parts"],
            note=value["note"],
            insisted=tuple(value["insisted"]),
            seconds=value["seconds"],
            role=value["role"],
            when=value["when"],
            version=value["version"],
        )

    def same_as(self, other: Record | None) -> bool:
        """Whether both records decide the same, with the same fix, whoever decided and when.

        >>> one = Record("a", "f", "correct", "Ann")
        >>> one.same_as(Record("a", "f", "correct", "Bob")), one.same_as(Record("a", "f", "discard", "Bob"))
        (True, False)
        """
        return other is not None and (self.action, self.parts) == (other.action, other.parts)


def stamped(record: Record) -> Record:
    """The record with the current time as `when`."""
    return replace(record, when=datetime.now(UTC).isoformat(timespec="seconds"))


class CheckedLabel(NamedTuple):
    """The problems of a label, found before it is saved.

    Attributes:
        faults: parts in a wrong form; a label with a fault cannot be saved.
        findings: the findings of the gates; a rejected label is saved only if the reviewer insists.
    """

    faults: tuple[str, ...]
    findings: tuple[Finding, ...]

    @property
    def rejections(self) -> tuple[str, ...]:
        """The reasons of the gates that reject the label."""
        return tuple(
            f"{finding.gate}: {finding.reason}" for finding in self.findings if finding.state == "reject"
        )


def changed_parts(record: Mapping[str, Any], parts: Mapping[str, Any]) -> dict[str, Any]:
    """The parts that differ from the label.

    Raises:
        UsageError: a key is not one of the four `PARTS`.

    >>> changed_parts({"user_request": "Hi", "task_links": []}, {"user_request": "Ho", "task_links": []})
    {'user_request': 'Ho'}
    """
    strange = [key for key in parts if key not in PARTS]
    if strange:
        raise UsageError(f"'{strange[0]}' cannot be edited", fix=f"edit {', '.join(PARTS)}")
    return {key: parts[key] for key in PARTS if key in parts and parts[key] != record.get(key)}


def edited(record: Mapping[str, Any], parts: Mapping[str, Any]) -> dict[str, Any]:
    """The label with changed parts, and with the entries that depend on them updated.

    The shape and the number of tools become those of the fixed plan. `sampled_nodes` and `sampled_links` are
    the plan that the request was written for; after a fix by a person that is the fixed plan, so they are
    replaced. The critic's verdict on the earlier version (`check_by_teacher`) is removed.

    Args:
        record: the label.
        parts: the changed parts, by key.
    """
    label = {**record, **parts}
    if not parts:
        return label
    if "check_by_teacher" in label:
        label["check_by_teacher"] = None
    if "task_nodes" not in parts and "task_links" not in parts:
        return label
    gold = Gold.of(label)
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
        known = {(link.get("source"), link.get("target")): link for link in written}
        label["sampled_links"] = [
            known.get(link, {"source": link[0], "target": link[1]}) for link in gold.links
        ]
    return label


def check(label: Mapping[str, Any], gates: Sequence[Gate]) -> CheckedLabel:
    """Check the form of a label, and run the gates on it."""
    gold = Gold.of(label)
    findings = [finding for gate in gates for finding in gate.check(gold)]
    return CheckedLabel(tuple(f"{fault.where} {fault.reason}" for fault in gold.faults), tuple(findings))


_LATEST = 1e9  # seconds; no page is open for 30 years
_LONGEST_TIME = 24 * 3600.0  # seconds; more means that the page was left open


class RejectedEdit(UsageError):
    """A fix that is not saved: its form is wrong, or gates reject it and the reviewer did not insist."""

    def __init__(self, message: str, checked: CheckedLabel) -> None:
        super().__init__(message, fix="correct it, or insist")
        self.checked = checked


class ChangedSample(UsageError):
    """The decision was made on an earlier version of the sample."""


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
    parts: Mapping[str, Any]
    note: str | None = None
    insist: bool = False
    seconds: float = 0.0


def record_of(
    sample: ReviewSample, reviewer: str, role: Role, wanted: RequestedDecision, gates: Sequence[Gate]
) -> Record:
    """Validate a decision.

    Args:
        sample: the sample.
        reviewer: who decides.
        role: the reviewer's role.
        wanted: the decision.
        gates: the gates that a fix must pass.

    Returns:
        The record to save, without its time.

    Raises:
        ChangedSample: the sample has changed since the reviewer saw it.
        RejectedEdit: gates reject the fix, or its form is wrong.
        UsageError: the decision is not valid, e.g. a fix that changes nothing.
    """
    if wanted.fingerprint != sample.fingerprint:
        raise ChangedSample(f"the sample {sample.id!r} has changed since it was shown", fix="review it again")
    if wanted.action not in (*DECISIONS, COMMENT):
        raise UsageError(f"unknown decision '{wanted.action[:40]}'", fix=f"use one of {', '.join(DECISIONS)}")
    if wanted.note is not None and len(wanted.note) > LONGEST_NOTE:
        raise UsageError(
            f"a comment of {len(wanted.note):,} characters", fix=f"write {LONGEST_NOTE:,} at most"
        )
    changed = changed_parts(sample.record, wanted.parts)
    insisted: tuple[str, ...] = ()
    if wanted.action in FIXES:
        if not changed:
            raise UsageError("nothing was changed", fix="change something, or decide correct or discard")
        checked = check(edited(sample.record, changed), gates)
        if checked.faults:
            raise RejectedEdit(f"cannot be saved: {checked.faults[0]}", checked)
        if checked.rejections and not wanted.insist:
            raise RejectedEdit(f"rejected: {checked.rejections[0]}", checked)
        insisted = checked.rejections
    elif changed:
        raise UsageError(f"'{wanted.action}' with edits", fix="choose one of the fixes")
    if not 0 <= wanted.seconds < _LATEST:
        raise UsageError("an impossible time", fix="send the seconds since the sample was shown")
    return Record(
        id=sample.id,
        fingerprint=sample.fingerprint,
        action=wanted.action,
        reviewer=reviewer,
        parts=changed,
        note=wanted.note or "",
        insisted=insisted,
        seconds=round(min(wanted.seconds, _LONGEST_TIME), 1),
        role=role,
    )


def checked_json(checked: CheckedLabel) -> dict[str, Any]:
    """The problems of an edit as a JSON object, for the page."""
    return {
        "faults": list(checked.faults),
        "findings": [finding.to_json() for finding in checked.findings],
        "rejected": bool(checked.rejections),
    }
