"""Schema graphs from tools to checked samples and exports, with the offline model."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.running import inside, lines_of
from tests.support.schema_graphs import CINEMA, cinema_tools
from toolassay.files.data_files import write_json
from toolassay.tools.output_paths import EACH, parse_reference

SIZES = ("--size_weights", "2=1,3=1,4=1")


def cinema_folder(path: Path) -> Path:
    """A data folder with the tools and the graph of the cinema."""
    write_json(path / "tool_desc.json", cinema_tools())
    with (path / "graph_desc.json").open("w", encoding="utf-8") as stream:
        CINEMA.write(stream)
    write_json(path / "benchmark.json", {"dependency_type": "schema"})
    return path


def test_samples_of_a_schema_graph_pass_every_gate_and_are_exported(tmp_path: Path) -> None:
    def ran(stage: str, *arguments: str | Path) -> str:
        done = inside(stage, *arguments)
        assert done.code == 0, done.err
        return done.out

    folder = cinema_folder(tmp_path / "d")
    drawn = ["--number_of_samples", "80", "--seed", "3", *SIZES]
    ran("generate", "--data_dir", folder, "--llm", "offline", *drawn)
    ran("format", "--data_dir", folder)
    labels = lines_of(folder / "data.json")
    assert len(labels) == 80
    assert {label["type"] for label in labels} == {"single", "chain", "dag"}
    ran("check", "--data_dir", folder, "--out", tmp_path / "checked")
    levels = [line["level"] for line in lines_of(tmp_path / "checked" / "gates.jsonl")]
    assert levels == ["pass"] * 80

    ran("export", "--data_dir", folder, "--to", "jsonl", "--out", tmp_path / "rows")
    values = [
        argument
        for file in (tmp_path / "rows").rglob("*.jsonl")
        for row in lines_of(file)
        for call in row["calls"]
        for argument in call["arguments"]
        if argument["kind"] == "reference"
    ]
    paths = [found.path for one in values if (found := parse_reference(one["value"])) is not None]
    assert {("results", 0, "id"), ("results", EACH, "id"), ("director", "id")} <= set(paths)


def test_by_score_false_draws_other_samples_and_is_recorded(tmp_path: Path) -> None:
    kept = []
    for name, more in (("with", []), ("without", ["--by_score", "false"])):
        folder = cinema_folder(tmp_path / name)
        arguments = ["--llm", "offline", "--number_of_samples", "12", "--seed", "3", *SIZES, *more]
        done = inside("generate", "--data_dir", folder, *arguments)
        assert done.code == 0, done.err
        settings = json.loads((folder / "benchmark.json").read_text())["generation"]
        assert settings.get("by_score", True) == (not more)
        kept.append([line["sampled_links"] for line in lines_of(folder / "data_raw.json")])
    assert kept[0] != kept[1]
