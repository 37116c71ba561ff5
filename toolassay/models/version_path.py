"""The `/v1` that many addresses lack: tried once after a 404, and kept where it helps."""

from __future__ import annotations

from collections.abc import Callable

from toolassay.models.address import Address

VERSION_PATH = "/v1"
_MISSING = range(300, 400), (404, 405)
"""Statuses that say there is nothing to ask here; any other comes from the API."""


class VersionPath:
    """What is put between an address and the path of a request: nothing, or `/v1`.

    Args:
        address: where requests go; one that says a version is left as it is.
        known: what an earlier start found.
        told: called once when `/v1` is found.

    Attributes:
        path: to be used by the next request.
        found: whether `path` is verified.
    """

    def __init__(
        self, address: Address, known: str | None = None, told: Callable[[str], None] = lambda path: None
    ) -> None:
        self.path = known or ""
        self.found = bool(known)
        self._untried = not known and not address.has_version
        self._told = told

    def learn(self, sent: str, status: int | None) -> bool:
        """Learn from the status of a request; whether asking again may help.

        Args:
            sent: the path that the request went with.
            status: of the answer; None where there was none.

        >>> paths = VersionPath(Address.of("http://host"))
        >>> paths.learn(paths.path, 404), paths.path, paths.learn(paths.path, 200), paths.found
        (True, '/v1', False, True)
        """
        if status is None:
            return False
        if not any(status in statuses for statuses in _MISSING):
            self._answered(sent)
            return False
        if sent:
            if not self.found:
                self.path = ""
            return False
        if self._untried and status not in _MISSING[0]:
            self._untried, self.path = False, VERSION_PATH
        return self.path != sent

    def _answered(self, sent: str) -> None:
        if not sent:
            self._untried = False
        elif not self.found:
            self.found, self.path = True, sent
            self._told(sent)
