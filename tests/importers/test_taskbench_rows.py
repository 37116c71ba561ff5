from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.hub_rows import hub_row, repository_row, write_rows
from toolassay.benchmarks.taskbench.importing import choose_files, read_taskbench
from toolassay.errors import UsageError
from toolassay.importers.data_files import names_in

ROWS = [repository_row(number) for number in range(3)]


@pytest.mark.parametrize("as_list", [False, True])
@pytest.mark.parametrize("make", [repository_row, hub_row])
def test_both_forms_as_lines_and_as_a_list(tmp_path: Path, make: Any, as_list: bool) -> None:
    path = write_rows(tmp_path / "data.json", [make(number) for number in range(3)], as_list=as_list)
    assert list(read_taskbench([path])) == ROWS


def test_parquet_with_json_in_strings_and_with_nested_columns(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed: no Parquet to read")
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    for name, make in (("strings", hub_row), ("nested", repository_row)):
        path = tmp_path / f"{name}.parquet"
        parquet.write_table(arrow.Table.from_pylist([make(number) for number in range(3)]), path)
        assert list(read_taskbench([path])) == ROWS
    (tmp_path / "bad.parquet").write_bytes(b"no parquet at all")
    with pytest.raises(UsageError, match=r"bad\.parquet: is not a valid parquet file"):
        list(read_taskbench([tmp_path / "bad.parquet"]))


def test_a_saved_data_set_in_shards(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed: no Arrow files to read")
    import pyarrow as arrow

    (tmp_path / "test").mkdir()
    for number in range(3):
        table = arrow.Table.from_pylist([hub_row(number)])
        path = tmp_path / "test" / f"data-0000{number}-of-00003.arrow"
        with path.open("wb") as stream, arrow.ipc.new_stream(stream, table.schema) as writer:
            writer.write_table(table)
    (tmp_path / "dataset_dict.json").write_text('{"splits": ["test"]}')
    found = choose_files(names_in(tmp_path), "multimedia")
    assert found is not None
    assert list(read_taskbench(tmp_path / name for name in found.labels)) == ROWS


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"instruction": ""}, "user_request"),
        ({"tool_nodes": "[{"}, "task_nodes"),
        ({"tool_links": None}, "task_links"),
        ({"tool_nodes": '[{"name": "x"}]'}, "task_nodes[0]"),
        ({"tool_links": '[{"source": "x"}]'}, "task_links[0]"),
        ({"id": None}, "id"),
    ],
)
def test_a_malformed_row_is_named(tmp_path: Path, change: dict[str, Any], told: str) -> None:
    path = write_rows(tmp_path / "data.json", [hub_row(0), {**hub_row(1), **change}])
    with pytest.raises(UsageError) as caught:
        list(read_taskbench([path]))
    assert caught.value.line == 2
    assert told in str(caught.value)


def test_the_files_of_the_hub() -> None:
    beside = ["tool_desc.json", "graph_desc.json", "alignment_ids.json"]
    labels = ["data.json", "data.parquet", "improved.parquet", "user_requests.jsonl"]
    names = [f"data_{domain}/{name}" for domain in ("huggingface", "multimedia") for name in beside + labels]
    found = choose_files(names, "multimedia")
    assert found is not None
    assert found.labels == ["data_multimedia/data.json"]
    assert found.beside == {name: f"data_multimedia/{name}" for name in beside}
    wanted = choose_files(names, "multimedia", "improved.parquet")
    assert wanted is not None
    assert wanted.labels == ["data_multimedia/improved.parquet"]
    assert choose_files(names, "dailylifeapis") is None
    converted = choose_files(["multimedia/test/0001.parquet", "multimedia/test/0000.parquet"], "multimedia")
    assert converted is not None
    assert converted.labels == ["multimedia/test/0000.parquet", "multimedia/test/0001.parquet"]
