"""Prices of models: the user's table, else nothing for a local address, else genai-prices."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from toolassay.errors import UsageError
from toolassay.files.data_files import read_text
from toolassay.models import ModelOptions
from toolassay.models.address import Address
from toolassay.models.registry import is_served

COLUMNS = ("model", "prompt_usd_per_million", "completion_usd_per_million", "as_of")
CACHED = "cached_usd_per_million"
BATCH = ("batch_prompt_usd_per_million", "batch_completion_usd_per_million")
_OPTIONAL = (CACHED, *BATCH)
_HEADS = (COLUMNS, (*COLUMNS, CACHED), (*COLUMNS, *BATCH), (*COLUMNS, CACHED, *BATCH))
_FIX = (
    f"the first line must be {','.join(COLUMNS)} (then {CACHED}, if cached tokens cost less; then "
    f"{','.join(BATCH)}, if a batch does not cost half), then e.g. my-model,0.15,0.60,2026-01-31"
)
BATCH_FACTOR = 0.5
"""What a request in a batch costs, as a share of its price: OpenAI's Batch API is half as expensive."""
_IN_BATCH = {"processing": "batch"}  # how genai-prices calls it
# Top-level names that are reserved or customary for private networks (RFC 6761, 6762, 8375).
_LOCAL_NAMES = ("localhost", "local", "internal", "lan", "home.arpa", "localdomain")
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """A price in US dollars per million tokens.

    Attributes:
        prompt: Price of prompt tokens.
        completion: Price of completion tokens.
        as_of: Date of the price, or "".
        cached: Price of prompt tokens from the server's cache; None if it is the same as `prompt`.
        source: Where the price comes from.
        local: Whether it is the price of a local address.
        batch: Prices of prompt and completion tokens in a batch; None for half of the others.
    """

    prompt: float
    completion: float
    as_of: str
    cached: float | None = None
    source: str = "--prices"
    local: bool = False
    batch: tuple[float, float] | None = None

    @property
    def in_batch(self) -> Price:
        """The price in a batch.

        >>> Price(2.5, 10, "", cached=1).in_batch.words
        '$1.25 input ($0.5 cached), $5 output per million tokens (--prices, half price in a batch)'
        >>> Price(2.5, 10, "", batch=(2, 8)).in_batch.words
        '$2 input, $8 output per million tokens (--prices, in a batch)'
        """
        if self.local:
            return self
        prompt, completion = self.batch or (self.prompt * BATCH_FACTOR, self.completion * BATCH_FACTOR)
        cached = None if self.batch or self.cached is None else self.cached * BATCH_FACTOR
        source = f"{self.source}, {'in a batch' if self.batch else 'half price in a batch'}"
        return replace(self, prompt=prompt, completion=completion, cached=cached, source=source)

    @property
    def words(self) -> str:
        """The price and its source.

        >>> Price(2.5, 10, "2025-06-01").words
        '$2.5 input, $10 output per million tokens (--prices, 2025-06-01)'
        """
        if self.local:
            return self.source
        cached = "" if self.cached is None else f" (${self.cached:g} cached)"
        origin = f"{self.source}, {self.as_of}" if self.as_of else self.source
        return f"${self.prompt:g} input{cached}, ${self.completion:g} output per million tokens ({origin})"

    def of(self, prompt_tokens: float, completion_tokens: float, cached_tokens: int | None = None) -> float:
        """US dollars of one call.

        >>> Price(2.5, 10, "2025-06-01").of(1000, 100), Price(2, 0, "", cached=1).of(1000, 0, 500)
        (0.0035, 0.0015)
        """
        cached = min(cached_tokens or 0, prompt_tokens)
        cached_price = self.prompt if self.cached is None else self.cached
        read = (prompt_tokens - cached) * self.prompt + cached * cached_price
        return (read + completion_tokens * self.completion) / _MILLION


LOCAL = Price(0.0, 0.0, "", source="local, no price", local=True)


@dataclass(frozen=True)
class ListedPrice:
    """A price of genai-prices, which may depend on the prompt's length, the time of day and cached tokens.

    Attributes:
        provider: `Provider` of the library.
        model: `ModelInfo` of the library.
        version: Version of the library, and so of its data.
        local: Always false.
        batch: Whether requests are sent in a batch: the library's price for that, or else half.
    """

    provider: Any
    model: Any
    version: str
    local: bool = False
    batch: bool = False

    @property
    def in_batch(self) -> ListedPrice:
        """The price in a batch."""
        return replace(self, batch=True)

    @cached_property
    def _has_batch_price(self) -> bool:
        now = datetime.now(UTC)
        return bool(self.model.get_prices(now, _IN_BATCH) != self.model.get_prices(now))

    @cached_property
    def words(self) -> str:
        """The current price of short prompts, and its source."""
        input_price = self.of(_MILLION, 0, base=True)
        output_price = self.of(0, _MILLION)
        cached = self.of(_MILLION, 0, _MILLION, base=True)
        less = f" (${cached:g} cached)" if cached != input_price else ""
        batch = ""
        if self.batch:
            batch = ", in a batch" if self._has_batch_price else ", half price in a batch"
        return (
            f"${input_price:g} input{less}, ${output_price:g} output per million tokens "
            f"({self.model.id} of {self.provider.name}, genai-prices {self.version}{batch})"
        )

    def of(
        self,
        prompt_tokens: float,
        completion_tokens: float,
        cached_tokens: int | None = None,
        *,
        base: bool = False,
    ) -> float:
        """US dollars of one call.

        Args:
            prompt_tokens: Tokens of the prompt, cached ones included.
            completion_tokens: Tokens of the answer.
            cached_tokens: Prompt tokens that came from the server's cache.
            base: Whether to use the price of short prompts: that of a thousandth of the tokens, times 1000.
        """
        from genai_prices import Usage

        prompt = round(prompt_tokens)
        scale = 1000 if base else 1
        usage = Usage(
            input_tokens=prompt // scale,
            output_tokens=round(completion_tokens) // scale,
            cache_read_tokens=min(cached_tokens or 0, prompt) // scale or None,
        )
        if not self.batch:
            return float(self.model.calc_price(usage, self.provider).total_price) * scale
        listed = self.model.calc_price(usage, self.provider, price_context=_IN_BATCH)
        return float(listed.total_price) * scale * (1 if self._has_batch_price else BATCH_FACTOR)


Tariff = Price | ListedPrice
"""The price of a model's tokens; `of` gives US dollars, of prompt tokens that include the cached ones."""


def prices_of(
    models: Collection[str], options: ModelOptions | None = None, path: Path | None = None
) -> Mapping[str, Tariff]:
    """The price of each model that has a known one.

    The first source that has a price counts:

    1. the user's table, by the exact name;
    2. a loopback or private address of a served model, where nothing is charged, and `batch="vllm"`;
    3. genai-prices: the provider of the address (whose name may also prefix the model's), else the provider
       that prefixes the name (`openai/gpt-4o`), else the model's own provider.

    With `options.batch`, it is the price of requests in a batch.

    Args:
        models: Names of the models.
        options: Options with the address of the server; None ignores the address.
        path: The user's table.

    Raises:
        UsageError: The table is missing or malformed (names the line).
    """
    own_prices = read_prices(path) if path is not None else {}
    batch = options.batch if options is not None else None
    prices: dict[str, Tariff] = {}
    for model in models:
        address = options.address if options is not None and is_served(model) else None
        price: Tariff | None = own_prices.get(model)
        if price is None and address is not None and (is_local(address.host) or batch == "vllm"):
            price = LOCAL
        if price is None:
            price = _listed(model, address)
        if price is not None:
            prices[model] = price.in_batch if batch == "openai" else price
    return prices


def is_local(host: str) -> bool:
    """Whether a host is this machine or on its private network, where no provider charges for calls.

    A name is local only if it is reserved for private networks; any other name, even without a dot, may be
    a gateway to a paid service.

    >>> [is_local(host) for host in ("localhost", "127.0.0.1", "10.1.2.3", "::1", "nas.local")]
    [True, True, True, True, True]
    >>> [is_local(host) for host in ("api.openai.com", "8.8.8.8", "localhost.evil.com", "gateway", "")]
    [False, False, False, False, False]
    """
    import ipaddress

    name = host.lower().rstrip(".").partition("%")[0]
    try:
        number = ipaddress.ip_address(name)
    except ValueError:
        return name == "localhost" or any(name.endswith(f".{end}") for end in _LOCAL_NAMES)
    return number.is_private or number.is_loopback or number.is_link_local


def read_prices(path: Path) -> Mapping[str, Price]:
    """Read the user's table: prices by the exact name of the model.

    Raises:
        UsageError: The file is missing or malformed (names the line).
    """
    lines = csv.reader(io.StringIO(read_text(path, fix="check --prices")))
    head = tuple(name.strip() for name in next(lines, []))
    if head not in _HEADS:
        raise UsageError("not a table of prices", file=path, line=1, fix=_FIX)
    prices = {}
    for row in filter(None, lines):
        try:
            model, prompt, completion, as_of, *_ = (cell.strip() for cell in row)
            cells = zip(head, row, strict=True)
            more = {name: float(cell) for name, cell in cells if name in _OPTIONAL and cell.strip()}
            batch = (more[BATCH[0]], more[BATCH[1]]) if BATCH[0] in more or BATCH[1] in more else None
            price = Price(float(prompt), float(completion), as_of, more.get(CACHED), batch=batch)
            numbers = price.prompt, price.completion, *more.values()
            if not (model and all(0 <= number < 1e9 for number in numbers)):
                raise ValueError
        except (ValueError, KeyError):  # KeyError: one of the two prices of a batch is missing
            raise UsageError("not a price", file=path, line=lines.line_num, fix=_FIX) from None
        prices[model] = price
    return prices


def _listed(model: str, address: Address | None) -> ListedPrice | None:
    """The price in genai-prices; None if it has no price for tokens."""
    from genai_prices import __version__
    from genai_prices.data_snapshot import get_snapshot

    snapshot = get_snapshot()
    url = f"https://{address.url.partition('://')[2] or address.url}" if address is not None else ""
    maker, slash, model_name = model.partition("/")
    provider_id_of_address = next(
        (provider.id for provider in snapshot.providers if re.match(provider.api_pattern, url)), None
    )
    names: list[tuple[str, str | None, str | None]] = [
        (model, None, url if provider_id_of_address is not None else None)
    ]
    if provider_id_of_address is not None and provider_id_of_address == maker.lower():
        names.append((model_name, None, url))
    elif (
        provider_id_of_address is None
        and slash
        and any(provider.id == maker.lower() for provider in snapshot.providers)
    ):
        names = [(model_name, maker.lower(), None)]
    for name, provider_id, address_url in names:
        # Raised for a name that the snapshot does not have.
        with suppress(LookupError):
            provider, listed_model = snapshot.find_provider_model(name, None, provider_id, address_url)
            prices = listed_model.get_prices(datetime.now(UTC)) if listed_model.prices else None
            # Some models have prices for audio, pages or images only.
            if prices is None or prices.input_mtok is None or prices.output_mtok is None:
                return None
            return ListedPrice(provider, listed_model, __version__)
    return None
