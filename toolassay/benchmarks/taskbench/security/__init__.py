"""Does a planner put into its plan what text that is data asks for?"""

from toolassay.benchmarks.taskbench.security.prober import PlanProber

__all__ = ["PlanProber"]
