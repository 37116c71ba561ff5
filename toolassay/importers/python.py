"""Python functions: type hints become JSON Schema (pydantic), docstrings descriptions (docstring-parser)."""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import enum
import functools
import importlib
import importlib.util
import inspect
import io
import json
import os
import re
import sys
import traceback
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType, ModuleType, NoneType, UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    Optional,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from toolassay.errors import UsageError
from toolassay.extras import Option
from toolassay.importers.importer import Importer, Incoming, IncomingTool, Note, Skipped
from toolassay.screen import SILENT, Screen


@dataclass(frozen=True)
class PythonOptions:
    """Options of the importer.

    Attributes:
        allow_tools: Permit importing the module, which runs it.
    """

    allow_tools: bool = False


class PythonImporter(Importer):
    """Reads the public functions of a module."""

    name: ClassVar[str] = "python"
    title: ClassVar[str] = "Python functions"
    help: ClassVar[str] = "Functions of a Python module, by their type hints and docstrings."
    source_help: ClassVar[str] = "A module or a file, or one function of it: package.module or tools.py:find."
    options: ClassVar[type[Any]] = PythonOptions
    flags: ClassVar[tuple[Option, ...]] = (
        Option("allow_tools", "Run the module, which is Python code.", bool),
    )

    def read(self, source: str, options: Any, *, screen: Screen = SILENT) -> Incoming:
        """Read the functions of a module; see `Importer.read`.

        Raises:
            UsageError: `allow_tools` is False, the module cannot be imported, or it has no such function.
        """
        place = _Place.of(source)
        if not options.allow_tools:
            raise UsageError(
                "importing the module runs it",
                file=place.label,
                fix="read the code, then add --allow_tools if you trust it",
            )
        # Before the search path changes: a file beside the module may have the name of one of theirs.
        for library in ("docstring_parser", "pydantic.json_schema"):
            importlib.import_module(library)
        tools, skipped, notes = [], [], list[Note]()
        with _importable(place):
            module = _imported(place)
            for name in _names(module, place, notes):
                try:
                    tools.append(_tool(name, getattr(module, name), place.module))
                except _UnreadableError as error:
                    skipped.append(Skipped(name, str(error)))
                except Exception as error:  # docstrings, defaults and types may be objects with own code
                    skipped.append(Skipped(name, f"cannot be read: {_one_line(error)}"))
            # After the import, which may read a file `.env`.
            secrets = [
                value for key, value in os.environ.items() if len(value) >= 8 and _CREDENTIAL.search(key)
            ]
        return Incoming(tools, source, skipped, secrets, notes)


# Name of a variable or parameter with a credential: "OPENAI_API_KEY", "auth_token"; not "key", "max_tokens".
_CREDENTIAL = re.compile(
    r"(?:^|_)(?:(?:api|access|private|secret|auth)_?key|token|secret|password|passwd|credentials?)(?:_|$)",
    re.IGNORECASE,
)


class _UnreadableError(Exception):
    """A function gives no tool. The text is the reason."""


class _Place(NamedTuple):
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
    def of(cls, source: str) -> _Place:
        """The place that SOURCE names.

        Raises:
            UsageError: It is neither a file nor the name of a module.
        """
        label, _, function = source.rpartition(":")
        # "tools.py:find" names a function; "C:/tools.py" and "tools.py" do not.
        if not label or not (function.isidentifier() or not function):
            label, function = source, ""
        path = Path(label)
        if path.suffix == ".py":
            if not path.is_file():
                raise UsageError("no such file", file=path, fix="check the path")
            folder, parts = path.resolve().parent, [path.stem]
            if path.stem == "__init__":
                folder, parts = folder.parent, [folder.name]
            while (folder / "__init__.py").is_file():  # a file of a package may import relatively
                folder, parts = folder.parent, [folder.name, *parts]
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
    place = _Place.of(source)
    with _importable(place):
        yield _imported(place)


@contextlib.contextmanager
def _importable(place: _Place) -> Iterator[None]:
    """The current directory and the module's folder are searched for modules; its output goes to stderr.

    Afterwards the search path is as before, and modules from the added folders are forgotten: another import
    may find others of the same name.
    """
    import typing_extensions

    path, known = list(sys.path), set(sys.modules)
    added = [str(folder) for folder in (place.folder, Path.cwd()) if folder and str(folder) not in path]
    sys.path[:0] = added
    importlib.invalidate_caches()
    stdin, typed_dict = sys.stdin, typing.TypedDict
    sys.stdin = io.StringIO()  # a module that asks a question fails instead of waiting for an answer
    if sys.version_info < (
        3,
        12,
    ):  # pydantic refuses the older TypedDict of `typing`, even within other types
        vars(typing)["TypedDict"] = typing_extensions.TypedDict
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        sys.stdin = stdin
        vars(typing)["TypedDict"] = typed_dict
        sys.path[:] = path
        own = {name for name in set(sys.modules) - known if "." not in name and _is_in(name, added)}
        for name in set(sys.modules) - known:
            if name.partition(".")[0] in own:
                del sys.modules[name]


def _is_in(name: str, folders: list[str]) -> bool:
    """Whether a top-level module is `FOLDER/name.py` or `FOLDER/name/__init__.py`."""
    origin = getattr(getattr(sys.modules[name], "__spec__", None), "origin", None)
    if not isinstance(origin, str):
        return False
    path = Path(origin)
    return str((path.parent if path.name == "__init__.py" else path).parent) in folders


def _imported(place: _Place) -> ModuleType:
    """The module.

    Raises:
        UsageError: It does not exist, or raises when it is run.
    """
    try:
        if place.file is None:
            return importlib.import_module(place.module)
        return _from_file(place.file)
    except (Exception, SystemExit) as error:
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        if missing and f"{place.module}.".startswith(f"{missing}."):
            raise UsageError(
                f"no module named '{missing}'",
                fix="check the name, or give the path of its file; the current directory is searched too",
            ) from None
        file, line = _raised_at(error, place)
        raise UsageError(
            f"the module cannot be imported: {_one_line(error)}",
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


def _raised_at(error: BaseException, place: _Place) -> tuple[str, int | None]:
    """File and line of an error: of the last line of the module that ran, as given."""
    if isinstance(error, SyntaxError) and error.filename:
        return error.filename, error.lineno
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith("<") and frame.filename != __file__
    ]
    folder = str(place.folder or Path.cwd())
    frames = [frame for frame in frames if frame.filename.startswith(folder)] or frames
    frames = [frame for frame in frames if "site-packages" not in frame.filename] or frames
    return (frames[-1].filename, frames[-1].lineno) if frames else (place.label, None)


def _one_line(error: BaseException) -> str:
    text = next((line for line in str(error).splitlines() if line.strip()), "").strip().partition(". ")[0]
    kind = type(error).__name__
    return f"{kind}: {text[:200]}" if text else kind


def _names(module: ModuleType, place: _Place, notes: list[Note]) -> list[str]:
    """The functions to read: the one that SOURCE names, those of `__all__`, or the public ones of the module.

    Raises:
        UsageError: There is none.
    """
    listed = getattr(module, "__all__", None)
    if isinstance(listed, list | tuple):
        names = [str(name) for name in listed if _function_of(getattr(module, str(name), None))]
        others = {name: getattr(module, name, None) for name in map(str, listed) if name not in names}
        reasons = {f"__all__.{name}": _not_a_function(value) for name, value in others.items()}
    else:
        public = {name: value for name, value in vars(module).items() if not name.startswith("_")}
        names = [
            name
            for name, value in public.items()
            if getattr(_function_of(value), "__module__", "") == module.__name__
        ]
        imported = _imported_names(module)
        reasons = {
            name: _not_a_function(value, module.__name__)
            for name, value in public.items()
            if name not in names and name not in imported
        }
    if place.function:
        if _function_of(getattr(module, place.function, None)) is None:
            fix = f"use one of {', '.join(names[:20])}" if names else "check the name"
            raise UsageError(f"has no function '{place.function}'", file=place.label, fix=fix)
        return [place.function]
    if not names:
        raise UsageError("has no public function", file=place.label, fix="define one, or list it in __all__")
    notes += [Note(name, reason) for name, reason in reasons.items() if reason]
    return names


def _imported_names(module: ModuleType) -> set[str]:
    """What import statements of the module name; bound methods and partials do not name their module."""
    try:
        tree = ast.parse(inspect.getsource(module))
    except Exception:  # there is no source, e.g. of an extension module
        return set()
    imports = (node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom))
    return {alias.asname or alias.name.partition(".")[0] for node in imports for alias in node.names}


def _not_a_function(value: Any, module: str | None = None) -> str:
    """Why an object of a module gives no tool; empty if it is no candidate for one.

    Args:
        value: The object.
        module: The module whose own classes with methods count; None for an object that `__all__` lists, of
            which every one counts that is no type of data.
    """
    try:
        if inspect.isclass(value):
            if _is_data(value):
                return ""
            own = vars(value).items()
            has_methods = any(isinstance(one, _METHODS) and not name.startswith("_") for name, one in own)
            if module is None or (has_methods and value.__module__ == module):
                return "is a class: define functions that call its methods"
        elif isinstance(value, functools.partial):
            return "is a functools.partial: define a function that calls it"
        elif inspect.ismethod(value):
            return "is a bound method: define a function that calls it"
    except Exception:  # a proxy; see `_function_of`
        pass
    return "is no function" if module is None else ""


_METHODS = (FunctionType, classmethod, staticmethod)


def _is_data(value: type[Any]) -> bool:
    """Whether a class is a type of data, errors or interfaces."""
    from pydantic import BaseModel
    from typing_extensions import is_protocol, is_typeddict

    is_declared = dataclasses.is_dataclass(value) or is_typeddict(value) or is_protocol(value)
    return is_declared or issubclass(value, BaseException | enum.Enum | BaseModel)


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
    """The tool of a function, or of the function that an object decorates.

    Raises:
        _UnreadableError: Its signature or hints cannot be read.
    """
    function = _function_of(value)
    assert function is not None, "only names of functions are read"
    try:
        parameters = list(inspect.signature(function).parameters.values())
        hints = get_type_hints(function, include_extras=True)
    except Exception as error:  # hints are expressions, which can raise anything
        raise _UnreadableError(f"its type hints cannot be resolved: {_one_line(error)}") from None
    named = [one for one in parameters if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
    further = {
        f"*{one.name}" if one.kind is one.VAR_POSITIONAL else f"**{one.name}": one for one in parameters
    }
    further = {name: one for name, one in further.items() if one not in named}
    if further and not named:
        raise _UnreadableError(f"its arguments have no names: it takes {', '.join(further)}")
    docstring = _Docstring.of(function)
    losses = list(docstring.losses)
    if function is not value and not hasattr(value, "__wrapped__"):
        losses.append(Note("decorator", f"what {type(value).__name__} adds to the function is not read"))
    arguments = [_Argument.of(one, hints.get(one.name, Any)) for one in named]
    schemas, definitions = _schemas(arguments, losses)
    properties = {}
    for argument in arguments:
        about = docstring.parameters.pop(argument.name, "")
        if argument.name not in schemas:
            continue
        schema = schemas[argument.name]
        texts = [text for text in (schema.get("description"), about, *_texts(argument.hint)) if text]
        if texts:
            schema = {**schema, "description": texts[0]}
        if set(texts[1:]) - set(texts[:1]):
            losses.append(Note(f"{argument.name}.description", "is given more than once; the first is kept"))
        properties[argument.name] = {**schema, **argument.default(losses)}
    losses += [Note(f"docstring.{name}", "describes no named argument") for name in docstring.parameters]
    inputs: dict[str, Any] = {"type": "object", "properties": properties}
    if required := [one.name for one in arguments if one.required]:
        inputs["required"] = required
    if not any(name.startswith("**") for name in further):
        inputs["additionalProperties"] = False  # a call with another argument raises TypeError
    return IncomingTool(
        name,
        docstring.description,
        {**inputs, **definitions},
        _output(hints.get("return", Any), docstring.returns, losses),
        source={"module": module, "function": name},
        losses=losses,
        warnings=[
            *(Note(one, "takes further arguments, which the schema does not name") for one in further),
            *(Note(one.name, "has no type hint") for one in named if one.name not in hints),
        ],
    )


_NO_DEFAULT: Any = inspect.Parameter.empty


@dataclass(frozen=True)
class _Argument:
    """A parameter of a function; `hint` has the constraints and the description that `Field` gives."""

    name: str
    hint: Any
    value: Any = _NO_DEFAULT

    @classmethod
    def of(cls, parameter: inspect.Parameter, hint: Any) -> _Argument:
        from pydantic.fields import FieldInfo

        value = parameter.default
        if isinstance(value, FieldInfo):  # city: str = Field("Rome", description=…)
            hint = Annotated[hint, value]
            value = _NO_DEFAULT if value.is_required() else value.get_default(call_default_factory=True)
        elif value is None and hint is not Any:  # city: str = None
            inner, *about = get_args(hint) if get_origin(hint) is Annotated else (hint,)
            inner = Optional[inner]  # noqa: UP045 - "|" fails on hints that are no class
            hint = Annotated[inner, *about] if about else inner
        return cls(parameter.name, hint, value)

    @property
    def required(self) -> bool:
        return self.value is _NO_DEFAULT

    def default(self, losses: list[Note]) -> dict[str, Any]:
        """`{"default": …}`; {} without one. A value that is no JSON is a loss."""
        from pydantic import TypeAdapter

        if self.required:
            return {}
        if isinstance(self.value, str) and self.value and _CREDENTIAL.search(self.name):
            losses.append(Note(f"{self.name}.default", "may be a credential"))
            return {}
        try:
            value = TypeAdapter(self.hint).dump_python(self.value, mode="json", warnings=False)
            json.dumps(value, allow_nan=False)
            return {"default": value}
        except Exception as error:
            losses.append(Note(f"{self.name}.default", f"is no JSON value: {_one_line(error)}"))
            return {}


def _texts(hint: Any) -> Iterator[str]:
    """The texts and `Doc`s in a hint, as in `Annotated[str, "Where."]` and `Annotated[…] | None`."""
    if get_origin(hint) in (Union, UnionType):
        for one in get_args(hint):
            yield from _texts(one)
    if get_origin(hint) is Annotated:
        inner, *metadata = get_args(hint)
        yield from _texts(inner)
        for one in metadata:
            text = getattr(one, "documentation", one)  # `Doc` exists in several packages
            if isinstance(text, str) and text.strip():
                yield " ".join(text.split())


def _schemas(
    arguments: list[_Argument], losses: list[Note]
) -> tuple[dict[Any, dict[str, Any]], dict[str, Any]]:
    """The schema of each argument, and `{"$defs": …}` of all.

    An argument that a call may omit is a loss if its type has no schema: the program sets it, not the model.

    Raises:
        _UnreadableError: A required argument has a type without a schema.
    """
    from pydantic import TypeAdapter

    mode: Literal["validation"] = "validation"
    adapters: list[tuple[str, Literal["validation"], Any]] = []
    for one in arguments:
        try:
            adapter = TypeAdapter(one.hint)
            adapter.json_schema()
        except Exception as error:  # of pydantic, or of the module's own types
            if one.required:
                reason = f"the type of '{one.name}' has no JSON Schema: {_one_line(error)}"
                raise _UnreadableError(reason) from None
            losses.append(Note(one.name, f"its type has no JSON Schema: {_one_line(error)}"))
        else:
            adapters.append((one.name, mode, adapter))
    schemas, definitions = TypeAdapter.json_schemas(adapters, schema_generator=_generator())
    return {name: schema for (name, _), schema in schemas.items()}, definitions


def _output(hint: Any, description: str, losses: list[Note]) -> dict[str, Any] | None:
    """The schema of the result; None if the function has no return annotation."""
    from pydantic import TypeAdapter

    schema: dict[str, Any] | None = None
    if hint not in (Any, None, NoneType):
        try:
            schema = TypeAdapter(hint).json_schema(mode="serialization", schema_generator=_generator())
        except Exception as error:
            losses.append(Note("return", f"its type has no JSON Schema: {_one_line(error)}"))
    if schema is None and description:
        losses.append(Note("docstring.returns", "without a type of the result it has no place"))
    elif schema is not None and description:
        schema = {**schema, "description": description}
    return schema


def _generator() -> Any:
    from pydantic.json_schema import GenerateJsonSchema

    class Generator(GenerateJsonSchema):
        """Without the titles that pydantic makes of the names of fields."""

        def field_title_should_be_set(self, schema: Any) -> bool:
            return False

    return Generator


@dataclass(frozen=True)
class _Docstring:
    """A docstring of Google, NumPy or reST style: its description, parameters and result."""

    description: str
    parameters: dict[str, str]
    returns: str
    losses: list[Note]

    @classmethod
    def of(cls, function: Callable[..., Any]) -> _Docstring:
        import docstring_parser
        from docstring_parser.common import DocstringParam, DocstringReturns

        text = inspect.getdoc(function) or ""
        try:
            parsed = docstring_parser.parse(text)
        except Exception:  # ParseError, and errors of the parser itself
            return cls(text, {}, "", [Note("docstring", "its sections cannot be parsed")])
        parameters, returns, left = {}, [], []
        for item in parsed.meta:
            if isinstance(item, DocstringParam) and item.args[0] != "attribute":
                # NumPy style allows several names: "x, y : int". reST writes "**options" as "\\*\\*options".
                for name in item.arg_name.replace("\\", "").split(","):
                    parameters[name.strip(" *")] = " ".join((item.description or "").split())
            elif isinstance(item, DocstringReturns):
                returns.append(" ".join((item.description or "").split()))
            else:
                left.append(item.args[0])
        description = "\n\n".join(
            part.strip() for part in (parsed.short_description, parsed.long_description) if part
        )
        return cls(
            description,
            {name: about for name, about in parameters.items() if about},
            " ".join(filter(None, returns)),
            [Note(f"docstring.{name}", "a tool file has no place for it") for name in dict.fromkeys(left)],
        )


IMPORTER = PythonImporter()
