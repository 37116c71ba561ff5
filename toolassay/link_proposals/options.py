"""Options of the links of schema graphs, and of the model that proposes some."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from toolassay.declarations import Option
from toolassay.graph.dependencies import DEFAULT_MIN_CONFIDENCE
from toolassay.models.options import ModelOptions
from toolassay.runs.settings import Limits

if TYPE_CHECKING:
    from toolassay.graph.edits import Edit

CORRECTIONS = "Corrections of schema graphs, kept in graph_edits.json"
"""Title of the options that correct links."""


@dataclass(frozen=True)
class ProposeOptions:
    """Options of the proposals of links.

    Attributes:
        command: Command line, recorded in the manifest.
    """

    section = "Links that a model proposes"

    model: Annotated[
        str,
        Option(
            "Served model that proposes links, and the fields of results that are not declared; one request "
            "for up to six tools. Proposals are kept in DATA_DIR/graph_proposals and applied to later "
            "graphs.",
            "propose",
            metavar="LLM",
            common=True,
        ),
    ]
    options: ModelOptions | None = None
    limits: Limits = field(default_factory=Limits)
    force: Annotated[bool, Option("Restart a run whose settings differ; the old one is kept.")] = False
    dry_run: Annotated[
        bool, Option("Show what the model would receive and its cost. Sends and writes nothing.")
    ] = False
    command: Sequence[str] | None = None


@dataclass(frozen=True)
class LinkOptions:
    """Options of the links of a schema graph.

    Attributes:
        changes: Corrections to add to `graph_edits.json`; one that does not fit is refused.
    """

    section = "Links of schema graphs"

    min_confidence: Annotated[
        float | None,
        Option(
            "Least score of a link [default: that of the last graph, at first 0.4]. Links that were added or "
            "pinned are always kept.",
            minimum=0,
            maximum=1,
            common=True,
        ),
    ] = None
    max_edges_per_tool: Annotated[
        int | None,
        Option(
            "Maximum number of links from each tool, the best; 0: no limit [default: that of the last graph, "
            "at first no limit].",
            minimum=0,
            common=True,
        ),
    ] = None
    traces: Annotated[
        Sequence[Path],
        Option(
            "File of recorded calls, one sequence per line. Their links are kept for later graphs in "
            "graph_traces.json.",
            common=True,
        ),
    ] = ()
    changes: Sequence[Edit] = ()
    undo: Annotated[
        Sequence[tuple[str, str]],
        Option("Take back the correction of a link.", metavar="A B", section=CORRECTIONS),
    ] = ()
    edits: Annotated[
        Sequence[Path],
        Option("Add the corrections of a file; those that do not fit are reported.", section=CORRECTIONS),
    ] = ()
    propose: ProposeOptions | None = None
    explain: Annotated[
        tuple[str, str] | None,
        Option(
            "Show why there is or is no link from tool A to tool B. Writes nothing.",
            metavar="A B",
            common=True,
        ),
    ] = None

    def __post_init__(self) -> None:
        for name in ("traces", "edits"):
            value = getattr(self, name)
            paths = (value,) if isinstance(value, str | Path) else value
            object.__setattr__(self, name, tuple(map(Path, paths)))

    def given(self) -> list[str]:
        """The names of the options that differ from their defaults."""
        values = ((option.name, getattr(self, option.name)) for option in fields(self))
        names = [name for name, value in values if value is not None and value not in ((), [])]
        action = self.changes[0].action if self.changes else ""
        return [action if name == "changes" else name for name in names]

    @property
    def least(self) -> float:
        """The least score."""
        return DEFAULT_MIN_CONFIDENCE if self.min_confidence is None else self.min_confidence

    @property
    def most(self) -> int | None:
        """The maximum number of links from each tool; None for no limit."""
        return self.max_edges_per_tool or None

    @property
    def limits(self) -> dict[str, Any]:
        """What `benchmark.json` records as `links`, so that the next graph has the same limits."""
        return {"min_confidence": self.least, "max_edges_per_tool": self.most}

    def with_limits(self, recorded: Any) -> LinkOptions:
        """The options with recorded limits in place of those that are not given."""
        known = recorded if isinstance(recorded, dict) else {}
        least, most = known.get("min_confidence"), known.get("max_edges_per_tool")
        is_score = isinstance(least, int | float) and not isinstance(least, bool) and 0 <= least <= 1
        return replace(
            self,
            min_confidence=least if self.min_confidence is None and is_score else self.min_confidence,
            max_edges_per_tool=most
            if self.max_edges_per_tool is None and type(most) is int and most > 0
            else self.max_edges_per_tool,
        )
