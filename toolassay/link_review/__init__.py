"""A model judges doubtful links of a schema graph; its verdicts are kept in the data folder."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

from toolassay.answers import read_answer, shown_forms, without_reasoning
from toolassay.argument_schemas import schema_at
from toolassay.errors import UsageError
from toolassay.files import write_json_lines
from toolassay.graph.dependencies import Dependency, is_pinned
from toolassay.models import ChatRequest, ModelError, ModelOptions
from toolassay.models.structured_output import json_schema
from toolassay.output_paths import EACH, parse_path
from toolassay.prompt_templates import package_template
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
from toolassay.signatures import shown_tool
from toolassay.text_formatting import count_of
from toolassay.tools import ToolLibrary

DEFAULT_BAND = (0.2, 0.6)
"""Least and greatest score of a doubtful link."""
DEFAULT_LINKS = 500
"""Maximum number of links that one review judges."""
_ACCEPTED, _REJECTED = 0.85, 0.1
"""Least score of a link that a critic found sensible, and greatest score of one that it did not."""
_CONFIRMED = 3
"""Number of recorded calls from which a link needs no review."""


class LinkVerdict(NamedTuple):
    """The verdict of a model on one link.

    Attributes:
        model: Name of the model.
        sensible: Whether the values of the link can flow in a realistic task.
        reason: Why, in the model's words; may be empty.
    """

    model: str
    sensible: bool
    reason: str


def doubtful_links(
    dependencies: Iterable[Dependency],
    *,
    band: tuple[float, float] = DEFAULT_BAND,
    most: int = DEFAULT_LINKS,
) -> list[Dependency]:
    """The links that a critic judges, the most doubtful first: those nearest to the middle of the band.

    Args:
        dependencies: The links. Those that carry no value, that a person decided on, that recorded calls
            confirm or that have a verdict are left out.
        band: Least and greatest score.
        most: Maximum number of links.
    """
    low, high = band
    found = (link for link in dependencies if _is_open(link) and low <= link.score <= high)
    # Rounded, so that 0.3 and 0.7 are equally far from 0.5.
    return sorted(
        found, key=lambda link: (round(abs(link.score - (low + high) / 2), 6), link.source, link.target)
    )[:most]


def apply_verdicts(
    dependencies: Iterable[Dependency], verdicts: Mapping[tuple[str, str], LinkVerdict]
) -> list[Dependency]:
    """The links with their verdicts, in the same order.

    A verdict sets `origin` to "critic" and raises the score to at least 0.85, or lowers it to at most 0.1.
    Links that need no review (see `doubtful_links`) keep theirs.

    Args:
        dependencies: The links.
        verdicts: The verdicts by source and target.
    """
    return [_judged(link, verdicts.get((link.source, link.target))) for link in dependencies]


def _judged(link: Dependency, verdict: LinkVerdict | None) -> Dependency:
    if verdict is None or not _is_open(link):
        return link
    score = max(link.score, _ACCEPTED) if verdict.sensible else min(link.score, _REJECTED)
    return replace(link, score=score, origin="critic").with_further(verdict=verdict._asdict())


def _is_open(link: Dependency) -> bool:
    """Whether a verdict counts: nothing stronger than the verdict of a model has settled the link."""
    return (
        link.kind == "dependency"
        and link.origin in ("schema", "description", "trace")
        and link.count < _CONFIRMED
        and link.verdict is None
        and not is_pinned(link)
    )


_VERDICTS = "verdicts"
_MOST_DESCRIPTION = 300  # characters of the description of a field
_MOST_REASON = 300  # characters of a reason in a verdict
_WORDS = {"true": True, "yes": True, "false": False, "no": False}


class LinkKey(NamedTuple):
    """Identifies a link as a critic saw it: a changed tool or other fields give another digest."""

    source: str
    target: str
    digest: str

    @classmethod
    def of(cls, link: Dependency, library: ToolLibrary) -> LinkKey:
        """The key of a link. Score and reasons do not count: they change with other tools of the library."""
        shown = {**_shown_link(link, library), "reasons": None}
        tools = [shown_tool(library[name]) for name in (link.source, link.target)]
        text = json.dumps([shown, tools], sort_keys=True)
        return cls(link.source, link.target, hashlib.sha256(text.encode()).hexdigest()[:24])


def template() -> str:
    """The text of `templates/link_review.txt`, with the placeholders $tools and $links."""
    return package_template("link_review", "link_review")


def review_prompt(links: Sequence[Dependency], library: ToolLibrary) -> str:
    """The prompt for some links, numbered from 1.

    Each tool and each link is one line of JSON, so that no description can end its line or add a link.
    """
    names = dict.fromkeys(name for link in links for name in (link.source, link.target))
    numbered = ({"link": number, **_shown_link(link, library)} for number, link in enumerate(links, start=1))
    return Template(template()).substitute(
        tools="\n".join(_json(shown_tool(library[name])) for name in names),
        links="\n".join(_json(link) for link in numbered),
    )


def answer_schema(count: int) -> dict[str, Any]:
    """The `response_format` parameter for the verdicts on `count` links."""
    verdict = {"link": {"type": "integer"}, "reason": {"type": "string"}, "sensible": {"type": "boolean"}}
    verdicts = {"type": "array", "items": _object(verdict), "maxItems": count}
    return json_schema(_VERDICTS, _object({_VERDICTS: verdicts}))


def read_verdicts(text: str, count: int, finish_reason: str | None = None) -> dict[int, tuple[bool, str]]:
    """The verdicts in an answer, by the number of the link.

    Left out are links without a readable verdict or with contradicting ones, and numbers that were not
    shown. Of a truncated answer the last verdict is left out, because its number may be incomplete.

    Args:
        text: The answer: the object that the prompt shows, or only its list.
        count: Number of links in the prompt.
        finish_reason: Finish reason of the provider.

    >>> read_verdicts('[{"link": 2, "sensible": false, "reason": "a page number"}, {"link": 3}]', 3)
    {2: (False, 'a page number')}
    """
    forms = shown_forms((template(),), keys={_VERDICTS})
    answer = read_answer(text, keys={_VERDICTS}, forms=forms, nested=False, finish_reason=finish_reason)
    if answer.value is None:
        text = without_reasoning(text)[0]
        listed = f'{{"{_VERDICTS}": {text[text.find("[") : text.rfind("]") + 1]}}}'
        answer = read_answer(listed, keys={_VERDICTS}, forms=forms, nested=False, finish_reason=finish_reason)
    items = (answer.value or {}).get(_VERDICTS)
    found: dict[int, tuple[bool, str]] = {}
    contradicted = set()
    for item in (items[:-1] if answer.truncated else items) if isinstance(items, list) else ():
        given = item if isinstance(item, Mapping) else {}
        number, sensible = _number(given.get("link")), _boolean(given.get("sensible"))
        if number is None or sensible is None or not 1 <= number <= count:
            continue
        if number in found and found[number][0] != sensible:
            contradicted.add(number)
        reason = given.get("reason")
        found[number] = sensible, _shortened(reason, _MOST_REASON) if isinstance(reason, str) else ""
    return {number: found[number] for number in sorted(found) if number not in contradicted}


def _shown_link(link: Dependency, library: ToolLibrary) -> dict[str, Any]:
    source, target = library[link.source], library[link.target]
    flows = [
        {
            "result": pair.source,
            **_about(pair.source, source.output_schema),
            "argument": pair.target,
            **{f"argument_{key}": text for key, text in _about(pair.target, target.input_schema).items()},
        }
        for pair in sorted(link.fields)
    ]
    return {"from": link.source, "to": link.target, "flows": flows or link.type, "reasons": link.reasons}


def _about(path: str, schema: Mapping[str, Any] | None) -> dict[str, str]:
    """The description of the place in a result or of an argument, if it has one."""
    parts = [0 if part == EACH else part for part in parse_path(path)]
    text = schema_at(parts, schema or {}).get("description")
    return {"description": _shortened(text, _MOST_DESCRIPTION)} if isinstance(text, str) and text else {}


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _number(value: Any) -> int | None:
    """The number of a link: 3, 3.0 or "3"."""
    if isinstance(value, str) and value.strip().isdecimal():
        value = int(value[:9])
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value // 1:
        return None
    return int(value)


def _boolean(value: Any) -> bool | None:
    if isinstance(value, str):
        return _WORDS.get(value.strip().lower())
    return value if isinstance(value, bool) else None


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


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


def stored_verdicts(folder: Path, *, without: str | None = None) -> dict[LinkKey, LinkVerdict]:
    """The verdicts of all reviews in a data folder, except those that `--force` has set aside.

    Args:
        folder: The data folder.
        without: A model whose review is left out.

    Raises:
        UsageError: A manifest or journal is malformed.
    """
    found: dict[LinkKey, LinkVerdict] = {}
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
    verdicts: Mapping[LinkKey, LinkVerdict], dependencies: Iterable[Dependency], library: ToolLibrary
) -> dict[tuple[str, str], LinkVerdict]:
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
        self.verdicts: dict[LinkKey, LinkVerdict] = {}
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
                    self.verdicts[keys[number - 1]] = LinkVerdict(self._llm, sensible, reason)

    def is_open(self, key: LinkKey) -> bool:
        """Whether a link is to be sent: it has no verdict, and was not sent twice."""
        return key not in self.verdicts and self.tries[key] < _TRIES


class LinkBatch(NamedTuple):
    """Links that are judged together.

    Attributes:
        key: In the journal: a hash of the first prompt, and the number of its try.
        links: The links.
    """

    key: str
    links: Sequence[LinkKey]


@dataclass(frozen=True)
class LinkBatches(ItemWork[LinkBatch]):
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
    def open(self) -> list[LinkBatch]:
        """The links without a verdict, in batches."""
        links = [key for key in self.links if self.answers.is_open(key)]
        batches = [links[start : start + BATCH] for start in range(0, len(links), BATCH)]
        codes = (hashlib.sha256(self.prompt(keys).encode(errors="replace")) for keys in batches)
        return [
            LinkBatch(f"{code.hexdigest()[:16]}-{self.answers.tries[keys[0]] + 1}", keys)
            for code, keys in zip(codes, batches, strict=True)
        ]

    def key_of(self, item: LinkBatch) -> str:
        """The key of a batch."""
        return item.key

    def is_settled(self, entry: Mapping[str, Any]) -> bool:
        """Links with a verdict are in no batch."""
        return False

    def prompt(self, keys: Iterable[LinkKey]) -> str:
        """The prompt about some links."""
        return review_prompt([self.links[key] for key in keys], self.library)

    async def answer(self, item: LinkBatch, ask: Ask) -> dict[str, Any]:
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
    def chosen(self) -> list[LinkBatch]:
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
