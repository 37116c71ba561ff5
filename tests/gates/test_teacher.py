from __future__ import annotations

import pytest

from tests.support.checking import NO, YES, gold
from toolassay.gates.critic import NOT_FOR_IT, CriticVerdict, TeacherGate
from toolassay.gates.gate import state_of


@pytest.mark.parametrize(
    ("review", "state"),
    [
        (YES, "pass"),
        (NO, "quarantine"),
        ("Looks good!", "unknown"),
        (None, "not applicable"),
        (7, "unknown"),
    ],
)
def test_the_review_that_a_label_brings(review: object, state: str) -> None:
    assert state_of(TeacherGate().check(gold(check_by_teacher=review))) == state


def test_a_failure_quotes_the_review() -> None:
    (found,) = TeacherGate(teacher="writer-1").check(gold(check_by_teacher=NO))
    assert "Executable: yes / Correct: no" in found.reason
    assert (found.gate, found.where, found.author) == ("llm critic", "check_by_teacher", "writer-1")


def test_a_critic_quarantines_and_an_answer_without_a_verdict_is_unknown() -> None:
    said = {
        1: CriticVerdict("fail", "Correct: no", "answered"),
        2: CriticVerdict("pass", "", "answered"),
        3: CriticVerdict("unknown", "Hm.", "malformed"),
        4: CriticVerdict("unknown", "", "provider error"),
        5: CriticVerdict("unknown", "", "refused"),
    }
    gate = TeacherGate({"judge-1": said})
    samples = [gold(line=line, check_by_teacher=YES) for line in range(1, 7)]
    states = [state_of(gate.check(sample)) for sample in samples]
    assert states == ["quarantine", "pass", "unknown", "unknown", "unknown", "not applicable"]
    assert gate.verdicts(samples[0]) == {"check_by_teacher": "pass", "judge-1": "fail"}
    assert gate.verdicts(samples[5]) == {"check_by_teacher": "pass", "judge-1": None}
    assert [found.reason for found in gate.check(samples[3])] == ["judge-1 gave no answer (provider error)"]
    assert TeacherGate().verdicts(samples[0]) == {}


SAYS = {
    "yes": CriticVerdict("pass", "", "answered"),
    "no": CriticVerdict("fail", "Correct: no", "answered"),
    "?": CriticVerdict("unknown", "Hm.", "malformed"),
    "lost": CriticVerdict("unknown", "", "provider error"),
    "not for it": CriticVerdict("unknown", "", NOT_FOR_IT),
}


@pytest.mark.parametrize(
    ("said", "state"),
    [
        (["yes", "yes"], "pass"),
        (["no", "yes"], "quarantine"),
        (["no", "?"], "quarantine"),
        (["no", "no"], "reject"),
        (["no", "yes", "no"], "reject"),
        (["yes", "?"], "unknown"),
        (["yes", "lost"], "unknown"),
        (["no", "not for it"], "quarantine"),
    ],
)
def test_one_model_quarantines_and_two_reject(said: list[str], state: str) -> None:
    gate = TeacherGate({f"judge-{number}": {1: SAYS[one]} for number, one in enumerate(said)})
    found = gate.check(gold(line=1))
    assert state_of(found) == state
    wanted = [f"judge-{number}" for number, one in enumerate(said) if one != "yes"]
    assert sorted(str(finding.author) for finding in found) == wanted
    assert all(str(finding.author) in finding.reason for finding in found)


@pytest.mark.parametrize(
    ("teacher", "review", "said", "state"),
    [
        ("writer", NO, "no", "reject"),
        ("writer", NO, "yes", "quarantine"),
        ("writer", YES, "no", "quarantine"),
        ("writer", "Looks good!", "yes", "pass"),
        ("judge", NO, "no", "quarantine"),
        ("judge", NO, "yes", "pass"),
        ("", NO, "no", "quarantine"),
    ],
)
def test_the_stored_review_is_an_opinion_of_the_model_that_wrote_the_label(
    teacher: str, review: str | None, said: str, state: str
) -> None:
    gate = TeacherGate({"judge": {1: SAYS[said]}}, teacher)
    assert state_of(gate.check(gold(line=1, check_by_teacher=review))) == state
