"""The folder of an export."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.running import files_below
from toolassay.errors import UsageError
from toolassay.exporters.destination import Destination


def put(path: Path, *, force: bool = False, **files: str) -> Destination:
    destination = Destination(path, force=force)
    with destination.folder() as folder:
        for name, text in files.items():
            (folder / name).write_text(text)
    return destination


def test_an_export_replaces_the_one_before_whole(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    with Destination(out).folder() as folder:
        (folder / "index").mkdir()
        (folder / "index" / "old").write_text("0")
    put(out, a="1", b="2")
    assert not (out / "index").exists()
    (out / "mine.txt").write_text("mine")
    put(out, a="3", c="4")

    assert {name: data.decode() for name, data in files_below(out).items() if name != "export.json"} == {
        "a": "3",
        "c": "4",
        "mine.txt": "mine",
    }
    assert set(json.loads((out / "export.json").read_text())["files"]) == {"a", "c"}
    assert list(out.parent.iterdir()) == [out]


def test_what_a_killed_export_left_is_cleared_away(tmp_path: Path) -> None:
    left = tmp_path / ".out.unfinished"
    (left / "index").mkdir(parents=True)
    (left / "index" / "train.jsonl").write_text("half")
    (left / "train.jsonl").write_text("half")

    put(tmp_path / "out", a="1")
    assert files_below(tmp_path).keys() == {"out/a", "out/export.json"}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_two_exports_at_once_do_not_mix(tmp_path: Path) -> None:
    waiting = Destination(tmp_path / "out")
    with Destination(tmp_path / "out").folder() as folder:
        (folder / "a").write_text("1")
        with pytest.raises(UsageError, match="another export is writing it"), waiting.folder():
            pass
    with waiting.folder() as folder:
        (folder / "b").write_text("2")
    assert files_below(tmp_path).keys() == {"out/b", "out/export.json"}


def test_what_came_there_in_between_is_not_replaced(tmp_path: Path) -> None:
    destination = Destination(tmp_path / "out")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a").write_text("theirs")

    with pytest.raises(UsageError, match="the folder holds files that no export wrote"), destination.folder():
        pass
    assert files_below(tmp_path).keys() == {"out/a"}


def test_files_of_another_origin_are_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("theirs")

    with pytest.raises(UsageError, match="the folder holds files that no export wrote"):
        Destination(tmp_path)
    with pytest.raises(UsageError, match="is a file, a folder is needed"):
        Destination(tmp_path / "a")
    (copy,) = put(tmp_path, force=True, a="ours").copies
    assert copy.read_text() == "theirs"
    assert (tmp_path / "a").read_text() == "ours"


def test_edited_files_are_not_replaced(tmp_path: Path) -> None:
    out = tmp_path / "out"
    put(out, a="1", b="2")
    (out / "a").write_text("edited")

    with pytest.raises(UsageError, match="a: was edited since it was exported"):
        Destination(out)
    (copy,) = put(out, force=True, b="3").copies
    assert copy.read_text() == "edited"
    assert not (out / "a").exists()


@pytest.mark.parametrize("files", ['{"../x": "1", "/etc/y": "1"}', "[]", '"x"'])
def test_a_manifest_removes_nothing_outside(files: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_text("safe")
    out = tmp_path / "out"
    out.mkdir()
    (out / "export.json").write_text(f'{{"made_by": "toolassay export", "files": {files}}}')
    put(out, force=True, a="1")

    assert (tmp_path / "x").read_text() == "safe"
