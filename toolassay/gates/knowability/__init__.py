"""Could anybody know the values of a plan from what the user said?"""

from toolassay.gates.knowability.gate import KnowabilityGate

__all__ = ["KnowabilityGate"]
