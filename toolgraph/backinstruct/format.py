"""`data_raw.json` to `data.json`, `user_requests.json`, `data_error.json` and `alignment_ids.json`.

A data set this did not write is never touched without being told to: `benchmark.json` remembers the
fingerprint of the `data.json` it wrote.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolgraph.backinstruct.alignment import Alignment, passes, verdicts
from toolgraph.backinstruct.labels import Labeller
from toolgraph.errors import UsageError
from toolgraph.files import (
    atomic_writer,
    keep_dated_copy,
    read_json_lines,
    sha256_of,
    write_json,
    write_text,
)
from toolgraph.folder import DataFolder
from toolgraph.graph import DependencyType
from toolgraph.tools import ToolLibrary

FINGERPRINT = "data_sha256"


@dataclass(frozen=True)
class Formatted:
    """What formatting gave: labels kept, records refused by reason, verdicts, and files set aside."""

    kept: int
    refused: int
    left_out: int
    reasons: Counter[str]
    alignment: Alignment
    copies: list[Path]


def format_data(
    folder: DataFolder,
    library: ToolLibrary,
    dependency_type: DependencyType,
    *,
    critics: str | None = None,
    force: bool = False,
) -> Formatted:
    """Format one data folder.

    Args:
        folder: holds `data_raw.json`; the four files are written here, all or none.
        library: its tools.
        dependency_type: how arguments are to be read.
        critics: keep only labels that this alignment mode lets pass; None keeps all.
        force: replace a data set this did not write, after keeping dated copies of it.

    Raises:
        UsageError: no `data_raw.json`, or a data set that must not be replaced.
    """
    if not folder.data_raw.exists():
        raise UsageError("no such file", file=folder.data_raw, fix="make it with data_engine.py")
    copies = _set_aside(folder, force=force)
    labeller, alignment = Labeller(library, dependency_type), Alignment()
    reasons: Counter[str] = Counter()
    seen: set[Any] = set()
    kept = refused = left_out = 0
    with ExitStack() as files:
        data, requests, errors = (
            files.enter_context(atomic_writer(path))
            for path in (folder.data, folder.user_requests, folder.data_error)
        )
        for number, record in read_json_lines(folder.data_raw):
            if not isinstance(record, dict) or not isinstance(record.get("id"), str | int):
                raise UsageError(
                    "is not a sample with an id", file=folder.data_raw, line=number, fix="remove that line"
                )
            label, problems = labeller.label(record)
            if record["id"] in seen:
                label, problems = None, ["the id occurs twice"]
            seen.add(record["id"])
            if label is None:
                refused += 1
                reasons.update(_kind_of(problem) for problem in problems)
                errors.write(_line({**record, "errors": problems}))
            elif critics is not None and not passes(*verdicts(label))[critics]:
                left_out += 1
            else:
                kept += 1
                alignment.add(label)
                data.write(_line(label))
                requests.write(_line({"id": label["id"], "user_request": label["user_request"]}))
    write_json(folder.alignment_ids, alignment.ids)
    write_text(folder.path / "alignment_tables.md", tables(alignment))
    folder.describe(dependency_type=dependency_type, **{FINGERPRINT: sha256_of(folder.data)})
    return Formatted(kept, refused, left_out, reasons, alignment, copies)


def _set_aside(folder: DataFolder, *, force: bool) -> list[Path]:
    """Dated copies of a data set somebody else wrote.

    Raises:
        UsageError: there is one, and no leave to replace it.
    """
    present = [path for path in (folder.data, folder.user_requests) if path.exists()]
    if not present:
        return []
    written = folder.benchmark.get(FINGERPRINT)
    if folder.data.exists() and written == sha256_of(folder.data):
        return []
    if not force:
        raise UsageError(
            "was not written by this command from this folder's data_raw.json, or was changed since",
            file=present[0],
            fix="work in another folder, or use --force (keeps a dated copy)",
        )
    return [keep_dated_copy(path) for path in present]


def _line(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False) + "\n"


def tables(alignment: Alignment) -> str:
    """The two tables, in Markdown: samples by critic and shape, and what the LLM critic said."""
    lines = ["| samples | single | chain | dag | overall |", "| --- | ---: | ---: | ---: | ---: |"]
    lines += [f"| {name} | {' | '.join(map(str, counts))} |" for name, counts in alignment.by_shape()]
    total = sum(alignment.labels.values())
    mean = (f"{amount / total:.2f}" if total else "-" for amount in (alignment.nodes, alignment.links))
    lines += ["", "| samples | nodes each | links each | LLM critic: pass | fail | unknown |"]
    lines += ["| ---: | ---: | ---: | ---: | ---: | ---: |"]
    said = (str(alignment.teacher[verdict]) for verdict in ("pass", "fail", "unknown"))
    lines += [f"| {total} | {' | '.join(mean)} | {' | '.join(said)} |"]
    return "\n".join(lines) + "\n"


def _kind_of(problem: str) -> str:
    """A problem without its particulars, for counting."""
    words = problem.split("'")
    return " … ".join(part.strip() for part in words[::2] if part.strip()) if len(words) > 1 else problem
