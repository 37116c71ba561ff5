"""`check` and `variety` write the same bytes in one process, on processes and on a Dask cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import labelled_folder
from tests.support.checking import NO, YES, label
from tests.support.dask_workers import DaskWorkers, KillsAWorker, WrappedEngine
from tests.support.running import files_below, write_lines
from toolassay import check, measure_variety
from toolassay.engines import Engine, open_engine
from toolassay.errors import UsageError
from toolassay.gates import labelled_set
from toolassay.gates.checked_folder import CheckTask
from toolassay.gates.duplicate_gates import FingerprintTask
from toolassay.stages import check as check_stage
from toolassay.stages import variety as variety_stage
from toolassay.variety import measures

QUICK = ("id", "schema", "graph", "wiring", "duplicate", "llm_critic")
"""Gates that start at once: the others load dictionaries in each worker."""


def build_folder(path: Path) -> Path:
    """Forty labels with every kind of fate: sound, doubtful, rejected, repeated, repairable."""
    labels = [label(number, check_by_teacher=(YES, YES, NO, "Hm.")[number % 4]) for number in range(32)]
    labels += [label(number, id=f"copy-{number}") for number in (3, 9)]
    labels += [label(number) for number in (5, 17)]
    for number in (40, 41):
        odd = label(number)
        odd["task_nodes"][0]["task"] = "painter"
        labels.append(odd)
    labels.append(label(50, user_request="Use the Painter tool, and and then call Captioner."))
    labels.append(label(51, task_nodes=[{"task": "Painter", "arguments": ["a green newt"]}]))
    return labelled_folder(path, labels)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight parts instead of one."""
    monkeypatch.setattr(labelled_set, "SHARD", 5)
    monkeypatch.setattr(variety_stage, "PART", 5)
    monkeypatch.setattr(measures, "PART", 5)


def checked_files(folder: Path, name: str, engine: str | None, **more: Any) -> dict[str, bytes]:
    out = folder.parent / name
    check(folder, out=out, engine=engine, **more)
    return files_below(out)


def test_a_check_has_the_same_bytes_on_processes(folder: Path) -> None:
    assert checked_files(folder, "two", "local:2", gates=QUICK) == checked_files(
        folder, "one", None, gates=QUICK
    )


@pytest.mark.slow
def test_a_check_has_the_same_bytes_on_a_cluster(folder: Path, cluster: DaskWorkers) -> None:
    other = folder.parent / "other.json"
    write_lines(other, [label(number, id=f"other-{number}") for number in (4, 8, 60)])
    more: dict[str, Any] = {"gates": (*QUICK, "contamination"), "against": other, "repair": True}
    expected = checked_files(folder, "one", None, **more)
    assert {"data.json", "repairs.jsonl", "quarantine/data.json", "rejected.json"} <= expected.keys()
    assert checked_files(folder, "cluster", cluster.engine, **more) == expected


@pytest.mark.slow
@pytest.mark.parametrize("during", [FingerprintTask, CheckTask])
def test_a_killed_worker_changes_no_byte(
    folder: Path, cluster: DaskWorkers, monkeypatch: pytest.MonkeyPatch, during: type[Any]
) -> None:
    expected = checked_files(folder, "undisturbed", None)
    killers: list[KillsAWorker] = []

    def killing(engine: str) -> Engine:
        killers.append(KillsAWorker(open_engine(engine), during))
        return killers[0]

    monkeypatch.setattr(check_stage, "open_engine", killing)
    assert checked_files(folder, "disturbed", cluster.engine) == expected
    assert len(killers[0].killed) == 1


@pytest.mark.slow
def test_variety_has_the_same_bytes_on_every_engine(folder: Path, cluster: DaskWorkers) -> None:
    found = []
    for name, engine in (("one", None), ("two", "local:2"), ("cluster", cluster.engine)):
        out = folder.parent / name
        measure_variety(folder, out=out, sample=20, engine=engine)
        found.append(files_below(out))
    assert found[0] == found[1] == found[2]


def test_a_file_that_changes_during_a_check_is_an_error(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Changes(WrappedEngine):
        """The file changes before the gates run."""

        def map(self, task: Any, shards: Any) -> Any:
            if isinstance(task, CheckTask):
                write_lines(folder / "data.json", [label(number) for number in range(100, 140)])
            return self.engine.map(task, shards)

    monkeypatch.setattr(check_stage, "open_engine", lambda engine: Changes(open_engine(engine)))
    with pytest.raises(UsageError, match=r"data\.json: changed while it was being used"):
        check(folder, out=tmp_path / "out", gates=QUICK)
    assert not (tmp_path / "out" / "data.json").exists()
