"""What several commands share: their data folder, the server of their models, the command line of a run."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import click

from toolassay.benchmarks.registry import default_benchmark
from toolassay.cli.screen import say
from toolassay.console.screen import WARNING
from toolassay.declarations import Option
from toolassay.errors import CALLER, UsageError
from toolassay.models.options import DOTENV, ModelOptions
from toolassay.runs.settings import ModelSettings

DEFAULT_FOLDER = Path(default_benchmark().about.default_folder)
DataDir = Annotated[Path, Option("Data folder.", command_default=DEFAULT_FOLDER, common=True)]
GivenDataDir = Annotated[Path, Option("The data folder.", common=True)]
Out = Annotated[Path, Option("Output folder.", common=True)]
ToolDesc = Annotated[Path | None, Option("Tool file [default: DATA_DIR/tool_desc.json].", common=True)]
GraphDesc = Annotated[Path | None, Option("Graph file [default: DATA_DIR/graph_desc.json].")]
Force = Annotated[bool, Option("Restart a run whose settings differ, and replace files that were edited.")]
Predictions = Annotated[str, Option("Folder of the predictions.")]
PASSED = click.Argument(["passed"], nargs=-1, type=click.Choice(["passed"]), metavar="", expose_value=False)
"""The word after `--until N`."""

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
        """Write the list of commands."""
        with formatter.section("Commands"):
            formatter.write_dl(self.help_rows(ctx))

    def help_rows(self, ctx: click.Context) -> list[tuple[str, str]]:
        """Each command with the first paragraph of its help."""
        commands = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        return [
            (name, " ".join((command.help or "").partition("\n\n")[0].split()))
            for name, command in commands.items()
            if command is not None
        ]


def typed() -> tuple[str, ...]:
    """The command line of this call, for the manifest."""
    command: tuple[str, ...] = click.get_current_context().find_root().obj
    return command


def connected(options: ModelOptions | None) -> ModelOptions:
    """The options of a server, with the environment and `.env`; notices say what is risky or dropped.

    Raises:
        UsageError: `.env` is malformed.
    """
    load_environment()
    options = options or ModelOptions()
    if (options.api_addr or options.api_port) and CALLER.get() == "command":
        say("--api_addr and --api_port are --api_base now")  # they stay flags of the published scripts
    if options.api_key:
        say(
            f"{WARNING}every user of this machine can read --api_key in the list of processes: "
            f"set {options.key_variable} instead, or write it to a .env file"
        )
    if options.names_a_request:
        say(f"the address ends in the path of a request, which is dropped: requests go to {options.endpoint}")
    return options


def served(model: ModelSettings) -> ModelSettings:
    """A model with the options of its server (`connected`)."""
    return replace(model, options=connected(model.options))
