from __future__ import annotations

import csv
from pathlib import Path

from toolassay.report.leaderboard.ranking import HEADINGS

from toolassay.benchmarks.taskbench.published import DOMAINS, domain_of_tools, published_rows
from toolassay.tools import ToolLibrary


def test_all_51_rows_are_those_of_the_reference(reference: Path) -> None:
    with (reference / "taskbench" / "published_leaderboard.csv").open(encoding="utf-8") as stream:
        expected = {
            (line["domain"], line["llm"]): [float(line[name.replace("-", "_")]) for name in HEADINGS]
            for line in csv.DictReader(stream)
        }
    found = {
        (domain, row.model): [row.score(heading).value for heading in HEADINGS]
        for domain in DOMAINS
        for row in published_rows(domain)
    }
    assert found == expected
    assert len(found) == 51


def test_a_domain_is_known_by_its_tools(root: Path) -> None:
    for domain in DOMAINS:
        ids = ToolLibrary.load(root / f"data_{domain}" / "tool_desc.json").ids
        assert domain_of_tools(ids) == domain
        assert domain_of_tools(ids[1:]) is None
