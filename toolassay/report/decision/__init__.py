"""Which model may be trusted: verdict, ranking, requirements."""

from toolassay.report.decision.decision import (
    Decision,
    FolderReport,
    ModelReport,
    Regression,
    junit,
    summary,
)
from toolassay.report.decision.measured import quantities
from toolassay.report.decision.requirements import NAMES, Measured, Requirement, check
from toolassay.report.decision.verdict import Contender, Facts, Verdict, rank, sentences

__all__ = [
    "NAMES",
    "Contender",
    "Decision",
    "Facts",
    "FolderReport",
    "Measured",
    "ModelReport",
    "Regression",
    "Requirement",
    "Verdict",
    "check",
    "junit",
    "quantities",
    "rank",
    "sentences",
    "summary",
]
