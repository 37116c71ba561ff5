"""The functions of a Python module, which importing it runs."""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import inspect
import io
import os
import sys
import traceback
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, NamedTuple

from toolassay.console.screen import SILENT, Screen
from toolassay.declarations import Option
from toolassay.errors import UsageError
from toolassay.importers.functions import CREDENTIAL, in_one_line, tool_from_function
from toolassay.importers.importer import DefinitionError, Importer, Incoming, IncomingTool, Note, Skipped


@dataclass(frozen=True)
class PythonOptions:
    """Options of the importer."""

    allow_tools: Annotated[bool, Option("Run the module, which is Python code.")] = False


class PythonImporter(Importer):
    """Reads the public functions of a module."""

    name = "python"
    title = "Python functions"
    help = "Functions of a Python module, by their type hints and docstrings."
    source_help = "A module or a file, or one function of it: package.module or tools.py:find."
    options = PythonOptions

    def read(self, source: str, options: Any, *, screen: Screen = SILENT) -> Incoming:
        """Read the functions of a module; see `Importer.read`.

        Raises:
            UsageError: `allow_tools` is False, the module cannot be imported, or it has no such function.
        """
        target = _Target.of(source)
        if not options.allow_tools:
            raise UsageError(
                "importing the module runs it",
                file=target.label,
                fix="read the code, then add --allow_tools if you trust it",
            )
        # Before the search path changes: a file beside the module may have the name of one of theirs.
        for library in ("docstring_parser", "pydantic.json_schema"):
            importlib.import_module(library)
        tools = []
        skipped = []
        notes = list[Note]()
        with _importable(target):
            module = _imported(target)
            service = inspect.getdoc(module) or ""
            for name in _names(module, target, notes):
                try:
                    tools.append(_tool(name, getattr(module, name), target.module))
                except DefinitionError as error:
                    skipped.append(Skipped(name, str(error)))
                except Exception as error:  # docstrings, defaults and types may be objects with own code
                    skipped.append(Skipped(name, f"cannot be read: {in_one_line(error)}"))
            # After the import, which may read a file `.env`.
            secrets = [
                value for key, value in os.environ.items() if len(value) >= 8 and CREDENTIAL.search(key)
            ]
        return Incoming(tools, source, skipped, secrets, notes, service)


class _Target(NamedTuple):
    """Where a module is.

    Attributes:
        label: The file or module as given, without the function.
        module: Its name.
        file: Its file, if that was given and is in no package.
        folder: Folder from which it is imported, if a file was given.
        function: The only function to read; empty for all.
    """

    label: str
    module: str
    file: Path | None
    folder: Path | None
    function: str

    @classmethod
    def of(cls, source: str) -> _Target:
        """The place that SOURCE names.

        Raises:
            UsageError: It is neither a file nor the name of a module.
        """
        label, _, function = source.rpartition(":")
        # "tools.py:find" names a function; "C:/tools.py" and "tools.py" do not.
        if not label or not (function.isidentifier() or not function):
            label = source
            function = ""
        path = Path(label)
        if path.suffix == ".py":
            if not path.is_file():
                raise UsageError("no such file", file=path, fix="check the path")
            folder = path.resolve().parent
            parts = [path.stem]
            if path.stem == "__init__":
                parts = [folder.name]
                folder = folder.parent
            while (folder / "__init__.py").is_file():  # a file of a package may import relatively
                parts = [folder.name, *parts]
                folder = folder.parent
            alone = len(parts) == 1 and path.stem != "__init__"
            return cls(label, ".".join(parts), path.resolve() if alone else None, folder, function)
        if not all(part.isidentifier() for part in label.split(".")):
            raise UsageError(
                f"'{label}' is neither a Python file nor the name of a module",
                fix="give package.module, package.module:function, file.py or file.py:function",
            )
        return cls(label, label, None, None, function)


@contextlib.contextmanager
def imported_module(source: str) -> Iterator[ModuleType]:
    """The module that SOURCE names, imported as `PythonImporter.read` does; this runs it.

    Raises:
        UsageError: It cannot be imported.
    """
    target = _Target.of(source)
    with _importable(target):
        yield _imported(target)


@contextlib.contextmanager
def _importable(target: _Target) -> Iterator[None]:
    """The module can be imported and read: it is on the search path, has no input, and prints to stderr."""
    with (
        _no_input(),
        _pydantic_typed_dict(),
        _search_path(target.folder),
        contextlib.redirect_stdout(sys.stderr),
    ):
        yield


@contextlib.contextmanager
def _no_input() -> Iterator[None]:
    """A module that asks a question fails instead of waiting for an answer."""
    stdin = sys.stdin
    sys.stdin = io.StringIO()
    try:
        yield
    finally:
        sys.stdin = stdin


@contextlib.contextmanager
def _pydantic_typed_dict() -> Iterator[None]:
    """Before Python 3.12, pydantic refuses `typing.TypedDict`, even within other types: replace it."""
    import typing_extensions

    typed_dict = typing.TypedDict
    if sys.version_info < (3, 12):
        vars(typing)["TypedDict"] = typing_extensions.TypedDict
    try:
        yield
    finally:
        vars(typing)["TypedDict"] = typed_dict


@contextlib.contextmanager
def _search_path(module_folder: Path | None) -> Iterator[None]:
    """The current directory and the module's folder are searched for modules.

    Afterwards the search path is as before, and modules from the added folders are forgotten: another import
    may find others of the same name.
    """
    path = list(sys.path)
    known_modules = set(sys.modules)
    added = [str(folder) for folder in (module_folder, Path.cwd()) if folder and str(folder) not in path]
    sys.path[:0] = added
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path[:] = path
        own_packages = {
            name for name in set(sys.modules) - known_modules if "." not in name and _is_in(name, added)
        }
        for name in set(sys.modules) - known_modules:
            if name.partition(".")[0] in own_packages:
                del sys.modules[name]


def _is_in(name: str, folders: list[str]) -> bool:
    """Whether a top-level module is `FOLDER/name.py` or `FOLDER/name/__init__.py`."""
    origin = getattr(getattr(sys.modules[name], "__spec__", None), "origin", None)
    if not isinstance(origin, str):
        return False
    path = Path(origin)
    return str((path.parent if path.name == "__init__.py" else path).parent) in folders


def _imported(target: _Target) -> ModuleType:
    """The module.

    Raises:
        UsageError: It does not exist, or raises when it is run.
    """
    try:
        if target.file is None:
            return importlib.import_module(target.module)
        return _from_file(target.file)
    except (Exception, SystemExit) as error:
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        if missing and f"{target.module}.".startswith(f"{missing}."):
            raise UsageError(
                f"no module named '{missing}'",
                fix="check the name, or give the path of its file; the current directory is searched too",
            ) from None
        file, line = _raised_at(error, target)
        raise UsageError(
            f"the module cannot be imported: {in_one_line(error)}",
            file=file,
            line=line,
            fix=f"install the package of '{missing}'" if missing else "correct that line",
        ) from None


def _from_file(path: Path) -> ModuleType:
    """Import a file that is in no package, under its own name if that is free."""
    taken = path.stem in sys.modules or path.stem in sys.stdlib_module_names
    name = f"{path.stem}_imported" if taken else path.stem
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None, "a .py file has a loader"
    module = importlib.util.module_from_spec(spec)
    # Dataclasses and pydantic look up names of the module there.
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _raised_at(error: BaseException, target: _Target) -> tuple[str, int | None]:
    """File and line of an error: the last line that ran in the module's folder, else in the module."""
    if isinstance(error, SyntaxError) and error.filename:
        return error.filename, error.lineno
    folder = str(target.folder or Path.cwd())
    frames = traceback.extract_tb(error.__traceback__)
    own_frames = [
        frame
        for frame in frames
        if frame.filename.startswith(folder) and "site-packages" not in frame.filename
    ]
    return (own_frames[-1].filename, own_frames[-1].lineno) if own_frames else (target.label, None)


def _names(module: ModuleType, target: _Target, notes: list[Note]) -> list[str]:
    """The functions to read: the one that SOURCE names, those of `__all__`, or the public ones of the module.

    Raises:
        UsageError: There is none.
    """
    listed = getattr(module, "__all__", None)
    if isinstance(listed, list | tuple):
        names = [str(name) for name in listed if _function_of(getattr(module, str(name), None))]
        notes += [Note(f"__all__.{name}", "is no function") for name in listed if str(name) not in names]
    else:
        own_functions = {
            name: _function_of(value) for name, value in vars(module).items() if not name.startswith("_")
        }
        names = [
            name
            for name, function in own_functions.items()
            if getattr(function, "__module__", "") == module.__name__
        ]
    if target.function:
        if _function_of(getattr(module, target.function, None)) is None:
            fix = f"use one of {', '.join(names[:20])}" if names else "check the name"
            raise UsageError(f"has no function '{target.function}'", file=target.label, fix=fix)
        return [target.function]
    if not names:
        raise UsageError("has no public function", file=target.label, fix="define one, or list it in __all__")
    return names


def _function_of(value: Any) -> Callable[..., Any] | None:
    """The function that an object of a module is or decorates; None if it is something else."""
    try:
        if inspect.isclass(value) or isinstance(value, functools.partial):
            return None
        # Tool objects keep the function they decorate: `fn` (FastMCP), `func` and `coroutine` (LangChain).
        for inner in (value, *(getattr(value, name, None) for name in ("fn", "func", "coroutine"))):
            if inspect.isfunction(inspect.unwrap(inner)):
                function: Callable[..., Any] = inner
                return function
    except Exception:  # a proxy, e.g. Flask's `request`, raises on any access
        return None
    return None


def _tool(name: str, value: Any, module: str) -> IncomingTool:
    """The tool of a function, or of the function that an object decorates; raises as `tool_from_function`."""
    function = _function_of(value)
    assert function is not None, "only names of functions are read"
    tool = tool_from_function(function, name)
    if function is not value and not hasattr(value, "__wrapped__"):
        reason = f"what {type(value).__name__} adds to the function is not read"
        tool = replace(tool, losses=[*tool.losses, Note("decorator", reason)])
    return replace(tool, source={"module": module, "function": name})


IMPORTER = PythonImporter()
