"""What an execution says of itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from toolassay.plans.execution_record import ExecutedCall, Execution, StateSummary
from toolassay.tools.library import Tool, ToolLibrary

LIBRARY = ToolLibrary([Tool("list", annotations={"readOnlyHint": True}), Tool("pay")])
SEED: Mapping[str, Any] = {"d.db/rooms": {"before": None, "after": "CREATE TABLE rooms (id)"}}


@pytest.mark.parametrize(
    ("tools", "changes", "is_idle"),
    [
        (["list", "pay"], {}, True),
        (["list"], SEED, True),  # the server made its tables when it started
        (["list", "pay"], SEED, False),
        (["gone"], SEED, False),
    ],
)
def test_idle_is_what_changes_nothing(tools: list[str], changes: Mapping[str, Any], is_idle: bool) -> None:
    calls = tuple(ExecutedCall(number, tool, {}) for number, tool in enumerate(tools))
    after = StateSummary("d", 1, dict(changes))
    assert Execution(1, "ran", "mcp", "p", calls, state_after=after).is_idle(LIBRARY) is is_idle
