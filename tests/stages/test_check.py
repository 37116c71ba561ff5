from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import labelled_folder, running_server
from tests.support.checking import NO, YES, background, label
from tests.support.executions import execution_of, write_executions
from tests.support.running import (
    command_of,
    environment,
    files_below,
    ids,
    inside,
    lines_of,
    shell,
    started,
    write_lines,
)
from toolassay import check
from toolassay.errors import ToolassayError, UsageError
from toolassay.models import ModelOptions
from toolassay.plans.call_plan import call_plan_of
from toolassay.plans.execution_record import StateSummary
from toolassay.plans.gold import Gold
from toolassay.records.data_folder import DataFolder
from toolassay.serving.completions import Received, Reply
from toolassay.testkit import FakeServer

MIXED = [
    label(0, check_by_teacher=YES),
    label(1, check_by_teacher=NO),
    label(2),
    label(3, check_by_teacher="Looks good!"),
    label(0, check_by_teacher=YES),
]


def build_folder(path: Path) -> Path:
    return labelled_folder(path, MIXED)


def sound(path: Path, count: int) -> Path:
    return labelled_folder(path, [label(number, check_by_teacher=YES) for number in range(count)])


def of_gate(line: dict[str, Any], gate: str) -> dict[str, Any]:
    """The only finding of a gate in a line of gates.jsonl."""
    (found,) = [found for found in line["findings"] if found["gate"] == gate]
    return dict(found)


def test_every_label_is_sorted_with_its_reasons(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "checked"
    before = files_below(folder)
    checked = check(folder, out=out)
    assert files_below(folder) == before
    assert (checked.levels, checked.share) == ({"pass": 2, "quarantine": 2, "reject": 1}, 0.4)
    lines = lines_of(out / "gates.jsonl")
    assert [line["level"] for line in lines] == ["pass", "quarantine", "pass", "quarantine", "reject"]
    critic = ["pass", "quarantine", "not applicable", "unknown", "pass"]
    assert [line["gates"]["llm critic"] for line in lines] == critic
    reason = "line 1 has the id 'item-0' too"
    assert of_gate(lines[4], "id") == {"gate": "id", "state": "reject", "reason": reason, "where": "id"}
    assert [(one.id, one.level) for one in checked.findings] == [(n["id"], n["level"]) for n in lines]
    assert ids(out / "user_requests.json") == ["item-0", "item-2"]
    assert lines_of(out / "data.json") == [MIXED[0], MIXED[2]]
    doubtful = out / "quarantine"
    assert ids(doubtful / "data.json") == ids(doubtful / "user_requests.json") == ["item-1", "item-3"]
    assert ids(out / "rejected.json") == ["item-0"]
    funnel = json.loads((out / "funnel.json").read_text())
    assert funnel == checked.funnel and (funnel["input"], funnel["funnel"][-1]["leaving"]) == (5, 2)
    assert set(funnel["settings"]["sha256"]) == {"data.json", "tool_desc.json", "graph_desc.json"}
    assert (out / "funnel.png").exists() and not (out / "repairs.jsonl").exists()
    assert check(out, out=tmp_path / "again").levels == {"pass": 2, "quarantine": 0, "reject": 0}


def test_data_of_another_origin_are_never_replaced(folder: Path, tmp_path: Path) -> None:
    other = labelled_folder(tmp_path / "other", MIXED)
    before = files_below(other)
    for force in (False, True):
        with pytest.raises(UsageError, match="did not write"):
            check(folder, out=other, force=force)
        with pytest.raises(UsageError, match="is the folder that is checked"):
            check(folder, out=folder, force=force)
    assert files_below(other) == before
    out = tmp_path / "checked"
    check(other, out=out)
    with pytest.raises(UsageError, match="holds the result of checking"):
        check(folder, out=out)
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="is a file"):
        check(folder, out=tmp_path / "file")


@pytest.mark.parametrize("part", [".", "quarantine"])
def test_what_a_person_changed_is_kept(folder: Path, tmp_path: Path, part: str) -> None:
    out = tmp_path / "checked"
    check(folder, out=out)
    edited = out / part / "data.json"
    edited.write_text(edited.read_text() + "\n")
    changed = edited.read_bytes()
    with pytest.raises(UsageError, match="was changed since it was written"):
        check(folder, out=out)
    check(folder, out=out, force=True)
    (kept,) = (out / part).glob("data.2*.json")
    assert kept.read_bytes() == changed != edited.read_bytes()


def test_gates_are_chosen(folder: Path, tmp_path: Path) -> None:
    checked = check(folder, out=tmp_path / "one", gates=["id"])
    assert [row["gate"] for row in checked.funnel["funnel"]] == ["id"]
    checked = check(folder, out=tmp_path / "two", without=["llm_critic"])
    assert "llm critic" not in checked.funnel["gates"]
    done = inside("check", "--data_dir", folder, "--out", tmp_path / "three", "--gates", "id,schemer")
    assert (done.code, "there is no gate 'schemer'" in done.error) == (2, True)
    for more in (["--critic", "offline"], ["--solver", "offline"]):
        done = inside("check", "--data_dir", folder, "--out", tmp_path / "three", "--gates", "id", *more)
        assert done.code == 2
    assert not (tmp_path / "three").exists()


def test_the_command_prints_the_funnel_and_can_ask_for_a_share(folder: Path, tmp_path: Path) -> None:
    arguments = ["check", "--data_dir", folder, "--out", tmp_path / "checked it"]
    done = inside(*map(str, arguments), "--min_pass", "0.5")
    assert done.code == 3
    assert f"toolassay review --data_dir '{tmp_path / 'checked it/quarantine'}'" in done.err
    assert "warning: 40.0% pass, less than --min_pass (50.0%)" in done.err
    assert "| gate | entering | rejected | quarantined | leaving |" in done.out
    assert f"{tmp_path / 'checked it'}: 2 pass, 2 in quarantine, 1 rejected, of 5" in done.out
    assert inside(*map(str, arguments), "--min_pass", "0.4").code == 0


def test_offline_models_give_a_critic_and_a_second_opinion(tmp_path: Path) -> None:
    folder, out = sound(tmp_path / "data", 3), tmp_path / "checked"
    with_models = ["--critic", "offline", "--solver", "offline"]
    done = inside("check", "--data_dir", folder, "--out", out, *with_models)
    assert done.code == 0, done.err
    lines = lines_of(out / "gates.jsonl")
    assert [line["verdicts"] for line in lines] == [{"check_by_teacher": "pass", "offline": "pass"}] * 3
    assert {line["gates"]["second opinion"] for line in lines} <= {"pass", "quarantine"}
    assert ids(out / "critics/offline.json") == ids(out / "predictions/offline.json")
    again = inside("check", "--data_dir", folder, "--out", out, *with_models)
    assert "all 3 reviews are answered already" in again.out


def test_models_are_not_asked_about_what_the_rules_reject(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "checked"
    check(folder, out=out, critic="offline", solvers=["offline"])
    assert ids(out / "critics/offline.json") == ["item-0", "item-1", "item-2", "item-3"]
    last = lines_of(out / "gates.jsonl")[4]
    assert last["gates"]["llm critic"] == last["gates"]["second opinion"] == "not applicable"
    assert last["verdicts"] == {"check_by_teacher": "pass", "offline": None}


def test_requests_that_repeat_are_held_back(tmp_path: Path) -> None:
    twice = [label(0), {**label(0), "id": "again"}, label(1)]
    folder = labelled_folder(tmp_path / "data", twice)
    checked = check(folder, out=tmp_path / "one")
    assert checked.funnel["gates"]["duplicate"]["reject"] == 1
    other = labelled_folder(tmp_path / "other", [{**label(1), "id": "theirs"}])
    checked = check(folder, out=tmp_path / "two", against=other, without=["duplicate"])
    assert {name: checked.funnel["gates"]["contamination"][name] for name in ("pass", "reject")} == {
        "pass": 2,
        "reject": 1,
    }
    (other / "data.json").unlink()
    checked = check(folder, out=tmp_path / "three", against=other / "user_requests.json", threshold=1)
    assert checked.funnel["levels"] == {"pass": 1, "quarantine": 0, "reject": 2}
    for wrong, message in ((folder, "is the data set that is checked"), (tmp_path / "gone", "no such file")):
        with pytest.raises(UsageError, match=message):
            check(folder, out=tmp_path / "four", against=wrong)
    assert not (tmp_path / "four").exists()


def test_mechanical_faults_are_repaired_only_on_request_and_reported(tmp_path: Path) -> None:
    nodes = [
        {"task": "painter", "arguments": [{"value": "a red fox in street 0"}]},
        label(0)["task_nodes"][1],
    ]
    folder, out = labelled_folder(tmp_path / "data", [label(0, task_nodes=nodes)]), tmp_path / "checked"
    arguments = ["check", "--data_dir", str(folder), "--out", str(out)]
    done = inside(*arguments)
    assert "1 rejected" in done.out and "--repair true" in done.err
    assert "1 pass" in inside(*arguments, "--repair", "true").out
    repairs = lines_of(out / "repairs.jsonl")
    assert all(set(repair) == {"id", "kind", "where", "before", "after"} for repair in repairs)
    (line,) = lines_of(out / "gates.jsonl")
    assert line["repairs"] == len(repairs) > 0
    assert lines_of(out / "data.json")[0]["task_nodes"] == label(0)["task_nodes"]


async def _strict(received: Received) -> Reply:
    """Rejects what is in street 1."""
    correct = "street 1 " not in received.prompt
    yes = {"yes": True, "why": ""}
    plan = {"yes": correct, "why": "Nobody lives there."}
    return Reply(json.dumps(dict.fromkeys(("natural", "grounded", "links", "values"), yes) | {"plan": plan}))


def served(server: FakeServer, folder: Path, out: Path, *more: str) -> Any:
    arguments = ["--critic", "acme/judge", "--api_base", server.base, *more]
    return inside("check", "--data_dir", folder, "--out", out, *arguments)


def test_a_served_critic_counts_and_what_it_left_out_is_asked_again(tmp_path: Path) -> None:
    folder, out = sound(tmp_path / "data", 4), tmp_path / "checked"
    kinds = {"street 2 ": "400", "street 3 ": "whole-but-cut"}
    with running_server(_strict) as server:
        server.behaviour = lambda prompt, number: next(
            (kinds[one] for one in kinds if one in prompt), "whole"
        )
        done = served(server, folder, out)
        assert done.code == 3 and "1 requests have no answer" in done.err
        lines = lines_of(out / "gates.jsonl")
        critic = [line["gates"]["llm critic"] for line in lines]
        assert critic == ["pass", "quarantine", "unknown", "unknown"]
        assert of_gate(lines[1], "llm critic")["reason"].startswith("acme/judge concludes: ")
        assert lines[1]["verdicts"] == {"check_by_teacher": "pass", "acme/judge": "fail"}
        assert of_gate(lines[2], "llm critic")["reason"] == "acme/judge gave no answer (provider error)"
        server.forget()
        server.behaviour = lambda prompt, number: "whole"
        done = served(server, folder, out)
        assert (done.code, len(server.received)) == (0, 1)
        assert [line["level"] for line in lines_of(out / "gates.jsonl")][:3] == ["pass", "quarantine", "pass"]
        changed = [label(number, check_by_teacher=YES) for number in range(3)]
        write_lines(folder / "data.json", [*changed, label(3, task_steps=["Now", "then"])])
        server.forget()
        assert (served(server, folder, out).code, len(server.received)) == (0, 1)


def test_a_served_critic_releases_what_grounding_cannot_explain(tmp_path: Path) -> None:
    def inferred(number: int) -> dict[str, Any]:
        """A plan with a word that follows from the request and is not in it."""
        one = label(number, check_by_teacher=YES)
        animal = one["task_nodes"][0]["arguments"][0].split()[2]
        one["task_nodes"][0]["arguments"] = [f"a zoological {animal} in street {number}"]
        return one

    folder, out = labelled_folder(tmp_path / "data", [inferred(0), inferred(1)]), tmp_path / "checked"
    assert inside("check", "--data_dir", folder, "--out", tmp_path / "alone").code == 0
    alone = lines_of(tmp_path / "alone" / "gates.jsonl")
    assert [line["gates"]["grounding"] for line in alone] == ["quarantine", "quarantine"]
    with running_server(_strict) as server:
        served(server, folder, out)
        assert all("# DOUBTS #" in received.prompt for received in server.received)
    lines = lines_of(out / "gates.jsonl")
    assert [line["level"] for line in lines] == ["pass", "quarantine"]
    assert [line["gates"]["grounding"] for line in lines] == ["pass", "quarantine"]
    found = of_gate(lines[0], "grounding")
    assert (found["state"], found["author"]) == ("pass", "acme/judge")
    assert "'zoological'" in found["reason"]


def test_two_critics_reject_and_each_goes_on_with_its_own_run(tmp_path: Path) -> None:
    folder, out = sound(tmp_path / "data", 3), tmp_path / "checked"
    with running_server(_strict) as server:
        assert served(server, folder, out).code == 0
        assert ids(out / "quarantine/data.json") == ["item-1"]
        server.forget()
        server.behaviour = lambda prompt, number: "400" if "street 2 " in prompt else "whole"
        done = served(server, folder, out, "--critic", "other")
        # Before a request has worked, one that is refused is tried in other forms.
        asked = [received.body["model"] for received in server.received]
        assert done.code == 3 and set(asked) == {"other"} and len(asked) >= 3, "the first critic's are there"
        lines = lines_of(out / "gates.jsonl")
        assert [line["level"] for line in lines] == ["pass", "reject", "quarantine"]
        assert lines[1]["verdicts"] == {"check_by_teacher": "pass", "acme/judge": "fail", "other": "fail"}
        found = [one for one in lines_of(out / "rejected.json")[0]["findings"] if one["gate"] == "llm critic"]
        assert [one["author"] for one in found] == ["acme/judge", "other"]
        assert f"used by all critics so far: {3 + len(asked)} requests, " in done.err
        server.forget()
        server.behaviour = lambda prompt, number: "whole"
        assert served(server, folder, out, "--critic", "other").code == 0
        assert len(server.received) == 1
    assert "critic:acme/judge+other|" in json.loads((out / "funnel.json").read_text())["signature"]


def test_the_writer_of_the_labels_and_a_critic_are_two_models(tmp_path: Path) -> None:
    stray = [{"task": "Painter", "arguments": ["a red fox"]}, label(0)["task_nodes"][1]]
    folder = labelled_folder(tmp_path / "data", [label(0, task_nodes=stray, check_by_teacher=NO)])
    gates = ["llm critic"]
    text = label(0)["user_request"].replace("red fox in street 0", "fox")
    write_lines(folder / "data.json", [label(0, user_request=text, check_by_teacher=NO)])
    levels = []
    for number, teacher in enumerate([None, "offline", "writer"]):
        if teacher:
            DataFolder(folder).update_benchmark(generation={"llm": teacher})
        checked = check(folder, out=tmp_path / f"checked-{number}", gates=gates, critic="offline")
        levels += [one.level for one in checked.findings]
    # The rules that wrote a label have no say about it.
    assert levels == ["quarantine", "pass", "reject"]


def test_a_killed_check_goes_on_where_it_stopped(fake_server: FakeServer, tmp_path: Path) -> None:
    sound(tmp_path / "data", 4)
    arguments = ["--data_dir", "data", "--out", "checked", "--critic", "judge", "--multiworker", "1"]
    arguments += ["--api_base", fake_server.base]
    fake_server.behaviour = lambda prompt, number: "hold" if number == 2 else "whole"
    process = started("check", *arguments, cwd=tmp_path)
    fake_server.wait_for(3)
    process.kill()
    process.communicate()
    assert not (tmp_path / "checked/gates.jsonl").exists()
    fake_server.release()
    fake_server.forget()
    fake_server.behaviour = lambda prompt, number: "whole"
    done = shell("check", *arguments, cwd=tmp_path)
    assert done.code == 0, done.err
    assert len(fake_server.received) == 2
    assert len(lines_of(tmp_path / "checked/gates.jsonl")) == 4


def test_a_server_that_is_not_there_leaves_the_last_check_as_it_was(tmp_path: Path) -> None:
    folder, out = sound(tmp_path / "data", 2), tmp_path / "checked"
    check(folder, out=out)
    before = files_below(out)
    with pytest.raises(ToolassayError):
        check(folder, out=out, critic="judge", options=ModelOptions(api_base="http://127.0.0.1:9/v1"))
    after = files_below(out)
    assert {name: after[name] for name in before} == before


def test_predictions_that_are_there_are_used(tmp_path: Path) -> None:
    folder, out = sound(tmp_path / "data", 2), tmp_path / "checked"
    plans = [{"id": one["id"], "result": {"task_nodes": one["task_nodes"]}} for one in (label(0), label(1))]
    (folder / "predictions").mkdir()
    write_lines(folder / "predictions/acme.json", plans)
    solved = ["--solver", "acme", "--prediction_dir", "predictions", "--api_base", "http://127.0.0.1:9/v1"]
    done = inside("check", "--data_dir", folder, "--out", out, *solved)
    assert done.code == 0, done.err
    assert [line["gates"]["second opinion"] for line in lines_of(out / "gates.jsonl")] == ["pass", "pass"]


def test_the_folder_records_its_source_so_that_both_can_be_moved(folder: Path, tmp_path: Path) -> None:
    DataFolder(folder).update_benchmark(generation={"llm": "acme/writer"}, source="Made by Ann.")
    out = tmp_path / "checked"
    check(folder, out=out)
    for made, written in ((out, "../data"), (out / "quarantine", "../../data")):
        told = DataFolder(made).written_benchmark
        assert (told["generation"], told["source"]) == ({"llm": "acme/writer"}, "Made by Ann.")
        assert told["checked"]["from"] == written
    moved = tmp_path / "moved"
    moved.mkdir()
    for path in (folder, out):
        path.rename(moved / path.name)
    assert check(moved / "data", out=moved / "checked").levels["pass"] == 2
    # What an earlier version wrote: the whole path.
    told = DataFolder(moved / "checked").written_benchmark["checked"]
    DataFolder(moved / "checked").update_benchmark(checked={**told, "from": str(moved / "data")})
    assert check(moved / "data", out=moved / "checked").levels["pass"] == 2


def test_a_full_disk_is_reported_with_the_file_and_leaves_nothing(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "checked"
    write_lines(folder / "data.json", [label(number) for number in range(300)])
    limited = ["bash", "-c", 'ulimit -f 60; exec "$@"', "-", *command_of("check")]
    arguments = ["--data_dir", str(folder), "--out", str(out)]
    arguments += ["--gates", "leak"]
    done = subprocess.run(
        [*limited, *arguments], env=environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "checked/data.json" in done.stderr and "File too large" in done.stderr
    assert not out.exists()


def test_the_example_of_the_page(root: Path, tmp_path: Path) -> None:
    page = (root / "docs" / "gates.md").read_text(encoding="utf-8")
    labels, gates = re.findall(r"```json lines\n(.*?)```", page, re.DOTALL)
    for name in ("tool_desc.json", "graph_desc.json"):
        shutil.copy(root / "data_multimedia" / name, tmp_path)
    (tmp_path / "data.json").write_text(labels, encoding="utf-8")
    check(tmp_path, out=tmp_path / "checked", gates=("schema", "wiring", "grounding", "leak"))
    assert (tmp_path / "checked" / "gates.jsonl").read_text(encoding="utf-8") == gates


def with_controls(path: Path) -> Path:
    """A folder with an executed sample for each way to end at the gate "controls", and one without facts."""
    colour = [{"from": "<node-0>.colour"}]
    known = {
        "sound": (colour, {"colour": "red", "share": 1e-06}, "A fox."),
        "wrong replay": ([{"from": "<node-0>.share"}], {"colour": "red", "share": 1e-06}, "A fox."),
        "idle": ([], {"colour": "red"}, "A fox."),
        "gossip": ([{"from": "<node-1>"}], {"colour": "red"}, "A swan in the old street."),
        "no facts": (None, {"colour": "red"}, "A fox."),
    }
    labels = [
        label(number, check_by_teacher=YES, id=name, **({} if facts is None else {"facts": facts}))
        for number, (name, (facts, *_)) in enumerate(known.items())
    ]
    folder = labelled_folder(path, labels)
    about = background(path)
    write_executions(
        folder,
        [
            execution_of(
                one["id"],
                call_plan_of(Gold.of(one), about.library, about.kind),
                known[one["id"]][1:],
                state_before=StateSummary("a", 1),
                state_after=StateSummary("a", 1, {}),
            )
            for one in labels
        ],
    )
    return folder


@pytest.mark.parametrize("engine", [None, "local:2"])
def test_what_controls_do_not_judge_as_they_must_is_held_back(tmp_path: Path, engine: str | None) -> None:
    folder, out = with_controls(tmp_path / "data"), tmp_path / "checked"
    checked = check(folder, out=out, engine=engine)
    gates = [row["gate"] for row in checked.funnel["funnel"]]
    assert gates[gates.index("execution") + 1] == "controls"
    lines = {line["id"]: line for line in lines_of(out / "gates.jsonl")}
    states = {name: line["gates"]["controls"] for name, line in lines.items()}
    assert states == {
        "sound": "pass",
        "wrong replay": "quarantine",
        "idle": "quarantine",
        "gossip": "quarantine",
        "no facts": "not applicable",
    }
    for name, word in (("wrong replay", "replay"), ("idle", "does nothing"), ("gossip", "reading tools")):
        assert word in of_gate(lines[name], "controls")["reason"]
    assert ids(out / "data.json") == ["sound", "no facts"]
    assert [kind["samples"] for kind in checked.funnel["reasons"]["controls"]] == [1, 1, 1]


def test_controls_are_chosen_where_there_are_facts(tmp_path: Path) -> None:
    folder = with_controls(tmp_path / "data")
    checked = check(folder, out=tmp_path / "one", gates=["controls"])
    assert [row["gate"] for row in checked.funnel["funnel"]] == ["controls"]
    assert checked.levels["quarantine"] == 3
    assert check(folder, out=tmp_path / "two", without=["controls"]).levels["pass"] == 4
    write_lines(
        folder / "data.json", [one for one in lines_of(folder / "data.json") if one["id"] == "no facts"]
    )
    assert "controls" not in check(folder, out=tmp_path / "three").funnel["gates"]
    with pytest.raises(UsageError, match="there is no gate 'controls'"):
        check(folder, out=tmp_path / "four", gates=["controls"])
