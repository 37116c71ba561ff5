"""Downloads a document, with bounds on size and time, and not from private networks."""

from __future__ import annotations

import http.client
import ipaddress
import socket
import threading
import time
from contextlib import ExitStack, suppress
from typing import Any
from urllib.parse import SplitResult, urljoin, urlsplit

from toolassay.version import __version__

_MOST_REDIRECTS = 5
_IDLE = 10.0  # seconds without a byte
_REDIRECTS = (301, 302, 303, 307, 308)


class FetchError(Exception):
    """A document cannot be fetched; the text is one clause."""


def fetch(address: str, *, trusted_host: str | None, most_bytes: int, seconds: float) -> tuple[bytes, str]:
    """Download one document.

    Each connection is made to the IP address that was checked, so a second DNS answer changes nothing.
    Proxies are not used.

    Args:
        address: An http or https address. Credentials in it are not sent.
        trusted_host: Host that may have a private or loopback address: the one that the user named.
        most_bytes: Maximum size.
        seconds: Time limit, redirects included.

    Returns:
        The body, and the address after redirects.

    Raises:
        FetchError: It cannot be fetched, exceeds a bound, or is on a private network.
    """
    deadline = time.monotonic() + seconds
    for _ in range(_MOST_REDIRECTS + 1):
        try:
            body, location = _get(urlsplit(address), trusted_host, most_bytes, deadline)
        except (OSError, http.client.HTTPException, ValueError) as error:
            if time.monotonic() >= deadline:
                raise FetchError(f"no complete answer within {seconds:.0f} s") from None
            raise FetchError(f"cannot be fetched: {_reason(error)}") from None
        if body is not None:
            return body, address
        target = urljoin(address, location)
        if urlsplit(target).scheme not in ("https", urlsplit(address).scheme):
            raise FetchError("is redirected to another scheme")
        address = target
    raise FetchError(f"is redirected more than {_MOST_REDIRECTS} times")


def _get(
    parts: SplitResult, trusted_host: str | None, most_bytes: int, deadline: float
) -> tuple[bytes | None, str]:
    """The body of an answer, or None and where it redirects to."""
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise FetchError("is no http(s) address")
    port = parts.port or (443 if parts.scheme == "https" else 80)
    ip = _checked_ip(parts.hostname, port, trusted_host)
    connection_class = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection: Any = connection_class(parts.hostname, port, timeout=_IDLE)
    with ExitStack() as stack:
        stack.callback(connection.close)

        def connect(*_: Any) -> socket.socket:
            """Connect to the checked IP; at the deadline end the connection, whatever it is waiting for."""
            raw = socket.create_connection((ip, port), timeout=max(0.01, min(_IDLE, _left(deadline))))
            watched = stack.enter_context(raw.dup())  # TLS detaches `raw`
            timer = threading.Timer(max(0.0, _left(deadline)), _shut_down, [watched])
            timer.daemon = True
            timer.start()
            stack.callback(timer.cancel)
            return raw

        connection._create_connection = connect
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        accepted = "application/json, application/yaml, */*;q=0.5"
        connection.request(
            "GET", target, headers={"Accept": accepted, "User-Agent": f"toolassay/{__version__}"}
        )
        response = connection.getresponse()
        if response.status in _REDIRECTS and response.getheader("Location"):
            return None, str(response.getheader("Location"))
        if response.status != 200:
            raise FetchError(f"is answered with status {response.status}")
        body = bytearray()
        while _left(deadline) > 0 and (chunk := response.read1(1 << 16)):
            body += chunk
            if len(body) > most_bytes:
                raise FetchError(f"is larger than {most_bytes >> 20} MiB")
        if _left(deadline) <= 0:
            raise TimeoutError
        if response.length:  # `read1` reports a connection that ended early as the end of the body
            raise FetchError("cannot be fetched: the connection ended early")
        return bytes(body), ""


def _left(deadline: float) -> float:
    return deadline - time.monotonic()


def _shut_down(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


def _checked_ip(host: str, port: int, trusted_host: str | None) -> str:
    """An IP address of a host, all of whose addresses are public unless the host is trusted."""
    found = [str(info[4][0]) for info in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    if host != trusted_host and not all(map(is_public, found)):
        raise FetchError("is on a private network")
    return found[0]


def is_public(ip: str) -> bool:
    """Whether an IP address is one of the public internet.

    >>> is_public("9.9.9.9"), is_public("10.0.0.1"), is_public("::ffff:127.0.0.1")
    (True, False, False)
    """
    address = ipaddress.ip_address(ip.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    return address.is_global and not address.is_multicast


def _reason(error: Exception) -> str:
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return " ".join(str(text).split())[:100]
