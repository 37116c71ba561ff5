"""`toolassay sample`: prints and draws sampled subgraphs, without a model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from toolassay.cli import options
from toolassay.cli.screen import SCREEN


@click.command("sample")
@options.data_dir()
@options.option(
    "graph_desc",
    "--file_name",
    type=options.PATH,
    default=None,
    help="Graph file [default: DATA_DIR/graph_desc.json].",
)
@options.option(
    "sample_method",
    type=click.Choice(["single", "chain", "dag", "any"]),
    default="chain",
    help="Shape of the subgraphs.",
)
@options.option(
    "num_nodes",
    type=click.IntRange(1),
    default=None,
    help="Number of tools of a subgraph [default: 3; drawn by --size_weights for 'any'].",
)
@options.option("number_of_samples", type=click.IntRange(1), default=1, help="Number of subgraphs.")
@options.seed()
@options.sampler_weights()
@options.by_score()
@options.option(
    "cover",
    type=click.Choice(["tools", "edges"]),
    default=None,
    help="Each sample has another tool, or another edge [needs --sample_method any].",
)
@options.dependency_type()
@options.flag("save_figure", "Draw each sample into DATA_DIR/task_graphs/.")
def command(data_dir: Path, sample_method: str, num_nodes: int | None, **settings: Any) -> None:
    """Sample subgraphs of a tool graph and show them."""
    from toolassay.stages.sample import sample

    sample(
        data_dir,
        method=None if sample_method == "any" else sample_method,  # type: ignore[arg-type]
        tools=num_nodes,
        screen=SCREEN,
        **options.parsed_weights(settings),
    )
