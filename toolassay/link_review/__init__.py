"""A model judges doubtful links of a schema graph; its verdicts are kept in the data folder."""

from toolassay.link_review.doubtful_links import (
    DEFAULT_BAND,
    DEFAULT_LINKS,
    Verdict,
    apply_verdicts,
    doubtful_links,
)
from toolassay.link_review.review_run import LinkReview, ReviewOptions, review_links, stored_verdicts

__all__ = [
    "DEFAULT_BAND",
    "DEFAULT_LINKS",
    "LinkReview",
    "ReviewOptions",
    "Verdict",
    "apply_verdicts",
    "doubtful_links",
    "review_links",
    "stored_verdicts",
]
