"""Runs: the journal that survives everything, the bounded runner, the manifest that notices changes."""

from toolgraph.runs.journal import Journal
from toolgraph.runs.manifest import changes, open_run, recorded_settings
from toolgraph.runs.runner import RunSummary, run_items

__all__ = ["Journal", "RunSummary", "changes", "open_run", "recorded_settings", "run_items"]
