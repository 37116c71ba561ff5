"""Derives the dependencies between tools from their schemas, names and descriptions.

A field of a result can fill an argument if both refer to the same attribute of the same thing: `results[].id`
of `GET /search/movie` is the id of a movie, which `movie_id` takes. What a field is of follows from its name,
the object and the schema around it, the path of the operation, and the fields beside it.
"""

from __future__ import annotations

from toolassay.graph.derive.derivation import Derivation, derive_dependencies

__all__ = ["Derivation", "derive_dependencies"]
