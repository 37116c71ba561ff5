"""`ModelOptions`: address, credentials, extra fields and time-outs of a model server."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from toolassay.declarations import Option
from toolassay.errors import UsageError
from toolassay.models.address import LIST_COMMA, Address, VersionPath
from toolassay.models.refused_parameters import Refusals
from toolassay.models.structured_output import SchemaForms

ClientName = Literal["aiohttp", "openai"]
BatchKind = Literal["openai", "vllm"]
"""How requests are sent as a batch: with OpenAI's Batch API, or as a file for vLLM's `run_batch`."""

DEFAULT_ADDRESS = "localhost"
DEFAULT_PORT = 4000
# Attempts of one request, the first one included.
MAX_TRIES = 8
TIMEOUT = 600.0
"""Seconds without a byte. An answer that is not streamed is silent until it is complete, queue included."""
TOTAL_TIMEOUT = 3600.0
"""Seconds for one attempt."""
Api = Literal["chat", "responses", "messages"]
PATHS: dict[Api, str] = {"chat": "/chat/completions", "responses": "/responses", "messages": "/messages"}
"""The paths of requests, by API."""
# Value of `anthropic-version`, a header without which the Messages API refuses a request.
_MESSAGES_VERSION = "2023-06-01"

DOTENV: dict[str, str] = {}
"""Variables of the file `.env` of the current folder that the environment does not have; commands fill it."""

# Names of fields that hold credentials: matches "x-api-key" and "password", not "presence_penalty".
_SECRET_NAME = re.compile("key|token|secret|passw|credential|auth|cookie", re.IGNORECASE)


def _object_in(path: str) -> dict[str, Any]:
    """The object in a JSON file.

    Raises:
        UsageError: It is no object.
    """
    from toolassay.files.data_files import read_json

    value = read_json(Path(path))
    if not isinstance(value, dict):
        raise UsageError("the file is not a JSON object", file=path, fix='write {"field": value}')
    return value


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """Where a model server is and how to talk to it. Fields that may hold secrets are not in the `repr`.

    The time-outs do not affect the answers, so a run may be continued with other ones. None of the fields
    without a flag is recorded.

    Attributes:
        connections: Maximum concurrent requests; None adapts the limit to the server.
        sampling: Sampling parameters that the user set; they are sent even if the server refuses them.
        refusals: Known parameters that the endpoint refuses; None starts without any.
        version_path: Whether the address lacks `/v1`, if known.
        schemas: Form in which the endpoint accepts a JSON schema, if known.
        require_schema: Whether to end the run if the server accepts no JSON schema.
        tell: Called with notices for the user, such as a long wait.
        make_transport: `make_transport(name, options)` gives the `Transport` of a model, instead of `client`.
    """

    section = "Server"

    api_base: Annotated[
        str | None,
        Option(
            "Base URL of an OpenAI-compatible server, e.g. https://host/v1 [default: OPENAI_BASE_URL, else "
            "http://localhost:4000/v1].",
            common=True,
        ),
    ] = field(default=None, repr=False)
    api_addr: Annotated[str | None, Option("Host of the server.", hidden=True)] = None
    api_port: Annotated[int | None, Option("Port of the server.", minimum=1, maximum=65535, hidden=True)] = (
        None
    )
    api_key: Annotated[
        str | None,
        Option("API key. Never stored. Prefer OPENAI_API_KEY, in the environment or in a .env file."),
    ] = field(default=None, repr=False)
    api: Annotated[
        Api | None,
        Option(
            "API of the server: OpenAI's Chat Completions or Responses, or Anthropic's Messages, whose key "
            "is "
            "ANTHROPIC_API_KEY [default: by the address, else chat]."
        ),
    ] = None
    connections: int | None = None
    sampling: Mapping[str, float] = field(default_factory=dict)
    extra_body: Annotated[
        Mapping[str, Any],
        Option(
            "JSON file with additional fields of the request body; null omits a parameter that would be sent "
            'by default, e.g. {"presence_penalty": null}.',
            metavar="PATH",
            read=_object_in,
        ),
    ] = field(default_factory=dict, repr=False)
    extra_headers: Annotated[
        Mapping[str, str],
        Option("JSON file with additional HTTP headers.", metavar="PATH", read=_object_in),
    ] = field(default_factory=dict, repr=False)
    client: Annotated[
        ClientName,
        Option("HTTP client. 'openai' is OpenAI's SDK, for proxies and Azure (AZURE_OPENAI_ENDPOINT)."),
    ] = "aiohttp"
    stream: Annotated[
        bool, Option("Stream answers token by token; also measures the time to the first token.")
    ] = False
    max_tries: Annotated[
        int,
        Option(
            "Maximum attempts per request. The count restarts after a 429 while the server answers other "
            "requests.",
            minimum=1,
        ),
    ] = MAX_TRIES
    refusals: Refusals | None = field(default=None, repr=False, compare=False)
    version_path: VersionPath | None = field(default=None, repr=False, compare=False)
    schemas: SchemaForms | None = field(default=None, repr=False, compare=False)
    require_schema: bool = False
    tell: Callable[[str], None] | None = field(default=None, repr=False, compare=False)
    timeout: Annotated[
        float,
        Option("Seconds without a byte from the server after which an attempt ends.", minimum=0, above=True),
    ] = TIMEOUT
    total_timeout: Annotated[float, Option("Maximum seconds of one attempt.", minimum=0, above=True)] = (
        TOTAL_TIMEOUT
    )
    batch: Annotated[
        BatchKind | None,
        Option(
            "Send all requests as a batch. openai: by the server's Batch API, at half the price, within a "
            "day; vllm: a file for vLLM's run_batch, which you run; then repeat the command."
        ),
    ] = None
    make_transport: Callable[[str, ModelOptions], Any] | None = field(default=None, repr=False, compare=False)

    def check_sources(self) -> None:
        """Refuse to send a key from elsewhere to an address that `.env` names, which may not be the user's.

        Raises:
            UsageError: Names both sources.
        """
        if self.api_base or self.api_addr is not None or self.api_port is not None:
            return
        azure = self.client == "openai" and bool(os.environ.get("AZURE_OPENAI_ENDPOINT"))
        address = "AZURE_OPENAI_ENDPOINT" if azure else "OPENAI_BASE_URL"
        from_file = {name for name, value in DOTENV.items() if os.environ.get(name, value) == value}
        if address not in from_file:
            return
        named_variables = {self.key_variable}
        if self.client == "openai":  # the SDK sends what this variable holds
            named_variables.add("OPENAI_CUSTOM_HEADERS")
        if azure:
            named_variables |= {"AZURE_OPENAI_API_KEY", "AZURE_OPENAI_AD_TOKEN"}
        sources = {
            "--api_key": bool(self.api_key),
            "--extra_headers": any(map(_SECRET_NAME.search, self.extra_headers)),
            "--extra_body": bool(self.secret_fields),
            **{
                f"{name} of the environment": bool(os.environ.get(name))
                for name in named_variables - from_file
            },
        }
        for source, is_given in sources.items():
            if is_given:
                raise UsageError(
                    f"{address} comes from .env, and the key from {source}: it is not sent to that address",
                    fix="if the address is right, pass it with --api_base",
                )

    @property
    def base_url(self) -> str:
        """`api_base`, else `api_addr` and `api_port`, else OPENAI_BASE_URL, else localhost:4000.

        Raises:
            UsageError: It is a list of addresses.
        """
        base_url = self.api_base
        if not base_url and self.api_addr is None and self.api_port is None:
            base_url = os.environ.get("OPENAI_BASE_URL")
        if base_url:
            if LIST_COMMA.search(base_url) or ("://" not in base_url and Path(base_url).is_file()):
                raise UsageError(
                    "--api_base and OPENAI_BASE_URL take one URL, not a list",
                    fix="put a router in front of several servers (docs/servers.md, Several servers)",
                )
            return base_url.rstrip("/")
        address = (self.api_addr or DEFAULT_ADDRESS).removeprefix("http://").rstrip("/")
        if address.count(":") > 1 and "[" not in address and "//" not in address:
            address = f"[{address}]"  # a bare IPv6 address
        scheme = "" if address.startswith("https://") else "http://"
        return f"{scheme}{address}:{self.api_port or DEFAULT_PORT}/v1"

    @property
    def endpoint(self) -> str:
        """The address of the requests, redacted."""
        return self.address.shown

    @property
    def dialect(self) -> Api:
        """`api`, else the API whose path ends the address, else that of the host: chat but at Anthropic."""
        if self.api:
            return self.api
        base = Address.of(self.base_url)
        at_host: Api = "messages" if base.host == "api.anthropic.com" else "chat"
        return next((api for api, path in PATHS.items() if base.url.endswith(path)), at_host)

    @property
    def key_variable(self) -> str:
        """The variable of the environment that has the key, so that no provider gets that of another one."""
        return "ANTHROPIC_API_KEY" if self.dialect == "messages" else "OPENAI_API_KEY"

    @property
    def key(self) -> str | None:
        """`api_key`, else `key_variable`; stripped, because keys read from files end in a newline."""
        return (self.api_key or os.environ.get(self.key_variable) or "").strip() or None

    @property
    def address(self) -> Address:
        """The parsed base URL, without a trailing path of the API, which every request adds.

        For Azure, AZURE_OPENAI_ENDPOINT.
        """
        address = Address.of(os.environ["AZURE_OPENAI_ENDPOINT"] if self.is_azure else self.base_url)
        return replace(address, url=address.url.removesuffix(PATHS[self.dialect]).rstrip("/"))

    @property
    def names_a_request(self) -> bool:
        """Whether the base URL ends in the path of the API, as in many manuals."""
        return Address.of(self.base_url).url.endswith(PATHS[self.dialect])

    @property
    def shown_url(self) -> str:
        """The URL of a request for messages, with the `/v1` that was added; redacted."""
        version_path = self.version_path.path if self.version_path and self.version_path.is_found else ""
        return self.address.shown_url(version_path + PATHS[self.dialect])

    @property
    def is_azure(self) -> bool:
        """Whether the SDK connects to Azure: AZURE_OPENAI_ENDPOINT is set and no address is given."""
        own_address = self.api_base or self.api_addr or self.api_port
        return self.client == "openai" and not own_address and bool(os.environ.get("AZURE_OPENAI_ENDPOINT"))

    @property
    def authorization(self) -> str | None:
        """The Authorization header, from the key or the login in the address.

        None without either, and if `extra_headers` set that header.

        Raises:
            ValueError: There are both a key and a login.
        """
        login = self.address.authorization
        if any(name.lower() == "authorization" for name in self.extra_headers):
            return None
        if login and self.key:
            raise ValueError("it holds a login, and there is a key too: remove one of them")
        return login or (f"Bearer {self.key}" if self.key and self.dialect != "messages" else None)

    @property
    def key_headers(self) -> dict[str, str]:
        """The headers with the key, except those in `extra_headers`; raises as `authorization` does."""
        headers = {"Authorization": self.authorization}
        if self.dialect == "messages":
            headers |= {"x-api-key": self.key, "anthropic-version": _MESSAGES_VERSION}
        own_headers = {name.lower() for name in self.extra_headers}
        return {name: text for name, text in headers.items() if text and name.lower() not in own_headers}

    @property
    def headers(self) -> dict[str, str]:
        """The headers of every request besides those with the key.

        Streams without TLS close their connection: llama.cpp does so after each, though it announces
        `Keep-Alive`, and the next request would be lost.
        """
        closing = {"Connection": "close"} if self.stream and self.base_url.startswith("http:") else {}
        return closing | {name: str(value) for name, value in self.extra_headers.items()}

    @property
    def credentials(self) -> tuple[str, ...]:
        """Every credential, longest first.

        Keys, header values, fields of `extra_body` with a name such as "token", and the login, unknown path
        segments and query of the address.
        """
        azure = (
            os.environ.get(name, "").strip() for name in ("AZURE_OPENAI_API_KEY", "AZURE_OPENAI_AD_TOKEN")
        )
        keys = {self.key or "", *azure, *self.pairs}
        addresses = self.address, Address.of(os.environ.get("AZURE_OPENAI_ENDPOINT", ""))
        headers = [str(value).strip() for value in self.extra_headers.values()]
        schemeless = [value.rpartition(" ")[2] for value in headers]
        fields = [text for path, text in _texts(self.extra_body) if _SECRET_NAME.search(path)]
        candidates = {*headers, *schemeless, *fields, *(text for a in addresses for text in a.credentials)}
        # A header value such as "1" or "true" is no secret; redacting it would garble messages.
        return _longest_first(keys | {value for value in candidates if len(value) > 5})

    @property
    def secret_fields(self) -> tuple[str, ...]:
        """Paths of the fields of `extra_body` whose names say that they hold a credential."""
        return tuple(path[1:] for path, _ in _texts(self.extra_body) if _SECRET_NAME.search(path))

    @property
    def pairs(self) -> tuple[str, ...]:
        """Credentials that no text contains by chance, however short: "Bearer KEY", "name:password"."""
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
        """Every text to redact in messages: `credentials`, and texts of over 7 letters in `extra_body`."""
        texts = {text for _, text in _texts(self.extra_body) if len(text) > 7}
        return _longest_first({*self.credentials, *texts})

    def chosen(self, parameters: Mapping[str, Any]) -> set[str]:
        """Names of the parameters of a request that the user set, here or in `extra_body`."""
        own_sampling = {name for name, value in self.sampling.items() if parameters.get(name) == value}
        return own_sampling | (parameters.keys() & self.extra_body.keys())

    @property
    def settings(self) -> dict[str, str]:
        """Settings that affect answers, for the manifest: a hash of `extra_body`, as it may hold secrets."""
        if not self.extra_body:
            return {}
        text = json.dumps(self.extra_body, sort_keys=True)
        return {"extra_body_sha256": hashlib.sha256(text.encode()).hexdigest()}


def _texts(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield (path, text) for every string in a JSON value; the path joins the field names with "/"."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for name, part in value.items():
            yield from _texts(part, f"{path}/{name}")
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts(part, path)


def _longest_first(secrets: set[str]) -> tuple[str, ...]:
    """Non-empty secrets, longest first, so that none is replaced as a part of another one."""
    written = secrets | {
        json.dumps(text)[1:-1] for text in secrets
    }  # with JSON escapes, as servers echo them
    return tuple(sorted(written - {""}, key=len, reverse=True))
