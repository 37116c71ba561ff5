"""Resolves `--llm NAME`: a built-in model, one that a package registered, or a served model."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import cast

from toolassay.errors import UsageError
from toolassay.extras import installed_entry_points
from toolassay.models.options import ModelOptions
from toolassay.models.protocol import ChatModel, Meter

GROUP = "toolassay.models"

NOTHING = "nothing"
"""The baseline that makes no plan and no call, and says nothing."""
# Import paths, so that a model's module is imported only when it is used.
_BUILT_IN = {
    "offline": "toolassay.offline.offline_model:create",
    NOTHING: "toolassay.offline.baselines:create",
    "random": "toolassay.offline.baselines:create",
}
BUILT_IN = frozenset(_BUILT_IN)
"""Models that need no server: they run locally, cost nothing and use no tokens."""
BASELINES = frozenset({NOTHING, "random"})
"""Built-in models to compare with; they get no rank."""
DRAWS = frozenset({"random"})
"""Built-in models that take a seed (default 0)."""


def refuse_baseline(name: str | None, flag: str) -> None:
    """Reject a baseline for a role in which the model has to read its prompt.

    Args:
        name: Name of the model; None passes.
        flag: The option that names it, for the message.

    Raises:
        UsageError: The model is a baseline.
    """
    if name in BASELINES:
        raise UsageError(f"{flag} {name} is a baseline: it only answers requests", fix="name another model")


def create_model(name: str, options: ModelOptions, meter: Meter | None = None) -> ChatModel:
    """Create the model called `name`.

    Built-in names (`offline`, `nothing`, `random`) come first, then names registered under the entry-point
    group `toolassay.models`; every other name is a model of the OpenAI-compatible server of `options`.

    Args:
        name: Name of the model.
        options: Address and settings of the server. A registered factory is called with `(name, options)`.
        meter: Called for every attempt. With a meter, built-in and registered models get the same retries
            and concurrency limit as a served one.

    Raises:
        UsageError: The name is empty, or a registered model cannot be loaded.
    """
    if not name.strip():
        raise UsageError("--llm is empty", fix="name a model, e.g. --llm offline")
    factory = _registered(name)
    if factory is not None:
        model = factory(name, options)
        if meter is None:
            return model
        from toolassay.models.client import Client, Registered
        from toolassay.models.concurrency import Limiter

        limiter = Limiter(options.connections)
        return Client(model.name, options, meter, transport=Registered(model), limiter=limiter)
    from toolassay.models.client import Client

    return Client(name, options, meter)


def is_served(name: str) -> bool:
    """Whether a model is called over HTTP, rather than built in or registered.

    >>> is_served("offline"), is_served("gpt-4")
    (False, True)
    """
    return name not in _BUILT_IN and not any(point.name == name for point in installed_entry_points(GROUP))


def _registered(name: str) -> Callable[[str, ModelOptions], ChatModel] | None:
    if name in _BUILT_IN:
        module, _, attribute = _BUILT_IN[name].partition(":")
        return cast(Callable[[str, ModelOptions], ChatModel], getattr(import_module(module), attribute))
    for point in installed_entry_points(GROUP):
        if point.name != name:
            continue
        try:
            return cast(Callable[[str, ModelOptions], ChatModel], point.load())
        except Exception as error:
            # Importing another package can raise anything.
            raise UsageError(
                f"model '{name}' is registered as {point.value} but cannot be loaded: {error}",
                fix="repair or uninstall that package",
            ) from error
    return None
