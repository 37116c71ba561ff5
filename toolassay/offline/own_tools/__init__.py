"""Requests and gold for tools that no phrases were written for: values by schema, sentences by description."""
