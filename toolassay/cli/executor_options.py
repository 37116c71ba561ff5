"""The options of executors. Commands that name none do not import them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, TypeVar

import click

from toolassay.benchmarks.registry import benchmark_executors
from toolassay.cli import options
from toolassay.cli.benchmark_options import option_of
from toolassay.executors import executors, flags_of
from toolassay.executors.executor import Executor

Function = TypeVar("Function", bound=Callable[..., Any])

EVERY = (*executors(), *benchmark_executors())
"""All executors, those of benchmarks last."""
NAMES = [one.name for one in EVERY]
HELP = "; ".join(f"{one.name}: {one.help}" for one in EVERY)
_FLAGS = flags_of(EVERY)
_DEFAULTS = {one.name: getattr(executor.options(), one.name) for executor in EVERY for one in executor.flags}


class _Defaults:
    """The defaults of all executors' options, as one object."""

    def __getattr__(self, name: str) -> Any:
        return _DEFAULTS[name]


def executor_section() -> Callable[[Function], Function]:
    """The options of all executors, in a section of their own."""
    consent = (
        options.flag("allow_writes", "Permit tools that the server does not mark as read-only."),
        options.flag("allow_tools", "Run Python code of the data folder, or that --functions names."),
    )
    return options.section("Executors", *consent, *executor_flags(EVERY))


def executor_flags(every: tuple[Executor, ...]) -> list[Callable[[Any], Any]]:
    """The options of some executors."""
    return [option_of(_Defaults(), flag) for flag in flags_of(every)]


def taken_options(settings: dict[str, Any], executor: str) -> Any:
    """Take the options of an executor out of `settings`, as its options object.

    Raises:
        UsageError: An option of another executor was given.
    """
    chosen = next(one for one in EVERY if one.name == executor)
    known = {one.name for one in fields(chosen.options)}
    found: dict[str, Any] = {}
    for flag in _FLAGS:
        value = settings.pop(flag.name, None)
        default = _DEFAULTS[flag.name]
        if flag.name in known:
            found[flag.name] = default if value is None else value
        elif value and value != default:
            raise click.UsageError(f"--{flag.name} is not for the executor {executor}")
    return chosen.options(**found)


def without_options(settings: dict[str, Any], needed: str = "--values_from") -> None:
    """Remove the options of executors from `settings` where none is used.

    Args:
        settings: what was typed.
        needed: the option that uses an executor.

    Raises:
        UsageError: One was given.
    """
    consent = () if needed != "--values_from" else ("allow_writes", "allow_tools")
    for name in (*consent, *(flag.name for flag in _FLAGS)):
        value = settings.pop(name, None)
        if value and value != _DEFAULTS.get(name):
            raise click.UsageError(f"--{name} is for {needed}")
