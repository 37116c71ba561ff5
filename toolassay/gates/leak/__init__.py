"""Does a request name the tools that it should leave to be found?"""

from toolassay.gates.leak.gate import LeakGate

__all__ = ["LeakGate"]
