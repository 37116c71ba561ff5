"""The pages with measurements: every figure is in a table that a script printed and a command recorded."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from measurements import gold_reading, pages
from toolassay.gates.rubric import CRITERIA

TEXTS = {page.name: page.read_text("utf-8") for page in pages.PAGES}
# What a measurement has: a number with a unit or a percent sign, "40 of 50", or a number of thousands.
FIGURE = re.compile(r"(?<![A-Za-z\d])\d[\d.,]* ?(?:%|seconds|[mµ]?s\b|[MGk]B\b)|\d of \d|\d,\d{3}")


def prose(text: str) -> str:
    """A page without recorded results, code and addresses."""
    text = pages.PLACE.sub("", text)
    text = re.sub(r"^    [^\n]*$|^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`]*`|\]\([^)]*\)", "", text)


@pytest.mark.parametrize("name", TEXTS)
def test_a_page_has_the_recorded_results(name: str) -> None:
    assert pages.filled(TEXTS[name]) == TEXTS[name], "python -m measurements.pages writes them"
    assert TEXTS[name].count("<!-- result:") == len(pages.PLACE.findall(TEXTS[name]))


@pytest.mark.parametrize("name", TEXTS)
def test_there_is_no_figure_that_no_script_printed(name: str) -> None:
    assert FIGURE.findall(prose(TEXTS[name])) == []


def test_every_result_is_on_one_page_with_its_command_and_its_date() -> None:
    named = Counter(place[1] for text in TEXTS.values() for place in pages.PLACE.findall(text))
    recorded = {path.stem: path.read_text("utf-8") for path in pages.RESULTS.glob("*.md")}
    assert named == Counter(recorded.keys())
    for name, text in recorded.items():
        command, _, about, *_ = text.splitlines()
        script = re.fullmatch(r"    (?:[A-Z]+=\w+ )?python -m measurements\.(\w+)(?: .*)?", command)
        assert script is not None, command
        place = pages.RESULTS.parent / script[1]
        assert place.is_dir() or place.with_suffix(".py").exists()
        assert re.match(r"\d{4}-\d\d-\d\d, commit [0-9a-f]{8}, ", about), name


def test_every_verdict_has_an_identifier_and_known_contexts() -> None:
    verdicts, contexts = gold_reading.verdicts(), gold_reading.contexts()
    assert len({one["verdict"] for one in verdicts}) == len(verdicts)
    known = {name: entry["role"] for entry in contexts for name in entry["ids"]}
    for one in verdicts:
        roles = [known[one[key]] for key in ("written_by", "judged_by", "read_by")]
        assert roles == ["writer", "critic", "reader"]
        assert one["publishable"] == all(one[name] for name in CRITERIA)
    assert all("language model" in entry["what"] for entry in contexts)


def is_current(name: str, reference: Path | None = None) -> bool:
    """Whether the command of a result prints it again."""
    folders = {} if reference is None else {"REFERENCE": str(reference)}
    printed = pages.printed(pages.command_of(name), folders, even_failed=False)
    return pages.result(name).endswith(f"\n\n{printed}")


@pytest.mark.parametrize("name", ["gold_reading", "mutation"])
def test_what_is_counted_from_files_of_the_repository_is_current(name: str) -> None:
    assert is_current(name)


@pytest.mark.parametrize("name", ["parity", "classic_parity"])
def test_parity_is_current(name: str, reference: Path) -> None:
    assert is_current(name, reference)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["workbench_reworded", "planted_defects", "adaptive_concurrency"])
def test_what_is_the_same_on_every_machine_is_current(name: str) -> None:
    assert is_current(name)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["workbench_parity", "bfcl_grounding", "published_links_ultratool", "published_links_tmdb"]
)
def test_what_is_the_same_with_the_published_data_is_current(name: str, reference: Path) -> None:
    assert is_current(name, reference)


def test_a_place_without_a_result_takes_its_own_and_leaves_the_next_one() -> None:
    name = min(path.stem for path in pages.RESULTS.glob("*.md"))
    rest = "<!-- end -->\n\n## Next\n\n<!-- result: next -->\n\nOld.\n\n<!-- end -->\n"
    assert pages.PLACE.findall(f"<!-- result: {name} -->\n\n{rest}") == [
        (f"<!-- result: {name} -->\n\n", name),
        ("<!-- result: next -->\n\n", "next"),
    ]
    page = pages.PLACE.sub("", rest)
    assert "## Next" in page and "Old." not in page
