"""What a run was asked to do, written beside its journal, so that a changed question is noticed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from toolassay.errors import ToolassayError, UsageError
from toolassay.files import read_json, write_json
from toolassay.runs.journal import Journal
from toolassay.version import OLD_NAME, __version__

MANIFEST = "manifest.json"
JOURNAL = "journal.jsonl"
_FINGERPRINT = "_sha256"


def open_run(folder: Path, settings: Mapping[str, Any], *, force: bool = False, ways_on: str) -> Path | None:
    """Make or continue the run in `folder`; what else its manifest says stays.

    Args:
        folder: where `manifest.json` and `journal.jsonl` lie.
        settings: everything that changes answers; compared with what the run began with. What ends in
            `_sha256` is called changed without being shown.
        force: where settings differ, keep the old run under a dated name and begin anew.
        ways_on: what the user can do, for the error.

    Returns:
        Where the old run went, if it had to give way. A run that holds no answer gives way to nothing
        but its successor.

    Raises:
        UsageError: the settings differ (names which), or another process is writing this run.
        ToolassayError: the folder cannot be written.
    """
    recorded = recorded_settings(folder)
    if recorded is not None and not changes(recorded, settings):
        return None
    kept = _set_aside(folder) if gives_way(folder, settings, force=force, ways_on=ways_on) else None
    path = folder / MANIFEST
    before = read_json(path) if path.exists() else {}
    before.pop(OLD_NAME, None)
    write_json(path, {**before, "toolassay": __version__, "settings": dict(settings)})
    return kept


def gives_way(
    folder: Path, settings: Mapping[str, Any], *, force: bool, ways_on: str, read_only: bool = False
) -> bool:
    """Whether the run in `folder` holds answers to other settings and has to give way; changes nothing.

    Args:
        folder: as `open_run` takes it, and so are the others.
        settings: likewise.
        force: likewise.
        ways_on: likewise.
        read_only: whether another process may be writing the run.

    Raises:
        UsageError: it does, and there is no leave; or another process is writing it.
    """
    before = recorded_settings(folder)
    changed = [] if before is None else changes(before, settings)
    if not changed or not _holds_answers(folder, read_only=read_only):
        return False
    if not force:
        raise UsageError(
            f"this run began with other settings ({'; '.join(changed)})", file=folder / MANIFEST, fix=ways_on
        )
    return True


def changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """What differs between two settings, one phrase each.

    >>> changes({"llm": "a", "graph_sha256": "1"}, {"llm": "b", "graph_sha256": "2"})
    ["llm: 'a' -> 'b'", 'graph changed']
    """
    return [
        _change(name, before.get(name), now.get(name))
        for name in dict.fromkeys([*before, *now])
        if before.get(name) != now.get(name)
    ]


def recorded_settings(folder: Path) -> dict[str, Any] | None:
    """The settings the run in `folder` began with; None where there is no run.

    Raises:
        UsageError: the manifest is not one.
    """
    path = folder / MANIFEST
    if not path.exists():
        return None
    value = read_json(path)
    settings = value.get("settings") if isinstance(value, dict) else None
    if not isinstance(settings, dict):
        raise UsageError(
            "is not the manifest of a run", file=path, fix=f"mend it, or move {folder} out of the way"
        )
    return settings


def _change(name: str, before: Any, now: Any) -> str:
    if name.endswith(_FINGERPRINT):
        return f"{name.removesuffix(_FINGERPRINT)} changed"
    return f"{name}: {before!r} -> {now!r}"


def _holds_answers(folder: Path, *, read_only: bool) -> bool:
    """Whether anything was answered yet; opening the journal also tells whether somebody is at it."""
    path = folder / JOURNAL
    if not path.exists():
        return False
    with Journal(path, read_only=read_only) as journal:
        return any({"response", "answers", "adopted"} & journal[key].keys() for key in journal)


def _set_aside(folder: Path) -> Path:
    """Move a run to a dated name beside it that nothing has yet."""
    name = f"{folder.name}.{datetime.now():%Y%m%d-%H%M%S}"
    kept, count = folder.with_name(name), 1
    while kept.exists():
        count += 1
        kept = folder.with_name(f"{name}-{count}")
    try:
        folder.rename(kept)
    except OSError as error:
        raise ToolassayError(
            f"cannot be moved: {error.strerror}", file=folder, fix="check the folder's permissions"
        ) from error
    return kept
