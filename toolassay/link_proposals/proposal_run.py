"""The run in which a model makes proposals about all tools, and what the data folder keeps of it."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from toolassay.console.screen import DEFAULT, WARNING, Screen
from toolassay.console.text_formatting import count_of, some_of
from toolassay.errors import UsageError
from toolassay.files.data_files import write_json_lines
from toolassay.graph.dependencies import Dependency
from toolassay.graph.derive.evidence import Similarity
from toolassay.link_proposals.applied_proposals import WithProposals, apply_proposals
from toolassay.link_proposals.options import ProposeOptions
from toolassay.link_proposals.proposal import (
    Proposal,
    answer_schema,
    proposal_prompt,
    read_proposal,
    template,
)
from toolassay.models import ChatRequest
from toolassay.runs.items import FINAL, Ask, ItemWork
from toolassay.runs.journal import ItemEntry, Journal
from toolassay.runs.ledger import FREE
from toolassay.runs.run import Run
from toolassay.runs.settings import ModelSettings, RunChoices, RunSettings
from toolassay.runs.trials import Trial
from toolassay.runs.work import Work, WorkFacts, Written
from toolassay.tools.library import Tool, ToolLibrary

FOLDER = "graph_proposals"
"""Folder of the proposals, below the data folder."""
CANDIDATES = 40
"""Maximum number of other tools that a request shows."""
# Temperature 0, so that proposals repeat. 3,000 tokens bound an answer of `MOST_LINKS` (30) links.
PARAMETERS: Mapping[str, Any] = {"temperature": 0.0, "top_p": 1.0, "max_tokens": 3000}
CONFLICT_FIX = "use those settings, or --force true (keeps the old run, and asks about every tool again)"
_MOST_NAMED = 5  # refused links in a message
_AGAIN = "This is not the requested JSON object. Answer with it and nothing else."


def candidates_of(library: ToolLibrary, dependencies: Iterable[Dependency]) -> dict[str, list[Tool]]:
    """The other tools that the request about each tool shows, by its id: at most `CANDIDATES`.

    First those with which it is linked, the best links first, then those with similar names, descriptions and
    arguments.
    """
    linked: dict[str, dict[str, None]] = defaultdict(dict)
    for dependency in sorted(dependencies, key=lambda dependency: -dependency.score):
        linked[dependency.source][dependency.target] = linked[dependency.target][dependency.source] = None
    similarity = Similarity(
        [
            f"{tool.id} {tool.description} {' '.join(parameter.name for parameter in tool.parameters)}"
            for tool in library
        ]
    )
    indices = range(len(library))
    candidates: dict[str, list[Tool]] = {}
    for index, tool in enumerate(library):
        alike = similarity.of(index, indices)
        names = [*linked[tool.id], *(library.ids[n] for n in sorted(indices, key=lambda n: -alike[n]))]
        nearest = [library[name] for name in dict.fromkeys(names) if name != tool.id]
        candidates[tool.id] = nearest[:CANDIDATES]
    return candidates


class ProposalEntry(ItemEntry):
    """What a model answered about a tool; `prompt` is a hash."""

    prompt: str = ""
    proposal: Proposal | None = None


@dataclass(frozen=True)
class ProposalItems(ItemWork[Tool]):
    """The requests about single tools.

    Attributes:
        others: The other tools that each request shows, by id of its tool.
    """

    others: Mapping[str, Sequence[Tool]]
    final = FINAL
    record = ProposalEntry

    def key_of(self, item: Tool) -> str:
        """The id of the tool."""
        return item.id

    def identity(self, item: Tool) -> dict[str, Any]:
        """The prompt: a changed tool is asked about again."""
        prompt = proposal_prompt(item, self.others[item.id])
        return {"prompt": hashlib.sha256(prompt.encode(errors="replace")).hexdigest()[:24]}

    async def answer(self, item: Tool, ask: Ask) -> ProposalEntry:
        """Ask for a proposal; once more if the answer is not the requested object."""
        messages = [{"role": "user", "content": proposal_prompt(item, self.others[item.id])}]
        for _ in range(2):
            response = await ask(ChatRequest(messages, {**PARAMETERS, **answer_schema()}, role="proposer"))
            proposal = read_proposal(response.text, response.finish_reason)
            if proposal is not None:
                return ProposalEntry(outcome="answered", proposal=proposal)
            if response.refused:
                return ProposalEntry(outcome="refused")
            messages += [
                {"role": "assistant", "content": response.text},
                {"role": "user", "content": _AGAIN},
            ]
        return ProposalEntry(outcome="malformed")


class ProposalWork(Work):
    """The proposals of one model about all tools.

    Args:
        llm: Name of the model.
        library: The tools, without proposed shapes.
        dependencies: The links without proposals.
    """

    def __init__(self, llm: str, library: ToolLibrary, dependencies: Sequence[Dependency]) -> None:
        self._llm, self._library, self._dependencies = llm, library, dependencies

    @cached_property
    def facts(self) -> WorkFacts:
        """Which tools there are is no setting: a run continues with others."""
        wording = hashlib.sha256(template().encode()).hexdigest()
        return WorkFacts(
            "tool",
            {"role": "proposer", **PARAMETERS, "candidates": CANDIDATES, "prompt_sha256": wording},
            PARAMETERS,
            len(self._library),
            len(self._library),
            {"prompt": wording},
            stage="propose links",
            not_counted="; a second request about tools without a readable answer",
            conflict_fix=CONFLICT_FIX,
        )

    @cached_property
    def items(self) -> ProposalItems:
        """The requests."""
        return ProposalItems(candidates_of(self._library, self._dependencies))

    @property
    def chosen(self) -> Sequence[Tool]:
        """All tools."""
        return self._library.tools

    def write(self, output: Path, journal: Journal) -> Written:
        """Write one line for each tool with a proposal."""
        entries = {tool.id: self.items.entry_of(journal, tool) for tool in self._library}
        lines = [
            msgspec.to_builtins(msgspec.structs.replace(entry.proposal, tool=name, model=self._llm))
            for name, entry in entries.items()
            if entry.proposal is not None
        ]
        unread = sum(entry.outcome in FINAL and entry.proposal is None for entry in entries.values())
        return Written(write_json_lines(output, lines), unread)


def propose(
    folder: Path,
    library: ToolLibrary,
    dependencies: Sequence[Dependency],
    options: ProposeOptions,
    *,
    screen: Screen = DEFAULT,
) -> bool:
    """Let a model propose links and shapes of results; returns whether every tool was answered.

    Args:
        folder: Data folder; the proposals are in its subfolder `graph_proposals/`.
        library: The tools, without proposed shapes.
        dependencies: The links without proposals.
        options: The model, its limits and choices.
        screen: Receives messages, results and progress.

    Raises:
        UsageError: The model is a built-in one, or the settings differ from those of the existing run.
        ToolassayError: The model cannot be reached.
    """
    if options.model in FREE:
        raise UsageError(
            f"'{options.model}' cannot propose links", fix="name a served model: --propose MODEL"
        )
    settings = RunSettings(
        ModelSettings(options.model, options.options),
        options.limits,
        RunChoices(force=options.force, dry_run=options.dry_run),
        options.command,
        screen,
    )
    work = ProposalWork(options.model, library, dependencies)
    ended = Run(work, Trial(folder / FOLDER, options.model), settings).carry_out()
    return ended.summary.complete


def stored_proposals(folder: Path) -> list[Proposal]:
    """The proposals of all models in a data folder.

    Raises:
        UsageError: A file is malformed.
    """
    proposals: list[Proposal] = []
    for path in sorted((folder / FOLDER).glob("*.json")):
        try:
            proposals += msgspec.json.Decoder(Proposal).decode_lines(path.read_bytes())
        except msgspec.DecodeError as error:
            raise UsageError(
                f"malformed proposal: {error}", file=path, fix="delete it, and give --propose again"
            ) from None
    return proposals


def proposed(
    folder: Path, library: ToolLibrary, dependencies: Sequence[Dependency], screen: Screen
) -> WithProposals:
    """The links with the stored proposals; refused ones are reported."""
    applied = apply_proposals(dependencies, stored_proposals(folder), library)
    if count := sum(link.origin == "proposed" for link in applied.dependencies):
        screen.say(f"{count_of(count, 'proposed link')} ({folder / FOLDER})")
    if applied.refused:
        screen.say(
            f"{WARNING}{count_of(len(applied.refused), 'proposed link')} refused: "
            f"{some_of(applied.refused, _MOST_NAMED)}"
        )
    return applied
