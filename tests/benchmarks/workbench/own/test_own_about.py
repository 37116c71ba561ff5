"""What `benchmark.json` says of a workplace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from own_workplace import sandbox

from toolassay.errors import UsageError


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"now": "today"}, "'now' is 'today'. Fix: write \"now\": \"YYYY-MM-DD HH:MM:SS\""),
        ({"now": "2024-01-01T09:00:00+02:00"}, "'now' is "),
        ({"costums": "x"}, "unknown key 'costums'. Fix: did you mean 'customs'"),
        ({"benchmark": "wrokbench"}, "'benchmark' is 'wrokbench'. Fix: write .benchmark.: .workbench."),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, facts: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=f"w/benchmark.json: {words}"):
        sandbox(tmp_path / "w", **facts)
