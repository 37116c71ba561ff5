"""Every export loads in the `datasets` library, offline, as what was exported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.support.builders import workbench_folder
from tests.support.gold_samples import RESOURCE, label, some_labels, write_folder
from tests.support.running import lines_of
from toolassay import evaluate, export, infer, split
from toolassay.exporters.chats import ChatFormat
from toolassay.exporters.formats import format_named, formats, plan_of_row
from toolassay.exporters.rows import RowFormat, row_of
from toolassay.plans.call_plan import call_plan_of
from toolassay.plans.gold import Gold
from toolassay.stages.export import export_trajectories
from toolassay.variety.splits import SplitFile


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """`load_dataset` that keeps to this test's folder."""
    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    datasets.disable_progress_bars()

    def load_dataset(path: Path) -> Any:
        return datasets.load_dataset(str(path), cache_dir=str(tmp_path / "cache"))

    return load_dataset


def expected(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """The rows of a folder by split, made without an export."""
    known = SplitFile.load(folder / "split_ids.json")
    found: dict[str, list[dict[str, Any]]] = {}
    for value in lines_of(folder / "data.json"):
        gold = Gold.of(value)
        row = msgspec.to_builtins(row_of(call_plan_of(gold, RESOURCE, "resource")))
        found.setdefault(known.split(gold.id) or "", []).append(json.loads(json.dumps(row)))
    return found


@pytest.mark.parametrize("to", [form.name for form in formats()])
def test_it_loads_as_it_was_exported(to: str, tmp_path: Path, load: Any) -> None:
    labels = some_labels() + [label(5 + n, [("Answer", [f"{n}", "?"])]) for n in range(5)]
    folder = write_folder(tmp_path / "data", labels)
    split(folder, train=0.5, dev=0.25, test=0.25)
    export(folder, to=to, out=tmp_path / "out")
    loaded = load(tmp_path / "out")

    rows = expected(folder)
    assert set(loaded) == set(rows)
    for name, part in rows.items():
        found = list(loaded[name])
        assert len(found) == len(part)
        form = format_named(to)
        file = tmp_path / "out" / form.file_of(name)
        if isinstance(form, RowFormat):
            assert found == part
            assert [plan_of_row(row) for row in found] == [plan_of_row(row) for row in part]
        elif file.suffix == ".jsonl":
            assert [json.dumps(row) for row in found] == [json.dumps(line) for line in lines_of(file)]
        if isinstance(form, ChatFormat):
            assert [row["id"] for row in lines_of(tmp_path / "out" / "index" / f"{name}.jsonl")] == [
                row["id"] for row in part
            ]


@pytest.mark.parametrize("agent", ["native", "react"])
def test_conversations_load_by_the_name_of_their_folder(agent: str, tmp_path: Path, load: Any) -> None:
    folder = workbench_folder(tmp_path / "d", slice(0, 4))
    infer(folder, llm="offline", agent=agent, trials=2)
    for is_evaluated in (False, True):
        if is_evaluated:
            evaluate(folder, llm="offline")
        out = tmp_path / f"out_{is_evaluated}"
        export_trajectories(folder, predictions="offline", out=out)
        rows = list(load(out)["train"])
        assert rows == lines_of(out / "trajectories.jsonl")
        assert [row["right"] is not None for row in rows] == [is_evaluated] * 4 + [False] * 4
        assert {row["trial"] for row in rows} == {0, 1}


@pytest.mark.parametrize("to", [form.name for form in formats()])
def test_keys_that_come_late_are_neither_lost_nor_nulls_before(to: str, tmp_path: Path, load: Any) -> None:
    """Types are guessed from the first megabytes where a card does not tell them."""
    text = "x" * 20_000
    labels = [label(n, [("Answer", [text, str(n)])]) for n in range(600)]
    labels += [label(600, [("Fetch", ["https://a.example"]), ("Edit Image", ["<node-0>", 3])])]
    folder = write_folder(tmp_path / "data", labels)
    export(folder, to=to, out=tmp_path / "out", tools="gold", arguments="object")
    (part,) = load(tmp_path / "out").values()

    first, last = part[0], part[len(part) - 1]
    form = format_named(to)
    file = tmp_path / "out" / form.file_of("train")
    if isinstance(form, RowFormat):
        row = row_of(call_plan_of(Gold.of(labels[-1]), RESOURCE, "resource"))
        assert last == json.loads(json.dumps(msgspec.to_builtins(row)))
    elif file.suffix == ".jsonl":
        lines = lines_of(file)
        assert (first, last) == (lines[0], lines[-1])
    assert "null" not in json.dumps([first, last])
