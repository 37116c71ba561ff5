"""The page of a review and its routes, served on loopback."""

from toolassay.review.server.server import ReviewServer

__all__ = ["ReviewServer"]
