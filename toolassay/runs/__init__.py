"""Runs: journal, ledger, manifest, budget, and `runner`, the loop that works on every item."""
