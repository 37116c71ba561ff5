"""Errors are data; each interface spells the commands in them its own way."""

from __future__ import annotations

import ast
import pickle
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.running import ROOT, inside, shell
from toolassay.engines.processes import Processes
from toolassay.errors import CALLER, Caller, IncompleteError, ToolassayError, UsageError, as_called

NAMED = re.compile(r"\b(generate_graph|visualize_graph|data_engine|format_data|inference|evaluate)\.py\b")


@pytest.mark.parametrize(
    ("caller", "infer", "execute"),
    [
        ("python", "infer(llm='a b', force=True)", "execute()"),
        ("command", "toolassay infer --llm 'a b' --force true", "toolassay execute"),
        ("script", "inference.py --llm 'a b' --force true", "toolassay execute"),
    ],
)
def test_a_command_is_spelled_as_its_caller_writes_it(caller: Caller, infer: str, execute: str) -> None:
    token = CALLER.set(caller)
    try:
        assert as_called("infer", llm="a b", force=True) == infer
        assert as_called("execute") == execute
    finally:
        CALLER.reset(token)


@pytest.mark.parametrize("kind", [ToolassayError, UsageError, IncompleteError])
def test_an_error_keeps_its_parts_between_processes(kind: type[ToolassayError]) -> None:
    error = pickle.loads(pickle.dumps(kind("is\nempty.", file=Path("a.json"), line=3, fix="write one")))
    assert type(error) is kind
    assert (error.reason, error.file, error.line, error.fix) == ("is empty", Path("a.json"), 3, "write one")
    assert str(error) == "a.json:3: is empty. Fix: write one"
    assert (str(kind("is empty", file="a")), kind("is empty").fix) == ("a: is empty", None)


class Failing:
    """Fails with a hint."""

    def start(self) -> Failing:
        return self

    def __call__(self, shard: int) -> int:
        raise UsageError("is wrong", fix=as_called("execute"))


@pytest.mark.parametrize(("caller", "fix"), [("command", "toolassay execute"), ("python", "execute()")])
def test_workers_spell_commands_as_their_caller(caller: Caller, fix: str) -> None:
    token = CALLER.set(caller)
    try:
        with Processes(2) as engine, pytest.raises(UsageError) as caught:
            list(engine.map(Failing(), [1]))
    finally:
        CALLER.reset(token)
    assert caught.value.fix == fix


def test_each_interface_prints_its_own_form(tmp_path: Path) -> None:
    from toolassay import evaluate

    (tmp_path / "predictions").mkdir()
    arguments = ("--data_dir", tmp_path, "--llm", "all")
    assert "make one with inference.py" in inside("evaluate", *arguments).error
    assert "make one with toolassay infer" in shell("evaluate", *arguments, cwd=tmp_path).error
    with pytest.raises(UsageError) as caught:
        evaluate(tmp_path)
    assert caught.value.fix == "make one with infer()"


def literals_of_errors() -> Iterator[tuple[Path, str]]:
    """The texts in calls that make an error, and in values of `fix`, of the whole package."""
    for path in sorted((ROOT / "toolassay").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = ast.unparse(node.func).rpartition(".")[2]
            values = [keyword.value for keyword in node.keywords if keyword.arg in ("fix", "reason")]
            if name.endswith("Error"):
                values += node.args
            for value in values:
                for part in ast.walk(value):
                    if isinstance(part, ast.Constant) and isinstance(part.value, str):
                        yield path, part.value


def test_no_error_names_a_script_in_its_own_words() -> None:
    found = list(literals_of_errors())
    assert len(found) > 1_000
    assert [(path, text) for path, text in found if NAMED.search(text)] == []
