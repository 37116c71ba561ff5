"""How many planted defects `toolassay check` finds, and how much clean gold it holds back.

See docs/measurements-scores.md. Nothing here imports the gates: `gates.jsonl` is all that it reads of them.
"""
