"""Does an agent do on its workplace what text that is data asks for?"""

from toolgraph.benchmarks.workbench.security.prober import WorkplaceProber

__all__ = ["WorkplaceProber"]
