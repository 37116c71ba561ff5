"""Tool for the company's directory."""

from __future__ import annotations

from typing import Any

from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.benchmarks.workbench.sandbox.records import Records
from toolassay.benchmarks.workbench.sandbox.schema import DIRECTORY
from toolassay.benchmarks.workbench.tools.pattern_search import Search
from toolassay.benchmarks.workbench.tools.tool import required, tool

DOMAIN = "company_directory"


@tool(
    DOMAIN,
    "Find colleagues' e-mail addresses.",
    name=required("A first name or a last name."),
)
def find_email_address(sandbox: Sandbox, name: Any = "") -> Any:
    """All addresses that contain the name."""
    if name == "":
        return "Name not provided."
    rows = Records(sandbox, DIRECTORY).all()
    return [row["email_address"] for row in Search().contains(rows, name.lower(), "email_address")]


TOOLS = (find_email_address,)
