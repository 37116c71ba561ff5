"""Scores of CLASSic: compat (as published) and strict (corrected)."""
