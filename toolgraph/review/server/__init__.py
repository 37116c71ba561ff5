"""The page of a review and its routes, served on loopback."""

from toolgraph.review.server.server import ReviewServer

__all__ = ["ReviewServer"]
