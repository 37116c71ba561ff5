"""What the manifest of a run records beside its settings: every start, and what the server refuses.

A server is known by its redacted address and a hash that distinguishes equal ones.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from toolassay.files import sha256_of, write_json
from toolassay.models import ChatModel, ModelOptions
from toolassay.models.address import HIDDEN, Address, VersionPath
from toolassay.models.redaction import versions, without_secrets
from toolassay.models.refused_parameters import Change, Refusals
from toolassay.models.registry import is_served
from toolassay.models.structured_output import FORMS, PARAMETER, Form, SchemaForms
from toolassay.runs.manifest import MANIFEST, RetryPlan, read_manifest
from toolassay.runs.tool_arrival import TOOL_USE, ToolUse
from toolassay.screen import WARNING, Screen

STARTS = "starts"
REFUSED = "refused_parameters"
ASKED_AGAIN = "asked_again"
VERSION_PATHS = "version_paths"
SCHEMA_FORMS = "structured_output"
_NEW_FORM = {
    "plain_json_schema": "json_schema is sent without maxItems",
    "json_object": "it is sent as json_object",
    "none": "no response_format is sent, so answers may have any form",
}
_LAST = 20  # changes of the number of requests in flight that are written down


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


def notes_of(run_folder: Path, kind: str, about: ServerNote | None = None) -> list[ServerNote]:
    """The notes of earlier starts; what is not a note is skipped.

    Args:
        run_folder: Folder of the run.
        kind: `REFUSED`, `VERSION_PATHS` or `SCHEMA_FORMS`.
        about: Only those with the server and the model of this one; None for all.

    Raises:
        UsageError: The manifest cannot be read.
    """
    found = _notes_in(_manifest_in(run_folder), kind)
    return [note for note in found if about is None or _about(note) == _about(about)]


def _about(note: ServerNote) -> tuple[str | None, ...]:
    return note.model, note.endpoint, note.endpoint_sha256


def _notes_in(manifest: Mapping[str, Any], kind: str) -> Iterator[ServerNote]:
    for fact in _listed(manifest, kind):
        with suppress(msgspec.ValidationError):
            yield msgspec.convert(fact, ServerNote)


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
        self._folder, self._options = run_folder, options
        self._command, self._screen = command, screen
        self._learnt: dict[str, tuple[Refusals, SchemaForms]] = {}
        self._path: VersionPath | None = None  # one for all models of the run
        self._manifest: dict[str, Any] | None = None  # while a start is in progress

    def options_of(self, model: str) -> ModelOptions:
        """The options to make a model with.

        Raises:
            UsageError: The manifest cannot be read.
        """
        about = self._server(model)
        known = {str(one.parameter): one.instead for one in notes_of(self._folder, REFUSED, about)}
        forms = [one.form for one in notes_of(self._folder, SCHEMA_FORMS, about)]
        form = forms[-1] if forms else None
        if known.pop(PARAMETER, "") is None and form is None:  # as earlier versions noted a refused schema
            form = "none"

        def note_change(change: Change) -> None:
            ways = (f"{name} (sent as {to})" if to else f"{name} (left out)" for name, to in change.items())
            self._warn(f"the endpoint refuses {', '.join(ways)}")
            for name, instead in change.items():
                self._note(REFUSED, model, parameter=name, instead=instead)

        def note_form(form: Form) -> None:
            self._warn(f"the endpoint refuses the JSON schema as it was sent: {_NEW_FORM[form]}")
            self._note(SCHEMA_FORMS, model, form=form)

        refusals = Refusals(known, note_change)
        schemas = SchemaForms(form, note_form, required=self._options.require_schema)
        self._learnt[model] = refusals, schemas
        path = self._version_path()
        return replace(self._options, refusals=refusals, schemas=schemas, version_path=path, tell=self._warn)

    def _version_path(self) -> VersionPath | None:
        """One for all models of the run; Azure has no such path."""
        if self._path is None and not self._options.is_azure:
            address = self._options.address

            def note_path(path: str) -> None:
                where = f"{address.place()}{path}"
                self._warn(f"nothing at the address as it is (HTTP 404): {where} answers and is used")
                self._note(VERSION_PATHS, path=path)

            found = [one.path for one in notes_of(self._folder, VERSION_PATHS, self._server())]
            self._path = VersionPath(address, found[-1] if found else None, note_path)
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
        self._manifest = manifest = _manifest_in(self._folder)
        command = self._command and [*without_secrets(self._command, self._options.secrets)]
        endpoint = self._endpoint() if served else None
        started: dict[str, Any] = {
            "time": _now(),
            "command": command,
            "versions": versions(*packages),
            "endpoint": endpoint,
        }
        started |= facts
        manifest[STARTS] = [*_listed(manifest, STARTS), started]
        again: dict[str, Any] = {}
        if retry is not None and retry.wanted:
            again = {"time": _now(), "items": None, "max_tokens": retry.max_tokens}
            manifest[ASKED_AGAIN] = [*_listed(manifest, ASKED_AGAIN), again]
        self._write()
        for model, (refusals, schemas) in self._learnt.items():
            for name, instead in refusals.known.items():
                self._note(REFUSED, model, parameter=name, instead=instead)
            if schemas.form != FORMS[0]:
                self._note(SCHEMA_FORMS, model, form=schemas.form)
        if self._path is not None and self._path.found:
            self._note(VERSION_PATHS, path=self._path.path)
        try:
            yield
        finally:
            clients: list[Any] = [model for model in served if hasattr(model, "facts")]
            found = [{"model": client.name, **client.facts()} for client in clients]
            last = [{**facts, "limits": facts.get("limits", [])[-_LAST:]} for facts in found]
            started |= {"ended": _now(), "clients": last}
            if retry is not None and retry.wanted:
                again["items"] = retry.replaced
                if not retry.replaced:
                    manifest[ASKED_AGAIN].pop()  # the last is its own
            self._write()

    def tool_use(self, facts: ToolUse) -> None:
        """Record whether the tools of the run reach its model (`ToolArrival.facts`); within `start`."""
        if self._manifest is not None and facts != ToolUse():
            self._manifest[TOOL_USE] = msgspec.to_builtins(facts)
            self._write()

    def _server(self, model: str | None = None, **more: Any) -> ServerNote:
        where, code = self._options.endpoint, self._options.address.fingerprint
        return ServerNote(model=model, endpoint=where, endpoint_sha256=code, **more)

    def _note(self, kind: str, model: str | None = None, **more: Any) -> None:
        note = self._server(model, **more)
        if self._manifest is not None and note not in _notes_in(self._manifest, kind):
            self._manifest[kind] = [*_listed(self._manifest, kind), msgspec.to_builtins(note)]
            self._write()

    def _write(self) -> None:
        write_json(self._folder / MANIFEST, self._manifest)

    def _endpoint(self) -> dict[str, Any]:
        options = self._options
        version = {"api_version": os.environ["OPENAI_API_VERSION"]} if options.is_azure else {}
        if options.batch == "vllm":
            return {"batch": options.batch}
        batch = {"batch": options.batch} if options.batch else {}
        where = {"url": options.endpoint, "client": options.client, "stream": options.stream}
        where |= {} if options.dialect == "chat" else {"api": options.dialect}
        return {**where, **version, **batch}


def refused_part(run_folders: Iterable[Path]) -> dict[str, str]:
    """The part of a signature that names what was not sent, or sent under another name; {} for nothing.

    Raises:
        UsageError: A manifest cannot be read.
    """
    notes = (note for folder in run_folders for note in notes_of(folder, REFUSED))
    found = {f"{note.parameter}={note.instead or 'omitted'}" for note in notes}
    return {"refused": "+".join(sorted(found))} if found else {}


def asked_again_phrase(run_folder: Path) -> str | None:
    """The number of answers that `--retry_malformed` replaced, and its limits; None if there were none.

    The number is a lower bound if a start was killed before it recorded its own.

    Raises:
        UsageError: The manifest cannot be read.
    """
    facts = _listed(_manifest_in(run_folder), ASKED_AGAIN)
    if not facts:
        return None
    items = sum(int(fact.get("items") or 0) for fact in facts)
    limits = dict.fromkeys(str(fact.get("max_tokens") or "no limit") for fact in facts)
    at_least = "at least " if any(fact.get("items") is None for fact in facts) else ""
    return f"answers asked again with --retry_malformed: {at_least}{items} (max_tokens {', '.join(limits)})"


def _manifest_in(run_folder: Path) -> dict[str, Any]:
    """The manifest of a run, redacted: earlier versions wrote the whole path of an address; {} without one.

    Raises:
        UsageError: It cannot be read.
    """
    manifest = read_manifest(run_folder)
    for start in _listed(manifest, STARTS):
        if isinstance(start.get("command"), list):
            start["command"] = [*without_secrets(map(str, start["command"]), ())]
        endpoint = start.get("endpoint")
        if isinstance(endpoint, dict) and isinstance(endpoint.get("url"), str):
            endpoint["url"] = Address.of(endpoint["url"]).shown
    for kind in (REFUSED, VERSION_PATHS, SCHEMA_FORMS):
        if kind in manifest:
            manifest[kind] = msgspec.to_builtins(list(_notes_in(manifest, kind)))
    return manifest


def _listed(manifest: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """The objects in a list of a manifest, which may have been edited by hand."""
    value = manifest.get(name)
    return [fact for fact in value if isinstance(fact, dict)] if isinstance(value, list) else []


def _now() -> str:
    return datetime.now().astimezone().isoformat(timespec="seconds")


def hashes(*paths: Path) -> dict[str, str]:
    """The SHA-256 of each file there is, by name."""
    return {path.name: sha256_of(path) for path in paths if path.is_file()}
