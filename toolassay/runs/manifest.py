"""The manifest of a run: the settings it began with, to detect that a later start uses other ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolassay.errors import ToolassayError, UsageError
from toolassay.files import dated, read_json, write_json
from toolassay.runs.journal import ItemEntry, Journal
from toolassay.version import OLD_NAME, __version__

MANIFEST = "manifest.json"
JOURNAL = "journal.jsonl"
LEDGER = "ledger.jsonl"
BATCHES = "batches.jsonl"
SUMMARY = "summary.json"
_FINGERPRINT = "_sha256"
_UNANSWERED = ("provider error", "budget stop", "context overflow", "not run")


def open_run(
    folder: Path, settings: Mapping[str, Any], *, force: bool = False, conflict_fix: str
) -> Path | None:
    """Create or continue the run in `folder`; other fields of its manifest are kept.

    Args:
        folder: Folder of `manifest.json` and `journal.jsonl`.
        settings: Every setting that affects answers; compared with those the run began with. The values of
            settings that end in `_sha256` are not shown in messages.
        force: If the settings differ, keep the old run under a dated name and start a new one.
        conflict_fix: What the user can do, for the error.

    Returns:
        The new place of the old run, if it was moved. A run without answers is replaced instead.

    Raises:
        UsageError: The settings differ (names which), or another process is writing this run.
        ToolassayError: The folder cannot be written.
    """
    recorded = recorded_settings(folder)
    if recorded is not None and not changes(recorded, settings):
        return None
    kept = (
        _set_aside(folder)
        if needs_new_run(folder, settings, force=force, conflict_fix=conflict_fix)
        else None
    )
    before = read_manifest(folder)
    before.pop(OLD_NAME, None)
    write_json(folder / MANIFEST, {**before, "toolassay": __version__, "settings": dict(settings)})
    return kept


def needs_new_run(
    folder: Path, settings: Mapping[str, Any], *, force: bool, conflict_fix: str, read_only: bool = False
) -> bool:
    """Whether `open_run` would move the run in `folder`, because it has answers to other settings.

    Changes nothing.

    Args:
        folder: As for `open_run`.
        settings: As for `open_run`.
        force: As for `open_run`.
        conflict_fix: As for `open_run`.
        read_only: Read the journal without a lock, so that another process may be writing the run.

    Raises:
        UsageError: It would, and `force` is false; or another process is writing the run.
    """
    before = recorded_settings(folder)
    changed = [] if before is None else changes(before, settings)
    if not changed or not _holds_answers(folder, read_only=read_only):
        return False
    if not force:
        raise UsageError(
            f"this run began with other settings ({'; '.join(changed)})",
            file=folder / MANIFEST,
            fix=conflict_fix,
        )
    return True


def changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """The differences between two settings, one phrase each.

    >>> changes({"llm": "a", "graph_sha256": "1"}, {"llm": "b", "graph_sha256": "2"})
    ["llm: 'a' -> 'b'", 'graph changed']
    """
    return [
        f"{name.removesuffix(_FINGERPRINT)} changed"
        if name.endswith(_FINGERPRINT)
        else f"{name}: {before.get(name)!r} -> {now.get(name)!r}"
        for name in dict.fromkeys([*before, *now])
        if before.get(name) != now.get(name)
    ]


def recorded_settings(folder: Path) -> dict[str, Any] | None:
    """The settings that the run in `folder` began with; None without a run.

    Raises:
        UsageError: The file is not a manifest.
    """
    return read_manifest(folder).get("settings")


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of the run in `folder`; {} without a run.

    Raises:
        UsageError: The file is not a manifest.
    """
    path = folder / MANIFEST
    if not path.exists():
        return {}
    manifest: Any = read_json(path)
    if not isinstance(manifest, dict) or not isinstance(manifest.get("settings"), dict):
        raise UsageError(
            "not the manifest of a run", file=path, fix=f"restore it, or move {folder} out of the way"
        )
    return manifest


def _holds_answers(folder: Path, *, read_only: bool) -> bool:
    """Whether the journal has an answer, or a batch may have; raises if another process is writing it."""
    path, batches = folder / JOURNAL, folder / BATCHES
    if not path.exists():
        return False
    if batches.exists() and batches.stat().st_size:
        return True
    with Journal(path, read_only=read_only) as journal:
        return journal.has_answers or any(
            journal.entry(key, ItemEntry).outcome not in _UNANSWERED for key in journal
        )


def _set_aside(folder: Path) -> Path:
    """Move a run to an unused dated name beside it."""
    kept = dated(folder)
    try:
        folder.rename(kept)
    except OSError as error:
        raise ToolassayError(
            f"cannot be moved: {error.strerror}", file=folder, fix="check the folder's permissions"
        ) from error
    return kept


MAX_TOKENS = "max_tokens"


@dataclass
class RetryPlan:
    """Which answered items a start runs again, and counts of the result.

    Attributes:
        wanted: Whether items with a malformed or truncated answer are run again.
        only: Whether only those are run, because this start sends a different `max_tokens` than the run began
            with; items without an answer are left to a start with the settings of the run.
        max_tokens: Limit that this start sends; None for no limit.
        replaced: Number of items with a new answer.
        left: Number of items without an answer that `only` skipped.
    """

    wanted: bool = False
    only: bool = False
    max_tokens: int | None = None
    replaced: int = 0
    left: int = 0

    def skips(self, *, settled: bool, unusable: bool) -> bool:
        """Whether this start skips an item; counts it in `left` if `only` is the reason.

        Args:
            settled: Whether it has an answer.
            unusable: Whether that answer is malformed or truncated.
        """
        if settled:
            return not (self.wanted and unusable)
        self.left += self.only
        return self.only


def retry_plan(
    run_folder: Path, settings: Mapping[str, Any], *, wanted: bool, max_tokens: int | None
) -> tuple[RetryPlan, dict[str, Any]]:
    """The `RetryPlan` of a start, and the settings to compare with the manifest.

    With `wanted`, `max_tokens` may differ from that of the run; no other setting may.

    Args:
        run_folder: Folder of `manifest.json`, if the run has begun.
        settings: Settings of this start.
        wanted: Whether `--retry_malformed` is given.
        max_tokens: Limit that this start sends; None for no limit.

    Raises:
        UsageError: The manifest is invalid.
    """
    recorded = recorded_settings(run_folder) if wanted else None
    if recorded is None or recorded.get(MAX_TOKENS) == settings.get(MAX_TOKENS):
        return RetryPlan(wanted, max_tokens=max_tokens), dict(settings)
    compared = {name: value for name, value in settings.items() if name != MAX_TOKENS}
    if MAX_TOKENS in recorded:
        compared[MAX_TOKENS] = recorded[MAX_TOKENS]
    return RetryPlan(wanted, only=True, max_tokens=max_tokens), compared
