"""Benchmarks: the interface, those that are built in, and what their security probes share."""
