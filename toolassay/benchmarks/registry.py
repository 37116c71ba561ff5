"""Finds the benchmarks: the folders beside this file, and installed packages."""

from __future__ import annotations

import sys
from dataclasses import fields
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolassay.benchmarks.benchmark import Benchmark, load
from toolassay.errors import UsageError
from toolassay.extras import installed_extensions
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
    return {one.name: one for one in benchmarks()}[name]


def default_benchmark() -> Benchmark:
    """The benchmark of folders without `benchmark.json`: tools, a graph, and requests with gold plans."""
    return benchmark_named(DEFAULT_BENCHMARK)


def benchmark_of(folder: DataFolder) -> Benchmark:
    """The benchmark of a data folder: as `benchmark.json` says, else by its files.

    The default one has `tool_desc.json`. It is also that of a folder which no other recognises.

    Raises:
        UsageError: `benchmark.json` is malformed, or names an unknown benchmark.
    """
    known = {one.name: one for one in benchmarks()}
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
    return tuple(load(target) for one in benchmarks() for target in one.entries.executors.values())


def has_plans(folder: DataFolder) -> bool:
    """Whether a folder belongs to the default benchmark, whose gold are plans."""
    return benchmark_of(folder).name == DEFAULT_BENCHMARK


def own_options(stage: str, benchmark: Benchmark, given: Any, keywords: dict[str, Any]) -> Any:
    """The options of a benchmark, with fields replaced by `keywords`.

    Args:
        stage: "infer" or "evaluate".
        benchmark: Benchmark of the folder.
        given: Instance of its options; None for the defaults.
        keywords: Remaining keywords of the stage; all are removed.

    Raises:
        UsageError: A keyword is an option of another benchmark and differs from its default.
        TypeError: A keyword is unknown.
    """
    from toolassay.runs.settings import gather, refuse_unknown

    def defaults(one: Benchmark) -> Any:
        return (one.options.run if stage == "infer" else one.options.scoring)()

    own = gather(given if given is not None else defaults(benchmark), keywords)
    for other in benchmarks():
        for field in fields(options := defaults(other)):
            value, default = keywords.pop(field.name, None), getattr(options, field.name)
            same = list(value) == list(default or ()) if isinstance(value, list | tuple) else value == default
            if value and not same:
                flags = (*other.options.infer, *other.options.evaluate, *other.options.show)
                flag = next((one.flag for one in flags if one.name == field.name and one.flag), field.name)
                raise UsageError(f"--{flag} does not apply to {benchmark.about.title} folders", fix="omit it")
    refuse_unknown(stage, keywords)
    return own
