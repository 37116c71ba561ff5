"""The workplace: tables, copies of it, what differs between two copies."""

from toolassay.benchmarks.workbench.sandbox.difference import Change, TableDifference, difference
from toolassay.benchmarks.workbench.sandbox.sandbox import FILE, Sandbox

__all__ = ["FILE", "Change", "Sandbox", "TableDifference", "difference"]
