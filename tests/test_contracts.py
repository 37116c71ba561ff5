"""The contracts of `.importlinter` and the rule of late imports hold, and planted violations break them."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

HEAVY = {
    *("bert_score", "bm25s", "bs4", "datasets", "datasketch", "dateparser", "ftfy", "genai_prices", "httpx2"),
    *("huggingface_hub", "IPython", "jinja2", "krippendorff", "matplotlib", "openai", "openpyxl", "pandas"),
    *("playwright", "presidio_analyzer", "pyarrow", "pydantic", "rensa", "rouge_score", "scipy", "simplemma"),
    *("sklearn", "snowballstemmer", "spacy", "tokenizers", "torch", "transformers"),
}
"""Libraries that only functions may import, so that commands start fast and without extras."""

LINT = """
import sys
from importlinter.cli import lint_imports

sys.exit(lint_imports(no_cache=True, no_logo=True))
"""

Plant = Callable[[str, str], Path]
"""Adds text to the end of a module, creating the module where it is missing."""


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    """Check the contracts of a folder, in a process of its own: this one has imported the real package."""
    command = [sys.executable, "-c", LINT]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, encoding="utf-8")


def broken(folder: Path) -> set[str]:
    """The names of the broken contracts."""
    done = lint(folder)
    names = set(re.findall(r"^(.+) BROKEN(?: .*)?$", done.stdout, re.MULTILINE))
    assert done.returncode == bool(names), done.stdout + done.stderr
    return names


def at_import_time(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes that run when the module is imported.

    Bodies of functions and lambdas run later; their decorators and defaults do not. A block under
    `if TYPE_CHECKING:` never runs.
    """
    yield node
    match node:
        case ast.If(test=ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING")):
            below: list[ast.AST] = list(node.orelse)
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            below = [*node.decorator_list, node.args]
        case ast.Lambda():
            below = [node.args]
        case _:
            below = list(ast.iter_child_nodes(node))
    for child in below:
        yield from at_import_time(child)


def imported(node: ast.AST) -> list[str]:
    """The modules that one node imports: by statement, or by a call of `__import__` or `import_module`."""
    match node:
        case ast.Import():
            return [alias.name for alias in node.names]
        case ast.ImportFrom(module=str(module)):
            return [module]
        case ast.Call(
            func=ast.Name(id="__import__" | "import_module") | ast.Attribute(attr="import_module"),
            args=[ast.Constant(value=str(module)), *_],
        ):
            return [module]
    return []


def heavy_imports(source: str) -> list[str]:
    """The heavy libraries that a module imports when it is imported, each with its line."""
    return [
        f"line {getattr(node, 'lineno', 0)}: {library}"
        for node in at_import_time(ast.parse(source))
        for name in imported(node)
        if (library := name.split(".")[0]) in HEAVY
    ]


@pytest.fixture
def copied(root: Path, tmp_path: Path) -> Path:
    """A copy of the package and of its contracts."""
    for path in (root / "toolassay").rglob("*.py"):
        copy = tmp_path / path.relative_to(root)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    shutil.copyfile(root / ".importlinter", tmp_path / ".importlinter")
    return tmp_path


@pytest.fixture
def plant(copied: Path) -> Plant:
    def plant(module: str, text: str) -> Path:
        path = copied / "toolassay" / module
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(f"\n{text}\n")
        return copied

    return plant


LAYERS = "Rooms import only from the layers below them"
BENCHMARKS = "Benchmarks do not import each other"
COMMANDS = "Only the command line and its own benchmark import a benchmark's commands"
AGENTS = "from toolassay.benchmarks.workbench.agents import episode"


def test_the_package_keeps_its_contracts(root: Path) -> None:
    assert not broken(root)


@pytest.mark.parametrize(
    ("module", "text", "contract"),
    [
        ("files/locks.py", "def late() -> None:\n    import toolassay.cli.main", LAYERS),
        ("a_room_without_a_layer.py", "", LAYERS),
        ("benchmarks/taskbench/indirect.py", "import toolassay.benchmarks.classic.indirect", BENCHMARKS),
        ("benchmarks/classic/commands.py", AGENTS, BENCHMARKS),
    ],
)
def test_a_planted_import_breaks_its_contract(plant: Plant, module: str, text: str, contract: str) -> None:
    plant("benchmarks/classic/indirect.py", "")
    assert contract in broken(plant(module, text))


def test_the_commands_of_a_benchmark_belong_to_the_command_line(plant: Plant) -> None:
    plant("benchmarks/classic/commands.py", "import toolassay.cli.options")
    assert not broken(plant("cli/main.py", "import toolassay.benchmarks.classic.commands"))
    assert broken(plant("stages/check.py", "import toolassay.benchmarks.classic.commands")) == {COMMANDS}


def test_heavy_libraries_are_imported_late(root: Path) -> None:
    package = root / "toolassay"
    found = {
        str(path.relative_to(root)): heavy
        for path in sorted(package.rglob("*.py"))
        if (heavy := heavy_imports(path.read_text(encoding="utf-8")))
    }
    assert not found


@pytest.mark.parametrize(
    "planted",
    [
        "import torch",
        "from torch.nn import functional",
        "if TYPE_CHECKING:\n    import json\nelse:\n    import torch",
        "class Model:\n    import torch",
        "try:\n    import torch\nexcept ImportError:\n    torch = None",
        "torch = importlib.import_module('torch')",
        "def use(torch=__import__('torch')): ...",
        "names = [import_module('torch.nn') for _ in range(1)]",
    ],
)
def test_what_runs_at_import_time_is_found(root: Path, planted: str) -> None:
    files = (root / "toolassay" / "files" / "locks.py").read_text(encoding="utf-8")
    assert not heavy_imports(files)
    assert [found.split()[-1] for found in heavy_imports(f"{files}\n{planted}\n")] == ["torch"]


def test_no_two_public_classes_have_one_name(root: Path) -> None:
    files: dict[str, list[str]] = defaultdict(list)
    for path in (root / "toolassay").rglob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                files[node.name].append(str(path.relative_to(root)))
    assert {name: sorted(paths) for name, paths in files.items() if len(paths) > 1} == {}
