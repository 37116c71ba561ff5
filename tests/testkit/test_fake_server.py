from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from toolassay.models import retry
from toolassay.models.errors import ModelError


def test_the_package_needs_no_pytest(root: Path) -> None:
    program = """
import importlib, pkgutil, sys
sys.modules["pytest"] = None
import toolassay
for module in pkgutil.walk_packages(toolassay.__path__, "toolassay."):
    if module.name not in ("toolassay.__main__", "toolassay.testkit.pytest_plugin"):
        importlib.import_module(module.name)
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()


def test_the_fixtures_of_the_plugin_in_tests_of_another_project(tmp_path: Path, root: Path) -> None:
    """The example of docs/serving.md."""
    text = (root / "docs" / "serving.md").read_text(encoding="utf-8")
    (tmp_path / "test_mine.py").write_text(text.split("```python\n")[1].split("```")[0])
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_mine.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


def test_no_test_waits_between_tries() -> None:
    assert retry.retry_delay(7, ModelError("down")) == 0
