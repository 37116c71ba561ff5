"""Write the data set that results from a review.

Accepted samples are unchanged, fixed ones have their fix, discarded ones are left out.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain
from typing import Any

from toolassay.backinstruct.critics import Alignment, verdicts
from toolassay.backinstruct.format import FINGERPRINT, tables
from toolassay.data_folder import DataFolder
from toolassay.errors import IncompleteError, ToolassayError, UsageError
from toolassay.files import atomic_writer, copy_file, refuse_to_replace, sha256_of
from toolassay.gold import Gold
from toolassay.review.decision import edited
from toolassay.review.outcome import Outcome
from toolassay.review.samples import plan_shape

TABLES = "alignment_tables.md"
_NAMED = 10  # conflicts that an error names; it counts the others


@dataclass(frozen=True)
class Applied:
    """The result of `apply_reviews`.

    Attributes:
        kept: the number of reviewed samples in the new set.
        counts: the number of reviewed samples by decision; "undecided" are kept, "left out" are not.
        passed: the number of unreviewed labels that were copied.
    """

    kept: int
    counts: Mapping[str, int]
    passed: int = 0


def apply_reviews(
    outcomes: Sequence[Outcome],
    source: DataFolder,
    target: DataFolder,
    *,
    keep_undecided: bool = False,
    passed: Iterable[Mapping[str, Any]] = (),
    about: Mapping[str, Any] | None = None,
) -> Applied:
    """Apply the decisions of a review to a data folder, and write the result to another one.

    `data.json`, `user_requests.json`, `data_error.json` (the discarded samples, with reasons),
    `alignment_ids.json` and its tables are written, all or none. The tools, the graph and `benchmark.json`
    are copied. Each reviewed label has its decision under `review`.

    Args:
        outcomes: the outcomes of all samples.
        source: the folder that was reviewed.
        target: another folder; created if missing.
        keep_undecided: keep samples without a decision; by default they are left out.
        passed: labels to copy unchanged, before the reviewed ones.
        about: further entries of `benchmark.json`; default those of the source.

    Raises:
        IncompleteError: there are conflicts; the error names them.
        UsageError: the target is the source, or has a data set that this function did not write or that was
            changed since.
        ToolassayError: no sample is left, or the folder cannot be written.
    """
    conflicts = [item.sample.id for item in outcomes if item.state == "conflict"]
    if conflicts:
        more = f" and {len(conflicts) - _NAMED} more" if len(conflicts) > _NAMED else ""
        raise IncompleteError(
            f"reviewers differ on {', '.join(map(str, conflicts[:_NAMED]))}{more}",
            file=source.path,
            fix="settle them on the page with --queue conflicts",
        )
    _check_target(source, target)
    counts = Counter(_fate(item, keep_undecided) for item in outcomes)
    alignment, written = Alignment(), 0
    target.path.mkdir(parents=True, exist_ok=True)
    with ExitStack() as files:
        data, requests, errors, ids, markdown = (
            files.enter_context(atomic_writer(path)) for path in _data_set(target)
        )
        for label in chain(passed, _kept(outcomes, keep_undecided)):
            written += 1
            data.write(_line(label))
            gold = Gold.of(label)
            requests.write(_line({"id": gold.id, "user_request": gold.request}))
            _align(alignment, gold)
        for item in outcomes:
            if _fate(item, keep_undecided) == "discard":
                errors.write(_line({**item.sample.record, "errors": [_discard_reason(item)]}))
        if not written:
            # Inside of the block, so that no file is replaced.
            raise ToolassayError(
                "no sample is left", file=source.path, fix="review some, or add --keep_undecided"
            )
        ids.write(json.dumps(alignment.ids, indent=2, ensure_ascii=False) + "\n")
        markdown.write("\n".join(f"{heading}\n\n{table}\n" for heading, table in tables(alignment)))
    for path in (source.tool_desc, source.graph_desc):
        if path.exists():
            copy_file(path, target.path / path.name)
    described = source.benchmark if about is None else about
    facts = {**described, "reviewed": dict(counts), FINGERPRINT: sha256_of(target.data)}
    target.describe(*(target.benchmark.keys() - facts.keys()), **facts)
    kept = sum(1 for _ in _kept(outcomes, keep_undecided))
    return Applied(kept, counts, written - kept)


def _check_target(source: DataFolder, target: DataFolder) -> None:
    """Raise UsageError if the target has data that would be lost."""
    refuse_to_replace(target.data, [source.data], what="is the folder under review", flag="--apply")
    ours = target.benchmark.get("reviewed") is not None
    if target.data.exists() and not (ours and target.benchmark.get(FINGERPRINT) == sha256_of(target.data)):
        raise UsageError(
            "was not written by this command, or was changed since",
            file=target.data,
            fix="name another folder with --apply",
        )


def _data_set(folder: DataFolder) -> tuple[Any, ...]:
    return (folder.data, folder.user_requests, folder.data_error, folder.alignment_ids, folder.path / TABLES)


def _kept(outcomes: Sequence[Outcome], keep_undecided: bool) -> Iterator[dict[str, Any]]:
    for item in outcomes:
        if _fate(item, keep_undecided) not in ("discard", "left out"):
            yield _label(item)


def _fate(item: Outcome, keep_undecided: bool) -> str:
    """The decision on a sample; without one, whether it is kept ("undecided") or "left out"."""
    if item.decision is not None:
        return item.decision.action
    return "undecided" if keep_undecided else "left out"


def _label(item: Outcome) -> dict[str, Any]:
    """The label in the new set, with its fix and its decision."""
    record = item.decision
    if record is None:
        return dict(item.sample.record)
    said = {"decision": record.action, "reviewers": len(item.votes), "adjudicated": item.settled is not None}
    return {**edited(item.sample.record, record.parts), "review": said}


def _discard_reason(item: Outcome) -> str:
    record = item.decision
    note = f": {record.note}" if record is not None and record.note else ""
    return f"discarded in review{note}"


def _align(alignment: Alignment, gold: Gold) -> None:
    """Record which critics pass a label. A label without the sampled graph is not recorded."""
    if gold.sampled_nodes is None or gold.sampled_links is None:
        return
    tools = [node.tool for node in gold.nodes]
    said = verdicts(
        gold.sampled_nodes, gold.sampled_links, tools, gold.links, gold.record.get("check_by_teacher")
    )
    label = {"id": gold.id, "type": plan_shape(gold), "task_nodes": tools, "task_links": gold.links}
    alignment.add(label, said)


def _line(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False) + "\n"
