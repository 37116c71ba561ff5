"""Writes what follows from the declared options: the types of the public functions, and the reference page.

python -m measurements.interface
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from textwrap import indent
from types import NoneType
from typing import Annotated, Any, Union, get_args, get_origin, get_overloads

import click

from toolassay.cli.command import Flag
from toolassay.cli.main import cli
from toolassay.declarations import REQUIRED, declared_in, members
from toolassay.interface import HOMES

ROOT = Path(__file__).parents[1]
STUB = ROOT / "toolassay" / "__init__.pyi"
REFERENCE = ROOT / "docs" / "reference-options.md"
_HEAD = '''# Written by `python -m measurements.interface` from the declared options; not to be edited.
"""Toolassay: from a tool list to a benchmark, and to the model to trust with the tools."""
'''


class _Types:
    """The texts of types, and the imports that they need."""

    def __init__(self) -> None:
        self.imports: dict[str, set[str]] = {}

    def text(self, owner: Any, annotation: Any) -> str:
        """An annotation of a class or function as it is written, without what is declared besides."""
        if not isinstance(annotation, str):
            return self._of_object(annotation)
        module = import_module(owner.__module__)
        tree = ast.parse(annotation, mode="eval").body
        if isinstance(tree, ast.Subscript) and ast.unparse(tree.value) == "Annotated":
            assert isinstance(tree.slice, ast.Tuple)
            tree = tree.slice.elts[0]
        if isinstance(tree, ast.Name) and get_origin(value := getattr(module, tree.id, None)) is Annotated:
            return self._of_object(value)
        homes = _imported(module.__name__)
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and node.id not in _BUILTINS:
                home, name = homes.get(node.id, (module.__name__, node.id))
                self.imports.setdefault(home, set()).add(name)
        return ast.unparse(tree)

    def _of_object(self, kind: Any) -> str:
        if get_origin(kind) is Annotated:
            kind = kind.__origin__
        if get_origin(kind) is Union:  # of a Literal and None
            return " | ".join(
                "None" if part is NoneType else self._of_object(part) for part in get_args(kind)
            )
        text = str(kind) if get_args(kind) else kind.__name__
        for module, names in {
            "collections.abc": ("Sequence", "Mapping", "Collection", "Callable"),
            "typing": ("Literal", "Any"),
            "pathlib": ("Path",),
        }.items():
            text = text.replace(f"{module}.", "").replace(f"{module}._local.", "")
            for name in names:
                if name in text:
                    self.imports.setdefault(module, set()).add(name)
        return text


_BUILTINS = {"str", "int", "float", "bool", "None", "tuple", "list", "dict", "object"}


def _imported(module: str) -> dict[str, tuple[str, str]]:
    """Where the names of a module come from, imports for type checkers included."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {
        alias.asname or alias.name: (node.module or "", alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def _flat_fields(owner: Any, *, is_nested: bool = False) -> Iterator[tuple[str, Any, Any]]:
    """Keyword, owner and annotation of every field that a function takes; of nested objects the options."""
    for member in members(owner):
        if member.group is not None:
            yield from _flat_fields(member.group, is_nested=isinstance(owner, type))
        elif member.chosen is not None:
            for kind in member.chosen.classes().values():
                if kind.__module__.startswith("toolassay."):  # not of an installed package
                    yield from _flat_fields(kind, is_nested=isinstance(owner, type))
    if not isinstance(owner, type):
        return
    names = {member.name: member.option.name for member in members(owner) if member.option is not None}
    for one in fields(owner):
        home = next(base for base in owner.__mro__ if one.name in inspect.get_annotations(base))
        if one.name in names:
            yield names[one.name], home, one.type
        if not is_nested and names.get(one.name) != one.name:
            yield one.name, home, one.type


def _function(name: str, stage: Callable[..., Any], form: Callable[..., Any], types: _Types) -> str:
    """The definition of a stage with flat keywords, in one of its forms."""
    signature = inspect.signature(form)
    flat: dict[str, dict[str, None]] = {}
    for keyword, owner, annotation in _flat_fields(stage):
        if keyword not in signature.parameters and keyword.isidentifier():
            flat.setdefault(keyword, {})[types.text(owner, annotation)] = None
    lines = []
    has_star = False
    for parameter in signature.parameters.values():
        text = types.text(stage, parameter.annotation)
        if parameter.kind is parameter.VAR_POSITIONAL:
            has_star = True
            lines.append(f"*{parameter.name}: {text}")
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not has_star:
            has_star = True
            lines.append("*")
        default = "" if parameter.default is parameter.empty else " = ..."
        lines.append(f"{parameter.name}: {text}{default}")
    if flat and not has_star:
        lines.append("*")
    for keyword, texts in flat.items():
        parts = dict.fromkeys(part for text in texts for part in text.split(" | "))
        lines.append(f"{keyword}: {' | '.join(parts) if len(texts) > 1 else next(iter(texts))} = ...")
    if any(keyword == "agent_command" for keyword in flat):
        lines = [line.replace("agent: str | None", "agent: str | AgentFunction | None") for line in lines]
    body = "".join(f"    {line},\n" for line in lines)
    result = types.text(stage, signature.return_annotation)
    text = _documentation(stage, [keyword for keyword in flat if keyword not in signature.parameters])
    mark = "" if form is stage else "@overload\n"
    if mark:
        types.imports.setdefault("typing", set()).add("overload")
    return f"{mark}def {name}(\n{body}) -> {result}:\n{text}\n"


def _documentation(stage: Callable[..., Any], keywords: Sequence[str]) -> str:
    """The docstring of a stage, with the flat keywords among its arguments."""
    text = inspect.getdoc(stage) or ""
    head = text
    tail = ""
    for section in ("\n\nReturns:", "\n\nRaises:"):
        if section in head:
            head, mark, rest = head.partition(section)
            tail = mark + rest + tail
    helps = {one.name: one.option.help for one in declared_in(stage)}
    lines = [f"    {keyword}: {helps[keyword]}" for keyword in keywords if helps.get(keyword)]
    head += "" if "\nArgs:" in head or not lines else "\n\nArgs:"
    whole = "\n".join([head, *lines]) + tail
    return indent(f'"""{whole}\n"""', "    ")


def stub() -> str:
    """The text of `toolassay/__init__.pyi`."""
    types = _Types()
    definitions = []
    exported = []
    for name, home in HOMES.items():
        if ".stages." in home:
            stage = getattr(import_module(home), "write_report" if name == "report" else name)
            definitions += [_function(name, stage, one, types) for one in get_overloads(stage) or [stage]]
        else:
            exported.append(f"from {home} import {name} as {name}")
    exported.append("from toolassay.version import __version__ as __version__")
    imports = [
        f"from {module} import {', '.join(sorted(names - HOMES.keys()))}"
        for module, names in sorted(types.imports.items())
        if names - HOMES.keys()
    ]
    names = ", ".join(f'"{name}"' for name in [*HOMES, "__version__"])
    return "\n".join([_HEAD, *imports, "", *exported, "", f"__all__ = [{names}]", "", *definitions])


def _commands(group: click.Group, name: str = "") -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for sub_name in group.list_commands(context):
        command = group.get_command(context, sub_name)
        path = f"{name} {sub_name}".strip()
        if isinstance(command, click.Group):
            yield from _commands(command, path)
        elif command is not None:
            yield path, command


def reference() -> str:
    """The text of `docs/reference-options.md`."""
    rows: dict[tuple[str, str, str], list[str]] = {}
    for path, command in _commands(cli):
        for parameter in command.params:
            if not isinstance(parameter, Flag) or parameter.hidden:
                continue
            option = parameter.declared.option
            flags = ", ".join(f"`{flag}`" for flag in parameter.opts)
            default = parameter.default
            shown = (
                "" if default in (REQUIRED, None, (), "") or not parameter.show_default else f"`{default}`"
            )
            rows.setdefault((flags, shown, option.help.replace("|", "\\|")), []).append(path)
    lines = [
        "# Options",
        "",
        "Every option of every command; `toolassay COMMAND --help-all` shows those of one. Written by",
        "`python -m measurements.interface` from the declarations.",
        "",
        "| option | default | meaning | commands |",
        "| --- | --- | --- | --- |",
    ]
    for (flags, shown, text), paths in sorted(rows.items()):
        lines.append(f"| {flags} | {shown} | {text} | {', '.join(paths)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write both files."""
    STUB.write_text(stub(), encoding="utf-8")
    REFERENCE.write_text(reference(), encoding="utf-8")


if __name__ == "__main__":
    main()
