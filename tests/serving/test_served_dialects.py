"""The fake server through its three APIs: the same answers, whole and streamed, and with faults."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.builders import data_folder, running_server, workbench_folder
from tests.support.running import inside, lines_of
from toolassay import infer
from toolassay.models import ModelOptions
from toolassay.models.options import PATHS, Api
from toolassay.serving.offline_answers import OfflineAnswers
from toolassay.testkit import FakeServer

OTHERS: list[Api] = ["responses", "messages"]
build_folder = workbench_folder


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("api", PATHS)
def test_plans_are_those_of_the_offline_model(tmp_path: Path, api: Api, *, stream: bool) -> None:
    folder = data_folder(tmp_path / "data", 6)
    infer(folder, llm="offline")
    with running_server(OfflineAnswers()) as server:
        server.fail_first("reset", "500", "truncated", "cut-json", "overflow")
        options = ModelOptions(api_base=server.base, api=api, stream=stream, connections=1)
        result = infer(folder, llm="served", options=options)
        assert {request.path for request in server.received} == {f"/v1{PATHS[api]}"}
    outcomes = result.summary.outcomes
    assert (outcomes["answered"], outcomes["context overflow"]) == (5, 1)
    served, offline = (
        {line["id"]: line for line in lines_of(folder / f"predictions/{llm}.json")}
        for llm in ("served", "offline")
    )
    assert len(served) == 5 and served.items() <= offline.items()


@pytest.mark.parametrize("api", OTHERS)
def test_agents_with_tools_are_those_of_the_offline_model(folder: Path, api: Api) -> None:
    ids = ["email-001", "calendar-001", "analytics-025", "multi_domain-001"]
    infer(folder, llm="offline", ids=ids)
    with running_server(OfflineAnswers()) as server:
        for stream in (False, True):
            options = ModelOptions(api_base=server.base, api=api, stream=stream)
            infer(folder, llm=f"served-{stream}", options=options, ids=ids)
    offline = lines_of(folder / "predictions/offline.json")
    assert sum(len(line["function_calls"]) for line in offline) > 3
    for stream in (False, True):
        assert lines_of(folder / f"predictions/served-{stream}.json") == offline


def test_what_an_api_lacks_is_recorded_as_refused(
    tmp_path: Path, fake_server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    folder = data_folder(tmp_path / "data", 2)
    arguments = ("--data_dir", folder, "--llm", "m", "--api_base", f"{fake_server.base}/messages")
    assert inside("infer", *arguments, "--limit", "1").code == 0
    done = inside("infer", *arguments)  # continues
    assert done.code == 0, done.err
    assert len(fake_server.received) == 2
    assert all("presence_penalty" not in request.body for request in fake_server.received)
    manifest = (folder / "predictions/runs/m/manifest.json").read_text()
    assert '"presence_penalty"' in manifest and '"api": "messages"' in manifest
