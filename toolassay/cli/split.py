"""`toolassay split`: which samples are for training, and which for testing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from toolassay.cli import options
from toolassay.cli.screen import SCREEN
from toolassay.variety.near_duplicates import DEFAULT_THRESHOLD

SHARE = click.FloatRange(0)


@click.command("split")
@options.option("data_dir", type=options.PATH, required=True, help="The data folder.")
@options.option("train", type=SHARE, default=0.8, help="Share for training.")
@options.option("dev", type=SHARE, default=0.1, help="Share for developing.")
@options.option("test", type=SHARE, default=0.1, help="Share for testing.")
@options.option("seed", type=int, default=0, help="Seed of the draws.")
@options.option(
    "hold_out_tools",
    multiple=True,
    metavar="TOOL[,TOOL…]",
    help="Tools that are never trained on: samples that use them go to test; may be repeated.",
)
@options.flag(
    "near",
    "Keep requests together that are nearly the same, not only those of the same words.",
    default=True,
)
@options.option(
    "threshold", type=float, default=DEFAULT_THRESHOLD, help="How alike these are, as in toolassay check."
)
@options.option("out", type=options.PATH, default=None, help="The file [default: DATA_DIR/split_ids.json].")
@options.flag("force", "Replace a file that somebody else made; a dated copy is kept.")
def command(data_dir: Path, hold_out_tools: tuple[str, ...], **settings: Any) -> None:
    """Split a data set; no subgraph and no request is in two splits.

    The file is what export takes by itself, infer as --ids FILE:test, and evaluate as --alignment test.
    """
    from toolassay.stages.split import split

    split(data_dir, hold_out_tools=options.names(*hold_out_tools), screen=SCREEN, **settings)
