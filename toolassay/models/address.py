"""Base URLs: parsing, redaction, and the missing `/v1`.

`VersionPath` tries `/v1` once after a 404 and keeps it if the server then answers.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote, unquote_plus

HIDDEN = "***"
# Splits off the scheme, which may be redacted already: "https://host/v1" and "***://host" have one,
# "localhost:4000" has none. `urllib.parse` is not used: it rejects or misreads unescaped passwords.
_PARTS = re.compile(r"(?P<scheme>(?:[\w+.-]+|\*{3})://)?(?P<rest>.*)", re.DOTALL)
# Path segments that are shown; any other may be a key or the name of a customer.
_PATH_WORD = re.compile(
    "ai|apis?|azure|azureml|chat|coding|compat|compatible-mode|completions?|deployments|embeddings|engines|gateway"
    "|generate|inference|llm|mcp|messages|models?|oai|openai|paas|proxy|public|responses|rest|score|serving"
    "|serving-endpoints|sse",
    re.IGNORECASE,
)
# A version segment of a path: matches "v1", "v1beta" and "v2alpha1", not "v1secret".
_VERSION = re.compile(r"v\d{1,2}([._]\d{1,2})?((alpha|beta|preview)\d{0,2})?", re.IGNORECASE)
# The name of a query parameter: matches "api-version", not "sk-1234", the first part of the key "sk-1234="
# whose padding looks like an equals sign.
_QUERY_NAME = re.compile(r"[A-Za-z][A-Za-z_.-]{0,23}")
# A host with its port: matches "http://my-host", "https://[fe80::1%eth0]:80" and "localhost:4000", not
# "http://host:sk-1" or "sk-1", which may be keys. Without a scheme only names with dots, and plain words.
_PLACE = re.compile(
    r"((https?://)(\[[0-9a-fA-F:.]+(%[\w.-]+)?\]|[\w.-]*)|\[[0-9a-fA-F:.]+(%[\w.-]+)?\]|[\w-]+(\.[\w-]+)+"
    r"|[A-Za-z ]{0,20})(:[0-9]{0,5})?",
    re.IGNORECASE,
)
# An address inside a text: matches "https://host/v1?key=2", ends before blanks, quotes and angle brackets.
# "host/v1" without a scheme is not one.
_IN_TEXT = re.compile(r"[A-Za-z][\w+.-]*://[^\s'\"<>]+")
# The comma between two addresses: matches ", " in "http://a/v1, http://b", no comma in "http://a:1,2@b/v1".
LIST_COMMA = re.compile(r",\s*(?=[A-Za-z][\w+.-]*://)")


@dataclass(frozen=True, slots=True)
class Address:
    """A parsed base URL.

    Attributes:
        url: Scheme, host, port and path; the path may contain a key.
        login: `name:password` before the host, as written; empty without one.
        query: Everything after the question mark, without the fragment.

    >>> Address.of("https://me:secret@host/v1?tenant=7").url
    'https://host/v1'
    """

    url: str = field(repr=False)
    login: str = field(default="", repr=False)
    query: str = field(default="", repr=False)

    @classmethod
    def of(cls, base_url: str) -> Address:
        """Parse a URL. A `/`, `?` or `#` in a password need not be escaped.

        >>> Address.of("http://me:se/cret@host:80/v1").url
        'http://host:80/v1'
        """
        match = _PARTS.fullmatch(base_url)
        assert match is not None
        scheme = match["scheme"] or ""
        remainder = match["rest"]
        login, remainder = _login(remainder)
        base, _, query = remainder.partition("#")[0].partition("?")
        return cls(scheme + base.rstrip("/"), login, query)

    def to(self, path: str) -> str:
        """The URL of `path` below this address, with the query and without the login.

        >>> Address.of("https://me:secret@host/v1?tenant=7").to("/models")
        'https://host/v1/models?tenant=7'
        """
        return f"{self.url}{path}{'?' if self.query else ''}{self.query}"

    @property
    def shown(self) -> str:
        """The redacted address: scheme, host, port and known path words.

        The login, a malformed scheme, host or port, other path segments and the values of the query become
        `***`. Redacting twice changes nothing.

        >>> Address.of("https://me:secret@host/tenant-7/v1?key=abc&version=2").shown
        'https://***@host/***/v1?key=***&version=***'
        """
        parts = (part.partition("=") for part in self.query.split("&") if part)
        query = "&".join(_query_part(name, value) if equals else HIDDEN for name, equals, value in parts)
        return f"{self.shown_url(with_login=True)}{'?' if query else ''}{query}"

    def shown_url(self, path: str = "", *, with_login: bool = False) -> str:
        """The redacted address without the query, followed by `path`, for messages.

        >>> Address.of("https://host/sk-123/v1").shown_url("/chat/completions")
        'https://host/***/v1/chat/completions'
        """
        scheme, host, segments = self._parts
        if not _PLACE.fullmatch(scheme + host):
            scheme = ""
            host = HIDDEN
        login = f"{HIDDEN}@" if with_login and self.login else ""
        shown = (segment if _is_known(segment) else HIDDEN for segment in segments)
        return "/".join([f"{scheme}{login}{host}", *shown]) + path

    @property
    def fingerprint(self) -> str | None:
        """`sha256` if `shown` hides a part of the path, else None.

        Distinguishes two endpoints with the same redacted address.
        """
        return None if all(_is_known(segment) for segment in self._parts[2]) else self.sha256

    @property
    def sha256(self) -> str:
        """The first 16 digits of a hash of `url`."""
        return hashlib.sha256(self.url.encode(errors="replace")).hexdigest()[:16]

    @property
    def host(self) -> str:
        """The host without scheme, port and brackets.

        >>> Address.of("http://[::1]:8000/v1").host, Address.of("https://api.host.com/v1").host
        ('::1', 'api.host.com')
        """
        host = self._parts[1]
        return host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]

    @property
    def has_version(self) -> bool:
        """Whether the path contains a version of the API.

        >>> Address.of("https://host/api/v1").has_version, Address.of("https://host/api").has_version
        (True, False)
        """
        return any(_VERSION.fullmatch(segment) for segment in self._parts[2])

    @property
    def authorization(self) -> str | None:
        """The Basic Authorization header of the login; None without one."""
        if not self.login:
            return None
        name, _, password = self.login.partition(":")
        return f"Basic {base64.b64encode(f'{unquote(name)}:{unquote(password)}'.encode()).decode()}"

    @property
    def parameters(self) -> dict[str, str]:
        """The decoded parameters of the query."""
        return dict(parse_qsl(self.query, keep_blank_values=True))

    @property
    def credentials(self) -> list[str]:
        """Every part that may be a credential, as written and decoded; may contain empty strings.

        `redaction.without` finds other percent-encoded spellings.
        """
        values = [part.partition("=")[2] or part for part in self.query.split("&")]
        hidden = [segment for segment in self._parts[2] if not _is_known(segment)]
        scheme, host, _ = self._parts
        no_place = [] if _PLACE.fullmatch(scheme + host) else [scheme.removesuffix("://"), *host.split(":")]
        written = [self.login, *self.login.split(":", 1), *values, *hidden, *no_place]
        decoded = [*map(unquote, written), *map(unquote_plus, values)]
        return [*written, *decoded, (self.authorization or "").removeprefix("Basic ")]

    @property
    def pairs(self) -> list[str]:
        """`name:password` as written, decoded and as a header; empty unless there are both."""
        if not all(self.login.partition(":")):
            return []
        return [self.login, unquote(self.login), self.authorization or ""]

    @property
    def _parts(self) -> tuple[str, str, list[str]]:
        """Scheme, host with port, and path segments."""
        match = _PARTS.fullmatch(self.url)
        assert match is not None
        host, *segments = match["rest"].split("/")
        return match["scheme"] or "", host, segments


def without_addresses(text: str) -> str:
    """Redact every address in a text.

    >>> without_addresses("no answer from https://me:pw@host/sk-1/v1?key=2, sorry")
    'no answer from https://***@host/***/v1?key=***, sorry'
    """
    return _IN_TEXT.sub(lambda match: "".join(_shown_in_text(match[0])), text)


def _shown_in_text(address: str) -> Iterator[str]:
    """Yield the redacted address, then the punctuation after it, which belongs to the sentence."""
    bare = address.rstrip(",.;:)]}")
    yield Address.of(bare).shown if bare.partition("://")[2] else bare
    yield address[len(bare) :]


def _is_known(segment: str) -> bool:
    return segment in ("", HIDDEN) or any(pattern.fullmatch(segment) for pattern in (_PATH_WORD, _VERSION))


def _query_part(name: str, value: str) -> str:
    is_shown = _QUERY_NAME.fullmatch(name) and value.strip("=")
    return f"{name if is_shown else HIDDEN}={HIDDEN}"


def _login(remainder: str) -> tuple[str, str]:
    """Split into the login before the host and the rest."""
    authority = re.split(r"[/?#]", remainder, maxsplit=1)[0]
    if "@" in authority:
        login = authority.rpartition("@")[0]
        return login, remainder[len(login) + 1 :]
    port = authority.rpartition(":")[2]
    if "@" in remainder and ":" in authority and not authority.endswith("]") and not port.isdecimal():
        # Not a port, so the colon belongs to a login whose password contains an unescaped "/", "?" or "#".
        login, _, remainder = remainder.rpartition("@")
        return login, remainder
    return "", remainder


VERSION_PATH = "/v1"
_MISSING = range(300, 400), (404, 405)
"""Statuses of a wrong path; every other status comes from the API."""


class VersionPath:
    """The path between the address and `/chat/completions`: nothing, or `/v1`.

    Args:
        address: Base URL; one that contains a version is left unchanged.
        known: The path that an earlier start of the run found.
        on_change: Called once when `/v1` is found to work.

    Attributes:
        path: Path for the next request.
        found: Whether the server has answered under `path`.
    """

    def __init__(
        self,
        address: Address,
        known_path: str | None = None,
        on_change: Callable[[str], None] = lambda path: None,
    ) -> None:
        self.path = known_path or ""
        self.is_found = bool(known_path)
        self._untried = not known_path and not address.has_version
        self._on_change = on_change

    def learn(self, sent_path: str, status: int | None) -> bool:
        """Learn from the status of a response; whether to send the request again.

        Args:
            sent_path: Path that the request was sent with.
            status: HTTP status; None without a response.

        >>> paths = VersionPath(Address.of("http://host"))
        >>> paths.learn(paths.path, 404), paths.path, paths.learn(paths.path, 200), paths.is_found
        (True, '/v1', False, True)
        """
        if status is None:
            return False
        if not any(status in statuses for statuses in _MISSING):
            if not sent_path:
                self._untried = False
            elif not self.is_found:
                self.is_found = True
                self.path = sent_path
                self._on_change(sent_path)
            return False
        if sent_path:
            if not self.is_found:
                self.path = ""
            return False
        if self._untried and status not in _MISSING[0]:
            self._untried = False
            self.path = VERSION_PATH
        return self.path != sent_path
