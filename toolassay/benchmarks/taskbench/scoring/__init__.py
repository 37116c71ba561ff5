"""Scores of predicted plans: compat (as published) and strict (corrected), for groups and single items."""
