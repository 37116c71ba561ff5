"""The gate "llm critic": the verdicts of the models that reviewed a sample."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from toolassay.backinstruct.teacher_review import Review, TeacherVerdict, read_review
from toolassay.gates.critic import NOT_FOR_IT, CriticVerdict
from toolassay.gates.gate import Finding, State
from toolassay.gold import Gold

RULES = "offline"
"""The built-in model. It writes and reviews by the same rules, so its review of its own text says nothing."""
REVIEW = "check_by_teacher"
"""The key of a label with the stored review."""
# The outcomes with a response, from which a verdict was read.
_ANSWERS = ("answered", "malformed", "refused")


class _Objection(NamedTuple):
    """A verdict "fail": its author (empty if unknown), its reason, and its path in the label."""

    author: str
    reason: str
    where: str


class TeacherGate:
    """Holds back samples that reviewers failed; an unreadable verdict is unknown.

    The "no" of one model quarantines a sample, because a single weak model rejects correct samples. The "no"
    of two different models rejects it. The review stored with the label is the verdict of the model that
    wrote the label. It counts as a second model if that model is known and is not one of the critics. Beside
    critics, an unreadable or missing stored review has no effect. The offline critic has no say about what
    the
    offline writer wrote.

    Args:
        critics: for each critic, its verdicts by the line of the sample. A sample without a verdict was not
            sent. Without critics, only the stored review counts.
        teacher: the model that wrote the stored reviews; empty if unknown.
    """

    name = "llm critic"

    def __init__(
        self, critics: Mapping[str, Mapping[int, CriticVerdict]] | None = None, teacher: str = ""
    ) -> None:
        self._critics, self._teacher = critics or {}, teacher

    def check(self, gold: Gold) -> list[Finding]:
        """One finding for each reviewer whose verdict is not "pass"."""
        objections, others = [], []
        own = self._teacher == RULES
        if own and (set(self._critics) == {RULES} or (not self._critics and self._stored(gold) is not None)):
            return [
                self._finding("not applicable", "the rules that wrote the sample reviewed it", author=RULES)
            ]
        for name, verdicts in self._critics.items():
            if own and name == RULES:
                continue
            answer = verdicts.get(gold.line)
            if answer is not None and answer.outcome in _ANSWERS and answer.verdict == "fail":
                objections.append(_Objection(name, f'{name} concludes: "{answer.conclusion}"', ""))
            else:
                others += self._no_objection(name, answer)
        stored = self._stored(gold)
        if stored is None and not self._critics:
            return [self._finding("not applicable", "the label has no review (--critic requests one)")]
        if stored is not None and self._teacher not in self._critics and not own:
            if stored.verdict == "fail":
                reason = f'{self._reviewer} concludes: "{stored.conclusion}"'
                objections.append(_Objection(self._teacher, reason, REVIEW))
            elif stored.verdict == "unknown" and not self._critics:
                reason = f'{self._reviewer} has no readable verdict: "{stored.conclusion}"'
                others.append(self._finding("unknown", reason, REVIEW, self._teacher))
        state: State = "reject" if len({one.author for one in objections if one.author}) > 1 else "quarantine"
        return [self._finding(state, one.reason, one.where, one.author) for one in objections] + others

    def confirmed_by(self, gold: Gold) -> str:
        """A critic whose verdict is "pass", if no reviewer's is "fail"; empty without one.

        The built-in rules confirm nothing: they know no more than the gates.
        """
        if any(finding.state in ("quarantine", "reject") for finding in self.check(gold)):
            return ""
        for name, verdicts in self._critics.items():
            answer = verdicts.get(gold.line)
            if name != RULES and answer and answer.outcome in _ANSWERS and answer.verdict == "pass":
                return name
        return ""

    def verdicts(self, gold: Gold) -> dict[str, TeacherVerdict | None]:
        """The verdicts of the stored review and of each critic, by name; empty without critics."""
        if not self._critics:
            return {}
        stored = self._stored(gold)
        return {REVIEW: stored.verdict if stored else None, **dict(self._verdicts(gold))}

    def _verdicts(self, gold: Gold) -> Iterator[tuple[str, TeacherVerdict | None]]:
        for name, verdicts in self._critics.items():
            answer = verdicts.get(gold.line)
            yield name, None if answer is None or answer.outcome == NOT_FOR_IT else answer.verdict

    @property
    def _reviewer(self) -> str:
        return f"the review by {self._teacher}" if self._teacher else "the review"

    @staticmethod
    def _stored(gold: Gold) -> Review | None:
        """The review stored with the label; None without one."""
        own = gold.record.get(REVIEW)
        return None if own is None or (isinstance(own, str) and not own.strip()) else read_review(own)

    def _no_objection(self, who: str, answer: CriticVerdict | None) -> list[Finding]:
        """The finding for a critic whose verdict is not "fail"; none if it is "pass"."""
        if answer is None:
            reason = f"not sent to {who}: another gate rejects the sample"
            return [self._finding("not applicable", reason, author=who)]
        if answer.outcome == NOT_FOR_IT:
            return [self._finding("not applicable", f"{who} judges no plan without arguments", author=who)]
        if answer.outcome == "refused":
            return [self._finding("unknown", f"{who} refused to review it", author=who)]
        if answer.outcome not in _ANSWERS:
            return [self._finding("unknown", f"{who} gave no answer ({answer.outcome})", author=who)]
        if answer.verdict == "pass":
            return []
        reason = f'the review by {who} has no readable verdict: "{answer.conclusion}"'
        return [self._finding("unknown", reason, author=who)]

    def _finding(self, state: State, reason: str, where: str = "", author: str = "") -> Finding:
        return Finding(self.name, state, reason, where, author)
