"""Requests, steps and gold for sampled subgraphs of any tool library, without a server."""
