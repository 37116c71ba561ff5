"""Does a request name the tools that it should leave to be found?"""

from toolgraph.gates.leak.gate import LeakGate

__all__ = ["LeakGate"]
