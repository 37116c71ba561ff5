"""`nothing` and `random` on every benchmark: run, repeat, score, and where they stand."""

from __future__ import annotations

import csv
import io
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support.bundled_folders import first_items
from tests.support.evaluating import metrics_of
from tests.support.own_workplace import workplace
from tests.support.running import inside, lines_of
from toolassay import compare, evaluate, generate, infer
from toolassay.errors import ToolassayError, UsageError
from toolassay.runs.outcomes import BASELINE, LOCAL, RULES_AT_HAND

Capture = pytest.CaptureFixture[str]
MODELS = ("nothing", "offline", "random")

FOLDERS = ("data_multimedia", "data_dailylifeapis", "data_workbench", "data_classic")


@pytest.fixture(scope="module")
def evaluated(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every folder, with every built-in model run twice and scored."""
    place = tmp_path_factory.mktemp("data")
    for name in FOLDERS:
        folder = first_items(root, name, place / name)
        for model in MODELS:
            infer(folder, llm=model, trials=2)
        evaluate(folder)
    return place


@pytest.mark.parametrize("name", FOLDERS)
@pytest.mark.parametrize("model", ["nothing", "random"])
def test_predictions_are_the_same_bytes_at_any_concurrency(
    evaluated: Path, root: Path, tmp_path: Path, name: str, model: str
) -> None:
    folder = first_items(root, name, tmp_path / name)
    infer(folder, llm=model, multiworker=1)
    again = (folder / f"predictions/{model}.json").read_bytes()
    assert again == (evaluated / name / f"predictions/{model}.json").read_bytes()
    assert {line.get("outcome", "answered") for line in lines_of(folder / f"predictions/{model}.json")} == {
        "answered"
    }


@pytest.mark.parametrize("name", FOLDERS)
def test_trials_of_random_differ_and_those_of_nothing_do_not(evaluated: Path, name: str) -> None:
    def trials(model: str) -> list[list[Any]]:
        found = []
        for place in ("predictions", "predictions/trials/1"):
            rows = lines_of(evaluated / name / place / f"{model}.json")
            found.append([{key: row[key] for key in row if key != "trial_idx"} for row in rows])
        return found

    first, second = trials("nothing")
    assert first == second
    first, second = trials("random")
    assert first != second


def test_a_random_workflow_is_one_of_its_domain(evaluated: Path) -> None:
    rows = csv.DictReader(io.StringIO((evaluated / "data_classic/workflows.csv").read_text()))
    domain_of = {row["workflow_uuid"]: row["domain_uuid"] for row in rows}
    for line in lines_of(evaluated / "data_classic/predictions/random.json"):
        assert domain_of[line["pred_workflow_uuid"]] == line["domain_uuid"]


@pytest.mark.parametrize("agent", ["native", "react"])
def test_agents_act_on_a_workplace_of_ones_own_where_offline_is_refused(tmp_path: Path, agent: str) -> None:
    folder = workplace(tmp_path / "notes", tasks=[{"query": f"Note {number}"} for number in range(4)])
    for model in ("nothing", "random"):
        assert infer(folder, llm=model, agent=agent, allow_tools=True).written == 4
    made = [call for line in lines_of(folder / "predictions/random.json") for call in line["function_calls"]]
    assert made and all(call.startswith("notes.write.func(text=") for call in made)
    with pytest.raises(UsageError, match="knows the published tools only"):
        infer(folder, llm="offline", allow_tools=True)


def test_what_reads_prompts_is_refused_in_one_line(evaluated: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--llm nothing reads no prompts"):
        infer(evaluated / "data_classic", llm="nothing", security="published", judge="gpt-4")
    folder = shutil.copytree(evaluated / "data_multimedia", tmp_path / "d")
    (folder / "benchmark.json").write_text('{"dependency_type": "resource"}')
    with pytest.raises(ToolassayError, match="--llm random is a baseline: it only answers requests"):
        generate(folder, llm="random", number_of_samples=1, seed=1)


@pytest.mark.parametrize("name", FOLDERS)
def test_evaluate_shows_them_last_marked_and_with_local_times(evaluated: Path, name: str) -> None:
    done = inside("evaluate", "--data_dir", evaluated / name, "--llm", "all")
    assert done.code == 0, done.err
    assert done.out.index("offline") < done.out.index("nothing (baseline)") < done.out.index("random (b")
    assert done.out.count(BASELINE.line) == 1
    assert (RULES_AT_HAND.line in done.out) == (name == "data_workbench")
    if name in ("data_workbench", "data_classic"):
        assert " local" in done.out and LOCAL in done.out
    metrics = metrics_of(evaluated / name, "random")
    assert metrics["latency"]["local"] is True and "latency" not in metrics["notes"]


def test_a_comparison_marks_them_also_where_files_are_named(evaluated: Path, tmp_path: Path) -> None:
    metrics = evaluated / "data_workbench/metrics"
    named = compare(metrics / "random.json", metrics / "offline.json", resamples=50)
    assert named.marks == {"random": BASELINE, "offline": RULES_AT_HAND}
