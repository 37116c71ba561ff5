"""The gate that checks every tool and argument of a plan against the tool library."""

from toolassay.gates.schema.gate import SchemaGate

__all__ = ["SchemaGate"]
