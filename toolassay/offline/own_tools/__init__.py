"""Requests and gold for tools without hand-written phrases: values by schema, sentences by description."""
