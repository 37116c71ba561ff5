"""The variety stage and its command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.running import inside
from toolassay import measure_variety
from toolassay.errors import UsageError


def test_a_report_of_a_data_folder(root: Path, tmp_path: Path) -> None:
    told = inside("variety", "--data_dir", root / "data_dailylifeapis", "--out", tmp_path / "out").out
    assert "300 requests: 0 exact and 0 near duplicates" in told and "40 of 40 tools are used" in told
    names = {path.name for path in (tmp_path / "out").iterdir()}
    pictures = {"sizes_and_shapes.png", "tools.png"}
    assert names == {"variety.json", "variety.md", *pictures}
    page = (tmp_path / "out" / "variety.md").read_text(encoding="utf-8")
    assert all(f"({picture})" in page for picture in pictures)


def test_files_of_another_origin_are_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "user_requests.json").write_text(json.dumps({"id": 1, "user_request": "Crop it"}) + "\n")
    out = tmp_path / "out"
    measure_variety(tmp_path, out=out)
    measure_variety(tmp_path, out=out)
    (out / "variety.json").write_text("{}")
    with pytest.raises(UsageError, match=r"variety\.json: is not part of a variety report"):
        measure_variety(tmp_path, out=out)
    other = tmp_path / "other"
    other.mkdir()
    (other / "tools.png").write_text("theirs")
    with pytest.raises(UsageError, match="choose another --out"):
        measure_variety(tmp_path, out=other)
    assert [path.name for path in other.iterdir()] == ["tools.png"]


def test_errors_are_reported(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such folder"):
        measure_variety(tmp_path / "none")
    with pytest.raises(UsageError, match="no such file"):
        measure_variety(tmp_path, out=tmp_path / "out")
    with pytest.raises(UsageError, match="--threshold"):
        measure_variety(tmp_path, threshold=2)
    (tmp_path / "user_requests.json").write_text('{"id": 1, "user_request": "a"}\nnonsense\n')
    with pytest.raises(UsageError, match=r"user_requests\.json:2"):
        measure_variety(tmp_path, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
    with pytest.raises(UsageError, match="is a file"):
        measure_variety(tmp_path, out=tmp_path / "user_requests.json")
    assert "--sample" in inside("variety", "--data_dir", tmp_path, "--sample", "0").error
