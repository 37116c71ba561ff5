"""The kinds of files by the ending of their names: one table for gates, scores, exports and the planner."""

from __future__ import annotations

from toolassay.files.data_files import package_data


def _read_table() -> dict[str, tuple[str, ...]]:
    # The table of the standard library (`mimetypes`) differs between versions of Python, and lacks formats of
    # cameras, recorders and documents; verdicts and scores must not depend on it.
    kinds = dict(package_data(__package__, "file_types.json"))
    also = kinds.pop("also")
    return {
        ending: (kind, also[ending]) if ending in also else (kind,)
        for kind, endings in kinds.items()
        for ending in endings
    }


FILE_KINDS = _read_table()
"""The kinds of an ending in lower case, the most likely first: of "webm", video and audio."""
MEDIA = frozenset({"image", "audio", "video"})
"""The kinds that are no writing."""
