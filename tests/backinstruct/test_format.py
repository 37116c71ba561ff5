from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolgraph.backinstruct.format import format_data
from toolgraph.errors import UsageError
from toolgraph.files import write_json, write_json_lines
from toolgraph.folder import DataFolder
from toolgraph.tools import Tool, ToolLibrary

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
        {"id": "0-00004", "result": 7},
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
    assert lines(folder.data_error)[0]["errors"] == ["there is no result"]
    ids = json.loads(folder.alignment_ids.read_text())
    assert list(ids) == [
        f"{mode}_alignment_id" for mode in ("node", "link", "both_node_link", "self-check", "all")
    ]
    assert ids["node_alignment_id"]["single"] == ["0-00000", "0-00001", "0-00003"]
    assert ids["self-check_alignment_id"] == {"single": ["0-00000"], "chain": [], "dag": ["0-00002"]}
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


def test_f17_a_data_set_of_somebody_else_is_not_destroyed(folder: DataFolder) -> None:
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


def test_requests_alone_are_not_destroyed_either(folder: DataFolder) -> None:
    folder.user_requests.write_text('{"id": 1, "user_request": "mine"}\n')
    with pytest.raises(UsageError, match=r"user_requests\.json"):
        format_data(folder, LIBRARY, "resource")


def test_a_broken_raw_line_is_named_and_nothing_is_written(folder: DataFolder) -> None:
    with folder.data_raw.open("a") as stream:
        stream.write("{broken\n")
    with pytest.raises(UsageError, match=r"data_raw\.json:6"):
        format_data(folder, LIBRARY, "resource")
    assert not folder.data.exists()
    assert not folder.user_requests.exists()


def test_a_repeated_id_is_refused(folder: DataFolder) -> None:
    write_json_lines(folder.data_raw, [raw(0), raw(0)])
    result = format_data(folder, LIBRARY, "resource")
    assert (result.kept, result.refused) == (1, 1)
    assert lines(folder.data_error)[0]["errors"] == ["the id occurs twice"]
