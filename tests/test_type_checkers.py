"""What a type checker says of a page of user code: right lines pass, wrong lines do not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RIGHT = """
from pathlib import Path

from toolassay import SILENT, Budget, Limits, ModelSettings
from toolassay import check, compare, evaluate, generate, infer, report, split

inference = infer("mine", llm="acme/one", temperature=0, trials=2, max_cost=5.0, screen=SILENT)
print(inference.summary.complete, inference.written)
infer(Path("mine"), model=ModelSettings(llm="acme/one"), limits=Limits(budget=Budget(cost=5.0)))
infer("mine", llm="acme/one", ask="tools", executor="mcp", server="python server.py")
print(evaluate("mine", llm="acme/one", splits=["all"]).strict["node_f1"])
print([result.compat["node_micro_f1_no_matching"] for result in evaluate("mine")])
folder, complete = generate("mine", llm="offline", number_of_samples=20, cover="tools")
print(folder.name, complete)
print(check("mine", out="checked", critic="offline", gates=["schema"]).share)
print(compare("a", "b", data_dir="mine", metrics=["node_f1"]).tables)
print(split("mine", train=0.7).counts())
print(report("mine", require=["accuracy>=80%"]).exit_code)
"""
# Other libraries are left out: mypy reads them for fifteen seconds, and the package for two.
MYPY = """
[mypy]
strict = true
ignore_missing_imports = true
follow_imports = skip
[mypy-toolassay,toolassay.*]
follow_imports = silent
[mypy-matplotlib.*,mcp.*,networkx.*,numpy.*,pydantic.*,scipy.*]
follow_imports_for_stubs = true
"""
# Each is wrong in one way.
WRONG = {
    "a misspelt keyword": 'infer("mine", llm="x", temprature=0)',
    "a value of another type": 'infer("mine", llm="x", temperature="hot")',
    "an unknown score": 'evaluate("mine", llm="x").strickt["node_f1"]',
    "no data folder": "split(train=0.5)",
    "a text for a number": 'infer("mine", llm="x", trials="3")',
    "a text that is no choice": 'generate("mine", llm="x", cover="nodes")',
    "another options object": 'infer("mine", model=Limits())',
    "a result for another one": 'infer("mine", llm="x").share',
}


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page; each wrong line is on a line of its own below the right ones."""
    path = tmp_path_factory.mktemp("user") / "page.py"
    path.write_text("\n".join([RIGHT, *WRONG.values(), ""]), encoding="utf-8")
    return path


def expected() -> set[int]:
    """The numbers of the wrong lines."""
    first = RIGHT.count("\n") + 2
    return set(range(first, first + len(WRONG)))


def test_mypy(page: Path) -> None:
    config = page.with_name("mypy.ini")
    config.write_text(MYPY, encoding="utf-8")
    options = ["--config-file", config, "--cache-dir", ROOT / ".mypy_cache/page"]
    command = [sys.executable, "-m", "mypy", *map(str, options), str(page)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    lines = [line.split(":") for line in done.stdout.splitlines() if ": error:" in line]
    assert {int(parts[1]) for parts in lines if Path(parts[0]).name == page.name} == expected(), done.stdout


def test_pyright(page: Path) -> None:
    pytest.importorskip("basedpyright")
    project = page.parent / "pyrightconfig.json"
    settings = {"include": [page.name], "extraPaths": [str(ROOT)], "typeCheckingMode": "standard"}
    project.write_text(json.dumps(settings), encoding="utf-8")
    command = [sys.executable, "-m", "basedpyright", "--outputjson", "--pythonpath", sys.executable]
    done = subprocess.run([*command, "--project", str(project)], capture_output=True, text=True)
    found = [one for one in json.loads(done.stdout)["generalDiagnostics"] if one["severity"] == "error"]
    # It counts lines from 0.
    assert {one["range"]["start"]["line"] + 1 for one in found} == expected(), done.stdout
