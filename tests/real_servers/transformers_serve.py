"""`transformers serve`. It computes on, however long the prompt, and ignores schemas."""

from __future__ import annotations

from tests.real_servers.serving import Place, Recipe, make_tiny_model


def commands(place: Place) -> list[list[str]]:
    program = str(place.home / "bin" / "transformers")
    where = ["--host", "127.0.0.1", "--port", str(place.port)]
    return [[program, "serve", "tiny", *where, "--device", "cpu"]]


RECIPE = Recipe("transformers", make_tiny_model, commands, overflows=False)
