"""Reading and writing files so that bad input is named and nothing is ever half-written."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import IO, Any, NamedTuple

from toolgraph.errors import ToolgraphError, UsageError


class Line(NamedTuple):
    """One JSON value of a JSON Lines file, with its line number counted from 1."""

    number: int
    value: Any


@contextlib.contextmanager
def atomic_writer(path: Path) -> Iterator[IO[str]]:
    """Open a temporary file beside `path`; rename it over `path` only if the block ends well.

    Raises:
        ToolgraphError: the folder cannot be written or the disk is full; `path` is then as it was.
    """
    temporary: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        temporary = Path(name)
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        temporary.chmod(0o644)
        temporary.replace(path)
        temporary = None
    except OSError as error:
        raise ToolgraphError(
            f"cannot write: {error.strerror or error}",
            file=path,
            fix="check the folder's permissions and space",
        ) from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write `text` to `path` atomically."""
    with atomic_writer(path) as stream:
        stream.write(text)


def write_json(path: Path, value: Any, *, indent: int | None = 2) -> None:
    """Write one JSON value to `path` atomically, UTF-8, keys in the given order."""
    write_text(path, json.dumps(value, indent=indent, ensure_ascii=False) + "\n")


def write_json_lines(path: Path, values: Iterable[Any]) -> int:
    """Write one JSON value a line to `path` atomically; returns how many."""
    count = 0
    with atomic_writer(path) as stream:
        for value in values:
            stream.write(json.dumps(value, ensure_ascii=False) + "\n")
            count += 1
    return count


def read_text(path: Path, *, fix: str | None = None) -> str:
    """The text of a UTF-8 file.

    Raises:
        UsageError: there is no such file, or it is not readable UTF-8 text.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise UsageError("no such file", file=path, fix=fix or "check the path") from None
    except IsADirectoryError:
        raise UsageError("is a folder, a file is needed", file=path, fix=fix) from None
    except UnicodeDecodeError as error:
        raise UsageError(f"not UTF-8 text (byte {error.start})", file=path, fix="save it as UTF-8") from None
    except OSError as error:
        raise UsageError(
            f"cannot be read: {error.strerror}", file=path, fix="check its permissions"
        ) from None


def read_json(path: Path, *, fix: str | None = None) -> Any:
    """The JSON value in a file.

    Raises:
        UsageError: missing, unreadable, or not JSON (with the line).
    """
    text = read_text(path, fix=fix)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise UsageError(
            f"not valid JSON: {error.msg}", file=path, line=error.lineno, fix="mend that line"
        ) from None
    except RecursionError:
        raise UsageError("JSON nested too deeply", file=path, fix="flatten it") from None


def read_json_lines(path: Path, *, fix: str | None = None) -> Iterator[Line]:
    """Each JSON value of a JSON Lines file, one at a time; blank lines are skipped.

    Raises:
        UsageError: missing, unreadable, or a line that is not JSON (with its number).
    """
    try:
        stream = path.open(encoding="utf-8-sig")
    except FileNotFoundError:
        raise UsageError("no such file", file=path, fix=fix or "check the path") from None
    except OSError as error:
        raise UsageError(
            f"cannot be read: {error.strerror}", file=path, fix="check its permissions"
        ) from None
    with stream:
        number = 0
        try:
            for number, text in enumerate(stream, start=1):
                if text.strip():
                    yield Line(number, json.loads(text))
        except json.JSONDecodeError as error:
            raise UsageError(
                f"not valid JSON: {error.msg}", file=path, line=number, fix="mend or remove that line"
            ) from None
        except RecursionError:
            raise UsageError("JSON nested too deeply", file=path, line=number, fix="flatten it") from None
        except UnicodeDecodeError:
            raise UsageError("not UTF-8 text", file=path, line=number + 1, fix="save it as UTF-8") from None


def line_of(path: Path, needle: str, *, occurrence: int = 1, after: str | None = None) -> int | None:
    """The number of the line that holds the n-th `needle` (as a JSON string) below the text `after`."""
    text = path.read_text(encoding="utf-8-sig")
    place = -1 if after is None else text.find(after)
    for spelling in (json.dumps(needle), json.dumps(needle, ensure_ascii=False)):
        found = place
        for _ in range(occurrence):
            found = text.find(spelling, found + 1)
            if found < 0:
                break
        else:
            return text.count("\n", 0, found) + 1
    return None


def safe_name(name: str) -> str:
    """The file name that stands for a model or run name; never a folder.

    >>> safe_name("acme/model 1")
    'acme__model_1'
    """
    safe = re.sub(r"[^A-Za-z0-9._-]", "_", name.replace("/", "__"))
    return f"_{safe}" if not safe.strip(".") else safe


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal; read in blocks."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def keep_dated_copy(path: Path) -> Path:
    """Copy `path` to a dated name beside it, which never replaces another copy; returns the copy's path."""
    stamp = datetime.now().strftime("%Y%m%d-%H%M%S")
    copy, count = path.with_name(f"{path.stem}.{stamp}{path.suffix}"), 1
    while copy.exists():
        count += 1
        copy = path.with_name(f"{path.stem}.{stamp}-{count}{path.suffix}")
    shutil.copy2(path, copy)
    return copy
