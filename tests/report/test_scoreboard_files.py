"""The ranking as a figure and as tables."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from tests.support.builders import chain, scored_folder
from tests.support.running import inside
from toolassay.stages.report import FILES

HOSTILE = "a & b_1 %"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of two models on six requests."""
    place = tmp_path_factory.mktemp("report")
    gold = {str(n): chain("a", "b") for n in range(6)}
    folder = scored_folder(place / HOSTILE, gold, {"good": gold, "bad": {"0": chain("a", "c")}, "random": {}})
    assert inside("evaluate", "--data_dir", folder, "--llm", "all").code == 0
    assert inside("report", "--data_dir", folder, "--out", place / "o").code == 0
    assert {path.name for path in (place / "o").iterdir()} == set(FILES)
    return place / "o"


def test_figures_show_every_model_and_are_the_same_again(report: Path, tmp_path: Path) -> None:
    # matplotlib writes each text of a picture into a comment beside its outline
    picture = (report / "ranking.svg").read_text()
    for text in ("good", "bad", "random (baseline)", "right, % (95 % interval)"):
        assert f"<!-- {text} -->" in picture
    assert (report / "ranking.png").read_bytes()[1:4] == b"PNG"
    pdf = (report / "ranking.pdf").read_bytes()
    assert pdf.startswith(b"%PDF")
    assert b"/Type3" not in pdf
    again = tmp_path / "again"
    assert inside("report", "--data_dir", report.parent / HOSTILE, "--out", again).code == 0
    for name in FILES:
        assert (again / name).read_bytes() == (report / name).read_bytes(), name


def test_tables_are_the_ranking(report: Path) -> None:
    rows = list(csv.DictReader(io.StringIO((report / "models.csv").read_text())))
    assert [(row["data"], row["rank"], row["model"]) for row in rows] == [
        (HOSTILE, "1", "good"),
        (HOSTILE, "2", "bad"),
        (HOSTILE, "–", "random (baseline)"),
    ]
    assert rows[0]["accuracy"] == "100.0 %"
    assert rows[1]["to the leader"] == "-100.0"
    latex = (report / "models.tex").read_text()
    assert r"a \& b\_1 \%" in latex
    assert r"1 & good & 100.0 \%" in latex
