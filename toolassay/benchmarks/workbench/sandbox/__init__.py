"""The workplace: tables, copies of it, what differs between two copies."""

from toolassay.benchmarks.workbench.sandbox.difference import CellChange, TableDifference, difference
from toolassay.benchmarks.workbench.sandbox.sandbox import FILE, Sandbox

__all__ = ["FILE", "CellChange", "Sandbox", "TableDifference", "difference"]
