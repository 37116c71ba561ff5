from __future__ import annotations

from typing import Any

import pytest

from toolassay.gates.declared_types import value_fit


@pytest.mark.parametrize(
    ("value", "declared", "source", "grade"),
    [
        (7, "string", {}, "doubtful"),
        (True, "string", {}, "wrong"),
        ("4", "Integer", {}, "fits"),
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
        ("banana", "uri", {}, "wrong"),
        ("+1 415 555 0172", "phone", {}, "fits"),
        ("HIGH", "string", {"enum": ["low", "high"]}, "fits"),
        (">", "enum: =, <, >", {}, "fits"),
        ("bar", "Literal['line', 'bar']", {}, "fits"),
        ("31 April 2026", "date", {}, "wrong"),
        ("banana", "integer | null", {}, "wrong"),
        ({"any": "thing"}, "soil sample", {}, "fits"),
    ],
)
def test_whether_a_value_fits_a_declared_type(value: Any, declared: str, source: Any, grade: str) -> None:
    assert value_fit(value, declared, source).grade == grade
