"""What a run's manifest says beside its settings: every start, and what the endpoint refuses."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
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


@dataclass(frozen=True)
class _Learnt:
    """What a model's endpoint refuses."""

    model: str
    endpoint: ModelOptions
    refusals: Refusals
    schemas: SchemaForms


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
        self._learnt: list[_Learnt] = []
        self._path: VersionPath | None = None  # one for all models of the run
        self._start: Start | None = None

    def options_of(self, model: str) -> ModelOptions:
        """The options to make a model with.

        Raises:
            UsageError: the manifest there is cannot be read.
        """
        endpoint = self._options
        asked = self._folder, model, endpoint.endpoint, endpoint.endpoint_fingerprint
        known, form = refused_before(*asked), schema_form_before(*asked)
        if known.pop(PARAMETER, "") is None and form is None:  # as earlier versions noted a refused schema
            form = "none"

        def told(change: Change) -> None:
            ways = (f"{name} (sent as {to})" if to else f"{name} (left out)" for name, to in change.items())
            self._warn(f"the endpoint refuses {', '.join(ways)}")
            for name, instead in change.items():
                self._note(learnt, name, instead)

        def told_form(form: Form) -> None:
            self._warn(f"the endpoint refuses the JSON schema as it was sent: {_NEW_FORM[form]}")
            self._note_form(learnt, form)

        required = self._options.require_schema
        learnt = _Learnt(
            model, endpoint, Refusals(known, told), SchemaForms(form, told_form, required=required)
        )
        self._learnt.append(learnt)
        return replace(
            endpoint,
            refusals=learnt.refusals,
            schemas=learnt.schemas,
            version_path=self._version_path(endpoint),
            tell=self._warn,
        )

    def _version_path(self, endpoint: ModelOptions) -> VersionPath | None:
        """One for all models of the run; Azure has no such path."""
        if endpoint.is_azure:
            return None
        if self._path is None:

            def told(path: str) -> None:
                where = f"{endpoint.address.place()}{path}"
                self._warn(f"nothing at the address as it is (HTTP 404): {where} answers and is used")
                self._note_path(endpoint, path)

            known = version_path_before(self._folder, endpoint.endpoint, endpoint.endpoint_fingerprint)
            self._path = VersionPath(endpoint.address, known, told)
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
        self._start = Start(
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
        for learnt in self._learnt:
            for name, instead in learnt.refusals.known.items():
                self._note(learnt, name, instead)
        for learnt in self._learnt:
            if learnt.schemas.form != FORMS[0]:
                self._note_form(learnt, learnt.schemas.form)
        if self._path is not None and self._path.found:
            self._note_path(self._options, self._path.path)
        try:
            yield
        finally:
            clients = [model for model in models if is_served(model.name) and hasattr(model, "facts")]
            found = [_client_facts(client) for client in clients]
            self._start.end({"clients": found})

    def tool_use(self, facts: Mapping[str, Any]) -> None:
        """Note whether the tools of the run reach its model; call it within `start`."""
        if self._start is not None and facts:
            self._start.tool_use(facts)

    def _note(self, learnt: _Learnt, name: str, instead: str | None) -> None:
        if self._start is not None:
            at = learnt.endpoint
            self._start.refused(learnt.model, at.endpoint, name, instead, fingerprint=at.endpoint_fingerprint)

    def _note_form(self, learnt: _Learnt, form: Form) -> None:
        if self._start is not None:
            at = learnt.endpoint
            self._start.formed(learnt.model, at.endpoint, form, fingerprint=at.endpoint_fingerprint)

    def _note_path(self, endpoint: ModelOptions, path: str) -> None:
        if self._start is not None:
            self._start.versioned(endpoint.endpoint, path, fingerprint=endpoint.endpoint_fingerprint)

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


def _client_facts(model: Any) -> dict[str, Any]:
    return {"model": model.name, **_last(model.facts())}


def _last(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of a client with the last changes of its limit only."""
    return {**facts, "limits": facts.get("limits", [])[-_LAST:]}
