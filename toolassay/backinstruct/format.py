"""Format `data_raw.json` as a data set: labels, requests, refused samples, and the critics' ids and tables.

A data set that another program wrote or a person edited is replaced only with `force`: `benchmark.json` has
the fingerprint of the `data.json` that this module wrote, for all five files.
"""

from __future__ import annotations

import json
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from toolassay.backinstruct.critics import Alignment, passes, verdicts_of
from toolassay.backinstruct.labels import Labeller
from toolassay.backinstruct.records import read_raw
from toolassay.console.tables import Result, Table
from toolassay.errors import ToolassayError, UsageError, as_called
from toolassay.files.data_files import atomic_writer, keep_dated_copy, sha256_of
from toolassay.graph import DependencyType
from toolassay.records.cases import case_lines
from toolassay.records.data_folder import DataFolder
from toolassay.tools.library import ToolLibrary

FINGERPRINT = "data_sha256"


@dataclass(frozen=True, repr=False)
class Formatted(Result):
    """The result of formatting.

    Attributes:
        kept: how many labels were written.
        refused: how many samples have no valid label.
        left_out: how many labels the critics did not let pass.
        reasons: the kinds of reasons of the refused samples, and how many samples have each.
        alignment: the verdicts on the labels.
        copies: dated copies of the files that were replaced.
    """

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
        folder: has `data_raw.json`; the five files are written here, all or none.
        library: the tools.
        dependency_type: how to read arguments; added to `benchmark.json` if that has none.
        critics: keep only labels that pass in this alignment mode; None keeps all.
        force: replace a data set that this function did not write, and keep dated copies of it.

    Raises:
        UsageError: `data_raw.json` is missing or malformed, or a data set may not be replaced.
        ToolassayError: `data_raw.json` is empty, or no sample has a valid label; no file is changed then.
    """
    labeller = Labeller(library, dependency_type)
    alignment = Alignment()
    reasons: Counter[str] = Counter()
    seen: set[Any] = set()
    kept = refused = left_out = 0
    line = partial(json.dumps, ensure_ascii=False)
    with ExitStack() as files:
        data, requests, errors, ids, markdown = (
            files.enter_context(atomic_writer(path)) for path in _data_set(folder)
        )
        for sample in read_raw(folder.data_raw):
            gold, problems = labeller.label(sample)
            if sample.id in seen:
                gold = None
                problems = ["the id occurs twice"]
            seen.add(sample.id)
            if gold is None:
                refused += 1
                reasons.update(dict.fromkeys(map(_kind_of, problems), 1))
                errors.write(line({**sample.to_json(), "errors": problems}) + "\n")
                continue
            verdicts = verdicts_of(gold)
            if critics is not None and not passes(verdicts)[critics]:
                left_out += 1
                continue
            kept += 1
            alignment.add(gold, gold.record["type"], verdicts)
            data.write(line(gold.record) + "\n")
            requests.write(line({"id": gold.id, "user_request": gold.request}) + "\n")
        if not kept:
            # Raised inside the block, so that no file is replaced.
            raise _nothing(folder.data_raw, refused, left_out, reasons, critics)
        for label, request in case_lines(folder.path):
            data.write(line(label) + "\n")
            requests.write(line(request) + "\n")
        ids.write(json.dumps(alignment.ids, indent=2, ensure_ascii=False) + "\n")
        markdown.write("\n".join(f"{heading}\n\n{table}\n" for heading, table in tables(alignment)))
        copies = [keep_dated_copy(path) for path in _to_keep(folder, dependency_type, force=force)]
    kind = folder.benchmark.dependency_type or dependency_type
    folder.update_benchmark(**{"dependency_type": kind, FINGERPRINT: sha256_of(folder.data)})
    return Formatted(kept, refused, left_out, reasons, alignment, copies)


def _data_set(folder: DataFolder) -> tuple[Path, ...]:
    return (
        folder.data,
        folder.user_requests,
        folder.data_error,
        folder.alignment_ids,
        folder.path / "alignment_tables.md",
    )


def _to_keep(folder: DataFolder, dependency_type: DependencyType, *, force: bool) -> list[Path]:
    """The files to keep dated copies of: those of another program, or of the other dependency type.

    Raises:
        UsageError: another program wrote them, and `force` is not set.
    """
    present = [path for path in _data_set(folder) if path.exists()]
    if not present:
        return []
    if folder.data.exists() and folder.benchmark.data_sha256 == sha256_of(folder.data):
        return present if folder.benchmark.dependency_type not in (None, dependency_type) else []
    if not force and folder.benchmark.checked is not None:
        raise UsageError(
            "holds the released set, only what passed the gates",
            file=present[0],
            fix="format and check again with 'toolassay release', or use --force (keeps a dated copy)",
        )
    if not force:
        raise UsageError(
            "was not written by this command from this folder's data_raw.json, or was changed since",
            file=present[0],
            fix="work in another folder, or use --force (keeps a dated copy)",
        )
    return present


def _nothing(
    path: Path, refused: int, left_out: int, reasons: Counter[str], critics: str | None
) -> ToolassayError:
    """The error about a folder without any label, with the most common reasons."""
    if not refused and not left_out:
        return ToolassayError("is empty", file=path, fix=f"generate samples with {as_called('generate')}")
    why = [f"{count} x {reason}" for reason, count in reasons.most_common(3)]
    why += [f"{left_out} x not passed by the critics ({critics})"] * bool(left_out)
    return ToolassayError(
        f"none of the {refused + left_out} samples can be formatted: {'; '.join(why)}",
        file=path,
        fix="correct or regenerate the samples; nothing was written"
        if not left_out
        else "use other --critics, or none; nothing was written",
    )


def tables(alignment: Alignment) -> list[tuple[str, str]]:
    """Two tables in Markdown, each with its heading: samples by critic and shape; sizes and reviews."""
    critics = [(name, *map(str, counts)) for name, counts in alignment.by_shape()]
    total = sum(alignment.labels.values())
    means = [f"{amount / total:.2f}" if total else "-" for amount in (alignment.nodes, alignment.links)]
    verdicts = [str(alignment.teacher[verdict]) for verdict in ("pass", "fail", "unknown")]
    sizes = ("samples", "nodes each", "links each", "LLM critic: pass", "fail", "unknown")
    return [
        (
            "Samples that pass each critic, by shape",
            Table(("samples", "single", "chain", "dag", "overall"), critics).markdown(),
        ),
        (
            "Size of the plans, and verdicts of the LLM critic",
            Table(sizes, [(str(total), *means, *verdicts)], align="r").markdown(),
        ),
    ]


def _kind_of(problem: str) -> str:
    """A problem without its quoted texts, for counting."""
    words = problem.split("'")
    return " … ".join(part.strip() for part in words[::2] if part.strip()) if len(words) > 1 else problem
