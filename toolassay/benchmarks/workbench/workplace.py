"""The workplace of a data folder: the published one, or an own one with `benchmark.json`, `tools.py`
and `sandbox.sqlite`.
"""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import Any

from toolassay.benchmarks.workbench.own import tool_decorator
from toolassay.benchmarks.workbench.own.database import layouts_of, read_database
from toolassay.benchmarks.workbench.own.own_sandbox import OwnSandbox, OwnWorkplace
from toolassay.benchmarks.workbench.own.tool_decorator import NoDomain, mark_of, marked_in
from toolassay.benchmarks.workbench.own.typed_tool import OwnTool, tool_of
from toolassay.benchmarks.workbench.sandbox import FILE, Sandbox
from toolassay.benchmarks.workbench.tools import Toolset
from toolassay.data_folder import DataFolder
from toolassay.errors import UsageError
from toolassay.files import read_text
from toolassay.version import OLD_NAME

KEYS = ("benchmark", "tools", "now", "user", "customs", "ignore", "verbatim", "error_classes", "source")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
_USER = "the user"


@dataclass(frozen=True)
class WorkplaceFacts:
    """The facts of a workplace.

    Attributes:
        now: the moment it is.
        user: who agents work for.
        customs: what agents are told of the workplace.
        ignore: columns that do not count, as `table.column`.
        verbatim: columns in which case counts, as `table.column`.
    """

    now: datetime
    user: str
    customs: str
    ignore: tuple[str, ...]
    verbatim: tuple[str, ...]


def read_facts(folder: DataFolder) -> WorkplaceFacts:
    """The facts of a folder with tools of its own.

    Raises:
        UsageError: a key is unknown, missing or has another form.
    """
    facts = folder.benchmark
    try:
        for key in facts:
            if key not in KEYS:
                (near,) = get_close_matches(key, KEYS, n=1, cutoff=0)
                raise UsageError(f"unknown key {key!r}", fix=f"the nearest known one is {near!r}")
        if facts["benchmark"] != "workbench":
            raise UsageError(f"'benchmark' is {facts['benchmark']!r}", fix='write "benchmark": "workbench"')
        user = _text(facts, "user", _USER)
        if not user.strip():
            raise UsageError("'user' is empty", fix="name who agents work for, or leave it out")
        return WorkplaceFacts(
            _now(facts), user, _text(facts, "customs", ""), _names(facts, "ignore"), _names(facts, "verbatim")
        )
    except UsageError as error:
        raise UsageError(str(error), file=folder.benchmark_file) from None


def _now(facts: Mapping[str, Any]) -> datetime:
    given = facts.get("now")
    try:
        if not isinstance(given, str) or not _MOMENT.fullmatch(given):
            raise ValueError
        return datetime.fromisoformat(given)
    except ValueError:
        wrong = "has no 'now'" if "now" not in facts else f"'now' is {given!r}"
        raise UsageError(wrong, fix='write "now": "YYYY-MM-DD HH:MM:SS"') from None


def _text(facts: Mapping[str, Any], key: str, default: str) -> str:
    value = facts.get(key, default)
    if not isinstance(value, str):
        raise UsageError(f"{key!r} is no text", fix=f'write "{key}": "…"')
    return value


def _names(facts: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = facts.get(key, [])
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise UsageError(f"{key!r} is no list of texts", fix='write ["table.column", …]')
    return tuple(value)


TOOLS = "tools.py"
_MODULE = "toolassay_own_tools"
_OLD_PACKAGE = f"{OLD_NAME}.benchmarks.workbench"
"""Where `tools.py` imported from before `toolassay.workplace` existed; no other package has this module."""
_OLD_MODULES = {
    name: tool_decorator if name.endswith(".own") else ModuleType(name)
    for name in (OLD_NAME, f"{OLD_NAME}.benchmarks", _OLD_PACKAGE, f"{_OLD_PACKAGE}.own")
} | {f"{_OLD_PACKAGE}.own.marking": tool_decorator}


def own_tools_file(folder: Path) -> Path | None:
    """The file of tools that the folder's `benchmark.json` names; None if it names none.

    Raises:
        UsageError: it names something else than a file in the folder, or none though there is a `tools.py`.
    """
    about = DataFolder(folder)
    if "tools" not in about.benchmark:
        if (folder / FILE).exists() and (folder / TOOLS).exists():
            raise UsageError(
                f"names no 'tools', and there is {TOOLS}",
                file=about.benchmark_file,
                fix=f'write "benchmark": "workbench", "tools": "{TOOLS}" and "now": "YYYY-MM-DD HH:MM:SS"',
            )
        return None
    name = about.benchmark["tools"]
    if not isinstance(name, str) or Path(name).name != name or not name.endswith(".py"):
        raise UsageError(
            f"'tools' is {name!r}", file=about.benchmark_file, fix="name a Python file in the folder"
        )
    return folder / name


def load_own(folder: Path) -> OwnSandbox:
    """The workplace in a folder with `sandbox.sqlite`, a file of tools and `benchmark.json`. Runs that file.

    Raises:
        UsageError: a file is missing, or cannot be used.
    """
    tools, about = own_tools_file(folder), DataFolder(folder)
    if tools is None:
        raise UsageError("names no 'tools'", file=about.benchmark_file, fix='write "tools": "tools.py"')
    facts = read_facts(about)
    image = read_database(folder / FILE)
    toolset = load_tools(tools)
    place = OwnWorkplace(facts.now, facts.user, toolset, ())
    probe = OwnSandbox(image, place)
    try:
        judged = layouts_of(
            probe.connection, file=folder / FILE, ignore=facts.ignore, verbatim=facts.verbatim
        )
    except UsageError as error:
        if error.file is not None:
            raise
        raise UsageError(str(error), file=about.benchmark_file) from None
    finally:
        probe.close()
    return OwnSandbox(image, replace(place, judged=judged, customs=facts.customs))


def _offer_old_import() -> None:
    """Make the old module importable; nothing of the other package is replaced where that is installed."""
    above: ModuleType | None = None
    for name, module in _OLD_MODULES.items():
        found = sys.modules.setdefault(name, module)
        if above is not None:
            setattr(above, name.rpartition(".")[2], found)
        above = found


def load_tools(path: Path) -> Toolset:
    """The marked functions of a Python file, which is run.

    Raises:
        UsageError: it cannot be run, has no tools, or one that cannot be a tool.
    """
    module = ModuleType(_MODULE)
    module.__file__ = str(path)
    sys.modules[_MODULE] = module  # where dataclasses and annotations look
    text = read_text(path, fix="put it back, or name another under 'tools' in benchmark.json")
    try:
        if _OLD_PACKAGE in text:
            _offer_old_import()
        exec(compile(text, str(path), "exec"), module.__dict__)
    except SyntaxError as error:
        raise UsageError(f"is no Python: {error.msg}", file=path, line=error.lineno, fix="mend it") from None
    except (Exception, SystemExit) as error:
        frames = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)]
        line = frames[-1] if frames else None
        if isinstance(error, NoDomain):
            raise UsageError(str(error), file=path, line=line, fix='write @tool("some_domain")') from None
        raise UsageError(
            f"cannot be run: {type(error).__name__}: {error}", file=path, line=line, fix=_remedy(error)
        ) from error
    toolkits: dict[str, list[OwnTool]] = {}
    for tool in _tools_in(module, path):
        room = toolkits.setdefault(tool.domain, [])
        if any(other.name == tool.name for other in room):
            raise UsageError(f"there are two tools {tool.name}", file=path, fix="rename one")
        room.append(tool)
    if not toolkits:
        raise UsageError("has no tools", file=path, fix='mark functions with @tool("some_domain")')
    return Toolset(toolkits)


def _tools_in(module: ModuleType, path: Path) -> Iterator[OwnTool]:
    found = {id(value): (value, mark_of(value)) for value in vars(module).values()}.values()
    for mark, function in marked_in(vars(module)):
        if not any(mark is other for _, other in found):
            name = getattr(function, "__name__", function)
            raise UsageError(
                f"the tool {mark.domain}.{name} is lost: another function has its name",
                file=path,
                line=_line_of(function, path),
                fix="rename one",
            )
    for value, marked in found:
        if marked is None:
            continue
        try:
            yield tool_of(value, marked)
        except (ValueError, NameError) as error:
            raise UsageError(
                str(error), file=path, line=_line_of(value, path), fix="mend that function"
            ) from None


def _line_of(function: Any, path: Path) -> int | None:
    code = getattr(function, "__code__", None)
    return code.co_firstlineno if code is not None and code.co_filename == str(path) else None


def _remedy(error: BaseException) -> str:
    """What to do about a file that cannot be run."""
    if isinstance(error, ImportError):
        return "install it; of your own code, put all into this one file"
    return "mend it"


def open_workplace(path: str | Path, *, allow_tools: bool = False) -> Sandbox:
    """The sandbox of a folder (or of a `sandbox.sqlite` in the published layout), with its tools.

    Args:
        path: the folder.
        allow_tools: run the folder's own tools, which are a program: only of folders that are trusted.

    Raises:
        UsageError: a file is missing or cannot be used, or the folder has tools and they are not allowed.
    """
    tools = own_tools_file(Path(path))
    if tools is None:
        return Sandbox.load(path)
    if not allow_tools:
        raise UsageError(
            "this folder brings a program, its own tools",
            file=tools,
            fix="read it, and add --allow_tools if you trust it",
        )
    return load_own(Path(path))
