"""Resolves `$ref` within a document, in files below its folder, and, if allowed, at http(s) addresses."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import unquote, urljoin, urlsplit, urlunsplit

from toolassay.errors import UsageError
from toolassay.importers.documents import DEEPEST, parse_document, read_document, too_deep
from toolassay.models.address import without_addresses
from toolassay.runs.event_loop import run_coroutine
from toolassay.version import __version__

_MOST_HOPS = 50
"""Longest chain of references to references."""
_MOST_SECONDS = 60.0  # for fetching all documents of an import
_MOST_REMOTE_BYTES = 64 * 2**20  # of them together

Key = TypeVar("Key")
Found = TypeVar("Found")


class Document:
    """A parsed document; compared by identity.

    Attributes:
        location: Path of its file without symbolic links, or its address.
        value: Its content.
    """

    __slots__ = ("_anchors", "location", "value")

    def __init__(self, location: Path | str, value: Any) -> None:
        self.location = location
        self.value = value
        self._anchors: dict[str, Any] | None = None

    @property
    def name(self) -> str:
        """Its file name without the ending."""
        path = self.location if isinstance(self.location, Path) else Path(urlsplit(self.location).path)
        return path.stem

    def anchored(self, anchor: str) -> Any:
        """The schema with this `$anchor`, `$dynamicAnchor` or `$id`; None if there is none."""
        if self._anchors is None:
            self._anchors = {}
            waiting = [self.value]
            seen = set()
            while waiting:
                value = waiting.pop()
                if id(value) in seen:  # shared by YAML aliases
                    continue
                seen.add(id(value))
                if isinstance(value, dict):
                    for key in ("$anchor", "$dynamicAnchor", "$id"):
                        if isinstance(value.get(key), str):
                            self._anchors.setdefault(value[key], value)
                    waiting += [item for item in value.values() if isinstance(item, dict | list)]
                elif isinstance(value, list):
                    waiting += [item for item in value if isinstance(item, dict | list)]
        return self._anchors.get(anchor)


class Node(NamedTuple):
    """A value and the document that its references are relative to."""

    value: Any
    document: Document

    def text(self, key: str) -> str:
        """The text under a key of an object, without space around it; empty if there is none."""
        text = self.value.get(key)
        return text.strip() if isinstance(text, str) else ""


class UnresolvedError(Exception):
    """A reference has no usable target; the text is one clause."""


class SchemaReferences:
    """The main document and those it refers to.

    Args:
        shown: The source without credentials and query, for reports.
        allow_remote: Whether documents are fetched.
        trusted_host: The host of the main document, if that is fetched.
        folder: The folder of the main document, if that is a file.

    Attributes:
        main: The main document.
    """

    main: Document

    def __init__(
        self,
        shown_source: str,
        *,
        allow_remote: bool,
        trusted_host: str | None = None,
        folder: Path | None = None,
    ) -> None:
        self.shown = shown_source
        self._allow_remote = allow_remote
        self._trusted_host = trusted_host
        self._folder = folder
        self._documents: dict[Path | str, Document | str] = {}
        self._resolved: dict[tuple[int, str], Node | str] = {}
        self._bytes = 0
        self._deadline = time.monotonic() + _MOST_SECONDS

    @classmethod
    def read(cls, source: str, *, allow_remote: bool = False) -> SchemaReferences:
        """Read the main document.

        Args:
            source: A path, or an http(s) address.
            allow_remote: Whether documents are fetched.

        Raises:
            UsageError: The main document cannot be read.
        """
        if is_address(source):
            shown_source = without_secrets(source)
            host = urlsplit(source).hostname
            if not allow_remote:
                raise UsageError(
                    "is an address", file=shown_source, fix="add --allow_remote, or download the document"
                )
            references = cls(shown_source, allow_remote=allow_remote, trusted_host=host)
            try:
                references.main = references._fetched(source)
            except UnresolvedError as error:
                raise UsageError(
                    str(error), file=shown_source, fix="download it and import the file"
                ) from None
        else:
            path = Path(source).resolve()
            references = cls(source, allow_remote=allow_remote, folder=path.parent)
            references.main = Document(path, read_document(Path(source)))
        if too_deep(references.main.value):
            raise UsageError(
                f"is nested more than {DEEPEST} levels deep", file=references.shown, fix="flatten it"
            )
        references._documents[references.main.location] = references.main
        return references

    def follow(self, node: Node) -> Node:
        """The value itself, or what its `$ref` leads to through a chain of references.

        Raises:
            UnresolvedError: The chain has no end, or an end that is missing.
        """
        for _ in range(_MOST_HOPS):
            reference = node.value.get("$ref") if isinstance(node.value, dict) else None
            if not isinstance(reference, str):
                return node
            node = self.resolve(reference, node.document)
        raise UnresolvedError("circular reference, or a chain that is too long")

    def resolve(self, reference: str, document: Document) -> Node:
        """The target of a reference, which may be a reference itself.

        Raises:
            UnresolvedError: It is missing, or may not be read.
        """
        key = id(document), reference
        return _cached(self._resolved, key, lambda: self._point(*self.located(reference, document)))

    def located(self, reference: str, document: Document) -> tuple[Document, str]:
        """The document of a reference, and the place in it.

        Raises:
            UnresolvedError: The document may not or cannot be read.
        """
        address, _, fragment = reference.partition("#")
        if not address:
            return document, unquote(fragment)
        if document.anchored(address) is not None:  # the `$id` of a schema of this document
            return document, fragment or address
        return self._load(address, document), unquote(fragment)

    def _point(self, document: Document, fragment: str, hops: int = 0) -> Node:
        """The value at a JSON pointer or anchor."""
        if hops > _MOST_HOPS:
            raise UnresolvedError("circular reference, or a chain that is too long")
        if fragment and not fragment.startswith("/"):
            value = document.anchored(fragment)
            if value is None:
                raise UnresolvedError("reference to a place that does not exist")
            return Node(value, document)
        node = Node(document.value, document)
        for token in pointer_tokens(fragment):
            value = node.value
            # A pointer through an object that is itself a reference: not in the standard, but in documents.
            if isinstance(value, dict) and token not in value and isinstance(value.get("$ref"), str):
                target, location = self.located(value["$ref"], node.document)
                node = self._point(target, location, hops + 1)
                value = node.value
            if isinstance(value, dict) and token in value:
                node = Node(value[token], node.document)
            elif isinstance(value, list) and token.isdecimal() and len(token) < 9 and int(token) < len(value):
                node = Node(value[int(token)], node.document)
            else:
                raise UnresolvedError("reference to a place that does not exist")
        return node

    def _load(self, address: str, document: Document) -> Document:
        """The document at an address relative to another one."""
        try:
            location = self._locate(address, document)
        except (ValueError, OSError):  # e.g. "http://[", a null character, a loop of symbolic links
            raise UnresolvedError("reference with a malformed address") from None
        return _cached(self._documents, location, lambda: self._read(location))

    def _locate(self, address: str, document: Document) -> Path | str:
        if isinstance(document.location, str):
            address = urljoin(document.location, address)
        if is_address(address):
            return address
        if urlsplit(address).scheme or self._folder is None:
            raise UnresolvedError("reference with a scheme other than http and https")
        assert isinstance(document.location, Path)
        path = (document.location.parent / unquote(urlsplit(address).path)).resolve()
        if not path.is_relative_to(self._folder):
            raise UnresolvedError("reference outside the document's folder")
        return path

    def _read(self, location: Path | str) -> Document:
        if isinstance(location, str):
            return self._fetched(location)
        if not location.is_file():  # a folder, a device or a pipe
            raise UnresolvedError("reference to a file that does not exist")
        try:
            return _checked(location, read_document(location))
        except UsageError as error:
            raise UnresolvedError(f"referenced file {error.reason}") from None

    def _fetched(self, address: str) -> Document:
        if not self._allow_remote:
            raise UnresolvedError("remote reference without --allow_remote")
        try:
            body, address = fetch(
                address,
                trusted_host=self._trusted_host,
                most_bytes=_MOST_REMOTE_BYTES - self._bytes,
                seconds=max(0.01, self._deadline - time.monotonic()),
            )
            self._bytes += len(body)
            return _checked(address, parse_document(body.decode("utf-8-sig"), without_secrets(address)))
        except UnicodeDecodeError:
            raise UnresolvedError("remote document is not UTF-8 text") from None
        except UsageError as error:
            raise UnresolvedError(f"remote document {error.reason}") from None


def is_address(source: str) -> bool:
    """Whether this is an http(s) address.

    >>> is_address("HTTPS://example.com/api.json"), is_address("api.json")
    (True, False)
    """
    return source[:8].lower().startswith(("http://", "https://"))


def without_secrets(address: str) -> str:
    """An address without credentials, query and fragment.

    >>> without_secrets("https://ann:secret@example.com/v1?key=7#top")
    'https://example.com/v1'
    """
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def shown(reference: Any) -> str:
    """A reference for a report: not too long, and an address without credentials and query.

    >>> shown("https://ann:secret@example.com/a.json?key=7#/Pet"), shown("#/definitions/Pet")
    ('https://example.com/a.json', '#/definitions/Pet')
    """
    text = str(reference)
    return (without_secrets(text) if is_address(text) else text)[:100]


def pointer_tokens(fragment: str) -> list[str]:
    """The tokens of a JSON pointer.

    >>> pointer_tokens("/paths/~1pets~1{id}/get")
    ['paths', '/pets/{id}', 'get']
    """
    return [token.replace("~1", "/").replace("~0", "~") for token in fragment.split("/")[1:]]


def _cached(cache: dict[Key, Found | str], key: Key, find: Callable[[], Found]) -> Found:
    """What is found for a key, or the same failure, each time."""
    if key not in cache:
        try:
            cache[key] = find()
        except UnresolvedError as error:
            cache[key] = str(error)
    cached = cache[key]
    if isinstance(cached, str):
        raise UnresolvedError(cached)
    return cached


def _checked(location: Path | str, value: Any) -> Document:
    if too_deep(value):
        raise UnresolvedError(f"referenced document is nested more than {DEEPEST} levels deep")
    return Document(location, value)


# A chain of more redirects is a loop or a trap.
_MOST_REDIRECTS = 5
_IDLE = 10.0  # seconds without a byte
_REDIRECTS = (301, 302, 303, 307, 308)
_HEADERS = {
    "Accept": "application/json, application/yaml, */*;q=0.5",
    "User-Agent": f"toolassay/{__version__}",
}


def fetch(address: str, *, trusted_host: str | None, most_bytes: int, seconds: float) -> tuple[bytes, str]:
    """Download one document.

    The IP address of each connection is checked before it is made. Proxies are not used.

    Args:
        address: An http or https address. Credentials in it are not sent.
        trusted_host: Host that may have a private or loopback address: the one that the user named.
        most_bytes: Maximum size.
        seconds: Time limit, redirects included.

    Returns:
        The body, and the address after redirects.

    Raises:
        UnresolvedError: It cannot be fetched, exceeds a bound, or is on a private network.
    """
    import aiohttp

    try:
        return run_coroutine(asyncio.wait_for(_fetch(address, trusted_host, most_bytes), seconds))
    except (aiohttp.ClientError, OSError, ValueError) as error:
        if isinstance(error, TimeoutError) and not isinstance(error, aiohttp.ClientError):
            raise UnresolvedError(f"remote document: no complete answer within {seconds:.0f} s") from None
        reason = without_addresses(str(getattr(error, "strerror", None) or error)) or type(error).__name__
        reason = " ".join(reason.split())[:100]
        raise UnresolvedError(f"remote document cannot be fetched: {reason}") from None


async def _fetch(address: str, trusted_host: str | None, most_bytes: int) -> tuple[bytes, str]:
    import aiohttp

    timeout = aiohttp.ClientTimeout(total=None, sock_connect=_IDLE, sock_read=_IDLE)
    for _ in range(_MOST_REDIRECTS + 1):
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UnresolvedError("remote document is no http(s) address")
        plain = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))

        def checked(info: Any, is_trusted: bool = parts.hostname == trusted_host) -> socket.socket:
            if not is_trusted and not is_public(str(info[4][0])):
                raise UnresolvedError("remote document is on a private network")
            return socket.socket(*info[:3])

        # Without a delay, the first address of a host is tried alone, and what `checked` raises arrives here.
        connector = aiohttp.TCPConnector(socket_factory=checked, happy_eyeballs_delay=None)
        async with (
            aiohttp.ClientSession(connector=connector, headers=_HEADERS, timeout=timeout) as session,
            session.get(plain, allow_redirects=False) as response,
        ):
            location = response.headers.get("Location")
            if response.status in _REDIRECTS and location:
                scheme = parts.scheme
                address = urljoin(address, location)
                if urlsplit(address).scheme not in ("https", scheme):
                    raise UnresolvedError("remote document is redirected to another scheme")
                continue
            if response.status != 200:
                raise UnresolvedError(f"remote document is answered with status {response.status}")
            body = bytearray()
            async for chunk in response.content.iter_any():
                body += chunk
                if len(body) > most_bytes:
                    raise UnresolvedError(f"remote document is larger than {most_bytes >> 20} MiB")
            return bytes(body), address
    raise UnresolvedError(f"remote document is redirected more than {_MOST_REDIRECTS} times")


def is_public(ip: str) -> bool:
    """Whether an IP address is one of the public internet.

    >>> is_public("9.9.9.9"), is_public("10.0.0.1"), is_public("::ffff:127.0.0.1")
    (True, False, False)
    """
    address = ipaddress.ip_address(ip.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    return address.is_global and not address.is_multicast
