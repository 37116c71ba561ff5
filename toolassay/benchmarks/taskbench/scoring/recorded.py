"""What a metrics file says: its numbers, and how they were made."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from toolassay.benchmarks.taskbench.scoring.evaluation import Choices
from toolassay.benchmarks.taskbench.scoring.groups import OVERALL
from toolassay.benchmarks.taskbench.scoring.line_index import Keep
from toolassay.benchmarks.taskbench.scoring.signature import read_signature
from toolassay.errors import UsageError
from toolassay.files import read_json

FIX = "make it with evaluate.py"


def read_groups(path: Path) -> dict[str, dict[str, Any]]:
    """The numbers of each group in a metrics file, ours or the published evaluator's (without `strict`).

    Raises:
        UsageError: missing, or no metrics file.
    """
    groups = read_json(path, fix=FIX)
    if not isinstance(groups, dict) or not groups:
        raise UsageError("is no metrics file: it has no groups", file=path, fix=FIX)
    for key, numbers in groups.items():
        if not isinstance(numbers, dict) or not isinstance(numbers.get("strict", {}), dict):
            raise UsageError(f"is no metrics file: group '{key}' holds no numbers", file=path, fix=FIX)
    return groups


def signature_of(numbers: Mapping[str, Any]) -> dict[str, str]:
    """The parts of the signature of a group; none where the file has none.

    >>> signature_of({"strict": {"signature": "toolassay:1.0|n:7"}})
    {'toolassay': '1.0', 'n': '7'}
    """
    text = numbers.get("strict", {}).get("signature")
    return read_signature(text) if isinstance(text, str) else {}


def recorded_choices(groups: Mapping[str, Mapping[str, Any]], path: Path) -> Choices:
    """The choices that give (at least) these groups again, from the signature that all of them share.

    Raises:
        UsageError: there is no signature, or it cannot be read.
    """
    parts = signature_of(next(iter(groups.values())))
    pairs = [key.partition("_")[::2] for key in groups]
    is_sum = all(OVERALL in pair for pair in pairs)
    splits = [split for split, size in pairs if size == OVERALL or not is_sum]
    sizes = [size for split, size in pairs if split == OVERALL or not is_sum]
    try:
        resamples, seed = parts["bootstrap"].split("@")
        return Choices(
            tuple(name for name in parts["metrics"].split("+") if name),
            tuple(dict.fromkeys(splits)),
            tuple(dict.fromkeys(sizes)),
            "add" if is_sum else "mul",
            None if parts["alignment"] == "none" else parts["alignment"].partition("@")[0],
            keep=cast("Keep", parts["keep"]),
            resamples=int(resamples),
            seed=int(seed),
            compat="published" if "compat" in parts else None,
            rouge_median=any(key.endswith("_bootstrap_median") for key in next(iter(groups.values()))),
        )
    except (KeyError, ValueError):
        raise UsageError("has no signature that says how it was made", file=path, fix=FIX) from None
