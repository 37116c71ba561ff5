from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolassay.errors import UsageError
from toolassay.stages.convert import convert

parquet = pytest.importorskip("pyarrow.parquet")

ids = st.integers() | st.text(max_size=5) | st.none() | st.booleans()
lines = st.dictionaries(st.sampled_from(["id", "a", "é"]), ids, max_size=3).map(
    lambda value: json.dumps(value, ensure_ascii=False)
)


@given(
    st.lists(lines | st.sampled_from(["", " ", '{"a": NaN}', "[1]", '{"id": "\\ud800"}\r'])), st.booleans()
)
@settings(deadline=None)
def test_every_file_comes_back_to_the_same_bytes(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], ends: bool
) -> None:
    folder = tmp_path_factory.mktemp("convert")
    before, packed, after = folder / "data.json", folder / "data.parquet", folder / "back.json"
    content = "\n".join(texts) + ("\n" if ends and texts else "")
    before.write_bytes(content.encode())
    assert convert(before, packed) == convert(packed, after)
    assert after.read_bytes() == before.read_bytes()


def test_ids_are_a_column_of_text(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": 7}\n{"id": "é"}\n{"x": 1}\n\n{"id": true}\n')
    assert convert(tmp_path / "a.jsonl", tmp_path / "a.parquet") == 5
    table = parquet.read_table(tmp_path / "a.parquet")
    assert table.column("id").to_pylist() == ["7", "é", None, None, None]


def test_many_lines_are_several_groups(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("".join(f'{{"id": {n}}}\n' for n in range(25_000)))
    convert(tmp_path / "a.jsonl", tmp_path / "a.parquet")
    assert parquet.ParquetFile(tmp_path / "a.parquet").num_row_groups == 3
    convert(tmp_path / "a.parquet", tmp_path / "b.jsonl")
    assert (tmp_path / "b.jsonl").read_bytes() == (tmp_path / "a.jsonl").read_bytes()


def test_rows_that_another_program_has_chosen_are_lines(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": 1}\n{"id": 2}')
    convert(tmp_path / "a.jsonl", tmp_path / "a.parquet")
    chosen = parquet.read_table(tmp_path / "a.parquet").replace_schema_metadata(None).slice(1)
    parquet.write_table(chosen, tmp_path / "b.parquet", store_schema=False)
    assert parquet.ParquetFile(tmp_path / "b.parquet").metadata.metadata is None
    assert convert(tmp_path / "b.parquet", tmp_path / "b.jsonl") == 1
    assert (tmp_path / "b.jsonl").read_text() == '{"id": 2}\n'


@pytest.mark.parametrize("column", [["{}", None], [1, 2]])
def test_a_row_without_text_is_refused(tmp_path: Path, column: list[object]) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet.write_table(arrow.table({"id": ["a", "b"], "line": column}), tmp_path / "a.parquet")
    (tmp_path / "b.jsonl").write_text("as before")
    with pytest.raises(
        UsageError, match=r"a\.parquet: has (no texts|rows without a text) in the column line"
    ):
        convert(tmp_path / "a.parquet", tmp_path / "b.jsonl")
    assert (tmp_path / "b.jsonl").read_text() == "as before"


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("".join(f'{{"id": {number}}}\n' for number in range(5000)))
    convert(tmp_path / "a.jsonl", tmp_path / "a.parquet")
    content = bytearray((tmp_path / "a.parquet").read_bytes())
    half = len(content) // 2
    content[50:half] = bytes(value ^ 0x5A for value in content[50:half])
    (tmp_path / "a.parquet").write_bytes(content)
    with pytest.raises(UsageError, match=r"a\.parquet: is damaged"):
        convert(tmp_path / "a.parquet", tmp_path / "b.jsonl")


@pytest.mark.parametrize(
    ("source", "target", "error"),
    [
        ("a.jsonl", "b.jsonl", "one of the two files has to be Parquet"),
        ("a.parquet", "b.parquet", "one of the two files has to be Parquet"),
        ("missing.json", "b.parquet", r"missing\.json: no such file"),
        ("a.jsonl", "b.parquet", r"a\.jsonl:2: is not JSON in UTF-8"),
        ("a.parquet", "b.jsonl", r"a\.parquet: is not Parquet"),
        ("other.parquet", "b.jsonl", r"has the columns x, not id and line"),
    ],
)
def test_what_cannot_be_converted_is_named_and_nothing_is_written(
    source: str, target: str, error: str, tmp_path: Path
) -> None:
    import pyarrow

    (tmp_path / "a.jsonl").write_bytes(b'{"id": 1}\n{"id": \n')
    (tmp_path / "a.parquet").write_bytes(b"no Parquet")
    parquet.write_table(pyarrow.table({"x": [1]}), tmp_path / "other.parquet")
    with pytest.raises(UsageError, match=error):
        convert(tmp_path / source, tmp_path / target)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jsonl", "a.parquet", "other.parquet"]
