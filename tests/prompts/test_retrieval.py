"""Which tools a request shows."""

from __future__ import annotations

import sys
import time
from importlib.metadata import EntryPoint
from random import Random

import pytest

from toolassay.benchmarks.taskbench.prompt import PlanPrompt
from toolassay.errors import UsageError
from toolassay.prompts import retrieval
from toolassay.prompts.retrieval import Find, ToolRetriever, ToolsInContext
from toolassay.tools.library import Parameter, Tool, ToolLibrary

LIBRARY = ToolLibrary(
    [
        Tool("listAllInvoices", "Lists what customers owe."),
        Tool(
            "send_mail", "Sends a message.", parameters=(Parameter("recipient", description="An address."),)
        ),
        Tool("cancelTrip", "Takes a booking back."),
    ]
)


@pytest.mark.parametrize(
    ("request_text", "found"),
    [
        ("Cancel my trips to Rome", "cancelTrip"),
        ("Which invoice is open?", "listAllInvoices"),
        ("Write to the recipients", "send_mail"),
        ("", "listAllInvoices"),  # nothing is known: the order of the file
    ],
)
def test_names_descriptions_and_arguments_are_searched(request_text: str, found: str) -> None:
    assert ToolsInContext(1).finder(LIBRARY)(request_text) == [found]


def test_tools_stay_in_the_order_of_the_file_and_all_are_found() -> None:
    assert ToolsInContext(9).finder(LIBRARY)("cancel the mail") == list(LIBRARY.ids)
    assert ToolsInContext(2).finder(LIBRARY)("cancel the mail") == ["send_mail", "cancelTrip"]


def test_ten_thousand_tools_take_seconds_and_a_request_shows_few() -> None:
    rng = Random(0)
    words = ["".join(rng.choices("bdfgklmnprst" + "aeiou" * 2, k=7)) for _ in range(3_000)]
    tools = [
        Tool(f"{'_'.join(rng.sample(words, 2))}_{place}", " ".join(rng.choices(words, k=30)))
        for place in range(10_000)
    ]
    began = time.monotonic()
    library = ToolLibrary(tools)
    find = ToolsInContext(20).finder(library)
    asked = rng.sample(tools, 100)
    hits = [tool.id in find(" ".join(tool.description.split()[:6])) for tool in asked]
    assert time.monotonic() - began < 30
    assert sum(hits) >= 95
    prompt = PlanPrompt(library, "resource").of_tools(find("a request")).render("a request")
    assert sum(tool.id in prompt for tool in tools) == 20 and len(prompt) < 20_000


class Last(ToolRetriever):
    """The last tools."""

    name = "last"

    def index(self, library: ToolLibrary) -> Find:
        return lambda request, count: ["gone"] if request == "?" else library.ids[-count:]


def test_an_installed_retriever_is_used_and_its_ids_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("last", f"{__name__}:LAST", retrieval.GROUP)
    monkeypatch.setattr("toolassay.extras.installed_entry_points", lambda group: (point,))
    context = ToolsInContext.parse("retrieved:2:last")
    assert context is not None and str(context) == "last@2"
    find = context.finder(LIBRARY)
    assert find("anything") == ["send_mail", "cancelTrip"]
    with pytest.raises(UsageError, match="gone"):
        find("?")


LAST = Last()


@pytest.mark.parametrize("text", ["some", "retrieved", "retrieved:0", "retrieved:x", "bm25:3"])
def test_another_value_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="retrieved:K"):
        ToolsInContext.parse(text)


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bm25s", None)
    with pytest.raises(UsageError, match=r"\[retrieval\]"):
        ToolsInContext(3).finder(LIBRARY)
