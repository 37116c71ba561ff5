"""Samples shown and drawn without a model."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from pathlib import Path

from toolassay.backinstruct.records import sample_id
from toolassay.benchmarks.work_folder import graph_of
from toolassay.data_folder import DataFolder, find_file
from toolassay.dataset import Sample, Shape
from toolassay.graph.links import COMPLETE
from toolassay.sampling import Sampler, wanted
from toolassay.sampling.weights import SMALLEST, count_of_tools
from toolassay.screen import DEFAULT, Screen


def sample(
    data_dir: str | Path = "data_huggingface",
    *,
    graph_desc: str | Path | None = None,
    dependency_type: str | None = None,
    method: Shape | None = "chain",
    tools: int | None = None,
    number_of_samples: int = 1,
    seed: int = -1,
    shape_weights: Mapping[str, float] | None = None,
    size_weights: Mapping[str, float] | None = None,
    save_figure: bool = False,
    as_json: bool = False,
    screen: Screen = DEFAULT,
) -> list[Sample]:
    """Samples of a tool graph, shown one by one.

    Args:
        data_dir: holds the graph; drawings go to its `task_graphs/`.
        graph_desc: another graph than the folder's own.
        dependency_type: resource or temporal; default what the folder says.
        method: the shape; None draws shape and size by weight.
        tools: how many tools; default 3, or 1 for a single; where the shape is drawn, by weight.
        number_of_samples: how many samples.
        seed: -1 draws one and shows it.
        shape_weights: instead of the published ones.
        size_weights: likewise.
        save_figure: draw each sample.
        as_json: show JSON objects rather than text.
        screen: who listens.

    Raises:
        UsageError: no graph, or a size it does not have (names the largest found).
    """
    folder = DataFolder(Path(data_dir))
    if graph_desc is None:
        graph = graph_of(folder.require(), dependency_type, say=screen.say)
    else:
        source = find_file(graph_desc, folder.path)
        graph = folder.graph(dependency_type, graph_desc=source, say=screen.say)
    if seed < 0:
        seed = secrets.randbelow(1_000_000)
        screen.say(f"seed {seed}")
    sampler = Sampler(graph, seed, **wanted(method, tools, shape_weights, size_weights))
    if method is None:
        for sentence in sampler.cuts():
            screen.say(sentence)
    size = tools if tools is not None else 1 if method == "single" else max(3, SMALLEST[method or "dag"])
    samples = []
    for index in range(number_of_samples):
        drawn = sampler.draw(method, size, index=index) if method else sampler.sample(index)
        screen.show(json.dumps(_object(drawn), ensure_ascii=False) if as_json else describe(drawn))
        if save_figure:
            from toolassay.report import draw_sample

            screen.say(str(draw_sample(drawn, folder.path / "task_graphs" / f"{sample_id(drawn)}.png")))
        samples.append(drawn)
    return samples


def describe(drawn: Sample) -> str:
    """A sample in words: its tools in order, and its links.

    >>> from toolassay.graph import Link
    >>> print(describe(Sample(0, 7, "chain", ("a", "b"), (Link("a", "b", "text"),))))
    7-00000  chain of 2 tools
      a
      b  <- a (text)
    """
    lines = [f"{sample_id(drawn)}  {drawn.shape} of {count_of_tools(len(drawn.nodes))}"]
    for tool in drawn.nodes:
        sources = [
            link.source if link.type == COMPLETE else f"{link.source} ({link.type})"
            for link in drawn.links
            if link.target == tool
        ]
        lines.append(f"  {tool}" + (f"  <- {', '.join(sources)}" if sources else ""))
    return "\n".join(lines)


def _object(drawn: Sample) -> dict[str, object]:
    return {
        "id": sample_id(drawn),
        "seed": drawn.seed,
        "method": drawn.shape,
        "number_of_tools": len(drawn.nodes),
        "sampled_nodes": [{"id": tool} for tool in drawn.nodes],
        "sampled_links": [link.to_json() for link in drawn.links],
    }
