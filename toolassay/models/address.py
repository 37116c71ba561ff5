"""A base URL taken apart: what may be shown, and what lets somebody in."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote

_PARTS = re.compile(r"(?P<scheme>[\w+.-]+://)?(?P<rest>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Address:
    """Where requests go.

    Attributes:
        url: scheme, host, port and path: may be shown.
        login: `name:password` as it was written in front of the host; empty without one.
        query: what stood after the question mark.

    >>> Address.of("https://me:secret@host/v1?tenant=7").url
    'https://host/v1'
    """

    url: str
    login: str = field(default="", repr=False)
    query: str = field(default="", repr=False)

    @classmethod
    def of(cls, base_url: str) -> Address:
        """Take a URL apart. A `/`, `?` or `#` in a password need not be escaped.

        >>> Address.of("http://me:se/cret@host:80/v1").url
        'http://host:80/v1'
        """
        found = _PARTS.fullmatch(base_url)
        assert found is not None
        scheme, rest = found["scheme"] or "", found["rest"]
        login, rest = _login(rest)
        place, _, query = rest.partition("#")[0].partition("?")
        return cls(scheme + place.rstrip("/"), login, query)

    def to(self, path: str) -> str:
        """The URL of something below it, query included, login left out.

        >>> Address.of("https://me:secret@host/v1?tenant=7").to("/models")
        'https://host/v1/models?tenant=7'
        """
        return f"{self.url}{path}{'?' if self.query else ''}{self.query}"

    @property
    def shown(self) -> str:
        """It as it may be shown: without login, and without the values of its query.

        >>> Address.of("https://me:secret@host/v1?key=abc&version=2").shown
        'https://host/v1?key=***&version=***'
        """
        parts = (part.partition("=") for part in self.query.split("&") if part)
        query = "&".join(f"{name}=***" if equals else "***" for name, equals, _ in parts)
        return f"{self.url}{'?' if query else ''}{query}"

    @property
    def authorization(self) -> str | None:
        """The header that the login comes to."""
        if not self.login:
            return None
        name, _, password = self.login.partition(":")
        return f"Basic {base64.b64encode(f'{unquote(name)}:{unquote(password)}'.encode()).decode()}"

    @property
    def parameters(self) -> dict[str, str]:
        """The query, decoded."""
        return dict(parse_qsl(self.query, keep_blank_values=True))

    @property
    def credentials(self) -> list[str]:
        """What of it lets somebody in, in every form it may come back in."""
        values = [part.partition("=")[2] for part in self.query.split("&")]
        written = [self.login, *self.login.split(":", 1), *values]
        return [*written, *map(unquote, written), (self.authorization or "").removeprefix("Basic ")]


def _login(rest: str) -> tuple[str, str]:
    """What stands in front of the host, and what follows it."""
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    if "@" in authority:
        login = authority.rpartition("@")[0]
        return login, rest[len(login) + 1 :]
    port = authority.rpartition(":")[2]
    if "@" in rest and ":" in authority and not authority.endswith("]") and not port.isdecimal():
        # No port: the password of a login, with a character in it that should have been escaped.
        login, _, rest = rest.rpartition("@")
        return login, rest
    return "", rest
