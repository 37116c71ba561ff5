"""The export formats that there are, and the files of an export in one of them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from toolassay.errors import UsageError
from toolassay.exporters.executed_results import PlanResults
from toolassay.exporters.export_format import Chats, ExportFormat, JsonLinesWriter, Writer
from toolassay.exporters.rows import plan_of_row as plan_of_row  # documented here
from toolassay.extras import installed_extensions
from toolassay.plans.call_plan import Call, CallPlan

GROUP = "toolassay.exports"


def formats() -> tuple[ExportFormat, ...]:
    """All formats: the built-in ones, then the installed ones by name.

    Raises:
        UsageError: An installed format cannot be loaded, or has the name of another.
    """
    return _formats(tuple(sys.path))


@cache
def _formats(path: tuple[str, ...]) -> tuple[ExportFormat, ...]:
    """Cached by `sys.path`, as another search path may have other installed formats."""
    from toolassay.exporters import openai_chats, parquet, rows, sharegpt

    # An abstract class cannot be the type of the extensions.
    built_in: list[Any] = [parquet.FORMAT, openai_chats.FORMAT, sharegpt.FORMAT, rows.FORMAT]
    return installed_extensions(GROUP, ExportFormat, "export format", built_in)


def format_named(name: str) -> ExportFormat:
    """The format with this name.

    Raises:
        UsageError: There is none.
    """
    by_name = {export_format.name: export_format for export_format in formats()}
    if name not in by_name:
        raise UsageError(f"unknown format '{name}'", fix=f"use one of {', '.join(by_name)}")
    return by_name[name]


def format_list() -> str:
    """The formats, each with what it is."""
    return "; ".join(f"{export_format.name}: {export_format.help}" for export_format in formats())


class ExportFiles:
    """Writes the files of one export, one plan at a time.

    Args:
        form: the format.
        folder: the folder to write into.
        chats: the tools, and the options of the export.
    """

    def __init__(self, form: ExportFormat, folder: Path, chats: Chats) -> None:
        self._format = form
        self._folder = folder
        self._chats = chats
        self._writers: dict[str, Writer] = {}
        self._splits: set[str] = set()

    @property
    def files(self) -> dict[str, str]:
        """The file of each split with plans, relative to the folder."""
        known = [split for split in ("train", "dev", "test") if split in self._splits]
        return {split: self._format.file_of(split) for split in known}

    def check(self, calls: Sequence[Call]) -> None:
        """Check that the format can represent calls.

        Raises:
            Unfit: it cannot.
        """
        self._format.check(calls, self._chats)

    def write(self, plan: CallPlan, split: str, results: PlanResults | None = None) -> None:
        """Append the line of a plan to the file of a split, and its line in the index, if there is one.

        Args:
            plan: the sample.
            split: its split.
            results: what its calls returned, with a refused call only if the line is to show it; None without
                results.
        """
        self._splits.add(split)
        name = self._format.file_of(split)
        if name not in self._writers:
            self._writers[name] = self._format.writer(self._folder / name)
        self._writers[name].write(self._format.line(plan, self._chats, results))
        index = self._format.index_line(plan, results)
        if index is not None:
            name = f"index/{split}.jsonl"
            if name not in self._writers:
                self._writers[name] = JsonLinesWriter(self._folder / name)
            self._writers[name].write(index)

    def finish(self, name: str) -> None:
        """Close the files, and write the further ones of the format.

        Args:
            name: name of the data set.
        """
        self.close()
        self._format.finish(self._folder, self.files, name, self._chats)

    def close(self) -> None:
        """Close the files."""
        while self._writers:
            self._writers.popitem()[1].close()
