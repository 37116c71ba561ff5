"""A state put aside in little memory: only the pages of its file in which it differs from another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_SIZE = 4096


@dataclass(frozen=True)
class ChangedPages:
    """What one database file holds otherwise than another.

    Attributes:
        length: of the file, in bytes.
        pages: the bytes from each place where the two differ.

    >>> before, after = bytes(3 * 4096), bytes(4096) + b"x" * 4096
    >>> pages = ChangedPages.between(before, after)
    >>> list(pages.pages), pages.upon(before) == after
    ([4096], True)
    """

    length: int
    pages: Mapping[int, bytes]

    @classmethod
    def between(cls, before: bytes, after: bytes) -> ChangedPages:
        """The pages of `after` that `before` has not."""
        places = range(0, len(after), _SIZE)
        return cls(
            len(after),
            {
                place: after[place : place + _SIZE]
                for place in places
                if after[place : place + _SIZE] != before[place : place + _SIZE]
            },
        )

    def upon(self, before: bytes) -> bytes:
        """The file again, from the one that it was compared with."""
        whole = bytearray(before[: self.length].ljust(self.length, b"\0"))
        for place, page in self.pages.items():
            whole[place : place + len(page)] = page
        return bytes(whole)
