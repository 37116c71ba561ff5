"""Whether a decision that somebody asks for makes sense: what is kept of it, or why nothing is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolassay.errors import UsageError
from toolassay.gates.gate import Gate
from toolassay.review.decision import COMMENT, DECISIONS, FIXES, LONGEST_NOTE, Record, Role
from toolassay.review.editing import Checked, changed_parts, check, edited
from toolassay.review.samples import ReviewSample

_LONGEST_TIME = 24 * 3600.0


class RejectedEdit(UsageError):
    """A fix that is not saved: its form is wrong, or gates reject it and nobody insisted."""

    def __init__(self, message: str, checked: Checked) -> None:
        super().__init__(message, fix="mend it, or insist")
        self.checked = checked


class ChangedSample(UsageError):
    """The decision was made on another version of the sample."""


@dataclass(frozen=True)
class Wanted:
    """A decision as a person asks for it.

    Attributes:
        number: of the sample.
        fingerprint: of the version the person saw.
        action: one of `DECISIONS`, or `COMMENT`.
        parts: as a fix leaves them; parts equal to the sample's are no change.
        note: a comment; None leaves what was there.
        insist: save a fix that gates reject.
        seconds: it took.
    """

    number: int
    fingerprint: str
    action: str
    parts: Mapping[str, Any]
    note: str | None = None
    insist: bool = False
    seconds: float = 0.0


def record_of(
    sample: ReviewSample, reviewer: str, role: Role, wanted: Wanted, gates: Sequence[Gate]
) -> Record:
    """The record that a decision is, once it has been found to make sense.

    Args:
        sample: it is about.
        reviewer: whose it is.
        role: as what the person decides.
        wanted: the decision.
        gates: that a fix must pass.

    Raises:
        ChangedSample: the sample is not what the person saw.
        RejectedEdit: gates reject the fix, or it has a wrong form.
        UsageError: the decision makes no sense.
    """
    if wanted.fingerprint != sample.fingerprint:
        raise ChangedSample(
            f"the sample {sample.id!r} has changed since it was shown", fix="look at it again"
        )
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
        raise UsageError(f"'{wanted.action}' with edits", fix="decide for one of the fixes")
    seconds = min(max(wanted.seconds, 0.0), _LONGEST_TIME) if math.isfinite(wanted.seconds) else 0.0
    return Record(
        id=sample.id,
        fingerprint=sample.fingerprint,
        action=wanted.action,
        reviewer=reviewer,
        parts=changed,
        note=wanted.note or "",
        insisted=insisted,
        seconds=round(seconds, 1),
        role=role,
    )


def checked_json(checked: Checked) -> dict[str, Any]:
    """What is to be said of an edit, as a JSON object."""
    return {
        "faults": list(checked.faults),
        "findings": [finding.to_json() for finding in checked.findings],
        "rejected": bool(checked.rejections),
    }
