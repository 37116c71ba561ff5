"""What a data folder is called in a report: a benchmark's data by its name, one's own by the folder's."""

from __future__ import annotations

import hashlib

from toolassay.benchmarks.classic.csv_table import read_table
from toolassay.benchmarks.classic.data import WORKFLOW_COLUMNS, WORKFLOWS, is_classic
from toolassay.benchmarks.workbench.work import is_workbench
from toolassay.benchmarks.workbench.workplace import own_tools_file
from toolassay.data_folder import DataFolder
from toolassay.errors import UsageError
from toolassay.report.leaderboard.published import DOMAINS, domain_of_tools
from toolassay.tools import ToolLibrary

# The first digits of the SHA-256 of the sorted workflow ids of data_classic, one a line.
_WORKFLOWS = "701dec47fe93f16f"


def data_title(folder: DataFolder, name: str) -> str:
    """The title of a folder: the user's own tools, workplaces and chats by the name of their folder alone.

    A benchmark is named where the library is a published or bundled one: the tools of a published domain, the
    workplace of WorkBench, chats that were imported or whose workflows are those of `data_classic`. A folder
    that is not called as that library is stands beside it, so that two folders have two titles.

    Args:
        folder: the data.
        name: what the folder is called; unlike that of every other one in the report.
    """
    library = _library(folder)
    if library is None:
        return name
    benchmark, domain = library
    is_plain = name.removeprefix("data_") == (domain or benchmark.lower())
    told = [text for text in (domain, "" if is_plain else name) if text]
    return f"{benchmark} ({', '.join(told)})" if told else benchmark


def _library(folder: DataFolder) -> tuple[str, str] | None:
    """The benchmark whose library a folder has, and the domain, if any; None for a library of one's own."""
    try:
        if is_workbench(folder):
            return ("WorkBench", "") if own_tools_file(folder.path) is None else None
        if is_classic(folder):
            return ("CLASSic", "") if _has_known_chats(folder) else None
        domain = folder.benchmark.get("domain")
        if domain not in DOMAINS:
            domain = domain_of_tools(ToolLibrary.load(folder.tool_desc).ids)
    except UsageError:  # without tools or tables: nothing says that the library is a known one
        return None
    return None if domain is None else ("TaskBench", str(domain))


def _has_known_chats(folder: DataFolder) -> bool:
    if "source_sha256" in folder.benchmark:  # made by `toolassay import classic`
        return True
    ids = sorted(row["workflow_uuid"] for row in read_table(folder.path / WORKFLOWS, WORKFLOW_COLUMNS))
    return hashlib.sha256("\n".join(ids).encode()).hexdigest()[:16] == _WORKFLOWS
