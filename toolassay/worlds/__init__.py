"""Worlds: a library without a server gets records and what each tool does with them, as data."""
