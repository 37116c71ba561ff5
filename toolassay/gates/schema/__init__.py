"""Is every tool known, and every argument valid for its parameter or type?"""

from toolassay.gates.schema.gate import SchemaGate

__all__ = ["SchemaGate"]
