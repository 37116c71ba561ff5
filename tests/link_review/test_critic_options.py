"""The options of a link review on a command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from click.testing import CliRunner

from toolassay.cli.tools import link_review, with_review
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
        *("--critic", "acme/judge", "--max_requests", "2"),
        *("--multiworker", "4", "--api_base", "http://127.0.0.1:9/v1", "--dry_run"),
    )
    review = settings.pop("review")
    assert settings == {}
    assert review.critic == "acme/judge"
    assert (review.limits.budget, review.limits.multiworker) == (Budget(requests=2), 4)
    assert review.options.api_base == "http://127.0.0.1:9/v1"
    assert (review.dry_run, review.force, review.command[0]) == (True, False, "graph")


def test_without_a_critic_there_is_no_review() -> None:
    assert parsed()[0]["review"] is None


def test_a_critic_has_defaults() -> None:
    review = parsed("--critic", "acme/judge")[0]["review"]
    assert isinstance(review, ReviewOptions)
    assert (review.critic_band, review.critic_links) == (DEFAULT_BAND, DEFAULT_LINKS)
