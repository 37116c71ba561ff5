"""The pipeline ends in what passes; sets by rules say so everywhere."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.support.answering import Answering, served
from tests.support.builders import ROOT, imported_folder, workshop_tools
from tests.support.running import ids, lines_of
from toolassay import check, evaluate, export, format_data, generate, infer
from toolassay.console.screen import Screen
from toolassay.errors import UsageError
from toolassay.gates.rubric import CRITERIA
from toolassay.models import ChatResponse
from toolassay.plans.gold import Gold
from toolassay.records.data_folder import BY_RULES, DataFolder
from toolassay.review.decision import edited
from toolassay.stages.release import CANDIDATES, release


def generated(path: Path, count: int = 12) -> Path:
    """A folder with samples of the offline writer for a bundled library."""
    path.mkdir(parents=True)
    for name in ("tool_desc.json", "graph_desc.json"):
        shutil.copy(ROOT / "data_multimedia" / name, path / name)
    generate(path, llm="offline", number_of_samples=count, seed=4)
    return path


def spoiled(folder: Path, *places: int) -> None:
    """Break the English of some generated samples."""
    lines = (folder / "data_raw.json").read_text(encoding="utf-8").splitlines()
    for place in places:
        record = json.loads(lines[place])
        record["result"]["user_request"] += " Send it to the office to the office."
        lines[place] = json.dumps(record)
    (folder / "data_raw.json").write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_only_what_passes_is_released(tmp_path: Path) -> None:
    folder = generated(tmp_path / "d")
    spoiled(folder, 2, 5)
    released = release(folder)
    assert (released.levels["pass"], released.levels["quarantine"]) == (10, 2)
    kept = ids(folder / "data.json")
    assert len(kept) == 10 and ids(folder / "user_requests.json") == kept
    assert ids(folder / "quarantine" / "data.json") == ["4-00002", "4-00005"]
    assert len(ids(folder / "data_raw.json")) == len(ids(folder / "gates.jsonl")) == 12
    assert (folder / "rejected.json").read_text() == ""
    assert json.loads((folder / "funnel.json").read_text())["levels"] == {
        "pass": 10,
        "quarantine": 2,
        "reject": 0,
    }
    assert not (folder / CANDIDATES).exists()


def test_a_label_says_who_wrote_and_judged_it(tmp_path: Path) -> None:
    folder = generated(tmp_path / "d", 3)
    spoiled(folder, 1)
    yes = json.dumps({name: {"why": "", "yes": True} for name in CRITERIA})
    models = [Answering(lambda _: ChatResponse(yes), "judge"), Answering(lambda _: ChatResponse("?"), "mute")]
    with served(*models):
        release(folder, critic=["judge", "mute"])
    labels = [*lines_of(folder / "data.json"), *lines_of(folder / "quarantine/data.json")]
    assert [one["written_by"] for one in labels] == ["offline"] * 3
    assert [one["judged_by"] for one in labels] == [["judge"]] * 3, "answers of mute cannot be read"
    assert not any("executor" in one for one in labels), "nothing was executed"
    edit = edited(Gold.of(labels[0]), {"user_request": "Something else."})
    assert "judged_by" in labels[0] and "judged_by" not in edit.record


def test_an_interrupted_release_is_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = generated(tmp_path / "d")
    with monkeypatch.context() as patched:
        patched.setattr(
            "toolassay.stages.release.check_into", lambda *rest: (_ for _ in ()).throw(KeyboardInterrupt)
        )
        with pytest.raises(KeyboardInterrupt):
            release(folder)
    assert not (folder / "data.json").exists()
    assert release(folder).levels["pass"] == 12


def test_an_edited_data_set_is_not_replaced(tmp_path: Path) -> None:
    folder = generated(tmp_path / "d")
    release(folder)
    text = (folder / "data.json").read_text(encoding="utf-8")
    (folder / "data.json").write_text(text.replace("Please", "Kindly", 1) + "\n", encoding="utf-8")
    edited = (folder / "data.json").read_bytes()
    with pytest.raises(UsageError, match="was changed since"):
        release(folder)
    assert (folder / "data.json").read_bytes() == edited
    release(folder, force=True)
    assert edited in [path.read_bytes() for path in folder.glob("data*.json")]


def test_the_formatter_does_not_bring_back_what_was_held_back(tmp_path: Path) -> None:
    folder = generated(tmp_path / "d")
    spoiled(folder, 1)
    release(folder)
    with pytest.raises(UsageError, match="holds the released set"):
        format_data(folder)


def own_folder(path: Path) -> Path:
    folder = imported_folder(path, workshop_tools())
    generate(folder, llm="offline", number_of_samples=20, seed=2)
    return folder


def test_a_set_by_rules_says_so_everywhere(tmp_path: Path) -> None:
    said: list[str] = []
    screen = Screen(say=said.append)
    folder = own_folder(tmp_path / "d")
    assert DataFolder(folder).written_benchmark["written"] == {"by": "rules", "note": BY_RULES}
    release(folder, screen=screen)
    assert any(BY_RULES in line for line in said)
    check(folder, out=tmp_path / "checked")
    assert DataFolder(tmp_path / "checked").benchmark.is_by_rules
    assert DataFolder(tmp_path / "checked" / "quarantine").benchmark.is_by_rules
    export(folder, out=tmp_path / "export", to="openai")
    card = (tmp_path / "export" / "README.md").read_text(encoding="utf-8")
    assert BY_RULES in card.partition("## Sizes")[0]
    infer(folder, llm="offline")
    said.clear()
    evaluate(folder, llm="offline", screen=screen)
    assert any(BY_RULES in line for line in said)
