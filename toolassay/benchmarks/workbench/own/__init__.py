"""A user-defined workplace: an SQLite database, tools in a Python file, and tasks."""
