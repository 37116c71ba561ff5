"""A seed gives the samples it always gave, and what cannot be sampled is said in full."""

from __future__ import annotations

import hashlib
from random import Random

import pytest

from toolassay.graph import DependencyType, ToolGraph
from toolassay.sampling import Sampler
from toolassay.tools.library import Tool, ToolLibrary


def made_library(size: int = 24) -> ToolLibrary:
    chance = Random(7)
    tools = [
        Tool(
            f"t{number}",
            "",
            tuple(chance.choices("abcde", k=chance.randint(0, 2))),
            tuple(chance.sample("abcde", chance.randint(1, 2))),
        )
        for number in range(size)
    ]
    return ToolLibrary(tools)


@pytest.mark.parametrize(
    ("kind", "first", "digest"),
    [
        ("resource", ("t17", "t8", "t10", "t5", "t23", "t9"), "6cd6974280b511aa"),
        ("temporal", ("t14", "t12", "t16", "t6", "t13", "t23"), "fd25e24eb5993ab7"),
    ],
)
def test_a_seed_gives_the_samples_it_always_gave(
    kind: DependencyType, first: tuple[str, ...], digest: str
) -> None:
    """Data sets are named by their seed: if this changes, the changelog must say so."""
    samples = list(Sampler(ToolGraph.build(made_library(), kind), 5).samples(300))
    assert samples[1].nodes == first
    said = [
        (sample.shape, sample.nodes, [(link.source, link.target, link.type) for link in sample.links])
        for sample in samples
    ]
    assert hashlib.sha256(repr(said).encode()).hexdigest()[:16] == digest
