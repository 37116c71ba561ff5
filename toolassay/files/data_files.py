"""Read and write files: an error names the bad line, and a file is replaced whole or not at all."""

from __future__ import annotations

import contextlib
import gc
import hashlib
import io
import json
import os
import re
import shutil
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from functools import cache
from importlib.resources import files
from itertools import chain, count, islice
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeVar, cast

from toolassay.console.text_formatting import shortened, without_controls
from toolassay.errors import ToolassayError, UsageError
from toolassay.files.locks import new_temporary, open_regular

Record = TypeVar("Record")
_DECODER = json.JSONDecoder()
# The whitespace of JSON, and no other: it matches all of " \n\t", and nothing of a no-break space.
_BLANK = re.compile(r"[ \t\n\r]*")


HALF_PAIRS = "backslashreplace"
"""The error handler for half a surrogate pair, which models send and UTF-8 cannot encode.

It is written as `\\ud800`, the escape that JSON has for it, so reading the JSON gives the same text.
"""


@cache
def package_data(package: str, name: str) -> Any:
    """The value of a JSON file that a package of this one has beside its modules."""
    return json.loads(files(package).joinpath(name).read_text(encoding="utf-8"))


def readable(text: str) -> str:
    r"""Text that UTF-8 can encode: two halves of a surrogate pair become a character, a single half "�".

    >>> readable("a\ud83d\ude00b\ud800")
    'a😀b�'
    """
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def parse_json(text: str | bytes) -> Any:
    r"""`json.loads` in half the time: the same value, or the same error.

    Raises:
        ValueError: it is not JSON.
        RecursionError: it is nested too deeply.

    >>> parse_json(b'{"a": [1, "\\ud800", NaN]}')
    {'a': [1, '\ud800', nan]}
    """
    import msgspec  # 12 ms, which `--help` does not need

    try:
        return msgspec.json.decode(text)
    except (ValueError, RecursionError):
        # What msgspec accepts, it reads as `json` does. It refuses NaN, Infinity, numbers that a float cannot
        # hold and half a surrogate pair, which `json` accepts.
        return json.loads(text)


def compact_json(value: Any) -> bytes:
    """A JSON value in UTF-8 without blanks, written by `msgspec`: NaN and Infinity become null.

    Raises:
        ValueError: a text has half a surrogate pair, or a whole number thousands of digits.
        RecursionError: it is nested too deeply.

    >>> compact_json({"a": [1, 1.0, True]})
    b'{"a":[1,1.0,true]}'
    """
    import msgspec

    return msgspec.json.encode(value)


# New objects between two searches; 700 to 2,000 are Python's default.
_NEW_OBJECTS = 50_000


@contextlib.contextmanager
def rare_cycle_search() -> Iterator[None]:
    """Let Python search less often for reference cycles while many lines are read.

    Values of JSON have none, and each search visits all that are in use: a twentieth of the time.
    """
    before = gc.get_threshold()
    gc.set_threshold(max(_NEW_OBJECTS, before[0]) if before[0] else 0, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


class Line(NamedTuple):
    """A JSON value of a JSON Lines file, with the number of its line, counted from 1."""

    number: int
    value: Any


class LineRange(NamedTuple):
    """Consecutive lines of a file, by which any process, also on another machine, can read them.

    Attributes:
        number: the number of the first line, counted from 1.
        length: the number of lines.
        start: where the first one starts, in bytes.
        size: their size in bytes.
        checksum: the CRC-32 of these bytes.
    """

    number: int
    length: int
    start: int
    size: int
    checksum: int

    @property
    def numbers(self) -> range:
        """The numbers of the lines."""
        return range(self.number, self.number + self.length)


@contextlib.contextmanager
def atomic_target(path: Path) -> Iterator[IO[bytes]]:
    """Open a temporary file beside `path` and rename it over `path` if the block raises nothing.

    The file is on the disk (`fsync`) before it is renamed, and readable by everyone (mode 644).

    Raises:
        ToolassayError: the folder cannot be written or the disk is full; `path` is then as it was.
    """
    temporary: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = new_temporary(path.parent, path.name)
        with os.fdopen(descriptor, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
            temporary.chmod(0o644)
            temporary.replace(path)  # before it is closed, which ends its lock
            temporary = None
    except OSError as error:
        raise ToolassayError(
            f"cannot write: {error.strerror or error}",
            file=path,
            fix="check the folder's permissions and space",
        ) from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def path_from(folder: Path, path: Path) -> str:
    """A path as a file in `folder` records it: relative to the folder, so that both can be moved together."""
    return os.path.relpath(path.resolve(), folder.resolve())


def path_in(folder: Path, written: str) -> Path:
    """The inverse of `path_from`: the path that a file in `folder` records. An absolute one is kept.

    >>> path_in(Path("/data/checked"), path_from(Path("/data/checked"), Path("/data/raw"))).name
    'raw'
    """
    return (folder.resolve() / written).resolve()


@contextlib.contextmanager
def atomic_writer(path: Path) -> Iterator[IO[str]]:
    """`atomic_target` for UTF-8 text. Line ends are written unchanged.

    Raises:
        ToolassayError: the folder cannot be written or the disk is full; `path` is then as it was.
    """
    with atomic_target(path) as target:
        stream = io.TextIOWrapper(target, encoding="utf-8", errors=HALF_PAIRS, newline="\n")
        try:
            yield stream
        finally:
            stream.detach()  # flushes, and keeps the file open: `atomic_target` closes it


def write_text(path: Path, text: str) -> None:
    """Write a UTF-8 text to `path`, atomically (`atomic_target`); Markdown without control characters."""
    with atomic_writer(path) as stream:
        stream.write(without_controls(text) if path.suffix == ".md" else text)


def write_json(path: Path, value: Any) -> None:
    """Write a JSON value to `path` atomically, in UTF-8, with keys in the given order."""
    write_text(path, indented_json(value) + "\n")


def unescaped_json(value: Any) -> str:
    """A JSON value on one line, with the letters of all scripts as they are.

    >>> unescaped_json({"name": "Zoë"})
    '{"name": "Zoë"}'
    """
    return json.dumps(value, ensure_ascii=False)


def indented_json(value: Any, indent: int | None = 2) -> str:
    """The text of `json.dumps` with this indent, in a third of the time.

    >>> indented_json({"a": [1, []]}, 1) == json.dumps({"a": [1, []]}, indent=1)
    True
    """
    if not indent:
        return json.dumps(value, indent=indent, ensure_ascii=False)
    import msgspec

    try:
        return msgspec.json.format(
            json.dumps(value, ensure_ascii=False, separators=(",", ":")), indent=indent
        )
    except (ValueError, RecursionError):  # NaN, half a surrogate pair, or nested too deeply for msgspec
        return json.dumps(value, indent=indent, ensure_ascii=False)


def write_nodes(stream: IO[str], nodes: Iterable[Any], *, compact: bool = False) -> None:
    """Write `{"nodes": […]` without the closing brace, like `write_json` with one node in memory.

    Args:
        stream: Where to write.
        nodes: At least one.
        compact: One line for each, which is several times as fast, rather than the published layout.
    """
    separator = '{\n  "nodes": [\n    '
    for node in nodes:
        text = json.dumps(node, indent=None if compact else 2, ensure_ascii=False).replace("\n", "\n    ")
        stream.write(separator + text)
        separator = ",\n    "
    stream.write("\n  ]")


def write_json_lines(path: Path, values: Iterable[Any]) -> int:
    """Write one JSON value per line to `path`, atomically; returns the number of lines."""
    count = 0
    with atomic_writer(path) as stream:
        for value in values:
            stream.write(unescaped_json(value) + "\n")
            count += 1
    return count


def read_text(path: Path, *, fix: str | None = None) -> str:
    """The text of a UTF-8 file, without a byte order mark.

    Args:
        path: the file.
        fix: what an error advises if the file is missing; default "check the path".

    Raises:
        UsageError: there is no such file, or it is not readable UTF-8 text.
    """
    try:
        with io.TextIOWrapper(_opened(path, fix), encoding="utf-8-sig") as stream:
            return stream.read()
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise UsageError(
            f"not UTF-8 text (byte {error.start})", file=path, line=line, fix="save it as UTF-8"
        ) from None


def read_json(path: Path, *, fix: str | None = None) -> Any:
    """The JSON value in a file. `fix` is as in `read_text`.

    Raises:
        UsageError: missing, unreadable, or not JSON (with the line).
    """
    text = read_text(path, fix=fix)
    try:
        return parse_json(text)
    except json.JSONDecodeError as error:
        raise UsageError(
            f"not valid JSON: {error.msg}", file=path, line=error.lineno, fix="correct that line"
        ) from None
    except ValueError as error:
        # A number of more than 4,300 digits, which Python refuses to convert.
        raise UsageError(f"not valid JSON: {error}", file=path, fix="shorten that number") from None
    except RecursionError:
        raise UsageError("JSON nested too deeply", file=path, fix="flatten it") from None


def line_ranges(path: Path, lines: int, *, fix: str | None = None) -> Iterator[LineRange]:
    """Cut a file into ranges of about so many lines. `fix` is as in `read_text`.

    Raises:
        UsageError: missing or unreadable.
    """
    with _opened(path, fix) as stream:
        number = 1
        start = 0
        while data := b"".join(islice(stream, lines)):
            # As for Python's text files, a carriage return without a line feed ends a line, too.
            ends = data.count(b"\n") + data.count(b"\r") - data.count(b"\r\n")
            length = ends if data.endswith((b"\n", b"\r")) else ends + 1
            yield LineRange(number, length, start, len(data), zlib.crc32(data))
            number = number + length
            start = start + len(data)


def _opened(path: Path, fix: str | None) -> IO[bytes]:
    try:
        return open_regular(path)
    except FileNotFoundError:
        raise UsageError("no such file", file=path, fix=fix or "check the path") from None
    except IsADirectoryError:
        raise UsageError("is a folder, a file is needed", file=path, fix=fix) from None
    except OSError as error:
        raise UsageError(
            f"cannot be read: {error.strerror}", file=path, fix="check its permissions"
        ) from None


def _bytes_of(path: Path, lines: LineRange) -> bytes:
    """The bytes of a range, as they were when the file was cut.

    Raises:
        UsageError: missing, unreadable, or changed.
    """
    try:
        with open_regular(path) as stream:
            stream.seek(lines.start)
            data: bytes = stream.read(lines.size)
    except OSError as error:
        raise UsageError(
            f"cannot be read any more: {error.strerror}",
            file=path,
            fix="on a cluster, the data folder needs the same path on every machine",
        ) from None
    if zlib.crc32(data) != lines.checksum:
        raise UsageError(
            "changed while it was being used",
            file=path,
            fix="run it again; on a cluster, every machine needs the same files",
        )
    return data


def read_json_lines(path: Path, *, lines: LineRange | None = None, fix: str | None = None) -> Iterator[Line]:
    """Yield each JSON value of a JSON Lines file; blank lines are skipped.

    Args:
        path: the file.
        lines: the lines to read; None for all.
        fix: as in `read_text`.

    Raises:
        UsageError: missing, unreadable, a line that is not JSON (with its number), or lines that changed
            since the file was cut.
    """
    source = _opened(path, fix) if lines is None else io.BytesIO(_bytes_of(path, lines))
    is_first = lines is None or lines.start == 0
    first = 1 if lines is None else lines.number
    stream = io.TextIOWrapper(source, encoding="utf-8-sig" if is_first else "utf-8")
    with stream:
        number = 0
        text = ""
        try:
            for number, text in enumerate(stream, start=first):
                if text.strip():
                    yield Line(number, parse_json(text))
        except json.JSONDecodeError as error:
            whole = number == 1 and text.strip() in ("[", "{")  # as json.dump(…, indent=…) writes it
            remedy = "write one JSON object per line" if whole else "correct or remove that line"
            raise UsageError(f"not valid JSON: {error.msg}", file=path, line=number, fix=remedy) from None
        except RecursionError:
            raise UsageError("JSON nested too deeply", file=path, line=number, fix="flatten it") from None
        except UnicodeDecodeError:
            line = _first_not_utf8(path)  # text is decoded in blocks: the bad byte may be on a later line
            raise UsageError("not UTF-8 text", file=path, line=line, fix="save it as UTF-8") from None
        except ValueError as error:  # a number of more than 4,300 digits
            raise UsageError(
                f"not valid JSON: {error}", file=path, line=number, fix="correct or remove that line"
            ) from None


def _first_not_utf8(path: Path) -> int | None:
    """The number of the first line that is not UTF-8."""
    with path.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            try:
                line.decode()
            except UnicodeDecodeError:
                return number
    return None


def record_of(value: Any, kind: type[Record], *, file: Path, line: int | None = None, fix: str) -> Record:
    """A JSON value as a record, or as another type that `msgspec` knows; unknown keys are ignored.

    Raises:
        UsageError: it has another form; names the key.

    >>> record_of(["a"], list[int], file=Path("ids.json"), fix="write numbers")
    Traceback (most recent call last):
    toolassay.errors.UsageError: ids.json: Expected `int`, got `str` - at `$[0]`. Fix: write numbers
    """
    import msgspec

    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise UsageError(str(error), file=file, line=line, fix=fix) from None


def values_in(value: Any) -> Iterator[Any]:
    """Every value in a JSON value, itself included, in the order of its text.

    >>> list(values_in({"a": [1, 2]}))
    [{'a': [1, 2]}, [1, 2], 1, 2]
    """
    waiting = [value]
    while waiting:
        yield (item := waiting.pop())
        if isinstance(item, Mapping):
            waiting += reversed([*item.values()])
        elif isinstance(item, list | tuple):
            waiting += reversed(item)


def map_texts(
    value: Any, change: Callable[[str], str], *, key: Callable[[str], str] | None = None, levels: int = 10_000
) -> Any:
    """Copy a JSON value with every text in it changed.

    Args:
        value: the value.
        change: called with each text.
        key: called with each key of an object; default `change`.
        levels: how deep the value may be nested; Python's own limit comes before the default.

    Raises:
        RecursionError: it is nested deeper.

    >>> map_texts({"a": ["b", 1]}, str.upper), map_texts({"a": "b"}, str.upper, key=str)
    ({'A': ['B', 1]}, {'a': 'B'})
    """
    if isinstance(value, str):
        return change(value)
    if not isinstance(value, list | Mapping):
        return value
    if not levels:
        raise RecursionError
    if isinstance(value, list):
        return [map_texts(item, change, key=key, levels=levels - 1) for item in value]
    named = key or change
    return {named(name): map_texts(item, change, key=key, levels=levels - 1) for name, item in value.items()}


_KEPT = ((20, 1_000), (10, 400), (5, 200), (3, 100), (2, 50), (1, 30))
"""Items of a list and characters of a text that a short form keeps; the first that fits is used."""


def short_json(value: Any, most: int) -> str:
    """A JSON value on one line in at most `most` characters: long lists and texts keep their beginnings.

    Each level of a value is kept, so that a part of it can still be found.

    >>> short_json({"of": list(range(90)), "total": 90}, 70)
    '{"of": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, "… 80 more"], "total": 90}'
    """
    text = unescaped_json(value)
    for items, characters in _KEPT:
        if len(text) <= most:
            return text
        text = unescaped_json(_with_beginnings(value, items, characters))
    return shortened(text, most)


def _with_beginnings(value: Any, items: int, characters: int, levels: int = 50) -> Any:
    if isinstance(value, str):
        return value if len(value) <= characters else f"{value[:characters]}…"
    if not isinstance(value, list | dict):
        return value
    if not levels:
        return "…"
    if isinstance(value, dict):
        return {name: _with_beginnings(item, items, characters, levels - 1) for name, item in value.items()}
    beginning = [_with_beginnings(item, items, characters, levels - 1) for item in value[:items]]
    return beginning if len(value) <= items else [*beginning, f"… {len(value) - items} more"]


def holds_list(path: Path) -> bool:
    """Whether a JSON file is one list, rather than one object per line; False if it cannot be read."""
    try:
        with open_regular(path) as stream:
            return bool(stream.read(64).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["))
    except OSError:
        return False  # the caller reads the file next, and that raises the error with its reason


def line_of_item(path: Path, name: str | None, number: int, *, key: str | None = None) -> int | None:
    """The line of an element of a list in a JSON file.

    The text is parsed up to the element: a search could find the same text inside another one.

    Args:
        path: the file; it must hold valid JSON.
        name: the key of the list in the file's object; None if the file itself is the list.
        number: the element, counted from 1.
        key: a key of the element, whose line is returned instead of the element's.

    Returns:
        A line, counted from 1; None if there is no such list or element.
    """
    text = path.read_text(encoding="utf-8-sig")
    offset = _skip(text, 0)
    for step in (number,) if name is None else (name, number):
        members = dict(_members(text, offset))
        if step not in members:
            return None
        offset = members[step]
    offset = dict(_members(text, offset)).get(key, offset)
    return text.count("\n", 0, offset) + 1


def _members(text: str, start: int) -> Iterator[tuple[str | int | None, int]]:
    """Yield each key of the JSON object at `start`, or number of the list, and the place of its value."""
    sign = text[start]
    offset = _skip(text, start + 1)
    number = 0
    while sign in "{[" and text[offset] not in "}]":
        number += 1
        key: str | int = number
        if sign == "{":
            key, offset = _DECODER.raw_decode(text, offset)
            offset = _skip(text, _skip(text, offset) + 1)
        yield key, offset
        offset = _skip(text, _DECODER.raw_decode(text, offset)[1])
        offset = _skip(text, offset + 1) if text[offset] == "," else offset


def _skip(text: str, offset: int) -> int:
    """The place after the whitespace at `offset`."""
    blank = _BLANK.match(text, offset)
    return blank.end() if blank else offset


def refuse_to_replace(target: Path, sources: Iterable[Path], *, what: str, flag: str) -> None:
    """Refuse to write over an input file.

    Args:
        target: the file to write.
        sources: the files that are read.
        what: what the error says of the target.
        flag: the option that names the target.

    Raises:
        UsageError: the target is one of the sources.
    """
    if target.resolve() in {path.resolve() for path in sources}:
        raise UsageError(what, file=target, fix=f"choose another {flag}")


def safe_name(name: str) -> str:
    """A file name for a model or run; it never leaves its folder.

    >>> safe_name("acme/model 1")
    'acme__model_1'
    """
    # Everything but letters, digits and . _ - is replaced: ":" and " " are, the "-" of "gpt-4.1" is not.
    safe = re.sub(r"[^A-Za-z0-9._-]", "_", name.replace("/", "__"))
    return f"_{safe}" if not safe.strip(".") else safe


def stamp_of(path: Path) -> tuple[int, int] | None:
    """The size (bytes) and modification time (ns) of a file, to detect changes; None without a file."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file in hexadecimal. The file is read in blocks, so it may be larger than memory."""
    with open_regular(path) as stream:
        return hashlib.file_digest(cast(io.BufferedReader, stream), "sha256").hexdigest()


def keep_dated_copy(path: Path) -> Path:
    """Copy a file to `<stem>.<date>-<time><suffix>` beside it; never replaces an earlier copy.

    Returns:
        The copy.
    """
    copy = dated(path, path.suffix)
    copy_file(path, copy)
    return copy


def dated(path: Path, suffix: str = "") -> Path:
    """A free path beside this one, whose name has the time before its suffix."""
    start = f"{path.name.removesuffix(suffix)}.{datetime.now():%Y%m%d-%H%M%S}"
    names = chain([""], (f"-{number}" for number in count(2)))
    free = (path.with_name(f"{start}{more}{suffix}") for more in names)
    return next(candidate for candidate in free if not candidate.exists())


def copy_file(source: Path, target: Path) -> None:
    """Copy the content of a file, atomically (`atomic_target`)."""
    with atomic_target(target) as stream, open_regular(source) as original:
        shutil.copyfileobj(original, stream)
