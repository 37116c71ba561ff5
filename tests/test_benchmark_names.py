"""Outside `toolassay/benchmarks/` no file names a benchmark: everything goes through the interface."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

SUFFIXES = {".py", ".txt", ".html", ".js", ".css", ".toml"}
# Matches "TaskBench", "task_bench", "WORKBENCH" and "CLASSic"; must not match "benchmark" or "class".
NAME = re.compile(r"task[ _-]?bench|work[ _-]?bench|classic", re.IGNORECASE)
# Each file with the only lines that may name a benchmark.
ALLOWED = {
    # the public functions import_taskbench and import_classic
    "interface.py": re.compile(r"\bimport_(?:taskbench|classic)\b"),
    # the stable import path of a team's own tools
    "workplace.py": re.compile(r"^from toolassay\.benchmarks\.workbench\."),
    # part of the file format: the benchmark of a folder that names none
    "records/data_folder.py": re.compile(r"^DEFAULT_BENCHMARK = "),
    # the title of the paper that a card cites
    "exporters/dataset_card.txt": re.compile(
        r"@inproceedings\{shen2024|title +=|The method and the format of the plans come from"
    ),
}


def benchmark_names(package: Path) -> Iterator[str]:
    """File and line of each benchmark name in a package outside `benchmarks/` and `ALLOWED`."""
    for path in sorted(package.rglob("*")):
        place = path.relative_to(package).as_posix()
        if path.suffix not in SUFFIXES or place.startswith("benchmarks/"):
            continue
        if NAME.search(place):
            yield place
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            allowed = ALLOWED.get(place)
            if NAME.search(line) and not (allowed and allowed.search(line)):
                yield f"{place}:{number}: {line.strip()}"


def test_only_the_benchmarks_folder_names_a_benchmark(root: Path) -> None:
    assert list(benchmark_names(root / "toolassay")) == []


@pytest.mark.parametrize("suffix", sorted(SUFFIXES))
@pytest.mark.parametrize(
    "name", ["TaskBench", "task_bench", "task-bench", "Work Bench", "WORKBENCH", "CLASSic"]
)
def test_a_name_is_found_in_every_spelling_with_file_and_line(tmp_path: Path, suffix: str, name: str) -> None:
    file = tmp_path / "stages" / f"infer{suffix}"
    file.parent.mkdir()
    file.write_text(f"first line\nas in {name} folders\n")
    assert list(benchmark_names(tmp_path)) == [f"stages/infer{suffix}:2: as in {name} folders"]
