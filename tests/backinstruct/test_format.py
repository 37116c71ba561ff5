from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolassay.backinstruct.format import format_data
from toolassay.errors import ToolassayError, UsageError
from toolassay.files.data_files import write_json, write_json_lines
from toolassay.records.data_folder import DataFolder
from toolassay.tools.library import Tool, ToolLibrary

LIBRARY = ToolLibrary(
    [Tool("a", outputs=("text",), inputs=("text",)), Tool("b", inputs=("text",), outputs=("text",))]
)
GOOD, BAD = "Executable: yes\nCorrect: yes", "Executable: yes\nCorrect: no"


def raw(number: int, *, review: str | None = GOOD, extra: bool = False) -> dict[str, Any]:
    nodes = [{"id": "a", "input": ["text"]}, {"id": "b", "input": ["a"]}][: 2 if extra else 1]
    return {
        "id": f"0-{number:05d}",
        "seed": 0,
        "sampled_nodes": [{"id": "a"}],
        "sampled_links": [],
        "result": {
            "task_steps": [f"Step {place}" for place in range(len(nodes))],
            "user_request": f"Request {number}: text",
            "invoking_graph": {"nodes": nodes, "links": []},
            "check_by_teacher": review,
        },
    }


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    write_json(tmp_path / "tool_desc.json", LIBRARY.to_json())
    records = [
        raw(0),
        raw(1, review=BAD),
        raw(2, extra=True),
        raw(3, review=None),
        raw(4) | {"result": {}},
    ]
    write_json_lines(tmp_path / "data_raw.json", records)
    return DataFolder(tmp_path)


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_every_file_of_the_published_formatter_is_written(folder: DataFolder) -> None:
    result = format_data(folder, LIBRARY, "resource")
    assert (result.kept, result.refused) == (4, 1)
    assert [label["id"] for label in lines(folder.data)] == [f"0-{n:05d}" for n in range(4)]
    assert lines(folder.user_requests)[0] == {"id": "0-00000", "user_request": "Request 0: text"}
    assert lines(folder.data_error)[0]["errors"] != []
    ids = json.loads(folder.alignment_ids.read_text())
    assert list(ids) == [
        f"{mode}_alignment_id" for mode in ("node", "link", "both_node_link", "self-check", "all")
    ]
    assert ids["node_alignment_id"]["single"] == ["0-00000", "0-00001", "0-00003"]
    assert ids["self-check_alignment_id"] == {"single": ["0-00000"], "chain": ["0-00002"], "dag": []}
    assert ids["all_alignment_id"]["single"] == ["0-00000"]
    assert result.alignment.teacher == {"pass": 2, "fail": 1, "unknown": 1}


def test_critics_may_choose_what_is_kept(folder: DataFolder) -> None:
    result = format_data(folder, LIBRARY, "resource", critics="all")
    assert (result.kept, result.left_out, result.refused) == (1, 3, 1)
    assert [label["id"] for label in lines(folder.data)] == ["0-00000"]


def test_its_own_data_set_is_made_again_without_a_word(folder: DataFolder) -> None:
    format_data(folder, LIBRARY, "resource")
    before = folder.data.read_bytes()
    assert format_data(DataFolder(folder.path), LIBRARY, "resource").copies == []
    assert folder.data.read_bytes() == before


def test_f17_a_data_set_of_another_origin_is_not_destroyed(folder: DataFolder) -> None:
    folder.data.write_text('{"id": "published"}\n')
    with pytest.raises(UsageError, match="--force"):
        format_data(folder, LIBRARY, "resource")
    assert folder.data.read_text() == '{"id": "published"}\n'
    assert not folder.alignment_ids.exists()
    (copy,) = format_data(folder, LIBRARY, "resource", force=True).copies
    assert copy.read_text() == '{"id": "published"}\n'


def test_a_data_set_changed_by_hand_is_not_destroyed(folder: DataFolder) -> None:
    format_data(folder, LIBRARY, "resource")
    folder.data.write_text(folder.data.read_text().replace("Request 0", "A better request"))
    with pytest.raises(UsageError, match="changed since"):
        format_data(DataFolder(folder.path), LIBRARY, "resource")


@pytest.mark.parametrize(
    "change",
    [{"id": None}, {"result": 7}, {"sampled_nodes": [{"name": "a"}]}, {"sampled_links": {"source": "a"}}],
)
def test_a_line_that_is_no_sample_is_named_and_nothing_is_written(
    folder: DataFolder, change: dict[str, Any]
) -> None:
    line = json.dumps(raw(9) | change)
    with folder.data_raw.open("a") as stream:
        stream.write(line + "\n")
    with pytest.raises(UsageError, match=r"data_raw\.json:6"):
        format_data(folder, LIBRARY, "resource")
    assert not folder.data.exists()
    assert not folder.user_requests.exists()


def test_a_repeated_id_is_refused(folder: DataFolder) -> None:
    write_json_lines(folder.data_raw, [raw(0), raw(0)])
    result = format_data(folder, LIBRARY, "resource")
    assert (result.kept, result.refused) == (1, 1)
    assert lines(folder.data_error)[0]["errors"] == ["the id occurs twice"]


COMPANIONS = ("user_requests.json", "data_error.json", "alignment_ids.json", "alignment_tables.md")


@pytest.mark.parametrize("name", COMPANIONS)
def test_any_file_of_a_data_set_is_kept(folder: DataFolder, name: str) -> None:
    (folder.path / name).write_text("mine")
    with pytest.raises(UsageError, match=name.replace(".", r"\.")):
        format_data(folder, LIBRARY, "resource")
    assert (folder.path / name).read_text() == "mine"
    assert not folder.data.exists()


def test_with_force_all_five_have_a_dated_copy(folder: DataFolder) -> None:
    for name in ("data.json", *COMPANIONS):
        (folder.path / name).write_text(name)
    copies = format_data(folder, LIBRARY, "resource", force=True).copies
    assert [copy.read_text() for copy in copies] == ["data.json", *COMPANIONS]


def test_the_recorded_dependency_type_stays(folder: DataFolder) -> None:
    format_data(folder, LIBRARY, "resource")
    assert folder.benchmark.dependency_type == "resource"
    before = folder.data.read_bytes()
    silent = raw(9)
    silent["result"]["invoking_graph"]["nodes"][0]["input"] = []
    write_json_lines(folder.data_raw, [raw(0), silent])
    result = format_data(DataFolder(folder.path), LIBRARY, "temporal", force=True)
    assert result.kept == 1
    assert DataFolder(folder.path).benchmark.dependency_type == "resource"
    assert result.copies[0].read_bytes() == before


def everything(folder: DataFolder) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.path.iterdir()}


@pytest.mark.parametrize("force", [False, True])
def test_where_nothing_can_be_formatted_nothing_is_overwritten(folder: DataFolder, force: bool) -> None:
    format_data(folder, LIBRARY, "resource")
    bad = {"id": "x", "result": {}}
    write_json_lines(folder.data_raw, [bad | {"id": "y"}, bad])
    before = everything(folder)
    with pytest.raises(
        ToolassayError, match=r"none of the 2 samples .*2 x the result is malformed"
    ) as caught:
        format_data(folder, LIBRARY, "resource", force=force)
    assert caught.value.exit_code == 1
    assert everything(folder) == before


def test_a_reason_counts_once_a_sample(folder: DataFolder) -> None:
    twice = raw(1)
    twice["result"]["invoking_graph"]["nodes"][0]["input"] = [None, None]
    twice["result"]["invoking_graph"]["nodes"] += [{"id": "x"}, {"id": "y"}]
    write_json_lines(folder.data_raw, [raw(0), twice])
    assert format_data(folder, LIBRARY, "resource").reasons["unknown tool"] == 1
