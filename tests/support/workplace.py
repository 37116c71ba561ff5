"""A small made-up workplace for tests."""

from __future__ import annotations

from typing import Any

from toolassay.benchmarks.workbench.sandbox import Rows, Sandbox
from toolassay.benchmarks.workbench.tools import call

ANN, BO, CY = "ann.lee@acme.example", "bo.ray@acme.example", "cy.dee@acme.example"

TABLES: dict[str, Rows] = {
    "calendar_events": [
        ["00000001", "stand-up", ANN, "2023-11-28 09:00:00", "30"],
        ["00000000", "Budget review", BO, "2023-12-01 13:00:00", "60"],
        ["00000002", "stand-up", CY, "2023-12-04 09:00:00", "30"],
    ],
    "emails": [
        ["00000002", "inbox", ANN, "Parking", "2023-11-27 10:00:00", "The garage is closed.\\nAnn"],
        ["00000000", "inbox", BO, "Budget", "2023-11-28 10:00:00", "Numbers attached."],
        ["00000001", "inbox", CY, "Lunch", "2023-11-29 10:00:00", "Pizza?"],
    ],
    "visits": [
        ["2023-11-28", "0007", "3", "10", "direct", 1],
        ["2023-11-28", "0008", "1", "20", "referral", 0],
        ["2023-11-29", "0007", "2", "5", "direct", 1],
    ],
    "tasks": [
        ["00000000", "Fix login", ANN, "Backlog", "2023-12-01", "Back end"],
        ["00000001", "Draw logo", BO, "In Review", "2023-11-29", "Design"],
    ],
    "customers": [
        ["00000001", ANN, "Dan Fox", "dan@foxco", None, "2023-11-20", "Software", "Lead", "2023-12-05", None],
        ["00000000", BO, "Eva Gil", "eva@gilco", "1", "2023-11-01", "Training", "Won", "2023-12-01", "Nice."],
    ],
    "directory": [[ANN], [BO], [CY]],
}


class Desk:
    """Calls the tools of a sandbox: `desk("calendar.create_event", event_name=…)`."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox

    def __call__(self, tool: str, /, **arguments: Any) -> Any:
        return call(self.sandbox, tool, arguments)
