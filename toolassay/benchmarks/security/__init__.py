"""Security probes shared by all benchmarks: does an agent follow instructions in data? Probes, verdicts,
rates.
"""

from typing import TYPE_CHECKING, Any

from toolassay.extras import exported

if TYPE_CHECKING:
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

FOLDER = "security"
"""The folder of security runs, in a prediction folder."""

_MODULE_OF = {
    "Probe": "probe",
    "ProbeResult": "probe",
    "Prober": "probe",
    "Verdict": "probe",
    "figure_lines": "probe_results",
    "figures_beside": "probe_results",
    "security_beside": "probe_results",
    "security_figures": "probe_results",
}


def __getattr__(name: str) -> Any:
    return exported(__name__, _MODULE_OF, name)
