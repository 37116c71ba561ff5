"""Offline values of arguments: what is valid, related, fillable, and where it comes from.

    python -m measurements.offline_values FOLDER... [--draws 20] [--seed 0] [--show 100] [--reasons 15]

Draws arguments for every tool of data folders and prints, for each folder and all of them: tools, tools that
cannot be filled and why, violations of schemas, of related values, of the gate `grounding` against a
sentence that states each value, the time of a draw, and the evidence of the values. Schemas are checked
with `jsonschema` alone, Draft 2020-12 with its format checker; `jsonschema[format-nongpl]` has all formats.
`--show N` prints N values to read. Fails (exit code 1) if a schema is violated.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import regex
from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend

from toolassay.gates.gate import Background
from toolassay.gates.grounding.gate import GroundingGate
from toolassay.gold import Gold
from toolassay.offline.own_tools.arguments import (
    DrawnArguments,
    StatedValue,
    UnfillableError,
    draw_arguments,
)
from toolassay.tools import Tool, ToolLibrary


def _pattern(validator: Any, pattern: str, value: Any, schema: Any) -> Iterable[ValidationError]:
    """Patterns as `regex` knows them: those of JavaScript have classes that `re` has not."""
    if isinstance(value, str) and not regex.search(pattern, value):
        yield ValidationError(f"{value!r} does not match {pattern!r}")


CHECKER = extend(Draft202012Validator, {"pattern": _pattern})
STARTS, ENDS = (
    ("start", "from", "min", "check_in", "checkin", "since"),
    ("end", "to", "max", "check_out", "checkout", "until"),
)


@dataclass
class Counts:
    """What was counted in a folder."""

    tools: int = 0
    draws: int = 0
    seconds: float = 0.0
    unfillable: dict[str, str] = field(default_factory=dict)
    invalid: list[str] = field(default_factory=list)
    disordered: list[str] = field(default_factory=list)
    equal: list[str] = field(default_factory=list)
    ungrounded: list[str] = field(default_factory=list)
    evidence: Counter[str] = field(default_factory=Counter)
    shown: list[str] = field(default_factory=list)

    def row(self, name: str) -> str:
        """One line of the table."""
        share = 1 - len(self.unfillable) / max(1, self.tools)
        milliseconds = 1000 * self.seconds / max(1, self.draws)
        return (
            f"{name[:36]:36} {self.tools:6} {share:8.1%} {self.draws:7} {len(self.invalid):7} "
            f"{len(self.disordered):7} {len(self.equal):6} {len(self.ungrounded):7} {milliseconds:7.2f}"
        )


def disordered(stated: Sequence[StatedValue]) -> Iterable[str]:
    """Pairs `start_x`, `end_x` of which the end does not come after the start."""
    named = {".".join(map(str, one.path)): one for one in stated}
    for name, one in named.items():
        for start, end in zip(STARTS, ENDS, strict=True):
            other = named.get(name.replace(start, end, 1)) if start in name else None
            if other is None or other is one or type(other.value) is not type(one.value):
                continue
            comparable = one.kind in ("date", "moment", "time", "integer", "number", "money")
            if comparable and _order(one.value) >= _order(other.value):
                yield f"{name} {one.text} / {other.text}"


def _order(value: Any) -> Any:
    if isinstance(value, str):
        for spelling in ("%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y"):
            try:
                return datetime.strptime(value, spelling).isoformat()
            except ValueError:
                continue
    return value


def measure(library: ToolLibrary, draws: int, seed: int) -> Counts:
    """Draw arguments for each tool of a library."""
    counts = Counts(tools=len(library))
    gate = GroundingGate(Background(library, "temporal"))
    for number, tool in enumerate(library):
        checker = None
        if tool.input_schema is not None:
            checker = CHECKER(dict(tool.input_schema), format_checker=Draft202012Validator.FORMAT_CHECKER)
        for draw in range(draws):
            rng = random.Random(f"{seed} {number} {draw}")
            start = time.perf_counter()
            try:
                drawn = draw_arguments(tool, rng)
            except UnfillableError as error:
                counts.unfillable.setdefault(tool.id, str(error))
                continue
            finally:
                counts.seconds += time.perf_counter() - start
                counts.draws += 1
            problem = next(checker.iter_errors(dict(drawn.arguments)), None) if checker is not None else None
            if problem is not None:
                counts.invalid.append(f"{tool.id}: {problem.message[:120]}")
            _look(tool, drawn, counts, gate, is_first=draw < 3)
    return counts


def _look(tool: Tool, drawn: DrawnArguments, counts: Counts, gate: GroundingGate, *, is_first: bool) -> None:
    counts.disordered += [f"{tool.id}: {pair}" for pair in disordered(drawn.stated)]
    texts = [one.text for one in drawn.stated if one.kind not in ("flag", "choice")]
    counts.equal += [f"{tool.id}: {text}" for text, times in Counter(texts).items() if times > 1]
    counts.evidence.update(one.evidence for one in drawn.stated)
    for one in drawn.stated:
        path = ".".join(map(str, one.path))
        text = one.description[:70].replace("\n", " ")
        counts.shown.append(f"{tool.id[:34]} | {path} | {one.text} | {one.kind} | {one.evidence} | {text}")
    if is_first:
        stated = " and ".join(f"the {one.path[-1]} '{one.text}'" for one in drawn.stated)
        arguments = [{"name": name, "value": value} for name, value in drawn.arguments.items()]
        plan = [{"task": tool.id, "arguments": arguments}]
        gold = Gold.of({"id": "1", "user_request": f"Please do it with {stated}.", "task_nodes": plan})
        counts.ungrounded += [
            f"{tool.id}: {one.reason}" for one in gate.check(gold) if one.state != "not applicable"
        ]


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", type=int, default=0)
    parser.add_argument("--reasons", type=int, default=15)
    options = parser.parse_args()
    whole = Counts()
    titles = ("tools", "fillable", "draws", "invalid", "order", "equal", "ground", "ms")
    widths = (6, 8, 7, 7, 7, 6, 7, 7)
    heads = " ".join(f"{title:>{width}}" for title, width in zip(titles, widths, strict=True))
    print(f"{'folder':36} {heads}")

    for folder in options.folders:
        counts = measure(ToolLibrary.load(folder / "tool_desc.json"), options.draws, options.seed)
        print(counts.row(folder.name), flush=True)
        whole.tools += counts.tools
        whole.draws += counts.draws
        whole.seconds += counts.seconds
        whole.unfillable |= {f"{folder.name}/{name}": why for name, why in counts.unfillable.items()}
        whole.evidence += counts.evidence
        for name in ("invalid", "disordered", "equal", "ungrounded", "shown"):
            getattr(whole, name).extend(f"{folder.name[:14]} {one}" for one in getattr(counts, name))
    print(whole.row("all"))
    print("evidence:", ", ".join(f"{name} {count}" for name, count in whole.evidence.most_common()))
    for name in ("invalid", "disordered", "equal", "ungrounded"):
        for one in getattr(whole, name)[: options.reasons]:
            print(f"{name}: {one}")
    for why, count in Counter(_kind(why) for why in whole.unfillable.values()).most_common(options.reasons):
        example = next(f"{name}: {it}" for name, it in whole.unfillable.items() if _kind(it) == why)
        print(f"unfillable {count:5} {why}   e.g. {example[:110]}")
    chosen = random.Random(options.seed).sample(whole.shown, min(options.show, len(whole.shown)))
    for one in chosen:
        print(one)
    return 1 if whole.invalid else 0


def _kind(why: str) -> str:
    """A reason without the names in it."""
    return " ".join(word for word in why.split() if not word.startswith("'"))


if __name__ == "__main__":
    raise SystemExit(main())
