"""`toolassay export`: gold for training and sharing."""

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
    help="hf: Parquet and a card; jsonl: the same rows; openai, sharegpt: chats with tool calls.",
)
@options.option(
    "out", type=options.PATH, required=True, help="The folder; that of an earlier export is replaced."
)
@options.option(
    "splits",
    default=None,
    help="A split file, or 'none' [default: DATA_DIR/split_ids.json, where there is one].",
)
@options.option(
    "level",
    type=click.Choice(["pass", "quarantine"]),
    default=None,
    help="Only what the gates let pass, or quarantine: that and what is doubtful (DATA_DIR/gates.jsonl).",
)
@options.option(
    "tools",
    default=None,
    help="Functions a chat offers: all, gold (those of its plan), or a number [default: all, 128 at most].",
)
@options.option("system", default=None, help="The system message of chats, or a text file of it.")
@options.option(
    "closing",
    default="Done: $results",
    help="The last words of a chat, $results being the results; none: it ends with its last call.",
)
@options.flag("parallel", "Chats: make calls that do not need one another in one turn.")
@options.option(
    "arguments",
    type=click.Choice(["text", "object"]),
    default="text",
    help="openai: of calls; text as OpenAI wants them, object for most chat templates.",
)
@options.option("seed", type=int, default=0, help="Seed of the draws of --tools.")
@options.option(
    "licence", "--license", default=None, help="For the card, e.g. mit [default: of benchmark.json]."
)
@options.dependency_type()
@options.flag("skip", "End with 0 though samples were refused.")
@options.flag("force", "Replace files that somebody else made; dated copies are kept.")
def command(
    data_dir: Path, tools: str | None, system: str | None, closing: str, skip: bool, **settings: Any
) -> int:
    """Write the gold of a data folder in a form for training or sharing."""
    from toolassay.stages.export import export

    result = export(
        data_dir,
        tools=_tools(tools),
        system=_text(system),
        closing=None if closing == "none" else closing,
        screen=SCREEN,
        **settings,
    )
    return 3 if result.refused and not skip else 0


def _tools(text: str | None) -> int | Literal["all", "gold"] | None:
    if text is None or text == "all" or text == "gold":
        return text  # type: ignore[return-value]
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise UsageError(f"--tools says '{text}'", fix="write all, gold, or a number from 1")
    return int(text)


def _text(given: str | None) -> str:
    """The text of a file where there is one of that name, else the text itself."""
    from toolassay.files import read_text

    if given is None:
        return ""
    one_line = len(given) < 256 and "\n" not in given
    # One word that ends like a text file is meant as one: where it is missing, no chat should hold its name.
    if one_line and (Path(given).is_file() or (given.split() == [given] and Path(given).suffix in _TEXTS)):
        return read_text(Path(given), fix="check --system").strip()
    return given
