from __future__ import annotations

from datetime import datetime

import pytest

from toolassay.benchmarks.workbench.tools import ToolFailure
from toolassay.benchmarks.workbench.tools.tool import parse_moment

NOW = datetime(2023, 11, 30)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2023-12-01", datetime(2023, 12, 1)),
        ("2023-12-01 13:00:00", datetime(2023, 12, 1, 13)),
        ("2023-12-01T13:00", datetime(2023, 12, 1, 13)),
        ("1/2/2023", datetime(2023, 1, 2)),
        ("13/02/2023", datetime(2023, 2, 13)),
        ("December 1, 2023", datetime(2023, 12, 1)),
        ("2023", datetime(2023, 1, 1)),
        ("2023-12", datetime(2023, 12, 1)),
        ("Friday 1 December", datetime(1, 12, 1)),
        ("9am", datetime(1, 1, 1, 9)),
        ("13:00", datetime(9999, 1, 1, 13)),
        ("9:00 PM", datetime(9999, 1, 1, 21)),
        ("now", NOW),
        ("NaT", None),
        ("nan", None),
    ],
)
def test_moments_are_read_leniently(text: str, expected: datetime | None) -> None:
    assert parse_moment(text, NOW) == expected


@pytest.mark.parametrize(
    "text",
    ["tomorrow", "None", "Monday", "2023-W48-5", "30", "-1", "99", "2023-02-30", "25:00", "", "1 " * 200, 5],
)
def test_what_names_no_moment_is_a_failure(text: object) -> None:
    with pytest.raises(ToolFailure, match="not a date or time"):
        parse_moment(text, NOW)
