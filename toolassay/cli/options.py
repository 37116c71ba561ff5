"""Options that several commands share, and the layout of help pages.

Every option is accepted with underscores or dashes (`main.load`): `--data_dir` and `--data-dir` are the same.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from toolassay.benchmarks.registry import default_benchmark
from toolassay.cli.screen import say
from toolassay.console.screen import WARNING
from toolassay.errors import UsageError
from toolassay.models.options import DOTENV
from toolassay.models.structured_output import Structured

_PREFIXES = ("OPENAI_", "AZURE_OPENAI_", "ANTHROPIC_API_KEY")


def load_environment() -> None:
    """Take variables that the environment lacks from `.env` in the current folder.

    The folder may be another person's. So the file sets only variables of OpenAI's SDK, no proxy and no
    certificate; an endpoint list may name others as its keys. `ModelOptions.check_sources` checks them.

    Raises:
        UsageError: The file is not UTF-8, or copies a variable of the environment.
    """
    from dotenv import dotenv_values

    path = Path(".env")
    if not path.is_file():
        return
    try:
        written, filled = (dotenv_values(path, interpolate=filled) for filled in (False, True))
    except UnicodeDecodeError:
        raise UsageError("not UTF-8 text", file=path, fix="save it as UTF-8") from None
    for name, value in written.items():
        if value and os.environ.get(name) in (None, DOTENV.get(name)):  # not set, or by an earlier call
            DOTENV[name] = value
            if not name.startswith(_PREFIXES):
                continue
            if filled[name] != value:
                raise UsageError(
                    f"{name} refers to another variable", file=path, fix="write the value itself"
                )
            os.environ[name] = value


class CommandGroup(click.Group):
    """`click.Group`, except that its help shows the first paragraph of each command in full."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands with the first paragraph of each one's help."""
        commands = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        rows = [
            (name, " ".join((command.help or "").partition("\n\n")[0].split()))
            for name, command in commands.items()
            if command is not None
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


class SectionedCommand(click.Command):
    """A command whose help groups its options by their `section`."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options by section; sections appear in the order of their first option."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                sections.setdefault(getattr(parameter, "section", "") or "Options", []).append(record)
        for name, records in sections.items():
            with formatter.section(name):
                formatter.write_dl(records)


def listing(title: str, text: Callable[[], str]) -> type[SectionedCommand]:
    """The class of a command whose help ends with what is registered, which is looked up only for the help.

    Args:
        title: Title of the section.
        text: Gives its text.
    """

    class Listing(SectionedCommand):
        def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
            with formatter.section(title):
                formatter.write_text(text())
            super().format_epilog(ctx, formatter)

    return Listing


Function = TypeVar("Function", bound=Callable[..., Any])
Decorator = Callable[[Function], Function]

LLM = "gpt-4"
"""Default of `--llm`, as in the published scripts."""


class _Path(click.Path):
    """A path to anything but a pipe, a socket or a device, which a command would wait for or replace."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path = super().convert(value, param, ctx)
        assert isinstance(path, Path)
        if path.exists() and not (path.is_file() or path.is_dir()):
            self.fail(f"{path} is a pipe or a device: write a file, and name it", param, ctx)
        return path


PATH = _Path(path_type=Path)


class FloatRange(click.FloatRange):
    """`click.FloatRange` that also rejects `nan`, which compares false with every bound."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Parse a number and check that it is in the range and not `nan`."""
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is not a number", param, ctx)
        return number


def option(name: str, text: str = "", *more: str, **settings: Any) -> Callable[[Function], Function]:
    """An option.

    Args:
        name: Name of the parameter, with underscores.
        text: Its help.
        more: Further flags with the same meaning, e.g. `-m`.
        settings: Passed to `click.option`. The default is shown in the help unless it is None.
    """
    settings = {"help": text, "show_default": settings.get("default") is not None, **settings}
    return click.option(f"--{name}", *more, name, **settings)


def path(name: str, text: str, *more: str, **settings: Any) -> Callable[[Function], Function]:
    """An option whose value is a path."""
    return option(name, text, *more, type=PATH, **settings)


def count(name: str, text: str, *more: str, **settings: Any) -> Callable[[Function], Function]:
    """An option whose value is a whole number from 1."""
    return option(name, text, *more, type=click.IntRange(1), **settings)


def choice(
    name: str, values: Sequence[str], text: str, *more: str, **settings: Any
) -> Callable[[Function], Function]:
    """An option whose value is one of some texts."""
    return option(name, text, *more, type=click.Choice(values), **settings)


def models(name: str, text: str, **settings: Any) -> Callable[[Function], Function]:
    """An option with the name of a model that may be repeated."""
    settings.setdefault("metavar", "LLM")
    return option(name, f"{text}; may be repeated.", multiple=True, **settings)


def flag(name: str, text: str, *more: str, default: bool = False) -> Callable[[Function], Function]:
    """A true/false option: `--name` and `--name true` mean true, as in the published scripts."""
    return option(name, text, *more, type=bool, default=default, is_flag=False, flag_value=True)


def names(*lists: str) -> list[str]:
    """Split comma-separated lists of names; empty names are dropped.

    >>> names("Ann, Zoë,", "Bob")
    ['Ann', 'Zoë', 'Bob']
    """
    return [name.strip() for text in lists for name in text.split(",") if name.strip()]


def together(*decorators: Callable[[Any], Any]) -> Callable[[Function], Function]:
    """Combine several options into one decorator; the help lists them in the given order."""

    def decorate(function: Function) -> Function:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


def section(title: str, *decorators: Callable[[Any], Any]) -> Callable[[Function], Function]:
    """Combine several options into one decorator that lists them under `title` (`SectionedCommand`)."""

    def decorate(function: Function) -> Function:
        known = len(getattr(function, "__click_params__", ()))
        function = together(*decorators)(function)
        for parameter in function.__click_params__[known:]:  # type: ignore[attr-defined]
            parameter.section = title
        return function

    return decorate


# `--prediction_dir` of commands that read predictions.
prediction_dir = path(
    "prediction_dir",
    "Prediction folder, in the data folder or else relative to the current one; if there is no folder "
    "predictions, the default is that of another way of asking, e.g. predictions_tools.",
    default="predictions",
)

# `--port` and `--open` of a page on loopback.
page = together(
    option("port", "Port of the page on 127.0.0.1; 0: any free.", type=click.IntRange(0, 65535), default=0),
    flag("open_browser", "Open the page in the browser.", "--open"),
)


def threshold(default: float | None = 0.6) -> Callable[[Function], Function]:
    """`--threshold` of near duplicates."""
    text = "Similarity from which two requests are near duplicates, 0.2 to 1 [default: 0.6]."
    return option("threshold", text, type=float, default=default, show_default=False)


# `--metrics_dir` of commands that read scores.
metrics_dir = path(
    "metrics_dir", "Metrics folder [default: as --prediction_dir, with metrics for predictions]."
)

# `--data_dir`, by default the folder of the default benchmark.
data_dir = path("data_dir", "Data folder.", default=default_benchmark().about.default_folder)

dependency_type = option(
    "dependency_type",
    "What a link means. resource: an output type of one tool is an input type of the other; "
    "temporal: any order; schema: a result of one tool can fill an argument of the other "
    "[default: the one in benchmark.json, else by what the tools declare].",
    metavar="resource|temporal|schema",
)


def _checked_engine(context: click.Context, parameter: click.Parameter, text: str | None) -> str | None:
    from toolassay.engines import check_engine

    if text is not None:
        check_engine(text)
    return text


engine = option(
    "engine",
    "Where the work is done: N processes of this machine, or the workers of a Dask cluster. The "
    "output is the same. dask://HOST:PORT?files=s3://BUCKET/FOLDER sends the data to the workers.",
    callback=_checked_engine,
    metavar="local:N|dask://HOST:PORT",
)

prompt = choice(
    "prompt",
    ["default", "example"],
    "Built-in prompt. 'example' shows a short worked example instead of placeholders, for small models.",
    default="default",
)

seed = option("seed", "Random seed; -1 draws one, prints it and records it.", type=int, default=-1)

sampler_weights = together(
    option("shape_weights", "Relative frequency of each shape [default: single=3,chain=7,dag=8]."),
    option("size_weights", "Relative frequency of each number of tools, e.g. 2=0.1,3=0.2,4=0.3."),
)

by_score = flag(
    "by_score",
    "In a schema graph, draw links in proportion to their scores; false: all links are equally likely.",
    default=True,
)

cover = together(
    choice(
        "cover",
        ["tools", "edges"],
        "Steer the sampling so that every tool, or every edge, occurs in samples where possible; "
        "sets the default number of samples.",
    ),
    count("at_least", "With --cover: in how many samples [default: 1].", default=1),
)

# `--until`, followed by "passed" or not.
until = together(
    count(
        "until",
        "Go on until N samples pass the gates, within the limits; with --cover until passing "
        "samples have each tool or edge.",
        metavar="N passed",
    ),
    click.argument("passed", nargs=-1, type=click.Choice(["passed"]), metavar="", expose_value=False),
)

# Address, credentials, client and time-outs of the server that answers for served models.
server = together(
    option("api_addr", "Host of an OpenAI-compatible server [default: localhost]."),
    option("api_port", "Port of the server [default: 4000].", type=click.IntRange(1, 65535)),
    option(
        "api_base",
        "Base URL of the server, e.g. https://host/v1; replaces --api_addr and --api_port. "
        "[default: OPENAI_BASE_URL].",
    ),
    option("api_key", "API key. Never stored. Prefer OPENAI_API_KEY, in the environment or in a .env file."),
    choice(
        "api",
        ["chat", "responses", "messages"],
        "API of the server: OpenAI's Chat Completions or Responses, or Anthropic's Messages, whose "
        "key is ANTHROPIC_API_KEY [default: by the address, else chat].",
    ),
    path(
        "extra_body",
        "JSON file with additional fields of the request body; null omits a parameter that would be "
        'sent by default, e.g. {"presence_penalty": null}.',
    ),
    path("extra_headers", "JSON file with additional HTTP headers."),
    choice(
        "client",
        ["aiohttp", "openai"],
        "HTTP client. 'openai' is OpenAI's SDK, for proxies and Azure (AZURE_OPENAI_ENDPOINT).",
        default="aiohttp",
    ),
    flag("stream", "Stream answers token by token; also measures the time to the first token."),
    count(
        "max_tries",
        "Maximum attempts per request. The count restarts after a 429 while the server answers "
        "other requests.",
        default=8,
    ),
    option(
        "timeout",
        "Seconds without a byte from the server after which an attempt ends.",
        type=FloatRange(0, min_open=True),
        default=600.0,
    ),
    option(
        "total_timeout",
        "Maximum seconds of one attempt.",
        type=FloatRange(0, min_open=True),
        default=3600.0,
    ),
)


def model(*, temperature: float, top_p: float) -> Callable[[Function], Function]:
    """`--llm`, the options of its server, and the sampling parameters with the given defaults."""
    return together(
        option(
            "llm",
            "Name of a served model, or a built-in model that needs no server: offline, or one of the "
            "baselines nothing and random.",
            default=LLM,
        ),
        server,
        option("temperature", f"Sampling temperature, 0 or more [default: {temperature}].", type=float),
        option("top_p", f"Nucleus sampling probability, 0 to 1 [default: {top_p}].", type=float),
    )


batch = together(
    choice(
        "batch",
        ["openai", "vllm"],
        "Send all requests as a batch. openai: by the server's Batch API, at half the price, within "
        "a day; vllm: a file for vLLM's run_batch, which you run; then repeat the command.",
    ),
    flag(
        "batch_cancel",
        "With --batch: cancel the open batches of the run, keep what they have answered, submit nothing.",
    ),
)


def max_tokens(default: str) -> Callable[[Function], Function]:
    """`--max_tokens`; the help shows `default` as the value that is sent without the option."""
    return count(
        "max_tokens", f"Maximum tokens of an answer, reasoning included [default: {default}].", metavar="N"
    )


def multiworker(*more: str) -> Callable[[Function], Function]:
    """`--multiworker`; `more` are further flags with the same meaning."""
    return option(
        "multiworker",
        "Maximum concurrent requests [default: adaptive].",
        *more,
        type=click.IntRange(1),
        default=None,
    )


dry_run = flag("dry_run", "Show what would be sent and its estimated cost. Sends and writes nothing.")


def structured(default: Structured | None, text: str) -> Decorator[Any]:
    """`--structured`: "auto", true or false; bare means true."""
    return option(
        "structured",
        text,
        type=_StructuredType(),
        default=default,
        is_flag=False,
        flag_value="true",
        metavar="auto|true|false",
    )


class _StructuredType(click.ParamType[Structured]):
    name = "structured"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Structured:
        if value == "auto":
            return "auto"
        try:
            return bool(click.BOOL.convert(value, param, ctx))
        except click.BadParameter:
            self.fail(f"{value!r} is not one of auto, true, false", param, ctx)


def typed() -> tuple[str, ...]:
    """The command line of this call, for the manifest."""
    command: tuple[str, ...] = click.get_current_context().find_root().obj
    return command


# Files that say how far critics agree with labels (`--calibration`).
calibration = path(
    "calibration",
    "calibration.json of `toolassay critic --calibrate` for a critic; stated beside the result.",
    multiple=True,
)


def budget(over_all: str = "for the whole run, earlier starts included") -> Callable[[Function], Function]:
    """The limits of a run (`--max_cost`, `--max_tokens_total`, `--max_requests`) and `--prices`.

    Args:
        over_all: What the limits are summed over, as the help says it.
    """
    return together(
        option("max_cost", f"Maximum cost in US dollars, {over_all}.", type=FloatRange(0)),
        count("max_tokens_total", f"Maximum tokens, {over_all}."),
        count("max_requests", f"Maximum requests, {over_all}."),
        path("prices", "CSV table of prices; takes precedence over the prices of genai-prices."),
    )


def with_budget(settings: dict[str, Any]) -> dict[str, Any]:
    """Replace the three limits in `settings` by one `budget`."""
    from toolassay.runs import Budget

    names = {"max_cost": "cost", "max_tokens_total": "tokens", "max_requests": "requests"}
    limits = {name: settings.pop(flag) for flag, name in names.items()}
    return {**settings, "budget": Budget(**limits)}


def with_model_options(settings: dict[str, Any]) -> dict[str, Any]:
    """Replace the options of `server` in `settings` by one `options`; reads the environment and `.env`.

    Raises:
        UsageError: A file is not a JSON object, or the address is a list.
    """
    from toolassay.models import ModelOptions

    load_environment()
    body, headers = _fields(settings.pop("extra_body")), _fields(settings.pop("extra_headers"))
    names = ("api_base", "api_addr", "api_port", "api_key", "api", "client", "stream", "max_tries")
    server = {name: settings.pop(name) for name in (*names, "timeout", "total_timeout")}
    server["batch"] = settings.pop("batch", None)
    options = ModelOptions(
        **server, extra_body=body, extra_headers=headers, connections=settings["multiworker"]
    )
    if options.api_key:
        say(
            f"{WARNING}every user of this machine can read --api_key in the list of processes: "
            f"set {options.key_variable} instead, or write it to a .env file"
        )
    if options.names_a_request:
        say(f"the address ends in the path of a request, which is dropped: requests go to {options.endpoint}")
    unset = [name for name in ("temperature", "top_p") if settings.get(name, 0) is None]
    return {**{name: settings[name] for name in settings if name not in unset}, "options": options}


def _fields(path: Path | None) -> dict[str, Any]:
    """The object in a JSON file; an empty dict for None."""
    from toolassay.files.data_files import read_json

    value = read_json(path) if path else {}
    if not isinstance(value, dict):
        raise UsageError("the file is not a JSON object", file=path, fix='write {"field": value}')
    return value


def parsed_weights(settings: dict[str, Any]) -> dict[str, Any]:
    """Parse the values of `--shape_weights` and `--size_weights` in `settings`."""
    from toolassay.sampling import parse_weights

    for name in ("shape_weights", "size_weights"):
        text = settings[name]
        settings[name] = parse_weights(text, flag=f"--{name}") if text else None
    return settings
