"""CLASSic (Wornow et al., 2025): an agent chooses the workflow to start for each message of a chat."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from toolassay.benchmarks.benchmark import Benchmark, Columns, Entry, Numbers
from toolassay.benchmarks.classic.options import ChatOptions, ChatScoring
from toolassay.data_folder import DataFolder
from toolassay.evaluation.axis import Axis
from toolassay.extras import Option

if TYPE_CHECKING:
    from toolassay.benchmarks.security import Prober
    from toolassay.evaluation.evaluation import FolderEvaluation, ScoringSettings
    from toolassay.evaluation.item_detail import ItemAnswer, ItemGold
    from toolassay.evaluation.metrics_file import Standing
    from toolassay.evaluation.verification import LineComparison, RecordedRun
    from toolassay.offline.shown_graphs import ShownGraphs
    from toolassay.report.leaderboard import LeaderboardRow
    from toolassay.runs.settings import RunSettings
    from toolassay.runs.work import Inference, Work

_ALL = "domain:all"


class Classic(Benchmark):
    """Folders with tables of chats, workflows and domains."""

    name = "classic"
    title = "CLASSic"
    noun = "message"
    right = "the workflow, or none, is one that the labels accept"
    default_folder = "data_classic"
    order = 2
    options = ChatOptions
    scoring = ChatScoring
    infer_options: ClassVar[Sequence[Option]] = (
        Option(
            "agent",
            "cot (default), reasoning, tools (one function per workflow), retrieval (default of the offline "
            "model), recorded.",
        ),
        Option("order", "Order of the workflows in the prompt [default: table].", metavar="table|name|SEED"),
        Option("recorded", "File with recorded answers, CSV or JSON, for --agent recorded.", Path),
        Option(
            "none_as",
            "Recorded answer that means no workflow [default: none]; '' is an empty cell.",
            multiple=True,
        ),
    )
    evaluate_options: ClassVar[Sequence[Option]] = (
        Option(
            "orders",
            "Prediction folder of a run with another order of the workflows; may be repeated.",
            Path,
            multiple=True,
        ),
    )
    verify_options: ClassVar[Sequence[Option]] = (
        Option(
            "orders",
            "Prediction folder that was passed to evaluate --orders; may be repeated.",
            Path,
            multiple=True,
        ),
    )
    show_options: ClassVar[Sequence[Option]] = (
        Option(
            "with_published",
            "Add the published figures: true adds those of each domain, false none "
            "[default: the overall figures].",
            bool,
        ),
    )
    help_notes: ClassVar[Mapping[str, str]] = {
        "max_tokens": "512, or 4096 for --agent reasoning",
        "structured": "a schema without the workflow names",
    }
    security_modes: ClassVar[Mapping[str, str]] = {
        "published": "the published test of the model without the agent, graded by --judge"
    }
    commands: ClassVar[Mapping[str, Entry]] = {
        "classic": Entry(
            "Run agents that choose workflows, score predictions, build a data set from your chats.",
            "toolassay.benchmarks.classic.commands:command",
            ("classic run",),
        )
    }
    importers: ClassVar[Mapping[str, Entry]] = {
        "classic": Entry(
            "CLASSic: the four published tables.", "toolassay.benchmarks.classic.commands:import_command"
        )
    }
    cluster = "the messages of one conversation"
    gold_advice = "its labels are made sound by `toolassay classic build`, with its own funnel"

    def recognises(self, folder: DataFolder) -> bool:
        """A folder with the tables, where `benchmark.json` does not say otherwise."""
        from toolassay.benchmarks.classic.data import holds_chats

        return not folder.benchmark_file.exists() and holds_chats(folder.path)

    def library_of(self, folder: DataFolder) -> tuple[str, str] | None:
        """Chats that were imported, or whose workflows are those of the bundled set."""
        from toolassay.benchmarks.classic.data import has_known_chats

        return (self.title, "") if has_known_chats(folder) else None

    def prompted_task(self, body: Mapping[str, Any], shown: ShownGraphs) -> Any:
        """The chat and the workflows of an agent's prompt."""
        from toolassay.benchmarks.classic.agents.prompt_reader import prompted_choice

        return prompted_choice(body)

    def work(self, folder: DataFolder, run: RunSettings, own: ChatOptions, trial: int) -> Work:
        """An agent on each message."""
        from toolassay.benchmarks.classic.work import ChatWork

        return ChatWork(folder, run, own, trial)

    def prober(self, folder: DataFolder, run: RunSettings, own: ChatOptions, count: int | None) -> Prober:
        """Chats with a planted text."""
        from toolassay.benchmarks.classic.work import chat_prober

        return chat_prober(folder, run, own, count)

    def probe_in_mode(
        self, mode: str, folder: DataFolder, run: RunSettings, own: ChatOptions, judge: str | None
    ) -> Inference:
        """The published test takes no options of the agent."""
        from toolassay.benchmarks.classic.security.published.stage import probe_as_published
        from toolassay.benchmarks.security.probe import refuse_beside_security

        refuse_beside_security(
            mode,
            agent=own.agent,
            order=own.order,
            recorded=own.recorded,
            none_as=own.none_as,
            max_tokens=run.model.max_tokens,
            structured=run.model.structured,
        )
        return probe_as_published(folder, run, judge)

    def evaluate(
        self, folder: DataFolder, scoring: ScoringSettings, own: ChatScoring
    ) -> Sequence[FolderEvaluation]:
        """Published and strict metrics of choices."""
        from toolassay.benchmarks.classic.evaluation import evaluate_chats

        return evaluate_chats(folder, scoring, own)

    def show_scores(self, evaluations: Sequence[Any], **options: Any) -> None:
        """Five axes of each agent, published figures beside them."""
        from toolassay.benchmarks.classic.score_tables import print_chat_scores

        print_chat_scores(evaluations, with_published=options.get("with_published"))

    @property
    def columns(self) -> Columns:
        """Accuracy by message, conversation and workflow, F1, stability."""
        from toolassay.benchmarks.classic.scoring.leaderboard import CAPTION, HEADINGS

        return Columns(HEADINGS, HEADINGS[0], CAPTION)

    def read_standing(self, path: Path, group: str) -> Standing:
        """Accuracy by message, conversation and workflow, and stability."""
        from toolassay.benchmarks.classic.scoring.leaderboard import read_chat_standing

        return read_chat_standing(path, group)

    def made_from(self, folder: DataFolder) -> Mapping[str, tuple[str, str]]:
        """The tables that scores depend on."""
        from toolassay.benchmarks.classic.data import data_fingerprint

        return {"data": (folder.path.resolve().name, data_fingerprint(folder.path))}

    def fingerprint(self, predictions: Path) -> str:
        """Of what the rows say, in whatever order."""
        from toolassay.benchmarks.classic.scoring.prediction_rows import rows_fingerprint_of

        return rows_fingerprint_of(predictions)

    def published_rows(self, folder: DataFolder, domain: str | None) -> list[LeaderboardRow]:
        """The published agents over all domains."""
        from toolassay.benchmarks.classic.scoring.leaderboard import published_agent_rows

        return published_agent_rows()

    def axis(self, numbers: Numbers) -> Axis:
        """Strict accuracy of messages in all trials; without a ledger, cost and time by the rows."""
        strict = numbers["strict"]
        found = strict["stability"][_ALL]
        stability = {**found, **found["messages"]} if found["trials"] > 1 else None
        cost, latency = ((strict.get(axis) or {}).get(_ALL, {}) for axis in ("cost", "latency"))
        return Axis(numbers["n"], strict["accuracy"][_ALL]["messages"], stability, cost, latency)

    def item_golds(self, folder: DataFolder) -> Iterator[ItemGold]:
        """As `message_golds`."""
        from toolassay.benchmarks.classic.item_details import message_golds

        return message_golds(folder)

    def item_answers(
        self, folder: DataFolder, predictions: Path, llm: str, *, only: Collection[str] | None = None
    ) -> Iterator[tuple[str, ItemAnswer]]:
        """As `message_answers`."""
        from toolassay.benchmarks.classic.item_details import message_answers

        return message_answers(folder, predictions, llm)

    def remade_lines(
        self, recorded: RecordedRun, own: ChatScoring, comparison: LineComparison
    ) -> Iterator[dict[str, Any]]:
        """The choices in the raw answers."""
        from toolassay.benchmarks.classic.work import reparsed_rows

        return reparsed_rows(recorded)

    def beside(self, predictions: Path, llm: str) -> Sequence[Path]:
        """The file of the published security test."""
        from toolassay.benchmarks.classic.security.published import published_file

        return (published_file(predictions, llm),)


BENCHMARK = Classic()
