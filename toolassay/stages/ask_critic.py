"""Critics that review samples, each in a run that is journaled, limited and continued like any other."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from toolassay.files import read_json, write_json_lines
from toolassay.gates.critic import NOT_FOR_IT, CriticVerdict, CriticWork, template
from toolassay.gates.critic.review_run import PARAMETERS
from toolassay.gates.gate import Background
from toolassay.gates.labelled_set import Selected
from toolassay.models import ModelOptions
from toolassay.runs import Budget
from toolassay.runs.ledger import FREE
from toolassay.runs.recorded_usage import SUMMARY
from toolassay.runs.trials import Trial
from toolassay.stages.agent_run import AgentRun
from toolassay.stages.record import hashes
from toolassay.stages.screen import Screen
from toolassay.stages.usage import NO_PRICE, Books

FOLDER = "critics"
WAYS_ON = "use those settings, another --out, or --force true (keeps the old run)"


def ask_critics(
    critics: Sequence[str],
    golds: Selected,
    background: Background,
    *,
    out: Path,
    screen: Screen,
    **settings: Any,
) -> tuple[dict[str, Mapping[int, CriticVerdict]], bool]:
    """Have several models review the same samples, one after the other.

    Args:
        critics: the models; all on the same server.
        golds: the samples.
        background: their tools.
        out: the runs are in `critics/` below; so is what each has used.
        screen: shown what all have used together.
        settings: the others that `ask_critic` takes.

    Returns:
        For each critic the verdicts by line, and whether each answered everything.

    Raises:
        UsageError: settings that contradict a run.
        ToolassayError: a model cannot be reached.
    """
    asked = {
        name: ask_critic(golds, background, llm=name, out=out, screen=screen, **settings) for name in critics
    }
    if len(critics) > 1:
        screen.say(f"used by all critics so far: {_used_together(out, critics)}")
    verdicts = {name: found for name, (found, _) in asked.items()}
    return verdicts, all(complete for _, complete in asked.values())


def ask_critic(
    golds: Selected,
    background: Background,
    *,
    out: Path,
    data: Path,
    llm: str,
    options: ModelOptions,
    multiworker: int | None,
    budget: Budget | None,
    prices: Path | None,
    force: bool,
    command: Sequence[str] | None,
    screen: Screen,
) -> tuple[Mapping[int, CriticVerdict], bool]:
    """Have a model review samples; what it reviewed before is not asked again.

    Args:
        golds: the samples.
        background: their tools.
        out: the run lies in `critics/` below.
        data: the file of the samples, for the manifest.
        llm: the critic; "offline" needs no server, and is not asked about plans without arguments, in which
            it has nothing to check.
        options: where it is.
        multiworker: requests in flight; None finds what the server bears.
        budget: what the whole run may use at most.
        prices: a table of prices.
        force: begin anew where the run had other settings; the old one is kept.
        command: what was typed.
        screen: who listens.

    Returns:
        The verdict of each sample by its line, and whether each has an answer.

    Raises:
        UsageError: settings that contradict the run.
        ToolassayError: the model cannot be reached.
    """
    bare = frozenset(gold.line for gold in golds if not gold.has_arguments) if llm in FREE else frozenset()
    not_asked = dict.fromkeys(bare, CriticVerdict("unknown", "", NOT_FOR_IT))
    golds = golds.without(bare)
    if not len(golds):
        screen.say(f"{llm} is not asked to review: there is no sample that it could judge")
        return not_asked, True
    work = CriticWork(golds, background)
    wording = hashlib.sha256(template().encode()).hexdigest()
    run = AgentRun(
        Trial(out / FOLDER, llm),
        options,
        Books([llm], budget, prices, options),
        multiworker,
        force,
        command,
        screen,
        what="critic",
        ways_on=WAYS_ON,
    )
    ended = run.carry_out(
        work,
        lambda output, journal: write_json_lines(output, work.lines(journal)),
        settings={"role": "critic", **PARAMETERS, "prompt_sha256": wording},
        facts={"requests": len(golds), "asked": len(golds), "sha256": {**hashes(data), "prompt": wording}},
        asked=len(golds),
        what="reviews",
    )
    return {**work.verdicts, **not_asked}, ended.summary.complete


def _used_together(out: Path, critics: Sequence[str]) -> str:
    """Requests, tokens and money of the runs of some critics, earlier starts included."""
    files = [Trial(out / FOLDER, name).run_folder / SUMMARY for name in critics]
    used = [read_json(file)["used"] for file in files if file.exists()]
    requests, read, written = (
        sum(one[key] for one in used) for key in ("requests", "prompt_tokens", "completion_tokens")
    )
    unknown = any(one["cost_usd"] is None for one in used)
    money = NO_PRICE if unknown else f"${sum(one['cost_usd'] for one in used):.4f}"
    return f"{requests} requests, {read} tokens read, {written} written, money: {money}"
