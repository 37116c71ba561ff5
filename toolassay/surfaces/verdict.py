"""The verdict on a new version of tools, as `surface.json`, in words, as Markdown and as JUnit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from toolassay.console.tables import Table, markdown_escaped, percent, printable
from toolassay.console.text_formatting import count_of, shortened
from toolassay.metrics.sequential import Decision
from toolassay.reports.junit import junit_file
from toolassay.surfaces.blame import Blamed

EXIT_CODES: Mapping[Decision, int] = {"better": 0, "no_difference": 0, "no_decision": 3, "worse": 4}
_MOST_ROWS = 10  # of a table in the summary; surface.json has all
_LONGEST_TEXT = 600  # characters of a description in the summary


class Look(msgspec.Struct, frozen=True):
    """What was known after so many goals."""

    n_goals: int
    difference: float
    low: float
    high: float


class Lost(msgspec.Struct, frozen=True):
    """A goal that is not compared, and why."""

    id: str
    reason: str


class Changed(msgspec.Struct, frozen=True):
    """The texts of a tool in both versions; None where it is not there."""

    tool: str
    before: str | None
    after: str | None


class PerSide(msgspec.Struct, frozen=True):
    """A figure of both versions; None where it is not known."""

    before: float | None
    after: float | None


class SurfaceVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """The content of `surface.json`. Differences are the new version less the old one, in shares.

    Attributes:
        verdict: "no_difference": none larger than the margin.
        difference: Between the scores, in the goals that were compared.
        low: Lower bound of its interval at the last look.
        high: Upper bound.
        margin: The difference that matters.
        scores: Of both versions.
        n_goals: Number of goals that were compared.
        n_needed: About how many more decide; None if decided, or if no number does.
        method: How the interval is made.
        looks: Each look, in order.
        lost: Goals that the new version cannot fulfil as the old one does, and others that are not compared.
        tools: The tools, those that go wrong more often first.
        pairs: The same of confusions: a tool, and the one called in its place.
        arguments: The same of a tool's arguments.
        changed: The tools that differ.
        tokens: Mean tokens of the prompts for a goal.
        usd: Mean cost of a goal in US dollars.
        judged_by: "outcome" where calls were executed, else "plan".
        models: What acted.
        trials: Runs of each goal.
        notes: What a reader should know.
        signature: What the verdict depends on.
    """

    verdict: Decision
    difference: float
    low: float
    high: float
    margin: float
    scores: PerSide
    n_goals: int
    n_needed: int | None
    method: str
    looks: Sequence[Look]
    lost: Sequence[Lost]
    tools: Sequence[Blamed]
    pairs: Sequence[Blamed]
    arguments: Sequence[Blamed]
    changed: Sequence[Changed]
    tokens: PerSide
    usd: PerSide
    judged_by: str
    models: Sequence[str]
    trials: int
    notes: Sequence[str]
    signature: str

    @property
    def exit_code(self) -> int:
        """0 for better or no difference, 3 for no decision, 4 for worse."""
        return EXIT_CODES[self.verdict]

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        margin = f"{100 * self.margin:g} points"
        words = {
            "better": "The new version is better",
            "worse": "The new version is worse",
            "no_difference": f"No difference larger than {margin}",
            "no_decision": "No decision",
        }[self.verdict]
        needed = ""
        if self.verdict == "no_decision":
            needed = " No number of goals like these would decide."
            if self.n_needed is not None:
                needed = f" About {count_of(self.n_needed, 'more goal')} would decide."
        runs = f", {self.trials} runs each" if self.trials > 1 else ""
        return (
            f"{words}: {_points(self.difference)} points ({_points(self.low)} to {_points(self.high)}) over "
            f"{count_of(self.n_goals, 'goal')}{runs}, by {self.judged_by}.{needed}"
        )

    @property
    def markdown(self) -> str:
        """The verdict for a pull request."""
        parts = [f"## {self.sentence}", "\n".join(f"- {markdown_escaped(note)}" for note in self._facts())]
        for title, rows in (
            ("Tools that go wrong more or less often", self.tools),
            ("Confusions: the right tool, and the one called in its place", self.pairs),
            ("Arguments that are filled in wrongly more or less often", self.arguments),
        ):
            moved = [row for row in rows if row.difference]
            if moved:
                cells = [_cells(row) for row in moved[:_MOST_ROWS]]
                table = Table(("", "before", "after", "difference, points", "text"), cells, "nrrrl")
                more = f"\n\n{len(moved) - _MOST_ROWS} more in surface.json." * (len(moved) > _MOST_ROWS)
                parts += [f"### {title}", f"{table.markdown()}{more}"]
        order = [name for row in self.tools for name in row.what]
        changed = sorted(
            self.changed, key=lambda one: order.index(one.tool) if one.tool in order else len(order)
        )
        if changed:
            cells = [(one.tool, _text(one.before), _text(one.after)) for one in changed[:_MOST_ROWS]]
            parts += ["### Changed texts", Table(("tool", "before", "after"), cells, "nnn").markdown()]
        if self.lost:
            cells = [(lost.id, shortened(lost.reason, _LONGEST_TEXT)) for lost in self.lost[:_MOST_ROWS]]
            parts += [f"### {len(self.lost)} not compared", Table(("goal", "why"), cells, "nn").markdown()]
        return "\n\n".join([*parts, f"`{self.signature}`"]) + "\n"

    def _facts(self) -> Iterator[str]:
        old, new = self.scores.before, self.scores.after
        yield f"Right: {percent(old)} before, {percent(new)} after ({', '.join(self.models)})."
        old, new = self.tokens.before, self.tokens.after
        if old is not None and new is not None:
            yield f"Prompts: {old:,.0f} tokens a goal before, {new:,.0f} after ({new - old:+,.0f})."
        if self.usd.before and self.usd.after is not None:
            yield f"Cost: ${self.usd.before:.5f} a goal before, ${self.usd.after:.5f} after."
        for words, rows in (
            ("Wrong more often, significantly", [row for row in self.tools if row.low > 0]),
            ("Wrong less often, significantly", [row for row in self.tools if row.high < 0]),
        ):
            if rows:
                yield f"{words}: {', '.join(row.what[0] for row in rows[:_MOST_ROWS])}."
        yield from self.notes

    @property
    def junit(self) -> str:
        """The verdict as a JUnit file with one case; no decision is a skipped one."""
        status = {0: "pass", 4: "fail"}.get(self.exit_code, "undecided")
        return junit_file("toolassay surface", [("surface", [("new version", status, self.sentence)])])


def _points(share: float) -> str:
    return f"{100 * share:+.1f}"


def _cells(row: Blamed) -> tuple[str, ...]:
    interval = f"{_points(row.difference)} ({_points(row.low)} to {_points(row.high)})"
    text = "changed" if row.changed else ""
    return " → ".join(row.what), percent(row.before), percent(row.after), interval, text


def _text(text: str | None) -> str:
    return "(not there)" if text is None else shortened(printable(text), _LONGEST_TEXT)
