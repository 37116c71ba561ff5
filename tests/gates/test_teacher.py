from __future__ import annotations

import pytest
from checking import NO, YES, gold

from toolassay.gates.critic import CriticVerdict
from toolassay.gates.gate import state_of
from toolassay.gates.teacher import TeacherGate


@pytest.mark.parametrize(
    ("review", "state"),
    [
        (YES, "pass"),
        (NO, "reject"),
        ("Looks good!", "unknown"),
        ({"Executable": "yes", "Correct": "no"}, "reject"),
        (None, "not applicable"),
        ("", "not applicable"),
        (7, "unknown"),
    ],
)
def test_the_review_that_a_label_brings(review: object, state: str) -> None:
    assert state_of(TeacherGate().check(gold(check_by_teacher=review))) == state


def test_a_failure_quotes_the_review() -> None:
    (found,) = TeacherGate().check(gold(check_by_teacher=NO))
    assert found == (
        "llm critic",
        "reject",
        'the review concludes: "Executable: yes / Correct: no"',
        "check_by_teacher",
    )


def test_a_critic_counts_instead_of_the_review_and_stands_beside_it() -> None:
    said = {
        1: CriticVerdict("fail", "Correct: no", "answered"),
        2: CriticVerdict("pass", "", "answered"),
        3: CriticVerdict("unknown", "Hm.", "malformed"),
        4: CriticVerdict("unknown", "", "provider error"),
        5: CriticVerdict("unknown", "", "refused"),
    }
    gate = TeacherGate(said, "judge-1")
    samples = [gold(line=line, check_by_teacher=YES) for line in range(1, 7)]
    states = [state_of(gate.check(sample)) for sample in samples]
    assert states == ["reject", "pass", "unknown", "unknown", "unknown", "not applicable"]
    assert gate.verdicts(samples[0]) == {"check_by_teacher": "pass", "judge-1": "fail"}
    assert gate.verdicts(samples[5]) == {"check_by_teacher": "pass", "judge-1": None}
    assert [found.reason for found in gate.check(samples[3])] == ["judge-1 gave no answer (provider error)"]
    assert TeacherGate().verdicts(samples[0]) == {}
