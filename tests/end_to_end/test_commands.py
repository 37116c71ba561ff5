"""The six commands of the published README, as written, against a served model."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

from tests.support.builders import data_folder, tool_desc
from tests.support.running import ROOT, Finished, files_below, lines_of, process, shell
from toolassay.testkit import FakeServer

TAGGED = "predictions_use_demos_2_reformat_by_self"


def test_the_six_commands(tmp_path: Path, fake_server: FakeServer) -> None:
    port = str(fake_server.port)
    (tmp_path / "data_multimedia").mkdir()
    shutil.copy(ROOT / "data_multimedia" / "tool_desc.json", tmp_path / "data_multimedia")

    def step(script: str, arguments: str, *more: str) -> Finished:
        start = process if script == "visualize_graph.py" else shell  # pictures are empty in this process
        done = start(script, *arguments.split(), *more, cwd=tmp_path)
        assert done.code == 0, done.err
        assert "Traceback" not in done.err
        return done

    step(
        "generate_graph.py",
        "--tool_desc tool_desc.json --dependency_type resource --data_dir data_multimedia",
    )
    graph = json.loads((tmp_path / "data_multimedia" / "graph_desc.json").read_text())
    assert len(graph["nodes"]) == 40

    step("visualize_graph.py", "--data_dir data_multimedia")
    for name in ("graph_desc.png", "graph_desc.pdf", "graph_desc.html"):
        assert (tmp_path / "data_multimedia" / name).stat().st_size > 1000

    engine = step(
        "data_engine.py",
        "--graph_desc data_multimedia/graph_desc.json --tool_desc data_multimedia/tool_desc.json --llm gpt-4"
        " --temperature 1.0 --top_p 1.0 --dependency_type resource --save_figure false --api_addr localhost"
        " --check true --use_async true --multiworker 5 --number_of_samples 30 --api_port",
        port,
    )
    folder = tmp_path / engine.out.splitlines()[-1]
    assert folder.is_dir()
    assert folder.name.startswith("result_")
    assert folder.name.endswith("_gpt-4_t1.0_p1.0_check")
    raw = lines_of(folder / "data_raw.json")
    assert len({record["id"] for record in raw}) == len(raw) == len(fake_server.received) == 30
    assert all(record["critics"]["llm"] == "pass" and record["critics"]["both"] for record in raw)
    sent = fake_server.received[0].body
    assert (sent["model"], sent["temperature"], sent["top_p"], sent["max_tokens"]) == (
        "gpt-4",
        1.0,
        1.0,
        2500,
    )
    assert not (folder / "task_graphs").exists()

    formatted = step("format_data.py", "--dependency_type resource --data_dir", folder.name)
    assert "Format 30 out of 30" in formatted.out
    labels = lines_of(folder / "data.json")
    requests = lines_of(folder / "user_requests.json")
    assert [label["id"] for label in labels] == [request["id"] for request in requests]

    fake_server.forget()
    step(
        "inference.py",
        "--llm gpt-4 --temperature 0.2 --top_p 0.1 --api_addr localhost --multiworker 5 --use_demos 0"
        " --reformat true --reformat_by self --log_first_detail true --use_demos 2 --dependency_type resource"
        " --tag true --data_dir",
        folder.name,
        "--api_port",
        port,
    )
    predictions = lines_of(folder / TAGGED / "gpt-4.json")
    assert [line["id"] for line in predictions] == [request["id"] for request in requests]
    assert all(line["result"]["task_nodes"] for line in predictions)
    assert len(fake_server.received) == 30
    sent = fake_server.received[0].body
    assert (sent["temperature"], sent["top_p"], sent["presence_penalty"], sent["max_tokens"]) == (
        0.2,
        0.1,
        1.05,
        2000,
    )

    step(
        "evaluate.py",
        "--llm gpt-4 --splits all --n_tools all --mode add --dependency_type resource -m all --data_dir",
        folder.name,
        "--prediction_dir",
        TAGGED,
    )
    assert (folder / "metrics_use_demos_2_reformat_by_self" / "gpt-4.json").stat().st_size > 100


def test_scripts_and_stages_and_both_spellings_are_the_same(tmp_path: Path, fake_server: FakeServer) -> None:
    asked = ["--data_dir", "data", "--api_port", str(fake_server.port), "--multiworker", "1"]
    written = []
    for place, names, dashes in (
        ("one", ("generate_graph.py", "data_engine.py", "format_data.py", "inference.py"), False),
        ("two", ("graph", "generate", "format", "infer"), True),
    ):
        folder = tmp_path / place / "data"
        tool_desc(folder / "tool_desc.json")
        calls = (
            ["--data_dir", "data", "--dependency_type", "resource"],
            [*asked, "--number_of_samples", "6", "--seed", "5"],
            ["--data_dir", "data", "--dependency_type", "resource"],
            [*asked, "--log_first_detail", "true"],
        )
        for name, call in zip(names, calls, strict=True):
            arguments = [part.replace("_", "-") if dashes and part[:2] == "--" else part for part in call]
            done = shell(name, *arguments, cwd=tmp_path / place)
            assert done.code == 0, done.err
        files = files_below(folder)
        for timed in ("statistics.json", "runs/gpt-4/ledger.jsonl", "runs/gpt-4/manifest.json"):
            del files[timed]
        for timed in ("ledger.jsonl", "summary.json", "manifest.json"):
            del files[f"predictions/runs/gpt-4/{timed}"]
        for name in ("runs/gpt-4/journal.jsonl", "predictions/runs/gpt-4/journal.jsonl"):
            files[name] = re.sub(rb'"seconds": [\d.e-]+', b"", files[name])
        written.append(files)
    assert written[0] == written[1]
    assert "predictions/gpt-4.json" in written[0]
    assert len(written[0]["data.json"].splitlines()) == 6


def test_a_model_name_with_a_slash_is_a_file_and_never_a_folder(
    tmp_path: Path, fake_server: FakeServer
) -> None:
    data_folder(tmp_path / "data", 2)
    name = "meta-llama/Llama-3-8B"
    arguments = ("--data_dir", "data", "--api_port", str(fake_server.port), "--llm", name)
    assert shell("inference.py", *arguments, cwd=tmp_path).code == 0
    assert (tmp_path / "data" / "predictions" / "meta-llama__Llama-3-8B.json").is_file()
    assert fake_server.received[0].body["model"] == name
    manifest = tmp_path / "data" / "predictions" / "runs" / "meta-llama__Llama-3-8B" / "manifest.json"
    assert json.loads(manifest.read_text())["settings"]["llm"] == name
    done = shell("inference.py", *arguments[:-1], "meta-llama__Llama-3-8B", cwd=tmp_path)
    assert done.code == 2
    assert "llm: 'meta-llama/Llama-3-8B' -> 'meta-llama__Llama-3-8B'" in done.error
    done = shell("data_engine.py", *arguments, "--number_of_samples", "2", cwd=tmp_path)
    assert done.code == 0, done.err
    assert (tmp_path / "data" / "runs" / "meta-llama__Llama-3-8B" / "journal.jsonl").is_file()
