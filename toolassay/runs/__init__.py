"""Runs: journal, ledger, manifest, budget, and `runner`, the loop that works on every item."""

from toolassay.runs.budget import Budget as Budget
from toolassay.runs.journal import Journal as Journal
from toolassay.runs.ledger import Ledger as Ledger
from toolassay.runs.manifest import changes as changes
from toolassay.runs.manifest import needs_new_run as needs_new_run
from toolassay.runs.manifest import open_run as open_run
from toolassay.runs.manifest import recorded_settings as recorded_settings
