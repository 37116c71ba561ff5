"""Demonstrations: labels of the folder's own data, the same for every request."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from toolassay.dataset import read_labels, shape_of
from toolassay.errors import UsageError

_ORDER = ("chain", "dag", "single")


def choose_demos(data: Path, count: int, ids: Sequence[str] = ()) -> list[dict[str, Any]]:
    """The demonstrations of a run.

    Args:
        data: `data.json`.
        count: how many.
        ids: which ones; without them the first chain, the first dag, the first single tool, the second
            chain, and so on, in file order.

    Raises:
        UsageError: no `data.json`, an id that is not in it, or fewer labels than asked for.
    """
    if count <= 0 and not ids:
        return []
    if not data.exists():
        raise UsageError(
            "demonstrations come from data.json, which is missing", file=data, fix="use --use_demos 0"
        )
    labels = [label for _, label in read_labels(data) if _can_be_shown(label)]
    if ids:
        by_id = {str(label["id"]): label for label in labels}
        unknown = [name for name in ids if name not in by_id]
        if unknown:
            raise UsageError(
                f"no label with a request and nodes has the id '{unknown[0]}'",
                file=data,
                fix="correct --demo_ids",
            )
        return [by_id[name] for name in ids][: count or None]
    shapes: dict[str, list[dict[str, Any]]] = {shape: [] for shape in _ORDER}
    for label in labels:
        shapes[_shape(label)].append(label)
    turns = zip_longest(*shapes.values())
    chosen = [label for turn in turns for label in turn if label is not None][:count]
    if len(chosen) < count:
        raise UsageError(
            f"{count} demonstrations wanted, {len(chosen)} labels there", file=data, fix="use fewer"
        )
    return chosen


def _can_be_shown(label: dict[str, Any]) -> bool:
    nodes, links = label.get("task_nodes"), label.get("task_links") or []
    return (
        isinstance(label.get("user_request"), str)
        and isinstance(nodes, list)
        and isinstance(links, list)
        and all(isinstance(link, dict) and {"source", "target"} <= link.keys() for link in links)
    )


def _shape(label: dict[str, Any]) -> str:
    kind = label.get("type")
    if kind in _ORDER:
        return str(kind)
    links = label.get("task_links") or []
    return shape_of(len(label.get("task_nodes") or []), ((link["source"], link["target"]) for link in links))
