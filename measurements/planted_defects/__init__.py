"""How many planted defects `toolassay check` finds, and how much clean gold it holds back.

See docs/planted_defects.md. Nothing here imports the gates: they are judged from outside, by `gates.jsonl`.
"""
