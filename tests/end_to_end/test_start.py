"""What is imported before anything is done."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import toolassay
from tests.support.builders import data_folder, plan, scored_folder
from tests.support.running import environment
from toolassay.cli.main import load
from toolassay.errors import UsageError

HEAVY = ("numpy", "scipy", "sklearn", "matplotlib", "networkx", "aiohttp", "rich", "json_repair", "rapidfuzz")
UNSCORED = (
    "asyncio",
    "scipy",
    "networkx",
    "toolassay.benchmarks.workbench.sandbox",
    "toolassay.metrics.bertscore",
)


@pytest.mark.parametrize(
    ("arguments", "unneeded"),
    [
        (["--help"], HEAVY),
        (["infer", "--help"], HEAVY),
        (["evaluate", "--data_dir", "data", "--llm", "m", "-m", "f1", "-m", "rouge"], UNSCORED),
    ],
)
def test_a_command_imports_only_what_it_needs(
    tmp_path: Path, arguments: list[str], unneeded: tuple[str, ...]
) -> None:
    scored_folder(tmp_path / "data", {"0": plan("a")}, {"m": {"0": plan("a")}}, tools="ab")
    program = f"""
import sys
from toolassay.cli.main import main
sys.argv = ["toolassay", *{arguments!r}]
try:
    main()
except SystemExit as stop:
    assert stop.code == 0, stop.code
heavy = [name for name in {unneeded!r} if name in sys.modules]
assert not heavy, heavy
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_a_reader_that_leaves_early_is_no_error(tmp_path: Path) -> None:

    data_folder(tmp_path / "data")
    program = (
        f"{sys.executable} -m toolassay sample --data_dir data --number_of_samples 3000 --seed 1 | head -1"
    )
    done = subprocess.run(
        program, shell=True, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
    )
    assert done.stdout.count("\n") == 1
    assert "Error" not in done.stderr and "fault" not in done.stderr


def test_every_stage_that_takes_a_model_has_the_same_default() -> None:
    defaults = {}
    for stage in ("generate", "infer", "evaluate"):
        (option,) = [one for one in load(stage).params if one.name == "llm"]
        defaults[stage] = option.default[0] if isinstance(option.default, tuple) else option.default
    assert set(defaults.values()) == {"gpt-4"}


@pytest.mark.parametrize("stage", [toolassay.generate, toolassay.infer])
def test_a_function_asks_no_model_that_its_caller_did_not_name(stage: Any, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no model is named"):
        stage(tmp_path)
