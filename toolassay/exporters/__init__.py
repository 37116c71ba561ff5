"""Export gold plans to formats for training and sharing.

A label becomes an `ExportPlan` (checked, ordered, typed), and a plan becomes a row of one of the formats:
`jsonl` and `hf` (the same rows, as JSON Lines and as Parquet), `openai` and `sharegpt` (chats with tool
calls).
"""

from toolassay.exporters.export_plan import Argument, Call, ExportPlan, Unfit, plan_of

__all__ = ["Argument", "Call", "ExportPlan", "Unfit", "plan_of"]
