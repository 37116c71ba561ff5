"""`toolassay import …`: published data sets as data folders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from toolassay.cli import options
from toolassay.cli.options import CommandGroup
from toolassay.cli.screen import SCREEN


@click.group("import", cls=CommandGroup)
def command() -> None:
    """Make a data folder of a published data set."""


@command.command("taskbench")
@options.option("data_dir", type=options.PATH, required=True, help="The data folder; made if missing.")
@options.option(
    "domain",
    type=click.Choice(["huggingface", "multimedia", "dailylifeapis"]),
    required=True,
    help="Which of its three domains.",
)
@options.option("hub", default="microsoft/Taskbench", help="The data set on the Hugging Face hub.")
@options.option("revision", default=None, help="Of it: a branch, tag or commit [default: the newest].")
@click.option(
    "--from",
    "--folder",
    "folder",
    type=options.PATH,
    default=None,
    help="A folder with its files, instead of the hub.",
)
@options.option("file", default=None, help="The file with the labels, e.g. improved.parquet.")
@options.option(
    "tools",
    type=options.PATH,
    default=None,
    help="A tool_desc.json [default: that beside the data, else that of this checkout].",
)
def taskbench(data_dir: Path, **settings: Any) -> None:
    """TaskBench, in the form of its repository or of the hub: JSON, JSON Lines, Parquet, or a saved data set.

    From the hub it needs a package more, in the checkout: pip install '.[hub]'.
    """
    from toolassay.benchmarks.taskbench.importing import import_taskbench

    import_taskbench(data_dir, screen=SCREEN, **settings)


@command.command("classic")
@options.option("data_dir", type=options.PATH, required=True, help="The data folder; made if missing.")
@options.option("repo", "--hub", default=None, help="The data set on the Hugging Face hub, e.g. acme/chats.")
@options.option("revision", default=None, help="Of it: a branch, tag or commit [default: the newest].")
@options.option(
    "folder", "--from", type=options.PATH, default=None, help="A folder with its files, instead of the hub."
)
def classic(data_dir: Path, **settings: Any) -> None:
    """The four tables of CLASSic, CSV or Parquet.

    From the hub, and for Parquet, it needs a package more, in the checkout: pip install '.[hub]'.
    """
    from toolassay.benchmarks.classic.importing import import_classic

    import_classic(data_dir, screen=SCREEN, **settings)
