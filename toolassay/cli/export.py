"""`toolassay export`: writes gold plans as training files."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import click

from toolassay.cli import options
from toolassay.cli.screen import SCREEN
from toolassay.errors import UsageError

_TEXTS = (".txt", ".md")


@click.command("export")
@options.option("data_dir", type=options.PATH, required=True, help="The data folder.")
@options.option(
    "to",
    type=click.Choice(["hf", "openai", "sharegpt", "jsonl"]),
    required=True,
    help="Format. hf: Parquet; jsonl: the same rows as JSON Lines; openai, sharegpt: chats with tool calls. "
    "Each comes with a data card.",
)
@options.option(
    "out", type=options.PATH, required=True, help="Output folder; an earlier export in it is replaced."
)
@options.option(
    "splits",
    default=None,
    help="Split file, or 'none' [default: DATA_DIR/split_ids.json if it exists].",
)
@options.option(
    "level",
    type=click.Choice(["pass", "quarantine"]),
    default=None,
    help="Filter by DATA_DIR/gates.jsonl. pass: only samples that passed; quarantine: also quarantined "
    "samples [default: no filter].",
)
@options.option(
    "results",
    type=click.Choice(["executed", "references", "none"]),
    default=None,
    help="Results of the calls. executed: what the tools returned, from DATA_DIR/executions.jsonl (toolassay "
    "execute); references: <node-j> in their place; none: calls only, all in one message [default: executed "
    "if that file exists, else references].",
)
@options.option(
    "tools",
    default=None,
    help="Functions that a chat offers: all, gold (those of its plan), or a number "
    "[default: all, up to 128].",
)
@options.option("system", default=None, help="System message of the chats, or a text file that holds it.")
@options.option(
    "closing",
    default=None,
    help="Last message of a chat; $results is replaced by an answer that states the results. none: the chat "
    "ends with its last call [default: $results if they are executed, else 'Done: $results'].",
)
@options.flag("parallel", "Chats: put calls that do not depend on each other in one turn.")
@options.option(
    "arguments",
    type=click.Choice(["text", "object"]),
    default="text",
    help="openai: form of the arguments of a call. text: a JSON string, as in OpenAI's API; object: for most "
    "chat templates.",
)
@options.option(
    "recoveries",
    type=options.FloatRange(0, 1),
    default=0.0,
    metavar="SHARE",
    help="Chats: share of the samples with a wrong call and the tool's error before the right call "
    "(toolassay execute --wrong_calls).",
)
@options.option(
    "seed", type=int, default=0, help="Random seed of the functions that --tools draws, and of --recoveries."
)
@options.option(
    "licence",
    "--license",
    default=None,
    help="Licence in the data card, e.g. mit [default: the one in benchmark.json].",
)
@options.dependency_type()
@options.flag("skip", "Exit with code 0 even if samples were refused.")
@options.flag("force", "Replace files that no earlier export wrote; dated copies are kept.")
def command(
    data_dir: Path, tools: str | None, system: str | None, closing: str | None, skip: bool, **settings: Any
) -> int:
    """Write the gold plans of a data folder as files for training or publishing."""
    from toolassay.stages.export import AUTO, export

    result = export(
        data_dir,
        tools=_tools(tools),
        system=_text(system),
        closing=AUTO if closing is None else None if closing == "none" else closing,
        screen=SCREEN,
        **settings,
    )
    return 3 if result.refused and not skip else 0


def _tools(text: str | None) -> int | Literal["all", "gold"] | None:
    if text is None or text == "all" or text == "gold":
        return text  # type: ignore[return-value]
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise UsageError(f"--tools is '{text}'", fix="write all, gold, or a number from 1")
    return int(text)


def _text(given: str | None) -> str:
    """The text of the file `given` if there is such a file, else `given` itself; "" for None."""
    from toolassay.files import read_text

    if given is None:
        return ""
    one_line = len(given) < 256 and "\n" not in given
    # A single word that ends in .txt or .md is a file name: if the file is missing, reading it fails, so that
    # its name never becomes the system message.
    if one_line and (Path(given).is_file() or (given.split() == [given] and Path(given).suffix in _TEXTS)):
        return read_text(Path(given), fix="check --system").strip()
    return given
