"""Does an agent do on its workplace what text that is data asks for?"""

from toolassay.benchmarks.workbench.security.prober import WorkplaceProber

__all__ = ["WorkplaceProber"]
