"""What a reviewer said of a sample, as one record of a file that is only ever appended to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal, get_args

from toolassay.dataset import RequestId
from toolassay.version import __version__

Decision = Literal["correct", "discard", "fix_syntax", "fix_instruction", "fix_graph"]
DECISIONS: tuple[Decision, ...] = get_args(Decision)
FIXES: tuple[Decision, ...] = ("fix_syntax", "fix_instruction", "fix_graph")
COMMENT, UNDO = "comment", "undo"

Role = Literal["reviewer", "adjudicator"]
ROLES: tuple[Role, ...] = get_args(Role)

LONGEST_NOTE = 20_000  # characters


@dataclass(frozen=True, slots=True)
class Record:
    """One action of one person.

    Attributes:
        id: of the sample.
        fingerprint: of the sample as it was when the person saw it.
        action: one of `DECISIONS`, or `COMMENT` (only the note changes) or `UNDO` (the last decision on this
            sample in this role no longer counts).
        parts: what a fix made of the parts it changed, by key of the label; empty otherwise.
        note: the person's comment.
        insisted: why gates reject the fix, where the person saved it all the same.
        seconds: from seeing the sample to acting.
        role: "adjudicator" where the person settled a conflict of others.
        reviewer: the person's name.
        when: UTC, ISO 8601.
        version: of this program.
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
        """The record as an object of its line."""
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
        """Read a record back.

        Raises:
            KeyError: something is missing.
            ValueError: something is none of ours.
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
        """Whether both say the same of a sample, whoever said it and when.

        >>> one = Record("a", "f", "correct", "Ann")
        >>> one.same_as(Record("a", "f", "correct", "Bob")), one.same_as(Record("a", "f", "discard", "Bob"))
        (True, False)
        """
        return other is not None and (self.action, self.parts) == (other.action, other.parts)


def stamped(record: Record) -> Record:
    """The record with the present time."""
    return replace(record, when=datetime.now(UTC).isoformat(timespec="seconds"))
