"""Models on a data set with a schema graph: inference, scores, leaderboard, report, comparison, probes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.bench_bookings import GRAPH, PLANS, bookings_folder, renumbered, write_answers
from tests.support.builders import running_server
from tests.support.evaluating import metrics_of
from tests.support.running import infer, inside, lines_of
from toolassay import evaluate, verify
from toolassay.benchmarks.taskbench.prompt import built_in
from toolassay.benchmarks.taskbench.scoring.scored_rows import PLAN_SCORES
from toolassay.console.screen import SILENT
from toolassay.prompts.templates import fields_of, last_turn
from toolassay.serving.completions import Received, Reply
from toolassay.serving.offline_answers import OfflineAnswers

build_folder = bookings_folder
NAMES = [one.name for one in PLAN_SCORES]


def ran(stage: str, *arguments: str | Path) -> str:
    done = inside(stage, *arguments)
    assert done.code == 0, done.err
    return done.out


async def gold_answer(received: Received) -> Reply:
    """The gold plan of the request in a prompt."""
    fields = fields_of(last_turn(built_in("schema")), received.prompt)
    assert fields is not None
    return Reply(f"```json\n{json.dumps(PLANS[fields['request']])}\n```")


@pytest.mark.parametrize("more", [["--ask", "plan"], ["--structured", "true"]])
def test_the_gold_plans_of_a_server_have_every_strict_score_and_no_compat(
    folder: Path, more: list[str]
) -> None:
    with running_server(gold_answer) as server:
        done = infer(server, folder, "--llm", "m", *more)
        assert done.code == 0, done.err
        sent = [request.body for request in server.received]
    assert len(sent) == 3 and all(("response_format" in body) == ("true" in more) for body in sent)
    assert [line["result"] for line in lines_of(folder / "predictions" / "m.json")] == list(PLANS.values())
    table = ran("evaluate", "--data_dir", folder, "--llm", "m")
    numbers = metrics_of(folder)
    strict = numbers.pop("strict")
    assert {name: strict[name]["value"] for name in NAMES} == dict.fromkeys(NAMES, 1.0)
    assert strict["tool_hallucination_rate"]["value"] == strict["link_hallucination_rate"]["value"] == 0
    assert "|links:schema|" in strict["signature"]
    published = [name for name in numbers if "_f1" in name or "support" in name or "step_" in name]
    assert {numbers[name] for name in ("all_samples", *published)} == {None}
    assert "strict" in table and "compat" not in table
    items = lines_of(folder / "metrics" / "m.items.jsonl")
    assert [item["compat"] for item in items] == [None] * 3
    assert verify(folder, llm="m", screen=SILENT).is_equal


def test_a_wrong_path_lowers_only_the_values(folder: Path) -> None:
    text = json.dumps(PLANS).replace("benches[0].id", "benches[0].price")
    write_answers(folder, "m", json.loads(text))
    evaluate(folder, llm="m")
    strict = metrics_of(folder)["strict"]
    lower = {name for name in NAMES if strict[name]["value"] < 1}
    assert lower == {"argument_value_f1", "exact_match"}
    assert strict["argument_value_f1"]["value"] == pytest.approx((1 + 2 / 3 + 5 / 6) / 3)


def test_every_stage_after_inference_takes_a_schema_set(folder: Path, tmp_path: Path) -> None:
    write_answers(folder, "gold", PLANS)
    for llm in ("offline", "random"):
        ran("infer", "--llm", llm, "--data_dir", folder)
    ran("evaluate", "--data_dir", folder, "--llm", "all", "--splits", "all", "--compat", "published")
    assert " compat  " not in ran("report", "--only", "leaderboard", "--data_dir", folder)
    only = ran("report", "--only", "leaderboard", "--data_dir", folder, "--mode", "compat")
    (row,) = [line for line in only.splitlines() if line.split()[:1] == ["gold"]]
    assert set(row.split()) == {"gold", "compat", "–"}
    assert "node_f1" in ran("compare", "--data_dir", folder, "gold", "offline")
    ran("report", "--data_dir", folder, "--out", tmp_path / "report")
    assert "offline" in (tmp_path / "report" / "index.html").read_text()
    assert verify(folder, llm="offline", screen=SILENT).is_equal


def test_a_served_offline_model_plans_as_the_one_in_the_process(folder: Path) -> None:
    ran("infer", "--llm", "offline", "--data_dir", folder)
    with running_server(OfflineAnswers([GRAPH])) as server:
        for wording in ("default", "example"):
            more = ("--llm", "served", "--prompt", wording, "--prediction_dir", f"predictions_{wording}")
            assert infer(server, folder, *more).code == 0
            served = lines_of(folder / f"predictions_{wording}" / "served.json")
            assert served == lines_of(folder / "predictions" / "offline.json")


def test_trials_that_number_nodes_in_another_way_agree(folder: Path) -> None:
    write_answers(folder, "m", PLANS)
    others = {
        request: renumbered(gold, range(len(gold["task_nodes"]))[::-1]) for request, gold in PLANS.items()
    }
    write_answers(folder, "m", others, trial=1)
    evaluate(folder, llm="m")
    stability = metrics_of(folder)["stability"]
    assert stability["repeated"] == 3 and stability["answer_agreement"]["value"] == 1


def test_a_run_of_the_offline_planner_is_not_continued_with_other_fields_of_a_link(folder: Path) -> None:
    ran("infer", "--llm", "offline", "--data_dir", folder)
    path = folder / "graph_desc.json"
    path.write_text(path.read_text().replace("benches[].id", "benches[].code", 1))
    done = inside("infer", "--llm", "offline", "--data_dir", folder)
    assert done.code == 2 and "graph changed" in done.error
