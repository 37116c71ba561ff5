"""Options that several commands share, spelled with underscores or dashes, and the layout of their help."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from toolassay.cli.dotenv_file import load_environment
from toolassay.cli.screen import say
from toolassay.errors import UsageError
from toolassay.models.structured_output import Structured
from toolassay.screen import WARNING


class CommandGroup(click.Group):
    """As click's, but its list of commands cuts no sentence off."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands with the first paragraph of their help."""
        rows = [
            (name, " ".join((command.help or "").partition("\n\n")[0].split()))
            for name, command in self.commands.items()
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


class SectionedOption(click.Option):
    """An option that help shows in one spelling, and in the section it was put in.

    Attributes:
        section: of the help; empty for the one that every command has.
    """

    section = ""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """As click's, without the spelling with dashes."""
        spellings = self.opts
        dashed = {f"--{name[2:].replace('_', '-')}" for name in spellings if "_" in name}
        self.opts = [name for name in spellings if name not in dashed]
        try:
            return super().get_help_record(ctx)
        finally:
            self.opts = spellings


class SectionedCommand(click.Command):
    """A command whose help has its options in sections."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options by section, in the order in which sections begin."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                sections.setdefault(getattr(parameter, "section", "") or "Options", []).append(record)
        for name, records in sections.items():
            with formatter.section(name):
                formatter.write_dl(records)


Function = TypeVar("Function", bound=Callable[..., Any])
Decorator = Callable[[Function], Function]

LLM = "gpt-4"
"""The model of every command that takes one."""
PATH = click.Path(path_type=Path)


class FloatRange(click.FloatRange):
    """click's, without `nan`, which no range excludes."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """A number in the range."""
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is not a number", param, ctx)
        return number


def option(name: str, *more: str, **settings: Any) -> Callable[[Function], Function]:
    """An option called `--some_name` and `--some-name` (and `more`), its default shown in the help.

    The help shows the first spelling.
    """
    settings.setdefault("show_default", settings.get("default") is not None)
    spellings = dict.fromkeys([f"--{name}", f"--{name.replace('_', '-')}"])
    settings.setdefault("cls", SectionedOption)
    return click.option(*spellings, *more, name, **settings)


def flag(name: str, text: str, *, default: bool = False) -> Callable[[Function], Function]:
    """A true/false option that takes its value, as the published scripts write it; bare means true."""
    return option(name, type=bool, default=default, is_flag=False, flag_value=True, help=text)


def names(*lists: str) -> list[str]:
    """The names in lists that were typed with commas between.

    >>> names("Ann, Zoë,", "Bob")
    ['Ann', 'Zoë', 'Bob']
    """
    return [name.strip() for text in lists for name in text.split(",") if name.strip()]


def together(*decorators: Callable[[Any], Any]) -> Callable[[Function], Function]:
    """Several options as one decorator, in the given order."""

    def decorate(function: Function) -> Function:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


def section(title: str, *decorators: Callable[[Any], Any]) -> Callable[[Function], Function]:
    """Several options as one decorator, in a section of the help (of a `group.Command`)."""

    def decorate(function: Function) -> Function:
        known = len(getattr(function, "__click_params__", ()))
        function = together(*decorators)(function)
        for parameter in function.__click_params__[known:]:  # type: ignore[attr-defined]
            parameter.section = title
        return function

    return decorate


def dependency_type() -> Callable[[Function], Function]:
    """`--dependency_type`."""
    return option(
        "dependency_type",
        default=None,
        metavar="resource|temporal",
        help="What a link means; default: what benchmark.json says, else resource.",
    )


def prompt() -> Callable[[Function], Function]:
    """`--prompt`."""
    return option(
        "prompt",
        type=click.Choice(["published", "example"]),
        default="published",
        help="Built-in wording; example: a short worked example instead of placeholders, for small models.",
    )


def seed() -> Callable[[Function], Function]:
    """`--seed`."""
    return option("seed", type=int, default=-1, help="-1 draws one, prints it and records it.")


def sampler_weights() -> Callable[[Function], Function]:
    """`--shape_weights` and `--size_weights`."""
    return together(
        option("shape_weights", default=None, help="E.g. single=3,chain=7,dag=8 (the default)."),
        option("size_weights", default=None, help="Weights of numbers of tools, e.g. 2=0.1,3=0.2,4=0.3."),
    )


def server() -> Callable[[Function], Function]:
    """Where served models are."""
    return together(
        option("api_addr", default=None, help="Address of an OpenAI-compatible server [default: localhost]."),
        option("api_port", type=click.IntRange(1, 65535), default=None, help="Its port [default: 4000]."),
        option(
            "api_base", default=None, help="Its whole base URL, e.g. https://host/v1; or OPENAI_BASE_URL."
        ),
        option("api_key", default=None, help="Better OPENAI_API_KEY, or a .env file; never written down."),
        option(
            "extra_body",
            type=PATH,
            default=None,
            help="A JSON file with more fields of the request body; null omits one that would be sent by "
            'default, e.g. {"presence_penalty": null}.',
        ),
        option("extra_headers", type=PATH, default=None, help="A JSON file with more headers."),
        option(
            "client",
            type=click.Choice(["aiohttp", "openai"]),
            default="aiohttp",
            help="openai: its SDK, for hosted services and custom authentication.",
        ),
        option(
            "api_version",
            default=None,
            help="Azure's, e.g. 2024-10-21; with --client openai and --api_base or AZURE_OPENAI_ENDPOINT.",
        ),
        flag("stream", "Have answers sent token by token; shows the time to the first."),
        option(
            "max_tries",
            type=click.IntRange(1),
            default=8,
            help="Maximum tries for one request; counted again from 0 after a 429 while others are answered.",
        ),
        option(
            "timeout",
            type=FloatRange(0, min_open=True),
            default=600.0,
            help="Seconds without a byte that end one try (a stream that goes on is alive).",
        ),
        option(
            "total_timeout",
            type=FloatRange(0, min_open=True),
            default=3600.0,
            help="Seconds that end one try in any case.",
        ),
    )


def model(*, temperature: float, top_p: float) -> Callable[[Function], Function]:
    """Who is asked, where and how."""
    return together(
        option(
            "llm",
            default=LLM,
            help="A served model, or one without a server: offline; to compare with: nothing, random.",
        ),
        server(),
        option("temperature", type=float, default=temperature, help="From 0: how freely it answers."),
        option("top_p", type=float, default=top_p, help="From 0 to 1: the likely words it draws from."),
    )


def max_tokens(default: str) -> Callable[[Function], Function]:
    """`--max_tokens`; `default` says in words what is sent without it."""
    return option(
        "max_tokens",
        type=click.IntRange(1),
        default=None,
        metavar="N",
        help=f"Maximum tokens of an answer, thinking included [default: {default}].",
    )


def multiworker() -> Callable[[Function], Function]:
    """`--multiworker`."""
    return option(
        "multiworker",
        type=click.IntRange(1),
        default=None,
        help="Maximum concurrent requests [default: adaptive].",
    )


def dry_run() -> Callable[[Function], Function]:
    """`--dry_run`."""
    return flag("dry_run", "Show what would be sent, and what it may cost; nothing is sent or written.")


def allow_tools() -> Callable[[Function], Function]:
    """`--allow_tools`."""
    return flag("allow_tools", "WorkBench: run the tools that the folder brings; they are a program.")


def structured(default: Structured | None, text: str) -> Decorator[Any]:
    """`--structured`: "auto", true or false; bare means true."""
    return option(
        "structured",
        type=_StructuredType(),
        default=default,
        is_flag=False,
        flag_value="true",
        metavar="auto|true|false",
        help=text,
    )


class _StructuredType(click.ParamType[Structured]):
    name = "structured"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Structured:
        if value == "auto":
            return "auto"
        try:
            return bool(click.BOOL.convert(value, param, ctx))
        except click.BadParameter:
            self.fail(f"{value!r} is none of auto, true, false", param, ctx)


def with_published() -> Callable[[Function], Function]:
    """`--with_published`."""
    return option(
        "with_published",
        type=bool,
        default=None,
        is_flag=False,
        flag_value=True,
        help="CLASSic: published figures beside yours: true by domain too, false none [default: over all].",
    )


def typed() -> tuple[str, ...]:
    """What was typed, for the manifest."""
    command: tuple[str, ...] = click.get_current_context().find_root().obj
    return command


def budget(over_all: str = "for the whole run, earlier starts included") -> Callable[[Function], Function]:
    """What a run may use."""
    return together(
        option("max_cost", type=FloatRange(0), default=None, help=f"US dollars at most, {over_all}."),
        option("max_tokens_total", type=click.IntRange(1), default=None, help=f"Tokens at most, {over_all}."),
        option("max_requests", type=click.IntRange(1), default=None, help=f"Requests at most, {over_all}."),
        option("prices", type=PATH, default=None, help="A CSV table of prices; it goes before genai-prices."),
    )


def with_budget(settings: dict[str, Any]) -> dict[str, Any]:
    """`settings` with the limits made one `budget`."""
    from toolassay.runs import Budget

    names = {"max_cost": "cost", "max_tokens_total": "tokens", "max_requests": "requests"}
    limits = {name: settings.pop(flag) for flag, name in names.items()}
    return {**settings, "budget": Budget(**limits)}


def with_model_options(settings: dict[str, Any]) -> dict[str, Any]:
    """`settings` with the flags of the server made one `options`; the environment and `.env` are read."""
    from toolassay.models import ModelOptions

    load_environment()
    body, headers = _fields(settings.pop("extra_body")), _fields(settings.pop("extra_headers"))
    names = ("api_base", "api_addr", "api_port", "api_key", "client", "stream", "max_tries", "api_version")
    if settings["api_version"] and settings["client"] != "openai":
        raise UsageError("--api_version is for Azure", fix="add --client openai")
    if settings["api_key"]:
        say(
            f"{WARNING}--api_key can be read by every user of this machine, in its list of processes: "
            "better set OPENAI_API_KEY, or write it into a .env file"
        )
    server = {name: settings.pop(name) for name in (*names, "timeout", "total_timeout")}
    options = ModelOptions(
        **server, extra_body=body, extra_headers=headers, connections=settings["multiworker"]
    )
    if options.names_a_request:
        say(f"the address ends in the path of a request, which is left out: {options.endpoint} is asked")
    return {**settings, "options": options}


def _fields(path: Path | None) -> dict[str, Any]:
    """The object in a JSON file; an empty one without a file."""
    from toolassay.files import read_json

    value = read_json(path) if path else {}
    if not isinstance(value, dict):
        raise UsageError("is not an object", file=path, fix='write {"field": value}')
    return value


def parsed_weights(settings: dict[str, Any]) -> dict[str, Any]:
    """`settings` with the texts of the weights read."""
    from toolassay.sampling import parse_weights

    for name in ("shape_weights", "size_weights"):
        text = settings[name]
        settings[name] = parse_weights(text, flag=f"--{name}") if text else None
    return settings
