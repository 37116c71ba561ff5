"""Packages beyond the core ones come with the checkout."""

from __future__ import annotations

from pathlib import Path


def test_no_hint_installs_a_package_of_that_name_from_elsewhere(root: Path) -> None:
    wrong = "pip install 'tool" + "graph"
    files = [*root.glob("*.md"), *root.glob("docs/*.md"), *(root / "toolassay").rglob("*.py")]
    assert [file for file in files if wrong in file.read_text(encoding="utf-8")] == []
