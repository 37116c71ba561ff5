from __future__ import annotations

import json
import sys
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolassay.backinstruct.teacher_review import read_review

TABLE = "| Step | Executable | Correct |\n| --- | --- | --- |\n| 1 | Yes | Yes |\n| 2 | {} | Yes |{}"

PASS = [
    "Executable: yes (all tools exist)\nCorrect: yes (the links are right)",
    "Executable: Yes / Correct: Yes",
    "Executable: Yes, it is. Correct: Yes it is.",
    ["Step 1 is fine.", "Executable: yes", "Correct: yes"],
    {"analysis": "Fine.", "conclusion": "Executable: yes. Correct: yes."},
    "<think>Executable: no? Correct: no?</think>Executable: yes\nCorrect: yes",
    "1. Executable: Yes. All steps have what they need.\n2. Correct: Yes. The order follows the links.",
    "Executable: Yes\nCorrect: Yes",
    "**Executable:** Yes\n**Correct:** Yes",
    "- **Executable**: `yes`\n- **Correct**: `yes`",
    "## Conclusion\n### Executable\n: yes\n### Correct\n: yes",
    "Executable: **Yes**.\nCorrect: **Yes**, all links are right.",
    "Is it executable? Yes\nIs it correct? Yes",
    "Is the plan executable? Yes, every input is given. Is the plan correct? Yes.",
    "Executable - yes\nCorrect - yes",
    "Executable – yes; Correct – yes",
    "Executable = true, Correct = true",
    "EXECUTABLE -> YES\nCORRECT -> YES",
    "Executable (yes/no): yes\nCorrect (yes/no): yes",
    "Executable yes Correct yes",
    "Executable: yes, Correct: yes",
    "Executability: yes\nCorrectness: yes",
    "Executable: ✅\nCorrect: ✅",
    "Executable and correct: yes",
    "Executable/Correct: yes",
    "Is it executable and correct? Yes.",
    "The plan is executable and correct.",
    "The plan is both executable and correct.",
    "All nodes are there. The task graph is fully executable and entirely correct!",
    "It is correct and executable.",
    "Verdict: executable and correct",
    "Executable and correct.",
    "The plan is executable. The plan is correct.",
    '{"Executable": "yes", "Correct": "yes"}',
    '{"executable": true, "correct": true, "reason": "The first draft was incorrect: no, it was not."}',
    '```json\n{"executable": "Yes", "correct": "Yes"}\n```',
    "So my answer is {'executable': 'yes', 'correct': 'yes'}",
    '{"is_executable": true, "is_correct": true}',
    "| Criterion | Verdict |\n|---|---|\n| Executable | Yes |\n| Correct | Yes |",
    TABLE.format("Yes", ""),
    TABLE.format("No", "\n| Overall | Yes | Yes |"),
    "Step 1 is correct. No issues.\nExecutable: yes\nCorrect: yes",
    "Step 1: Executable: yes. Correct: yes.\nStep 2: Executable: yes. Correct: yes.",
    "Step 1: Executable: no\nCorrect: no\nAfter the repair:\nExecutable: yes\nCorrect: yes",
    "Executable: no at first, but then Executable: yes. Correct: yes",
]
FAIL = [
    "Executable: Yes\nCorrect: No",
    "Executable: no.\nCorrect: yes.",
    "Executable - yes\nCorrect - no",
    "Executable: yes. Correct: no - the link is the wrong way round.",
    "Executable: yes. Correct: no, because node 2 gets an image.",
    "Executable: No\nCorrect: No, but the nodes are the given ones.",
    "**Executable**: ❌\n**Correct**: ✅",
    "Is it executable and correct? No.",
    "The plan is not executable and it is not correct.",
    "The plan is neither executable nor correct.",
    "The plan is executable but not correct.",
    "The plan is executable, but incorrect.",
    "The plan isn't executable or correct.",
    "The plan is non-executable and incorrect.",
    "Executable: yes\nCorrect: incorrect",
    {"Executable": "yes", "Correct": "no"},
    '{"executable": false, "correct": true}',
    "| Executable | Correct |\n|---|---|\n| Yes | No |",
    TABLE.format("No", "\n| Overall | No | Yes |"),
    "Executable: yes\nCorrect: yes\nOn second thoughts:\nExecutable: yes\nCorrect: no",
]
UNKNOWN = [
    "<think>Executable: yes\nCorrect: no, wait",
    {"note": "fine"},
    "Executable: Yes, assuming the files exist. Correct: yes",
    "The plan is executable, but the second link is wrong, so it is not correct.",
    "Executable: yes/no\nCorrect: yes/no",
    "Executable: yes or no? Correct: yes or no?",
    "Executable: yes, mostly\nCorrect: yes",
    "Executable: yes, but only if the file exists. Correct: yes",
    "Executable: yes. But the second link is doubtful. Correct: yes",
    "Executable: yes\nCorrect: yes\nHowever, node 2 gets an image.",
    "Executable: partially\nCorrect: yes",
    "Executable: not sure\nCorrect: yes",
    "Executable: no issues\nCorrect: no issues",
    "Executable: maybe. Correct: probably yes.",
    "Executable: yes",
    "Correct: yes",
    "Executable: yes\nCorrect:",
    "Executable:\nCorrect: yes",
    "Not executable: yes\nCorrect: yes",
    "Executable: yes\nCorrect: yes\nThe plan is not correct.",
    "Executable: yes. Correct: yes. In short, the plan is incorrect.",
    "Step 1: Executable: yes. Correct: no.\nStep 2: Executable: yes. Correct: yes.",
    TABLE.format("No", ""),
    {"steps": [{"executable": True, "correct": False}, {"executable": True, "correct": True}]},
    {"executable": "yes", "correct": "mostly"},
    {"executable": 1, "correct": 1},
    "The plan is executable if the file exists, and correct.",
    "If the plan is executable and correct, we can go on.",
    "I am not sure that the plan is executable and correct.",
    "I think it is executable and correct.",
    "Step 1 is executable and correct.",
    "The first step of the plan is executable and correct.",
    "The plan is not executable and correct.",
    "The plan is not both executable and correct.",
    "The plan is not incorrect and executable.",
    "Is the plan executable and correct?",
    "Let me check whether it is executable and whether it is correct.",
    "Looks good to me! 10/10",
    "Steps 1 and 2 are correct - no problem there; the plan is executable.",
    "Ausführbar: ja. Richtig: ja.",
    "[]",
    [],
    "{",
]


@pytest.mark.parametrize("review", PASS)
def test_a_pass_is_said_in_many_ways(review: object) -> None:
    assert read_review(review).verdict == "pass"


@pytest.mark.parametrize("review", FAIL)
def test_so_is_a_failure(review: object) -> None:
    assert read_review(review).verdict == "fail"


@pytest.mark.parametrize("review", UNKNOWN)
def test_in_doubt_the_verdict_is_unknown(review: object) -> None:
    assert read_review(review).verdict == "unknown"


NO, YES = "Executable: no. Correct: no.", "Executable: yes.\nCorrect: yes."


@pytest.mark.parametrize(
    ("review", "verdict"),
    [
        (f"<thinking>{NO}</thinking>\n{YES}", "pass"),
        (f"[THINK]{YES}[/THINK]{NO}", "fail"),
        (f"{YES}</think>\n{NO}", "fail"),
        (f'<THINK>{YES}</THINK>{{"executable": "yes", "correct": "no"}}', "fail"),
        (f"<reasoning>{YES}</reasoning>I cannot say.", "unknown"),
        (f"<thinking>{YES}", "unknown"),
        (f"<think>{YES}</think>\n{NO} <think>{YES}", "fail"),
    ],
)
def test_thoughts_conclude_nothing(review: str, verdict: str) -> None:
    assert read_review(review).verdict == verdict


def test_the_words_that_decide_are_quoted() -> None:
    review = (
        f"{'Step 1 is fine. ' * 40}\n**Executable**: yes\n\n**Correct**: no, the link is missing\n\nRegards"
    )
    assert read_review(review).conclusion == "Executable: yes / Correct: no, the link is missing"
    assert read_review("x" * 500).conclusion == "…" + "x" * 159


def test_a_json_object_is_the_same_as_its_text() -> None:
    value = {"Executable": "yes", "Correct": "no"}
    assert read_review(value) == read_review(json.dumps(value))


PIECES = st.sampled_from(
    [
        "executable",
        "correct",
        "not ",
        "is ",
        "the plan ",
        ": ",
        "yes",
        "no",
        "| ",
        "\n",
        ", ",
        " - ",
        "? ",
        "(",
        "i",
    ]
)


@settings(max_examples=50)
@given(st.lists(PIECES, max_size=60).map("".join) | st.text(max_size=300))
def test_any_text_has_a_verdict(text: str) -> None:
    assert read_review(text).verdict in ("pass", "fail", "unknown")


@pytest.mark.parametrize(
    "piece",
    [
        "executable ",
        "the plan is ",
        "| executable | correct |\n",
        "not ",
        "correct: ",
        "((((",
        "step",
    ],
)
def test_the_work_grows_with_a_text_and_ends_at_the_longest_that_is_read(piece: str) -> None:
    half, whole, beyond = (
        calls_of(read_review, (piece * length)[:length]) for length in (10**4, 2 * 10**4, 10**6)
    )
    assert whole <= 2.1 * half
    assert beyond <= 1.01 * whole


@pytest.mark.parametrize("piece", ["executable ", "the plan is ", "| executable | correct |\n", "(((("])
def test_a_conclusion_after_a_long_text_is_read(piece: str) -> None:
    assert read_review(piece * 5000 + ".\nExecutable: yes.\nCorrect: no.").verdict == "fail"
    assert read_review("Executable: yes.\nCorrect: no.\n" + piece * 5000).verdict == "unknown"


def calls_of(function: Callable[[str], object], text: str) -> int:
    """How many calls, of Python functions and of built-in ones, a function makes for a text."""
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        function(text)
    finally:
        sys.setprofile(before)
    return calls
