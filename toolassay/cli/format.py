"""`toolassay format`: data_raw.json -> data.json and its companions."""

from __future__ import annotations

from pathlib import Path

import click

from toolassay.cli import options
from toolassay.cli.screen import SCREEN


@click.command("format")
@options.option("data_dir", type=options.PATH, default="data_huggingface", help="The data folder.")
@options.dependency_type()
@options.option(
    "critics", default=None, help="Keep what these let pass: node, link, both_node_link, self-check, all."
)
@options.flag(
    "force",
    "Replace a data set this did not write, or read it by the other dependency type; dated copies are kept.",
)
def command(data_dir: Path, dependency_type: str | None, critics: str | None, force: bool) -> None:
    """Turn generated samples into a data set, and say what the critics let pass."""
    from toolassay.stages.format import format_data

    format_data(data_dir, dependency_type=dependency_type, critics=critics, force=force, screen=SCREEN)
