"""`--retry_malformed`: items whose answer was malformed or cut off are asked again, the others are kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolassay.runs.manifest import recorded_settings

MAX_TOKENS = "max_tokens"
COUNT = "asked_again"
"""In a journal entry: how often its item was asked again. Older entries of the item stay in the journal."""
BEGUN = "again"
"""In an entry that still counts: what an unfinished retry has brought; the next retry goes on with it."""


@dataclass
class Again:
    """Which items a start asks although they have an answer, and what came of it.

    Attributes:
        wanted: whether malformed and cut-off items are asked again.
        only: whether nothing else is asked: this start sends another `max_tokens` than the run began with,
            and items without an answer are left to a start with the settings of the run.
        max_tokens: what this start sends; None for no limit.
        replaced: items whose new answer has arrived.
        left: items without an answer that `only` left out.
    """

    wanted: bool = False
    only: bool = False
    max_tokens: int | None = None
    replaced: int = 0
    left: int = 0

    def skips(self, *, settled: bool, unusable: bool) -> bool:
        """Whether this start passes over an item.

        Args:
            settled: it has an answer.
            unusable: that is malformed or cut off.
        """
        if settled:
            return not (self.wanted and unusable)
        self.left += self.only
        return self.only


def again_of(
    run_folder: Path, settings: Mapping[str, Any], *, wanted: bool, max_tokens: int | None
) -> tuple[Again, dict[str, Any]]:
    """What a start asks again, and its settings as they are compared with those of the run.

    With `wanted`, `max_tokens` may be another one than that of the run; every other setting may not.

    Args:
        run_folder: where `manifest.json` is, if the run has begun.
        settings: of this start.
        wanted: whether `--retry_malformed` is given.
        max_tokens: what this start sends.

    Raises:
        UsageError: the manifest is not one.
    """
    recorded = recorded_settings(run_folder) if wanted else None
    if recorded is None or recorded.get(MAX_TOKENS) == settings.get(MAX_TOKENS):
        return Again(wanted, max_tokens=max_tokens), dict(settings)
    compared = {name: value for name, value in settings.items() if name != MAX_TOKENS}
    if MAX_TOKENS in recorded:
        compared[MAX_TOKENS] = recorded[MAX_TOKENS]
    return Again(wanted, only=True, max_tokens=max_tokens), compared
