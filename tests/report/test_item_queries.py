from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from toolassay.errors import UsageError
from toolassay.evaluation.items import items_path, read_items
from toolassay.report.report_page import FolderPage, ItemQueries, ModelItems

pytest.importorskip("duckdb")
OUTCOMES = ("answered", "answered", "malformed", "provider error", "not run")


def write_items(folder: Path, model: str, seed: int, ids: range = range(300)) -> Path:
    """Items with random scores; some are undefined, some were never scored."""
    chance, path = random.Random(seed), items_path(folder / f"{model}.json")
    with path.open("w") as stream:
        for number in ids:
            outcome = chance.choice(OUTCOMES)
            item: dict[str, Any] = {
                "id": f"it's {number}",
                "type": ("single", "chain", "dag")[number % 3],
                "n_tools": number % 4 + 1,
                "cluster": f"{number % 50:016x}",
                "outcome": outcome,
                "scores": {"exact_match": chance.choice([0.0, 1.0, None, 0.123456])},
                "counts": {
                    part: [1, 0, 1] for part in ("nodes", "edges", "argument_names", "argument_values")
                },
            }
            stream.write(json.dumps(item) + "\n")
    return path


def page_of(files: dict[str, Path]) -> FolderPage:
    """A page with every item."""
    return FolderPage(
        [],
        {name: ModelItems({item.id: item for item in read_items(path)}, {}) for name, path in files.items()},
    )


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    return {name: write_items(tmp_path, name, seed) for seed, name in enumerate(("good", "it's bad"))}


def test_breakdowns_are_those_of_a_page_with_every_item(files: dict[str, Path]) -> None:
    page, queries = page_of(files), ItemQueries(files)
    models = [page.models[name] for name in files]
    facts = [page._facts(gold, models) for gold in page.golds]
    expected = list(page._breakdowns(facts, models, "exact_match"))
    found = list(queries.breakdowns(list(files), "exact_match"))
    assert [part["title"] for part in found] == ["Number of tools", "Shape"]
    for mine, theirs in zip(found, expected, strict=True):
        assert [(row["group"], row["n"]) for row in mine["rows"]] == [
            (row["group"], row["n"]) for row in theirs["rows"]
        ]
        for row, other in zip(mine["rows"], theirs["rows"], strict=True):
            assert row["values"] == pytest.approx(other["values"], abs=1e-12)


def test_outcomes_are_counted_over_all_items(files: dict[str, Path]) -> None:
    for name, path in files.items():
        assert ItemQueries(files).outcomes(name) == Counter(item.outcome for item in read_items(path))


def test_a_sample_depends_on_its_seed_only(files: dict[str, Path]) -> None:
    turned = dict(reversed(files.items()))
    first = ItemQueries(files).sample(40)
    assert len(first) == 40
    assert first == ItemQueries(turned).sample(40)
    assert first != ItemQueries(files).sample(40, seed=1)
    assert len(ItemQueries(files).sample(1000)) == 300


def test_chosen_items_are_read_whole(files: dict[str, Path]) -> None:
    queries = ItemQueries(files)
    shown = queries.sample(25)
    for name, path in files.items():
        assert queries.items(name, shown) == {item.id: item for item in read_items(path) if item.id in shown}


@pytest.mark.parametrize("name", ["n_tools=7", "run[1]", "run*"])
def test_a_folder_with_an_odd_name_is_only_a_folder(tmp_path: Path, name: str) -> None:
    for folder, ids in ((name, range(20)), ("run1", range(100, 150))):
        (tmp_path / folder).mkdir()
        write_items(tmp_path / folder, "m", 3, ids)
    path = items_path(tmp_path / name / "m.json")
    expected = {item.id: item for item in read_items(path)}
    queries = ItemQueries({"m": path})
    assert queries.items("m", queries.sample(1000)) == expected
    assert queries.outcomes("m") == Counter(item.outcome for item in expected.values())
    sizes = next(part for part in queries.breakdowns(["m"], "exact_match") if "tools" in part["title"])
    assert [(row["group"], row["n"]) for row in sizes["rows"]] == [("1", 5), ("2", 5), ("3", 5), ("4", 5)]


def test_an_id_that_no_query_can_read_is_named(tmp_path: Path) -> None:
    path = write_items(tmp_path, "m", 1)
    path.write_text(path.read_text().replace("it's 7\"", '\\ud800"'))
    with pytest.raises(UsageError, match="without half a surrogate pair"):
        ItemQueries({"m": path}).sample(10)
