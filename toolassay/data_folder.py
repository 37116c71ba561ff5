"""A data folder: the files of one benchmark, described by `benchmark.json`."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from toolassay.errors import UsageError
from toolassay.files import read_json, write_json
from toolassay.graph import DependencyType, ToolGraph, agreed_tools, check_dependency_type
from toolassay.locks import remove_temporaries
from toolassay.tools import ToolLibrary

Say = Callable[[str], None]
WRITTEN = "written"
"""Key of `benchmark.json` of a set that rules wrote as work orders."""
BY_RULES = "written by rules, as work orders; generate with a model before publishing"
DEFAULT_BENCHMARK = "taskbench"
"""The benchmark of a folder whose `benchmark.json` names none: part of the published file format."""


def is_by_rules(benchmark: Mapping[str, Any]) -> bool:
    """Whether the content of a `benchmark.json` says that rules wrote the set (`BY_RULES`)."""
    written = benchmark.get(WRITTEN)
    return isinstance(written, Mapping) and written.get("by") == "rules"


@dataclass(frozen=True)
class DataFolder:
    """The published file names below one folder."""

    path: Path

    @property
    def tool_desc(self) -> Path:
        """The tool library."""
        return self.path / "tool_desc.json"

    @property
    def graph_desc(self) -> Path:
        """The tool graph."""
        return self.path / "graph_desc.json"

    @property
    def data_raw(self) -> Path:
        """The output of `generate`, one sample per line."""
        return self.path / "data_raw.json"

    @property
    def data(self) -> Path:
        """The labels, one per line."""
        return self.path / "data.json"

    @property
    def data_error(self) -> Path:
        """Samples that `format` refused, with the reasons."""
        return self.path / "data_error.json"

    @property
    def user_requests(self) -> Path:
        """The requests, one per line."""
        return self.path / "user_requests.json"

    @property
    def alignment_ids(self) -> Path:
        """The ids that each critic accepts."""
        return self.path / "alignment_ids.json"

    @property
    def benchmark_file(self) -> Path:
        """The benchmark, the dependency type and the origin of the data."""
        return self.path / "benchmark.json"

    @property
    def files(self) -> tuple[Path, ...]:
        """The paths of all files, existing or not."""
        return (
            *(self.tool_desc, self.graph_desc, self.data_raw, self.data, self.data_error),
            *(self.user_requests, self.alignment_ids, self.benchmark_file),
        )

    @cached_property
    def benchmark(self) -> dict[str, Any]:
        """The content of `benchmark.json`, with the default benchmark if it names none.

        Raises:
            UsageError: It is malformed.
        """
        if not self.benchmark_file.exists():
            return {"benchmark": DEFAULT_BENCHMARK}
        value = read_json(self.benchmark_file)
        if not isinstance(value, dict):
            raise UsageError(
                "is not an object",
                file=self.benchmark_file,
                fix=f'write {{"benchmark": "{DEFAULT_BENCHMARK}"}}, or the name of another benchmark',
            )
        return {"benchmark": DEFAULT_BENCHMARK, **value}

    @property
    def is_by_rules(self) -> bool:
        """Whether any part of the set is written by rules, as work orders."""
        return is_by_rules(self.benchmark)

    def describe(self, *gone: str, **facts: Any) -> None:
        """Add `facts` to `benchmark.json` and remove the keys `gone`; other keys are kept."""
        kept = {key: value for key, value in self.benchmark.items() if key not in gone}
        write_json(self.benchmark_file, {**kept, **facts})
        self.__dict__.pop("benchmark", None)

    def dependency_type(
        self, flag: str | None, *, library: ToolLibrary | None = None, say: Say = lambda _: None
    ) -> DependencyType:
        """The dependency type: the flag, else `benchmark.json`, else resource.

        A library without types cannot be resource: without a flag, it is schema if a tool has an
        `input_schema`, else temporal, with a message to `say`. A flag that contradicts `benchmark.json` takes
        precedence, with a warning.
        """
        recorded = self.benchmark.get("dependency_type")
        if flag is not None:
            kind = check_dependency_type(flag)
            if recorded is not None and recorded != kind:
                say(
                    f"warning: {self.benchmark_file} says {recorded}, the flag says {kind}: the flag is taken"
                )
            return kind
        if recorded is not None:
            try:
                return check_dependency_type(str(recorded))
            except UsageError:
                raise UsageError(
                    f"unknown dependency type '{recorded}'",
                    file=self.benchmark_file,
                    fix="write resource, temporal or schema",
                ) from None
        if library is not None and not library.has_types:
            kind = "schema" if any(tool.input_schema is not None for tool in library) else "temporal"
            say(f"no tool has resource types: the dependency type is {kind} (--dependency_type chooses)")
            return kind
        return "resource"

    def library(self, *, say: Say = lambda _: None) -> ToolLibrary:
        """The tools: those of `tool_desc.json`, else the nodes of `graph_desc.json`.

        Args:
            say: Receives a message if the two files describe the tools differently.

        Raises:
            UsageError: Neither file exists, or one is malformed.
            ToolFilesDiffer: The files have different tools.
        """
        if not self.graph_desc.exists():
            return ToolLibrary.load(self.tool_desc)
        from toolassay.graph.graph_file import read_graph_file

        nodes = ToolLibrary.from_json(read_graph_file(self.graph_desc), path=self.graph_desc)
        if not self.tool_desc.exists():
            return nodes
        schemas = self.benchmark.get("dependency_type") == "schema"
        return agreed_tools(ToolLibrary.load(self.tool_desc), nodes, schemas=schemas, say=say)

    def graph(
        self,
        dependency_type: str | None,
        *,
        graph_desc: Path | None = None,
        tool_desc: Path | None = None,
        say: Say = lambda _: None,
    ) -> ToolGraph:
        """The tool graph: the tools as `library` finds them, and the links of `graph_desc.json`.

        Args:
            dependency_type: Dependency type; None for that in the graph file.
            graph_desc: Another graph file, which defines the tools unless `tool_desc` is given too.
            tool_desc: Another tool file.
            say: As in `library`.

        Raises:
            UsageError: There is no graph, or a file is malformed.
            ToolFilesDiffer: Graph and tool file have different tools.
        """
        path = graph_desc or self.graph_desc
        own = path.resolve() == self.graph_desc.resolve()
        if tool_desc is None and own and self.tool_desc.exists():
            tool_desc = self.tool_desc
        tools = None if tool_desc is None else ToolLibrary.load(tool_desc)
        return ToolGraph.load(path, dependency_type=dependency_type, tools=tools, say=say)

    def require(self) -> DataFolder:
        """Return the folder itself, after validation.

        Raises:
            UsageError: It does not exist, or its `benchmark.json` is malformed.
        """
        if not self.path.is_dir():
            raise UsageError("no such folder", file=self.path, fix="check --data_dir")
        _ = self.benchmark
        for folder in (tempfile.gettempdir(), *(name for name, _, _ in os.walk(self.path))):
            remove_temporaries(Path(folder))
        return self


def find_file(given: str | Path, folder: Path | None) -> Path:
    """Find a file as a path, else inside `folder`.

    Raises:
        UsageError: It is in neither place.
    """
    path = Path(given)
    if path.is_file():
        return path
    if folder is not None and (folder / path).is_file():
        return folder / path
    where = f" (nor in {folder})" if folder is not None else ""
    raise UsageError(f"no such file{where}", file=path, fix="check the path")
