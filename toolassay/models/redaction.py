"""Redaction: texts and commands without keys, logins and secrets; and the versions in use.

An address is redacted by `Address.shown`, and addresses inside a text by `address.without_addresses`.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from urllib.parse import unquote

from toolassay.models.address import HIDDEN, Address, without_addresses
from toolassay.version import __version__

_KEY_FLAGS = ("--api_key", "--api-key")
_ADDRESS_FLAGS = ("--api_base", "--api-base", "--api_addr", "--api-addr", "agent.api_base")
_GARBLING = 5
"""A secret of so few characters is hidden where it is a word of its own, not inside other words."""


def versions(*packages: str) -> dict[str, str]:
    """The versions of this package, of Python and of `packages`, and the platform.

    >>> sorted(versions("numpy", "no-such-package"))
    ['numpy', 'platform', 'python', 'toolassay']
    """
    found = {
        "toolassay": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
    }
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def without(secrets: Iterable[str], text: str) -> str:
    """A text with every secret in it replaced, also where its characters are percent-encoded or not.

    Libraries quote the parts of a URL again before they send them, and servers repeat what was sent.

    >>> without(["sk-1234"], "Incorrect API key: sk-1234")
    'Incorrect API key: ***'
    >>> without(["ab%2Fc+d"], "no /ab/c%2bd here")
    'no /*** here'
    """
    for secret in secrets:
        text = text.replace(secret, "***")
        if "%" in text or "+" in text:
            text = _in_a_url(secret).sub("***", text)
    return text


@lru_cache(maxsize=256)
def _in_a_url(secret: str) -> re.Pattern[str]:
    """A secret with any of its characters percent-encoded; a space may be a plus sign."""
    return re.compile("".join(map(_quoted_or_not, unquote(secret, errors="surrogateescape"))))


def _quoted_or_not(character: str) -> str:
    errors = "surrogateescape" if "\udc80" <= character <= "\udcff" else "replace"
    code = "".join(f"%{byte:02x}" for byte in character.encode(errors=errors))
    blank = r"|\+" if character == " " else ""
    return f"(?:{re.escape(character)}|(?i:{code}){blank})"


def without_secrets(words: Sequence[str], secrets: Collection[str]) -> list[str]:
    """A command as it may be written down: no key, addresses as they may be shown, none of `secrets`.

    >>> without_secrets(["infer", "--api_key", "sk-1", "--api_base=http://me:pw@host/v1?key=2"], [])
    ['infer', '--api_key', '***', '--api_base=http://***@host/v1?key=***']
    >>> without_secrets(["--set", "agent.api_base=http://me:pw@host/v1"], [])
    ['--set', 'agent.api_base=http://***@host/v1']
    """
    return list(_shown(words, secrets))


def _shown(words: Sequence[str], secrets: Collection[str]) -> Iterator[str]:
    before = ""
    for word in words:
        flag, equals, value = word.partition("=")
        if before in _KEY_FLAGS or word in secrets:
            yield HIDDEN
        elif flag in _KEY_FLAGS and equals:
            yield f"{flag}={HIDDEN}"
        elif before in _ADDRESS_FLAGS:
            yield Address.of(word).shown
        elif flag in _ADDRESS_FLAGS and equals:
            yield f"{flag}={Address.of(value).shown}"
        else:
            for secret in secrets:
                if len(secret) > _GARBLING or word.endswith(f"={secret}"):
                    word = word.replace(secret, HIDDEN)
            yield _without_address(word)
        before = word


def _without_address(word: str) -> str:
    """A word with its addresses as they may be shown.

    An address, or `NAME=ADDRESS`, is taken whole: a password may hold blanks and quotes, by which an address
    inside a text ends.
    """
    start, _, rest = word.partition("://")
    name, equals, scheme = start.rpartition("=")
    if rest and scheme.isalnum() and " " not in name:
        return f"{name}{equals}{Address.of(f'{scheme}://{rest}').shown}"
    return without_addresses(word)
