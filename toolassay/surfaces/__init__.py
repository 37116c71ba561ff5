"""Two versions of a set of tools: which tool became which, and what a change did to whom."""
