"""The convert stage: any JSON Lines file as Parquet, and back to the same bytes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from toolassay.errors import UsageError
from toolassay.exporters.jsonl_parquet import parquet_libraries
from toolassay.files import HALF_PAIRS, atomic_target, parse_json, refuse_to_replace
from toolassay.locks import open_regular
from toolassay.progress_callback import Progress
from toolassay.screen import DEFAULT, Screen
from toolassay.text_formatting import count_of

PARQUET = ".parquet"
_ROWS = 10_000  # lines of a row group, which memory holds at once
_LINE, _ID = "line", "id"
_ENDS = "toolassay.ends_with_newline"
_MEGABYTE = 1_000_000
_FIX = "name a file that toolassay convert wrote, or rows of it"


def convert(source: str | Path, target: str | Path, *, screen: Screen = DEFAULT) -> int:
    """Convert a JSON Lines file to Parquet, or such a Parquet file back to the same bytes.

    The Parquet file has a row for each line, in file order, with the columns `id` (as text; null for a line
    without one) and `line` (the line as it is), compressed with zstd in groups of 10,000 rows.

    Args:
        source: The file; one of the two names ends with `.parquet`.
        target: Where to write; an existing file is replaced.
        screen: Receives progress and the number of lines.

    Returns:
        The number of lines.

    Raises:
        UsageError: The source is missing or malformed (with the line), the names do not say which way, or
            pyarrow is not installed.
    """
    source, target = Path(source), Path(target)
    to_parquet = target.suffix == PARQUET
    if to_parquet == (source.suffix == PARQUET):
        raise UsageError(
            "one of the two files has to be Parquet",
            file=target,
            fix=f"end the name of one of them with {PARQUET}",
        )
    if not source.is_file():
        raise UsageError("no such file", file=source, fix="check the path")
    refuse_to_replace(target, [source], what="is the source", flag="target")
    count = (_to_parquet if to_parquet else _to_lines)(source, target, screen.progress)
    screen.show(f"{target}: {count_of(count, 'line')}")
    return count


def _to_parquet(source: Path, target: Path, progress: Progress) -> int:
    arrow, parquet = parquet_libraries()
    schema = arrow.schema({_ID: arrow.string(), _LINE: arrow.string()})
    size, count, read, ends = source.stat().st_size, 0, 0, True
    with (
        open_regular(source) as stream,
        atomic_target(target) as output,
        parquet.ParquetWriter(output, schema, compression="zstd") as writer,
        progress(f"convert {source.name} (MB)", -(-size // _MEGABYTE)) as advance,
    ):
        for lines in iter(lambda: list(islice(stream, _ROWS)), []):
            rows = [_row(source, count + place, line) for place, line in enumerate(lines, start=1)]
            columns = [arrow.array(column, arrow.string()) for column in zip(*rows, strict=True)]
            writer.write_table(arrow.Table.from_arrays(columns, schema=schema))
            count, before, read = count + len(lines), read, read + sum(map(len, lines))
            ends = lines[-1].endswith(b"\n")
            for _ in range(read // _MEGABYTE - before // _MEGABYTE):
                advance()
        writer.add_key_value_metadata({_ENDS: str(ends).lower()})
    return count


def _row(path: Path, number: int, line: bytes) -> tuple[str | None, str]:
    try:
        text = line.decode().removesuffix("\n")
        value = parse_json(text.removeprefix("\ufeff")) if text.strip(" \t\r\ufeff") else None
    except (ValueError, RecursionError):
        raise UsageError(
            "is not JSON in UTF-8", file=path, line=number, fix="correct or remove that line"
        ) from None
    key = value.get(_ID) if isinstance(value, dict) else None
    if not isinstance(key, str | int) or isinstance(key, bool):
        return None, text
    return str(key).encode(errors=HALF_PAIRS).decode(), text


def _to_lines(source: Path, target: Path, progress: Progress) -> int:
    arrow, parquet = parquet_libraries()
    try:
        file = parquet.ParquetFile(source)
    except arrow.ArrowInvalid as error:
        raise UsageError(f"is not Parquet: {error}", file=source, fix="check the path") from None
    with file:
        if file.schema_arrow.names != [_ID, _LINE]:
            raise UsageError(
                f"has the columns {', '.join(file.schema_arrow.names)}, not {_ID} and {_LINE}",
                file=source,
                fix=_FIX,
            )
        kind = file.schema_arrow.field(_LINE).type
        if not (arrow.types.is_string(kind) or arrow.types.is_large_string(kind)):
            raise UsageError(f"has no texts in the column {_LINE}", file=source, fix=_FIX)
        about = file.metadata.metadata or {}  # a file of another program has none
        ends = about.get(_ENDS.encode(), b"true") == b"true"
        with (
            atomic_target(target) as output,
            progress(f"convert {source.name} (groups)", file.num_row_groups) as advance,
        ):
            for group in range(file.num_row_groups):
                for number, line in enumerate(_lines(source, file, group)):
                    output.write(b"\n" + line if group or number else line)
                advance()
            output.write(b"\n" if ends and file.num_row_groups else b"")
        return int(file.metadata.num_rows)


def _lines(path: Path, file: Any, group: int) -> Iterator[bytes]:
    arrow, _ = parquet_libraries()
    try:
        column = file.read_row_group(group, columns=[_LINE]).column(0)
    except (OSError, arrow.ArrowException) as error:
        raise UsageError(f"is damaged: {error}", file=path, fix="convert it again") from None
    if column.null_count:
        raise UsageError(f"has rows without a text in the column {_LINE}", file=path, fix=_FIX)
    return (text.encode() for text in column.to_pylist())
