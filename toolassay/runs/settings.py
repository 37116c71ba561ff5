"""What travels together: options objects, each documented once.

A stage takes the objects, or their fields as plain keywords, or both; a keyword replaces the field.

    infer("data", llm="acme/one", budget=Budget(cost=5.0))
    infer("data", model=ModelSettings(llm="acme/one"), limits=Limits(Budget(cost=5.0)))
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from toolassay.dataset import RequestId
from toolassay.errors import UsageError
from toolassay.models import ModelOptions
from toolassay.models.refused_parameters import sampling_parameters
from toolassay.models.structured_output import Structured
from toolassay.runs.books import Books
from toolassay.runs.budget import Budget
from toolassay.screen import DEFAULT, Screen

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Options = TypeVar("Options", bound=DataclassInstance)

PREDICTIONS = "predictions"
"""The prediction folder where no other is named."""


@dataclass(frozen=True)
class Limits:
    """What a run may use.

    Attributes:
        budget: US dollars, tokens and requests at most, earlier starts and all trials included.
        prices: a CSV table of prices; what is in it counts before the prices of genai-prices.
        multiworker: maximum concurrent requests; None adapts to the server.
    """

    budget: Budget | None = None
    prices: Path | None = None
    multiworker: int | None = None


@dataclass(frozen=True)
class ModelSettings:
    """Which model answers, where it is, and how it samples.

    Attributes:
        llm: name of a served model, of an installed one, or "offline", "nothing", "random", which need no
            server.
        options: the endpoint and its client; None for the defaults and the environment.
        temperature: of each request, from 0.
        top_p: of each request, from 0 to 1.
        max_tokens: of an answer, thinking included; None for the default of the stage or benchmark.
        structured: whether the server constrains answers to a JSON schema: "auto" where it can, True or the
            run ends, False not, None for the default of the stage or benchmark.
    """

    llm: str = "gpt-4"
    options: ModelOptions | None = None
    temperature: float | None = 0.2
    top_p: float | None = 0.1
    max_tokens: int | None = None
    structured: Structured | None = None

    @property
    def parameters(self) -> dict[str, float]:
        """Temperature and top_p as parameters of a request; one that is None is not sent.

        Raises:
            UsageError: a value is out of its range.
        """
        return sampling_parameters(self.temperature, self.top_p)

    def endpoint(self, limits: Limits) -> ModelOptions:
        """The options to make models with; where the schema is required, a refused one ends the run."""
        given = self.options or ModelOptions(connections=limits.multiworker)
        return replace(given, require_schema=self.structured is True)

    def check(self) -> None:
        """Refuse a limit of tokens that allows no answer.

        Raises:
            UsageError: `max_tokens` is below 1.
        """
        if self.max_tokens is not None and self.max_tokens < 1:
            raise UsageError(
                f"--max_tokens {self.max_tokens} is no limit of an answer", fix="give a number from 1"
            )


@dataclass(frozen=True)
class RunChoices:
    """Which items a start asks, where the run is kept, and what happens to a run that is there.

    Attributes:
        prediction_dir: below the data folder; None for `predictions`.
        limit: ask only the first N items, in the order of the file.
        ids: ask only these: ids, or a file of them (one a line, a JSON list, or `split_ids.json:test`).
        trials: how often the whole run is made; further ones are in `trials/<number>/`.
        force: start again where the run had other settings; the old run is kept under `runs/`.
        retry_malformed: ask items again whose answer was malformed or cut off; `max_tokens` may differ then.
            The other answers stay, and so does the old one until the new one has arrived.
        dry_run: only show what would be sent and may be used; nothing is sent or written.
    """

    prediction_dir: str | None = None
    limit: int | None = None
    ids: Path | Collection[RequestId] | None = None
    trials: int = 1
    force: bool = False
    retry_malformed: bool = False
    dry_run: bool = False

    @property
    def chosen_ids(self) -> Collection[RequestId] | None:
        """The ids, once a file of them was read."""
        assert not isinstance(self.ids, Path)
        return self.ids


@dataclass(frozen=True)
class RunSettings:
    """Everything that one start of a run shares, whichever the benchmark.

    Attributes:
        model: which model answers.
        limits: what the run may use.
        choices: which items are asked, and where the run is kept.
        command: what was typed, for the manifest; None for a call from Python.
        screen: where notices, results and progress go.
    """

    model: ModelSettings = field(default_factory=ModelSettings)
    limits: Limits = field(default_factory=Limits)
    choices: RunChoices = field(default_factory=RunChoices)
    command: Sequence[str] | None = None
    screen: Screen = DEFAULT

    @property
    def endpoint(self) -> ModelOptions:
        """Where served models are."""
        return self.model.endpoint(self.limits)

    @property
    def cost_of(self) -> Callable[..., float | None]:
        """US dollars of an answer of the model by its tokens, as the ledger books it.

        Raises:
            UsageError: the table of prices is malformed.
        """
        books = Books([self.model.llm], None, self.limits.prices, self.endpoint)
        return partial(books.cost_of, self.model.llm)


class ModelKeywords(TypedDict, total=False):
    """The fields of `ModelSettings` as keywords."""

    llm: str
    options: ModelOptions | None
    temperature: float | None
    top_p: float | None
    max_tokens: int | None
    structured: Structured | None


class LimitKeywords(TypedDict, total=False):
    """The fields of `Limits` as keywords."""

    budget: Budget | None
    prices: Path | None
    multiworker: int | None


class ChoiceKeywords(TypedDict, total=False):
    """The fields of `RunChoices` as keywords."""

    prediction_dir: str | None
    limit: int | None
    ids: Path | Collection[RequestId] | None
    trials: int
    force: bool
    retry_malformed: bool
    dry_run: bool


def gather(given: Options, keywords: dict[str, Any]) -> Options:
    """An options object with the keywords that are fields of it, which are taken out of `keywords`.

    >>> keywords = {"llm": "acme/one", "seed": 3}
    >>> gather(ModelSettings(), keywords).llm, keywords
    ('acme/one', {'seed': 3})
    """
    names = {one.name for one in fields(given)}
    return replace(given, **{name: keywords.pop(name) for name in list(keywords) if name in names})


def refuse_unknown(function: str, keywords: Mapping[str, Any]) -> None:
    """Refuse keywords that no options object took, as Python does.

    Raises:
        TypeError: there is one.
    """
    for name in keywords:
        raise TypeError(f"{function}() got an unexpected keyword argument '{name}'")
