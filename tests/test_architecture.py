"""A class name means one thing in the package. That imports run one way is in test_contracts.py."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path


def test_no_two_public_classes_have_one_name(root: Path) -> None:
    files: dict[str, list[str]] = defaultdict(list)
    for path in (root / "toolassay").rglob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                files[node.name].append(str(path.relative_to(root)))
    assert {name: sorted(paths) for name, paths in files.items() if len(paths) > 1} == {}
