"""What the manifest of a run records beside its settings: every start, and what the server refuses.

A server is known by its redacted address and a hash that distinguishes equal ones.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from toolassay.console.screen import WARNING, Screen
from toolassay.files.data_files import sha256_of, stamp_of
from toolassay.files.program_files import ProgramFiles, file_of, is_setting
from toolassay.models import ChatModel, ModelOptions
from toolassay.models.address import VersionPath
from toolassay.models.redaction import versions, without_secrets
from toolassay.models.refused_parameters import Change, Refusals
from toolassay.models.registry import is_served
from toolassay.models.structured_output import FORMS, PARAMETER, Form, SchemaForms
from toolassay.runs.manifest import (
    JOURNAL,
    Manifest,
    RetryNote,
    RetryPlan,
    ServerNote,
    ToolUse,
    read_manifest,
)

Notes = Literal["refused_parameters", "structured_output", "version_paths"]
_NEW_FORM = {
    "plain_json_schema": "json_schema is sent without maxItems",
    "json_object": "it is sent as json_object",
    "none": "no response_format is sent, so answers may have any form",
}
# Seconds after the last sign of life of a run (`OwnAgent`) in which its agent may write, before it ends too.
_LAST_WRITES = 0.25
_LAST = 20  # changes of the number of requests in flight that are written down


class RunRecord:
    """Records the starts of a run; models are made with its options, which know what was refused before.

    Args:
        run_folder: Folder of the run.
        options: Where served models are.
        command: Command line; None for a call from Python.
        screen: Shows each parameter that a server refuses, once.
    """

    def __init__(
        self, run_folder: Path, options: ModelOptions, *, command: Sequence[str] | None, screen: Screen
    ) -> None:
        self._folder = run_folder
        self._options = options
        self._command = command
        self._screen = screen
        self._learnt: dict[str, tuple[Refusals, SchemaForms]] = {}
        self._path: VersionPath | None = None  # one for all models of the run
        self._manifest: Manifest | None = None  # while a start is in progress

    def options_of(self, model: str) -> ModelOptions:
        """The options to make a model with.

        Raises:
            UsageError: The manifest cannot be read.
        """
        manifest = read_manifest(self._folder)
        about = self._server(model)
        refused = [note for note in manifest.refused_parameters if note.is_like(about)]
        known_change = {str(note.parameter): note.instead for note in refused}
        forms = [note.form for note in manifest.structured_output if note.is_like(about)]
        form = forms[-1] if forms else None
        # Earlier versions noted a refused schema as a refused parameter.
        if known_change.pop(PARAMETER, "") is None and form is None:
            form = "none"

        def note_change(change: Change) -> None:
            ways = (f"{name} (sent as {to})" if to else f"{name} (left out)" for name, to in change.items())
            self._warn(f"the endpoint refuses {', '.join(ways)}")
            for name, instead in change.items():
                self._note("refused_parameters", model, parameter=name, instead=instead)

        def note_form(form: Form) -> None:
            self._warn(f"the endpoint refuses the JSON schema as it was sent: {_NEW_FORM[form]}")
            self._note("structured_output", model, form=form)

        refusals = Refusals(known_change, note_change)
        schemas = SchemaForms(form, note_form, required=self._options.require_schema)
        self._learnt[model] = refusals, schemas
        path = self._version_path()
        return replace(self._options, refusals=refusals, schemas=schemas, version_path=path, tell=self._warn)

    def _version_path(self) -> VersionPath | None:
        """One for all models of the run; Azure has no such path."""
        if self._path is None and not self._options.is_azure:
            address = self._options.address

            def note_path(path: str) -> None:
                where = f"{address.shown_url()}{path}"
                self._warn(f"nothing at the address as it is (HTTP 404): {where} answers and is used")
                self._note("version_paths", path=path)

            notes = read_manifest(self._folder).version_paths
            about = self._server()
            paths = [note.path for note in notes if note.is_like(about)]
            self._path = VersionPath(address, paths[-1] if paths else None, note_path)
        return self._path

    def _warn(self, text: str) -> None:
        self._screen.say(f"{WARNING}{text}")

    @contextmanager
    def start(
        self, models: Sequence[ChatModel], facts: Mapping[str, Any], retry: RetryPlan | None = None
    ) -> Iterator[None]:
        """Record a start, its `retry` plan, and at the end what the clients of `models` found.

        The journal must be open, so that no other process writes the manifest.

        Raises:
            ToolassayError: The manifest cannot be written; also raised by `tool_use`.
        """
        served = [model for model in models if is_served(model.name)]
        packages = ["numpy", *(["aiohttp"] if served else [])]
        if "openai" in (self._options.client, self._options.batch) and served:
            packages.append("openai")
        self._manifest = manifest = read_manifest(self._folder)
        command = self._command and [*without_secrets(self._command, self._options.secrets)]
        endpoint = self._endpoint() if served else None
        started: dict[str, Any] = {
            "time": _now(),
            "command": command,
            "versions": versions(*packages),
            "endpoint": endpoint,
        }
        started |= facts
        manifest.starts.append(started)
        retry_note = RetryNote(_now(), None, retry.max_tokens) if retry is not None and retry.wanted else None
        if retry_note is not None:
            manifest.asked_again.append(retry_note)
        manifest.write(self._folder)
        for model, (refusals, schemas) in self._learnt.items():
            for name, instead in refusals.known.items():
                self._note("refused_parameters", model, parameter=name, instead=instead)
            if schemas.form != FORMS[0]:
                self._note("structured_output", model, form=schemas.form)
        if self._path is not None and self._path.is_found:
            self._note("version_paths", path=self._path.path)
        try:
            yield
        finally:
            clients: list[Any] = [model for model in served if hasattr(model, "facts")]
            facts_of_clients = [{"model": client.name, **client.facts()} for client in clients]
            last = [{**facts, "limits": facts.get("limits", [])[-_LAST:]} for facts in facts_of_clients]
            started |= {"ended": _now(), "clients": last}
            if retry is not None and retry_note is not None:
                retry_note.items = retry.replaced
                if not retry.replaced:
                    manifest.asked_again.remove(retry_note)
            manifest.write(self._folder)

    def leave_out(self, settings: Sequence[str]) -> None:
        """Record settings that are files which the agent writes: they are not compared; within `start`."""
        assert self._manifest is not None and self._manifest.settings is not None
        for name in settings:
            self._warn(f"the agent writes {file_of(name)}, which does not count for its fingerprint")
            self._manifest.left_out.append(name)
            self._manifest.settings.pop(name, None)
        if settings:
            self._manifest.write(self._folder)

    def tool_use(self, facts: ToolUse) -> None:
        """Record whether the tools of the run reach its model (`ToolArrival.facts`); within `start`."""
        if self._manifest is not None and facts != ToolUse():
            self._manifest.tool_use = facts
            self._manifest.write(self._folder)

    def _server(self, model: str | None = None, **more: Any) -> ServerNote:
        where = self._options.endpoint
        code = self._options.address.fingerprint
        return ServerNote(model=model, endpoint=where, endpoint_sha256=code, **more)

    def _note(self, kind: Notes, model: str | None = None, **more: Any) -> None:
        if self._manifest is None:
            return
        note = self._server(model, **more)
        notes = getattr(self._manifest, kind)
        if note not in notes:
            notes.append(note)
            self._manifest.write(self._folder)

    def _endpoint(self) -> dict[str, Any]:
        options = self._options
        version = {"api_version": os.environ["OPENAI_API_VERSION"]} if options.is_azure else {}
        if options.batch == "vllm":
            return {"batch": options.batch}
        batch = {"batch": options.batch} if options.batch else {}
        where = {"url": options.endpoint, "client": options.client, "stream": options.stream}
        where |= {} if options.dialect == "chat" else {"api": options.dialect}
        return {**where, **version, **batch}


def compared_program(
    settings: Mapping[str, Any], program: ProgramFiles, run_folder: Path, first: Path
) -> tuple[dict[str, Any], list[str]]:
    """The settings without files that the agent writes, and those of them that are not recorded as such yet.

    Args:
        settings: Of a start.
        program: The files of its agent.
        run_folder: The folder of the run.
        first: That of the first trial, whose agent writes the same files.

    Raises:
        UsageError: A manifest cannot be read.
    """
    manifest = read_manifest(run_folder)
    now = dict(settings)
    for name in (*manifest.left_out, *read_manifest(first).left_out):
        now.pop(name, None)
    before = manifest.settings or {}
    lived_until = stamp_of(run_folder / JOURNAL)
    was_killed = bool(manifest.starts) and "ended" not in manifest.starts[-1]
    unnoted = []
    if was_killed and lived_until and any(map(is_setting, before)):
        for name in program.written_until(lived_until[1] / 1e9 + _LAST_WRITES):
            if now.get(name) != before.get(name):
                now[name] = before.get(name)
                unnoted.append(name)
    return now, unnoted


def refused_part(run_folders: Iterable[Path]) -> dict[str, str]:
    """The part of a signature that names what was not sent, or sent under another name; {} for nothing.

    Raises:
        UsageError: A manifest cannot be read.
    """
    notes = (note for folder in run_folders for note in read_manifest(folder).refused_parameters)
    changes = {f"{note.parameter}={note.instead or 'omitted'}" for note in notes}
    return {"refused": "+".join(sorted(changes))} if changes else {}


def asked_again_phrase(run_folder: Path) -> str | None:
    """The number of answers that `--retry_malformed` replaced, and its limits; None if there were none.

    The number is a lower bound if a start was killed before it recorded its own.

    Raises:
        UsageError: The manifest cannot be read.
    """
    starts = read_manifest(run_folder).asked_again
    if not starts:
        return None
    items = sum(start.items or 0 for start in starts)
    limits = dict.fromkeys(str(start.max_tokens or "no limit") for start in starts)
    at_least = "at least " if any(start.items is None for start in starts) else ""
    return f"answers asked again with --retry_malformed: {at_least}{items} (max_tokens {', '.join(limits)})"


def _now() -> str:
    return datetime.now().astimezone().isoformat(timespec="seconds")


def hashes(*paths: Path) -> dict[str, str]:
    """The SHA-256 of each file there is, by name."""
    return {path.name: sha256_of(path) for path in paths if path.is_file()}
