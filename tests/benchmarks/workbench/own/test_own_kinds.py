from __future__ import annotations

from typing import Any, Literal, Optional

import pytest

from toolassay.benchmarks.workbench.own.typed_tool import convert_value, schema_of


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (int, {"type": "integer"}),
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
        (list[str], {"type": "array", "items": {"type": "string"}}),
        (Optional[int], {"anyOf": [{"type": "integer"}, {"type": "null"}]}),  # noqa: UP045 as some write it
    ],
)
def test_a_type_has_a_schema(hint: Any, schema: dict[str, Any]) -> None:
    assert schema_of(hint) == schema


@pytest.mark.parametrize(
    ("hint", "given", "read"),
    [
        (int, 7.0, 7),
        (int, "-7", -7),
        (float, "1.5", 1.5),
        (bool, "True", True),
        (Literal[1, 2], "2", 2),
        (str | None, None, None),
    ],
)
def test_values_are_read_as_their_type(hint: Any, given: Any, read: Any) -> None:
    found = convert_value("x", hint, given)
    assert found == read and type(found) is type(read)


@pytest.mark.parametrize(
    ("hint", "given"),
    [
        (str, None),
        (int, True),
        (int, "seven"),
        (float, float("nan")),
        (bool, 1),
        (Literal["a"], "A"),
        (list[int], [[1]]),
    ],
)
def test_values_of_another_type_are_refused(hint: Any, given: Any) -> None:
    with pytest.raises(ValueError, match=r"^x is "):
        convert_value("x", hint, given)
