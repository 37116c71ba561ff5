"""The tables of CLASSic as they are published: which files they are in, and their rows as CSV."""

from __future__ import annotations

import csv
import math
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from toolassay.errors import UsageError
from toolassay.importers.hub import HubDataset, read_rows

CARD = "README.md"
NEEDED = ("messages", "workflows", "domains")
TABLES = (*NEEDED, "jailbreak_prompts")
_USUAL = (
    *("{0}.csv", "{0}.parquet", "{0}/*.csv", "{0}/*.parquet"),
    *("{0}-*.parquet", "data/{0}.csv", "data/{0}-*.parquet", "data/{0}/*.parquet"),
)


@dataclass(frozen=True)
class ClassicSource:
    """The files of each table, in order, and where they come from (for `benchmark.json`)."""

    tables: Mapping[str, Sequence[Path]]
    facts: Mapping[str, str]


def from_folder(folder: Path) -> ClassicSource:
    """Tables that were downloaded.

    Raises:
        UsageError: there is no such folder, or a table is missing.
    """
    if not folder.is_dir():
        raise UsageError("no such folder", file=folder, fix="check --folder")
    names = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
    card = (folder / CARD).read_text(encoding="utf-8", errors="replace") if CARD in names else ""
    found = _required(choose_tables(names, card), str(folder))
    tables = {table: [folder / name for name in files] for table, files in found.items()}
    return ClassicSource(tables, {"source": folder.resolve().name})


def from_hub(name: str, revision: str | None = None) -> ClassicSource:
    """Tables of a data set on the hub; only they and the card are fetched.

    Raises:
        UsageError: huggingface_hub is missing, or a table is.
        ToolassayError: the hub cannot be reached, or does not give the data out.
    """
    dataset = HubDataset(name, revision)
    names = dataset.names
    card = dataset.fetch(CARD).read_text(encoding="utf-8", errors="replace") if CARD in names else ""
    found = _required(choose_tables(names, card), name)
    tables = {table: [dataset.fetch(file) for file in files] for table, files in found.items()}
    return ClassicSource(tables, {"source": f"{name} on the Hugging Face hub", "revision": dataset.revision})


def choose_tables(names: Iterable[str], card: str = "") -> dict[str, list[str]]:
    """The files of each table among the names of a repository or folder; what is not there is left out.

    Args:
        names: paths with slashes.
        card: the card of the data set, whose head may say where each configuration lies.

    >>> choose_tables(["messages.csv", "workflows/test-0.parquet", "README.md"])
    {'messages': ['messages.csv'], 'workflows': ['workflows/test-0.parquet']}
    """
    known = sorted(names)
    told = _configurations(card)
    found = {}
    for table in TABLES:
        for pattern in (*told.get(table, ()), *(usual.format(table) for usual in _USUAL)):
            files = [name for name in known if fnmatchcase(name, pattern)]
            if files:
                found[table] = files
                break
    return found


def write_csv(target: Path, files: Sequence[Path]) -> None:
    """Write one table as CSV; a single CSV file is copied as it is.

    Raises:
        UsageError: a file is malformed, or pyarrow is needed and missing.
    """
    if len(files) == 1 and files[0].suffix == ".csv":
        shutil.copyfile(files[0], target)
        return
    rows = [row for file in files for row in _rows(file)]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    with target.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, columns, restval="")
        writer.writeheader()
        writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)


def _rows(file: Path) -> Iterator[Mapping[str, Any]]:
    if file.suffix == ".csv":
        with file.open(encoding="utf-8-sig", newline="") as stream:
            yield from csv.DictReader(stream, restkey="")
        return
    for _, value in read_rows(file):
        yield value


def _cell(value: Any) -> Any:
    """What is missing is an empty cell; a whole number has no point."""
    if isinstance(value, float):
        return "" if math.isnan(value) else int(value) if value.is_integer() else value
    return "" if value is None else value


def _required(found: dict[str, list[str]], where: str) -> dict[str, list[str]]:
    for table in NEEDED:
        if table not in found:
            raise UsageError(
                f"{where} has no table '{table}'", fix=f"it needs {', '.join(NEEDED)} as CSV or Parquet"
            )
    return found


def _configurations(card: str) -> dict[str, list[str]]:
    """Patterns of the files of each configuration, as the head of a card lists them."""
    import yaml

    lines = card.splitlines()
    if not lines or lines[0].strip() != "---" or "---" not in (line.strip() for line in lines[1:]):
        return {}
    end = next(number for number, line in enumerate(lines[1:], start=1) if line.strip() == "---")
    try:
        head = yaml.safe_load("\n".join(lines[1:end]))
    except yaml.YAMLError:
        return {}
    listed = head.get("configs") if isinstance(head, dict) else None
    return {
        str(one.get("config_name")): list(_patterns(one.get("data_files")))
        for one in (listed if isinstance(listed, list) else [])
        if isinstance(one, dict)
    }


def _patterns(files: Any) -> Iterator[str]:
    if isinstance(files, str):
        yield files
    elif isinstance(files, dict):
        yield from _patterns(files.get("path"))
    elif isinstance(files, list):
        for one in files:
            yield from _patterns(one)
