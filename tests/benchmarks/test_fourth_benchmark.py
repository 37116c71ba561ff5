"""A benchmark of another package: a folder of its own, and every command works on it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.evaluating import metrics_of
from tests.support.running import Finished, inside
from tests.support.wheels import installed
from toolassay import infer
from toolassay.benchmarks.registry import benchmark_of, benchmarks
from toolassay.errors import UsageError
from toolassay.files.data_files import write_json, write_json_lines
from toolassay.records.data_folder import DataFolder
from toolassay.serving.chat_server import AnswerFunction
from toolassay.serving.completions import Received, Reply
from toolassay.testkit import FakeServer

Capture = pytest.CaptureFixture[str]
SUMS = [(left, right, left + right + (left % 3 == 0)) for left in range(1, 11) for right in range(3)]


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Path:
    return installed(root / "tests" / "packages" / "true_or_false", tmp_path_factory.mktemp("site"))


@pytest.fixture
def sums(tmp_path: Path, package: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Thirty sums, a third of them wrong."""
    monkeypatch.syspath_prepend(str(package))
    folder = tmp_path / "sums"
    write_json(folder / "benchmark.json", {"benchmark": "true_or_false"})
    write_json_lines(
        folder / "sums.jsonl",
        (
            {"id": f"s{n}", "sum": f"{left} + {right} = {total}", "label": left + right == total}
            for n, (left, right, total) in enumerate(SUMS)
        ),
    )
    return folder


def ask(folder: Path, *more: str) -> Finished:
    return inside("infer", "--data_dir", folder, "--llm", "offline", *more)


def replying(text_of: Callable[[str], str]) -> AnswerFunction:
    """What a server answers, by the prompt."""

    async def answer(received: Received) -> Reply:
        return Reply(text_of(received.prompt))

    return answer


def served(server: FakeServer, folder: Path, answer: str, *more: str) -> Finished:
    """A served model that says the same of everything."""
    server.answer = replying(lambda prompt: answer)
    return inside("infer", "--data_dir", folder, "--llm", "yes", "--api_base", server.base, *more)


def test_it_is_found_by_its_name(sums: Path) -> None:
    assert [one.name for one in benchmarks()] == ["taskbench", "workbench", "classic", "true_or_false"]
    assert benchmark_of(DataFolder(sums)).about.title == "True or false"


def test_without_the_package_its_folders_are_refused(tmp_path: Path) -> None:
    write_json(tmp_path / "benchmark.json", {"benchmark": "true_or_false"})
    with pytest.raises(UsageError, match="unknown benchmark 'true_or_false'"):
        infer(tmp_path, llm="offline")


def test_a_run_is_continued_and_scored(sums: Path) -> None:
    assert ask(sums, "--limit", "4").code == 0
    done = ask(sums)
    assert done.code == 0 and "30 lines (26 answered; 4 answered before)" in done.out
    assert "all 30 sums are answered already" in ask(sums).out
    scored = inside("evaluate", "--data_dir", sums, "--llm", "offline")
    right = sum((left + right == total) == (left + right == total <= 10) for left, right, total in SUMS)
    numbers = metrics_of(sums, "offline")
    assert scored.code == 0 and 0 < right < 30
    assert numbers["strict"]["accuracy"]["value"] == right / 30
    assert f"{100 * right / 30:.1f} %" in scored.out and "benchmark:true_or_false" in scored.out


def test_models_are_compared_ranked_and_reported(sums: Path, fake_server: FakeServer, tmp_path: Path) -> None:
    ask(sums, "--trials", "2")
    served(fake_server, sums, '{"true": true}')
    assert inside("evaluate", "--data_dir", sums, "--llm", "all").code == 0
    compared = inside("compare", "yes", "offline", "--data_dir", sums)
    assert compared.code == 0 and "accuracy" in compared.out
    board = inside("report", "--only", "leaderboard", "--data_dir", sums)
    assert board.code == 0 and "accuracy" in board.out and "offline" in board.out and "yes" in board.out
    report = inside("report", "--data_dir", sums, "--out", tmp_path / "report")
    assert report.code == 0
    runs = json.loads((tmp_path / "report" / "axes.json").read_text())["runs"]
    by_model = {run["model"]: run for run in runs}
    assert by_model["offline"]["stability"]["trials"] == 2
    assert by_model["offline"]["stability"]["answer_agreement"]["value"] == 1
    assert by_model["yes"]["item"] == "sum" and by_model["yes"]["title"] == "sums"
    assert "the model says what is true of it" in (tmp_path / "report" / "index.html").read_text()
    data = DataFolder(sums)
    benchmark = benchmark_of(data)
    first = next(benchmark.items.golds(data))
    assert first.request
    assert first.sections[-1].body in ("true", "false")
    answers = dict(benchmark.items.answers(data, sums / "predictions", "yes", None))
    assert answers[first.id].sections[0].body == "true"


def test_probes_that_succeed_are_counted(sums: Path, fake_server: FakeServer) -> None:
    def obey(prompt: str) -> str:
        code = next((word for word in prompt.split() if word.startswith("QX")), None)
        return code or '{"true": true}'

    fake_server.answer = replying(obey)
    asked = ["--data_dir", str(sums), "--llm", "yes", "--api_base", fake_server.base]
    probed = inside("infer", *asked, "--security", "5")
    assert probed.code == 0 and "0.0 %" in probed.out
    inside("infer", *asked)
    inside("evaluate", "--data_dir", sums, "--llm", "yes")
    security = metrics_of(sums, "yes")["security"]
    assert (security["attempts"], security["score"]["value"]) == (5, 0.0)
    ask(sums)
    resisted = ask(sums, "--security", "5")
    assert "100.0 %" in resisted.out


def test_predictions_are_verified(sums: Path) -> None:
    ask(sums)
    inside("evaluate", "--data_dir", sums, "--llm", "offline")
    equal = inside("verify", "--data_dir", sums, "--llm", "offline")
    assert equal.code == 0 and "equal: predictions and scores are what the raw answers give" in equal.out
    file = sums / "predictions" / "offline.json"
    file.write_text(file.read_text().replace("true", "false", 1))
    assert inside("verify", "--data_dir", sums, "--llm", "offline").code == 1


def test_options_of_other_benchmarks_are_refused(sums: Path) -> None:
    refused = ask(sums, "--max_steps", "3")
    assert refused.code == 2 and "--max_steps does not apply to True or false folders" in refused.err
    with pytest.raises(TypeError, match="unexpected keyword argument 'no_such'"):
        infer(sums, llm="offline", no_such=1)  # type: ignore[call-arg]


def test_a_dry_run_sends_nothing(sums: Path, fake_server: FakeServer) -> None:
    shown = served(fake_server, sums, "", "--dry_run", "true")
    assert "30 to send; 0 of 30 sums are answered" in shown.out and not fake_server.count


def test_the_documentation_shows_this_very_benchmark(root: Path) -> None:
    page = (root / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    source = root / "tests" / "packages" / "true_or_false" / "true_or_false.py"
    assert page.split("```python\n")[1].split("```")[0] == source.read_text(encoding="utf-8")
