"""The tables: found by kind and form, false alarms by set, and every miss and false alarm with its reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from measurements.planted_defects.forms import KINDS
from measurements.planted_defects.scoring import Judged, Result, Share

LEAST, MOST, MOST_REJECTED = 0.95, 0.10, 0.02
# Of values in the wrong slot, which only a reader is sure of.
LEAST_OF = {"value in the wrong slot": 0.5}


def overview(result: Result) -> str:
    """What is found of each kind, and how many clean samples are held back."""
    usual = [line for line in result.judged if not line.planted.hard]
    lines = ["| kind | found | rejected |", "| --- | ---: | ---: |"]
    for kind in KINDS:
        own = _of(usual, kind)
        share = found(own)
        lines.append(f"| {kind} | {share.hits} of {share.of} | {_level(own, 'reject')} |")
    held, rejected = result.false_alarms(), result.false_rejects()
    lines += [
        "",
        "| clean samples | held back | 95 % interval | rejected |",
        "| ---: | ---: | --- | ---: |",
        f"| {held.of:,} | {held.hits} ({_percent(held)}) | {_interval(held)} | {rejected.hits} |",
    ]
    return "\n".join(lines)


def markdown(result: Result) -> str:
    """All tables as Markdown."""
    return "\n".join(_lines(result)) + "\n"


def _lines(result: Result) -> Iterator[str]:
    names = list(result.clean)
    usual = [line for line in result.judged if not line.planted.hard]
    half = "half of the values in the wrong slot"
    yield from ("## Found, by kind", "", f"Wanted: at least {LEAST:.0%} of each kind, {half}.", "")
    yield from _table("kind", names, [(kind, _of(usual, kind)) for kind in KINDS])
    yield from (
        "",
        "## False alarms, by set",
        "",
        f"Wanted: at most {MOST:.0%} of each set, {MOST_REJECTED:.0%} rejected.",
        "",
    )
    yield "| set | clean samples | rejected | quarantined | held back | 95 % interval |"
    yield "| --- | ---: | ---: | ---: | ---: | --- |"
    for name in names:
        yield f"| {name} | {_alarm_cells(result.false_alarms(name), result.false_rejects(name))} |"
    yield f"| all | {_alarm_cells(result.false_alarms(), result.false_rejects())} |"
    yield from ("", "## Found, by form", "")
    yield from _table("form", names, _forms(usual))
    hard = [line for line in result.judged if line.planted.hard]
    if hard:
        yield from ("", "## Apart: what only one who understands the request can tell", "")
        yield from _table("form", names, _forms(hard))
    yield from ("", "## Misses", "")
    for line in result.judged:
        if not line.found:
            yield f"- {line.data_set}, seed {line.seed}, {line.planted.id}: {_said(line)}"
    yield from ("", "## Found, but by another gate", "")
    for line in result.judged:
        if line.found and not line.named:
            yield f"- {line.data_set}, seed {line.seed}, {line.planted.id}: {_said(line)}"
            yield from (f"  - {reason}" for reason in line.reasons)
    yield from ("", "## False alarms", "")
    for name, alarms in result.alarms.items():
        for id, reasons in alarms.items():
            yield f"- {name}, {id}:"
            yield from (f"  - {reason}" for reason in reasons)
    yield from ("", "## Not counted: samples that are not clean by our own reading", "")
    for name, unclean in result.unclean.items():
        for id, faults in unclean.items():
            yield f"- {name}, {id}: {'; '.join(faults)}"


def _said(line: Judged) -> str:
    planted = line.planted
    return f"{planted.kind}, {planted.form}: {planted.where}: {planted.before} became {planted.after}"


def _of(judged: Iterable[Judged], kind: str) -> list[Judged]:
    return [line for line in judged if line.planted.kind == kind]


def _forms(judged: Sequence[Judged]) -> list[tuple[str, list[Judged]]]:
    keys = sorted({(KINDS.index(j.planted.kind), j.planted.form) for j in judged})
    return [
        (f"{KINDS[kind]}: {form}", [j for j in _of(judged, KINDS[kind]) if j.planted.form == form])
        for kind, form in keys
    ]


def _table(head: str, names: Sequence[str], rows: Iterable[tuple[str, list[Judged]]]) -> Iterator[str]:
    yield (
        f"| {head} | {' | '.join(names)} | all | share | 95 % interval | rejected | quarantined "
        "| by the gate one would expect |"
    )
    yield "| --- |" + " ---: |" * (len(names) + 2) + " --- | ---: | ---: | ---: |"
    for label, judged in rows:
        cells = [_fraction(found([line for line in judged if line.data_set == name])) for name in names]
        share = found(judged)
        named = Share(sum(line.named for line in judged), share.hits)
        yield (
            f"| {label} | {' | '.join(cells)} | {_fraction(share)} | {_percent(share)} | {_interval(share)} "
            f"| {_level(judged, 'reject')} | {_level(judged, 'quarantine')} | {_fraction(named)} |"
        )


def _level(judged: Sequence[Judged], level: str) -> int:
    return sum(line.level == level for line in judged)


def found(judged: Sequence[Judged]) -> Share:
    """How many of the planted samples were held back."""
    return Share(sum(line.found for line in judged), len(judged))


def _fraction(share: Share) -> str:
    return f"{share.hits}/{share.of}" if share.of else "–"


def _percent(share: Share) -> str:
    return f"{share.hits / share.of:.1%}" if share.of else "–"


def _interval(share: Share) -> str:
    return "{:.1%} to {:.1%}".format(*share.interval) if share.of else "–"


def _alarm_cells(held: Share, rejected: Share) -> str:
    quarantined = held.hits - rejected.hits
    return f"{held.of} | {rejected.hits} | {quarantined} | {_percent(held)} | {_interval(held)}"


def as_json(result: Result) -> dict[str, Any]:
    """The same numbers for programs."""

    def share(value: Share) -> dict[str, Any]:
        return {"count": value.hits, "of": value.of, "interval": list(value.interval)}

    usual = [line for line in result.judged if not line.planted.hard]
    return {
        "kinds": {kind: share(found(_of(usual, kind))) for kind in KINDS},
        "forms": {label: share(found(judged)) for label, judged in _forms(result.judged)},
        "false_alarms": {name: share(result.false_alarms(name)) for name in result.clean},
        "all_false_alarms": share(result.false_alarms()),
        "false_rejects": {name: share(result.false_rejects(name)) for name in result.clean},
        "planted": [
            {
                "set": line.data_set,
                "seed": line.seed,
                **line.planted._asdict(),
                "level": line.level,
                "named_rightly": line.named,
                "reasons": line.reasons,
            }
            for line in result.judged
        ],
        "false_alarm_samples": result.alarms,
        "not_counted": result.unclean,
    }


def falls_short(result: Result) -> list[str]:
    """The kinds found too seldom and the sets with too many false alarms."""
    usual = [line for line in result.judged if not line.planted.hard]
    kinds = [(kind, found(_of(usual, kind)), LEAST_OF.get(kind, LEAST)) for kind in KINDS]
    sets = [(name, result.false_alarms(name), result.false_rejects(name)) for name in result.clean]
    return [
        *(
            f"{kind}: {_percent(share)} found"
            for kind, share, least in kinds
            if share.hits < least * share.of
        ),
        *(f"{name}: {_percent(held)} held back" for name, held, _ in sets if held.hits > MOST * held.of),
        *(
            f"{name}: {_percent(rejected)} rejected"
            for name, _, rejected in sets
            if rejected.hits > MOST_REJECTED * rejected.of
        ),
    ]
