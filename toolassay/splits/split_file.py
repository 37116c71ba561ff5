"""`split_ids.json`: the ids of each split.

GNN4TaskPlan publishes `test_ids` (shape -> ids). Our files add `train_ids`, `dev_ids` and the settings of the
split.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolassay.dataset import RequestId, ids_by_shape
from toolassay.errors import UsageError
from toolassay.files import keep_dated_copy, read_json, write_json
from toolassay.splits.splitting import SPLITS, Split, Splitting
from toolassay.version import OLD_NAME, __version__

# The version of the file format, which the signature names.
FORMAT = 1
MADE_BY = "toolassay split"


@dataclass(frozen=True)
class SplitFile:
    """The split of each id. Ids are compared as text: 1 equals "1".

    Attributes:
        path: the file.
        split_of: the split of each id in the file.
        rest: the split of all other ids: "train" for the published files, which list only the test ids; None
            if the file lists all ids.
        signature: the settings and the data of the split, in one line.
    """

    path: Path
    split_of: Mapping[str, Split]
    rest: Split | None
    signature: str

    @classmethod
    def load(cls, path: Path) -> SplitFile:
        """Read a split file, ours or a published one.

        Raises:
            UsageError: the file is missing or malformed, or has an id in two splits.
        """
        value = read_json(path, fix="make it with toolassay split")
        found: dict[str, Split] = {}
        named = [split for split in SPLITS if isinstance(value, dict) and f"{split}_ids" in value]
        if not named:
            raise UsageError("names no split", file=path, fix="make it with toolassay split")
        for split in named:
            for name in ids_by_shape(value[f"{split}_ids"], path):
                if found.setdefault(str(name), split) != split:
                    raise UsageError(
                        f"has '{name}' in {found[str(name)]} and in {split}",
                        file=path,
                        fix=f"remove '{name}' from one of the two lists",
                    )
        made_with = str(value.get("signature", path.name))
        return cls(path, found, None if "train" in named else "train", made_with)

    def split(self, request_id: RequestId) -> Split | None:
        """The split of a request; None if the file does not list it and has no `rest`."""
        return self.split_of.get(str(request_id), self.rest)


def write_splits(path: Path, splitting: Splitting, *, force: bool = False) -> Path | None:
    """Write a split file.

    Args:
        path: the file.
        splitting: the splits to write.
        force: replace a file that `toolassay split` did not write or that was edited, keeping a dated copy.

    Returns:
        The dated copy; None if no file was replaced by force.

    Raises:
        UsageError: `path` is a folder, or needs `force`.
    """
    copy = None
    if path.is_dir():
        raise UsageError("is a folder, a file is needed", file=path, fix="pass a file with --out")
    if path.exists() and not _is_ours(path):
        if not force:
            raise UsageError(
                "was not written by toolassay split, or was edited since",
                file=path,
                fix="pass another file with --out, or use --force true (keeps a dated copy)",
            )
        copy = keep_dated_copy(path)
    ids = {f"{split}_ids": splitting.ids(split) for split in SPLITS}
    write_json(
        path,
        {
            "made_by": MADE_BY,
            "signature": signature(splitting),
            "seed": splitting.seed,
            "shares": dict(splitting.shares),
            "hold_out_tools": list(splitting.hold_out),
            "near": splitting.near,
            **ids,
            "sha256": _digest(ids),
        },
    )
    return copy


def signature(splitting: Splitting) -> str:
    """The settings of the splits and a hash of their groups, in one line."""
    shares = "/".join(f"{splitting.shares.get(split, 0):g}" for split in SPLITS)
    data = hashlib.sha256()
    for group in splitting.groups:
        names = [group.name, *(str(member.id) for member in group.members)]
        data.update(json.dumps(names).encode())
    held = f"|hold_out:{','.join(splitting.hold_out)}" if splitting.hold_out else ""
    near = "none" if splitting.near is None else f"{splitting.near:g}"
    made = f"shares:{shares}|seed:{splitting.seed}|near:{near}{held}"
    return f"split|format:{FORMAT}|{made}|data:{data.hexdigest()[:16]}|version:{__version__}"


def _is_ours(path: Path) -> bool:
    """Whether `write_splits` wrote the file and its ids are unchanged since."""
    try:
        value = read_json(path)
    except UsageError:
        return False
    if not isinstance(value, dict) or value.get("made_by") not in (MADE_BY, f"{OLD_NAME} split"):
        return False
    ids = {f"{split}_ids": value.get(f"{split}_ids") for split in SPLITS}
    return bool(value.get("sha256") == _digest(ids))


def _digest(ids: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(ids, sort_keys=True).encode()).hexdigest()
