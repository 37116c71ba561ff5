"""The starts of a run, recorded in its manifest: time, command, versions, inputs and endpoint."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from toolassay.files import read_json, write_json
from toolassay.models.address import HIDDEN, Address
from toolassay.models.redaction import without_secrets
from toolassay.runs.manifest import MANIFEST, RetryPlan
from toolassay.runs.tool_arrival import TOOL_USE

STARTS = "starts"
REFUSED = "refused_parameters"
ASKED_AGAIN = "asked_again"
VERSION_PATHS = "version_paths"
SCHEMA_FORMS = "structured_output"


class Start:
    """One start of a run, added to the manifest that `open_run` has written.

    Args:
        path: The manifest.
        manifest: What it holds.
        facts: Fields that are known at the beginning.
    """

    def __init__(self, path: Path, manifest: dict[str, Any], facts: Mapping[str, Any]) -> None:
        self._path, self._manifest = path, manifest
        self._facts = {"time": _now(), **facts}
        self._retry: RetryPlan | None = None
        self._retry_fact: dict[str, Any] = {}
        self._manifest[STARTS] = [*_listed(self._manifest, STARTS), self._facts]

    @classmethod
    def begin(cls, folder: Path, facts: Mapping[str, Any]) -> Start:
        """Add a start while the journal is open, so that no other process writes the manifest.

        Raises:
            ToolassayError: The manifest cannot be written; also raised by every method.
        """
        path = folder / MANIFEST
        start = cls(path, _without_secrets(read_json(path)), facts)
        start._write()
        return start

    def refused(
        self,
        model: str,
        endpoint: str,
        parameter: str,
        instead: str | None,
        *,
        fingerprint: str | None = None,
    ) -> None:
        """Record a parameter that an endpoint refuses, and the name that is sent instead, if any."""
        where = _where(endpoint, fingerprint)
        self._note(REFUSED, {"model": model, **where, "parameter": parameter, "instead": instead})

    def versioned(self, endpoint: str, path: str, *, fingerprint: str | None = None) -> None:
        """Record the version path that an address lacked, e.g. `/v1`."""
        self._note(VERSION_PATHS, {**_where(endpoint, fingerprint), "path": path})

    def tool_use(self, facts: Mapping[str, Any]) -> None:
        """Record whether the tools of the run reach its model (`ToolArrival.facts`)."""
        self._manifest[TOOL_USE] = dict(facts)
        self._write()

    def retries_malformed(self, retry: RetryPlan) -> None:
        """Record that this start runs items again, and its `max_tokens`; `end` adds the number replaced."""
        self._retry = retry
        self._retry_fact = {"time": _now(), "items": None, "max_tokens": retry.max_tokens}
        self._manifest[ASKED_AGAIN] = [*_listed(self._manifest, ASKED_AGAIN), self._retry_fact]
        self._write()

    def formed(self, model: str, endpoint: str, form: str, *, fingerprint: str | None = None) -> None:
        """Record the form in which an endpoint accepts a JSON schema (`models.structured_output.FORMS`)."""
        self._note(SCHEMA_FORMS, {"model": model, **_where(endpoint, fingerprint), "form": form})

    def end(self, facts: Mapping[str, Any]) -> None:
        """Record the end of the start with its result."""
        self._facts |= {"ended": _now(), **facts}
        if self._retry is not None:
            self._retry_fact["items"] = self._retry.replaced
            if not self._retry.replaced:
                self._manifest[ASKED_AGAIN].pop()  # the last is its own
        self._write()

    def _note(self, name: str, fact: dict[str, Any]) -> None:
        noted = _listed(self._manifest, name)
        if fact not in noted:
            self._manifest[name] = [*noted, fact]
            self._write()

    def _write(self) -> None:
        write_json(self._path, self._manifest)


def refused_before(
    folder: Path, model: str, endpoint: str, fingerprint: str | None = None
) -> dict[str, str | None]:
    """The parameters that an endpoint refused in earlier starts, and the names that were sent instead.

    Args:
        folder: Folder of the run.
        model: Name of the model.
        endpoint: Redacted address.
        fingerprint: `Address.fingerprint` of the endpoint.

    Raises:
        UsageError: The manifest cannot be read.
    """
    return {
        str(fact.get("parameter")): fact.get("instead")
        for fact in _facts_of(folder, REFUSED, endpoint, fingerprint)
        if fact.get("model") == model
    }


def refused_part(run_folders: Iterable[Path]) -> dict[str, str]:
    """The part of a signature that names what was not sent, or sent under another name; {} for nothing.

    Raises:
        UsageError: A manifest cannot be read.
    """
    facts = (fact for folder in run_folders for fact in _facts_in(folder, REFUSED))
    found = {f"{fact.get('parameter')}={fact.get('instead') or 'omitted'}" for fact in facts}
    return {"refused": "+".join(sorted(found))} if found else {}


def asked_again_phrase(folder: Path) -> str | None:
    """The number of answers that `--retry_malformed` replaced, and its limits; None if there were none.

    The number is a lower bound if a start was killed before it recorded its own.

    Raises:
        UsageError: The manifest cannot be read.
    """
    facts = _facts_in(folder, ASKED_AGAIN)
    items = sum(int(fact.get("items") or 0) for fact in facts)
    limits = dict.fromkeys(str(fact.get("max_tokens") or "no limit") for fact in facts)
    if not facts:
        return None
    at_least = "at least " if any(fact.get("items") is None for fact in facts) else ""
    return f"answers asked again with --retry_malformed: {at_least}{items} (max_tokens {', '.join(limits)})"


def version_path_before(folder: Path, endpoint: str, fingerprint: str | None = None) -> str | None:
    """The version path that an address lacked in earlier starts, or None.

    Raises:
        UsageError: The manifest cannot be read.
    """
    found = [fact.get("path") for fact in _facts_of(folder, VERSION_PATHS, endpoint, fingerprint)]
    return found[-1] if found and isinstance(found[-1], str) else None


def schema_form_before(folder: Path, model: str, endpoint: str, fingerprint: str | None = None) -> str | None:
    """The form in which an endpoint accepted a JSON schema in earlier starts; None if it refused none.

    Raises:
        UsageError: The manifest cannot be read.
    """
    found = [
        fact.get("form")
        for fact in _facts_of(folder, SCHEMA_FORMS, endpoint, fingerprint)
        if fact.get("model") == model
    ]
    return found[-1] if found and isinstance(found[-1], str) else None


def _facts_of(folder: Path, name: str, endpoint: str, fingerprint: str | None) -> Iterator[dict[str, Any]]:
    for fact in _facts_in(folder, name):
        if _key(fact) == _key(_where(endpoint, fingerprint)):
            yield fact


def _facts_in(folder: Path, name: str) -> list[dict[str, Any]]:
    """The records of one kind in the manifest of a run."""
    path = folder / MANIFEST
    manifest = read_json(path) if path.exists() else {}
    return [fact for fact in _listed(_without_secrets(manifest), name) if isinstance(fact, dict)]


def _where(endpoint: str, fingerprint: str | None) -> dict[str, Any]:
    """Fields that identify an endpoint in a manifest; the hash separates equal redacted addresses."""
    return {"endpoint": endpoint, **({"endpoint_sha256": fingerprint} if fingerprint else {})}


def _key(fact: Mapping[str, Any]) -> tuple[str, Any]:
    """The identity of an endpoint; ignores a redacted login, which earlier versions did not write."""
    return str(fact.get("endpoint")).replace(f"{HIDDEN}@", ""), fact.get("endpoint_sha256")


def _without_secrets(manifest: Any) -> Any:
    """Redact a manifest: earlier versions wrote the whole path of an address."""
    if not isinstance(manifest, dict):
        return manifest
    cleaned = dict(manifest)
    if isinstance(manifest.get(REFUSED), list):
        cleaned[REFUSED] = [_cleaned_fact(fact) for fact in manifest[REFUSED]]
    if isinstance(manifest.get(STARTS), list):
        cleaned[STARTS] = [_cleaned_start(start) for start in manifest[STARTS]]
    return cleaned


def _cleaned_fact(fact: Any) -> Any:
    if not isinstance(fact, dict) or not isinstance(fact.get("endpoint"), str):
        return fact
    address = Address.of(fact["endpoint"])
    return {**fact, **_where(address.shown, fact.get("endpoint_sha256") or address.fingerprint)}


def _cleaned_start(start: Any) -> Any:
    if not isinstance(start, dict):
        return start
    cleaned, command, endpoint = dict(start), start.get("command"), start.get("endpoint")
    if isinstance(command, list):
        cleaned["command"] = without_secrets([str(word) for word in command], ())
    # Earlier versions, which wrote the whole path, had no list of endpoints.
    if isinstance(endpoint, dict) and isinstance(endpoint.get("url"), str):
        cleaned["endpoint"] = {**endpoint, "url": Address.of(endpoint["url"]).shown}
    return cleaned


def _listed(manifest: Any, name: str) -> list[Any]:
    value = manifest.get(name) if isinstance(manifest, dict) else None
    return value if isinstance(value, list) else []


def _now() -> str:
    return datetime.now().astimezone().isoformat(timespec="seconds")
