"""Runs: the journal that survives everything, the bounded runner, the manifest that notices changes."""

from toolgraph.runs.budget import Budget
from toolgraph.runs.journal import Journal
from toolgraph.runs.ledger import Ledger
from toolgraph.runs.manifest import changes, gives_way, open_run, recorded_settings
from toolgraph.runs.runner import RunSummary, run_items
from toolgraph.runs.starts import Start
from toolgraph.runs.unsettled import Loop, run_unsettled

__all__ = [
    "Budget",
    "Journal",
    "Ledger",
    "Loop",
    "RunSummary",
    "Start",
    "changes",
    "gives_way",
    "open_run",
    "recorded_settings",
    "run_items",
    "run_unsettled",
]
