"""Can an agent be talked into a workflow, into telling its instructions, or by text that is data?"""

from toolassay.benchmarks.classic.security.prober import ChatProber

__all__ = ["ChatProber"]
