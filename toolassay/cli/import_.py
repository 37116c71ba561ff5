"""`toolassay import …`: a team's tools, or published data sets, into data folders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from toolassay.benchmarks.benchmark import Entry
from toolassay.benchmarks.registry import benchmarks
from toolassay.cli import options
from toolassay.cli.benchmark_options import option_of
from toolassay.cli.screen import SCREEN
from toolassay.importers import importers
from toolassay.importers.importer import Importer


def _command(importer: Importer) -> click.Command:
    @click.command(
        importer.name, help=f"{importer.help}\n\n{importer.source_help}", cls=options.SectionedCommand
    )
    @click.argument("source")
    @options.option("data_dir", type=options.PATH, required=True, help="The data folder; created if missing.")
    @options.together(*(option_of(importer.options(), flag) for flag in importer.flags))
    @options.flag("update", "Replace the folder's tools and list what was added, removed and changed.")
    @options.flag("force", "Replace the folder's tools, whatever they are; a dated copy is kept.")
    def import_command(source: str, data_dir: Path, **settings: Any) -> int:
        from toolassay.stages.import_tools import import_tools

        report = import_tools(importer.name, source, data_dir, screen=SCREEN, **settings)
        return 3 if report.skipped else 0

    return import_command


class _Kinds(options.CommandGroup):
    """The importers of tools, then those of benchmarks; found when they are needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*(one.name for one in importers()), *_published()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        for importer in importers():
            if importer.name == cmd_name:
                return _command(importer)
        entry = _published().get(cmd_name)
        return None if entry is None else entry.load()


def _published() -> dict[str, Entry]:
    return {name: entry for one in benchmarks() for name, entry in one.entries.importers.items()}


@click.group("import", cls=_Kinds)
def command() -> None:
    """Create a data folder from your tools, or from a published data set.

    The tools of an MCP server, an OpenAPI document, a list for a model API or Python functions become
    DATA_DIR/tool_desc.json; DATA_DIR/import_report.json says what was skipped, lost, and should be looked at.

    Exit codes: 0 done; 2 the source cannot be read, or the folder has other tools; 3 a part was skipped.
    """
