"""Links against labels: candidates before any score, the scores set by hand, and scores that are learned.

    python -m measurements.link_scores DOCUMENTS [LABELS]

LABELS (default `link_labels` beside this script) has a file for each library: where its OpenAPI document
comes from, some of its tools, and what two contexts of a large language model, A and B, labelled after
reading these tools: for each argument, all fields of other tools' results that give its value.
DOCUMENTS holds the documents by name of the library (`spotify.json`, `plaid.yaml`).

What is counted is a flow: a tool, another tool, and an argument of it. A flow is right where both contexts
say so, in dispute where one does. Learned scores are a logistic regression on what the derivation observes of
a flow, fitted on the other libraries; it may make as many flows as the scores set by hand do at the default
threshold.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from toolassay.console.tables import Table, percent
from toolassay.graph.dependencies import DEFAULT_MIN_CONFIDENCE
from toolassay.graph.derive.derivation import Derivation
from toolassay.graph.derive.evidence import (
    Match,
    ToolFields,
    covered,
    is_echo,
    link_score,
    name_fit,
    route_fit,
    type_fit,
    with_similarity,
)
from toolassay.graph.derive.fields import IDENTITIES
from toolassay.importers.intake import take_in
from toolassay.importers.openapi import IMPORTER, OpenApiOptions
from toolassay.tools.library import ToolLibrary

LABELS = Path(__file__).with_name("link_labels")
VERBS = ("search", "find", "make", "change", "remove")

Flow = tuple[str, str, str]
"""A tool, another one, and the argument of the other."""


class Labels(NamedTuple):
    """What one context labelled: the right fields of each flow."""

    fields: dict[Flow, set[str]]

    @classmethod
    def read(cls, value: dict[str, dict[str, list[str]]]) -> Labels:
        """Read `{"tool argument": {"other tool": ["field", …]}}`."""
        return cls(
            {
                (source, *without_lists(place).split(" ", 1)): {without_lists(field) for field in fields}  # type: ignore[misc]
                for place, sources in value.items()
                for source, fields in sources.items()
            }
        )


class Candidate(NamedTuple):
    """A flow that the derivation considers.

    Attributes:
        flow: The flow.
        field: The field that fits best.
        score: The score set by hand.
        seen: What is observed of it, as numbers.
    """

    flow: Flow
    field: str
    score: float
    seen: Sequence[float]


class LabelledLibrary(NamedTuple):
    """A library, its candidates and its labels."""

    name: str
    tools: int
    candidates: list[Candidate]
    results_unread: set[str]
    unread: set[str]
    first: Labels
    second: Labels

    def verdict(self, candidate: Candidate) -> bool | None:
        """Whether a candidate is right; None if that is in dispute, or the field was not read."""
        votes = {
            candidate.field in labels.fields.get(candidate.flow, ()) for labels in (self.first, self.second)
        }
        source, target, _ = candidate.flow
        if len(votes) > 1 or (votes == {False} and (source in self.results_unread or target in self.unread)):
            return None
        return votes == {True}

    @property
    def agreed(self) -> set[Flow]:
        """The flows for which both contexts name a field that is the same."""
        shared = self.first.fields.keys() & self.second.fields.keys()
        return {flow for flow in shared if self.first.fields[flow] & self.second.fields[flow]}


def without_lists(path: str) -> str:
    """A path without the signs for items of lists and quotes around names.

    >>> without_lists("items[].id"), without_lists("['tags.any']")
    ('items.id', 'tags.any')
    """
    return re.sub(r"\[\*?\]|\['|'\]", "", path)


def observed(
    source: ToolFields, target: ToolFields, found: Match, trust: float, route: float, alike: float
) -> list[float]:
    """What the derivation observes of a candidate, without the factors set by hand."""
    given, owner, taken = found.given, found.owner, found.taken
    verbs = [float(side.verb == verb) for side in (source, target) for verb in VERBS]
    return [
        name_fit(given, owner, taken),
        1.0 if given.is_described else type_fit(given, taken),
        owner.certainty,
        trust,
        route,
        alike,
        covered(source, target, [found]),
        min(3, len(source.needs)),
        min(3, given.depth),
        *map(
            float,
            (
                given.is_described,
                given.own,
                given.listed,
                given.bare,
                given.attribute in IDENTITIES,
                taken.attribute in IDENTITIES,
                taken.required,
                taken.listed,
                bool(taken.route),
                taken.is_said,
                is_echo(source, given, owner, taken),
                found.flows,
            ),
        ),
        *verbs,
    ]


def candidates_of(library: ToolLibrary) -> Iterator[Candidate]:
    """All flows with a field that may fill the argument, however low their score."""
    derivation = Derivation(library)
    for number, source in enumerate(derivation.tools):
        by_target = derivation._matches(number, least=0.0)
        alike = derivation._similarity.of(number, [*by_target])
        for (other, matches), share in zip(by_target.items(), alike, strict=True):
            target = derivation.tools[other]
            for path, found in matches.items():
                if not path:
                    continue
                head = found.owner.thing[-1] if found.owner.thing else ""
                trusts = derivation._trust.get(head, (1.0, 1.0))
                route = route_fit(source, found.taken, derivation._rivals.get(head, 0))
                score = with_similarity(
                    link_score(source, target, [found]), share, is_described=found.given.is_described
                )
                seen = observed(source, target, found, trusts[0], route, share)
                flow = source.tool.id, target.tool.id, without_lists(path)
                yield Candidate(flow, without_lists(found.given.path), score, seen)


def read_library(labels: Path, documents: Path) -> LabelledLibrary:
    """A library with its labels."""
    value: dict[str, Any] = json.loads(labels.read_text("utf-8"))
    (document,) = documents.glob(f"{labels.stem}.*")
    kept = set(value["tools"])
    nodes = take_in(IMPORTER.name, IMPORTER.read(str(document), OpenApiOptions())).nodes
    library = ToolLibrary.from_json({"nodes": [node for node in nodes if node["id"] in kept]})
    return LabelledLibrary(
        labels.stem,
        len(library),
        [*candidates_of(library)],
        set(value["results read in part"]),
        set(value["arguments read in part"]),
        Labels.read(value["A"]),
        Labels.read(value["B"]),
    )


class Judged(NamedTuple):
    """The candidates of a library that have a verdict: observations, verdicts, scores set by hand."""

    seen: np.ndarray[Any, Any]
    right: np.ndarray[Any, Any]
    scores: np.ndarray[Any, Any]


def judged(library: LabelledLibrary) -> Judged:
    """The candidates that are right or wrong."""
    rows = [
        (candidate, verdict)
        for candidate in library.candidates
        if (verdict := library.verdict(candidate)) is not None
    ]
    return Judged(
        np.array([candidate.seen for candidate, _ in rows]),
        np.array([verdict for _, verdict in rows]),
        np.array([candidate.score for candidate, _ in rows]),
    )


def learned(others: Sequence[Judged], seen: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Scores by a regression on other libraries, each of which weighs the same."""
    weights = np.concatenate([np.full(len(one.right), 1 / max(1, len(one.right))) for one in others])
    model = make_pipeline(StandardScaler(), LogisticRegression(C=1.0, max_iter=2_000))
    model.fit(
        np.concatenate([one.seen for one in others]),
        np.concatenate([one.right for one in others]),
        logisticregression__sample_weight=weights * len(weights) / weights.sum(),
    )
    return np.asarray(model.predict_proba(seen)[:, 1])


class Compared(NamedTuple):
    """What is found of a library's flows.

    Attributes:
        considered: Share of the right flows that are candidates, before any score.
        reached: Arguments with a right flow at the default threshold, and those that could have one.
        made: The number of flows at the default threshold.
        hits: How many of as many flows are right, by hand and learned.
        recall: Their share of the right flows.
        precision: The average precision.
    """

    considered: float
    reached: tuple[int, int]
    made: int
    hits: tuple[int, int]
    recall: tuple[float, float]
    precision: tuple[float, float]


def compared(library: LabelledLibrary, others: Sequence[LabelledLibrary]) -> Compared:
    """Scores set by hand and learned ones on a library, those learned on others."""
    agreed = library.agreed
    by_flow = {candidate.flow: candidate for candidate in library.candidates}
    one = judged(library)
    by_learning = learned([judged(other) for other in others], one.seen)
    made = int((one.scores >= DEFAULT_MIN_CONFIDENCE).sum())
    both = one.scores, by_learning
    hits = [int(one.right[np.argsort(-scores, kind="stable")[:made]].sum()) for scores in both]
    reached = {
        flow[1:]
        for flow in agreed & by_flow.keys()
        if by_flow[flow].score >= DEFAULT_MIN_CONFIDENCE and library.verdict(by_flow[flow])
    }
    return Compared(
        len(agreed & by_flow.keys()) / len(agreed),
        (len(reached), len({flow[1:] for flow in agreed})),
        made,
        (hits[0], hits[1]),
        (hits[0] / len(agreed), hits[1] / len(agreed)),
        (average_precision_score(one.right, both[0]), average_precision_score(one.right, both[1])),
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("documents", type=Path)
    parser.add_argument("labels", type=Path, nargs="?", default=LABELS)
    options = parser.parse_args()
    libraries = [read_library(path, options.documents) for path in sorted(options.labels.glob("*.json"))]
    found = {
        library.name: compared(library, [other for other in libraries if other is not library])
        for library in libraries
    }
    candidates = [
        (
            library.name,
            f"{library.tools}",
            f"{len(library.agreed)}",
            f"{len(library.first.fields.keys() | library.second.fields.keys())}",
            percent(found[library.name].considered),
            "{} of {}".format(*found[library.name].reached),
        )
        for library in libraries
    ]
    scores = [
        (
            name,
            f"{one.made}",
            *(f"{one.made - hits}" for hits in one.hits),
            *map(percent, one.recall),
            *(f"{precision:.2f}" for precision in one.precision),
        )
        for name, one in found.items()
    ]
    print(
        Table(
            (
                "library",
                "tools",
                "flows of both",
                "of either",
                "a candidate for",
                "arguments with a right link",
            ),
            candidates,
        ).markdown()
    )
    print(
        f"\nMean with a candidate: {percent(statistics.fmean(one.considered for one in found.values()))}.\n"
    )
    print(
        Table(
            (
                "library",
                "flows made",
                "wrong, by hand",
                "wrong, learned",
                "recall, by hand",
                "recall, learned",
                "average precision, by hand",
                "average precision, learned",
            ),
            scores,
        ).markdown()
    )
    print()
    for number, name in enumerate(("set by hand", "learned")):
        shares = [one.recall[number] for one in found.values()]
        made = sum(one.made for one in found.values())
        wrong = made - sum(one.hits[number] for one in found.values())
        precision = statistics.fmean(one.precision[number] for one in found.values())
        print(
            f"Scores {name}: mean recall {percent(statistics.fmean(shares))}, worst {percent(min(shares))}; "
            f"{wrong} of {made:,} flows wrong; mean average precision {precision:.3f}.\n"
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
