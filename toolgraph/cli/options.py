"""Options that several commands share, each spelled with underscores and with dashes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from toolgraph.errors import UsageError

Function = TypeVar("Function", bound=Callable[..., Any])
Decorator = Callable[[Function], Function]

PATH = click.Path(path_type=Path)


def option(name: str, *more: str, **settings: Any) -> Callable[[Function], Function]:
    """An option called `--some_name` and `--some-name` (and `more`), its default shown in the help."""
    settings.setdefault("show_default", settings.get("default") is not None)
    spellings = dict.fromkeys([f"--{name}", f"--{name.replace('_', '-')}"])
    return click.option(*spellings, *more, name, **settings)


def flag(name: str, text: str, *, default: bool = False) -> Callable[[Function], Function]:
    """A true/false option that takes its value, as the published scripts write it; bare means true."""
    return option(name, type=bool, default=default, is_flag=False, flag_value=True, help=text)


def together(*decorators: Callable[[Any], Any]) -> Callable[[Function], Function]:
    """Several options as one decorator, in the given order."""

    def decorate(function: Function) -> Function:
        for decorator in reversed(decorators):
            function = decorator(function)
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
            "extra_body", type=PATH, default=None, help="A JSON file with more fields of the request body."
        ),
    )


def model(*, temperature: float, top_p: float) -> Callable[[Function], Function]:
    """Who is asked, where and how."""
    return together(
        option("llm", default="gpt-4", help="A served model, or 'offline': no server, no key, no download."),
        server(),
        option("temperature", type=float, default=temperature),
        option("top_p", type=float, default=top_p),
        option("multiworker", type=click.IntRange(1), default=1, help="Requests in flight."),
    )


def with_model_options(settings: dict[str, Any]) -> dict[str, Any]:
    """`settings` with the flags of the server made one `options`; the environment and `.env` are read."""
    from dotenv import load_dotenv

    from toolgraph.files import read_json
    from toolgraph.models import ModelOptions

    try:
        load_dotenv(Path(".env"))
    except UnicodeDecodeError:
        raise UsageError("not UTF-8 text", file=".env", fix="save it as UTF-8") from None
    extra_body: Path | None = settings.pop("extra_body")
    extra = read_json(extra_body) if extra_body else {}
    if not isinstance(extra, dict):
        raise UsageError("is not an object", file=extra_body, fix='write {"field": value}')
    server = {name: settings.pop(name) for name in ("api_base", "api_addr", "api_port", "api_key")}
    return {
        **settings,
        "options": ModelOptions(**server, connections=settings["multiworker"], extra_body=extra),
    }


def parsed_weights(settings: dict[str, Any]) -> dict[str, Any]:
    """`settings` with the texts of the weights read."""
    from toolgraph.sampling import parse_weights

    for name in ("shape_weights", "size_weights"):
        text = settings[name]
        settings[name] = parse_weights(text, flag=f"--{name}") if text else None
    return settings
