"""Requests and gold for tools that nobody wrote phrases for."""
