from __future__ import annotations

from pathlib import Path

from toolassay.report.pictures import FunnelBar, draw_funnel


def test_the_same_counts_give_the_same_bytes(tmp_path: Path) -> None:
    bars = [FunnelBar("schema", 100, 7, 3, 90), FunnelBar("a gate with 日本語 in its name" * 3, 90, 0, 0, 90)]
    first = draw_funnel(bars, tmp_path / "a.png").read_bytes()
    assert first.startswith(b"\x89PNG")
    assert draw_funnel(bars, tmp_path / "b.png").read_bytes() == first


def test_an_empty_funnel_can_be_drawn(tmp_path: Path) -> None:
    assert draw_funnel([FunnelBar("id", 0, 0, 0, 0)], tmp_path / "a.png").exists()
