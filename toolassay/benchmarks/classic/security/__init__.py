"""Security probes: can an agent be made to start a forbidden workflow, to reveal its instructions, or to
follow instructions in data?
"""

from toolassay.benchmarks.classic.security.prober import ChatProber

__all__ = ["ChatProber"]
