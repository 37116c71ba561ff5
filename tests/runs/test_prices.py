from __future__ import annotations

from pathlib import Path

import pytest

from toolassay.errors import UsageError
from toolassay.models import ModelOptions
from toolassay.runs.budget import Estimate
from toolassay.runs.prices import LOCAL, Price, Tariff, prices_of, read_prices

HEAD = "model,prompt_usd_per_million,completion_usd_per_million,as_of"
OPENAI = "https://api.openai.com/v1"


def price(model: str, base: str = OPENAI, path: Path | None = None) -> Tariff | None:
    return prices_of([model], ModelOptions(api_base=base), path).get(model)


def test_a_price_is_that_of_the_library_and_says_where_it_is_from() -> None:
    found = price("gpt-4o")
    assert found is not None
    assert found.of(1_000_000, 100_000) == 3.5
    assert "$2.5 input ($1.25 cached), $10 output" in found.words
    assert "(gpt-4o of OpenAI, genai-prices 0." in found.words


def test_cached_tokens_cost_what_the_library_says_and_never_more_than_there_are() -> None:
    found = price("gpt-4o")
    assert found is not None
    assert found.of(1_000_000, 0, 400_000) == pytest.approx(0.6 * 2.5 + 0.4 * 1.25)
    assert found.of(1000, 0, 5000) == pytest.approx(0.00125)
    without_a_cache = price("gpt-4")
    assert without_a_cache is not None and without_a_cache.of(1000, 0, 500) == pytest.approx(0.03)
    assert found.of(10.4, 5.5) > 0  # an estimate is no whole number


def test_the_host_decides_whose_price_it_is_else_the_name() -> None:
    def whose(model: str, base: str) -> str:
        found = price(model, base)
        return "unknown" if found is None else found.words.partition(" of ")[2].partition(",")[0]

    assert whose("gpt-4o", "https://acme.openai.azure.com") == "Microsoft Azure"
    assert whose("openai/gpt-4o", "https://openrouter.ai/api/v1") == "OpenRouter"
    assert whose("gpt-4o", "https://api.groq.com/openai/v1") == "unknown"  # Groq does not sell it
    assert whose("openai/gpt-4o", OPENAI) == "OpenAI"
    assert whose("openrouter/openai/gpt-4o", "https://openrouter.ai/api/v1") == "OpenRouter"
    assert whose("openai/llama-3.3-70b-versatile", "https://api.groq.com/openai/v1") == "unknown"
    assert whose("gpt-4o", "https://gateway.acme.com/v1") == "OpenAI"
    assert whose("openai/gpt-4o", "https://gateway.acme.com/v1") == "OpenAI"
    assert whose("acme-7b", "https://gateway.acme.com/v1") == "unknown"


@pytest.mark.parametrize("model", ["acme", "gpt-4-acme", "whisper-1", "text-embedding-3-small"])
def test_an_unknown_price_is_unknown_and_never_nothing(model: str) -> None:
    assert price(model) is None


@pytest.mark.parametrize(
    "base",
    [
        *("http://localhost:4000/v1", "http://127.0.0.1:1/v1", "http://[::1]:8000/v1", "http://10.0.0.7/v1"),
        *(
            "http://192.168.1.9:80",
            "http://nas.local/v1",
            "http://host.docker.internal",
        ),
    ],
)
def test_a_local_address_costs_nothing_unless_the_user_sets_a_price(tmp_path: Path, base: str) -> None:
    assert price("gpt-4", base) is LOCAL
    assert price("acme", base) is LOCAL
    (path := tmp_path / "p.csv").write_text(f"{HEAD}\ngpt-4,1,2,2026-01-01\n")
    assert price("gpt-4", base, path) == Price(1, 2, "2026-01-01")
    assert price("acme", base, path) is LOCAL


def test_a_table_comes_before_the_library_and_leaves_the_rest_to_it(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text(f"{HEAD},cached_usd_per_million\ngpt-4o,4,5,2026-01-01,1\nother,4,5,2026-01-01,\n")
    found, other = price("gpt-4o", path=path), price("other", path=path)
    assert found is not None and found.of(1_000_000, 0, 500_000) == 2.5
    assert other is not None and other.of(1_000_000, 0, 500_000) == 4
    listed = price("gpt-4o-mini", path=path)
    assert listed is not None and "genai-prices" in listed.words


def test_a_table_of_ones_own_replaces_it(tmp_path: Path) -> None:
    path = tmp_path / "prices.csv"
    path.write_text("model, prompt_usd_per_million,completion_usd_per_million,as_of\n\nmine,0,0,2026-01-01\n")
    assert read_prices(path) == {"mine": Price(0, 0, "2026-01-01")}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 1),
        ("model,price\n", 1),
        ("HEAD\nmine,cheap,1,2026-01-01\n", 2),
        ("HEAD\nmine,1,1,2026-01-01\nmine,1,-1,2026-01-01\n", 3),
        ("HEAD\nmine,1,nan,2026-01-01\n", 2),
        ("HEAD\nmine,1\n", 2),
        ("HEAD\n,1,1,2026-01-01\n", 2),
    ],
)
def test_what_is_no_price_is_named(tmp_path: Path, text: str, line: int) -> None:
    path = tmp_path / "p.csv"
    path.write_text(text.replace("HEAD", "model,prompt_usd_per_million,completion_usd_per_million,as_of"))
    with pytest.raises(UsageError, match=rf"p\.csv:{line}: .*my-model"):
        read_prices(path)


BATCH = ",batch_prompt_usd_per_million,batch_completion_usd_per_million"


def in_batch(model: str, base: str = OPENAI, path: Path | None = None) -> Tariff | None:
    return prices_of([model], ModelOptions(api_base=base, batch="openai"), path).get(model)


def test_a_request_in_a_batch_costs_what_the_library_says_or_half() -> None:
    listed, single = in_batch("gpt-4.1"), price("gpt-4.1")
    assert listed is not None and single is not None
    assert listed.of(1_000_000, 100_000) == pytest.approx(single.of(1_000_000, 100_000) / 2)
    assert listed.words.endswith(", in a batch)")
    # A model whose price in a batch the library does not know.
    unlisted, single = in_batch("gpt-4-32k"), price("gpt-4-32k")
    assert unlisted is not None and single is not None
    assert unlisted.of(1_000_000, 100_000, 5000) == pytest.approx(single.of(1_000_000, 100_000, 5000) / 2)
    assert unlisted.words.endswith(", half price in a batch)")
    assert f"${single.of(1_000_000, 0) / 2:g} input" in unlisted.words


def test_a_table_may_say_the_price_in_a_batch(tmp_path: Path) -> None:
    path = tmp_path / "prices.csv"
    path.write_text(f"{HEAD},cached_usd_per_million{BATCH}\nmine,2,10,,1,0.5,3\nhalf,2,10,,1,,\n")
    mine, half = in_batch("mine", path=path), in_batch("half", path=path)
    assert mine is not None and mine.of(1_000_000, 1_000_000, 500_000) == 3.5
    assert half is not None and half.of(1_000_000, 1_000_000, 500_000) == 0.5 * (1 + 0.5 + 10)
    single = price("mine", path=path)
    assert single is not None and single.of(1_000_000, 1_000_000) == 12
    path.write_text(f"{HEAD}{BATCH}\nmine,2,10,,1,\n")
    with pytest.raises(UsageError, match=r"prices\.csv:2: not a price"):
        read_prices(path)


def test_a_local_address_and_a_file_for_vllm_cost_nothing() -> None:
    assert in_batch("gpt-4o", "http://localhost:8000/v1") is LOCAL
    assert prices_of(["gpt-4o"], ModelOptions(api_base=OPENAI, batch="vllm")) == {"gpt-4o": LOCAL}


PRICE = Price(1.0, 10.0, "2026-01-01")


def test_without_answers_four_characters_are_a_token_and_answers_are_as_long_as_they_may_be() -> None:
    estimate = Estimate(limit=50)
    for characters in (400, 800):
        estimate.add(characters)
    assert (estimate.requests, estimate.prompt_tokens) == (2, 300)
    assert (estimate.most_completion_tokens, estimate.likely_completion_tokens) == (100, None)
    assert estimate.cost(PRICE, most=True) == pytest.approx((300 + 100 * 10) / 1e6)
    assert estimate.cost(PRICE, most=False) == estimate.cost(PRICE, most=True)


def test_answers_teach_both() -> None:
    estimate = Estimate(limit=50)
    estimate.add(400)
    estimate.answered(400, 200, 10)
    estimate.answered(200, 100, 20)
    estimate.answered(10**6, None, 7)
    estimate.answered(10**6, 0, 7)
    assert (estimate.answers, estimate.prompt_tokens, estimate.likely_completion_tokens) == (2, 200, 15)
    assert estimate.cost(PRICE, most=False) == pytest.approx((200 + 150) / 1e6)


def test_prompts_that_were_not_measured_are_like_the_others() -> None:
    estimate = Estimate()
    assert estimate.prompt_tokens == 0
    estimate.add(100)
    estimate.add(300)
    estimate.add()
    assert (estimate.requests, estimate.prompt_tokens) == (3, 150)


def test_a_price_that_rises_with_the_prompt_is_taken_request_by_request() -> None:
    class Steps(Price):
        def of(
            self, prompt_tokens: float, completion_tokens: float, cached_tokens: int | None = None
        ) -> float:
            return prompt_tokens * (1.0 if prompt_tokens <= 100 else 2.0)

    steps = Steps(0.0, 0.0, "")
    estimate = Estimate(limit=10)
    for _ in range(5):
        estimate.add(400)
    assert estimate.cost(steps, most=True) == 500
    assert estimate.expected(steps).cost == 500


def test_an_agent_repeats_the_conversation_in_each_request() -> None:
    estimate = Estimate(limit=10)
    estimate.add(400)
    estimate.add(400)
    most = estimate.expected(PRICE, answers=3)
    assert (most.requests, most.completion_tokens) == (6, 60)
    assert most.prompt_tokens == 2 * (100 + 110 + 120)
    assert most.cost == pytest.approx(660 * 1e-6 + 60 * 10e-6)
    assert estimate.expected(None).cost is None
    assert Estimate().expected(PRICE).cost == 0
