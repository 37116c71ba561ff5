"""A run killed repeatedly loses nothing and pays for nothing twice (measurements/kill_nine.py: 200 times)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.killing import kill_often
from toolassay.testkit import FakeServer


@pytest.mark.parametrize(("kills", "requests"), [(3, 120), pytest.param(10, 600, marks=pytest.mark.slow)])
def test_kills_lose_nothing_and_repeat_nothing(
    tmp_path: Path, fake_server: FakeServer, kills: int, requests: int
) -> None:
    survived = kill_often(tmp_path, fake_server, kills=kills, requests=requests, seed=4)
    assert survived.killed == kills
    assert survived.sent_again == 0
    assert survived.same_bytes and survived.each_once
    assert survived.last_start_found > 0
