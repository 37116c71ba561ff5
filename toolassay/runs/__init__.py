"""Runs: journal, ledger, manifest, budget, and the loop that works on every item."""

from toolassay.runs.budget import Budget as Budget
from toolassay.runs.journal import Journal as Journal
from toolassay.runs.ledger import Ledger as Ledger
from toolassay.runs.manifest import changes as changes
from toolassay.runs.manifest import needs_new_run as needs_new_run
from toolassay.runs.manifest import open_run as open_run
from toolassay.runs.manifest import recorded_settings as recorded_settings
from toolassay.runs.runner import Loop as Loop
from toolassay.runs.runner import RunSummary as RunSummary
from toolassay.runs.runner import run_items as run_items
