"""Commands of click, made of declared options (`toolassay.declarations`).

A command is a function. Its parameters are options, or options objects of which the command line has the
fields; the function receives only what was typed over the defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, get_args, get_origin

import click
from click.core import ParameterSource

from toolassay.cli.screen import say
from toolassay.declarations import REQUIRED, Declared, arguments_of, declared_in

FEW = 16
"""A command with at most this number of options shows all of them in `--help`."""


def names(text: str) -> list[str]:
    """Split a comma-separated list of names; empty names are dropped.

    >>> names("Ann, Zoë,,Bob")
    ['Ann', 'Zoë', 'Bob']
    """
    return [name.strip() for name in text.split(",") if name.strip()]


class _Value(click.ParamType[Any]):
    """The value of an option, read from text and checked as declared."""

    def __init__(self, declared: Declared) -> None:
        self.declared = declared
        self.name = declared.field

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """The choices, or the kind of value."""
        declared = self.declared
        if declared.choices:
            return f"[{'|'.join(declared.choices)}]"
        kinds = {int: "INTEGER", float: "NUMBER", Path: "PATH", bool: "true|false"}
        return kinds.get(declared.item, "TEXT")

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read and check a text of the command line; a default is a value already."""
        if not isinstance(value, str):
            return value
        read = names(value) if self.declared.option.listed else self._read(value)
        if problem := self.declared.problem(read):
            raise self.declared.refused(problem)
        return read

    def _read(self, text: str) -> Any:
        declared = self.declared
        kind = declared.item
        if declared.option.read is not None:
            try:
                return declared.option.read(text)
            except ValueError as error:
                raise declared.refused(str(error)) from None
        if kind is Path:
            path = Path(text)
            if path.exists() and not (path.is_file() or path.is_dir()):
                # A command would wait for it, or replace it.
                raise declared.refused(f"{path} is a pipe or a device, not a file")
            return path
        if kind in (int, float):
            try:
                return kind(text)
            except ValueError:
                raise declared.refused(f"{text!r} is not {declared.bounds or 'a number'}") from None
        if bool in (kind, *get_args(kind)) and text not in declared.choices:
            try:
                return click.BOOL.convert(text, None, None)
            except click.BadParameter:
                expected = ", ".join([*declared.choices, "true", "false"])
                raise declared.refused(f"{text!r} is not one of {expected}") from None
        return text


class Flag(click.Option):
    """An option of click with its declaration.

    Args:
        declared: The declaration.
        new_name: Name of the option that replaces it; empty for a current one.
    """

    def __init__(self, declared: Declared, new_name: str = "") -> None:
        self.declared = declared
        self.new_name = new_name
        option = declared.option
        kind = declared.item
        default = declared.default
        if option.command_default is not None:
            default = option.command_default
        is_shown = default is not REQUIRED and default not in (None, (), [], "") and not option.hidden
        is_bool = kind is bool or bool in get_args(kind)
        is_tuple = get_origin(kind) is tuple and option.read is None
        text = option.help
        if declared.is_repeated and not option.listed and text:
            text = f"{text.rstrip('.')}; may be repeated."
        more: dict[str, Any] = {"is_flag": False, "flag_value": "true"} if is_bool else {}
        if is_tuple:
            more["nargs"] = len(get_args(kind))
        shown: Any = default if is_shown else None
        if declared.is_repeated and not option.listed:
            more["multiple"] = True
            shown = tuple(shown or ()) if not isinstance(shown, str) else (shown,)
        super().__init__(
            [f"--{declared.name}", *option.flags, declared.name],
            help=text,
            type=(click.STRING if is_tuple else _Value(declared)),
            default=shown,
            show_default=is_shown,
            required=default is REQUIRED and not declared.optional,
            metavar=option.metavar or None,
            hidden=option.hidden,
            **more,
        )


class Command(click.Command):
    """A command whose help shows its common options; `--help-all` shows all, by section."""

    def __init__(self, *arguments: Any, epilog_of: Callable[[], Mapping[str, str]], **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self._epilog_of = epilog_of

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """The options, and `--help-all` where `--help` does not show all."""
        parameters = super().get_params(ctx)
        if self._is_long:
            parameters.append(self._help_all)
        return parameters

    @property
    def _shown(self) -> list[Flag]:
        return [flag for flag in self.params if isinstance(flag, Flag) and not flag.hidden]

    @cached_property
    def _is_long(self) -> bool:
        return len(self._shown) > FEW

    @cached_property
    def _help_all(self) -> click.Option:
        def show(context: click.Context, parameter: click.Parameter, value: bool) -> None:
            if value and not context.resilient_parsing:
                context.meta["all"] = True
                click.echo(context.get_help(), color=context.color)
                context.exit()

        text = f"Show all {len(self._shown)} options and exit."
        return click.Option(
            ["--help-all"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=show,
            help=text,
        )

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options by section; sections appear in the order of their first option."""
        sections: dict[str, list[tuple[str, str]]] = {}
        is_short = self._is_long and not ctx.meta.get("all")
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            title = "Help"
            if isinstance(parameter, Flag):
                if is_short and not (parameter.declared.option.common or parameter.required):
                    continue
                title = parameter.declared.section or "Options"
            if record is not None:
                sections.setdefault(title, []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what is registered, which is looked up only for the help."""
        for title, text in self._epilog_of().items():
            with formatter.section(title):
                formatter.write_text(text)
        super().format_epilog(ctx, formatter)


def parameters_of(options: Iterable[Declared]) -> Iterator[click.Parameter]:
    """The options of click; of two with one name the first."""
    seen = set[str]()
    for option in options:
        if option.name in seen:
            continue
        seen.add(option.name)
        if option.option.positional:
            yield click.Argument(
                [option.name],
                type=_Value(option),
                nargs=-1 if option.is_repeated else 1,
                required=option.default is REQUIRED,
                metavar=option.option.metavar or None,
            )
        else:
            yield Flag(option)
            for flag in option.option.old:
                old = replace(option.option, name=flag.lstrip("-"), old=(), flags=(), hidden=True)
                yield Flag(replace(option, option=old, default=None), option.name)


def typed_arguments(context: click.Context, function: Callable[..., Any]) -> dict[str, Any]:
    """The arguments of a command: what was typed, and the defaults of the command line."""
    given: dict[str, Any] = {}
    for parameter in context.command.params:
        name = str(parameter.name)
        source = context.get_parameter_source(name)
        if source is ParameterSource.COMMANDLINE and parameter.expose_value:
            new_name = parameter.new_name if isinstance(parameter, Flag) else ""
            if new_name:
                say(f"--{name} is --{new_name} now")
            given[new_name or name] = context.params[name]
        elif isinstance(parameter, Flag) and parameter.declared.option.command_default is not None:
            given[name] = parameter.declared.option.command_default
    return arguments_of(function, given)


def command(
    name: str,
    *,
    listing: Callable[[], Mapping[str, str]] = dict,
    more: Iterable[click.Parameter] = (),
    group: click.Group | None = None,
    **settings: Any,
) -> Callable[[Callable[..., Any]], Command]:
    """Make a command of a function.

    Args:
        name: Its name.
        listing: Gives further sections of the help by title, e.g. what is registered.
        more: Parameters of click that no declaration can express; the function does not receive them.
        group: Group to which it belongs.
        settings: Passed to click, e.g. `epilog`.
    """

    def decorate(function: Callable[..., Any]) -> Command:
        def call(**_: Any) -> Any:
            return function(**typed_arguments(click.get_current_context(), function))

        parameters = [*parameters_of(declared_in(function)), *more]
        help = settings.pop("help", None) or function.__doc__
        made = Command(name, callback=call, params=parameters, help=help, epilog_of=listing, **settings)
        if group is not None:
            group.add_command(made)
        return made

    return decorate
