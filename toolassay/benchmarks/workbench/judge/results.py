"""Published result files: what an agent called for each request, and how that ended."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from toolassay.benchmarks.workbench.sandbox.published import read_csv
from toolassay.benchmarks.workbench.tasks import parse_list
from toolassay.errors import UsageError

_NAME = re.compile(r"(?P<model>.+)_(?P<setting>all|domains)(_\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d)?")


@dataclass(frozen=True)
class Result:
    """What came of one request.

    Args:
        query: the request.
        calls: as text, in the order of the agent.
        error: how it failed; empty if it did not.
    """

    query: str
    calls: tuple[str, ...]
    error: str = ""


@dataclass(frozen=True)
class ResultFile:
    """One result file.

    Args:
        path: where it is.
        name: its path below the folder that was named, with slashes.
    """

    path: Path
    name: str

    @property
    def model(self) -> str:
        """The model, as the file's name says.

        >>> ResultFile(Path("gpt-4_all_2024-03-21_15-21-12.csv"), "").model
        'gpt-4'
        """
        found = _NAME.fullmatch(self.path.stem)
        return found["model"] if found else self.path.stem

    @property
    def tool_selection(self) -> str | None:
        """`all` or `domains`, as the file's name says; None if it does not."""
        found = _NAME.fullmatch(self.path.stem)
        return found["setting"] if found else None

    def read(self) -> Iterator[Result]:
        """The results, in order.

        Raises:
            UsageError: not a result file, or one without results.
        """
        number = 0
        for number, row in enumerate(read_csv(self.path), start=1):
            if missing := {"query", "function_calls", "error"} - set(row):
                raise UsageError(
                    f"has no column {min(missing)!r}", file=self.path, fix="give a published result file"
                )
            calls = parse_list(row["function_calls"] or "", self.path, number)
            yield Result(row["query"] or "", calls, row["error"] or "")
        if not number:
            raise UsageError("has no rows", file=self.path, fix="give a published result file")


def result_files(path: Path) -> list[ResultFile]:
    """The result file, or all below a folder, in the order of their names.

    Raises:
        UsageError: there is none.
    """
    if path.is_file():
        return [ResultFile(path, path.name)]
    found = sorted((file.relative_to(path).as_posix(), file) for file in path.rglob("*.csv"))
    if not found:
        raise UsageError("no result files", file=path, fix="give a CSV file, or a folder with some")
    return [ResultFile(file, name) for name, file in found]
