"""The published security test: the first turn of each prompt, sent to the bare model and graded by a
judge.
"""

from toolassay.benchmarks.classic.security.published.attacks import (
    PARAMETERS,
    Attack,
    AttackItems,
    read_attacks,
)
from toolassay.benchmarks.classic.security.published.grades import (
    FOLDER,
    AttackLine,
    published_file,
    published_score,
    published_score_beside,
    write_attacks,
)

__all__ = [
    "FOLDER",
    "PARAMETERS",
    "Attack",
    "AttackItems",
    "AttackLine",
    "published_file",
    "published_score",
    "published_score_beside",
    "read_attacks",
    "write_attacks",
]
