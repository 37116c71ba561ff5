"""Options of the runs of all stages: the model, limits, which items.

Stages take the objects. Commands and the functions of the package `toolassay` take their fields too:

    infer("data", llm="acme/one", max_cost=5.0)
    infer("data", model=ModelSettings(llm="acme/one"), limits=Limits(budget=Budget(cost=5.0)))
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Annotated

from toolassay.console.screen import DEFAULT, Screen
from toolassay.declarations import Option
from toolassay.engines import EngineName
from toolassay.errors import UsageError
from toolassay.models import ModelOptions
from toolassay.models.refused_parameters import Default
from toolassay.models.structured_output import Structured
from toolassay.records.dataset import RequestId
from toolassay.runs.budget import Budget

TEMPERATURE = Option("Sampling temperature, 0 or more.", minimum=0, common=True)
TOP_P = Option("Nucleus sampling probability, 0 to 1.", minimum=0, maximum=1)
DEFAULT_MODEL = "gpt-4"
"""The model of the published scripts, which commands take if none is named."""
PREDICTIONS = "predictions"
"""Default prediction folder, below the data folder."""


@dataclass(frozen=True)
class Limits:
    """Limits of a run, over all starts and trials."""

    section = "Limits and cost"

    budget: Budget | None = None
    prices: Annotated[
        Path | None, Option("CSV table of prices; takes precedence over the prices of genai-prices.")
    ] = None
    multiworker: Annotated[
        int | None, Option("Maximum concurrent requests [default: adaptive].", minimum=1, metavar="N")
    ] = None


@dataclass(frozen=True)
class ModelSettings:
    """The model, its endpoint and its sampling parameters.

    A default of temperature and top_p (`Default`) is also omitted if the server refuses it; None omits the
    parameter.
    """

    section = "Model"

    llm: Annotated[
        str,
        Option(
            "Name of a served or registered model, or a built-in model that needs no server: offline, or one "
            "of the baselines nothing and random.",
            command_default=DEFAULT_MODEL,
            common=True,
        ),
    ] = ""
    options: ModelOptions | None = None
    temperature: Annotated[
        float | None, Option("Sampling temperature, 0 or more.", minimum=0, common=True)
    ] = Default(0.2)
    top_p: Annotated[float | None, Option("Nucleus sampling probability, 0 to 1.", minimum=0, maximum=1)] = (
        Default(0.1)
    )
    max_tokens: Annotated[
        int | None,
        Option(
            "Maximum tokens of an answer, reasoning included [default: that of the stage or benchmark].",
            minimum=1,
            metavar="N",
            common=True,
        ),
    ] = None
    structured: Annotated[
        Structured | None,
        Option(
            "Make the server constrain answers to a JSON schema. auto: if the server supports it; true: stop "
            "if it does not [default: that of the stage or benchmark].",
            metavar="auto|true|false",
        ),
    ] = None

    def require_name(self) -> None:
        """Refuse settings that name no model.

        Raises:
            UsageError: There is no name.
        """
        if not self.llm:
            raise UsageError("no model is named", fix="give llm")

    @property
    def parameters(self) -> dict[str, float]:
        """Temperature and top_p as request parameters, without those that are None."""
        # "+" makes a float of a Default.
        return {name: +value for name, value in self._sampling.items() if value is not None}

    @property
    def _sampling(self) -> dict[str, float | None]:
        return {"temperature": self.temperature, "top_p": self.top_p}

    def endpoint(self, limits: Limits) -> ModelOptions:
        """The client options; with `structured` True, a server that refuses the schema stops the run."""
        given = self.options or ModelOptions()
        sampling = {
            name: value
            for name, value in self._sampling.items()
            if value is not None and type(value) is not Default
        }
        connections = limits.multiworker if given.connections is None else given.connections
        return replace(
            given, connections=connections, require_schema=self.structured is True, sampling=sampling
        )


@dataclass(frozen=True)
class RunStart:
    """How a run starts, and where it works."""

    section = "Run"

    force: Annotated[
        bool, Option("Start a new run if the settings differ from the existing run, which is kept.")
    ] = False
    dry_run: Annotated[
        bool,
        Option("Show what would be sent and its estimated cost. Sends and writes nothing.", common=True),
    ] = False
    batch_cancel: Annotated[
        bool,
        Option(
            "With --batch: cancel the open batches of the run, keep what they have answered, submit nothing."
        ),
    ] = False
    engine: EngineName = None


@dataclass(frozen=True)
class RunChoices(RunStart):
    """Which items to run, how often, and where to write."""

    prediction_dir: Annotated[
        str | None,
        Option("Prediction folder, below the data folder [default: predictions, or predictions_ASK]."),
    ] = None
    limit: Annotated[
        int | None,
        Option("Run only the first N items, in file order.", minimum=1, metavar="N", common=True),
    ] = None
    ids: Annotated[
        Path | Collection[RequestId] | None,
        Option(
            "Run only the ids in this file: one per line, a JSON list, or split_ids.json:test for a split."
        ),
    ] = None
    trials: Annotated[
        int,
        Option(
            "Number of complete runs of all items; further ones are in trials/N. Limits apply to all "
            "together.",
            minimum=1,
            common=True,
        ),
    ] = 1
    retry_malformed: Annotated[
        bool,
        Option(
            "Retry items with a malformed or truncated answer; other answers are kept. --max_tokens may "
            "differ from the first run."
        ),
    ] = False

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
        from toolassay.runs.ledger import cost_of, prices_within  # not needed for `--help`

        prices = prices_within([self.model.llm], None, self.limits.prices, self.endpoint)
        return partial(cost_of, self.model.llm, prices=prices)
