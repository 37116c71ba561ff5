"""The manifest of a run: the settings it began with, to detect that a later start uses other ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from toolassay.errors import ToolassayError, UsageError
from toolassay.files.data_files import dated, read_json, record_of, write_json
from toolassay.files.program_files import is_setting
from toolassay.models.address import HIDDEN, Address
from toolassay.models.redaction import without_secrets
from toolassay.models.structured_output import Form
from toolassay.runs.journal import ItemEntry, Journal
from toolassay.version import __version__

MANIFEST = "manifest.json"
JOURNAL = "journal.jsonl"
LEDGER = "ledger.jsonl"
BATCHES = "batches.jsonl"
SUMMARY = "summary.json"
_FINGERPRINT = "_sha256"
_UNANSWERED = ("provider error", "budget stop", "context overflow", "not run")


class ServerNote(msgspec.Struct, omit_defaults=True, kw_only=True):
    """Something learnt about a server, for the next start.

    Attributes:
        model: Name of the model that was asked; None if it is true of all.
        endpoint: Redacted address.
        endpoint_sha256: Hash of the address, where something is redacted.
        parameter: A parameter that is refused (`refused_parameters`).
        instead: The name under which it is sent; None if it is left out.
        path: The version path that the address lacks, e.g. `/v1` (`version_paths`).
        form: The form in which a JSON schema is accepted (`structured_output`).
    """

    model: str | None = None
    endpoint: str
    endpoint_sha256: str | None = None
    parameter: str | None = None
    instead: str | None = None
    path: str | None = None
    form: Form | None = None

    def __post_init__(self) -> None:
        """Redact the address: earlier versions wrote it whole, or with a redacted login."""
        address = Address.of(self.endpoint)
        self.endpoint = address.shown.replace(f"{HIDDEN}@", "")
        self.endpoint_sha256 = self.endpoint_sha256 or address.fingerprint

    def is_like(self, other: ServerNote) -> bool:
        """Whether both are about the same model at the same address."""
        names = ("model", "endpoint", "endpoint_sha256")
        return all(getattr(self, name) == getattr(other, name) for name in names)


class RetryNote(msgspec.Struct):
    """A start with `--retry_malformed`.

    Attributes:
        time: When it began.
        items: Number of items with a new answer; None if the start was killed.
        max_tokens: Limit that it sent; None for no limit.
    """

    time: str
    items: int | None = None
    max_tokens: int | None = None


class ToolUse(msgspec.Struct, omit_defaults=True):
    """Whether the tools of a run reach its model.

    Attributes:
        answers: Answers to requests with tools, where some show a leak.
        leaks: How many of them, by leak.
        items: Items that were offered tools before the first call, up to ten; None for none.
        called: Whether a tool was called.
        prompt_tokens: Of the request with the most for its tools; None if they are not reported.
        tool_characters: Size of its tools.
        tools_missing: Whether the tools do not reach the model.
    """

    answers: int = 0
    leaks: dict[str, int] = {}
    items: int | None = None
    called: bool | None = None
    prompt_tokens: int | UnsetType | None = UNSET
    tool_characters: int | None = None
    tools_missing: bool | None = None


class Manifest(msgspec.Struct, omit_defaults=True):
    """What `manifest.json` records of a run; it holds no secret.

    Attributes:
        settings: Every setting that affects answers; None without a run.
        toolassay: Version of the package that wrote them.
        starts: Every start: its time, command, versions, endpoint, and what was found.
        refused_parameters: Parameters that a server refuses.
        structured_output: Forms in which servers accept a JSON schema.
        version_paths: Version paths that addresses lack.
        asked_again: The starts that replaced answers.
        tool_use: Whether the tools reach the model.
        left_out: Settings that are not compared: files that an agent writes itself.
    """

    settings: dict[str, Any] | None
    toolassay: str = ""
    left_out: list[str] = []
    starts: list[dict[str, Any]] = []
    refused_parameters: list[ServerNote] = []
    structured_output: list[ServerNote] = []
    version_paths: list[ServerNote] = []
    asked_again: list[RetryNote] = []
    tool_use: ToolUse = msgspec.field(default_factory=ToolUse)

    def __post_init__(self) -> None:
        """Redact the starts of earlier versions, which wrote the whole path of an address."""
        for start in self.starts:
            if start.get("command"):
                start["command"] = [*without_secrets(start["command"], ())]
            if url := (start.get("endpoint") or {}).get("url"):
                start["endpoint"]["url"] = Address.of(url).shown

    def write(self, folder: Path) -> None:
        """Write it to the folder of the run.

        Raises:
            ToolassayError: It cannot be written.
        """
        write_json(folder / MANIFEST, msgspec.to_builtins(self))


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
    before = read_manifest(folder)
    if before.settings is not None and not changes(before.settings, settings):
        added = {name: settings[name] for name in settings.keys() - before.settings if is_setting(name)}
        if added:
            with Journal(folder / JOURNAL):  # no other process writes the run
                before.settings |= added
                before.write(folder)
        return None
    kept_folder = None
    if needs_new_run(folder, settings, force=force, conflict_fix=conflict_fix):
        kept_folder = keep_run(folder)
    manifest = Manifest(None) if kept_folder is not None else before
    manifest.settings = dict(settings)
    manifest.toolassay = __version__
    manifest.write(folder)
    return kept_folder


def keep_run(folder: Path) -> Path:
    """Move a run out of the way; its new place.

    Raises:
        ToolassayError: It cannot be moved.
    """
    kept_folder = dated(folder)
    try:
        folder.rename(kept_folder)
    except OSError as error:
        raise ToolassayError(
            f"cannot be moved: {error.strerror}", file=folder, fix="check the folder's permissions"
        ) from error
    return kept_folder


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

    A run of an earlier version has no fingerprint of its program, and continues with any.

    >>> changes({"llm": "a", "graph_sha256": "1"}, {"llm": "b", "graph_sha256": "2"})
    ["llm: 'a' -> 'b'", 'graph changed']
    >>> changes({"llm": "a"}, {"llm": "a", "program agent.py_sha256": "1"})
    []
    """
    if not any(map(is_setting, before)):
        now = {name: value for name, value in now.items() if not is_setting(name)}
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
    return read_manifest(folder).settings


def read_manifest(folder: Path) -> Manifest:
    """The manifest of the run in `folder`; one without settings where there is no run.

    Raises:
        UsageError: The file is not a manifest.
    """
    path = folder / MANIFEST
    if not path.exists():
        return Manifest(None)
    return record_of(read_json(path), Manifest, file=path, fix=f"restore it, or move {folder} out of the way")


def _holds_answers(folder: Path, *, read_only: bool) -> bool:
    """Whether the journal has an answer, or a batch may have; raises if another process is writing it."""
    path = folder / JOURNAL
    batches = folder / BATCHES
    if not path.exists():
        return False
    if batches.exists() and batches.stat().st_size:
        return True
    with Journal(path, read_only=read_only) as journal:
        return journal.has_answers or any(
            journal.entry(key, ItemEntry).outcome not in _UNANSWERED for key in journal
        )


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
    compared = {**settings, MAX_TOKENS: recorded.get(MAX_TOKENS)}
    return RetryPlan(wanted, only=True, max_tokens=max_tokens), compared
