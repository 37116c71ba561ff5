"""Pictures of samples, of the funnel and of variety."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.image import imread

from toolassay.graph import Link
from toolassay.records.data_folder import FunnelRow
from toolassay.records.dataset import Sample
from toolassay.reports.pictures import box_text, draw_funnel, draw_sample, draw_variety

SINGLE = Sample(0, 1, "single", ("Translation",), ())
CHAIN = Sample(1, 1, "chain", ("a", "b", "c"), (Link("a", "b", "text"), Link("b", "c", "image")))
DAG = Sample(
    2,
    1,
    "dag",
    ("a", "b", "c", "d"),
    (Link("a", "b", "text"), Link("b", "c", "image"), Link("a", "c", "audio"), Link("a", "d", "complete")),
)


@pytest.mark.parametrize("sample", [SINGLE, CHAIN, DAG], ids=lambda sample: sample.shape)
def test_a_sample_becomes_the_same_small_picture_every_time(sample: Sample, tmp_path: Path) -> None:
    path = draw_sample(sample, tmp_path / "new" / "1.png")
    again = draw_sample(sample, tmp_path / "2.png")
    assert path.read_bytes() == again.read_bytes()
    assert path.stat().st_size < 60_000
    assert imread(path).shape[1] <= 1000


def test_hostile_names_are_drawn(tmp_path: Path) -> None:
    name = "$x^{ <img src=x> \ud800\n" + "y" * 300
    sample = Sample(0, 1, "chain", (name, "b"), (Link(name, "b", "$\\frac"),))
    assert draw_sample(sample, tmp_path / "sample.png").exists()


@given(st.text(alphabet="abc _-", max_size=120))
def test_box_texts_fit_a_box(name: str) -> None:
    lines = box_text(name).split("\n")
    assert len(lines) <= 3
    assert all(len(line) <= 19 for line in lines)


@given(st.text(alphabet="abc_-", max_size=19))
def test_short_names_are_kept_whole(name: str) -> None:
    assert box_text(name) == name


def test_the_same_counts_give_the_same_bytes(tmp_path: Path) -> None:
    bars = [FunnelRow("schema", 100, 7, 3, 90), FunnelRow("a gate with 日本語 in its name" * 3, 90, 0, 0, 90)]
    first = draw_funnel(bars, tmp_path / "a.png").read_bytes()
    assert first.startswith(b"\x89PNG")
    assert draw_funnel(bars, tmp_path / "b.png").read_bytes() == first


NAMES = ["sizes_and_shapes.png", "tools.png"]


@pytest.fixture
def figures() -> dict[str, Any]:
    return {
        "sizes": {"single": {"1": 9}, "chain": {"2": 20, "40": 1}},
        "tools": {"tools": 3, "used": 2, "uses": {"a" * 99: 7, "$b_$": 2, "c": 0}},
    }


def test_the_same_figures_give_the_same_bytes(figures: dict[str, Any], tmp_path: Path) -> None:
    made = draw_variety(figures, tmp_path / "one")
    assert [path.name for path in made] == NAMES
    for path in draw_variety(figures, tmp_path / "two"):
        assert path.read_bytes() == (tmp_path / "one" / path.name).read_bytes()
    assert all(path.stat().st_size > 5_000 for path in made)
    figures["tools"] = {"not_applicable": "nothing there"}
    assert [path.name for path in draw_variety(figures, tmp_path / "one")] == NAMES[:1]
    assert [path.name for path in (tmp_path / "one").iterdir()] == NAMES[:1]
