"""Imports run one way: a module imports from its own room or from rooms below it."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from pathlib import Path

import pytest

FLOORS = [
    {"errors", "version", "progress_callback", "text_formatting", "tables"},
    {"files", "text_values", "locks", "answers", "extras", "screen"},
    {"tools", "spreadsheets"},
    {"graph", "prompt_templates"},
    {"data_folder", "dataset", "schemas"},
    {"gold", "normalised_plan", "requests"},
    {"sampling", "models", "metrics"},
    {"runs"},
    {"offline", "evaluation"},
    {"backinstruct", "importers", "report"},
    {"benchmarks"},
    {"variety"},
    {"splits", "exporters"},
    {"gates"},
    {"serving", "review"},
    {"stages", "testkit", "workplace"},
    {"cli"},
]
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
# What no module may import at the top, so that commands start fast.
HEAVY = {
    *("sklearn", "matplotlib", "torch", "pandas", "pyarrow", "huggingface_hub"),
    *("bs4", "ftfy", "openpyxl", "presidio_analyzer", "spacy"),
    *("genai_prices", "pydantic", "httpx2"),
    *("datasets", "datasketch", "dateparser", "rensa", "simplemma"),
}


@functools.cache
def modules(root: Path) -> list[tuple[str, ast.Module]]:
    found = []
    for path in sorted((root / "toolassay").rglob("*.py")):
        parts = path.relative_to(root / "toolassay").with_suffix("").parts
        # The example of a workplace is a program of its users: it imports the public package.
        if parts not in (("__init__",), ("__main__",)) and "example" not in parts:
            found.append((".".join(parts), ast.parse(path.read_text(encoding="utf-8"))))
    return found


def imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield node.module or ""
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_rooms_import_only_from_below(root: Path) -> None:
    wrong = []
    for name, tree in modules(root):
        room = name.split(".")[0]
        assert room in FLOOR, f"toolassay/{room} has no place in the house"
        for imported in imports(tree):
            parts = imported.split(".")
            if (
                parts[0] == "toolassay"
                and len(parts) > 1
                and parts[1] != room
                and FLOOR[parts[1]] >= FLOOR[room]
            ):
                wrong.append(f"{name} imports {imported}")
    assert not wrong


@pytest.mark.parametrize("heavy", sorted(HEAVY))
def test_heavy_libraries_are_imported_late(root: Path, heavy: str) -> None:
    wrong = []
    for name, tree in modules(root):
        for node in tree.body:
            if isinstance(node, ast.Import | ast.ImportFrom) and heavy in {
                i.split(".")[0] for i in imports(node)
            }:
                wrong.append(name)
    assert not wrong


def test_no_module_is_too_long_to_read_in_one_sitting(root: Path) -> None:
    long = {
        str(path.relative_to(root)): lines
        for path in (root / "toolassay").rglob("*.py")
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > 700
    }
    assert not long
