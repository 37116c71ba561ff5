from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.checking import background, gold
from tests.support.running import write_lines
from toolassay.gates.second_opinion_gate import SecondOpinionGate, Solver

PAINT, CAPTION = {"task": "Painter", "arguments": ["it"]}, {"task": "Captioner", "arguments": ["<node-0>"]}


@contextmanager
def gate(path: Path, *results: Any) -> Iterator[SecondOpinionGate]:
    """Solvers a, b, …, each with one result for item-0; "nothing" is no line."""
    solvers = []
    for name, result in zip("abc", results, strict=False):
        lines = [] if result == "nothing" else [{"id": "item-0", "result": result}]
        write_lines(path / f"{name}.json", lines)
        solvers.append(Solver(name, path / f"{name}.json"))
    with closing(SecondOpinionGate(solvers, background(path))) as made:
        yield made


@pytest.mark.parametrize(
    "result",
    [
        {"task_nodes": [PAINT, CAPTION]},
        {
            "task_nodes": [{"task": "painter"}, CAPTION],
            "task_links": [{"source": "painter", "target": "Captioner"}],
        },
        {"task_nodes": [{"task": "Captioner", "arguments": ["<node-1>"]}, PAINT]},
    ],
)
def test_the_same_tools_and_links_are_a_solution(tmp_path: Path, result: Any) -> None:
    with gate(tmp_path, result) as opinion:
        assert opinion.check(gold()) == []


@pytest.mark.parametrize(
    ("result", "words"),
    [
        ({"task_nodes": [PAINT]}, "a does not produce this plan: it lacks 'Captioner'"),
        ({"task_nodes": [PAINT, CAPTION, PAINT]}, "a does not produce this plan: it adds 'Painter'"),
        (
            {"task_nodes": [PAINT, CAPTION], "task_links": [{"source": "Captioner", "target": "Painter"}]},
            "a does not produce this plan: it adds the link 'Captioner' -> 'Painter'",
        ),
        ({"task_nodes": [PAINT, {"task": "Captioner", "arguments": ["it"]}]}, "lacks the link"),
        (None, "a does not produce this plan: no answer has a plan"),
    ],
)
def test_what_no_solver_solves_is_put_in_quarantine(tmp_path: Path, result: Any, words: str) -> None:
    with gate(tmp_path, result) as opinion:
        (found,) = opinion.check(gold())
    assert (found.gate, found.state) == ("second opinion", "quarantine")
    assert words in found.reason


def test_one_of_several_is_enough_and_the_nearest_is_named(tmp_path: Path) -> None:
    near, far = {"task_nodes": [PAINT]}, {"task_nodes": [{"task": "Narrator"}]}
    with gate(tmp_path, far, {"task_nodes": [PAINT, CAPTION]}) as opinion:
        assert opinion.check(gold()) == []
    with gate(tmp_path, far, near, None) as opinion:
        (found,) = opinion.check(gold())
    assert found.reason == "none of 3 solvers produces this plan: the nearest, b, lacks 'Captioner'"
    with gate(tmp_path, far, near, "nothing") as opinion:
        (found,) = opinion.check(gold())
    assert "none of 2 solvers" in found.reason and "(1 more gave no answer)" in found.reason


def test_no_answer_is_unknown_and_so_is_one_to_other_words(tmp_path: Path) -> None:
    with gate(tmp_path, "nothing", "nothing") as opinion:
        (found,) = opinion.check(gold())
    assert (found.state, found.reason) == ("unknown", "none of 2 solvers gave an answer")
    write_lines(tmp_path / "a.json", [{"id": "item-0", "user_request": "Hi", "result": {"task_nodes": []}}])
    solvers = [Solver("a", tmp_path / "a.json"), Solver("b", tmp_path / "never.json")]
    with closing(SecondOpinionGate(solvers, background(tmp_path))) as opinion:
        assert opinion.check(gold())[0].state == "unknown"


def test_what_was_not_asked_or_cannot_be_read_is_not_applicable(tmp_path: Path) -> None:
    opinion = SecondOpinionGate([], background(tmp_path), frozenset({1}))
    assert opinion.check(gold(line=2))[0].state == "not applicable"
    assert opinion.check(gold(line=1, task_nodes=[{"tusk": 1}]))[0].state == "not applicable"


def plan(text: str, *, later: str = "<node-0>", turned: bool = False) -> dict[str, Any]:
    """A solution of the sample with this text; turned: the calls are in the other order."""
    paint, caption = {"task": "Painter", "arguments": [text]}, {"task": "Captioner", "arguments": [later]}
    return {"task_nodes": [caption, paint] if turned else [paint, caption]}


@pytest.mark.parametrize(
    ("results", "reason"),
    [
        ((plan("a cat"), plan("'a cat'"), plan("a dog")), "2 of 3 solvers have 'a cat'"),
        ((plan("a cat"), plan("a cat", later="<node-1>", turned=True)), "2 of 2 solvers have 'a cat'"),
    ],
)
def test_solvers_that_agree_against_the_gold_put_it_in_quarantine(
    tmp_path: Path, results: tuple[Any, ...], reason: str
) -> None:
    with gate(tmp_path, *results) as opinion:
        (found,) = opinion.check(gold())
    assert found.state == "quarantine"
    assert found.reason.startswith("Painter.text: the gold has ")
    assert reason in found.reason


@pytest.mark.parametrize(
    "results",
    [
        (plan("a cat"),),
        (plan("a cat"), plan("a dog")),
        (plan("a cat"), plan("a cat"), {"task_nodes": gold().record["task_nodes"]}),
        (plan("a big cat on a very old mat"), plan("a big cat on a very old mat")),
    ],
)
def test_one_solver_or_disagreeing_ones_decide_nothing_about_arguments(
    tmp_path: Path, results: tuple[Any, ...]
) -> None:
    with gate(tmp_path, *results) as opinion:
        assert opinion.check(gold()) == []
