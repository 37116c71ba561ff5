"""The workplace as a database: its tables, its copies, and the difference between two copies."""

from toolassay.benchmarks.workbench.sandbox.difference import CellChange, TableDifference, difference
from toolassay.benchmarks.workbench.sandbox.sandbox import FILE, Sandbox

__all__ = ["FILE", "CellChange", "Sandbox", "TableDifference", "difference"]
