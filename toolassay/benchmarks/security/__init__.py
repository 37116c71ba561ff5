"""Security probes shared by all benchmarks: does an agent follow instructions in data? Probes, verdicts,
rates.
"""

from toolassay.benchmarks.security.probe import Probe, Prober, ProbeResult, Verdict
from toolassay.benchmarks.security.probe_results import (
    figure_lines,
    figures_beside,
    security_beside,
    security_figures,
)

__all__ = [
    "Probe",
    "ProbeResult",
    "Prober",
    "Verdict",
    "figure_lines",
    "figures_beside",
    "security_beside",
    "security_figures",
]
