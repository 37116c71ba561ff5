"""The options of a link review, for the commands that build a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolassay.cli import options

if TYPE_CHECKING:
    from toolassay.link_review import ReviewOptions


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
    from toolassay.link_review import ReviewOptions
    from toolassay.runs.settings import Limits

    settings = options.with_budget(options.with_model_options(settings))
    limits = Limits(**{name: settings.pop(name) for name in ("budget", "prices", "multiworker")})
    review: ReviewOptions = ReviewOptions(
        critic=settings.pop("critic"),
        limits=limits,
        command=options.typed(),
        **{name: settings.pop(name) for name in ("options", "force", "dry_run")},
    )
    return {**settings, "review": review if review.critic is not None or review.dry_run else None}
