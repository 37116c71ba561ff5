"""Options objects of the stages; each option is documented here once.

A stage takes the objects, their fields as keywords, or both; a keyword replaces the field.

    infer("data", llm="acme/one", budget=Budget(cost=5.0))
    infer("data", model=ModelSettings(llm="acme/one"), limits=Limits(Budget(cost=5.0)))
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, TypeVarTuple, cast

from toolassay.console.screen import DEFAULT, Screen
from toolassay.errors import UsageError
from toolassay.models import ModelOptions
from toolassay.models.refused_parameters import Default, sampling_parameters
from toolassay.models.structured_output import Structured
from toolassay.records.dataset import RequestId
from toolassay.runs.budget import Budget
from toolassay.runs.ledger import cost_of, prices_within

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Options = TypeVar("Options", bound=DataclassInstance)
Given = TypeVarTuple("Given")

PREDICTIONS = "predictions"
"""Default prediction folder, below the data folder."""


@dataclass(frozen=True)
class Limits:
    """Limits of a run.

    Attributes:
        budget: Maximum US dollars, tokens and requests, earlier starts and all trials included; None for no
            limit.
        prices: CSV table of prices; it takes precedence over the prices of genai-prices.
        multiworker: Maximum concurrent requests; None adapts to the server.
    """

    budget: Budget | None = None
    prices: Path | None = None
    multiworker: int | None = None


@dataclass(frozen=True)
class ModelSettings:
    """The model, its endpoint and its sampling parameters.

    Attributes:
        llm: Name of a served or registered model, or a built-in model that needs no server: "offline",
            "nothing" or "random".
        options: Endpoint and HTTP client; None for the defaults and the environment variables.
        temperature: Sampling temperature, 0 or more; None omits the parameter.
        top_p: Nucleus sampling probability, 0 to 1; None omits the parameter. A default (`Default`) of these
            is also omitted if the server refuses it.
        max_tokens: Maximum tokens of an answer, reasoning included; None for the default of the stage or
            benchmark.
        structured: Whether the server constrains answers to a JSON schema. "auto": if it supports schemas;
            True: the run stops if it does not; False: never; None: default of the stage or benchmark.
    """

    llm: str = "gpt-4"
    options: ModelOptions | None = None
    temperature: float | None = Default(0.2)
    top_p: float | None = Default(0.1)
    max_tokens: int | None = None
    structured: Structured | None = None

    @property
    def parameters(self) -> dict[str, float]:
        """Temperature and top_p as request parameters, without those that are None.

        Raises:
            UsageError: A value is out of range.
        """
        return sampling_parameters(self.temperature, self.top_p)

    def endpoint(self, limits: Limits) -> ModelOptions:
        """The client options; with `structured` True, a server that refuses the schema stops the run."""
        given = self.options or ModelOptions(connections=limits.multiworker)
        own = {"temperature": self.temperature, "top_p": self.top_p}
        sampling = {
            name: value for name, value in own.items() if value is not None and type(value) is not Default
        }
        return replace(given, require_schema=self.structured is True, sampling=sampling)

    def check(self) -> None:
        """Validate temperature, top_p and `max_tokens`.

        Raises:
            UsageError: A value is out of its range.
        """
        _ = self.parameters
        if self.max_tokens is not None and self.max_tokens < 1:
            raise UsageError(f"--max_tokens {self.max_tokens} is less than 1", fix="write a number from 1")


@dataclass(frozen=True)
class RunChoices:
    """Which items to run, where to write, and how to treat an existing run.

    Attributes:
        prediction_dir: Prediction folder, below the data folder; None for `predictions`.
        limit: Run only the first N items, in file order.
        ids: Run only these ids, or those in a file (one per line, a JSON list, or `split_ids.json:test`).
        trials: Number of complete runs of all items; further trials are in `trials/<number>/`.
        force: Start a new run if the settings differ from those of the existing run, which is kept under
            `runs/`.
        retry_malformed: Retry items with a malformed or truncated answer; `max_tokens` may differ. An old
            answer is kept until the new one has arrived.
        dry_run: Estimate requests and cost; nothing is sent or written.
        batch_cancel: Cancel the open batches of the run and keep what they have answered; nothing is sent.
        engine: Where a built-in model works: `local:N` for N processes, `dask://HOST:PORT` for a cluster;
            None for this process.
    """

    prediction_dir: str | None = None
    limit: int | None = None
    ids: Path | Collection[RequestId] | None = None
    trials: int = 1
    force: bool = False
    retry_malformed: bool = False
    dry_run: bool = False
    batch_cancel: bool = False
    engine: str | None = None

    @property
    def chosen_ids(self) -> Collection[RequestId] | None:
        """The ids; `infer` has replaced a file by its ids."""
        assert not isinstance(self.ids, Path)
        return self.ids


@dataclass(frozen=True)
class RunSettings:
    """The settings of one start of a run that all benchmarks share.

    Attributes:
        model: The model and its sampling parameters.
        limits: Limits of the run.
        choices: Which items to run, and where to write.
        command: Command line, recorded in the manifest; None for a call from Python.
        screen: Receives messages, results and progress.
    """

    model: ModelSettings = field(default_factory=ModelSettings)
    limits: Limits = field(default_factory=Limits)
    choices: RunChoices = field(default_factory=RunChoices)
    command: Sequence[str] | None = None
    screen: Screen = DEFAULT

    @property
    def endpoint(self) -> ModelOptions:
        """Client options for served models."""
        return self.model.endpoint(self.limits)

    @property
    def cost_of(self) -> Callable[..., float | None]:
        """A function that returns the US dollars of an answer by its tokens, as in the ledger.

        Raises:
            UsageError: The table of prices is malformed.
        """
        prices = prices_within([self.model.llm], None, self.limits.prices, self.endpoint)
        return partial(cost_of, self.model.llm, prices=prices)


def gather(given: Options, keywords: dict[str, Any]) -> Options:
    """Replace the fields of an options object that `keywords` names; these are removed from `keywords`.

    >>> keywords = {"llm": "acme/one", "seed": 3}
    >>> gather(ModelSettings(), keywords).llm, keywords
    ('acme/one', {'seed': 3})
    """
    names = {one.name for one in fields(given)}
    return replace(given, **{name: keywords.pop(name) for name in list(keywords) if name in names})


def options_of(function: str, keywords: dict[str, Any], *given: *Given) -> tuple[*Given]:
    """Options objects with the fields that the keywords of a function replace (`gather`).

    Raises:
        TypeError: A keyword is a field of none of them.
    """
    found = [gather(one, keywords) for one in cast("tuple[Any, ...]", given)]
    refuse_unknown(function, keywords)
    return cast("tuple[*Given]", tuple(found))


def refuse_unknown(function: str, keywords: Mapping[str, Any]) -> None:
    """Refuse keywords that are left after `gather`, like a Python function.

    Raises:
        TypeError: There is one.
    """
    for name in keywords:
        raise TypeError(f"{function}() got an unexpected keyword argument '{name}'")
