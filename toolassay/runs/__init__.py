"""Runs: journal, ledger, manifest, budget, and the loop that works on every item."""

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
