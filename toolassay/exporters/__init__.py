"""Gold in the forms that training and sharing ask for.

A label becomes a `Plan` (checked, ordered, typed), and a plan becomes a row of one of the formats: `jsonl`
and `hf` (the same rows, as JSON Lines and as Parquet), `openai` and `sharegpt` (chats with tool calls).
"""

from toolassay.exporters.plan import Argument, Call, Plan, Unfit
from toolassay.exporters.reading import plan_of

__all__ = ["Argument", "Call", "Plan", "Unfit", "plan_of"]
