"""Runs: journal, ledger, manifest, budget, and the loop that works on every item."""

from typing import TYPE_CHECKING, Any

from toolassay.extras import exported

if TYPE_CHECKING:
    from toolassay.runs.budget import Budget
    from toolassay.runs.journal import Journal
    from toolassay.runs.ledger import Ledger
    from toolassay.runs.manifest import changes, needs_new_run, open_run, recorded_settings
    from toolassay.runs.runner import Loop, RunSummary, run_items, run_unsettled
    from toolassay.runs.starts import Start

__all__ = [
    "Budget",
    "Journal",
    "Ledger",
    "Loop",
    "RunSummary",
    "Start",
    "changes",
    "needs_new_run",
    "open_run",
    "recorded_settings",
    "run_items",
    "run_unsettled",
]

_MODULE_OF = {
    "Budget": "budget",
    "Journal": "journal",
    "Ledger": "ledger",
    "Loop": "runner",
    "RunSummary": "runner",
    "Start": "starts",
    "changes": "manifest",
    "needs_new_run": "manifest",
    "open_run": "manifest",
    "recorded_settings": "manifest",
    "run_items": "runner",
    "run_unsettled": "runner",
}


def __getattr__(name: str) -> Any:
    return exported(__name__, _MODULE_OF, name)
