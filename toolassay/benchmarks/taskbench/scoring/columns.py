"""The columns of a table of scores: what they are called, and the keys they stand under in a metrics file."""

from __future__ import annotations

from typing import NamedTuple


class Column(NamedTuple):
    """A column: its heading, the strict and the published key, and the metrics that give it."""

    heading: str
    strict: str
    compat: str
    asked_by: tuple[str, ...]


COLUMNS = (
    Column("R1", "rouge1", "step_rouge1", ("rouge",)),
    Column("R2", "rouge2", "step_rouge2", ("rouge",)),
    Column("RL", "rougeL", "step_rougeL", ("rouge",)),
    Column("BsF", "bertscore_f1", "step_bertscore_f1", ("bertscore",)),
    Column("n-F1", "node_f1", "node_micro_f1_no_matching", ("f1", "argument")),
    Column("e-F1", "edge_f1", "link_binary_f1", ("link",)),
    Column("t-F1", "argument_name_f1", "argument_task_argname_binary_f1_no_matching", ("f1", "argument")),
    Column(
        "v-F1", "argument_value_f1", "argument_task_argname_value_binary_f1_no_matching", ("f1", "argument")
    ),
    Column("ED", "edit_similarity", "edit_distance", ("ed",)),
)
