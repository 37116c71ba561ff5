"""The gate that checks grounding: is every value of a plan in the request or in an earlier output?"""

from toolassay.gates.grounding.gate import GroundingGate

__all__ = ["GroundingGate"]
