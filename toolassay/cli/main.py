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
from toolassay.cli.screen import quietly, say
from toolassay.console.screen import CleanStream
from toolassay.errors import CALLER, ToolassayError
from toolassay.files.data_files import package_data
from toolassay.version import __version__

_TABLE: dict[str, dict[str, str]] = package_data(__package__, "commands.json")
COMMANDS = {name: one["help"] for name, one in _TABLE.items()}


# Old names of commands, and what their command lines begin with now.
_RENAMED = {
    "critic": ("check",),
    "export-tools": ("export",),
    "leaderboard": ("report", "--only", "leaderboard"),
}
# Removed commands and flags, and what to use instead.
_REMOVED = {
    "convert": "use DuckDB: duckdb -c \"COPY (FROM 'data.json') TO 'data.parquet'\"",
    "--any_flag": "a conversation is left out if more than half of the annotators flag it",
    "--api_version": "set OPENAI_API_VERSION and AZURE_OPENAI_ENDPOINT",
    "--as_json": "the function `sample` returns the samples",
    "--bertscore_cache": "to compute scores again, delete toolassay/bertscore.sqlite3 in the cache folder",
    "--bertscore_backend": "omit it: the package bert-score computes BERTScore",
    "--bertscore_precision": "omit it: BERTScore runs in full precision",
    "--critic": "`graph` has --propose MODEL instead; `generate`, `release` and `check` have --critic",
    "--critic_band": "`graph` has --propose MODEL instead",
    "--critic_links": "`graph` has --propose MODEL instead",
    "--critics": "`toolassay check` sorts the samples by what critics found",
    "--insist": "the page saves a fix that the gates reject: toolassay review --data_dir DIR",
    "--materialise": "give --max_links a larger number",
    "--normalise_types": "call build_graph(normalise_types=False)",
    "--outage": "the fault `refused` lasts 1 second",
    "--pause": "the fault `drip` pauses 0.1 seconds",
}

QUIET = frozenset({"--quiet", "-q"})
EVERYWHERE = (
    "All commands: --debug shows the traceback of an error; --quiet (-q) prints only results, warnings and "
    "errors; --some-option equals --some_option."
)

RESUME = "interrupted; the same command continues the run"
_CONTINUED = ("generate", "release", "check", "execute", "infer", "pipeline", "surface")


class _Stages(click.Group):
    """Commands that are imported only when they are run; `--help` imports none."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_every())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return load(cmd_name) if cmd_name in _every() else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] in _RENAMED:
            args = _renamed(*args)
        if args[0] in _REMOVED:
            raise click.UsageError(f"There is no command '{args[0]}' any more: {_REMOVED[args[0]]}", ctx)
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


def _renamed(old: str, *arguments: str) -> list[str]:
    """A command line with the current name of its command; a notice says which."""
    words = _RENAMED[old]
    say(f"`toolassay {old}` is `toolassay {' '.join(words)}` now")
    if old == "export-tools":
        given = list(arguments)
        if "--to" in given[:-1]:
            place = given.index("--to") + 1
            given[place] = f"tools-{given[place]}"
        return [*words, *given]
    return [*words, *arguments]


def _every() -> dict[str, str]:
    """The commands and their help lines: those of this package, then those of the benchmarks."""
    return COMMANDS | {name: entry.help for name, entry in _entries().items()}


def _entries() -> dict[str, Entry]:
    return {name: entry for benchmark in benchmarks() for name, entry in benchmark.entries.commands.items()}


def load(name: str) -> click.Command:
    """Import a command of this package or of a benchmark; `EVERYWHERE` is added to its help."""
    if name in COMMANDS:
        # A command imports only what its file needs.
        command = getattr(
            import_module(f"toolassay.cli.{_TABLE[name]['file']}"), f"{name.replace('-', '_')}_command"
        )
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
    debug = "--debug" in arguments
    quiet = not QUIET.isdisjoint(arguments)
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
        flag = getattr(error, "option_name", "")
        context = getattr(error, "ctx", None)
        asked = context.command_path if context is not None else name
        message = " ".join(error.format_message().split())
        reason = f"there is no {flag} any more: {_REMOVED[flag]}" if flag in _REMOVED else message
        click.echo(f"error: {reason} (see {asked} --help)", err=True)
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
