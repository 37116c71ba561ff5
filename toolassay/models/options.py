"""Where a served model is and how to talk to it."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from toolassay.models.address import Address, VersionPath
from toolassay.models.refused_parameters import Refusals
from toolassay.models.structured_output import SchemaForms

ClientName = Literal["aiohttp", "openai"]

DEFAULT_ADDRESS = "localhost"
DEFAULT_PORT = 4000
MAX_TRIES = 8
TIMEOUT = 600.0  # seconds without a byte: long answers that are not streamed, and the queue before them
TOTAL_TIMEOUT = 3600.0  # seconds for one attempt
PATH = "/chat/completions"

_SECRET_NAME = re.compile("key|token|secret|passw|credential|auth", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """Where a served model is and how to talk to it. What may hold a secret stays out of every `repr`.

    `connections` fixes the number of requests in flight; None lets the client find what the endpoint
    bears. `extra_body` and `extra_headers` go into every request; both may hold secrets, and null in
    `extra_body` takes a field out. `api_version` belongs to Azure (`client="openai"`). `stream` asks for the
    answer token by token, which shows the time to the first one. `refusals` is what is known of the
    parameters that the endpoint refuses; without it a client begins knowing none. `version_path` is the same
    for the `/v1` that an address may lack, `schemas` for the form in which the endpoint takes a JSON schema;
    `require_schema` ends a run whose server takes none. `tell` takes what a person should know while waiting.
    An attempt ends after `timeout` seconds in which no byte came (a stream, or a server that sends comments
    while a model reasons, is alive), and after `total_timeout` seconds in any case; both are tried again.
    They do not shape answers: a run may be continued with others.
    """

    api_base: str | None = field(default=None, repr=False)
    api_addr: str | None = None
    api_port: int | None = None
    api_key: str | None = field(default=None, repr=False)
    connections: int | None = None
    extra_body: Mapping[str, Any] = field(default_factory=dict, repr=False)
    extra_headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    client: ClientName = "aiohttp"
    stream: bool = False
    max_tries: int = MAX_TRIES
    api_version: str | None = None
    refusals: Refusals | None = field(default=None, repr=False, compare=False)
    version_path: VersionPath | None = field(default=None, repr=False, compare=False)
    schemas: SchemaForms | None = field(default=None, repr=False, compare=False)
    require_schema: bool = False
    tell: Callable[[str], None] | None = field(default=None, repr=False, compare=False)
    timeout: float = TIMEOUT
    total_timeout: float = TOTAL_TIMEOUT

    @property
    def base_url(self) -> str:
        """`--api_base`, else `--api_addr`/`--api_port`, else OPENAI_BASE_URL, else localhost:4000."""
        if self.api_base:
            return self.api_base.rstrip("/")
        if self.api_addr is None and self.api_port is None:
            from_environment = os.environ.get("OPENAI_BASE_URL")
            if from_environment:
                return from_environment.rstrip("/")
        address = (self.api_addr or DEFAULT_ADDRESS).removeprefix("http://").rstrip("/")
        if address.count(":") > 1 and "[" not in address and "//" not in address:
            address = f"[{address}]"  # IPv6
        scheme = "" if address.startswith("https://") else "http://"
        return f"{scheme}{address}:{self.api_port or DEFAULT_PORT}/v1"

    @property
    def endpoint(self) -> str:
        """Where requests go, as it may be shown."""
        return self.asked_address.shown

    @property
    def endpoint_fingerprint(self) -> str | None:
        """What distinguishes endpoints that `endpoint` shows alike; None where it shows the whole path."""
        return self.asked_address.fingerprint

    @property
    def key(self) -> str | None:
        """The key: given, else OPENAI_API_KEY; without the line end that a key file brings along."""
        return (self.api_key or os.environ.get("OPENAI_API_KEY") or "").strip() or None

    @property
    def address(self) -> Address:
        """The base URL, taken apart; the path of a request at its end, which is added anyway, is left out."""
        address = Address.of(self.base_url)
        return replace(address, url=address.url.removesuffix(PATH).rstrip("/"))

    @property
    def names_a_request(self) -> bool:
        """Whether the base URL ends in the path of a request, as many documents show it."""
        return Address.of(self.base_url).url.endswith(PATH)

    @property
    def place(self) -> str:
        """Where a request goes, for messages: the `/v1` that was found missing included."""
        found = self.version_path.path if self.version_path and self.version_path.found else ""
        return self.address.place(found + PATH)

    @property
    def is_azure(self) -> bool:
        """Whether the SDK asks Azure: an API version is given, or only the environment names an endpoint."""
        given = self.api_base or self.api_addr or self.api_port
        named = not given and bool(os.environ.get("AZURE_OPENAI_ENDPOINT"))
        return self.client == "openai" and (named or bool(self.api_version))

    @property
    def asked_address(self) -> Address:
        """The address, or that of Azure where the environment names it and no flag does."""
        given = self.api_base or self.api_addr or self.api_port
        azure = os.environ.get("AZURE_OPENAI_ENDPOINT") if self.client == "openai" and not given else None
        return Address.of(azure) if azure else self.address

    @property
    def authorization(self) -> str | None:
        """That header, made of the key or of the login in the address; an extra header replaces it.

        Raises:
            ValueError: there are both.
        """
        login = self.address.authorization
        if any(name.lower() == "authorization" for name in self.extra_headers):
            return None
        if login and self.key:
            raise ValueError("it holds a login, and there is a key too: leave one of them out")
        return login or (f"Bearer {self.key}" if self.key else None)

    @property
    def credentials(self) -> tuple[str, ...]:
        """What lets somebody in: keys, headers, fields so named; login, path and query of the address."""
        azure = (
            os.environ.get(name, "").strip() for name in ("AZURE_OPENAI_API_KEY", "AZURE_OPENAI_AD_TOKEN")
        )
        keys = {self.key or "", *azure, *self.pairs}
        addresses = self.address, Address.of(os.environ.get("AZURE_OPENAI_ENDPOINT", ""))
        headers = [str(value).strip() for value in self.extra_headers.values()]
        schemeless = [value.rpartition(" ")[2] for value in headers]
        fields = [text for path, text in _texts(self.extra_body) if _SECRET_NAME.search(path)]
        given = {*headers, *schemeless, *fields, *(text for a in addresses for text in a.credentials)}
        # A header that says "1" or "true" is no secret, and taking it out would garble what is said.
        return _longest_first(keys | {value for value in given if len(value) > 5})

    @property
    def pairs(self) -> tuple[str, ...]:
        """What no text holds by chance, however short: a scheme with its key, a name with its password."""
        keys = (self.key, os.environ.get("AZURE_OPENAI_AD_TOKEN", "").strip())
        headers = (
            str(value).strip()
            for name, value in self.extra_headers.items()
            if name.lower() == "authorization"
        )
        addresses = self.address, Address.of(os.environ.get("AZURE_OPENAI_ENDPOINT", ""))
        return _longest_first(
            {f"Bearer {key}" for key in keys if key}
            | {value for value in headers if " " in value}
            | {text for address in addresses for text in address.pairs}
        )

    @property
    def secrets(self) -> tuple[str, ...]:
        """What no message may repeat: the credentials, and the longer texts in the extra fields."""
        texts = {text for _, text in _texts(self.extra_body) if len(text) > 7}
        return _longest_first({*self.credentials, *texts})

    @property
    def settings(self) -> dict[str, str]:
        """What of this changes answers, for a manifest: the extra fields, which may hold secrets, hashed."""
        if not self.extra_body:
            return {}
        text = json.dumps(self.extra_body, sort_keys=True)
        return {"extra_body_sha256": hashlib.sha256(text.encode()).hexdigest()}


def _texts(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every text in a JSON value, after the names of the fields that lead to it."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for name, part in value.items():
            yield from _texts(part, f"{path}/{name}")
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts(part, path)


def _longest_first(secrets: set[str]) -> tuple[str, ...]:
    """Not empty ones; in an order in which none is taken for a part of another."""
    written = secrets | {json.dumps(text)[1:-1] for text in secrets}  # as JSON repeats them
    return tuple(sorted(written - {""}, key=len, reverse=True))
