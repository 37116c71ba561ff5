"""The `toolassay` command; errors are printed in one line, with the documented exit codes."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import NoReturn

import click

from toolassay.benchmarks.benchmark import Entry
from toolassay.benchmarks.registry import benchmarks
from toolassay.cli.screen import quietly
from toolassay.errors import CALLER, ToolassayError
from toolassay.screen import CleanStream
from toolassay.version import __version__

COMMANDS = {
    "graph": "Build the tool graph: tool_desc.json -> graph_desc.json.",
    "visualize": "Draw the tool graph as PNG, PDF and an interactive HTML page.",
    "sample": "Print and draw sampled subgraphs, without a model.",
    "generate": "Generate requests with gold plans for sampled subgraphs.",
    "format": "Convert generated samples to a data set.",
    "release": "Make the generated samples that pass the gates the data set of the folder.",
    "execute": "Execute plans on an MCP server, Python functions, a workplace or a simulator.",
    "check": "Check the quality of a data set: each sample passes, is quarantined or is rejected.",
    "critic": "Compare a critic with people on judged samples: precision, recall, kappa by question.",
    "variety": "Measure the diversity of a data set: duplicates, wording, tools, links, sizes, shapes.",
    "review": "Review samples by hand, on a web page or in spreadsheets, and measure agreement.",
    "split": "Split samples into train, dev and test, without duplicates across splits.",
    "export": "Export gold plans for training and sharing: Parquet, chats with tool calls, JSON Lines.",
    "infer": "Run a model on every item of a data folder.",
    "evaluate": "Score predictions.",
    "compare": "Test whether the scores of two models differ significantly.",
    "pipeline": "Run all stages from graph to evaluate.",
    "serve": "Serve the offline model over HTTP, optionally with injected faults.",
    "leaderboard": "Rank the models of a data folder.",
    "report": "Decide which model may be trusted: verdict, ranking, requirements, every item on a page.",
    "view": "Show the report's page in the browser, up to date while models run.",
    "verify": "Recompute predictions and scores from the raw answers and report differences.",
    "export-tools": "Write the tools of a data folder for a model API, or as an MCP listing.",
    "import": "Import your tools (MCP, OpenAPI, lists, Python), or a published data set.",
}

# The file of each command, so that a command imports only what its file needs.
_FILES = {
    "tools": ("import", "export-tools", "graph", "visualize", "sample"),
    "data_set": ("check", "critic", "variety", "review", "split", "export"),
    "generate": ("generate", "format", "release", "pipeline"),
    "models": ("infer", "execute", "serve"),
    "scores": ("evaluate", "compare", "verify", "leaderboard", "report", "view"),
}


QUIET = frozenset({"--quiet", "-q"})
EVERYWHERE = (
    "All commands: --debug shows the traceback of an error; --quiet (-q) prints only results, warnings and "
    "errors; --some-option equals --some_option."
)

RESUME = "interrupted; the same command continues the run"
_CONTINUED = ("generate", "release", "check", "execute", "infer", "pipeline")


class _Stages(click.Group):
    """Commands that are imported only when they are run; `--help` imports none."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_every())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return load(cmd_name) if cmd_name in _every() else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            near = get_close_matches(args[0], _every(), n=1)
            if near:
                raise click.UsageError(f"{error.message} Did you mean '{near[0]}'?", ctx) from error
            raise

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Stages, in order"):
            formatter.write_dl(list(_every().items()))


@click.group(cls=_Stages, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="toolassay")
def cli() -> None:
    """Turn your tools into a benchmark and measure which model to trust with them.

    Every command accepts --debug, which shows the traceback of an error, and --quiet (-q), which prints only
    results, warnings and errors.
    """


def _every() -> dict[str, str]:
    """The commands and their help lines: those of this package, then those of the benchmarks."""
    return COMMANDS | {name: entry.help for name, entry in _entries().items()}


def _entries() -> dict[str, Entry]:
    return {name: entry for one in benchmarks() for name, entry in one.entries.commands.items()}


def load(name: str) -> click.Command:
    """Import a command of this package or of a benchmark; `EVERYWHERE` is added to its help."""
    if name in COMMANDS:
        file = next(file for file, names in _FILES.items() if name in names)
        command = getattr(import_module(f"toolassay.cli.{file}"), f"{name.replace('-', '_')}_command")
    else:
        command = _entries()[name].load()
    assert isinstance(command, click.Command)
    command.context_settings["token_normalize_func"] = lambda name: name.replace("-", "_")
    if EVERYWHERE not in (command.epilog or ""):
        command.epilog = f"{command.epilog}\n\n{EVERYWHERE}" if command.epilog else EVERYWHERE
    return command


def main() -> None:
    """Run `toolassay`."""
    _run_process(cli, "toolassay")


def run_script(stage: str) -> None:
    """Run one command as a separate script, e.g. `inference.py`."""
    _run_process(load(stage), sys.argv[0])


def _run_process(command: click.Command, name: str) -> NoReturn:
    for one in _ENDING:
        if signal.getsignal(one) == signal.SIG_DFL:
            signal.signal(one, _end)
    sys.stdout, sys.stderr = CleanStream(sys.stdout), CleanStream(sys.stderr)
    sys.exit(run(command, sys.argv[1:], name))


class _Ended(KeyboardInterrupt):
    """SIGTERM or SIGHUP, which ends a command as Ctrl-C does, so that its temporary files are removed."""

    exit_code = 128


# SIGHUP, of a terminal that is closed, is unknown to Windows.
_ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


def _end(number: int, frame: object) -> None:
    for one in _ENDING:
        signal.signal(one, signal.SIG_IGN)  # `timeout` and terminals send it twice
    error = _Ended()
    error.exit_code += number
    raise error


def _is_continued(command: click.Command, arguments: Sequence[str]) -> bool:
    """Whether the same command line continues an interrupted run."""
    typed = " ".join(arguments if command is cli else [str(command.name), *arguments])
    continued = (*_CONTINUED, *(line for entry in _entries().values() for line in entry.continued))
    return any(f"{typed} ".startswith(f"{name} ") for name in continued)


def run(command: click.Command, arguments: Sequence[str], name: str) -> int:
    """Run a command and return its exit code.

    An error is printed as one line on stderr. `--debug` raises it instead. `--quiet` suppresses everything
    but results, warnings and errors. Both flags may be at any position.

    Args:
        command: The command or the group.
        arguments: Command line without the program name.
        name: Program name for usage messages.
    """
    debug, quiet = "--debug" in arguments, not QUIET.isdisjoint(arguments)
    arguments = [argument for argument in arguments if argument not in {"--debug", *QUIET}]
    caller = CALLER.set("command" if command is cli else "script")
    try:
        with quietly(quiet):
            result = command.main(arguments, prog_name=name, standalone_mode=False, obj=(name, *arguments))
        return result if isinstance(result, int) else 0
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return error.exit_code
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        asked = context.command_path if context is not None else name
        message = " ".join(error.format_message().split())
        click.echo(f"error: {message} (see {asked} --help)", err=True)
        return error.exit_code
    except (click.Abort, KeyboardInterrupt) as stop:
        words = RESUME if _is_continued(command, arguments) else "interrupted"
        click.echo(f"\n{str(stop.__cause__ or stop) or words}", err=True)
        return getattr(stop.__cause__ or stop, "exit_code", 130)  # click raises `Abort` from it
    except ToolassayError as error:
        if debug:
            raise
        click.echo(f"error: {error}", err=True)
        return error.exit_code
    except BrokenPipeError:
        # The reader of stdout, e.g. `head`, has exited. Without this, flushing at exit would raise again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        if debug:
            raise
        place = f"{error.filename}: " if error.filename else ""
        reason = error.strerror or type(error).__name__
        click.echo(f"error: {place}{reason}. Fix: check the path, its permissions and the space", err=True)
        return 1
    except Exception as error:
        if debug:
            raise
        words = " ".join(str(error).split())[:300]
        click.echo(
            f"error: {type(error).__name__}: {words} (a bug in toolassay: run with --debug and report it)",
            err=True,
        )
        return 1
    finally:
        CALLER.reset(caller)
