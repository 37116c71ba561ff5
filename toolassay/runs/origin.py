"""Where a run comes from: versions, and the command without its secrets."""

from __future__ import annotations

import platform
from collections.abc import Collection, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version

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
