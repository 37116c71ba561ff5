"""Scores of CLASSic: as published (compat) and as they should be (strict)."""
