"""The run of a link review: batches of links, each link judged once, with a journal and limits."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from toolassay.errors import UsageError
from toolassay.files import write_json_lines
from toolassay.graph.dependencies import Dependency
from toolassay.link_review.doubtful_links import (
    DEFAULT_BAND,
    DEFAULT_LINKS,
    Verdict,
    apply_verdicts,
    doubtful_links,
)
from toolassay.link_review.prompt import LinkKey, answer_schema, read_verdicts, review_prompt, template
from toolassay.models import ChatRequest, ModelError, ModelOptions
from toolassay.runs import Journal
from toolassay.runs.budget import Estimate
from toolassay.runs.items import Ask, ItemWork, answer_items, preview_items
from toolassay.runs.ledger import FREE
from toolassay.runs.manifest import JOURNAL, MANIFEST, RetryPlan, recorded_settings
from toolassay.runs.run import Run
from toolassay.runs.settings import Limits, ModelSettings, RunChoices, RunSettings
from toolassay.runs.trials import Trial
from toolassay.runs.work import OpenRun, Work, WorkFacts, Written
from toolassay.screen import DEFAULT, WARNING, Screen
from toolassay.text_formatting import count_of
from toolassay.tools import ToolLibrary

FOLDER = "graph_review"
"""Folder of the reviews, below the data folder."""
BATCH = 20
"""Links of one request."""
_SMALL_BATCH = 5
"""Links of a second request. Smaller, because the first may have been too long, or refused for one link."""
_TRIES = 2
PARAMETERS: Mapping[str, Any] = {"temperature": 0.0, "top_p": 1.0, "max_tokens": 3000}
# Failures that are answers to these links; every other failure is sent again by the next start.
_ABOUT_THE_LINKS = ("refused", "context overflow")
CONFLICT_FIX = "use those settings, or --force true (keeps the old review, and judges its links again)"


@dataclass(frozen=True)
class ReviewOptions:
    """Options of a link review.

    Attributes:
        critic: Model that judges doubtful links; None only applies the verdicts of earlier reviews.
        critic_band: Least and greatest score of a doubtful link.
        critic_links: Maximum number of links to judge, those judged before included.
        options: Endpoint and HTTP client; None for the defaults and the environment variables.
        limits: Limits of the run.
        force: Start a new run if the settings differ from those of the existing run, which is kept.
        dry_run: Show the requests and their estimated cost. Nothing is sent or written.
        command: Command line, recorded in the manifest.
    """

    critic: str | None = None
    critic_band: tuple[float, float] = DEFAULT_BAND
    critic_links: int = DEFAULT_LINKS
    options: ModelOptions | None = None
    limits: Limits = field(default_factory=Limits)
    force: bool = False
    dry_run: bool = False
    command: Sequence[str] | None = None


class LinkReview(NamedTuple):
    """The result of a review.

    Attributes:
        dependencies: The links, with the verdicts applied.
        complete: Whether every request was answered; if not, the same command continues.
    """

    dependencies: list[Dependency]
    complete: bool


def review_links(
    folder: Path,
    library: ToolLibrary,
    dependencies: Sequence[Dependency],
    *,
    options: ReviewOptions | None = None,
    screen: Screen = DEFAULT,
) -> LinkReview:
    """Let a critic judge doubtful links, and apply its verdicts and those of earlier reviews.

    A link that any model judged is not judged again, unless its fields or its tools changed.

    Args:
        folder: Data folder; the review is in its subfolder `graph_review/`.
        library: The tools.
        dependencies: The derived links, without verdicts.
        options: The critic, its limits and choices; without a critic only stored verdicts are applied.
        screen: Receives messages, results and progress.

    Raises:
        UsageError: The critic cannot judge links, or the settings differ from those of the existing run.
        ToolassayError: The model cannot be reached.
    """
    options = options or ReviewOptions()
    complete = True
    if options.critic is not None:
        if options.critic in FREE:
            raise UsageError(
                f"'{options.critic}' cannot judge links", fix="name a served model: --critic MODEL"
            )
        complete = _ask(folder, library, dependencies, options, screen)
    elif options.dry_run:
        raise UsageError(
            "--dry_run shows what a critic would receive", fix="add --critic MODEL, or omit --dry_run"
        )
    verdicts = _fitting(stored_verdicts(folder), dependencies, library)
    judged = apply_verdicts(dependencies, verdicts)
    sensible = Counter(link.verdict.get("sensible") for link in judged if link.verdict is not None)
    if sensible:
        screen.say(f"critic: {count_of(sensible[True], 'link')} sensible, {sensible[False]:,} not sensible")
    return LinkReview(judged, complete)


def stored_verdicts(folder: Path, *, without: str | None = None) -> dict[LinkKey, Verdict]:
    """The verdicts of all reviews in a data folder, except those that `--force` has set aside.

    Args:
        folder: The data folder.
        without: A model whose review is left out.

    Raises:
        UsageError: A manifest or journal is malformed.
    """
    found: dict[LinkKey, Verdict] = {}
    for manifest in sorted((folder / FOLDER / "runs").glob(f"*/{MANIFEST}")):
        llm = (recorded_settings(manifest.parent) or {}).get("llm")
        is_current = isinstance(llm, str) and _trial(folder, llm).run_folder == manifest.parent
        if is_current and llm != without:
            with Journal(manifest.parent / JOURNAL, read_only=True) as journal:
                found = _Answers(str(llm), journal).verdicts | found
    return found


def _ask(
    folder: Path,
    library: ToolLibrary,
    dependencies: Sequence[Dependency],
    options: ReviewOptions,
    screen: Screen,
) -> bool:
    """Request the missing verdicts; returns whether every request was answered."""
    llm = str(options.critic)
    doubtful = doubtful_links(dependencies, band=options.critic_band, most=options.critic_links)
    others = stored_verdicts(folder, without=llm)
    work = LinkReviewWork(
        llm, library, [link for link in doubtful if LinkKey.of(link, library) not in others]
    )
    low, high = options.critic_band
    known = f", {len(doubtful) - work.size:,} judged by other models" if others else ""
    total = len(doubtful_links(dependencies, band=options.critic_band, most=len(dependencies)))
    cut = f", the most doubtful of {total:,}" if total > len(doubtful) else ""
    screen.say(f"{llm}: {count_of(len(doubtful), 'doubtful link')} (score {low:g} to {high:g}{cut}){known}")
    if not work.size:
        return True
    settings = RunSettings(
        ModelSettings(llm, options.options),
        options.limits,
        RunChoices(force=options.force, dry_run=options.dry_run),
        options.command,
        screen,
    )
    ended = Run(work, _trial(folder, llm), settings).carry_out()
    if ended.malformed and ended.summary.complete and not options.dry_run:
        screen.say(
            f"{WARNING}{llm} gave no readable verdict on {count_of(ended.malformed, 'link')}, "
            "which stay as they are (--force true asks again)"
        )
    return ended.summary.complete


def _trial(folder: Path, llm: str) -> Trial:
    return Trial(folder / FOLDER, llm)


def _fitting(
    verdicts: Mapping[LinkKey, Verdict], dependencies: Iterable[Dependency], library: ToolLibrary
) -> dict[tuple[str, str], Verdict]:
    """The verdicts on links that are still as the critic saw them. Digests are computed only where needed."""
    pairs = {(key.source, key.target) for key in verdicts}
    found = (
        LinkKey.of(link, library) for link in dependencies if pairs and (link.source, link.target) in pairs
    )
    return {(key.source, key.target): verdicts[key] for key in found if key in verdicts}


class _Answers:
    """The answers in the journal of a review.

    Attributes:
        verdicts: The verdicts by link.
        tries: Number of answered requests by link.
    """

    def __init__(self, llm: str, journal: Journal | None) -> None:
        self._llm = llm
        self.verdicts: dict[LinkKey, Verdict] = {}
        self.tries = Counter[LinkKey]()
        if journal is not None:
            for _, entry in journal.entries():
                self.add(entry)

    def add(self, entry: Mapping[str, Any]) -> None:
        """Add the answers of an entry; those of earlier versions hold one each."""
        for one in entry.get("requests", [entry]):
            keys = [LinkKey(*key) for key in one.get("links", ())]
            self.tries.update(keys)
            if one["outcome"] == "answered" and keys:
                found = read_verdicts(one["response"], len(keys), one["finish_reason"])
                for number, (sensible, reason) in found.items():
                    self.verdicts[keys[number - 1]] = Verdict(self._llm, sensible, reason)

    def is_open(self, key: LinkKey) -> bool:
        """Whether a link is to be sent: it has no verdict, and was not sent twice."""
        return key not in self.verdicts and self.tries[key] < _TRIES


class Batch(NamedTuple):
    """Links that are judged together.

    Attributes:
        key: In the journal: a hash of the first prompt, and the number of its try.
        links: The links.
    """

    key: str
    links: Sequence[LinkKey]


@dataclass(frozen=True)
class LinkBatches(ItemWork[Batch]):
    """The review of single batches of links that have no verdict.

    Attributes:
        links: The links by key.
        library: The tools.
        answers: What is known of the links; it grows with each answer.
    """

    links: Mapping[LinkKey, Dependency]
    library: ToolLibrary
    answers: _Answers

    @property
    def open(self) -> list[Batch]:
        """The links without a verdict, in batches."""
        links = [key for key in self.links if self.answers.is_open(key)]
        batches = [links[start : start + BATCH] for start in range(0, len(links), BATCH)]
        codes = (hashlib.sha256(self.prompt(keys).encode(errors="replace")) for keys in batches)
        return [
            Batch(f"{code.hexdigest()[:16]}-{self.answers.tries[keys[0]] + 1}", keys)
            for code, keys in zip(codes, batches, strict=True)
        ]

    def key_of(self, item: Batch) -> str:
        """The key of a batch."""
        return item.key

    def is_settled(self, entry: Mapping[str, Any]) -> bool:
        """Links with a verdict are in no batch."""
        return False

    def prompt(self, keys: Iterable[LinkKey]) -> str:
        """The prompt about some links."""
        return review_prompt([self.links[key] for key in keys], self.library)

    async def answer(self, item: Batch, ask: Ask) -> dict[str, Any]:
        """Ask about the links of a batch, and again about those without a readable verdict."""
        requests: list[dict[str, Any]] = []
        while wanted := _next_request(item.links, self.answers):
            message = {"role": "user", "content": self.prompt(wanted)}
            parameters = {**PARAMETERS, **answer_schema(len(wanted))}
            one: dict[str, Any] = {"links": [list(key) for key in wanted]}
            try:
                response = await ask(ChatRequest([message], parameters, role="critic"))
            except ModelError as error:
                if error.outcome not in _ABOUT_THE_LINKS:
                    raise
                one |= {"outcome": error.outcome, "problem": str(error)}
            else:
                outcome = "refused" if response.refused else "answered"
                one |= {
                    "outcome": outcome,
                    "response": response.text,
                    "finish_reason": response.finish_reason,
                }
            requests.append(one)
            self.answers.add(one)
        if all(key in self.answers.verdicts for key in item.links):
            return {"outcome": "answered", "requests": requests}
        last = requests[-1]["outcome"]
        return {"outcome": "malformed" if last == "answered" else last, "requests": requests}


class LinkReviewWork(Work):
    """The review of some links by one model.

    Args:
        llm: Name of the model.
        library: The tools.
        links: The links, the most doubtful first.
    """

    def __init__(self, llm: str, library: ToolLibrary, links: Sequence[Dependency]) -> None:
        self._llm, self._library = llm, library
        self._links = {LinkKey.of(link, library): link for link in links}

    @property
    def size(self) -> int:
        """Number of links."""
        return len(self._links)

    @cached_property
    def facts(self) -> WorkFacts:
        """Which links are judged is no setting: a review continues with a wider band or other tools."""
        wording = hashlib.sha256(template().encode()).hexdigest()
        return WorkFacts(
            "request",
            {"role": "critic", **PARAMETERS, "prompt_sha256": wording},
            PARAMETERS,
            -(-self.size // BATCH),
            -(-self.size // BATCH),
            {"prompt": wording},
            stage="review links",
            not_counted="; a second request for links without a readable verdict",
            conflict_fix=CONFLICT_FIX,
            extra={"links": self.size},
        )

    @property
    def items(self) -> LinkBatches:
        """The work on single batches, before any is known."""
        return self._batches_of(_Answers(self._llm, None))

    @property
    def chosen(self) -> list[Batch]:
        """All links, in batches."""
        return self.items.open

    def run(self, run: OpenRun) -> int:
        """Request the missing verdicts; returns the number of requests that earlier starts saved."""
        work = self._batches_of(_Answers(self._llm, run.journal))
        batches = work.open
        already = max(0, self.facts.size - len(batches))
        for _ in range(already):
            run.loop.done()
        answer_items(work, batches, run.model, {}, run.journal, run.loop)
        return already

    def preview(self, output: Path, journal: Journal, estimate: Estimate, retry: RetryPlan) -> int:
        """Add the missing requests to the estimate; returns the number that earlier starts saved."""
        work = self._batches_of(_Answers(self._llm, journal))
        batches = work.open
        return self.facts.size - len(batches) + preview_items(work, batches, journal, estimate, retry)

    def _batches_of(self, answers: _Answers) -> LinkBatches:
        return LinkBatches(self._links, self._library, answers)

    def write(self, output: Path, journal: Journal) -> Written:
        """Write one line for each link; `sensible` is null without a verdict."""
        verdicts = _Answers(self._llm, journal).verdicts
        lines = [
            {
                "source": key.source,
                "target": key.target,
                "sensible": verdicts[key].sensible if key in verdicts else None,
                "reason": verdicts[key].reason if key in verdicts else None,
            }
            for key in self._links
        ]
        return Written(write_json_lines(output, lines), sum(key not in verdicts for key in self._links))


def _next_request(batch: Sequence[LinkKey], answers: _Answers) -> Sequence[LinkKey]:
    """The links of the next request: first all that were not sent, then the others in smaller batches."""
    unsent = [key for key in batch if answers.is_open(key) and not answers.tries[key]]
    return unsent or [key for key in batch if answers.is_open(key)][:_SMALL_BATCH]
