"""Agents: a model, tools, and a loop between them."""
