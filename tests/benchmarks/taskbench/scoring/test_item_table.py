from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from toolassay.errors import UsageError
from toolassay.evaluation.groups import ScoreGroup
from toolassay.evaluation.items import read_table, shared_items
from toolassay.files.data_files import write_json_lines

WHOLE = ScoreGroup("overall", "overall")


def item(key: str, *, node: float | None = 0.5, **more: Any) -> dict[str, Any]:
    counts = {part: [1, 0, 1] for part in ("nodes", "edges", "argument_names")}
    return {
        "id": key,
        "type": "chain",
        "n_tools": 2,
        "cluster": f"c{key}",
        "outcome": "answered",
        "scores": {"node_f1": node, "exact_match": 0.0},
        "counts": {**counts, "argument_values": None},
        **more,
    }


def written(path: Path, *items: dict[str, Any]) -> Path:
    write_json_lines(path, items)
    return path


def test_items_meet_by_id_whatever_their_order(tmp_path: Path) -> None:
    one = written(tmp_path / "one", item("a", node=0.1), item("b", node=0.2), item("x"))
    two = written(tmp_path / "two", item("y"), item("b", node=0.4), item("a", node=None), item("z"))
    first, second = read_table(one, WHOLE), read_table(two, WHOLE)
    rows, others = shared_items(first, second)
    assert first.columns(["node_f1"])[rows].tolist() == [[0.1], [0.2]]
    shared = second.columns(["node_f1"])[others]
    assert np.isnan(shared[0, 0]) and shared[1, 0] == 0.4


def test_a_group_is_a_shape_and_a_number_of_tools(tmp_path: Path) -> None:
    path = written(
        tmp_path / "items",
        item("a"),
        item("b", type="dag", n_tools=3),
        item("c", type="dag", n_tools=4),
    )
    assert list(read_table(path, ScoreGroup("dag", "overall")).rows) == ["b", "c"]
    assert list(read_table(path, ScoreGroup("dag", "4")).rows) == ["c"]
    with pytest.raises(UsageError, match="no item of single_1"):
        read_table(path, ScoreGroup("single", "1"))


@pytest.mark.parametrize(
    "change",
    [
        {"type": "dag"},
        {"cluster": "other"},
        {"counts": {**item("a")["counts"], "argument_values": [0, 0, 1]}},
    ],
)
def test_other_labels_are_no_comparison(tmp_path: Path, change: dict[str, Any]) -> None:
    one = read_table(written(tmp_path / "one", item("a"), item("b")), WHOLE)
    two = read_table(written(tmp_path / "two", item("a", **change), item("b")), WHOLE)
    with pytest.raises(UsageError, match=r"1 item\(s\) have another label .*'a'"):
        shared_items(one, two)


def test_bad_files_are_named(tmp_path: Path) -> None:
    one = read_table(written(tmp_path / "one", item("a")), WHOLE)
    with pytest.raises(UsageError, match="no item is in both"):
        shared_items(one, read_table(written(tmp_path / "two", item("b")), WHOLE))
    with pytest.raises(UsageError, match="'a' twice"):
        read_table(written(tmp_path / "three", item("a"), item("a")), WHOLE)
    with pytest.raises(UsageError, match=r"four:2: .*missing required field"):
        read_table(written(tmp_path / "four", item("a"), {"id": "b"}), WHOLE)
    with pytest.raises(UsageError, match=r"five:1: .*scores"):
        read_table(written(tmp_path / "five", item("a", scores={"node_f1": "much"})), WHOLE)
