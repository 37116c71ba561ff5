"""Imports a CLASSic data set from the hub or from downloaded files."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import msgspec

from toolassay.benchmarks.classic.data import read_data
from toolassay.benchmarks.csv_tables import read_table, write_table
from toolassay.console.screen import DEFAULT, Screen
from toolassay.console.text_formatting import count_of
from toolassay.errors import UsageError
from toolassay.files.data_files import copy_file, sha256_of
from toolassay.importers.data_files import DataSource, arriving, new_folder, read_rows
from toolassay.records.data_folder import DataFolder

CARD = "README.md"
NEEDED = ("messages", "workflows", "domains")
TABLES = (*NEEDED, "jailbreak_prompts")
_USUAL = (
    *("{0}.csv", "{0}.parquet", "{0}/*.csv", "{0}/*.parquet"),
    *("{0}-*.parquet", "data/{0}.csv", "data/{0}-*.parquet", "data/{0}/*.parquet"),
)

# The YAML block at the start of a card: matches "---\nlicense: mit\n---\n"; not a rule later in the text.
_FRONT_MATTER = re.compile(r"---[ \t]*\n(.*?)^---[ \t]*$", re.DOTALL | re.MULTILINE)


def choose_tables(names: Iterable[str], card: str = "") -> dict[str, list[str]]:
    """The files of each table among the names of a repository or folder; what is not there is left out.

    Args:
        names: paths with slashes.
        card: the card of the data set, whose head may give the path of each configuration.

    >>> choose_tables(["messages.csv", "workflows/test-0.parquet", "README.md"])
    {'messages': ['messages.csv'], 'workflows': ['workflows/test-0.parquet']}
    """
    known = sorted(names)
    configured = _configurations(card)
    tables = {}
    for table in TABLES:
        patterns = (*configured.get(table, ()), *(usual.format(table) for usual in _USUAL))
        files = ([name for name in known if fnmatchcase(name, pattern)] for pattern in patterns)
        if chosen := next(filter(None, files), None):
            tables[table] = chosen
    return tables


def write_csv(target: Path, files: Sequence[Path]) -> None:
    """Write one table as CSV; a single CSV file is copied as it is.

    Raises:
        UsageError: a file is malformed, or pyarrow is needed and missing.
    """
    if len(files) == 1 and files[0].suffix == ".csv":
        copy_file(files[0], target)
        return
    rows: list[Mapping[str, Any]] = []
    for file in files:
        rows += (
            (row.cells for row in read_table(file, ()))
            if file.suffix == ".csv"
            else (value for _, value in read_rows(file))
        )
    columns = list(dict.fromkeys(name for row in rows for name in row))
    write_table(target, columns, ([_cell(row.get(name)) for name in columns] for row in rows))


def _cell(value: Any) -> Any:
    """A cell as text: empty for a missing value, and whole numbers without a decimal point."""
    if isinstance(value, float):
        if math.isnan(value):
            return ""
        return int(value) if value.is_integer() else value
    return "" if value is None else value


class _DataFile(msgspec.Struct):
    path: str | list[str]


class _TableFiles(msgspec.Struct):
    """A configuration in the head of a card."""

    config_name: str
    data_files: str | list[str | _DataFile] = []


class _CardHead(msgspec.Struct):
    configs: list[_TableFiles] = []


def _configurations(card: str) -> dict[str, list[str]]:
    """File patterns of each configuration in the head of a dataset card; {} without a readable one."""
    import yaml

    front = _FRONT_MATTER.match(card)
    try:
        head = msgspec.convert(yaml.safe_load(front[1]) if front else {}, _CardHead)
    except (yaml.YAMLError, msgspec.ValidationError):
        return {}
    patterns = {}
    for config in head.configs:
        files = [config.data_files] if isinstance(config.data_files, str) else config.data_files
        paths = [file if isinstance(file, str) else file.path for file in files]
        patterns[config.config_name] = [
            path for some in paths for path in ([some] if isinstance(some, str) else some)
        ]
    return patterns


def import_classic(
    data_dir: str | Path,
    *,
    repo: str | None = None,
    revision: str | None = None,
    folder: str | Path | None = None,
    screen: Screen = DEFAULT,
) -> DataFolder:
    """Make a data folder out of the four tables messages, workflows, domains and jailbreak_prompts.

    The last one may be missing. Nothing is written before all of it is read and checked, and a file that is
    there already is never replaced by another.

    Args:
        data_dir: made if missing.
        repo: the data set on the hub; a gated one needs `HF_TOKEN` in the environment.
        revision: of it; None for the newest.
        folder: downloaded files instead of the hub: CSV or Parquet.
        screen: Receives messages, results and progress.

    Raises:
        UsageError: neither or both of the sources, a missing or malformed table or row, a missing package, or
            the data folder holds other data.
        ToolassayError: the hub cannot be reached, or the folder cannot be written.
    """
    target = new_folder(data_dir)
    if (repo is None) == (folder is None):
        raise UsageError("one source is needed", fix="give --repo NAME, or --from FOLDER")
    source = DataSource.open(repo or "", revision, folder)
    card = source.fetch(CARD).read_text(encoding="utf-8", errors="replace") if CARD in source.names else ""
    names = choose_tables(source.names, card)
    if missing := [table for table in NEEDED if table not in names]:
        fix = f"it needs {', '.join(NEEDED)} as CSV or Parquet"
        raise UsageError(f"the data set has no table '{missing[0]}'", fix=fix)
    tables = {table: [source.fetch(file) for file in files] for table, files in names.items()}
    with arriving(target) as work:
        for table, files in tables.items():
            write_csv(work.path / f"{table}.csv", files)
        try:
            data = read_data(work.path)
        except UsageError as error:
            file = tables[Path(error.file or "").stem][0]
            raise UsageError(error.reason, file=str(file), line=error.line, fix=error.fix) from None
        work.update_benchmark(
            benchmark="classic",
            source=source.origin,
            **source.facts,
            source_sha256={table: sha256_of(work.path / f"{table}.csv") for table in tables},
        )
    workflows = sum(map(len, data.workflows.values()))
    if TABLES[-1] not in tables:
        screen.say(f"there is no table '{TABLES[-1]}': security has no prompts")
    messages = count_of(len(data.examples), "message")
    domains = count_of(len(data.domains), "domain")
    contents = f"{messages} of {domains} with {count_of(workflows, 'workflow')}"
    screen.show(f"{target.path}: {contents}, from {source.origin}")
    return target
