"""The data set that a review leaves: accepted samples as they are, mended ones mended, discarded ones out."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from toolgraph.backinstruct.alignment import Alignment, verdicts_of
from toolgraph.backinstruct.format import FINGERPRINT, tables
from toolgraph.errors import IncompleteError, ToolgraphError, UsageError
from toolgraph.files import atomic_writer, refuse_to_replace, sha256_of
from toolgraph.folder import DataFolder
from toolgraph.review.editing import edited
from toolgraph.review.outcome import Outcome

TABLES = "alignment_tables.md"
_NAMED = 10


@dataclass(frozen=True)
class Applied:
    """What was written: samples by what became of them, and how many are in the new set."""

    kept: int
    counts: Mapping[str, int]


def apply_reviews(
    outcomes: Sequence[Outcome], source: DataFolder, target: DataFolder, *, keep_undecided: bool = False
) -> Applied:
    """Write the data folder that the decisions make of another one.

    `data.json`, `user_requests.json`, `data_error.json` (the discarded, with reasons), `alignment_ids.json`
    and its tables are written, all or none; the tools, the graph and `benchmark.json` come along. Each label
    says under `review` what was decided.

    Args:
        outcomes: of all samples.
        source: the folder that was reviewed.
        target: another folder; made if missing.
        keep_undecided: keep what nobody has decided on; else it is left out.

    Raises:
        IncompleteError: there are conflicts (names them).
        UsageError: the target is the source, or holds a data set that was not written by this from there.
        ToolgraphError: nothing is left to write, or the folder cannot be written.
    """
    conflicts = [item.sample.id for item in outcomes if item.state == "conflict"]
    if conflicts:
        more = f" and {len(conflicts) - _NAMED} more" if len(conflicts) > _NAMED else ""
        raise IncompleteError(
            f"reviewers differ on {', '.join(map(str, conflicts[:_NAMED]))}{more}",
            file=source.path,
            fix="settle them with --queue conflicts",
        )
    _check_target(source, target)
    counts = Counter(_fate(item, keep_undecided) for item in outcomes)
    alignment, kept = Alignment(), 0
    target.path.mkdir(parents=True, exist_ok=True)
    with ExitStack() as files:
        data, requests, errors, ids, markdown = (
            files.enter_context(atomic_writer(path)) for path in _data_set(target)
        )
        for item in outcomes:
            fate = _fate(item, keep_undecided)
            if fate == "discard":
                errors.write(_line({**item.sample.record, "errors": [_why(item)]}))
            if fate in ("discard", "left out"):
                continue
            label = _label(item)
            kept += 1
            data.write(_line(label))
            requests.write(_line({"id": label["id"], "user_request": label["user_request"]}))
            if _has_sample(label):
                alignment.add({**label, "type": label.get("type", item.sample.shape)}, verdicts_of(label))
        if not kept:
            # Raised in here, so that none of the files is replaced.
            raise ToolgraphError(
                "no sample is left", file=source.path, fix="review some, or --keep_undecided"
            )
        ids.write(json.dumps(alignment.ids, indent=2, ensure_ascii=False) + "\n")
        markdown.write("\n".join(f"{heading}\n\n{table}\n" for heading, table in tables(alignment)))
    for path in (source.tool_desc, source.graph_desc):
        if path.exists():
            shutil.copyfile(path, target.path / path.name)
    target.describe(**{**source.benchmark, "reviewed": dict(counts), FINGERPRINT: sha256_of(target.data)})
    return Applied(kept, counts)


def _check_target(source: DataFolder, target: DataFolder) -> None:
    """Raise UsageError if something would be lost."""
    refuse_to_replace(target.data, [source.data], what="is the folder under review", flag="--apply")
    ours = target.benchmark.get("reviewed") is not None
    if target.data.exists() and not (ours and target.benchmark.get(FINGERPRINT) == sha256_of(target.data)):
        raise UsageError(
            "was not written by this command, or was changed since",
            file=target.data,
            fix="give --apply another folder",
        )


def _data_set(folder: DataFolder) -> tuple[Any, ...]:
    return (folder.data, folder.user_requests, folder.data_error, folder.alignment_ids, folder.path / TABLES)


def _fate(item: Outcome, keep_undecided: bool) -> str:
    if item.decision is not None:
        return item.decision.action
    return "undecided" if keep_undecided else "left out"


def _label(item: Outcome) -> dict[str, Any]:
    record = item.decision
    if record is None:
        return dict(item.sample.record)
    said = {"decision": record.action, "reviewers": len(item.votes), "adjudicated": item.settled is not None}
    return {**edited(item.sample.record, record.parts), "review": said}


def _why(item: Outcome) -> str:
    record = item.decision
    note = f": {record.note}" if record is not None and record.note else ""
    return f"discarded in review{note}"


def _has_sample(label: Mapping[str, Any]) -> bool:
    """Whether the critics have anything to compare the plan with."""
    return all(isinstance(label.get(key), list) for key in ("sampled_nodes", "sampled_links"))


def _line(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False) + "\n"
