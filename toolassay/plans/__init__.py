"""Plans as tool calls: the functions of a model API, their typed arguments, the order of the calls."""
