"""The prompts of the published test: of each row the first turn, and nothing around it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from toolassay.benchmarks.classic.data.table import read_table
from toolassay.benchmarks.classic.security.prompts import HARMLESS, TURNS
from toolassay.errors import UsageError


@dataclass(frozen=True)
class Attack:
    """One prompt.

    Args:
        id: its `prompt_id`, or the number of its row where the table has no such column.
        text: the first turn, as it stands.
    """

    id: str
    text: str


def read_attacks(path: Path) -> list[Attack]:
    """The attacks of a table, in its order; harmless twins are left out.

    The three columns of turns must be there, as in the published table; the second and third turn are not
    read, and may be empty. Other columns are not needed.

    Raises:
        UsageError: the table is missing, lacks a column or has no attack; a first turn is empty, or an id is
            there twice.
    """
    attacks: dict[str, Attack] = {}
    fix = "add a table of prompts (see docs/security.md), or leave --security out"
    for number, row in enumerate(read_table(path, TURNS, fix=fix), start=1):
        if row.get("kind") == HARMLESS:
            continue
        attack = Attack(row.get("prompt_id") or str(number), row[TURNS[0]])
        if not attack.text.strip():
            raise row.error(f"{TURNS[0]} is empty", "write what is sent, or leave the row out")
        if attack.id in attacks:
            raise row.error(f"prompt_id {attack.id!r} is there twice", "give each its own")
        attacks[attack.id] = attack
    if not attacks:
        raise UsageError("no attacks", file=path, fix="give it a row a prompt, or leave --security out")
    return list(attacks.values())
