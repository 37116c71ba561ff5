"""The sample stage: prints and draws sampled subgraphs, without a model."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from pathlib import Path

from toolassay.backinstruct.records import sample_id
from toolassay.benchmarks.work_folder import graph_of
from toolassay.data_folder import DataFolder, find_file
from toolassay.dataset import Sample, Shape
from toolassay.graph.links import COMPLETE
from toolassay.sampling import Sampler, wanted
from toolassay.sampling.cover import Cover, CoverKind
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
    by_score: bool = True,
    cover: CoverKind | None = None,
    save_figure: bool = False,
    screen: Screen = DEFAULT,
) -> list[Sample]:
    """Sample subgraphs of a tool graph and print them.

    Args:
        data_dir: Data folder with the graph; drawings are written to its `task_graphs/`.
        graph_desc: Another graph file.
        dependency_type: "resource", "temporal" or "schema"; default: the type in `benchmark.json`.
        method: Shape; None draws shape and size by weight.
        tools: Number of tools; default 3, or 1 for a single. Without a `method`, it is drawn by weight.
        number_of_samples: Number of samples.
        seed: Random seed; -1 draws one and prints it.
        shape_weights: Relative frequency of each shape; None for the published ones.
        size_weights: Relative frequency of each number of tools; None for the published ones.
        by_score: Draw the links of a schema graph in proportion to their scores.
        cover: "tools" or "edges": each sample is to have another one.
        save_figure: Draw each sample.
        screen: Receives messages, results and progress.

    Raises:
        UsageError: There is no graph, or no subgraph of that size; the message names the largest size.
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
    weights = wanted(method, tools, shape_weights, size_weights)
    aims = None if cover is None else Cover(graph, cover, seed)
    sampler = Sampler(graph, seed, **weights, by_score=by_score, cover=aims)
    if method is None:
        for sentence in sampler.cuts():
            screen.say(sentence)
    size = tools if tools is not None else 1 if method == "single" else max(3, SMALLEST[method or "dag"])
    samples = []
    for index in range(number_of_samples):
        drawn = sampler.draw(method, size, index=index) if method else sampler.sample(index)
        screen.show(describe(drawn))
        if save_figure:
            from toolassay.report.pictures import draw_sample

            screen.say(str(draw_sample(drawn, folder.path / "task_graphs" / f"{sample_id(drawn)}.png")))
        samples.append(drawn)
    return samples


def describe(drawn: Sample) -> str:
    """A sample as text: its tools in order, each with its incoming links.

    >>> from toolassay.graph import Link
    >>> print(describe(Sample(0, 7, "chain", ("a", "b"), (Link("a", "b", "text"),))))
    7-00000  chain of 2 tools
      a
      b  <- a (text)
    """
    lines = [f"{sample_id(drawn)}  {drawn.shape} of {count_of_tools(len(drawn.nodes))}"]
    fields = drawn.fields or [()] * len(drawn.links)
    flows = [
        ", ".join(f"{pair.source or 'result'} -> {pair.target}" for pair in pairs) or link.type
        for link, pairs in zip(drawn.links, fields, strict=True)
    ]
    for tool in drawn.nodes:
        sources = [
            link.source if link.type == COMPLETE else f"{link.source} ({flow})"
            for link, flow in zip(drawn.links, flows, strict=True)
            if link.target == tool
        ]
        lines.append(f"  {tool}" + (f"  <- {', '.join(sources)}" if sources else ""))
    return "\n".join(lines)
