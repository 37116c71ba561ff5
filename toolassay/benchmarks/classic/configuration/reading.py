"""Configuration files found, read and merged, with single values set on the command line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from toolassay.benchmarks.classic.configuration.keys import Configuration, checked
from toolassay.errors import UsageError
from toolassay.files import read_text

KINDS = ("data", "agent", "eval")
_PACKAGE = "toolassay.benchmarks.classic"


def read_configuration(names: Mapping[str, str], overrides: Sequence[str] = ()) -> Configuration:
    """One configuration out of files, later ones before earlier ones, and overrides before all.

    Args:
        names: a path or a bare name for each of `data`, `agent`, `eval`. A bare name is looked up as
            `configs/<kind>/<name>.yaml` below the current folder, then among those that come along.
        overrides: `key=value`, the key dotted, as `agent.temperature=0.2`; the value is YAML, and may hold
            further `=`.

    Raises:
        UsageError: a file is missing or malformed, a key is unknown or a secret, a value does not fit.

    >>> found = read_configuration({"agent": "retrieval"}, ["agent.order=7"])
    >>> found.get("agent.base_model"), found.get("agent.order")
    ('offline', '7')
    """
    values: dict[str, Any] = {}
    for kind in KINDS:
        if kind in names:
            values |= _of_file(kind, names[kind])
    for override in overrides:
        key, value = _of_override(override)
        values[key] = value
    return Configuration(values)


def _of_file(kind: str, name: str) -> dict[str, Any]:
    path = _found(kind, name)
    tree = _parsed(read_text(path), path)
    if tree is None:
        return {}
    if not isinstance(tree, dict):
        raise UsageError("is no mapping", file=path, fix="write e.g. agent: {name: cot}")
    found = {}
    try:
        for key, value in _flat(tree):
            found[key] = checked(key, value)
    except ValueError as error:
        raise UsageError(str(error), file=path) from None
    except RecursionError:
        raise UsageError("is nested too deeply, or in itself", file=path, fix="flatten it") from None
    return found


def _found(kind: str, name: str) -> Path:
    """The file of a name."""
    own = Path("configs") / kind / f"{name}.yaml"
    for path in (Path(name), own):
        if path.is_file():
            return path
    folder = Path(str(files(_PACKAGE) / "configs" / kind))
    bundled = {path.stem: path for path in sorted(folder.glob("*.yaml"))}
    if name not in bundled:
        raise UsageError(
            f"no configuration --{kind} '{name}': no such file, nor {own}",
            fix=f"give a path, or one of {', '.join(bundled)}",
        )
    return bundled[name]


def _of_override(text: str) -> tuple[str, Any]:
    key, equals, written = text.removeprefix("--").partition("=")
    if not equals or not key:
        shown = text if not equals else "…"
        raise UsageError(f"cannot read {shown!r}", fix="write KEY=VALUE, e.g. agent.temperature=0.2")
    try:
        checked(key, None)  # before the value is looked at, which may be a secret
        value = _parsed(written, None)
        if isinstance(value, bool) and written.lower() not in ("true", "false"):
            value = written  # "no" and "on" are words here
        return key, checked(key, value)
    except ValueError as error:
        raise UsageError(str(error)) from None


def _parsed(text: str, path: Path | None) -> Any:
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark is not None and path is not None else None
        problem = getattr(error, "problem", None) or "malformed"
        raise UsageError(f"is no YAML: {problem}", file=path, line=line, fix="mend it") from None
    except (RecursionError, ValueError):  # of a date that there is not, of a number of 5,000 digits
        raise UsageError("is no YAML that can be read", file=path, fix="mend it") from None


def _flat(tree: Mapping[Any, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Values by dotted key."""
    for name, value in tree.items():
        key = f"{before}{name}"
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{key}.")
        else:
            yield key, value
