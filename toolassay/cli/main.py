"""The console command, and how any command is run: errors in one line, exit codes as documented."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from keyword import iskeyword

import click

from toolassay.benchmarks.benchmark import Entry
from toolassay.benchmarks.registry import benchmarks
from toolassay.cli.screen import quietly
from toolassay.errors import ToolassayError
from toolassay.version import __version__

COMMANDS = {
    "graph": "Build the tool graph: tool_desc.json -> graph_desc.json.",
    "visualize": "Draw the tool graph: PNG, PDF and a page to explore.",
    "sample": "Show and draw sampled subgraphs, without a model.",
    "generate": "Write requests with gold plans for sampled subgraphs.",
    "format": "Turn generated samples into a data set.",
    "check": "Send a data set through the gates: pass, quarantine, reject, each with its reason.",
    "variety": "Say how varied a data set is: repeats, wording, tools, links, sizes and shapes.",
    "review": "People look at the samples: a page, sheets, agreement, the reviewed set.",
    "split": "Training, development and test samples, without repeats across them.",
    "export": "Write gold for training and sharing: Parquet, chats with tool calls, JSON Lines.",
    "infer": "Ask a model for the plan of every request.",
    "evaluate": "Score predictions.",
    "compare": "Say which of two models is better, and how sure that is.",
    "pipeline": "From tools to scores in a row: graph to evaluate.",
    "serve": "Answer as a model server on this machine, offline; with faults if asked.",
    "leaderboard": "Models side by side.",
    "report": "Models on several benchmarks: cost, latency, accuracy, stability, security.",
    "verify": "Compare predictions and scores with a run's raw answers.",
    "import": "Make a data folder of a published data set.",
}

QUIET = frozenset({"--quiet", "-q"})
EVERYWHERE = (
    "Everywhere: --debug shows where an error came from; --quiet (-q) leaves results and warnings; "
    "--some-option is --some_option."
)

RESUME = "interrupted; the same command continues where this one stopped"
_CONTINUED = ("generate", "check", "infer", "pipeline")


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
    """Turn your tools into a benchmark, and see which model to trust with them.

    Every stage takes --debug to show where an error came from, and --quiet (-q) to say nothing but results,
    warnings and errors.
    """


def _every() -> dict[str, str]:
    """The help of each command: those of this package, then those of the benchmarks."""
    return COMMANDS | {name: entry.help for name, entry in _entries().items()}


def _entries() -> dict[str, Entry]:
    return {name: entry for one in benchmarks() for name, entry in one.commands.items()}


def load(name: str) -> click.Command:
    """The command of a stage, or one that a benchmark brings."""
    if name in COMMANDS:
        module = f"{name}_" if iskeyword(name) else name
        command = import_module(f"toolassay.cli.{module}").command
    else:
        command = _entries()[name].load()
    assert isinstance(command, click.Command)
    if EVERYWHERE not in (command.epilog or ""):
        command.epilog = f"{command.epilog}\n\n{EVERYWHERE}" if command.epilog else EVERYWHERE
    return command


def main() -> None:
    """Run `toolassay`."""
    sys.exit(run(cli, sys.argv[1:], "toolassay"))


def run_script(stage: str) -> None:
    """Run one stage as a script of its own."""
    sys.exit(run(load(stage), sys.argv[1:], sys.argv[0]))


def _is_continued(command: click.Command, arguments: Sequence[str]) -> bool:
    """Whether a command begins where it stopped."""
    typed = " ".join(arguments if command is cli else [str(command.name), *arguments])
    continued = (*_CONTINUED, *(line for entry in _entries().values() for line in entry.continued))
    return any(f"{typed} ".startswith(f"{name} ") for name in continued)


def run(command: click.Command, arguments: Sequence[str], name: str) -> int:
    """Run a command; the exit code.

    Errors are one line on stderr; `--debug` shows where they came from. `--quiet` leaves results, warnings
    and errors. Both may stand anywhere.
    """
    debug, quiet = "--debug" in arguments, not QUIET.isdisjoint(arguments)
    arguments = [argument for argument in arguments if argument not in {"--debug", *QUIET}]
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
        click.echo(f"error: {message} ({asked} --help says more)", err=True)
        return error.exit_code
    except (click.Abort, KeyboardInterrupt) as stop:
        words = RESUME if _is_continued(command, arguments) else "interrupted"
        click.echo(f"\n{str(stop.__cause__ or stop) or words}", err=True)
        return 130
    except ToolassayError as error:
        if debug:
            raise
        click.echo(f"error: {error}", err=True)
        return error.exit_code
    except BrokenPipeError:
        # Whoever read the results has left; flushing at exit would complain once more.
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
            f"error: {type(error).__name__}: {words} (a fault of ours: run with --debug and report it)",
            err=True,
        )
        return 1
