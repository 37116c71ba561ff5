"""A run killed ten times loses nothing and pays for nothing twice (measurements/kill_nine.py: 200 times)."""

from __future__ import annotations

from pathlib import Path

from killing import kill_often

from toolassay.testkit import FakeServer


def test_ten_kills_lose_nothing_and_repeat_nothing(tmp_path: Path, fake_server: FakeServer) -> None:
    survived = kill_often(tmp_path, fake_server, kills=10, requests=600, seed=4)
    assert survived.killed == 10
    assert survived.sent_again == 0
    assert survived.same_bytes and survived.each_once
    assert survived.last_start_found > 0
