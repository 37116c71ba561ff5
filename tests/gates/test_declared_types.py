from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from toolassay.gates.declared_types import value_fit
from toolassay.text_values.plausibility import may_be_date, may_be_number, may_be_time

DATES = """2026-05-14 | 14/05/2026 | 14.05.2026 | May 5th | the 3rd | next Friday | tomorrow | in two weeks
| 14 mai | Christmas Eve | end of June | mid-August | Q3 2026 | this weekend | New Year's Eve | 20260514
| 5/14 | Thursday evening | summer 2025 | 2026年5月14日 | 明天 | 2026-05-14T10:00
| my birthday | 14.05"""
NO_DATES = "banana | 19:45 | 42 | a red fox | example | true | 3.75 | blue | Marchand"
TIMES = "06:30 | 7 pm | 7 | noon | half past six | in two hours | 18h | 9 o'clock | tomorrow | 10.15 | 1730"
NO_TIMES = "banana | 2026-05-14 | a red fox | blue"
NUMBERS = (
    "42 | -5°C | 1,000.50 | 20 euros | $20 | EUR20 | two dozen | a couple | ½ | 5 to 10 | 20% | 3 km | no. 7"
)
NO_NUMBERS = "banana | a@b.c | tomorrow | red fox"


def texts(line: str) -> list[str]:
    return [text.strip() for text in line.split("|")]


@pytest.mark.parametrize(
    ("judge", "plausible", "implausible"),
    [(may_be_date, DATES, NO_DATES), (may_be_time, TIMES, NO_TIMES), (may_be_number, NUMBERS, NO_NUMBERS)],
)
def test_what_can_be_meant_in_figures_or_words(
    judge: Callable[[str], bool], plausible: str, implausible: str
) -> None:
    assert [text for text in texts(plausible) if not judge(text)] == []
    assert [text for text in texts(implausible) if judge(text)] == []


@pytest.mark.parametrize(
    ("value", "declared", "source", "grade"),
    [
        (7, "string", {}, "doubtful"),
        (True, "string", {}, "wrong"),
        ("4", "Integer", {}, "fits"),
        (4.0, "int", {}, "fits"),
        (4.5, "int", {}, "wrong"),
        (float("nan"), "number", {}, "wrong"),
        ("Yes", "boolean", {}, "fits"),
        (0, "bool", {}, "fits"),
        ("maybe", "boolean", {}, "wrong"),
        ("milk, eggs", "list[str]", {}, "fits"),
        (3, "string[]", {}, "wrong"),
        ([1, "two"], "array", {"items": {"type": "integer"}}, "fits"),
        ([1, "banana"], "array", {"items": {"type": "integer"}}, "wrong"),
        (["a"], "object", {}, "wrong"),
        ("banana", "string", {"format": "date"}, "wrong"),
        ("2026-05-14", "string", {"format": "date"}, "fits"),
        (20260514, "date", {}, "doubtful"),
        ("14 May at 6 pm", "datetime", {}, "fits"),
        ("Anna", "email", {}, "wrong"),
        ("banana", "uri", {}, "wrong"),
        ("+1 415 555 0172", "phone", {}, "fits"),
        ("HIGH", "string", {"enum": ["low", "high"]}, "fits"),
        ("banana", "string", {"enum": ["low", "high"]}, "wrong"),
        (["low"], "array", {"options": ["low", "high"]}, "fits"),
        (">", "enum: =, <, >", {}, "fits"),
        ("bar", "Literal['line', 'bar']", {}, "fits"),
        ("31 April 2026", "date", {}, "wrong"),
        ("twenty-one", "integer", {}, "fits"),
        ("banana", "integer | null", {}, "wrong"),
        ({"any": "thing"}, "soil sample", {}, "fits"),
    ],
)
def test_whether_a_value_fits_a_declared_type(value: Any, declared: str, source: Any, grade: str) -> None:
    assert value_fit(value, declared, source).grade == grade
