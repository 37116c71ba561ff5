"""Which model may be trusted: verdict, ranking, requirements."""

from toolassay.report.decision.decision import (
    Decision,
    FolderReport,
    ModelReport,
    Regression,
    folder_table,
    junit,
    model_table,
    summary,
)
from toolassay.report.decision.figure import draw_ranking
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
    "draw_ranking",
    "folder_table",
    "junit",
    "model_table",
    "quantities",
    "rank",
    "sentences",
    "summary",
]
