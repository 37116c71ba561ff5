"""A workplace of one's own: a database, tools in a Python file, tasks."""
