"""The options of a link review on a command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from toolassay.cli.critic_options import link_review, with_review
from toolassay.link_review import DEFAULT_BAND, DEFAULT_LINKS, ReviewOptions
from toolassay.runs import Budget


def parsed(*arguments: str) -> tuple[dict[str, Any], str]:
    """What a command with the options receives, and its output."""
    received: dict[str, Any] = {}

    @click.command()
    @link_review()
    def command(**settings: Any) -> None:
        received.update(with_review(settings))

    return received, CliRunner().invoke(command, list(arguments), obj=("graph", *arguments)).output


def test_the_options_become_one_object(tmp_path: Path) -> None:
    settings, _ = parsed(
        *("--critic", "acme/judge", "--critic_band", "0.3,0.6", "--critic-links", "7", "--max_requests", "2"),
        *("--multiworker", "4", "--api_base", "http://127.0.0.1:9/v1", "--dry_run"),
    )
    review = settings.pop("review")
    assert settings == {}
    assert (review.critic, review.critic_band, review.critic_links) == ("acme/judge", (0.3, 0.6), 7)
    assert (review.limits.budget, review.limits.multiworker) == (Budget(requests=2), 4)
    assert review.options.api_base == "http://127.0.0.1:9/v1"
    assert (review.dry_run, review.force, review.command[0]) == (True, False, "graph")


def test_without_a_critic_there_is_no_review() -> None:
    assert parsed()[0]["review"] is None


def test_a_critic_has_defaults() -> None:
    review = parsed("--critic", "acme/judge")[0]["review"]
    assert isinstance(review, ReviewOptions)
    assert (review.critic_band, review.critic_links) == (DEFAULT_BAND, DEFAULT_LINKS)


@pytest.mark.parametrize("band", ["0.3", "a,b", "0.6,0.3", "-0.1,0.5", "0.5,1.1", "nan,0.5", "0.1,0.2,0.3"])
def test_a_band_is_two_ordered_scores(band: str) -> None:
    settings, output = parsed("--critic_band", band)
    assert settings == {}
    assert "--critic_band" in output and "is not" in output
