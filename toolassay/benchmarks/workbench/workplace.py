"""Opens the workplace of a data folder: the published one, or a user-defined one with `benchmark.json`,
`tools.py` and `sandbox.sqlite`.
"""

from __future__ import annotations

import ast
import sys
import traceback
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, Literal

import msgspec

from toolassay.benchmarks.benchmark import FolderFacts
from toolassay.benchmarks.workbench.own import typed_tool
from toolassay.benchmarks.workbench.own.own_sandbox import OwnSandbox, OwnWorkplace, layouts_of, read_database
from toolassay.benchmarks.workbench.own.typed_tool import OwnTool, mark_of, tool_of
from toolassay.benchmarks.workbench.sandbox import FILE, Moment, Sandbox, read_facts
from toolassay.benchmarks.workbench.tasks import fingerprint, holds_tasks, read_tasks
from toolassay.benchmarks.workbench.tools import Toolset
from toolassay.errors import UsageError
from toolassay.files.data_files import read_text, sha256_of
from toolassay.records.data_folder import DataFolder
from toolassay.version import OLD_NAME


class WorkplaceFacts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What `benchmark.json` states about a user-defined workplace.

    Attributes:
        benchmark: the name of the benchmark.
        tools: the file of tools.
        now: the workplace's current time.
        user: the person the agent works for.
        customs: a sentence of house rules in the agent's prompt; may be empty.
        ignore: columns that are not judged, as `table.column`.
        verbatim: columns compared with case, as `table.column`.
        error_classes: of earlier versions; ignored.
        source: where the workplace is from.
    """

    benchmark: Literal["workbench"]
    tools: str
    now: Moment
    user: Annotated[str, msgspec.Meta(pattern=r"\S")] = "the user"
    customs: str = ""
    ignore: tuple[str, ...] = ()
    verbatim: tuple[str, ...] = ()
    error_classes: Any = None
    source: Any = None


TOOLS = "tools.py"
_MODULE = "toolassay_own_tools"
_OLD_PACKAGE = f"{OLD_NAME}.benchmarks.workbench"
"""The module that `tools.py` imported from before `toolassay.workplace` existed."""
_OLD_MODULES = {
    name: typed_tool if name.endswith(".own") else ModuleType(name)
    for name in (OLD_NAME, f"{OLD_NAME}.benchmarks", _OLD_PACKAGE, f"{_OLD_PACKAGE}.own")
} | {f"{_OLD_PACKAGE}.own.marking": typed_tool}


def own_tools_file(folder: Path) -> Path | None:
    """The file of tools that the folder's `benchmark.json` names; None if it names none.

    Raises:
        UsageError: 'tools' is not the name of a Python file in the folder, or the folder has a `tools.py` and
            a database but its `benchmark.json` names no 'tools'.
    """
    about = DataFolder(folder)
    if "tools" not in about.written_benchmark:
        if (folder / FILE).exists() and (folder / TOOLS).exists():
            raise UsageError(
                f"has no 'tools', but the folder has {TOOLS}",
                file=about.benchmark_file,
                fix=f'write "benchmark": "workbench", "tools": "{TOOLS}" and "now": "YYYY-MM-DD HH:MM:SS"',
            )
        return None
    name = about.written_benchmark["tools"]
    if not isinstance(name, str) or Path(name).name != name or not name.endswith(".py"):
        raise UsageError(
            f"'tools' is {name!r}", file=about.benchmark_file, fix="name a Python file in this folder"
        )
    return folder / name


def load_own(folder: Path) -> OwnSandbox:
    """Load a user-defined workplace: `sandbox.sqlite`, `benchmark.json` and the file of tools, which is
    executed.

    Raises:
        UsageError: a file is missing or cannot be used.
    """
    tools = own_tools_file(folder)
    about = DataFolder(folder)
    if tools is None:
        raise UsageError("has no 'tools'", file=about.benchmark_file, fix='write "tools": "tools.py"')
    facts = read_facts(about, WorkplaceFacts)
    image = read_database(folder / FILE)
    toolset = load_tools(tools)
    workplace = OwnWorkplace(facts.now, facts.user, toolset, (), facts.customs)
    with closing(OwnSandbox(image, workplace)) as probe:
        judged = layouts_of(
            probe.connection,
            file=folder / FILE,
            facts=about.benchmark_file,
            ignore=facts.ignore,
            verbatim=facts.verbatim,
        )
    return OwnSandbox(image, replace(workplace, judged=judged))


def _offer_old_import() -> None:
    """Make the package's former name importable for an old `tools.py`.

    `setdefault` keeps modules that are loaded already, in case a package of that name is installed.
    """
    above: ModuleType | None = None
    for name, module in _OLD_MODULES.items():
        loaded = sys.modules.setdefault(name, module)
        if above is not None:
            setattr(above, name.rpartition(".")[2], loaded)
        above = loaded


def load_tools(path: Path) -> Toolset:
    """Execute a Python file and collect its functions marked with `@tool`.

    Raises:
        UsageError: the file cannot be executed, marks no function, or marks one that cannot be a tool.
    """
    module = ModuleType(_MODULE)
    module.__file__ = str(path)
    # dataclasses and get_type_hints look up a function's module by name; without this they fail.
    sys.modules[_MODULE] = module
    text = read_text(path, fix="put it back, or name another under 'tools' in benchmark.json")
    try:
        if _OLD_PACKAGE in text:
            _offer_old_import()
        tree = ast.parse(text, str(path))
        exec(compile(tree, str(path), "exec"), module.__dict__)
    except SyntaxError as error:
        raise UsageError(
            f"is not valid Python: {error.msg}", file=path, line=error.lineno, fix="correct the syntax"
        ) from None
    except (Exception, SystemExit) as error:
        # The file is a program of the user: importing it can raise anything, and may call `sys.exit`.
        frames = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)]
        line = frames[-1] if frames else None
        absent = isinstance(error, ImportError)
        fix = (
            "install the package, or move your module's code into this file" if absent else "correct the code"
        )
        raise UsageError(
            f"cannot be executed: {type(error).__name__}: {error}", file=path, line=line, fix=fix
        ) from error
    defined = Counter(node.name for node in tree.body if isinstance(node, ast.FunctionDef))
    tools: dict[str, OwnTool] = {}
    for value in {id(value): value for value in vars(module).values()}.values():
        if (mark := mark_of(value)) is None:
            continue
        code = getattr(value, "__code__", None)
        line = code.co_firstlineno if code is not None and code.co_filename == str(path) else None
        try:
            tool = tool_of(value, mark)
        except (ValueError, NameError) as error:
            raise UsageError(str(error), file=path, line=line, fix="change that function") from None
        name = tool.function.__name__
        if tool.name in tools or defined[name] > 1:  # the module has only the second
            wrong = f"defines the function {name} twice"
            fix = "rename one of the two"
            raise UsageError(wrong, file=path, line=line, fix=fix)
        tools[tool.name] = tool
    if not tools:
        raise UsageError("defines no tools", file=path, fix='mark functions with @tool("some_domain")')
    domains = dict.fromkeys(tool.domain for tool in tools.values())
    return Toolset({domain: [tool for tool in tools.values() if tool.domain == domain] for domain in domains})


def open_workplace(path: str | Path, *, allow_tools: bool = False) -> Sandbox:
    """Open the sandbox of a folder, or of a `sandbox.sqlite` in the published layout, with its tools.

    Args:
        path: the folder or file.
        allow_tools: permit executing the folder's `tools.py`. It is an arbitrary program, so allow it only
            for folders you trust.

    Raises:
        UsageError: a file is missing or cannot be used, or the folder has its own tools and `allow_tools` is
            False.
    """
    tools = own_tools_file(Path(path))
    if tools is None:
        return Sandbox.load(path)
    if not allow_tools:
        raise UsageError(
            "the folder has its own tools, which are a program to execute",
            file=tools,
            fix="read the file, then add --allow_tools if you trust it",
        )
    return load_own(Path(path))


def _made_from(folder: DataFolder) -> Mapping[str, tuple[str, str]]:
    name = folder.path.resolve().name
    tools = own_tools_file(folder.path)
    made_from = {"tasks": (name, fingerprint(read_tasks(folder.path)))}
    if tools is None:
        made_from["sandbox"] = name, Sandbox.load(folder.path).sha256
    else:  # the workplace itself is not opened: that would run its tools
        made_from["tools"] = tools.name, sha256_of(tools)
    return made_from


FACTS = FolderFacts(
    lambda folder: holds_tasks(folder.path),
    lambda folder: "" if own_tools_file(folder.path) is None else None,
    _made_from,
    "its gold is checked by `toolassay workbench check {}`",
)
