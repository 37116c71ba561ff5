"""What the metrics of a data folder say, whichever its benchmark: columns, reader, origin."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from toolassay.benchmarks.classic.data import data_fingerprint as chat_fingerprint
from toolassay.benchmarks.classic.data import is_classic
from toolassay.benchmarks.classic.scoring import leaderboard as chats
from toolassay.benchmarks.classic.scoring.leaderboard import published_rows
from toolassay.benchmarks.classic.scoring.prediction_rows import rows_fingerprint_of
from toolassay.benchmarks.workbench.agents import leaderboard as agents
from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.benchmarks.workbench.tasks import fingerprint, read_tasks
from toolassay.benchmarks.workbench.work import is_workbench
from toolassay.benchmarks.workbench.workplace import own_tools_file
from toolassay.data_folder import DataFolder
from toolassay.evaluation.metrics_file import Standing, read_standing
from toolassay.files import sha256_of
from toolassay.metrics.confidence_interval import Interval
from toolassay.report.leaderboard.ranking import CAPTION, HEADINGS, LeaderboardRow


@dataclass(frozen=True)
class Standings:
    """How the models of a folder stand.

    Attributes:
        headings: the columns of scores.
        sort_by: that by which rows are sorted unless somebody says otherwise.
        caption: what the columns mean.
        read: the standing in a metrics file, of one of its groups.
        made_from: parts of a signature with what they would be now, and what to call each.
        fingerprint: of a prediction file, as the signature has it.
        published: the published rows; None where they depend on the domain.
    """

    headings: Sequence[str]
    sort_by: str
    caption: str
    read: Callable[[Path, str], Standing]
    made_from: Mapping[str, tuple[str, str]]
    fingerprint: Callable[[Path], str] = sha256_of
    published: Callable[[], list[LeaderboardRow]] | None = None

    def stale(self, name: str, standing: Standing, predictions: Path) -> Iterator[str]:
        """Warnings that what a model was scored with is no longer what the folder holds."""
        if standing.strict is None:
            yield f"{name} has no strict scores: evaluate it again"
        now = dict(self.made_from)
        if predictions.is_file():
            now["predictions"] = predictions.name, self.fingerprint(predictions)
        for part, (what, value) in now.items():
            known = standing.parts.get(part)
            if known is not None and value[: len(known)] != known:
                yield f"warning: {name} was scored with other {part} than {what} has: evaluate it again"


def standings_of(folder: DataFolder) -> Standings:
    """What the metrics of a folder are to be read as.

    Raises:
        UsageError: a folder of WorkBench or CLASSic whose sandbox, tasks or tables cannot be read.
    """
    if is_classic(folder):
        return Standings(
            chats.HEADINGS,
            chats.HEADINGS[0],
            chats.CAPTION,
            chats.read_chat_standing,
            {"data": (folder.path.resolve().name, chat_fingerprint(folder.path))},
            rows_fingerprint_of,
            _published_agents,
        )
    if is_workbench(folder):
        name, tools = folder.path.resolve().name, own_tools_file(folder.path)
        made_from = {"tasks": (name, fingerprint(read_tasks(folder.path)))}
        if tools is None:
            image = Sandbox.load(folder.path).image()
            made_from["sandbox"] = name, hashlib.sha256(image).hexdigest()
        else:  # the workplace itself is not opened: that would run its tools
            made_from["tools"] = tools.name, sha256_of(tools)
        return Standings(
            agents.HEADINGS, agents.HEADINGS[0], agents.CAPTION, agents.read_agent_standing, made_from
        )
    made_from = {"data": (folder.data.name, sha256_of(folder.data))} if folder.data.is_file() else {}
    return Standings(HEADINGS, "n-F1", CAPTION, read_standing, made_from)


def _published_agents() -> list[LeaderboardRow]:
    """The published agents of CLASSic over all domains: accuracy and stability."""
    return [
        LeaderboardRow(
            model,
            "published",
            {
                name: Interval(100 * figures[name], None, None)
                for name in ("accuracy", "stability")
                if name in figures
            },
        )
        for model, figures in published_rows("all").items()
    ]
