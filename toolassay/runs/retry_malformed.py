"""`--retry_malformed`: requests the items again whose answer was malformed or truncated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolassay.runs.manifest import recorded_settings

MAX_TOKENS = "max_tokens"
COUNT = "asked_again"
"""Key of a journal entry: number of retries of its item. Older entries of the item stay in the journal."""
BEGUN = "again"
"""Key of the current entry: the state of an unfinished retry, from which the next retry continues."""


@dataclass
class RetryPlan:
    """Which answered items a start runs again, and counts of the result.

    Attributes:
        wanted: Whether items with a malformed or truncated answer are run again.
        only: Whether only those are run, because this start sends a different `max_tokens` than the run began
            with; items without an answer are left to a start with the settings of the run.
        max_tokens: Limit that this start sends; None for no limit.
        replaced: Number of items with a new answer.
        left: Number of items without an answer that `only` skipped.
    """

    wanted: bool = False
    only: bool = False
    max_tokens: int | None = None
    replaced: int = 0
    left: int = 0

    def skips(self, *, settled: bool, unusable: bool) -> bool:
        """Whether this start skips an item; counts it in `left` if `only` is the reason.

        Args:
            settled: Whether it has an answer.
            unusable: Whether that answer is malformed or truncated.
        """
        if settled:
            return not (self.wanted and unusable)
        self.left += self.only
        return self.only


def retry_plan(
    run_folder: Path, settings: Mapping[str, Any], *, wanted: bool, max_tokens: int | None
) -> tuple[RetryPlan, dict[str, Any]]:
    """The `RetryPlan` of a start, and the settings to compare with the manifest.

    With `wanted`, `max_tokens` may differ from that of the run; no other setting may.

    Args:
        run_folder: Folder of `manifest.json`, if the run has begun.
        settings: Settings of this start.
        wanted: Whether `--retry_malformed` is given.
        max_tokens: Limit that this start sends; None for no limit.

    Raises:
        UsageError: The manifest is invalid.
    """
    recorded = recorded_settings(run_folder) if wanted else None
    if recorded is None or recorded.get(MAX_TOKENS) == settings.get(MAX_TOKENS):
        return RetryPlan(wanted, max_tokens=max_tokens), dict(settings)
    compared = {name: value for name, value in settings.items() if name != MAX_TOKENS}
    if MAX_TOKENS in recorded:
        compared[MAX_TOKENS] = recorded[MAX_TOKENS]
    return RetryPlan(wanted, only=True, max_tokens=max_tokens), compared
