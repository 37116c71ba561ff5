"""`toolassay export-tools`: the tools of a data folder in another form."""

from __future__ import annotations

from pathlib import Path

import click

from toolassay.cli import options
from toolassay.cli.screen import SCREEN
from toolassay.exporters.exported_tools import TOOL_FORMS


@click.command("export-tools")
@options.data_dir()
@options.option("to", type=click.Choice(TOOL_FORMS), required=True, help="Form of the tools.")
@options.option("out", type=options.PATH, required=True, help="File to write.")
@options.flag("force", "Replace OUT if it has other content.")
def command(data_dir: Path, to: str, out: Path, force: bool) -> None:
    """Write the tools of a data folder as a list for a model API or an MCP listing.

    OUT.report.json lists what the form cannot hold.
    """
    from toolassay.stages.export_tools import export_tools

    export_tools(data_dir, to, out, force=force, screen=SCREEN)
