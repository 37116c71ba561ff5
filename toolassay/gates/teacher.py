"""The gate "llm critic": what a model concluded that reviewed the sample."""

from __future__ import annotations

from collections.abc import Mapping

from toolassay.backinstruct.review import TeacherVerdict, read_review
from toolassay.gates.critic import NOT_FOR_IT, CriticVerdict
from toolassay.gates.gate import Finding, State
from toolassay.gold import Gold

REVIEW = "check_by_teacher"
_ANSWERS = ("answered", "malformed", "refused")


class TeacherGate:
    """Holds back what a reviewer found wanting; a verdict that cannot be told is unknown.

    Args:
        critic: the verdicts of a critic asked anew, by the line of the sample; a sample that is not among
            them was not asked about. None: the review that the label brings.
        who: the critic's name.
    """

    name = "llm critic"

    def __init__(self, critic: Mapping[int, CriticVerdict] | None = None, who: str = "the critic") -> None:
        self._critic, self._who = critic, who

    def check(self, gold: Gold) -> list[Finding]:
        """One finding at most, at `check_by_teacher` unless a critic was asked."""
        if self._critic is None:
            return self._own_review(gold)
        said = self._critic.get(gold.line)
        if said is None:
            return [self._finding("not applicable", f"{self._who} was not asked: rejected already")]
        if said.outcome == NOT_FOR_IT:
            return [self._finding("not applicable", f"{self._who} judges no plan without arguments")]
        if said.outcome == "refused":
            return [self._finding("unknown", f"{self._who} declined to review it")]
        if said.outcome not in _ANSWERS:
            return [self._finding("unknown", f"{self._who} gave no answer ({said.outcome})")]
        return self._of(said.verdict, said.conclusion, self._who, "")

    def verdicts(self, gold: Gold) -> dict[str, TeacherVerdict | None]:
        """What the label's review and the critic say, side by side; nothing without a critic."""
        if self._critic is None:
            return {}
        own, said = gold.record.get(REVIEW), self._critic.get(gold.line)
        verdict = None if said is None or said.outcome == NOT_FOR_IT else said.verdict
        return {REVIEW: read_review(own).verdict if own else None, self._who: verdict}

    def _own_review(self, gold: Gold) -> list[Finding]:
        own = gold.record.get(REVIEW)
        if own is None or (isinstance(own, str) and not own.strip()):
            return [self._finding("not applicable", "no review came with it (--critic asks for one)")]
        review = read_review(own)
        return self._of(review.verdict, review.conclusion, "the review", REVIEW)

    def _of(self, verdict: TeacherVerdict, conclusion: str, who: str, where: str) -> list[Finding]:
        if verdict == "pass":
            return []
        if verdict == "fail":
            return [self._finding("reject", f'{who} concludes: "{conclusion}"', where)]
        return [
            self._finding("unknown", f'no verdict can be read from what {who} says: "{conclusion}"', where)
        ]

    def _finding(self, state: State, reason: str, where: str = "") -> Finding:
        return Finding(self.name, state, reason, where)
