"""`toolassay split`: divides the samples into train, dev and test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from toolassay.cli import options
from toolassay.cli.screen import SCREEN

SHARE = click.FloatRange(0)


@click.command("split")
@options.option("data_dir", type=options.PATH, required=True, help="The data folder.")
@options.option("train", type=SHARE, default=0.8, help="Share of the training split.")
@options.option("dev", type=SHARE, default=0.1, help="Share of the development split.")
@options.option("test", type=SHARE, default=0.1, help="Share of the test split.")
@options.option("seed", type=int, default=0, help="Random seed.")
@options.option(
    "hold_out_tools",
    multiple=True,
    metavar="TOOL[,TOOL…]",
    help="Tools to keep out of training: samples that use them go to test; may be repeated.",
)
@options.flag(
    "near",
    "Keep near-duplicate requests in the same split, not only identical ones.",
    default=True,
)
@options.threshold()
@options.option(
    "out", type=options.PATH, default=None, help="Split file to write [default: DATA_DIR/split_ids.json]."
)
@options.flag("force", "Replace a file that this command did not write; a dated copy is kept.")
def command(data_dir: Path, hold_out_tools: tuple[str, ...], **settings: Any) -> None:
    """Split a data set into train, dev and test; no subgraph and no request is in two splits.

    `export` uses the file by default; `infer` takes it as --ids FILE:test, `evaluate` as --alignment test.
    """
    from toolassay.stages.split import split

    split(data_dir, hold_out_tools=options.names(*hold_out_tools), screen=SCREEN, **settings)
