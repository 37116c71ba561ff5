"""`toolassay export` of a folder with executions, through the command."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.support.executions import execution_of, plans_of, write_executions
from tests.support.gold_samples import TEMPORAL, label, named, write_folder
from tests.support.running import inside, lines_of
from toolassay.plans.execution_record import ExecutedCall, Execution


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Ten samples, each of a payment and a booking for what is left of it."""
    nodes: list[tuple[str, list[Any] | None]] = [
        ("pay", named(amount=3, by_card=True)),
        ("book", named(seats="<node-0>.left", film_title="Heat")),
    ]
    labels = [label(number, nodes, links=[("pay", "book")]) for number in range(10)]
    return write_folder(tmp_path / "data", labels, TEMPORAL, "temporal")


def executions(folder: Path, wrong: Sequence[int] = (), **more: Any) -> list[Execution]:
    """An execution of every sample; those of `wrong` have a wrong call."""
    refused = ExecutedCall(1, "book", {"seats": "four"}, error="seats: not a number")
    return [
        execution_of(
            plan.id,
            plan,
            [{"left": number}, f"Booked {number}."],
            wrong_call=refused if number in wrong else None,
            **more,
        )
        for number, plan in enumerate(plans_of(folder, TEMPORAL, "temporal"))
    ]


def run(folder: Path, *more: str, to: str = "openai") -> tuple[Any, Path]:
    out = folder.parent / "out"
    return inside("export", "--data_dir", folder, "--to", to, "--out", out, *more), out


def contents(out: Path) -> list[str]:
    """The texts of a chat after the request; of a message with calls, their arguments."""
    messages = lines_of(out / "train.jsonl")[4]["messages"]
    return [
        json.dumps([call["function"]["arguments"] for call in message["tool_calls"]])
        if "tool_calls" in message
        else message["content"]
        for message in messages[1:]
    ]


def test_results_are_exported_if_there_are_executions(folder: Path) -> None:
    write_executions(folder, executions(folder))
    done, out = run(folder, "--arguments", "object")

    assert (done.code, done.err) == (0, "")
    assert contents(out) == [
        '[{"amount": 3, "by_card": true}]',
        '{"left": 4}',
        '[{"seats": 4, "film_title": "Heat"}]',
        "Booked 4.",
        "Booked 4.",
    ]
    assert {line["results"] for line in lines_of(out / "index" / "train.jsonl")} == {"executed"}
    assert "| executed | mcp | 10 |" in (out / "README.md").read_text()


def test_samples_without_results_are_refused(folder: Path) -> None:
    made = executions(folder)
    stale = replace(made[2], plan="0123456789abcdef")
    write_executions(folder, [replace(made[0], outcome="failed", reason="sold out"), stale, *made[3:]])
    done, out = run(folder, to="jsonl")

    assert done.code == 3
    assert "warning: 3 samples refused, with reasons in" in done.err
    reasons = {line["id"]: line["reason"] for line in lines_of(out / "refused.jsonl")}
    assert reasons.keys() == {"0", "1", "2"}
    assert "sold out" in reasons["0"] and "earlier version" in reasons["2"]
    assert len(lines_of(out / "train.jsonl")) == 7
    assert "3 samples refused" in (out / "README.md").read_text()


@pytest.mark.parametrize("to", ["openai", "sharegpt"])
def test_the_wanted_share_of_chats_has_a_wrong_call(to: str, folder: Path) -> None:
    write_executions(folder, executions(folder, wrong=range(2, 9)))
    done, out = run(folder, "--recoveries", "0.3", to=to)
    index = lines_of(out / "index" / "train.jsonl")
    chosen = [line["id"] for line in index if line.get("recovery")]

    assert (done.code, done.err) == (0, "")
    assert len(chosen) == 3
    assert set(chosen) <= set(map(str, range(2, 9)))
    assert "3 chats with a wrong call" in (out / "README.md").read_text()
    lines = lines_of(out / "train.jsonl")
    assert [line["id"] for line, chat in zip(index, lines, strict=True) if "not a number" in str(chat)] == (
        chosen
    )


def test_the_choice_of_wrong_calls_depends_on_the_seed_only(folder: Path) -> None:
    write_executions(folder, executions(folder, wrong=range(10)))

    def chosen(*more: str) -> set[str]:
        _, out = run(folder, *more)
        return {line["id"] for line in lines_of(out / "index" / "train.jsonl") if line.get("recovery")}

    few = chosen("--recoveries", "0.3")
    assert few == chosen("--recoveries", "0.3", "--parallel")
    assert few < chosen("--recoveries", "0.6")
    assert few != chosen("--recoveries", "0.3", "--seed", "5")
    assert chosen() == set()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--results", "executed"], "executions.jsonl: no such file"),
        (["--results", "none", "--closing", "Done."], "omit --closing"),
        (["--recoveries", "0.1"], "--recoveries needs executed results"),
        (["--recoveries", "2"], "2.0 is not a number from 0 to 1"),
        (["--results", "some"], "'some' is not one of"),
    ],
)
def test_options_that_cannot_be_followed(arguments: list[str], message: str, folder: Path) -> None:
    done, out = run(folder, *arguments)

    assert done.code == 2
    assert message in done.error
    assert not out.exists()
