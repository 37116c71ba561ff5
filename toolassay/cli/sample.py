"""`toolassay sample`: sampled subgraphs, shown and drawn without a model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from toolassay.cli import options
from toolassay.cli.screen import SCREEN


@click.command("sample")
@options.option("data_dir", type=options.PATH, default="data_huggingface", help="The data folder.")
@options.option("graph_desc", "--file_name", type=options.PATH, default=None, help="Another graph.")
@options.option("sample_method", type=click.Choice(["single", "chain", "dag", "any"]), default="chain")
@options.option(
    "num_nodes", type=click.IntRange(1), default=None, help="Tools [default: 3; by weight for 'any']."
)
@options.option("number_of_samples", type=click.IntRange(1), default=1, help="How many.")
@options.seed()
@options.sampler_weights()
@options.dependency_type()
@options.flag("save_figure", "Draw each sample into DATA_DIR/task_graphs/.")
@options.flag("as_json", "Print one JSON object a line.")
def command(data_dir: Path, sample_method: str, num_nodes: int | None, **settings: Any) -> None:
    """Draw samples from a tool graph and show them."""
    from toolassay.stages.sample import sample

    sample(
        data_dir,
        method=None if sample_method == "any" else sample_method,  # type: ignore[arg-type]
        tools=num_nodes,
        screen=SCREEN,
        **options.parsed_weights(settings),
    )
