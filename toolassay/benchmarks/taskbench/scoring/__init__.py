"""Scores of predicted plans: as published (compat) and as they should be (strict), item by item."""
