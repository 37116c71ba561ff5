from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.checking import label
from tests.support.running import write_lines
from toolassay.errors import UsageError
from toolassay.gates.labelled_set import LabelledSet, Selected


def test_repeated_ids_are_known_by_line(tmp_path: Path) -> None:
    path = tmp_path / "data.json"
    write_lines(path, [label(0), label(1), label(0), {"id": 1, "x": 2}, {"id": "1"}, label(0), {"id": 1}])
    labels = LabelledSet.read(path)
    assert labels.repeated == {3: 1, 6: 1, 7: 4}
    assert len(labels) == 7
    assert [gold.line for gold in labels] == list(range(1, 8))
    some = Selected(labels, frozenset({2, 5}))
    assert ([gold.id for gold in some], len(some)) == (["item-1", "1"], 2)


def test_labels_are_repaired_while_they_are_read(tmp_path: Path) -> None:
    path = tmp_path / "data.json"
    write_lines(path, [label(0), label(1)])
    labels = LabelledSet.read(path, lambda record: ({**record, "user_request": "Hi"}, ["changed"]))
    assert [(gold.request, changes) for gold, changes in labels.repaired()] == [("Hi", ["changed"])] * 2


def test_a_broken_empty_or_changing_file_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "data.json"
    path.write_text('{"id": 1}\n{"id": \n')
    with pytest.raises(UsageError, match=r"data\.json:2: not valid JSON"):
        LabelledSet.read(path)
    path.write_text("\n")
    with pytest.raises(UsageError, match="holds no label"):
        LabelledSet.read(path)
    write_lines(path, [label(0)])
    labels = LabelledSet.read(path)
    write_lines(path, [label(0), label(1)])
    with pytest.raises(UsageError, match="changed while it was being used"):
        list(labels)
