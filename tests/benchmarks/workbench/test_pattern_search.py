from __future__ import annotations

import re

import pytest

from toolassay.benchmarks.workbench.tools import ToolFailure
from toolassay.benchmarks.workbench.tools.tool import LONGEST_PATTERN, Search

ROWS = [{"name": "Ann Lee", "mail": "ann@x.y"}, {"name": "Bo (B.) Ray", "mail": "bo@x.y"}]


def found(pattern: object) -> list[str]:
    return [row["name"][:3] for row in Search().contains(ROWS, pattern, "name")]


def test_a_pattern_is_searched_anywhere_and_without_case() -> None:
    assert found("LEE") == ["Ann"]
    assert found("") == ["Ann", "Bo "]
    assert found(r"\(b\.\)") == ["Bo "]
    assert found("^a|y$") == ["Ann", "Bo "]


@pytest.mark.parametrize("pattern", ["(", "*", "[", r"\p{L}", "(?r)a", "a" * (LONGEST_PATTERN + 1), 5, None])
def test_what_re_cannot_compile_is_a_failure(pattern: object) -> None:
    with pytest.raises(ToolFailure, match=r"pattern|expression"):
        found(pattern)


@pytest.mark.filterwarnings("ignore:Possible nested set")
@pytest.mark.parametrize(
    "pattern", ["\u0131", "[[:alpha:]]", "Lee{e}", "{e}", r"\N{LATIN SMALL LETTER B}o", "e{2}"]
)
def test_what_two_engines_read_differently_is_read_as_re_does(pattern: str) -> None:
    rows = [*ROWS, {"name": "Lin {e}"}]
    expected = [row for row in rows if re.search(pattern, row["name"], re.IGNORECASE)]
    assert Search().contains(rows, pattern, "name") == expected


def test_a_search_that_takes_too_long_is_given_up() -> None:
    rows = [{"name": "a" * 60 + "!"}]
    with pytest.raises(ToolFailure, match=r"took more than 0.05 s"):
        Search(seconds=0.05).contains(rows, "^(a|aa|aaa)*$|(a?){30}b", "name")


def test_all_searches_of_a_call_share_the_time() -> None:
    with pytest.raises(ToolFailure, match="took more than 0 s"):
        Search(seconds=0).contains(ROWS, "a", "name")


@pytest.mark.parametrize("pattern", ["((((a{100}){100}){100}){100}){100}", "(a{1,9999}b{,9999})"])
def test_counts_that_would_fill_the_memory_are_refused(pattern: str) -> None:
    with pytest.raises(ToolFailure, match="repeats too much"):
        found(pattern)
