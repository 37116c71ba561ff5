"""An export format of prompts and completions: the request, and the names of the tools in order."""

from __future__ import annotations

from toolassay.exporters.executed_results import PlanResults
from toolassay.exporters.export_format import Chats, ExportFormat
from toolassay.plans.call_plan import CallPlan


class PairsFormat(ExportFormat):
    """Writes {"prompt": "Draw a fox", "completion": "Painter"}."""

    name = "pairs"
    help = "prompts and completions for tool selection"
    about = "One pair per line."
    fields = (("prompt", "text", "the request"), ("completion", "text", "the tools in order"))

    def line(self, plan: CallPlan, chats: Chats, results: PlanResults | None) -> object:
        """The pair of a plan."""
        return {"prompt": plan.request, "completion": ", ".join(call.tool for call in plan.calls)}


FORMAT = PairsFormat()
