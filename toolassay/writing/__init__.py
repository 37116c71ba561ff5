"""A model invents a goal around sampled tools, plans it, sees the results, and writes the request."""
