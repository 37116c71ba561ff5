"""What a run was asked to do, written beside its journal, so that a changed question is noticed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from toolgraph.errors import UsageError
from toolgraph.files import read_json, write_json
from toolgraph.version import __version__


def open_run(folder: Path, settings: Mapping[str, Any], *, force: bool = False, ways_on: str) -> Path | None:
    """Make or continue the run in `folder`.

    Args:
        folder: where `manifest.json` and `journal.jsonl` lie.
        settings: everything that changes answers; compared with what the run began with.
        force: where settings differ, keep the old run under a dated name and begin anew.
        ways_on: what the user can do, for the error.

    Returns:
        Where the old run went, if it had to give way.

    Raises:
        UsageError: the settings differ; names which.
    """
    path = folder / "manifest.json"
    kept: Path | None = None
    if path.exists():
        before = read_json(path).get("settings", {})
        changed = [
            f"{name}: {before.get(name)!r} -> {settings.get(name)!r}"
            for name in dict.fromkeys([*before, *settings])
            if before.get(name) != settings.get(name)
        ]
        if not changed:
            return None
        if not force:
            raise UsageError(
                f"this run began with other settings ({'; '.join(changed)})", file=path, fix=ways_on
            )
        kept = folder.with_name(f"{folder.name}.{datetime.now():%Y%m%d-%H%M%S}")
        folder.rename(kept)
    write_json(path, {"toolgraph": __version__, "settings": dict(settings)})
    return kept
