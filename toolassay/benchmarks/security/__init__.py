"""Whether an agent acts on text that is data: probes, what became of them, and figures."""

from toolassay.benchmarks.security.figures import figure_lines, security_figures
from toolassay.benchmarks.security.lines import figures_beside
from toolassay.benchmarks.security.probe import Probe, ProbeResult, Verdict
from toolassay.benchmarks.security.prober import Prober

__all__ = ["Probe", "ProbeResult", "Prober", "Verdict", "figure_lines", "figures_beside", "security_figures"]
