"""Finds the benchmarks: the folders beside this file, and installed packages."""

from __future__ import annotations

import sys
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from toolassay.benchmarks.benchmark import Benchmark, load
from toolassay.declarations import ChosenOptions
from toolassay.errors import UsageError
from toolassay.extras import installed_extensions
from toolassay.plans.execution_record import SIMULATOR
from toolassay.records.data_folder import DEFAULT_BENCHMARK, DataFolder

if TYPE_CHECKING:
    from toolassay.executors.executor import Executor

GROUP = "toolassay.benchmarks"


def benchmarks() -> tuple[Benchmark, ...]:
    """All benchmarks: the built-in ones by `order`, then the installed ones by name.

    Raises:
        UsageError: An installed benchmark cannot be loaded, or has the name of another.
    """
    return _benchmarks(tuple(sys.path))


@cache
def _benchmarks(path: tuple[str, ...]) -> tuple[Benchmark, ...]:
    """Cached by `sys.path`, as another search path may have other installed benchmarks."""
    names = (file.parent.name for file in Path(__file__).parent.glob("*/benchmark.py"))
    built_in = [import_module(f"{__package__}.{name}.benchmark").BENCHMARK for name in names]
    built_in.sort(key=lambda one: one.about.order)
    return installed_extensions(GROUP, Benchmark, "benchmark", built_in)


def benchmark_named(name: str) -> Benchmark:
    """The benchmark with this name.

    Raises:
        KeyError: There is none.
    """
    return {benchmark.name: benchmark for benchmark in benchmarks()}[name]


def default_benchmark() -> Benchmark:
    """The benchmark of folders without `benchmark.json`: tools, a graph, and requests with gold plans."""
    return benchmark_named(DEFAULT_BENCHMARK)


def benchmark_of(folder: DataFolder) -> Benchmark:
    """The benchmark of a data folder: as `benchmark.json` says, else by its files.

    The default one has `tool_desc.json`. It is also that of a folder which no other recognises.

    Raises:
        UsageError: `benchmark.json` is malformed, or names an unknown benchmark.
    """
    known = {benchmark.name: benchmark for benchmark in benchmarks()}
    name = folder.benchmark.benchmark
    if name not in known:
        near = get_close_matches(name.casefold(), known, n=1)
        every = ", ".join(known)
        fix = f'write "{near[0]}"; known are {every}' if near else f"write one of {every}"
        raise UsageError(f"unknown benchmark {name!r}", file=folder.benchmark_file, fix=fix)
    if name != DEFAULT_BENCHMARK or folder.tool_desc.exists():
        return known[name]
    return next((one for one in known.values() if one.data.recognises(folder)), known[DEFAULT_BENCHMARK])


def benchmark_executors() -> tuple[Executor, ...]:
    """The executors that benchmarks bring."""
    return tuple(
        load(target) for benchmark in benchmarks() for target in benchmark.entries.executors.values()
    )


def has_plans(folder: DataFolder) -> bool:
    """Whether a folder belongs to the default benchmark, whose gold are plans."""
    return benchmark_of(folder).name == DEFAULT_BENCHMARK


def executor_names() -> list[str]:
    """The values of `--executor`; the last is the old name of a world."""
    return [*(executor.name for executor in all_executors()), SIMULATOR]


def all_executors() -> tuple[Executor, ...]:
    """All executors, those of benchmarks last."""
    from toolassay.executors import executors

    return (*executors(), *benchmark_executors())


def _options_by_benchmark(member: str) -> ChosenOptions:
    """The options objects of one kind, of which the data folder chooses one.

    Args:
        member: Of `BenchmarkOptions`.
    """
    return ChosenOptions(
        lambda: {benchmark.about.title: getattr(benchmark.options, member) for benchmark in benchmarks()},
        lambda arguments: benchmark_of(DataFolder(Path(arguments["data_dir"])).require()).about.title,
        "{flag} does not apply to {owner} folders",
    )


RUN_OPTIONS = _options_by_benchmark("run")
"""Options of `infer` of the folder's benchmark."""
SCORING_OPTIONS = _options_by_benchmark("scoring")
"""Options of `evaluate` of the folder's benchmark."""
VERIFY_OPTIONS = _options_by_benchmark("verify")
"""Options of `verify` of the folder's benchmark."""
TABLE_OPTIONS = _options_by_benchmark("show")
"""What `evaluate` shows of the folder's benchmark."""
EXECUTOR_OPTIONS = ChosenOptions(
    lambda: {executor.name: executor.options for executor in all_executors()},
    lambda arguments: arguments.get("executor") or arguments.get("values_from") or "mcp",
    "{flag} is not for the executor {owner}",
)
"""Options of the executor that `executor` names."""
