"""`import`, `graph`, `visualize`, `sample`: the commands on tools and their graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import click

from toolassay.benchmarks.benchmark import Entry
from toolassay.benchmarks.registry import benchmarks
from toolassay.cli.command import command
from toolassay.cli.options import CommandGroup, DataDir, GraphDesc, ToolDesc, connected, typed
from toolassay.cli.screen import SCREEN
from toolassay.declarations import ChosenOptions, Option
from toolassay.errors import UsageError
from toolassay.importers import importers
from toolassay.importers.importer import Importer
from toolassay.link_proposals.options import CORRECTIONS, LinkOptions
from toolassay.stages.settings import DependencyTypeName, SubgraphSettings


def _command(importer: Importer) -> click.Command:
    kind = ChosenOptions(lambda: {importer.name: importer.options}, lambda _: importer.name, "")

    def import_command(
        source: Annotated[str, Option(positional=True, metavar="SOURCE")],
        data_dir: Annotated[Path, Option("The data folder; created if missing.", common=True)],
        update: Annotated[
            bool, Option("Replace the folder's tools and list what was added, removed and changed.")
        ] = False,
        force: Annotated[
            bool, Option("Replace the folder's tools, whatever they are; a dated copy is kept.")
        ] = False,
        options: Any = None,
    ) -> int:
        from toolassay.stages.import_tools import import_tools

        report = import_tools(
            importer.name, source, data_dir, options=options, update=update, force=force, screen=SCREEN
        )
        return 3 if report.skipped else 0

    import_command.__annotations__["options"] = Annotated[Any, kind]
    return command(importer.name, help=f"{importer.help}\n\n{importer.source_help}")(import_command)


@command("cases", help="Your own requests, with what an agent must do, say and leave.")
def import_cases_command(
    file: Annotated[Path, Option(positional=True, metavar="FILE")],
    data_dir: Annotated[Path, Option("The data folder, which has tools.", common=True)],
) -> int:
    """Import `FILE` in YAML, JSON Lines or CSV."""
    from toolassay.stages.import_cases import import_cases

    return 3 if import_cases(file, data_dir, screen=SCREEN).problems else 0


class _Kinds(CommandGroup):
    """The importers of tools, then those of benchmarks; found when they are needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*(importer.name for importer in importers()), "cases", *_published()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name == "cases":
            return import_cases_command
        for importer in importers():
            if importer.name == cmd_name:
                return _command(importer)
        entry = _published().get(cmd_name)
        return None if entry is None else entry.load()

    def help_rows(self, ctx: click.Context) -> list[tuple[str, str]]:
        """The help of each kind, which needs none of their commands."""
        rows = [(importer.name, importer.help) for importer in importers()]
        rows.append(("cases", str(import_cases_command.help)))
        return rows + [(name, entry.help) for name, entry in _published().items()]


def _published() -> dict[str, Entry]:
    return {name: entry for benchmark in benchmarks() for name, entry in benchmark.entries.importers.items()}


@click.group("import", cls=_Kinds)
def import_command() -> None:
    """Create a data folder from your tools, or from a published data set.

    The tools of an MCP server, an OpenAPI document, a list for a model API or Python functions become
    DATA_DIR/tool_desc.json; DATA_DIR/import_report.json says what was skipped, lost, and should be looked at.

    Exit codes: 0 done; 2 the source cannot be read, or the folder has other tools; 3 a part was skipped.
    """


_Pairs = Sequence[tuple[str, str]]


@command("graph")
def graph_command(
    data_dir: Annotated[
        Path | None, Option("The data folder; graph_desc.json is written there.", common=True)
    ] = None,
    tool_desc: ToolDesc = None,
    dependency_type: DependencyTypeName = None,
    max_links: Annotated[
        int | None,
        Option(
            "Do not write links that follow from the types if there are more than this [default: 2000000].",
            minimum=0,
        ),
    ] = None,
    links: LinkOptions = LinkOptions(),
    add: Annotated[
        _Pairs,
        Option("Add a link from tool A to tool B.", metavar="A B", section=CORRECTIONS, common=True),
    ] = (),
    remove: Annotated[
        _Pairs,
        Option("Remove the link, also from later graphs.", metavar="A B", section=CORRECTIONS, common=True),
    ] = (),
    pin: Annotated[
        _Pairs, Option("Keep the link, whatever its score.", metavar="A B", section=CORRECTIONS)
    ] = (),
    retype: Annotated[
        Sequence[tuple[str, str, str]],
        Option(
            "Change what flows first: an argument of B, or 'order' if nothing does.",
            metavar="A B TYPE",
            section=CORRECTIONS,
        ),
    ] = (),
    field: Annotated[
        Sequence[str],
        Option(
            "A value that flows, for one --add or --retype: a path in the result of A and an argument of B, "
            "e.g. results[].id=movie_id.",
            metavar="FROM=TO",
            section=CORRECTIONS,
        ),
    ] = (),
) -> None:
    """Build the tool graph of a library.

    The tool file is not changed. If the folder has a different graph, a dated copy of it is kept.
    """
    from toolassay.graph.edits import Edit
    from toolassay.graph.links import FieldPair
    from toolassay.stages.graph import build_graph

    pairs = []
    for text in field:
        source, sign, target = text.rpartition("=")
        if not sign or not target:
            raise UsageError(f"--field {text} is not FROM=TO", fix="write e.g. --field results[].id=movie_id")
        pairs.append(FieldPair(source, target))
    if len({pair.target for pair in pairs}) < len(pairs):
        raise UsageError("--field fills an argument twice", fix="give each argument one value")
    if pairs and len(add) + len(retype) != 1:
        raise UsageError("--field needs one --add or --retype", fix="give them in one command per link")
    flows = tuple(pairs) or None
    changes = [Edit("add", source, target, fields=flows) for source, target in add]
    changes += [Edit("retype", source, target, kind, flows) for source, target, kind in retype]
    changes += [Edit("remove", source, target) for source, target in remove]
    changes += [Edit("pin", source, target) for source, target in pin]
    propose = links.propose
    if propose is not None:
        propose = replace(propose, options=connected(propose.options), command=typed())
    build_graph(
        data_dir,
        tool_desc=tool_desc,
        dependency_type=dependency_type,
        max_links=max_links,
        links=replace(links, changes=changes, propose=propose),
        screen=SCREEN,
    )


@command("visualize")
def visualize_command(data_dir: DataDir, graph_desc: GraphDesc = None) -> None:
    """Draw the tool graph: graph_desc.png, graph_desc.pdf and graph_desc.html."""
    from toolassay.stages.graph import visualize

    visualize(data_dir, graph_desc=graph_desc, screen=SCREEN)


@command("sample")
def sample_command(
    data_dir: DataDir,
    graph_desc: Annotated[
        Path | None, Option("Graph file [default: DATA_DIR/graph_desc.json].", flags=("--file_name",))
    ] = None,
    settings: SubgraphSettings = SubgraphSettings(),
) -> None:
    """Sample subgraphs of a tool graph and show them."""
    from toolassay.stages.generate import sample

    sample(data_dir, graph_desc=graph_desc, settings=settings, screen=SCREEN)
