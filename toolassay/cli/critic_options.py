"""The options of a link review, for the commands that build a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from toolassay.cli import options

if TYPE_CHECKING:
    from toolassay.link_review import ReviewOptions


class _Band(click.ParamType[tuple[float, float]]):
    name = "band"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[float, float]:
        if isinstance(value, tuple):
            return value
        try:
            low, high = (float(part) for part in str(value).split(","))
        except ValueError:
            self.fail(f"{value!r} is not LOW,HIGH, e.g. 0.2,0.6", param, ctx)
        if not 0 <= low <= high <= 1:
            self.fail(f"{value!r} is not a range within 0 and 1", param, ctx)
        return low, high


def link_review() -> options.Decorator[Any]:
    """The critic of doubtful links, its server and its limits; `with_review` collects their values."""
    return options.together(
        options.option(
            "critic",
            default=None,
            metavar="LLM",
            help="Served model that judges doubtful links. Verdicts are kept in DATA_DIR/graph_review and "
            "applied to every later graph.",
        ),
        options.option(
            "critic_band",
            type=_Band(),
            default=None,
            metavar="LOW,HIGH",
            help="Scores of the links that the critic judges [default: 0.2,0.6].",
        ),
        options.option(
            "critic_links",
            type=click.IntRange(1),
            default=None,
            metavar="N",
            help="Maximum links that the critic judges, the most doubtful first [default: 500].",
        ),
        options.server(),
        options.multiworker(),
        options.budget("for the critic, earlier starts included"),
        options.flag("force", "Restart a critic's run whose settings differ; the old one is kept."),
        options.flag("dry_run", "Show what the critic would receive and its cost. Sends and writes nothing."),
    )


def with_review(settings: dict[str, Any]) -> dict[str, Any]:
    """Replace the options of `link_review` in `settings` by one `review`: None without a critic.

    Raises:
        UsageError: A file of `server` is malformed.
    """
    from toolassay.link_review import DEFAULT_BAND, DEFAULT_LINKS, ReviewOptions
    from toolassay.runs.settings import Limits

    settings = options.with_budget(options.with_model_options(settings))
    limits = Limits(**{name: settings.pop(name) for name in ("budget", "prices", "multiworker")})
    review: ReviewOptions = ReviewOptions(
        critic=settings.pop("critic"),
        critic_band=settings.pop("critic_band") or DEFAULT_BAND,
        critic_links=settings.pop("critic_links") or DEFAULT_LINKS,
        limits=limits,
        command=options.typed(),
        **{name: settings.pop(name) for name in ("options", "force", "dry_run")},
    )
    return {**settings, "review": review if review.critic is not None or review.dry_run else None}
