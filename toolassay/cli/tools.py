"""`import`, `export-tools`, `graph`, `visualize`, `sample`: the commands on tools and their graph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from toolassay.benchmarks.benchmark import Entry
from toolassay.benchmarks.registry import benchmarks
from toolassay.cli import options
from toolassay.cli.benchmark_options import option_of
from toolassay.cli.screen import SCREEN
from toolassay.errors import UsageError
from toolassay.exporters.exported_tools import TOOL_FORMS
from toolassay.importers import importers
from toolassay.importers.importer import Importer


def proposals() -> options.Decorator[Any]:
    """The model that proposes links, its server and its limits; `with_proposals` collects their values."""
    return options.together(
        options.option(
            "propose",
            "Served model that proposes links, and the fields of results that are not declared; one "
            "request per tool. Proposals are kept in DATA_DIR/graph_proposals and applied to later graphs.",
            metavar="LLM",
        ),
        options.server,
        options.multiworker(),
        options.budget("for the proposals, earlier starts included"),
        options.flag("force", "Restart a run whose settings differ; the old one is kept."),
        options.flag("dry_run", "Show what the model would receive and its cost. Sends and writes nothing."),
    )


def with_proposals(settings: dict[str, Any]) -> dict[str, Any]:
    """Replace the options of `proposals` in `settings` by one `propose`: None without a model.

    Raises:
        UsageError: A file of `server` is malformed, or `--dry_run` has no model.
    """
    from toolassay.link_proposals.proposal_run import ProposeOptions
    from toolassay.runs.settings import Limits

    settings = options.with_budget(options.with_model_options(settings))
    limits = Limits(**{name: settings.pop(name) for name in ("budget", "prices", "multiworker")})
    model = settings.pop("propose")
    chosen = {name: settings.pop(name) for name in ("options", "force", "dry_run")}
    if model is None and chosen["dry_run"]:
        raise UsageError("--dry_run shows what a model would receive", fix="add --propose MODEL, or omit it")
    made = model and ProposeOptions(model, limits=limits, command=options.typed(), **chosen)
    return {**settings, "propose": made}


def _command(importer: Importer) -> click.Command:
    @click.command(
        importer.name, help=f"{importer.help}\n\n{importer.source_help}", cls=options.SectionedCommand
    )
    @click.argument("source")
    @options.path("data_dir", "The data folder; created if missing.", required=True)
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
def import_command() -> None:
    """Create a data folder from your tools, or from a published data set.

    The tools of an MCP server, an OpenAPI document, a list for a model API or Python functions become
    DATA_DIR/tool_desc.json; DATA_DIR/import_report.json says what was skipped, lost, and should be looked at.

    Exit codes: 0 done; 2 the source cannot be read, or the folder has other tools; 3 a part was skipped.
    """


@click.command("export-tools")
@options.data_dir
@options.choice("to", TOOL_FORMS, "Form of the tools.", required=True)
@options.path("out", "File to write.", required=True)
@options.flag("force", "Replace OUT if it has other content.")
def export_tools_command(data_dir: Path, to: str, out: Path, force: bool) -> None:
    """Write the tools of a data folder as a list for a model API or an MCP listing.

    OUT.report.json lists what the form cannot hold.
    """
    from toolassay.stages.import_tools import export_tools

    export_tools(data_dir, to, out, force=force, screen=SCREEN)


def _pairs(name: str, text: str) -> Any:
    """An option of two tools that can be repeated."""
    return options.option(name, text, nargs=2, multiple=True, metavar="A B")


@click.command("graph", cls=options.SectionedCommand)
@options.path("data_dir", "The data folder; graph_desc.json is written there.")
@options.path("tool_desc", "Tool file [default: DATA_DIR/tool_desc.json].")
@options.dependency_type
@options.option(
    "max_links",
    "Do not write links that follow from the types if there are more than this [default: 2000000].",
    type=click.IntRange(0),
)
@options.section(
    "Links of schema graphs",
    options.option(
        "min_confidence",
        "Least score of a link [default: that of the last graph, at first 0.4]. Links that were added "
        "or pinned are always kept.",
        type=options.FloatRange(0, 1),
    ),
    options.option(
        "max_edges_per_tool",
        "Maximum number of links from each tool, the best; 0: no limit [default: that of the last "
        "graph, at first no limit].",
        type=click.IntRange(0),
    ),
    options.path(
        "traces",
        "File of recorded calls, one sequence per line; can be repeated. Their links are kept for later "
        "graphs in graph_traces.json.",
        multiple=True,
    ),
    options.option(
        "explain",
        "Show why there is or is no link from tool A to tool B. Writes nothing.",
        nargs=2,
        metavar="A B",
    ),
)
@options.section(
    "Corrections of schema graphs, kept in graph_edits.json",
    _pairs("add", "Add a link from tool A to tool B."),
    _pairs("remove", "Remove the link, also from later graphs."),
    _pairs("pin", "Keep the link, whatever its score."),
    options.option(
        "retype",
        "Change what flows first: an argument of B, or 'order' if nothing does.",
        nargs=3,
        multiple=True,
        metavar="A B TYPE",
    ),
    options.option(
        "field",
        "A value that flows, for one --add or --retype: a path in the result of A and an argument of B, "
        "e.g. results[].id=movie_id; can be repeated.",
        multiple=True,
        metavar="FROM=TO",
    ),
    _pairs("undo", "Take back the correction of a link."),
    options.path("edits", "Add the corrections of a file; can be repeated.", multiple=True),
)
@options.section("Links that a model proposes", proposals())
def graph_command(data_dir: Path | None, **settings: Any) -> None:
    """Build the tool graph of a library.

    The tool file is not changed. If the folder has a different graph, a dated copy of it is kept.
    """
    from toolassay.stages.graph import build_graph

    build_graph(data_dir, screen=SCREEN, **with_proposals(_with_changes(settings)))


def _with_changes(settings: dict[str, Any]) -> dict[str, Any]:
    """Replace the options of single corrections in `settings` by one list `changes`.

    Raises:
        UsageError: `--field` is malformed, or not for exactly one link.
    """
    from toolassay.graph.edits import Edit
    from toolassay.graph.links import FieldPair

    fields = []
    for text in settings.pop("field"):
        source, sign, target = text.rpartition("=")
        if not sign or not target:
            raise UsageError(f"--field {text} is not FROM=TO", fix="write e.g. --field results[].id=movie_id")
        fields.append(FieldPair(source, target))
    if len({pair.target for pair in fields}) < len(fields):
        raise UsageError("--field fills an argument twice", fix="give each argument one value")
    added, retyped = settings.pop("add"), settings.pop("retype")
    if fields and len(added) + len(retyped) != 1:
        raise UsageError("--field needs one --add or --retype", fix="give them in one command per link")
    flows = tuple(fields) or None
    changes = [Edit("add", source, target, fields=flows) for source, target in added]
    changes += [Edit("retype", source, target, kind, flows) for source, target, kind in retyped]
    changes += [Edit("remove", source, target) for source, target in settings.pop("remove")]
    changes += [Edit("pin", source, target) for source, target in settings.pop("pin")]
    return {**settings, "changes": changes}


@click.command("visualize")
@options.data_dir
@options.path("graph_desc", "Graph file [default: DATA_DIR/graph_desc.json].")
def visualize_command(data_dir: Path, graph_desc: Path | None) -> None:
    """Draw the tool graph: graph_desc.png, graph_desc.pdf and graph_desc.html."""
    from toolassay.stages.graph import visualize

    visualize(data_dir, graph_desc=graph_desc, screen=SCREEN)


@click.command("sample")
@options.data_dir
@options.path("graph_desc", "Graph file [default: DATA_DIR/graph_desc.json].", "--file_name")
@options.choice(
    "sample_method", ["single", "chain", "dag", "any"], "Shape of the subgraphs.", default="chain"
)
@options.count("num_nodes", "Number of tools of a subgraph [default: 3; drawn by --size_weights for 'any'].")
@options.count("number_of_samples", "Number of subgraphs.", default=1)
@options.seed
@options.sampler_weights
@options.by_score
@options.choice(
    "cover", ["tools", "edges"], "Each sample has another tool, or another edge [needs --sample_method any]."
)
@options.dependency_type
@options.flag("save_figure", "Draw each sample into DATA_DIR/task_graphs/.")
def sample_command(data_dir: Path, sample_method: str, num_nodes: int | None, **settings: Any) -> None:
    """Sample subgraphs of a tool graph and show them."""
    from toolassay.stages.generate import sample

    sample(
        data_dir,
        method=None if sample_method == "any" else sample_method,  # type: ignore[arg-type]
        tools=num_nodes,
        screen=SCREEN,
        **options.parsed_weights(settings),
    )
