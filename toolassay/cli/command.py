"""Commands of click, made of declared options (`toolassay.declarations`).

A command is a function. Its parameters are options, or options objects of which the command line has the
fields; the function receives only what was typed over the defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args, get_origin

import click
from click.core import ParameterSource

from toolassay.cli.screen import say
from toolassay.declarations import REQUIRED, Declared, arguments_of, declared_in

_HELP_ALL = "help_all"
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
        names_of_kinds = {int: "INTEGER", float: "NUMBER", Path: "PATH", bool: "true|false"}
        if declared.choices:
            return f"[{'|'.join(declared.choices)}]"
        return names_of_kinds.get(declared.kinds[0], "TEXT")

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read and check a text of the command line; a default is a value already."""
        if not isinstance(value, str):
            return value
        read = names(value) if self.declared.option.listed else self._read(value)
        self.declared.check(read)
        return read

    def _read(self, text: str) -> Any:
        declared = self.declared
        kinds = declared.kinds
        if text in declared.choices:
            return text
        try:
            if declared.option.read is not None:
                return declared.option.read(text)
            for kind in (int, float):
                if kind in kinds and (bool not in kinds or text.lstrip("-").isdecimal()):
                    return kind(text)
            if bool in kinds:
                return click.BOOL.convert(text, None, None)
        except click.BadParameter:
            raise declared.refused(f"{text!r} is not {declared.expected}") from None
        except ValueError as error:
            problem = str(error) if declared.option.read else f"{text!r} is not {declared.expected}"
            raise declared.refused(problem) from None
        if kinds[0] is not Path:
            return text
        path = Path(text)
        if path.exists() and not (path.is_file() or path.is_dir()):
            # A command would wait for it, or replace it.
            raise declared.refused(f"{path} is a pipe or a device: write a file, and name it")
        return path


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
        kind = declared.kinds[0]
        default = declared.default
        if option.command_default is not None:
            default = option.command_default
        is_shown = default is not REQUIRED and default not in (None, (), [], "") and not option.hidden
        is_bool = bool in declared.kinds
        is_tuple = get_origin(kind) is tuple and option.read is None
        text = option.help
        if declared.is_repeated and not option.listed and text:
            text = f"{text.rstrip('.')}; may be repeated."
        more: dict[str, Any] = {"is_flag": False, "flag_value": "true"} if is_bool else {}
        if is_tuple:
            more["nargs"] = len(get_args(kind))
        is_required = default is REQUIRED and not declared.optional
        shown: Any = default if is_shown else None
        if declared.is_repeated and not option.listed:
            more["multiple"] = True
            shown = tuple(shown or ()) if not isinstance(shown, str) else (shown,)
        if not is_required:  # an option with a default is given for click, even if that is None
            more["default"] = shown
        super().__init__(
            [f"--{declared.name}", *option.flags, declared.name],
            help=text,
            type=(click.STRING if is_tuple else _Value(declared)),
            show_default=is_shown,
            required=is_required,
            metavar=option.metavar or None,
            hidden=option.hidden,
            **more,
        )


class Command(click.Command):
    """A command whose help shows its common options; `--help-all` shows all, by section."""

    def __init__(self, *arguments: Any, epilog_of: Callable[[], Mapping[str, str]], **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self._epilog_of = epilog_of

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options by section; sections appear in the order of their first option."""
        sections: dict[str, list[tuple[str, str]]] = {}
        is_short = any(parameter.name == _HELP_ALL for parameter in self.params) and not ctx.meta.get(
            _HELP_ALL
        )
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


def _help_all(count: int) -> click.Option:
    """`--help-all` of a command with so many options."""

    def show(context: click.Context, parameter: click.Parameter, value: bool) -> None:
        if value:
            context.meta[_HELP_ALL] = True
            click.echo(context.get_help())
            context.exit()

    text = f"Show all {count} options and exit."
    return click.Option(
        ["--help-all"], is_flag=True, is_eager=True, expose_value=False, callback=show, help=text
    )


def parameters_of(options: Iterable[Declared]) -> Iterator[click.Parameter]:
    """The options of click; of two with one name the first."""
    seen = set[str]()
    for declared in options:
        if declared.name in seen:
            continue
        seen.add(declared.name)
        if declared.option.positional:
            yield click.Argument(
                [declared.name],
                type=_Value(declared),
                nargs=-1 if declared.is_repeated else 1,
                required=declared.default is REQUIRED,
                metavar=declared.option.metavar or None,
            )
        else:
            yield Flag(declared)
            for flag in declared.option.old:
                old = replace(declared.option, name=flag.lstrip("-"), old=(), flags=(), hidden=True)
                yield Flag(replace(declared, option=old, default=None), declared.name)


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
        shown = sum(isinstance(parameter, Flag) and not parameter.hidden for parameter in parameters)
        if shown > FEW:
            parameters.append(_help_all(shown))
        help = settings.pop("help", None) or function.__doc__
        made = Command(name, callback=call, params=parameters, help=help, epilog_of=listing, **settings)
        if group is not None:
            group.add_command(made)
        return made

    return decorate
