"""Judging what an agent left behind: as published (compat), and as it should be (strict)."""
