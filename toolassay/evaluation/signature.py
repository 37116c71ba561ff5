"""Signatures: one line beside each score with its settings and data hashes (as in sacreBLEU; Post, 2018)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from toolassay.files import sha256_of
from toolassay.version import OLD_NAME


@dataclass(frozen=True)
class Signature:
    """The settings and data hashes of scores, in a fixed order.

    >>> signature = Signature({"toolassay": "1.0", "mode": "strict", "data": "0a1b"})
    >>> signature.of_group("chain_overall", 7)
    'toolassay:1.0|mode:strict|data:0a1b|group:chain_overall|n:7'
    """

    parts: Mapping[str, str]

    @property
    def text(self) -> str:
        """The signature of the whole evaluation."""
        return "|".join(f"{name}:{value}" for name, value in self.parts.items())

    def with_items(self, path: Path) -> Signature:
        """The signature with the hash of the file of items."""
        return Signature({**self.parts, "items": sha256_of(path)[:12]})

    def of_group(self, group: str, expected: int) -> str:
        """The signature of a group with `expected` labelled items."""
        return f"{self.text}|group:{group}|n:{expected}"


def read_signature(text: str) -> dict[str, str]:
    """Parse a signature; the old name of the package is replaced by the current one.

    >>> read_signature("toolassay:1.0|data:0a1b")
    {'toolassay': '1.0', 'data': '0a1b'}
    >>> read_signature("toolgraph:0.1.0")
    {'toolassay': '0.1.0'}
    """
    parts = dict(part.split(":", 1) for part in text.split("|") if ":" in part)
    return {"toolassay" if name == OLD_NAME else name: value for name, value in parts.items()}


def changed_parts(parts: Mapping[str, str], now: Mapping[str, tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """The parts of a signature that are something else now, with the name of their file.

    Args:
        parts: The signature.
        now: By part, the name of its file and the hash of that.

    >>> list(changed_parts({"data": "0a1b"}, {"data": ("data.json", "ffff00"), "graph": ("g.json", "12")}))
    [('data', 'data.json')]
    """
    for part, (file, value) in now.items():
        known = parts.get(part)
        if known is not None and value[: len(known)] != known:
            yield part, file
