"""A generation that is continued repeats no sample, loses none and mixes none."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tests.support.builders import data_folder
from tests.support.running import files_below, generate, ids, infer, lines_of
from toolassay.testkit import FakeServer


def test_generation_asks_again_for_what_failed_or_was_malformed(
    tmp_path: Path, fake_server: FakeServer
) -> None:
    folder = data_folder(tmp_path)
    kinds = ["whole", "prose", "length", "400", "whole-but-cut", "whole", "empty", "whole"]
    fake_server.behaviour = lambda prompt, number: kinds[number]
    settings = ("--number_of_samples", "8", "--seed", "1", "--check", "true")
    done = generate(fake_server, folder, *settings)
    assert done.code == 3
    assert "5 samples have no usable answer" in done.err
    assert ids(folder / "data_raw.json") == ["1-00000", "1-00005", "1-00007"]
    fake_server.forget()
    fake_server.behaviour = lambda prompt, number: "whole"
    assert generate(fake_server, folder, *settings).code == 0
    assert len(fake_server.received) == 5
    undisturbed = data_folder(tmp_path / "undisturbed")
    assert generate(fake_server, undisturbed, *settings).code == 0
    assert (folder / "data_raw.json").read_bytes() == (undisturbed / "data_raw.json").read_bytes()


def test_the_number_of_samples_is_the_total(tmp_path: Path, fake_server: FakeServer) -> None:
    folder = data_folder(tmp_path)
    for total in (3, 8):
        assert generate(fake_server, folder, "--seed", "2", "--number_of_samples", str(total)).code == 0
        assert ids(folder / "data_raw.json") == [f"2-{n:05d}" for n in range(total)]
    assert len(fake_server.received) == 8
    # A smaller total takes nothing away; what is missing of it still counts as missing.
    assert generate(fake_server, folder, "--seed", "2", "--number_of_samples", "5").code == 0
    assert len(ids(folder / "data_raw.json")) == 8


def test_samples_do_not_depend_on_concurrency(tmp_path: Path, fake_server: FakeServer) -> None:
    written = []
    for workers in ("1", "8"):
        folder = data_folder(tmp_path / workers)
        arguments = ("--seed", "9", "--number_of_samples", "40", "--multiworker", workers)
        assert generate(fake_server, folder, *arguments).code == 0
        written.append((folder / "data_raw.json").read_bytes())
        assert infer(fake_server, folder, "--multiworker", workers).code == 0
        written.append((folder / "predictions/gpt-4.json").read_bytes())
    assert written[0] == written[2]
    assert written[1] == written[3]


def test_a_drawn_seed_is_printed_recorded_and_continued(tmp_path: Path, fake_server: FakeServer) -> None:
    folder = data_folder(tmp_path)
    done = generate(fake_server, folder, "--seed", "-1", "--number_of_samples", "3")
    seed = int(next(line for line in done.err.splitlines() if line.startswith("seed ")).split()[1])
    manifest = json.loads((folder / "runs/gpt-4/manifest.json").read_text())
    assert manifest["settings"]["seed"] == seed
    assert lines_of(folder / "statistics.json")[0]["seed"] == seed
    done = generate(fake_server, folder, "--number_of_samples", "5")
    assert f"seed {seed}" in done.err
    assert ids(folder / "data_raw.json") == [f"{seed}-{n:05d}" for n in range(5)]
    seeds = set()
    for number in range(4):
        other = data_folder(tmp_path / str(number))
        seeds.add(generate(fake_server, other, "--number_of_samples", "1").err)
    assert len(seeds) > 1


def test_another_seed_is_refused_and_leaves_no_trace(tmp_path: Path, fake_server: FakeServer) -> None:
    folder = data_folder(tmp_path)
    assert generate(fake_server, folder, "--seed", "3", "--number_of_samples", "2").code == 0
    shutil.rmtree(folder / "runs/gpt-4")
    before = files_below(folder)
    done = generate(fake_server, folder, "--seed", "4", "--number_of_samples", "3")
    assert done.code == 2
    assert "data_raw.json:1: has a sample of seed 3, not 4" in done.error
    assert files_below(folder) == before
    # The refused seed was not remembered: the folder's own is continued, without its runs/.
    fake_server.forget()
    assert generate(fake_server, folder, "--number_of_samples", "3").code == 0
    assert ids(folder / "data_raw.json") == ["3-00000", "3-00001", "3-00002"]
    assert len(fake_server.received) == 1
    done = generate(fake_server, folder, "--seed", "4", "--number_of_samples", "3", "--force", "true")
    assert done.code == 0, done.err
    assert ids(folder / "data_raw.json") == ["4-00000", "4-00001", "4-00002"]
