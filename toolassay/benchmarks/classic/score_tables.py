"""Tables of CLASSic's scores on the screen: strict, compat with the published figures, use by the ledgers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from toolassay.benchmarks.classic.scoring.leaderboard import published_rows
from toolassay.cli.score_tables import baselines_last, print_marks, print_table, shown
from toolassay.cli.screen import show
from toolassay.evaluation.groups import OVERALL_GROUP
from toolassay.evaluation.metrics_file import SECURITY
from toolassay.metrics.confidence_interval import Interval, share_interval
from toolassay.runs.outcomes import is_scored
from toolassay.tables import UNKNOWN, Table, number, percent, seconds
from toolassay.text_formatting import count_of

if TYPE_CHECKING:
    from toolassay.benchmarks.classic.evaluation import ClassicEvaluation, ClassicScores


_DOMAIN = "domain:"


def print_chat_scores(
    evaluations: Sequence[ClassicEvaluation], *, with_published: bool | None = None
) -> None:
    """All of it: strict, compat with the security that was measured, and what was used by the ledgers."""
    evaluations = baselines_last(evaluations)
    scores = {shown(result): result.scores for result in evaluations}
    groups = {shown(result): result.evaluation.groups[OVERALL_GROUP] for result in evaluations}
    deployed = {llm: found[SECURITY]["score"]["value"] for llm, found in groups.items() if SECURITY in found}
    print_strict(scores)
    print_compat(scores, deployed, with_published=with_published)
    print_usage(evaluations)
    print_marks(evaluations)


def print_compat(
    scores: Mapping[str, ClassicScores],
    deployed: Mapping[str, float | None] | None = None,
    *,
    with_published: bool | None = None,
) -> None:
    """The published headlines by agent and domain, and the published figures beside them.

    Args:
        scores: by agent.
        deployed: the share of attacks that an agent as deployed resisted, where that was measured; of all
            domains, as is the published score.
        with_published: True for those of all domains of the same names, False for none, None for those over
            all domains.
    """
    axes = {"cost": "cost USD", "latency": "latency s", "accuracy": "row_pass@1", "stability": "row_pass^2"}
    headings = ("compat", "domain", *axes.values(), "security", "as deployed")
    lines: list[tuple[str, ...]] = []
    for agent, found in scores.items():
        compat = found.compat
        resisted = (compat.get(SECURITY, {}).get("value"), (deployed or {}).get(agent))
        for key in compat["cost"]:
            line = (
                agent,
                key.removeprefix(_DOMAIN),
                number(_in(compat["cost"], key, "cost_mean"), 4),
                _number(_in(compat["latency"], key, "time_to_pred_mean")),
                _number(_in(compat["accuracy"], key, "row_pass@1")),
                _number(_in(compat["stability"], key, "row_pass^2")),
                *(_number(value if key == f"{_DOMAIN}all" else None) for value in resisted),
            )
            lines.append(line)
    domains = dict.fromkeys(
        key.removeprefix(_DOMAIN) for one in scores.values() for key in one.compat["cost"]
    )
    shown = [domain for domain in domains if with_published or (with_published is None and domain == "all")]
    for domain in shown:
        for model, figures in published_rows(domain).items():
            printed = (_number(figures.get(axis)) for axis in (*axes, "security"))
            lines.append((f"{model} *", domain, *printed, UNKNOWN))
    print_table(Table(headings, lines, align="nl").terminal())
    if shown:
        more = "" if with_published else "; --with_published true shows them by domain, false leaves them out"
        show(f"* published, on its own data{more}")
    _print_notes({agent: found.compat["notes"] for agent, found in scores.items()})


def print_strict(scores: Mapping[str, ClassicScores]) -> None:
    """The strict headlines by agent and domain, and what another order of the list changes.

    Shares are in percent. Where nothing was asked there are no scores; `n` is how many messages were, in all
    trials.
    """
    shares = ("right %", "95 %", "conversations", "by workflow", "macro F1", "none F1", "agreement")
    headings = ("strict", "domain", "n", *shares, "p50 s", "p95 s", "USD / 1,000")
    lines: list[tuple[str, ...]] = []
    for agent, found in scores.items():
        strict = found.strict
        for key, accuracy in strict["accuracy"].items():
            latency = strict["latency"][key]
            expected = sum(accuracy["outcomes"].values())
            asked = sum(count for name, count in accuracy["outcomes"].items() if is_scored(name))
            if not asked:
                name = key.removeprefix(_DOMAIN)
                lines.append((agent, name, f"0 of {expected}", *[UNKNOWN] * (len(headings) - 3)))
                continue
            right = share_interval(Interval.of(accuracy["messages"]), asked // strict["trials"])
            agreement = strict["stability"][key].get("answer_agreement", {}).get("value")
            line = (
                agent,
                key.removeprefix(_DOMAIN),
                str(asked) if asked == expected else f"{asked} of {expected}",
                _percent(right.value),
                f"{_percent(right.low)} to {_percent(right.high)}",
                _percent(accuracy["conversations"]["value"]),
                _percent(accuracy["by_workflow"]["value"]),
                *map(_percent, (accuracy["macro_f1"], accuracy["none"]["f1"], agreement)),
                *map(_number, (latency["p50"], latency["p95"])),
                _number(strict["cost"][key]["usd_per_1000_messages"]),
            )
            lines.append(line)
    print_table(Table(headings, lines, align="nl").terminal())
    for agent, found in scores.items():
        if order := found.strict["stability"]["domain:all"]["order"]:
            show(
                f"{agent}: orders of the list ({', '.join(order['orders'])}): of {order['pairs']} pairs "
                f"{_percent(order['answer_agreement'])} % have the same answer, "
                f"{_percent(order['right_in_both'])} % are right in both"
            )
    _print_notes({agent: found.strict["notes"] for agent, found in scores.items()})


def print_usage(evaluations: Sequence[ClassicEvaluation]) -> None:
    """What each run used by its ledgers, and why that is not known."""
    for result in evaluations:
        if result.cost is not None and result.cost["usd_per_1000_tasks"] is not None:
            failed = sum(result.cost["failures"].values())
            show(
                f"{result.llm}: by the ledger {result.cost['usd_per_1000_tasks']:.3f} USD for 1,000 messages "
                f"in {count_of(result.cost['requests'], 'request')}, {count_of(failed, 'failure')} among them"
            )
        if result.latency is not None:
            times, local = result.latency["seconds_per_task"], result.latency.get("local", False)
            p50, p95 = (seconds(times[name], local=local) for name in ("p50", "p95"))
            show(f"{result.llm}: seconds of a message by the ledger: {p50} (median), {p95} (95 %)")
    _print_notes({result.llm: result.notes for result in evaluations})


def _in(axis: Mapping[str, Mapping[str, Any]] | None, key: str, name: str) -> float | None:
    value = (axis or {}).get(key, {}).get(name)
    return None if value is None else float(value)


def _number(value: float | None) -> str:
    return number(value, 3)


def _percent(share: float | None) -> str:
    return percent(share, sign="")


def _print_notes(notes: Mapping[str, Mapping[str, str]]) -> None:
    for agent, found in notes.items():
        for name, text in found.items():
            show(f"{agent}: {name}: {text}")
