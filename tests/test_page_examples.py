"""Every name that a Python example of the documentation imports from this package exists."""

from __future__ import annotations

import ast
import importlib
import re
import textwrap
from pathlib import Path

import pytest

from tests.support.builders import ROOT
from toolassay.benchmarks.workbench.tools import TOOLS

PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))


def examples(page: Path) -> list[str]:
    blocks = re.findall(r"^( *)```python\n(.*?)^\1```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    return [textwrap.dedent(text) for _, text in blocks]


@pytest.mark.parametrize("page", [page for page in PAGES if examples(page)], ids=lambda page: page.name)
def test_an_example_imports_what_exists(page: Path) -> None:
    for text in examples(page):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "toolassay":
                module = importlib.import_module(node.module or "")
                missing = [one.name for one in node.names if not hasattr(module, one.name)]
                assert not missing, f"{node.module} has no {missing}"


def test_the_workplace_example_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    (example,) = examples(ROOT / "docs/workbench.md")
    named: dict[str, object] = {}
    exec(compile(example, "workbench.md", "exec"), named)
    assert named["TOOLS"] is TOOLS
