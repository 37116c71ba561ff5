"""The gate "llm critic": what the models that reviewed the sample concluded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from toolassay.backinstruct.teacher_review import Review, TeacherVerdict, read_review
from toolassay.gates.critic import NOT_FOR_IT, CriticVerdict
from toolassay.gates.gate import Finding, State
from toolassay.gold import Gold

REVIEW = "check_by_teacher"
_ANSWERS = ("answered", "malformed", "refused")


class _Objection(NamedTuple):
    """A "no": its author (empty if unknown), its sentence, and its place in the label."""

    author: str
    reason: str
    where: str


class TeacherGate:
    """Holds back what reviewers found wanting; an unreadable verdict is unknown.

    The "no" of one model puts a sample in quarantine, for a single weak model rejects clean samples; the
    "no" of two different models rejects it. The review stored with the label is the opinion of the model that
    wrote the label. It counts beside the critics as a second model if that model is known and is none of
    them. Beside critics an unreadable or missing stored review says nothing.

    Args:
        critics: for each critic, its verdicts by the line of the sample; a sample that is not among them was
            not sent. Without critics only the stored review counts.
        teacher: the model that wrote the stored reviews; empty if unknown.
    """

    name = "llm critic"

    def __init__(
        self, critics: Mapping[str, Mapping[int, CriticVerdict]] | None = None, teacher: str = ""
    ) -> None:
        self._critics, self._teacher = critics or {}, teacher

    def check(self, gold: Gold) -> list[Finding]:
        """One finding for each reviewer that does not pass the sample."""
        objections, others = [], []
        for name, verdicts in self._critics.items():
            said = verdicts.get(gold.line)
            if said is not None and said.outcome in _ANSWERS and said.verdict == "fail":
                objections.append(_Objection(name, f'{name} concludes: "{said.conclusion}"', ""))
            else:
                others += self._no_objection(name, said)
        stored = self._stored(gold)
        if stored is None and not self._critics:
            return [self._finding("not applicable", "no review came with it (--critic asks for one)")]
        if stored is not None and self._teacher not in self._critics:
            if stored.verdict == "fail":
                reason = f'{self._reviewer} concludes: "{stored.conclusion}"'
                objections.append(_Objection(self._teacher, reason, REVIEW))
            elif stored.verdict == "unknown" and not self._critics:
                reason = f'no verdict can be read from what {self._reviewer} says: "{stored.conclusion}"'
                others.append(self._finding("unknown", reason, REVIEW, self._teacher))
        state: State = "reject" if len({one.author for one in objections if one.author}) > 1 else "quarantine"
        return [self._finding(state, one.reason, one.where, one.author) for one in objections] + others

    def verdicts(self, gold: Gold) -> dict[str, TeacherVerdict | None]:
        """What the label's review and each critic say, side by side; nothing without a critic."""
        if not self._critics:
            return {}
        stored = self._stored(gold)
        return {REVIEW: stored.verdict if stored else None, **dict(self._verdicts(gold))}

    def _verdicts(self, gold: Gold) -> Iterator[tuple[str, TeacherVerdict | None]]:
        for name, verdicts in self._critics.items():
            said = verdicts.get(gold.line)
            yield name, None if said is None or said.outcome == NOT_FOR_IT else said.verdict

    @property
    def _reviewer(self) -> str:
        return f"the review by {self._teacher}" if self._teacher else "the review"

    @staticmethod
    def _stored(gold: Gold) -> Review | None:
        """The review that the label brings; None where there is none."""
        own = gold.record.get(REVIEW)
        return None if own is None or (isinstance(own, str) and not own.strip()) else read_review(own)

    def _no_objection(self, who: str, said: CriticVerdict | None) -> list[Finding]:
        """The finding where a critic does not say "no"; none where it says "yes"."""
        if said is None:
            return [self._finding("not applicable", f"{who} was not asked: rejected already", author=who)]
        if said.outcome == NOT_FOR_IT:
            return [self._finding("not applicable", f"{who} judges no plan without arguments", author=who)]
        if said.outcome == "refused":
            return [self._finding("unknown", f"{who} declined to review it", author=who)]
        if said.outcome not in _ANSWERS:
            return [self._finding("unknown", f"{who} gave no answer ({said.outcome})", author=who)]
        if said.verdict == "pass":
            return []
        reason = f'no verdict can be read from what {who} says: "{said.conclusion}"'
        return [self._finding("unknown", reason, author=who)]

    def _finding(self, state: State, reason: str, where: str = "", author: str = "") -> Finding:
        return Finding(self.name, state, reason, where, author)
