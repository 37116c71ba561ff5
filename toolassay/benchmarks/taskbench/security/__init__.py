"""Security probes: does a planner follow instructions that are planted in data?"""

from toolassay.benchmarks.taskbench.security.prober import PlanProber

__all__ = ["PlanProber"]
