"""Export gold plans to formats for training and sharing.

A label becomes an `CallPlan` (checked, ordered, typed), and a plan becomes a row of one of the formats:
`jsonl` and `hf` (the same rows, as JSON Lines and as Parquet), `openai` and `sharegpt` (chats with tool
calls).
"""
