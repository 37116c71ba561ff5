"""Losses of a tool: the notes that several modules write, and how many of them a tool keeps."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from toolassay.importers.importer import Note

EXTENSION = "extensions are not kept"
"""Reason of the notes whose field begins with `x-`; a tool has one note for all of them."""
_MOST_LOSSES = 100  # of a tool


def lose_keys(
    losses: dict[Note, None], value: Mapping[str, Any], where: str, read: Collection[str], reason: str = ""
) -> None:
    """Note the extensions of an object, and its other keys that are not read."""
    for key in value:
        if key.startswith("x-"):
            losses[Note(key, EXTENSION)] = None
        elif key not in read:
            losses[Note(f"{where}.{key[:80]}".lstrip("."), reason or "is not kept")] = None


def lose_media_types(losses: dict[Note, None], where: str, media_types: Iterable[str]) -> None:
    """Note the media types that are not kept."""
    for one in media_types:
        losses[Note(f"{where}.{one[:80]}", "only one media type is kept")] = None


def noted_extensions(names: Sequence[str]) -> Note:
    """One note for all extensions of a tool."""
    listed = sorted(set(names))
    more = f" and {len(listed) - 10} more" if len(listed) > 10 else ""
    return Note("x-…", f"{EXTENSION}: {', '.join(name[:60] for name in listed[:10])}{more}")


def capped(losses: Mapping[Note, None]) -> list[Note]:
    """The first losses: a document can give each of 200,000 operations thousands."""
    if len(losses) <= _MOST_LOSSES:
        return list(losses)
    return [*list(losses)[:_MOST_LOSSES], Note("…", f"{len(losses) - _MOST_LOSSES:,} more")]


def grouped(losses: Mapping[Note, None]) -> list[Note]:
    """The losses, those of extensions as one."""
    extensions = [note.field for note in losses if note.field.startswith("x-")]
    rest = [note for note in losses if not note.field.startswith("x-")]
    return capped(dict.fromkeys([*rest, noted_extensions(extensions)] if extensions else rest))
