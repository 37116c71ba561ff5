"""The options of benchmarks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import click

from toolassay.benchmarks.benchmark import Benchmark
from toolassay.benchmarks.registry import benchmarks, default_benchmark
from toolassay.cli import options
from toolassay.extras import Option

Decorator = Callable[[Any], Any]


def infer_sections() -> Decorator:
    """The options of `infer` of each benchmark, in a section of its own; those that several have, in one."""
    every = benchmarks()
    owners: dict[str, list[tuple[Benchmark, Option]]] = {}
    for benchmark in every:
        for one in benchmark.options.infer:
            owners.setdefault(one.name, []).append((benchmark, one))
    sections: list[Decorator] = []
    shown: set[str] = set()
    for benchmark in every:
        own: list[Decorator] = []
        for one in benchmark.options.infer:
            having = owners[one.name]
            if len(having) == 1:
                own.append(option_of(benchmark.options.run(), one))
            elif one.name not in shown:
                shown.add(one.name)
                title = " and ".join(other.about.title for other, _ in having)
                text = " ".join(f"{other.about.title}: {the_same.help}" for other, the_same in having)
                sections.append(options.section(title, option_of(benchmark.options.run(), one, text)))
        if own:
            sections.append(options.section(benchmark.about.title, *own))
    return options.together(*sections)


def evaluate_options() -> Decorator:
    """The options of `evaluate` of each benchmark, those of what is shown included."""
    return options.together(*_prefixed(lambda one: (*one.options.evaluate, *one.options.show)))


def verify_options() -> Decorator:
    """The options of `verify` of each benchmark."""
    return options.together(*_prefixed(lambda one: one.options.verify))


def shown_options() -> list[str]:
    """The names of the options of `evaluate` that choose what is shown, and score nothing."""
    return [one.name for benchmark in benchmarks() for one in benchmark.options.show]


def notes(option_name: str) -> str:
    """What the help of a common option says of the benchmarks, those beside the default one by title.

    >>> notes("max_tokens").startswith("2000; ")
    True
    """
    default = default_benchmark()
    found = [
        note if one is default else f"{one.about.title} {note}"
        for one in benchmarks()
        if (note := one.options.help_notes.get(option_name))
    ]
    return "; ".join(found)


def security_modes() -> str:
    """What the help of `--security` says of further modes."""
    return " ".join(
        f"{one.about.title}: {mode} is {entry.help}."
        for one in benchmarks()
        for mode, entry in one.options.security_modes.items()
    )


def _prefixed(options_of: Callable[[Benchmark], Sequence[Option]]) -> Iterator[Decorator]:
    default, seen = default_benchmark(), set()
    for benchmark in benchmarks():
        for one in options_of(benchmark):
            if one.name not in seen:
                seen.add(one.name)
                text = one.help if benchmark is default else f"{benchmark.about.title}: {one.help}"
                yield option_of(benchmark.options.scoring(), one, text)


def option_of(given: Any, one: Option, text: str = "") -> Decorator:
    """An option of click.

    Args:
        given: the options object whose field has the default; a field it lacks has None.
        one: the option.
        text: its help; empty for its own.
    """
    default, text = getattr(given, one.name, None), text or one.help
    spelled = one.flag or one.name
    if one.type is bool:
        return options.option(spelled, text, type=bool, default=default, is_flag=False, flag_value=True)
    settings: dict[str, Any] = {"type": _type(one), "default": default}
    if one.metavar:
        settings["metavar"] = one.metavar
    if one.multiple:
        settings["multiple"] = True
    if not default and not isinstance(default, int | float):
        settings |= {"default": () if one.multiple else None, "show_default": False}
    if one.listed:
        settings["callback"] = lambda context, parameter, value: options.names(value or "")
    return options.option(spelled, text, *([f"-{one.short}"] if one.short else []), **settings)


def by_field(settings: dict[str, Any]) -> dict[str, Any]:
    """What was typed, by the names of the fields instead of the spellings."""
    every = (one for b in benchmarks() for one in (*b.options.infer, *b.options.evaluate))
    fields = {one.flag: one.name for one in every if one.flag}
    return {fields.get(name, name): value for name, value in settings.items()}


def _type(one: Option) -> Any:
    if one.choices:
        return click.Choice(list(one.choices))
    if one.type is int:
        return int if one.minimum is None else click.IntRange(int(one.minimum))
    if one.type is float:
        return float if one.minimum is None else options.FloatRange(one.minimum, min_open=one.above)
    return options.PATH if one.type.__name__ == "Path" else str
