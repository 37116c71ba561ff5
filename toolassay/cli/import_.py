"""`toolassay import …`: turns published data sets into data folders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from toolassay.cli import options
from toolassay.cli.options import CommandGroup
from toolassay.cli.screen import SCREEN


@click.group("import", cls=CommandGroup)
def command() -> None:
    """Create a data folder from a published data set."""


@command.command("taskbench")
@options.option("data_dir", type=options.PATH, required=True, help="The data folder; created if missing.")
@options.option(
    "domain",
    type=click.Choice(["huggingface", "multimedia", "dailylifeapis"]),
    required=True,
    help="Which of the three domains to import.",
)
@options.option("hub", default="microsoft/Taskbench", help="Data set on the Hugging Face hub.")
@options.option("revision", default=None, help="Branch, tag or commit of the data set [default: the newest].")
@click.option(
    "--from",
    "--folder",
    "folder",
    type=options.PATH,
    default=None,
    help="Local folder with the files of the data set, instead of the hub.",
)
@options.option("file", default=None, help="File with the labels, e.g. improved.parquet.")
@options.option(
    "tools",
    type=options.PATH,
    default=None,
    help="A tool_desc.json [default: the one beside the data, else the one of this checkout].",
)
def taskbench(data_dir: Path, **settings: Any) -> None:
    """Import TaskBench from its repository or the hub: JSON, JSON Lines, Parquet, or a saved data set.

    The hub needs an extra; in the checkout: pip install '.[hub]'.
    """
    from toolassay.stages.import_taskbench import import_taskbench

    import_taskbench(data_dir, screen=SCREEN, **settings)


@command.command("classic")
@options.option("data_dir", type=options.PATH, required=True, help="The data folder; created if missing.")
@options.option("repo", "--hub", default=None, help="Data set on the Hugging Face hub, e.g. acme/chats.")
@options.option("revision", default=None, help="Branch, tag or commit of the data set [default: the newest].")
@options.option(
    "folder",
    "--from",
    type=options.PATH,
    default=None,
    help="Local folder with the files of the data set, instead of the hub.",
)
def classic(data_dir: Path, **settings: Any) -> None:
    """Import the four tables of CLASSic, CSV or Parquet.

    The hub and Parquet need an extra; in the checkout: pip install '.[hub]'.
    """
    from toolassay.stages.import_classic import import_classic

    import_classic(data_dir, screen=SCREEN, **settings)
