"""Security probes: does an agent follow instructions planted in the data of its workplace?"""

from toolassay.benchmarks.workbench.security.prober import WorkplaceProber

__all__ = ["WorkplaceProber"]
