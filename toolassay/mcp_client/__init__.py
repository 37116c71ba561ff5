"""Connections to MCP servers: a process that speaks over its standard streams, or an HTTP address.

What a server sends is untrusted: its messages, its output and its time are bounded, and it is ended with its
children.
"""
