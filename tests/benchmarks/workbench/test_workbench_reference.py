"""Every published verdict, return and state: `measurements/workbench_parity.py`, check by check."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from measurements import workbench_parity as parity
from toolassay.benchmarks.workbench.calls import Replay
from toolassay.benchmarks.workbench.sandbox import Sandbox

CHECKS = [
    ("verdicts", 2560),
    ("metrics", 864),
    pytest.param("tool returns", 7121, marks=pytest.mark.slow),
    ("edge cases (sequences and calls)", 321),
    ("ground truths", 320),
]


class ReplayOnce(Replay):
    """Runs equal sequences once: 810 of the 2,560 published ones repeat another one."""

    def __init__(self, original: Sandbox) -> None:
        super().__init__(original)
        self._results: dict[tuple[str, ...], tuple[list[dict[str, Any]], dict[str, Any]]] = {}

    def of(self, calls: Iterable[str]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        key = tuple(calls)
        if key not in self._results:
            self._results[key] = super().of(key)
        return self._results[key]


@pytest.fixture(autouse=True)
def replay_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parity, "Replay", ReplayOnce)


@pytest.mark.parametrize(("check", "count"), CHECKS)
def test_nothing_differs_from_what_was_published(reference: Path, check: str, count: int) -> None:
    compared = list(parity.CHECKS[check](reference / "workbench"))
    assert [name for name, same in compared if not same] == []
    assert len(compared) >= count


def test_each_strict_verdict_that_is_another_one_has_its_reason(reference: Path) -> None:
    found = parity.disagreements(reference / "workbench", "results/email")
    assert found == {"the same": 708, parity.UNFINISHED: 12}
