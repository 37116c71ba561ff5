"""The run in which a model makes proposals about all tools, and what the data folder keeps of it."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from types import MappingProxyType
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
    MOST_TOOLS,
    Proposal,
    ToolGroup,
    answer_schema,
    proposal_prompt,
    read_proposals,
    source_line,
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
from toolassay.tools.library import ToolLibrary

FOLDER = "graph_proposals"
"""Folder of the proposals, below the data folder."""
CANDIDATES = 60
"""Maximum number of other tools that a request shows."""
_MOST_CHARACTERS = 12_000  # of the tools that one request is about
# Temperature 0, so that proposals repeat. 8,000 tokens bound an answer about six tools.
PARAMETERS: Mapping[str, Any] = {"temperature": 0.0, "top_p": 1.0, "max_tokens": 8000}
CONFLICT_FIX = "use those settings, or --force true (keeps the old run, and asks about every tool again)"
_MOST_NAMED = 5  # refused links in a message
_AGAIN = "This is not the requested JSON object. Answer with it and nothing else."


def groups_of(library: ToolLibrary, dependencies: Iterable[Dependency]) -> list[ToolGroup]:
    """The requests about all tools: each result is the subject of one, with at most `CANDIDATES` others.

    Results rather than arguments, because fields that are not declared are named together with their links.
    Neighbours in the library share a request. The tools of a group choose the others in turn: first those
    that they feed, the best links first, then those with similar names, descriptions and arguments.
    """
    fed: dict[str, list[str]] = defaultdict(list)
    for dependency in sorted(dependencies, key=lambda dependency: -dependency.score):
        fed[dependency.source].append(dependency.target)
    similarity = Similarity(
        [
            f"{tool.id} {tool.description} {' '.join(parameter.name for parameter in tool.parameters)}"
            for tool in library
        ]
    )
    indices = range(len(library))

    def nearest(index: int) -> list[str]:
        alike = similarity.of(index, indices)
        return [*fed[library.ids[index]], *(library.ids[n] for n in sorted(indices, key=lambda n: -alike[n]))]

    groups = []
    for together in _neighbours(library):
        ids = [library.ids[index] for index in together]
        turns = (name for turn in zip_longest(*map(nearest, together)) for name in turn if name is not None)
        others = [name for name in dict.fromkeys(turns) if name not in ids][:CANDIDATES]
        groups.append(ToolGroup([library[name] for name in ids], [library[name] for name in others]))
    return groups


def _neighbours(library: ToolLibrary) -> list[list[int]]:
    """The numbers of all tools, of those together whose lines one prompt may have."""
    together: list[list[int]] = []
    left = 0
    for index, tool in enumerate(library):
        size = len(source_line(tool))
        if not together or size > left or len(together[-1]) == MOST_TOOLS:
            together.append([])
            left = _MOST_CHARACTERS
        together[-1].append(index)
        left -= size
    return together


class ProposalEntry(ItemEntry):
    """What a model answered about a group of tools; `prompt` is a hash."""

    prompt: str = ""
    proposals: list[Proposal] | None = None


@dataclass(frozen=True)
class ProposalItems(ItemWork[ToolGroup]):
    """The requests about groups of tools.

    Attributes:
        seen: What a real call of a tool returned, by tool.
    """

    seen: Mapping[str, str]
    final = FINAL
    record = ProposalEntry

    def key_of(self, item: ToolGroup) -> str:
        """The id of the first tool."""
        return item.tools[0].id

    def identity(self, item: ToolGroup) -> dict[str, Any]:
        """The prompt: a changed tool is asked about again."""
        prompt = proposal_prompt(item, self.seen)
        return {"prompt": hashlib.sha256(prompt.encode(errors="replace")).hexdigest()[:24]}

    async def answer(self, item: ToolGroup, ask: Ask) -> ProposalEntry:
        """Ask for proposals; once more if the answer is not the requested object."""
        messages = [{"role": "user", "content": proposal_prompt(item, self.seen)}]
        for _ in range(2):
            response = await ask(ChatRequest(messages, {**PARAMETERS, **answer_schema()}, role="proposer"))
            proposals = read_proposals(response.text, response.finish_reason)
            if proposals is not None:
                ids = [tool.id for tool in item.tools]
                return ProposalEntry(
                    outcome="answered", proposals=[proposal for proposal in proposals if proposal.tool in ids]
                )
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
        seen: What a real call of a tool returned, by tool.
    """

    def __init__(
        self, llm: str, library: ToolLibrary, dependencies: Sequence[Dependency], seen: Mapping[str, str]
    ) -> None:
        self._llm = llm
        self._groups = groups_of(library, dependencies)
        self._seen = seen

    @cached_property
    def facts(self) -> WorkFacts:
        """Which tools there are is no setting: a run continues with others."""
        wording = hashlib.sha256(template().encode()).hexdigest()
        return WorkFacts(
            "group",
            {"role": "proposer", **PARAMETERS, "candidates": CANDIDATES, "prompt_sha256": wording},
            PARAMETERS,
            len(self._groups),
            len(self._groups),
            {"prompt": wording},
            stage="propose links",
            not_counted="; a second request about groups without a readable answer",
            conflict_fix=CONFLICT_FIX,
        )

    @cached_property
    def items(self) -> ProposalItems:
        """The requests."""
        return ProposalItems(self._seen)

    @property
    def chosen(self) -> Sequence[ToolGroup]:
        """All groups."""
        return self._groups

    def write(self, output: Path, journal: Journal) -> Written:
        """Write one line for each tool with a proposal."""
        entries = [self.items.entry_of(journal, group) for group in self._groups]
        lines = [
            msgspec.to_builtins(msgspec.structs.replace(proposal, model=self._llm))
            for entry in entries
            for proposal in entry.proposals or ()
        ]
        unread = sum(entry.outcome in FINAL and entry.proposals is None for entry in entries)
        return Written(write_json_lines(output, lines), unread)


def propose(
    folder: Path,
    library: ToolLibrary,
    dependencies: Sequence[Dependency],
    options: ProposeOptions,
    *,
    seen: Mapping[str, str] = MappingProxyType({}),
    screen: Screen = DEFAULT,
) -> bool:
    """Let a model propose links and shapes of results; returns whether every request was answered.

    Args:
        folder: Data folder; the proposals are in its subfolder `graph_proposals/`.
        library: The tools, without proposed shapes.
        dependencies: The links without proposals.
        options: The model, its limits and choices.
        seen: What a real call of a tool returned, by tool.
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
    work = ProposalWork(options.model, library, dependencies, seen)
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
