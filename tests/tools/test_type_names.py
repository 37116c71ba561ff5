"""Types as other languages spell them are read, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from toolassay.tools.type_names import read_type

NAMES = {
    "string": "string String STRING str text varchar(20) nvarchar(255) longtext char TYPE_STRING std::string "
    "System.String strings String!",
    "integer": "int Int32 int64 integer long short bigint BIGINT smallint tinyint(1) uint8 i32 u64 int64_t "
    "Type.INTEGER serial",
    "number": "number float double Double decimal(10,2) numeric real float32 f64 numpy.float64 BigDecimal",
    "boolean": "bool boolean Boolean BOOL",
    "array": "list array List tuple set frozenset ArrayList",
    "object": "dict Dict[str,Any] map Map<String,List<int>> object struct HashMap map[string]int "
    "Record<string,number>",
    "null": "null None void nil",
}
INTEGERS = {"type": "array", "items": {"type": "integer"}}


@pytest.mark.parametrize(("kind", "names"), NAMES.items())
def test_a_name_of_any_language_is_a_type_of_json(kind: str, names: str) -> None:
    assert [name for name in names.split() if read_type(name) != {"type": kind}] == []


@pytest.mark.parametrize(
    ("declared", "schema"),
    [
        ("double precision", {"type": "number"}),
        ("timestamp with time zone", {"type": "string", "format": "date-time"}),
        ("datetime.datetime", {"type": "string", "format": "date-time"}),
        ("bytes", {"type": "string", "format": "binary"}),
        ("Any", {}),
        *((one, INTEGERS) for one in ("list[int]", "List<Integer>", "int[]", "[]int64", "[Int]", "Vec<i32>")),
        *((one, INTEGERS) for one in ("array of integers", "repeated int32", "tuple[int, ...]", "[Int!]!")),
        ("list[Pet]", {"type": "array"}),
        ("list[str | int]", {"type": "array", "items": {"type": ["string", "integer"]}}),
        ("Optional[List[int]]", {"type": ["array", "null"], "items": {"type": "integer"}}),
        ("Union[int, str, None]", {"type": ["integer", "string", "null"]}),
        ("date/datetime", {"type": "string"}),
        ("string, optional", {"type": "string"}),
        ("integer (int64)", {"type": "integer"}),
        ("Literal['a', 'b']", {"enum": ["a", "b"]}),
        ("'a' | 'b' | null", {"anyOf": [{"enum": ["a"]}, {"enum": ["b"]}, {"type": "null"}]}),
        *((one, None) for one in ("Pet", "soil sample", "city", "string | Pet", "", "?", "|", "time zone")),
    ],
)
def test_a_type_may_have_parts(declared: str, schema: dict[str, Any] | None) -> None:
    assert read_type(declared) == schema


@given(st.text("listnrgof[]<>(){}|?,.' ", max_size=60) | st.sampled_from(["[" * 10_000, "Optional[" * 9_000]))
def test_any_text_is_read_as_a_valid_schema_or_as_none(text: str) -> None:
    Draft202012Validator.check_schema(read_type(text) or {})
