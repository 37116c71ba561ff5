"""The sample stage: samples shown without a model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.running import inside
from toolassay import build_graph, sample
from toolassay.console.screen import Screen
from toolassay.errors import UsageError
from toolassay.graph import ToolGraph
from toolassay.sampling import Sampler


def build_folder(path: Path) -> Path:
    """Four tools in a row, and a fork."""
    tools = [
        {"id": "first", "input-type": [], "output-type": ["a"]},
        {"id": "second", "input-type": ["a"], "output-type": ["b"]},
        {"id": "third", "input-type": ["b"], "output-type": ["c"]},
        {"id": "aside", "input-type": ["b"], "output-type": ["d"]},
    ]
    (path / "tool_desc.json").write_text(json.dumps({"nodes": tools}))
    build_graph(path)
    return path


def test_the_default_is_a_chain_of_three(folder: Path) -> None:
    shown: list[str] = []
    (drawn,) = sample(folder, seed=5, screen=Screen(show=shown.append))

    assert drawn == Sampler(ToolGraph.load(folder / "graph_desc.json"), 5).draw("chain", 3)
    assert shown[0].startswith("5-00000  chain of 3 tools\n  first\n  second  <- first (a)\n")


def test_a_seed_is_drawn_said_and_good_for_the_same_samples(folder: Path) -> None:
    said: list[str] = []
    drawn = sample(folder, method=None, number_of_samples=5, screen=Screen(say=said.append))
    seed = int(next(line for line in said if line.startswith("seed ")).split()[1])

    assert sample(folder, method=None, number_of_samples=5, seed=seed) == drawn


def test_a_number_of_tools_for_any_shape(folder: Path) -> None:
    drawn = sample(folder, method=None, tools=3, number_of_samples=40, seed=0)

    assert {len(one.nodes) for one in drawn} == {3}
    assert {one.shape for one in drawn} == {"chain", "dag"}
    assert {one.shape for one in sample(folder, method=None, tools=1, number_of_samples=5, seed=0)} == {
        "single"
    }
    with pytest.raises(UsageError, match="no dag of 2 tools: a dag has at least 3 tools"):
        sample(folder, method=None, tools=2, shape_weights={"dag": 1})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--file_name", "gone.json"], "gone.json: no such file"),
        (["--sample_method", "any", "--shape_weights", "tree=1"], "unknown shape 'tree'"),
        (["--sample_method", "any", "--size_weights", "x"], "'x' is not name=weight. Fix: write e.g. 3=0.5"),
        (["--num_nodes", "0"], "--num_nodes"),
        (["--sample_method", "single", "--num_nodes", "2"], "a single has exactly 1"),
    ],
)
def test_bad_input(arguments: list[str], message: str, folder: Path) -> None:
    done = inside("sample", "--data_dir", folder, *arguments)
    assert done.code == 2 and message in done.err
