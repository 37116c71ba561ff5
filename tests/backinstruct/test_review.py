"""Reviews of plans: the published text of labels, and the JSON object of critics."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolassay.backinstruct.teacher_review import Review, read_review


@pytest.mark.parametrize(
    ("review", "verdict"),
    [
        ("Step 1 is fine.\nExecutable: yes\nCorrect: yes", "pass"),
        ("- **Executable**: `yes`\n- **Correct**: `yes`\n", "pass"),
        ("<think>Executable: no\nCorrect: no</think>Executable: yes\nCorrect: yes", "pass"),
        ("Executable: yes\nCorrect: no", "fail"),
        ({"Executable": "yes", "Correct": "yes"}, "pass"),
        ({"executable": True, "correct": False, "steps": []}, "fail"),
        ("Step 1: Executable: yes. Correct: no.\nStep 2: Executable: yes. Correct: yes.", "unknown"),
        ("Executable: yes, mostly\nCorrect: yes", "unknown"),
        ("Not executable: yes\nCorrect: yes", "unknown"),
        ("Executable is yes", "unknown"),
        ("<think>Executable: yes\nCorrect: yes", "unknown"),
        ("The plan is executable and correct.", "unknown"),
        (["Executable: yes", "Correct: yes"], "unknown"),
        (None, "unknown"),
    ],
)
def test_a_review_of_a_label(review: Any, verdict: str) -> None:
    assert read_review(review).verdict == verdict


def test_the_conclusion_gives_the_reason() -> None:
    answer = {"review": "The link\nis wrong.", "executable": True, "correct": False}
    assert read_review(answer) == Review("fail", "Executable: yes / Correct: no: The link is wrong.")
    assert read_review("Looks good!") == Review("unknown", "Looks good!")
    long = {"review": "a " * 400, "executable": True, "correct": True}
    assert len(read_review(long).conclusion) == 160


@given(st.text() | st.dictionaries(st.text(), st.integers() | st.text()))
def test_any_review_is_read(review: Any) -> None:
    assert read_review(review).verdict in ("pass", "fail", "unknown")


def test_a_conclusion_after_a_long_text_is_read() -> None:
    text = "executable " * 40_000 + "\nExecutable: yes\nCorrect: no"
    assert read_review(text).verdict == "fail"
