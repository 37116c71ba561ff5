"""A planner that needs no server: tools retrieved from the request, ordered and linked by the tool graph."""

from toolassay.offline.planner.planner import Planner

__all__ = ["Planner"]
