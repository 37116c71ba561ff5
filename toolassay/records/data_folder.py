"""A data folder: the files of one benchmark, described by `benchmark.json`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from toolassay.errors import UsageError
from toolassay.files.data_files import read_json, record_of, write_json
from toolassay.graph import DependencyType, ToolGraph, agreed_tools, check_dependency_type
from toolassay.tools.library import ToolLibrary

Say = Callable[[str], None]
WRITTEN = "written"
"""Key of `benchmark.json` of a set that rules wrote as work orders."""
BY_RULES = "written by rules, as work orders; generate with a model before publishing"
DEFAULT_BENCHMARK = "taskbench"
"""The benchmark of a folder whose `benchmark.json` names none: part of the published file format."""
TODAY = "TOOLASSAY_TODAY"
"""The variable of agents and tool servers that has the date of the set."""


class WrittenBy(msgspec.Struct, frozen=True):
    """`written` in `benchmark.json`: who wrote the set, other than a model."""

    by: str


class CheckedSet(msgspec.Struct, frozen=True, rename={"source": "from"}):
    """`checked` in `benchmark.json`: marks the output of a check.

    Attributes:
        source: Path of the checked folder, relative to this one.
        level: What the samples are: "pass", "quarantine", or both.
        data_sha256: Hash of `data.json` as it was written; None if it was not.
        writing: Whether the check ended while it replaced files.
    """

    source: str | None = None
    level: str | None = None
    data_sha256: str | None = None
    writing: bool = False


class FunnelRow(msgspec.Struct, frozen=True):
    """A row of `funnel.json`: the samples that enter and leave a gate, those it rejects and quarantines."""

    gate: str
    entering: int
    reject: int
    quarantine: int
    leaving: int


class BenchmarkFile(msgspec.Struct, frozen=True, kw_only=True):
    """The keys of `benchmark.json` that all benchmarks share; `DataFolder.update_benchmark` keeps others.

    Attributes:
        benchmark: Name of the benchmark.
        dependency_type: What the links between tools mean.
        domain: Domain of a published library.
        source: Origin of the data, one sentence.
        licence: Licence; `license` is read too.
        language: Language or languages of the requests.
        today: Date on which the requests are made; None where it does not matter.
        data_sha256: Hash of `data.json` as `format` or `review` wrote it.
        generation: The settings of `generate`.
        rounds: The rounds of `generate --until`.
        written: Who wrote the set, if rules did.
        links: The limits of a schema graph's links.
        values_from: Record of a collection of live values.
        checked: Marks the output of a check.
        reviewed: Marks the output of a review: the number of samples by decision.
    """

    benchmark: str = DEFAULT_BENCHMARK
    dependency_type: DependencyType | None = None
    domain: str | None = None
    source: str | None = None
    licence: str | None = None
    license: str | None = None
    language: str | list[str] = "en"
    today: date | None = None
    data_sha256: str | None = None
    generation: dict[str, Any] | None = None
    rounds: list[Any] | None = None
    written: WrittenBy | None = None
    links: dict[str, Any] | None = None
    values_from: dict[str, Any] | None = None
    checked: CheckedSet | None = None
    reviewed: dict[str, int] | None = None

    @property
    def is_by_rules(self) -> bool:
        """Whether any part of the set is written by rules, as work orders (`BY_RULES`)."""
        return self.written is not None and self.written.by == "rules"

    @property
    def environment(self) -> dict[str, str]:
        """The variables that agents and tool servers get: the date of the set, if it has one."""
        return {} if self.today is None else {TODAY: self.today.isoformat()}


def date_of(text: date | str) -> date:
    """The date that `--today` names.

    Raises:
        UsageError: It names none.

    >>> date_of("2026-11-30")
    datetime.date(2026, 11, 30)
    """
    try:
        return msgspec.convert(text, date)
    except msgspec.ValidationError:
        raise UsageError(f"--today: '{text}' is not a date", fix="write YYYY-MM-DD") from None


def date_setting(today: date | None) -> dict[str, str]:
    """The date in `benchmark.json`, and in settings of runs that depend on it; empty without one.

    >>> date_setting(date(2026, 11, 30))
    {'today': '2026-11-30'}
    """
    return {} if today is None else {"today": today.isoformat()}


def _file(name: str) -> cached_property[Path]:
    return cached_property(lambda folder: folder.path / name)


@dataclass(frozen=True)
class DataFolder:
    """The published file names below one folder."""

    path: Path

    tool_desc = _file("tool_desc.json")
    """The tool library."""
    graph_desc = _file("graph_desc.json")
    """The tool graph."""
    data_raw = _file("data_raw.json")
    """The output of `generate`, one sample per line."""
    data = _file("data.json")
    """The labels, one per line."""
    data_error = _file("data_error.json")
    """Samples that `format` refused, with the reasons."""
    user_requests = _file("user_requests.json")
    """The requests, one per line."""
    alignment_ids = _file("alignment_ids.json")
    """The ids that each critic accepts."""
    benchmark_file = _file("benchmark.json")
    """The benchmark, the dependency type and the origin of the data."""

    @property
    def files(self) -> tuple[Path, ...]:
        """The paths of all files, existing or not."""
        return (
            *(self.tool_desc, self.graph_desc, self.data_raw, self.data, self.data_error),
            *(self.user_requests, self.alignment_ids, self.benchmark_file),
        )

    @cached_property
    def benchmark(self) -> BenchmarkFile:
        """The content of `benchmark.json`.

        Raises:
            UsageError: It is malformed.
        """
        return record_of(
            self.written_benchmark,
            BenchmarkFile,
            file=self.benchmark_file,
            fix="correct that value, or remove its key; a dependency type is resource, temporal or schema",
        )

    @cached_property
    def written_benchmark(self) -> dict[str, Any]:
        """All keys of `benchmark.json`, with the default benchmark if it names none.

        Raises:
            UsageError: It is not an object.
        """
        value = read_json(self.benchmark_file) if self.benchmark_file.exists() else {}
        fix = f'write {{"benchmark": "{DEFAULT_BENCHMARK}"}}, or the name of another benchmark'
        known = record_of(value, dict[str, Any], file=self.benchmark_file, fix=fix)
        return {"benchmark": DEFAULT_BENCHMARK, **known}

    def update_benchmark(self, *gone: str, **facts: Any) -> None:
        """Add `facts` to `benchmark.json` and remove the keys `gone`; other keys are kept."""
        kept = {key: value for key, value in self.written_benchmark.items() if key not in gone}
        write_json(self.benchmark_file, {**kept, **facts})
        for known in ("benchmark", "written_benchmark"):
            self.__dict__.pop(known, None)

    def dependency_type(
        self, flag: str | None, *, library: ToolLibrary | None = None, say: Say = lambda _: None
    ) -> DependencyType:
        """The dependency type: the flag, else `benchmark.json`, else resource.

        A library without types cannot be resource: without a flag, it is schema if a tool has an
        `input_schema`, else temporal, with a message to `say`. A flag that contradicts `benchmark.json` takes
        precedence, with a warning.
        """
        recorded = self.benchmark.dependency_type
        if flag is not None:
            kind = check_dependency_type(flag)
            if recorded is not None and recorded != kind:
                say(
                    f"warning: {self.benchmark_file} says {recorded}, the flag says {kind}: the flag is taken"
                )
            return kind
        if recorded is not None:
            return recorded
        if library is not None and not library.has_types:
            kind = "schema" if any(tool.input_schema is not None for tool in library) else "temporal"
            say(f"no tool has resource types: the dependency type is {kind} (--dependency_type chooses)")
            return kind
        return "resource"

    def today(self, flag: date | str | None, *, force: bool = False) -> date | None:
        """The date of the set: the flag, else `benchmark.json`; None without either.

        Raises:
            UsageError: The flag is no date, or (without `force`) not that of the existing samples.
        """
        recorded = self.benchmark.today
        if flag is None:
            return recorded
        today = date_of(flag)
        if today != recorded and (recorded or self.data_raw.exists()) and not force:
            raise UsageError(
                f"today is {recorded or 'not set'}, --today says {today}",
                file=self.benchmark_file,
                fix="omit --today, use another --data_dir, or --force true (keeps the old run)",
            )
        return today

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
        schemas = self.benchmark.dependency_type == "schema"
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
