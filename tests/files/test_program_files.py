"""The files of a program: which count, under which name, and when they have changed."""

from __future__ import annotations

import functools
import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from toolassay.files.program_files import ProgramFiles, file_of

FILES = {
    "run.sh": '#!/bin/sh\ncd "$(dirname "$0")" && exec python3 -m tool.main "$@"\n',
    "start.js": 'require("./lib/part.mjs")',
    "lib/part.mjs": "",
    "agents/mine.py": "from . import near\nimport helper, json\nfrom tool import parts\nimport own.deep.leaf",
    "agents/near.py": "",
    "agents/helper.py": "def later():\n    from lazy import value\n",
    "agents/lazy.py": "",
    "agents/own/deep/leaf.py": "",
    "agents/unused.py": "",
    "tool/__init__.py": "",
    "tool/__main__.py": "from .main import work",
    "tool/main.py": "from .parts import one\nfrom ..agents import near",
    "tool/parts/__init__.py": "from . import one",
    "tool/parts/one.py": "",
    "src/packed/__init__.py": "",
    "old.py": "print 'no longer Python'",
    "prompt.txt": "Be brief.",
    "conf/settings.yaml": "",
    "mine/user_requests.json": "",
    "mine/agent.py": "import packed",
    "plain": "#!/usr/bin/env python3\nimport old",
}
OF_MINE = {"agents/mine.py", "agents/near.py", "agents/helper.py", "agents/lazy.py", "deep/leaf.py"}
OF_MINE |= {"tool/__init__.py", "parts/__init__.py", "parts/one.py"}
OF_TOOL = {"tool/__init__.py", "tool/main.py", "parts/__init__.py", "parts/one.py", "agents/near.py"}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project in the working directory, with a data folder `mine`."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    for name in ("run.sh", "plain"):
        (tmp_path / name).chmod(0o755)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def files_of(command: str, **more: Any) -> ProgramFiles:
    return ProgramFiles.of_command(shlex.split(command), Path("mine"), **more)


def names(program: ProgramFiles) -> set[str]:
    return {file_of(setting) for setting in program.settings}


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("python agents/mine.py", OF_MINE),
        ("python3.11 -u agents/mine.py --prompt prompt.txt", {*OF_MINE, "prompt.txt"}),
        ("uv run agents/mine.py --config=conf/settings.yaml", {*OF_MINE, "conf/settings.yaml"}),
        ("python -m tool --flag", {*OF_TOOL, "tool/__main__.py"}),
        ("env X=1 python -m tool.main prompt.txt", {*OF_TOOL, "prompt.txt"}),
        ("python tool", {*OF_TOOL, "tool/__main__.py"} - {"tool/__init__.py"}),
        ("./run.sh", {"./run.sh", *OF_TOOL}),
        ("bash run.sh", {"run.sh", *OF_TOOL}),
        ("sh -c 'cd agents && python mine.py'", {*OF_MINE, "mine.py"} - {"agents/mine.py"}),
        ("python -c 'import agents.mine'", OF_MINE),
        ("node start.js", {"start.js", "./lib/part.mjs"}),
        ("./plain", {"./plain", "old.py"}),
        ("python mine/agent.py mine/user_requests.json", {"mine/agent.py", "packed/__init__.py"}),
        ("python", set()),
        ("npx some-agent", set()),
    ],
)
def test_a_command_counts_with_what_it_names_and_imports(
    project: Path, command: str, expected: set[str]
) -> None:
    found = {name if "/old.py" not in name else "old.py" for name in names(files_of(command))}
    assert found == expected


def test_a_file_elsewhere_counts_and_what_is_installed_does_not(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "site-packages/installed").mkdir(parents=True)
    (elsewhere / "site-packages/installed/__init__.py").touch()
    (elsewhere / "agent.py").write_text("import installed, toolassay.version")
    program = files_of(f"{sys.executable} {elsewhere}/agent.py")
    assert names(program) == {f"{elsewhere}/agent.py"}


def test_of_a_server_only_scripts_count(project: Path) -> None:
    assert names(files_of("python old.py prompt.txt notes.db", only_scripts=True)) == {"old.py"}


@pytest.mark.parametrize("edited", sorted({*FILES} - {"agents/unused.py", "mine/user_requests.json"}))
def test_an_edit_of_a_file_is_another_setting(project: Path, edited: str) -> None:
    command = "./run.sh plain start.js -m tool agents/mine.py mine/agent.py prompt.txt conf/settings.yaml"
    program = files_of(command)
    before = program.settings
    (project / edited).write_text(f"{FILES[edited]} # edited")
    after = files_of(command).settings
    (changed,) = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    assert Path(file_of(changed)).name == Path(edited).name
    is_script = edited not in ("prompt.txt", "conf/settings.yaml")
    assert (program.changed(scripts=True), program.changed(scripts=False)) == (
        [changed] * is_script,
        [changed] * (not is_script),
    )


@pytest.mark.parametrize(
    "command",
    [
        "python -m",
        "python -m ./agents/mine.py",
        "tool -m models/llama-3.1.gguf -c conf/none.yaml",
        "python -c 'from ...... import nothing' ''",
        f"python {'x' * 300} 'it is \\'",
        "sh -c 'python \"unclosed'",
    ],
)
def test_a_strange_command_names_what_it_can(project: Path, command: str) -> None:
    (project / "agents/mine.py").write_text("from ..................... import far\nimport bad..name")
    assert names(files_of(command)) <= {"./agents/mine.py"}


def test_data_do_not_count(project: Path) -> None:
    before = files_of("python agents/mine.py mine/user_requests.json").settings
    (project / "mine/user_requests.json").write_text("other")
    (project / "agents/unused.py").write_text("other")
    assert files_of("python agents/mine.py mine/user_requests.json").settings == before


def test_a_touched_file_has_not_changed(project: Path) -> None:
    program = files_of("python agents/mine.py prompt.txt")
    for name in ("agents/mine.py", "prompt.txt"):
        os.utime(project / name, (1, 1))
    assert program.changed(scripts=True) == program.changed(scripts=False) == []


@pytest.mark.parametrize("made", ["agent.log", "state"])
def test_a_file_that_the_program_makes_is_found(project: Path, made: str) -> None:
    program = files_of(f"python agents/mine.py --into {made}")
    (project / made).write_text("began")
    assert [file_of(one) for one in program.changed(scripts=False)] == [made]


def test_of_a_large_file_size_and_time_count(project: Path) -> None:
    with (project / "model.bin").open("wb") as stream:
        stream.truncate(2**24 + 1)
    before = files_of("node start.js model.bin")
    os.utime(project / "model.bin", (5, 5))
    assert [file_of(one) for one in before.changed(scripts=False)] == ["model.bin"]


def test_two_files_of_one_name_are_two_settings(project: Path) -> None:
    for folder in ("one/lib", "two/lib"):
        (project / folder).mkdir(parents=True)
        (project / folder / "same.py").touch()
        (project / folder / "__init__.py").write_text("from . import same")
    found = names(files_of("python one/lib/__init__.py two/lib/__init__.py"))
    assert len(found) == 4


def function_of(text: str, place: str = "<typed>") -> Callable[..., Any]:
    """The function `mine` that a text defines in a file, or that was typed."""
    values: dict[str, Any] = {}
    exec(compile(text, place, "exec"), values)
    made: Callable[..., Any] = values["mine"]
    return made


def test_a_function_counts_with_its_module_and_what_that_imports(project: Path) -> None:
    text = "def first():\n    import near\nasync def mine(request, session): ...\n"
    (project / "agents/function.py").write_text(text)
    mine = function_of(text, str(project / "agents/function.py"))
    for made in (mine, functools.partial(mine, "x")):
        assert names(ProgramFiles.of_function(made, Path("mine"))) == {"function.py", "agents/near.py"}


def test_a_function_without_a_file_counts_with_its_code() -> None:
    def typed(text: str) -> dict[str, str]:
        mine = function_of(f"async def mine(request, session):\n    return {text}")
        return ProgramFiles.of_function(mine, Path("mine")).settings

    assert typed("'one'") == typed("'one'") != typed("'two'")
    assert ProgramFiles.of_function(print, Path("mine")).settings == {}
