"""The built wheel, in a new virtual environment."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

import pytest


@pytest.mark.slow  # builds, and installs the requirements from the package index
def test_a_built_wheel_runs_the_pipeline_in_a_new_environment(tmp_path: Path, root: Path) -> None:
    def run(*command: str | Path) -> str:
        done = subprocess.run([*map(str, command)], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", tmp_path, root)
    (wheel,) = tmp_path.glob("toolassay-*.whl")
    venv.create(tmp_path / "venv", with_pip=True)
    programs = tmp_path / "venv/bin"
    run(programs / "python", "-m", "pip", "install", "--quiet", wheel)
    assert run(programs / "toolassay", "--version").startswith("toolassay, version ")
    tools = root / "data_multimedia/tool_desc.json"
    run(
        programs / "toolassay",
        "pipeline",
        "--tool_desc",
        tools,
        "--data_dir",
        "demo",
        "--number_of_samples",
        "5",
    )
    assert (tmp_path / "demo/metrics/offline.json").is_file()
