"""Folders made by earlier versions.

`before_rename.zip`, of the last commit before the package was renamed from `toolgraph`, holds one folder of
each benchmark with two scored runs (`predictions`: all 7 or 8 items, `predictions_part`: 5 of them), the
report on them, and a workplace of one's own with the old import. `before_fingerprints.zip`, of version 0.3.0,
holds a run of an agent and one of `--ask tools` of two requests each, killed in the second one.
`killed_0_3_0.zip`, of generations, checks and reviews that were killed, is made by `old_folders/killed.py`.
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from tests.old_folders import killed
from tests.support.reviewing import say, session_of
from tests.support.running import ROOT, ids, inside, lines_of, shell
from toolassay import apply_review
from toolassay.errors import UsageError

FOLDERS = ("plans", "workplace", "chats")


@pytest.fixture
def old(tmp_path: Path) -> Path:
    with zipfile.ZipFile(ROOT / "tests/old_folders/before_rename.zip") as archive:
        archive.extractall(tmp_path)
    return tmp_path


@pytest.fixture
def interrupted(tmp_path: Path) -> Path:
    with zipfile.ZipFile(ROOT / "tests/old_folders/killed_0_3_0.zip") as archive:
        archive.extractall(tmp_path)
    return tmp_path


def test_a_generation_that_began_with_simulated_results_is_refused(interrupted: Path) -> None:
    before = {path: path.read_bytes() for path in (interrupted / "seeds").rglob("*") if path.is_file()}
    with pytest.raises(UsageError, match="began with simulated results"):
        killed.seeds(interrupted / "seeds")
    assert {path: path.read_bytes() for path in before} == before


def test_a_killed_check_goes_on(interrupted: Path, tmp_path: Path) -> None:
    assert [request.item for request in killed.checked(interrupted / "checked").asked] == [
        f'"item-{number}"' for number in (3, 4, 5)
    ]
    killed.checked(tmp_path / "undisturbed")
    for name in ("data.json", "gates.jsonl"):
        files = [place / "checked" / name for place in (interrupted / "checked", tmp_path / "undisturbed")]
        assert lines_of(files[0]) == lines_of(files[1])


def test_a_killed_review_goes_on(interrupted: Path) -> None:
    folder = interrupted / "reviewed"
    session = session_of(folder)
    assert len(session.store.log("ann").standing("reviewer")) == 3
    for number in (3, 4, 5):
        say(session, "ann", number, "correct")
    applied = apply_review(folder, interrupted / "out")
    assert applied.counts == {"correct": 4, "discard": 1, "fix_instruction": 1}
    assert ids(interrupted / "out/data.json") == [0, 2, "s3", 4, "s5"]


@pytest.mark.parametrize("name", FOLDERS)
def test_an_old_run_verifies_resumes_evaluates_and_compares(
    old: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(old)
    one = ("--data_dir", name, "--llm", "offline")
    part = (*one, "--prediction_dir", "predictions_part")
    done = inside("verify", *one)
    assert done.code == 0, done.out + done.err
    assert "equal: predictions and scores are" in done.out

    manifest = old / name / "predictions_part/runs/offline/manifest.json"
    assert "toolgraph" in json.loads(manifest.read_text())
    predictions = old / name / "predictions_part/offline.json"
    before = predictions.read_text().splitlines()
    done = shell("infer", *part, cwd=old)
    assert done.code == 0, done.err
    assert len(before) == 5
    assert set(before) < set(predictions.read_text().splitlines())
    starts = json.loads(manifest.read_text())["starts"]
    assert starts[0]["command"][0] == "toolgraph"
    assert len(starts) == 2

    assert inside("evaluate", *part).code == 0
    assert inside("verify", *part).code == 0
    files = [f"{name}/metrics/offline.json", f"{name}/metrics_part/offline.json"]
    done = inside("compare", *files)  # scores of both versions
    assert done.code == 0, done.err
    assert "differ in toolassay (0.1.0: " in done.err


def test_an_old_report_is_written_again_in_its_folder(old: Path) -> None:
    assert "toolgraph" in json.loads((old / "report/axes.json").read_text())
    done = shell("report", "--data_dir", *FOLDERS, "--out", "report", cwd=old)
    assert done.code == 0, done.err
    assert "toolassay" in json.loads((old / "report/axes.json").read_text())


def test_an_old_workplace_is_loaded_with_its_old_import(old: Path) -> None:
    assert "from toolgraph." in (old / "own/tools.py").read_text()
    done = shell("workbench", "check", "own", "--allow_tools", cwd=old)
    assert done.code == 0, done.err
    assert "8 tasks, all fine" in done.out


@pytest.mark.parametrize(
    "form",
    [
        "from toolgraph.benchmarks.workbench.own.marking import ToolError, now, tool",
        "from toolgraph.benchmarks.workbench import own",
        "import toolgraph.benchmarks.workbench.own as own",
    ],
)
def test_any_form_of_the_old_import_loads(old: Path, form: str) -> None:
    path = old / "own/tools.py"
    text = path.read_text()
    (line,) = (line for line in text.splitlines() if line.startswith("from toolgraph."))
    named = "\nToolError, now, tool = own.ToolError, own.now, own.tool" * ("marking" not in form)
    path.write_text(text.replace(line, form + named))
    done = inside("workbench", "check", old / "own", "--allow_tools")
    assert done.code == 0, done.err


KILLED = {
    "agents": ("mine", ("--llm", "mine", "--agent_command", "python3 agent.py")),
    "tools": ("acme__one", ("--llm", "acme/one", "--ask", "tools")),
}


@pytest.mark.parametrize("way", KILLED)
def test_a_killed_run_on_simulated_tools_is_refused(tmp_path: Path, way: str) -> None:
    with zipfile.ZipFile(ROOT / "tests/old_folders/before_fingerprints.zip") as archive:
        archive.extractall(tmp_path)
    name, words = KILLED[way]
    journal = tmp_path / f"rooms/predictions_{way}/runs/{name}/journal.jsonl"
    before = journal.read_bytes()
    done = shell("infer", "--data_dir", "rooms", *words, cwd=tmp_path)
    assert done.code == 2 and "executor: 'simulate' -> 'world'" in done.err
    assert journal.read_bytes() == before
