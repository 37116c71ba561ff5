"""`toolassay graph`: tool_desc.json -> graph_desc.json."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from toolassay.cli import options
from toolassay.cli.critic_options import link_review, with_review
from toolassay.cli.screen import SCREEN
from toolassay.errors import UsageError


def _pairs(name: str, text: str) -> Any:
    """An option of two tools that can be repeated."""
    return options.option(name, nargs=2, multiple=True, metavar="A B", help=text)


@click.command("graph", cls=options.SectionedCommand)
@options.option(
    "data_dir", type=options.PATH, default=None, help="The data folder; graph_desc.json is written there."
)
@options.option(
    "tool_desc", type=options.PATH, default=None, help="Tool file [default: DATA_DIR/tool_desc.json]."
)
@options.dependency_type()
@options.option(
    "max_links",
    type=click.IntRange(0),
    default=None,
    help="Do not write links that follow from the types if there are more than this [default: 2000000].",
)
@options.section(
    "Links of schema graphs",
    options.option(
        "min_confidence",
        type=options.FloatRange(0, 1),
        default=None,
        help="Least score of a link [default: that of the last graph, at first 0.4]. Links that were added "
        "or pinned are always kept.",
    ),
    options.option(
        "max_edges_per_tool",
        type=click.IntRange(0),
        default=None,
        help="Maximum number of links from each tool, the best; 0: no limit [default: that of the last "
        "graph, at first no limit].",
    ),
    options.option(
        "traces",
        type=options.PATH,
        multiple=True,
        help="File of recorded calls, one sequence per line; can be repeated. Their links are kept for later "
        "graphs in graph_traces.json.",
    ),
    options.option(
        "explain",
        nargs=2,
        default=None,
        metavar="A B",
        help="Show why there is or is no link from tool A to tool B. Writes nothing.",
    ),
)
@options.section(
    "Corrections of schema graphs, kept in graph_edits.json",
    _pairs("add", "Add a link from tool A to tool B."),
    _pairs("remove", "Remove the link, also from later graphs."),
    _pairs("pin", "Keep the link, whatever its score."),
    options.option(
        "retype",
        nargs=3,
        multiple=True,
        metavar="A B TYPE",
        help="Change what flows first: an argument of B, or 'order' if nothing does.",
    ),
    options.option(
        "field",
        multiple=True,
        metavar="FROM=TO",
        help="A value that flows, for one --add or --retype: a path in the result of A and an argument of B, "
        "e.g. results[].id=movie_id; can be repeated.",
    ),
    _pairs("undo", "Take back the correction of a link."),
    options.option(
        "edits", type=options.PATH, multiple=True, help="Add the corrections of a file; can be repeated."
    ),
)
@options.section("Review of doubtful links by a model", link_review())
def command(data_dir: Path | None, **settings: Any) -> None:
    """Build the tool graph of a library.

    The tool file is not changed. If the folder has a different graph, a dated copy of it is kept.
    """
    from toolassay.stages.graph import build_graph

    build_graph(data_dir, screen=SCREEN, **with_review(_with_changes(settings)))


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
