"""The links of a schema graph: derived and from recorded calls, corrected by people, above the thresholds."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from toolassay.console.screen import WARNING, Screen
from toolassay.console.text_formatting import count_of, some_of
from toolassay.errors import UsageError
from toolassay.files.data_files import write_json
from toolassay.graph.dependencies import ORDER, Dependency, condition_of, read_items, strongest
from toolassay.graph.derive import Derivation
from toolassay.graph.edits import (
    EDITS,
    NO_LONGER_DERIVED,
    Edit,
    Edited,
    apply,
    combine,
    read_edits,
    write_edits,
)
from toolassay.graph.traces import Traced, merge, trace_dependencies
from toolassay.link_proposals.options import LinkOptions
from toolassay.link_proposals.proposal_run import propose, proposed
from toolassay.link_proposals.result_shapes import without_shape
from toolassay.tools.library import ToolLibrary

TRACES = "graph_traces.json"
"""The links of recorded calls, so that a regenerated graph has them without the recordings."""

# Names in one message; the files have all of them.
_MOST_NAMES = 5


class SchemaLinks:
    """The links of a schema graph in a data folder, and the files beside it.

    Args:
        library: The tools.
        folder: The data folder.
        options: Options of the links.
        screen: Receives messages, results and progress.
        seen: What a real call of a tool returned, by tool.

    Attributes:
        edited: All links with the corrections, below the thresholds too.
        kept: The links of the graph.
        shaped: The tools, with proposed shapes of results.
        complete: Whether the model that proposes links was asked about every tool.

    Raises:
        UsageError: A file is missing or malformed, or a given correction does not fit.
    """

    def __init__(
        self,
        library: ToolLibrary,
        folder: Path,
        options: LinkOptions,
        screen: Screen,
        seen: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        library = library.with_tools([*map(without_shape, library)])
        self.library, self.folder, self.options, self.screen = library, folder, options, screen
        pairs = [edit.pair for edit in options.changes]
        for pair in [*pairs, *([options.explain] if options.explain else [])]:
            self._check_pair(pair)
        # What is mistyped or malformed is reported before the work, which takes long for many tools.
        for (source, target), count in Counter(pairs).items():
            if count > 1:
                raise UsageError(
                    f"two corrections of the link from '{source}' to '{target}'", fix="give one of them"
                )
        stored = self._stored_edits()
        with _progress(screen, "derive links", len(library)) as progress:
            self._derivation = Derivation(library, progress=progress)
            derived = list(self._derivation.links())
        self.traced = self._traced()
        merged = merge(derived, self.traced)
        self.complete = options.propose is None or propose(
            folder, library, merged, options.propose, seen=seen, screen=screen
        )
        # After recorded calls, which show more, and before people's corrections, which overrule proposals.
        applied = proposed(folder, library, merged, screen)
        self.merged, self.shaped = applied.dependencies, applied.library
        self.edits = self._edits(stored)
        self.edited: Edited = apply(self.edits, self.merged, self.shaped)
        self._check_changes()
        self.kept = strongest(
            self.edited.dependencies,
            min_confidence=options.least,
            max_edges_per_tool=options.most,
        )

    def write(self) -> None:
        """Write the corrections and the links of recorded calls."""
        has_edits = self.edits or (self.folder / EDITS).exists()
        if has_edits and (copy := write_edits(self.folder / EDITS, self.edits)) is not None:
            self.screen.say(f"{self.folder / EDITS}: written, the one before kept as {copy.name}")
        if self.options.traces:
            links = [link.to_json() for link in self.traced]
            write_json(
                self.folder / TRACES, {"files": [str(path) for path in self.options.traces], "links": links}
            )

    def show(self) -> None:
        """Show how many links there are by origin and kind, and what the corrections did."""
        show, options = self.screen.show, self.options
        kinds = Counter((link.origin, link.kind) for link in self.kept)
        if kinds:
            counts = (
                f"{count:,} {origin}{' (order only)' if kind == 'observed' else ''}"
                for (origin, kind), count in sorted(
                    kinds.items(), key=lambda counted: (-counted[1], counted[0])
                )
            )
            show(f"links by origin: {', '.join(counts)}")
        left_out = len(self.edited.dependencies) - len(self.kept)
        if left_out:
            limits = [f"--min_confidence {options.least:g}"]
            if options.most is not None:
                limits.append(f"--max_edges_per_tool {options.most}")
            show(f"left out by {' and '.join(limits)}: {count_of(left_out, 'link')}")
        if self.edits:
            show(f"{EDITS}: {len(self.edited.applied):,} of {count_of(len(self.edits), 'edit')} applied")
        for edit, reason in self.edited.problems:
            self.screen.say(f"{WARNING}the edit '{edit}' no longer fits: {reason}")
        if not self.kept:
            self.screen.say(f"{WARNING}the graph has no links: {self._advice()}")

    def explanation(self, source: str, target: str) -> list[str]:
        """Why there is or is no link from one tool to another."""
        pair = source, target
        final = _found(self.kept, pair)
        lines = [
            f"there is a link from {source} to {target}" if final else f"no link from {source} to {target}"
        ]
        lines += [f"schemas: {reason}" for reason in self._derivation.explain(source, target)]
        if traced := _found(self.traced, pair):
            lines += [f"recorded calls: {reason}" for reason in traced.reasons]
            lines.append(f"recorded calls: score {traced.score:.2f}")
        merged, edited = _found(self.merged, pair), _found(self.edited.dependencies, pair)
        if merged and merged.origin == "proposed":
            lines += [f"proposed: {reason}" for reason in merged.reasons]
            lines += [f"proposed: {when}"] if (when := condition_of(merged)) else []
        if merged:
            lines.append(f"score before corrections: {merged.score:.2f}")
        lines += [
            f"{EDITS}: {edit}{f' ({edit.note})' if edit.note else ''}"
            for edit in self.edits
            if edit.pair == pair
        ]
        lines += [f"{EDITS}: {reason}" for edit, reason in self.edited.problems if edit.pair == pair]
        if edited and not final:
            lines.append(self._threshold(edited))
        if final:
            flows = ", ".join(f"{flow.source or 'the result'} → {flow.target}" for flow in final.fields)
            lines.append(
                f"the link: type {final.type}, score {final.score:.2f}, {final.kind}, origin {final.origin}"
                + (f", {flows}" if flows else "")
            )
        return lines

    def _threshold(self, link: Dependency) -> str:
        if link.score < self.options.least:
            return f"score {link.score:.2f} is below --min_confidence {self.options.least:g}"
        return f"--max_edges_per_tool {self.options.most} keeps better links of {link.source}"

    def _advice(self) -> str:
        """What to do about a graph without links."""
        best = max((link.score for link in self.edited.dependencies), default=None)
        if best is not None:
            return f"the best score is {best:.2f}, lower --min_confidence"
        ways = (
            "give recorded calls (--traces calls.jsonl), add links (--add A B --field FROM=TO), "
            "or allow any order (--dependency_type temporal)"
        )
        if not any(tool.output_schema for tool in self.library):
            return f"no tool has an output_schema, and names and descriptions give none; {ways}"
        return f"no field of a result fits an argument; {ways}"

    def _check_pair(self, pair: tuple[str, str]) -> None:
        for name in pair:
            if name not in self.library:
                near = difflib.get_close_matches(name, self.library.ids, n=1)
                fix = f"write '{near[0]}'" if near else "write an id of tool_desc.json"
                raise UsageError(f"unknown tool '{name}'", fix=fix)
        if pair[0] == pair[1]:
            raise UsageError(f"'{pair[0]}' is given twice", fix="name two different tools")

    def _traced(self) -> list[Dependency]:
        """The links of recorded calls: of the given files, else those that are stored."""
        if self.options.traces:
            traced = trace_dependencies(self.options.traces, self.library)
            _report(traced, self.screen)
            if not traced.calls:
                reason = "no call of a tool of this library"
                if traced.failed:
                    reason = "every recorded call failed"
                if traced.unread:
                    reason = "no recorded call could be read"
                raise UsageError(
                    reason,
                    file=self.options.traces[0],
                    fix="give recordings of calls of these tools that worked; nothing was changed",
                )
            # As they are stored: the next start must make the same graph.
            return [Dependency.from_json(link.to_json()) for link in traced.dependencies]
        path = self.folder / TRACES
        if not path.exists():
            return []
        fix = "delete it, and give --traces again"
        links = read_items(path, "links", Dependency.from_json, fix=fix)
        known = [link for link in links if link.source in self.library and link.target in self.library]
        self.screen.say(f"{path}: {count_of(len(known), 'link')} of recorded calls (--traces replaces them)")
        if len(known) < len(links):
            gone = count_of(len(links) - len(known), "link")
            self.screen.say(f"{WARNING}{path}: {gone} of tools that are gone left out")
        return known

    def _stored_edits(self) -> list[Edit]:
        """The corrections of the folder, without those that are taken back, and those of given files."""
        path, options = self.folder / EDITS, self.options
        edits = read_edits(path) if path.exists() else []
        for source, target in options.undo:
            if all(edit.pair != (source, target) for edit in edits):
                raise UsageError(
                    f"there is no edit of the link from '{source}' to '{target}'",
                    file=path,
                    fix="check the order of the two tools",
                )
        edits = [edit for edit in edits if edit.pair not in options.undo]
        for given in options.edits:
            edits = combine(edits, read_edits(given))
        return edits

    def _edits(self, stored: Sequence[Edit]) -> list[Edit]:
        """The corrections with those that are given; pinned links get their copy."""
        links = {(link.source, link.target): link for link in self.merged}
        return [
            replace(edit, link=links.get(edit.pair))
            if edit.action in ("pin", "retype") and edit.link is None
            else edit
            for edit in combine(stored, self.options.changes)
        ]

    def _check_changes(self) -> None:
        """Refuse given corrections that do not fit: they are mistyped rather than outdated."""
        pairs = {edit.pair for edit in self.options.changes}
        for edit, reason in self.edited.problems:
            if edit.pair in pairs and reason != NO_LONGER_DERIVED:
                raise UsageError(
                    f"cannot {edit.action} the link from '{edit.source}' to '{edit.target}': {reason}",
                    fix="--explain shows what is there, --undo takes an earlier edit back",
                )
        for edit in self.options.changes:
            link = _found(self.edited.dependencies, edit.pair)
            filled = {pair.target for pair in link.fields} if link else set()
            if edit.action == "retype" and link and link.type not in {*filled, ORDER}:
                raise UsageError(
                    f"no value that flows from '{edit.source}' to '{edit.target}' fills '{link.type}'",
                    fix=f"add --field FROM={link.type}, or retype it to 'order'",
                )
            if edit.action == "add" and link and not link.fields:
                self.screen.say(
                    f"the link from {edit.source} to {edit.target} says only the order: "
                    "--field FROM=TO names a value that flows"
                )


def _found(links: Sequence[Dependency], pair: tuple[str, str]) -> Dependency | None:
    return next((link for link in links if (link.source, link.target) == pair), None)


def _report(traced: Traced, screen: Screen) -> None:
    screen.say(
        f"recorded calls: {count_of(traced.calls, 'call')} in {count_of(traced.sequences, 'sequence')}"
        + (f", {traced.failed:,} more failed" if traced.failed else "")
    )
    if traced.unread:
        forms = [f"{count:,} with the keys {keys}" for keys, count in traced.unread.most_common()]
        shown = some_of(forms, _MOST_NAMES, between="; ", last="; and ")
        screen.say(f"{WARNING}recorded calls without arguments or a result that could be read: {shown}")
    if traced.unknown:
        names = [f"{name} ({count:,})" for name, count in traced.unknown.most_common()]
        screen.say(f"{WARNING}recorded calls of unknown tools left out: {some_of(names, _MOST_NAMES)}")


@contextmanager
def _progress(screen: Screen, what: str, size: int) -> Iterator[Callable[[int, int], None]]:
    """Show work that reports `(done, total)` as progress of `size` items."""
    shown = 0

    def progress(done: int, total: int) -> None:
        nonlocal shown
        while shown < size and shown * total < done * size:
            shown += 1
            advance()

    with screen.progress(what, size) as advance:
        yield progress
