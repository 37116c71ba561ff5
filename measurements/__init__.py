"""Scripts that print the tables of `docs/measurements*.md`, and what they measure with."""
