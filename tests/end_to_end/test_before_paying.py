"""Trying a run on a few requests, and knowing what it may cost, before anything is paid for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.builders import data_folder
from tests.support.running import files_below, generate, ids, infer, lines_of
from toolassay.testkit import FakeServer

HEAD = "model,prompt_usd_per_million,completion_usd_per_million,as_of\n"


def everything(folder: Path) -> dict[str, object]:
    """Every file and folder below a folder: what is in it, and when it was written."""
    files: dict[str, object] = dict(files_below(folder))
    return files | {f"{path}:": path.stat().st_mtime_ns for path in folder.rglob("*")}


def test_the_first_few_and_then_the_rest(tmp_path: Path, fake_server: FakeServer) -> None:
    folder = data_folder(tmp_path / "data", 6)
    predictions = folder / "predictions/gpt-4.json"
    done = infer(fake_server, folder, "--limit", "2")
    assert done.code == 0
    assert ids(predictions) == ["1000", "1001"]
    done = infer(fake_server, folder, "--limit", "2")
    assert done.code == 0 and "all 2 requests are answered already" in done.out
    assert len(fake_server.received) == 2
    # They are no settings of the run: without them it goes on.
    assert infer(fake_server, folder).code == 0
    assert len(fake_server.received) == 6
    assert ids(predictions) == [str(1000 + n) for n in range(6)]
    undisturbed = data_folder(tmp_path / "other", 6)
    infer(fake_server, undisturbed)
    assert (undisturbed / "predictions/gpt-4.json").read_bytes() == predictions.read_bytes()


@pytest.mark.parametrize(
    "text",
    [
        "1004\n\n 1001 \n",
        '["1001", "1004"]',
        "1001\r\n1004",
    ],
)
def test_those_in_a_file_and_what_was_answered_before_stays(
    tmp_path: Path, fake_server: FakeServer, text: str
) -> None:
    folder = data_folder(tmp_path, 6)
    chosen = tmp_path / "ids.txt"
    chosen.write_text(text)
    assert infer(fake_server, folder, "--limit", "1").code == 0
    assert infer(fake_server, folder, "--ids", chosen).code == 0
    assert ids(folder / "predictions/gpt-4.json") == ["1000", "1001", "1004"]
    assert infer(fake_server, folder, "--ids", chosen, "--limit", "1").code == 0
    assert len(fake_server.received) == 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1001\nnobody\nnothing", "has no request nobody, nothing"),
        ("", "--ids names no id"),
        ("[1001", "not valid JSON"),
        (None, "no such file"),
    ],
)
def test_ids_that_are_none_are_named_before_anything_is_done(
    tmp_path: Path, fake_server: FakeServer, text: str | None, words: str
) -> None:
    folder = data_folder(tmp_path, 3)
    chosen = tmp_path / "ids.txt"
    if text is not None:
        chosen.write_text(text)
    before = everything(tmp_path)
    done = infer(fake_server, folder, "--ids", chosen)
    assert done.code == 2
    assert words in done.error and "Fix:" in done.error
    assert everything(tmp_path) == before and not fake_server.received


def test_a_dry_run_of_inference_reports_and_changes_nothing(tmp_path: Path, fake_server: FakeServer) -> None:
    folder = data_folder(tmp_path, 20)
    prices = tmp_path / "prices.csv"
    prices.write_text(f"{HEAD}gpt-4,10,20,2026-01-01\n")
    more = ("--prices", prices, "--api_key", "sk-SECRET", "--dry_run")
    before = everything(tmp_path)
    done = infer(fake_server, folder, *more)
    assert done.code == 0
    assert everything(tmp_path) == before and not fake_server.received
    assert f"model: gpt-4 at {fake_server.base}" in done.out
    assert "requests: 20 to send; 0 of 20 requests are answered" in done.out
    assert "tokens to write: 40000 at most (2000 an answer)\n" in done.out
    assert "money: up to about $" in done.out and "not counted: tries after a failure" in done.out
    assert "sk-SECRET" not in done.out + done.err

    # With answers there it learns from them: the server counts a token a character.
    assert infer(fake_server, folder, "--limit", "5").code == 0
    ledger = lines_of(folder / "predictions/runs/gpt-4/ledger.jsonl")
    journal = folder / "predictions/runs/gpt-4/journal.jsonl"
    journal.write_bytes(journal.read_bytes() + b'{"key": "torn')
    fake_server.forget()
    before = everything(tmp_path)
    done = infer(fake_server, folder, *more)
    assert everything(tmp_path) == before and not fake_server.received
    assert "requests: 15 to send; 5 of 20 requests are answered" in done.out
    told = int(done.out.split("tokens to read: about ")[1].split()[0])
    assert told == pytest.approx(3 * sum(line["prompt_tokens"] for line in ledger), rel=0.01)
    told = int(done.out.split("at most (2000 an answer), about ")[1].split()[0])
    assert told == 3 * sum(line["completion_tokens"] for line in ledger)

    done = infer(fake_server, folder, "--limit", "6", *more)
    assert "requests: 1 to send; 5 of 6 requests are answered" in done.out
    done = infer(fake_server, folder, "--temperature", "1", *more)
    assert done.code == 2 and "temperature: 0.2 -> 1.0" in done.error
    done = infer(fake_server, folder, "--temperature", "1", "--force", *more)
    assert "requests: 20 to send; 0 of 20 requests are answered" in done.out
    assert everything(tmp_path) == before and not fake_server.received


def test_trials_of_a_dry_run_are_summed(tmp_path: Path, fake_server: FakeServer) -> None:
    folder = data_folder(tmp_path / "data", 4)
    (prices := tmp_path / "prices.csv").write_text(f"{HEAD}gpt-4,0,1000,2026-01-01\n")
    assert infer(fake_server, folder, "--limit", "1").code == 0
    done = infer(fake_server, folder, "--trials", "3", "--dry_run", "--prices", prices)
    assert done.code == 0, done.err
    assert done.out.count("price: $0 input, $1000 output per million tokens (--prices, 2026-01-01)") == 3
    together = done.out.splitlines()[-1]
    assert together.startswith("all 3 trials together: 11 requests, about ")
    assert together.endswith("up to 22000 to write, up to about $22.0000")
    done = infer(fake_server, folder, "--llm", "acme", "--trials", "2", "--dry_run")
    assert "money: none (local, no price)" in done.out


@pytest.mark.parametrize(
    ("model", "base", "words"),
    [
        ("gpt-4o", None, "to write; money: none (local, no price). For fewer: --number_of_samples 100"),
        ("priced", None, "12500000 to write, up to about $12.5000. For fewer"),
    ],
)
def test_the_published_number_of_samples_is_announced_with_its_cost(
    tmp_path: Path, fake_server: FakeServer, model: str, base: None, words: str
) -> None:
    folder = data_folder(tmp_path / "data", 1)
    (prices := tmp_path / "prices.csv").write_text(f"{HEAD}priced,0,1,2026-01-01\n")
    more = ("--llm", model, "--seed", "1", "--max_requests", "2", "--prices", prices)
    done = generate(fake_server, folder, *more)
    assert done.code == 3 and len(fake_server.received) == 2
    announced = next(line for line in done.err.splitlines() if "the default of --number_of_samples" in line)
    assert "the published 5,000: 5000 requests, about " in announced and words in announced
    assert done.err.index(announced) < done.err.index("used by this run so far")
    done = generate(fake_server, folder, *more, "--number_of_samples", "3")
    assert "the default of --number_of_samples" not in done.err


def test_a_dry_run_of_generation(tmp_path: Path, fake_server: FakeServer) -> None:
    folder = data_folder(tmp_path / "data", 1)
    before = everything(tmp_path)
    done = generate(fake_server, folder, "--number_of_samples", "600", "--dry_run")
    assert done.code == 0
    assert "requests: 600 to send; 0 of 600 samples are answered" in done.out
    assert "tokens to write: 1500000 at most (2500 an answer)" in done.out
    # A new folder is not made either.
    new = ("--graph_desc", folder / "graph_desc.json", "--tool_desc", folder / "tool_desc.json", "--dry_run")
    assert generate(fake_server, tmp_path / "new", *new).code == 0
    assert everything(tmp_path) == before and not fake_server.received

    more = ("--seed", "3", "--number_of_samples")
    assert generate(fake_server, folder, *more, "4").code == 0
    fake_server.forget()
    before = everything(tmp_path)
    done = generate(fake_server, folder, *more, "10", "--dry_run")
    assert "requests: 6 to send; 4 of 10 samples are answered" in done.out
    assert "as the 4 answers there are" in done.out
    assert generate(fake_server, folder, "--temperature", "0", "--dry_run").code == 2
    assert generate(fake_server, folder, "--play", "--dry_run").code == 2
    assert everything(tmp_path) == before and not fake_server.received
