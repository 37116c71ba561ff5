"""`split_ids.json`, ours and as published."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolassay.errors import UsageError
from toolassay.variety.splits import Member, SplitFile, Splitting, Stratum, write_splits


def splitting(seed: int = 0) -> Splitting:
    return Splitting.of(
        [Member(n, Stratum("chain", 2), frozenset(), (f"{n}",)) for n in range(20)], seed=seed
    )


def test_it_is_read_as_it_was_written(tmp_path: Path) -> None:
    path, result = tmp_path / "split_ids.json", splitting()
    write_splits(path, result)
    found = SplitFile.load(path)

    for group, split in zip(result.groups, result.splits, strict=True):
        assert found.split(group.members[0].id) == split == found.split(str(group.members[0].id))
    assert found.split("unknown") is None
    value = json.loads(path.read_text())
    assert sorted(value["test_ids"]) == ["chain", "dag", "single"]
    assert value["signature"].startswith("split|format:1|shares:0.8/0.1/0.1|seed:0|near:none|data:")


def test_what_the_published_form_does_not_name_is_for_training(tmp_path: Path) -> None:
    path = tmp_path / "split_ids.json"
    path.write_text(json.dumps({"test_ids": {"chain": ["1", "2"]}}))
    found = SplitFile.load(path)

    assert [found.split(name) for name in ("1", 2, "3")] == ["test", "test", "train"]


def test_the_published_files_are_read(reference: Path) -> None:
    found = SplitFile.load(reference / "gnn4taskplan" / "ultratool" / "split_ids.json")

    assert len(found.split_of) == 500
    assert set(found.split_of.values()) == {"test"}


def test_ours_is_replaced_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "split_ids.json"
    write_splits(path, splitting())
    assert write_splits(path, splitting(seed=1)) is None
    value = json.loads(path.read_text())
    value["test_ids"]["chain"].append("one more")
    path.write_text(json.dumps(value))
    edited = path.read_bytes()

    with pytest.raises(UsageError, match=r"was not written by split\(\), or was edited since"):
        write_splits(path, splitting())
    assert path.read_bytes() == edited
    copy = write_splits(path, splitting(), force=True)
    assert copy is not None
    assert copy.read_bytes() == edited
    assert SplitFile.load(path).split("one more") is None
    with pytest.raises(UsageError, match="is a folder, a file is needed"):
        write_splits(tmp_path, splitting(), force=True)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([1], "Expected `object`"),
        ({}, "names no split"),
        ({"test_ids": {"chain": "abc"}}, "test_ids"),
        ({"test_ids": [1.5]}, "test_ids"),
        ({"test_ids": ["1"], "train_ids": [1]}, "has '1' in train and in test"),
    ],
)
def test_bad_files(value: Any, message: str, tmp_path: Path) -> None:
    path = tmp_path / "split_ids.json"
    path.write_text(json.dumps(value))

    with pytest.raises(UsageError, match=message):
        SplitFile.load(path)
