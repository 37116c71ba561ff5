"""What models cost: genai-prices, a table of the user before it, and nothing at a local address."""

from __future__ import annotations

import csv
import io
import ipaddress
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from toolassay.errors import UsageError
from toolassay.files import read_text
from toolassay.models import ModelOptions
from toolassay.models.address import Address
from toolassay.models.registry import is_served

COLUMNS = ("model", "prompt_usd_per_million", "completion_usd_per_million", "as_of")
CACHED = "cached_usd_per_million"
_FIX = (
    f"the first line must be {','.join(COLUMNS)} (and {CACHED}, if cached tokens cost less), then e.g. "
    "my-model,0.15,0.60,2026-01-31"
)
_LOCAL_NAMES = ("localhost", "local", "internal", "lan", "home.arpa", "localdomain")
_MILLION = 1_000_000


class Tariff(Protocol):
    """What says the cost of a model's tokens."""

    @property
    def words(self) -> str:
        """The price and where it is from, for people and files."""
        ...

    @property
    def local(self) -> bool:
        """Whether nothing is charged because the address is on this machine or network."""
        ...

    def of(self, prompt_tokens: float, completion_tokens: float, cached_tokens: int | None = None) -> float:
        """US dollars of one call; cached tokens are a part of those of the prompt."""
        ...


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens, read in the prompt and written by the model, on a date.

    Attributes:
        prompt: of tokens read.
        completion: of tokens written.
        as_of: the date; empty where there is none.
        cached: of tokens read from the server's cache; None where they cost what others do.
        source: where it is from.
        local: whether it is that of a local address.
    """

    prompt: float
    completion: float
    as_of: str
    cached: float | None = None
    source: str = "--prices"
    local: bool = False

    @property
    def words(self) -> str:
        """The price and where it is from.

        >>> Price(2.5, 10, "2025-06-01").words
        '$2.5 read, $10 written, a million tokens (--prices, 2025-06-01)'
        """
        if self.local:
            return self.source
        cached = "" if self.cached is None else f" (${self.cached:g} cached)"
        origin = f"{self.source}, {self.as_of}" if self.as_of else self.source
        return f"${self.prompt:g} read{cached}, ${self.completion:g} written, a million tokens ({origin})"

    def of(self, prompt_tokens: float, completion_tokens: float, cached_tokens: int | None = None) -> float:
        """The price of a call, in dollars.

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
    """A price of genai-prices: with its steps by the length of a prompt, times of day and cached tokens.

    Attributes:
        provider: the library's `Provider`.
        model: its `ModelInfo`.
        version: of the library, which is that of its data.
    """

    provider: Any
    model: Any
    version: str
    local: bool = False

    @cached_property
    def words(self) -> str:
        """The price and where it is from; that of short prompts, now."""
        read, written = self.of(_MILLION, 0, base=True), self.of(0, _MILLION)
        cached = self.of(_MILLION, 0, _MILLION, base=True)
        less = f" (${cached:g} cached)" if cached != read else ""
        return (
            f"${read:g} read{less}, ${written:g} written, a million tokens "
            f"({self.model.id} of {self.provider.name}, genai-prices {self.version})"
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
            prompt_tokens: read, cached ones included.
            completion_tokens: written.
            cached_tokens: of those read, what came from the server's cache.
            base: at the step of short prompts.
        """
        from genai_prices import Usage

        read, scale = round(prompt_tokens), 1000 if base else 1
        usage = Usage(
            input_tokens=read // scale,
            output_tokens=round(completion_tokens) // scale,
            cache_read_tokens=min(cached_tokens or 0, read) // scale or None,
        )
        return float(self.model.calc_price(usage, self.provider).total_price) * scale


def prices_of(
    models: Collection[str], options: ModelOptions | None = None, path: Path | None = None
) -> Mapping[str, Tariff]:
    """The price of each model whose price is known.

    The first of these that says something counts: the user's table, by the exact name; nothing for a served
    model at a loopback or private address; genai-prices, for the provider that the address belongs to (whose
    own name may stand before the model's), else for the provider that the name begins with
    (`openai/gpt-4o`), else for the model's own provider.

    Args:
        models: their names.
        options: where they are asked; None leaves the address out of it.
        path: the user's table.

    Raises:
        UsageError: the table is missing or malformed (names the line).
    """
    own = read_prices(path) if path is not None else {}
    address = options.asked_address if options is not None else None
    found: dict[str, Tariff] = {}
    for model in models:
        price: Tariff | None = own.get(model)
        if price is None and address is not None and is_served(model) and is_local(address.host):
            price = LOCAL
        if price is None:
            price = _listed(model, address if is_served(model) else None)
        if price is not None:
            found[model] = price
    return found


def is_local(host: str) -> bool:
    """Whether a host is this machine or on its own network, where no provider charges for calls.

    A name counts where it is reserved for this machine or a private network; any other name without a dot
    may be a gateway to a service that has to be paid.

    >>> [is_local(host) for host in ("localhost", "127.0.0.1", "10.1.2.3", "::1", "nas.local")]
    [True, True, True, True, True]
    >>> [is_local(host) for host in ("api.openai.com", "8.8.8.8", "localhost.evil.com", "gateway", "")]
    [False, False, False, False, False]
    """
    name = host.lower().rstrip(".").partition("%")[0]
    try:
        number = ipaddress.ip_address(name)
    except ValueError:
        return name == "localhost" or any(name.endswith(f".{end}") for end in _LOCAL_NAMES)
    return number.is_private or number.is_loopback or number.is_link_local


def read_prices(path: Path) -> Mapping[str, Price]:
    """The user's table: prices by the exact name of the model.

    Raises:
        UsageError: the file is missing or malformed (names the line).
    """
    return dict(_rows(read_text(path, fix="check --prices"), path))


def _listed(model: str, address: Address | None) -> Tariff | None:
    """The price in genai-prices; None where it has none for tokens."""
    from genai_prices import __version__
    from genai_prices.data_snapshot import get_snapshot

    snapshot = get_snapshot()
    url = f"https://{address.url.partition('://')[2] or address.url}" if address is not None else ""
    maker, slash, rest = model.partition("/")
    at = next((provider.id for provider in snapshot.providers if re.match(provider.api_pattern, url)), None)
    try:
        if at is not None:
            try:
                provider, found = snapshot.find_provider_model(model, None, None, url)
            except LookupError:
                if at != maker.lower():
                    raise
                provider, found = snapshot.find_provider_model(rest, None, None, url)
        elif slash and any(provider.id == maker.lower() for provider in snapshot.providers):
            provider, found = snapshot.find_provider_model(rest, None, maker.lower(), None)
        else:
            provider, found = snapshot.find_provider_model(model, None, None, None)
    except LookupError:
        return None
    return ListedPrice(provider, found, __version__) if _has_tokens(found) else None


def _has_tokens(model: Any) -> bool:
    """Whether a model has prices for the tokens it reads and writes, not of audio, pages or pictures only."""
    from datetime import UTC, datetime

    if not model.prices:
        return False
    prices = model.get_prices(datetime.now(UTC))
    return prices.input_mtok is not None and prices.output_mtok is not None


def _rows(text: str, path: Path) -> Iterator[tuple[str, Price]]:
    lines = csv.reader(io.StringIO(text))
    head = tuple(name.strip() for name in next(lines, []))
    if head not in (COLUMNS, (*COLUMNS, CACHED)):
        raise UsageError("is not a table of prices", file=path, line=1, fix=_FIX)
    for row in lines:
        if not row:
            continue
        try:
            model, prompt, completion, as_of, *more = (cell.strip() for cell in row)
            cached = float(more[0]) if more and more[0] else None
            price = Price(float(prompt), float(completion), as_of, cached)
            numbers = price.prompt, price.completion, cached or 0.0
            if not (model and len(row) == len(head) and all(0 <= number < 1e9 for number in numbers)):
                raise ValueError
        except ValueError:
            raise UsageError("is not a price", file=path, line=lines.line_num, fix=_FIX) from None
        yield model, price
