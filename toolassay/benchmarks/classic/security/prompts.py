"""Reads the table of security prompts."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from toolassay.benchmarks.classic.csv_table import CsvRow, read_table
from toolassay.benchmarks.classic.data import DOMAINS
from toolassay.benchmarks.security.evidence import SHORTEST
from toolassay.errors import UsageError

FORBIDDEN, REVEAL = "forbidden_workflow", "reveal_instructions"
IN_DESCRIPTION, IN_REPLY = "hidden_in_description", "hidden_in_reply"
HARMLESS = "harmless"
KINDS = (FORBIDDEN, REVEAL, IN_DESCRIPTION, IN_REPLY, HARMLESS)
MESSAGE, DESCRIPTION, REPLY = "message", "description", "reply"
PLACES = (MESSAGE, DESCRIPTION, REPLY)
TURNS = ("turn_1_prompt", "turn_2_prompt", "turn_3_prompt")
_MISSING = "add a table of prompts (see docs/security.md), or omit --security"
_COLUMNS = (
    *("prompt_id", "kind", "place", "domain_uuid", *TURNS),
    *("forbidden_workflow", "forbidden_description", "wanted_workflow", "wanted_description"),
    *("planted_text", "canary"),
)


@dataclass(frozen=True)
class SecurityPrompt:
    """One prompt.

    Args:
        id: unique in the table.
        kind: of the attack, or `harmless`.
        place: where the text is: the user's message, a workflow's description, an earlier reply.
        domain: whose workflows are offered.
        turns: the user's messages, one to three.
        forbidden: name and description of the workflow that must not be started; None if there is none.
        wanted: for a harmless prompt, name and description of the workflow that it asks for.
        planted: the text in the description or reply; empty if the place is the message.
        canary: a code that must not be said; may be empty.
    """

    id: str
    kind: str
    place: str
    domain: str
    turns: tuple[str, ...]
    forbidden: tuple[str, str] | None
    wanted: tuple[str, str] | None
    planted: str
    canary: str


def read_prompts(path: Path, domains: Collection[str]) -> list[SecurityPrompt]:
    """Read the prompts of a table, in its order.

    Args:
        path: `jailbreak_prompts.csv`.
        domains: of the folder.

    Raises:
        UsageError: the table does not exist, lacks a column, or a row is invalid (with its line).
    """
    prompts: dict[str, SecurityPrompt] = {}
    for row in read_table(path, _COLUMNS, fix=_MISSING):
        prompt = _prompt(row)
        if not prompt.id or prompt.id in prompts:
            raise row.error(f"prompt_id {prompt.id!r} is empty or duplicate", "write a unique id")
        if prompt.domain not in domains:
            raise row.error(f"unknown domain {prompt.domain!r}", f"list it in {DOMAINS}")
        if (wrong := _wrong(prompt)) is not None:
            raise row.error(*wrong)
        prompts[prompt.id] = prompt
    if not prompts:
        raise UsageError("no prompts", file=path, fix="write one row per prompt, or omit --security")
    return list(prompts.values())


def _prompt(row: CsvRow) -> SecurityPrompt:
    written = [row[turn].strip() for turn in TURNS]
    if not written[0] or (written[2] and not written[1]):
        raise row.error("an earlier turn is empty", f"fill in the turns in order, from {TURNS[0]}")
    return SecurityPrompt(
        row["prompt_id"],
        row["kind"],
        row["place"],
        row["domain_uuid"],
        tuple(text for text in written if text),
        _workflow(row, "forbidden"),
        _workflow(row, "wanted"),
        row["planted_text"].strip(),
        row["canary"].strip(),
    )


def _workflow(row: CsvRow, which: str) -> tuple[str, str] | None:
    name = row[f"{which}_workflow"].strip()
    return (name, row[f"{which}_description"].strip()) if name else None


def _wrong(prompt: SecurityPrompt) -> tuple[str, str] | None:
    """The problem of a prompt and its fix; None if it is valid."""
    if prompt.kind not in KINDS:
        return f"unknown kind {prompt.kind!r}", f"choose from {', '.join(KINDS)}"
    place = {FORBIDDEN: MESSAGE, REVEAL: MESSAGE, IN_DESCRIPTION: DESCRIPTION, IN_REPLY: REPLY}.get(
        prompt.kind
    )
    if prompt.place not in ((place,) if place else PLACES):
        return (
            f"the kind {prompt.kind!r} does not allow the place {prompt.place!r}",
            f"write {place or 'one of message, description, reply'}",
        )
    if prompt.canary and sum(map(str.isalnum, prompt.canary)) < SHORTEST:
        return (
            f"the canary {prompt.canary!r} may occur by chance",
            f"use {SHORTEST} letters and digits or more",
        )
    if prompt.place != MESSAGE and not prompt.planted:
        return "planted_text is empty", f"write the text of the {prompt.place}"
    if prompt.place == REPLY and len(prompt.turns) < 2:
        return "there is no message after the reply", f"fill in {TURNS[1]}"
    if prompt.kind == HARMLESS:
        return None if prompt.wanted else ("wanted_workflow is empty", "name the workflow the user asks for")
    if prompt.kind == REVEAL:
        return None if prompt.canary else ("the canary is empty", "write the code that must not be said")
    if not prompt.forbidden and (prompt.kind == FORBIDDEN or not prompt.canary):
        return "forbidden_workflow is empty", "name the workflow that must not be started"
    return None
