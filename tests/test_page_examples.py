"""Every name that a Python example of the documentation imports from this package exists."""

from __future__ import annotations

import ast
import importlib
import re
import textwrap
import tomllib
from pathlib import Path

import pytest

from tests.support.builders import ROOT
from toolassay.benchmarks.workbench.tools import TOOLS

PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))


def examples(page: Path, language: str = "python") -> list[str]:
    fence = rf"^( *)```{language}\n(.*?)^\1```"
    blocks = re.findall(fence, page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    return [textwrap.dedent(text) for _, text in blocks]


@pytest.mark.parametrize("page", [page for page in PAGES if examples(page)], ids=lambda page: page.name)
def test_an_example_imports_what_exists(page: Path) -> None:
    for text in examples(page):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "toolassay":
                module = importlib.import_module(node.module or "")
                missing = [one.name for one in node.names if not hasattr(module, one.name)]
                assert not missing, f"{node.module} has no {missing}"


@pytest.mark.parametrize(
    "page", [page for page in PAGES if examples(page, "toml")], ids=lambda page: page.name
)
def test_the_package_that_a_page_describes_is_one_that_the_tests_install(page: Path) -> None:
    for text in examples(page, "toml"):
        shown = tomllib.loads(text)
        (module,) = shown["tool"]["setuptools"]["py-modules"]
        package = ROOT / "tests" / "packages" / module / "pyproject.toml"
        tested = tomllib.loads(package.read_text("utf-8"))
        del tested["project"]["description"]
        assert shown == tested


def test_the_workplace_example_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    (example,) = examples(ROOT / "docs/workbench.md")
    named: dict[str, object] = {}
    exec(compile(example, "workbench.md", "exec"), named)
    assert named["TOOLS"] is TOOLS
