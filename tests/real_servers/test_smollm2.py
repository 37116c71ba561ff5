"""The whole pipeline with a real, small language model: bookkeeping, outcomes and resumption, not scores.

`python tests/real_servers/install.py FOLDER smollm2` installs it. Then
`TOOLASSAY_SERVERS=FOLDER python -m pytest -m server tests/real_servers/test_smollm2.py` runs these tests.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.real_servers.llama_cpp_server import SMOLLM2 as MODEL
from tests.real_servers.llama_cpp_server import SMOLLM2_RECIPE as RECIPE
from tests.real_servers.serving import Server
from tests.support.builders import bundled_plans
from tests.support.running import ROOT, Finished, lines_of, started

pytestmark = [
    pytest.mark.server,
    pytest.mark.parametrize("server", [RECIPE], indirect=True, ids=["smollm2"], scope="module"),
]
ENDED = {"answered", "malformed", "refused", "context overflow"}
SHORT = ("--max_tokens", "150")


def build_folder(path: Path) -> Path:
    """The tools of a bundled data set, and three of its labels with their requests."""
    return bundled_plans(path, "data_huggingface", 3)


def toolassay(stage: str, *arguments: str | Path, cwd: Path) -> Finished:
    """Run a stage to its end."""
    process = started(stage, *arguments, cwd=cwd)
    out, err = process.communicate(timeout=900)
    assert "Traceback" not in err, err
    return Finished(process.returncode, out, err)


def infer(server: Server, folder: Path, *more: str | Path) -> Finished:
    """Ask the model; every item must end with what it said."""
    where = ("--data_dir", folder, "--llm", MODEL, "--api_base", server.base)
    done = toolassay("infer", *where, *more, cwd=folder)
    assert done.code == 0, done.err
    return done


def calls(folder: Path) -> list[dict[str, Any]]:
    """The ledger of the one run in a folder: every call is answered, its tokens are known."""
    (path,) = folder.rglob("ledger.jsonl")
    lines = lines_of(path)
    answered = [line for line in lines if line["outcome"] == "answered"]
    assert all(line["prompt_tokens"] > 0 for line in answered)
    assert all(line["outcome"].startswith("HTTP") for line in lines if line not in answered), lines
    return answered


def outcomes(folder: Path) -> Counter[str]:
    """How the items of the one run in a folder ended."""
    (path,) = folder.rglob("journal.jsonl")
    ended = {line["key"]: line["outcome"] for line in lines_of(path)}
    assert set(ended.values()) <= ENDED, ended
    return Counter(ended.values())


def test_it_plans_goes_on_and_is_scored(server: Server, folder: Path) -> None:
    infer(server, folder, *SHORT, "--limit", "2")
    assert outcomes(folder).total() == 2
    assert len(calls(folder)) == 2
    infer(server, folder, *SHORT)
    assert outcomes(folder).total() == 3
    assert len(calls(folder)) == 3
    scored = toolassay("evaluate", "--data_dir", folder, "--llm", MODEL, cwd=folder)
    assert scored.code == 0, scored.err
    assert MODEL in scored.out


def test_with_a_schema_it_names_only_known_tools(server: Server, folder: Path) -> None:
    infer(server, folder, "--structured", "true", "--max_tokens", "500")
    tools = {tool["id"] for tool in json.loads((folder / "tool_desc.json").read_text())["nodes"]}
    lines = lines_of(folder / f"predictions/{MODEL}.json")
    named = [node["task"] for line in lines if line["result"] for node in line["result"]["task_nodes"]]
    assert named
    assert set(named) <= tools


def test_it_writes_requests_that_critics_and_a_solver_look_at(server: Server, folder: Path) -> None:
    model = ("--llm", MODEL, "--api_base", server.base)
    made = folder.parent / "made"
    made.mkdir()
    shutil.copy(folder / "tool_desc.json", made)
    graph = ("--tool_desc", made / "tool_desc.json", "--dependency_type", "resource", "--data_dir", made)
    assert toolassay("graph", *graph, cwd=made).code == 0
    few = ("--number_of_samples", "2", "--seed", "7", "--dependency_type", "resource")
    written = toolassay("generate", "--data_dir", made, *model, *few, cwd=made)
    assert written.code in (0, 3), written.err
    before = lines_of(made / "data_raw.json")
    again = toolassay("generate", "--data_dir", made, *model, *few, cwd=made)
    assert again.code in (0, 3), again.err  # it replaces samples that could not be read, if it can
    assert again.code <= written.code
    assert all(record in lines_of(made / "data_raw.json") for record in before)

    critics = ("--critic", MODEL, "--critic", "offline", "--solver", MODEL, "--api_base", server.base)
    checked = folder.parent / "checked"
    found = toolassay("check", "--data_dir", folder, "--out", checked, *critics, cwd=folder)
    assert found.code in (0, 3), found.err
    funnel = json.loads((checked / "funnel.json").read_text(encoding="utf-8"))
    assert funnel["gates"].keys() >= {"llm critic", "second opinion"}
    samples = lines_of(checked / "gates.jsonl")
    assert all(sample["verdicts"].keys() >= {MODEL, "offline"} for sample in samples)
    assert all(sample["level"] != "reject" for sample in samples), "one weak critic rejects no clean gold"


@pytest.mark.parametrize("form", [("native",), ("react",), ("react", "--structured", "true")])
def test_it_acts_in_the_sandbox(server: Server, tmp_path: Path, form: tuple[str, ...]) -> None:
    place = tmp_path / "office"
    shutil.copytree(ROOT / "data_workbench", place)
    few = ("--agent", *form, "--limit", "2", "--max_steps", "2", *SHORT)
    infer(server, place, *few)
    assert outcomes(place).total() == 2
    sent = len(calls(place))
    assert 2 <= sent <= 4
    infer(server, place, *few)
    assert len(calls(place)) == sent
    scored = toolassay("evaluate", "--data_dir", place, "--llm", MODEL, cwd=place)
    assert scored.code == 3, "two of 690 tasks were asked"
