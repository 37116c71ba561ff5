"""What a run's manifest says beside its settings: every start, and what the endpoint refuses."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from toolassay.files import sha256_of
from toolassay.models import ChatModel, ModelOptions
from toolassay.models.address import VersionPath
from toolassay.models.redaction import versions, without_secrets
from toolassay.models.refused_parameters import Change, Refusals
from toolassay.models.registry import is_served
from toolassay.models.structured_output import FORMS, PARAMETER, Form, SchemaForms
from toolassay.runs import Start
from toolassay.runs.manifest import RetryPlan
from toolassay.runs.starts import refused_before, schema_form_before, version_path_before
from toolassay.screen import WARNING, Screen

_NEW_FORM = {
    "plain_json_schema": "json_schema is sent without maxItems",
    "json_object": "it is sent as json_object",
    "none": "no response_format is sent, so answers may have any form",
}
_LAST = 20  # changes of the number of requests in flight that are written down


class RunRecord:
    """Notes the starts of a run; models are made with its options, which know what was refused before.

    Args:
        run_folder: where the manifest lies.
        options: where served models are.
        command: what was typed; None for a call from Python.
        screen: told once of each parameter that an endpoint refuses.
    """

    def __init__(
        self, run_folder: Path, options: ModelOptions, *, command: Sequence[str] | None, screen: Screen
    ) -> None:
        self._folder = run_folder
        self._options = options
        self._command = command
        self._screen = screen
        self._where = options.endpoint, options.endpoint_fingerprint
        self._learnt: dict[str, tuple[Refusals, SchemaForms]] = {}
        self._path: VersionPath | None = None  # one for all models of the run
        self._start: Start | None = None

    def options_of(self, model: str) -> ModelOptions:
        """The options to make a model with.

        Raises:
            UsageError: the manifest there is cannot be read.
        """
        asked = self._folder, model, *self._where
        known, form = refused_before(*asked), schema_form_before(*asked)
        if known.pop(PARAMETER, "") is None and form is None:  # as earlier versions noted a refused schema
            form = "none"

        def told(change: Change) -> None:
            ways = (f"{name} (sent as {to})" if to else f"{name} (left out)" for name, to in change.items())
            self._warn(f"the endpoint refuses {', '.join(ways)}")
            for name, instead in change.items():
                self._note(model, name, instead)

        def told_form(form: Form) -> None:
            self._warn(f"the endpoint refuses the JSON schema as it was sent: {_NEW_FORM[form]}")
            self._note_form(model, form)

        refusals = Refusals(known, told)
        schemas = SchemaForms(form, told_form, required=self._options.require_schema)
        self._learnt[model] = refusals, schemas
        path = self._version_path()
        return replace(self._options, refusals=refusals, schemas=schemas, version_path=path, tell=self._warn)

    def _version_path(self) -> VersionPath | None:
        """One for all models of the run; Azure has no such path."""
        if self._path is None and not self._options.is_azure:
            address = self._options.address

            def told(path: str) -> None:
                where = f"{address.place()}{path}"
                self._warn(f"nothing at the address as it is (HTTP 404): {where} answers and is used")
                self._note_path(path)

            self._path = VersionPath(address, version_path_before(self._folder, *self._where), told)
        return self._path

    def _warn(self, text: str) -> None:
        self._screen.say(f"{WARNING}{text}")

    @contextmanager
    def start(
        self, models: Sequence[ChatModel], facts: Mapping[str, Any], retry: RetryPlan | None = None
    ) -> Iterator[None]:
        """Note a start, its `retry` plan, and at the end what the clients of `models` found.

        The journal must be open: it keeps other processes out.
        """
        served = any(is_served(model.name) for model in models)
        packages = ["numpy", *(["aiohttp"] if served else [])]
        if (self._options.client == "openai" or self._options.batch == "openai") and served:
            packages.append("openai")
        secrets = self._options.secrets
        self._start = Start.begin(
            self._folder,
            {
                "command": None if self._command is None else without_secrets(self._command, secrets),
                "versions": versions(*packages),
                "endpoint": self._endpoint() if served else None,
                **facts,
            },
        )
        if retry is not None and retry.wanted:
            self._start.retries_malformed(retry)
        for model, (refusals, schemas) in self._learnt.items():
            for name, instead in refusals.known.items():
                self._note(model, name, instead)
            if schemas.form != FORMS[0]:
                self._note_form(model, schemas.form)
        if self._path is not None and self._path.found:
            self._note_path(self._path.path)
        try:
            yield
        finally:
            clients: list[Any] = [one for one in models if is_served(one.name) and hasattr(one, "facts")]
            found = [{"model": client.name, **client.facts()} for client in clients]
            last = [{**facts, "limits": facts.get("limits", [])[-_LAST:]} for facts in found]
            self._start.end({"clients": last})

    def tool_use(self, facts: Mapping[str, Any]) -> None:
        """Note whether the tools of the run reach its model; call it within `start`."""
        if self._start is not None and facts:
            self._start.tool_use(facts)

    def _note(self, model: str, name: str, instead: str | None) -> None:
        if self._start is not None:
            self._start.refused(model, self._where[0], name, instead, fingerprint=self._where[1])

    def _note_form(self, model: str, form: Form) -> None:
        if self._start is not None:
            self._start.formed(model, self._where[0], form, fingerprint=self._where[1])

    def _note_path(self, path: str) -> None:
        if self._start is not None:
            self._start.versioned(self._where[0], path, fingerprint=self._where[1])

    def _endpoint(self) -> dict[str, Any]:
        options = self._options
        version = {"api_version": os.environ["OPENAI_API_VERSION"]} if options.is_azure else {}
        if options.batch == "vllm":
            return {"batch": options.batch}
        batch = {"batch": options.batch} if options.batch else {}
        where = {"url": options.endpoint, "client": options.client, "stream": options.stream}
        return {**where, **version, **batch}


def hashes(*paths: Path) -> dict[str, str]:
    """The SHA-256 of each file there is, by name."""
    return {path.name: sha256_of(path) for path in paths if path.is_file()}
