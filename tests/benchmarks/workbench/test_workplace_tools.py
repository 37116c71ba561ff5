"""The tools on a small workplace; every published return is compared in test_workbench_reference.py."""

from __future__ import annotations

import inspect
import json

import pytest

from tests.support.workplace import Desk
from toolassay.benchmarks.workbench.records import read_rows
from toolassay.benchmarks.workbench.sandbox import EMAILS, Layout, Sandbox
from toolassay.benchmarks.workbench.tools import PUBLISHED, TOOLS
from toolassay.errors import UsageError


def labels(sandbox: Sandbox, table: Layout) -> list[object]:
    return [row[-1] for row in read_rows(sandbox, table)]


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_describes_the_arguments_it_takes(name: str) -> None:
    tool = TOOLS[name]
    _, *parameters = inspect.signature(tool.function).parameters.values()
    named = [parameter for parameter in parameters if parameter.kind is not parameter.VAR_KEYWORD]
    assert [parameter.name for parameter in named] in ([], list(tool.arguments))
    assert all(parameter.default is not parameter.empty for parameter in named)
    function = tool.to_openai()["function"]
    assert function["parameters"]["additionalProperties"] is False
    assert PUBLISHED.find(function["name"]) is tool is PUBLISHED.find(name)
    assert len(function["name"]) <= 64 and json.dumps(function)


def test_tools_are_chosen_by_domain_in_the_published_order() -> None:
    names = [tool.name for tool in PUBLISHED.of_domains(["crm", "email"])]
    assert names[0] == "email.send_email" and names[-1] == "company_directory.find_email_address"
    assert "customer_relationship_manager.add_customer" in names and len(names) == 6 + 4 + 1
    assert len(PUBLISHED.of_domains(None)) == 27
    with pytest.raises(UsageError, match="unknown domain 'sales'"):
        PUBLISHED.of_domains(["sales"])


def test_a_field_that_no_event_has_becomes_a_column(desk: Desk) -> None:
    for event, value in (("00000001", "Room 1"), ("00000002", "Room 2")):
        desk("calendar.update_event", event_id=event, field="Duration", new_value=value)
    event = desk("calendar.search_events", query="stand-up")[1]
    assert list(event)[-2:] == ["duration", "Duration"]
    assert (event["duration"], event["Duration"]) == ("30", "Room 2")
    lookup = desk("calendar.get_event_information_by_id", event_id="00000000", field="Duration")
    assert lookup == {"Duration": "nan"}
    desk("calendar.create_event", event_name="E", participant_email="x", event_start="y", duration="1")
    lookup = desk("calendar.get_event_information_by_id", event_id="00000003", field="Duration")
    assert lookup == {"Duration": None}


def test_mail_is_appended_where_nothing_is_overwritten(sandbox: Sandbox) -> None:
    desk = Desk(sandbox.fork(overwrites=False))
    desk("email.delete_email", email_id="00000002")
    for _ in range(2):
        desk("email.reply_email", email_id="00000001", body="Yes!")
    assert [mail[0] for mail in desk.sandbox.rows("emails")] == ["00000000", "00000001", "2", "3"]
    assert labels(desk.sandbox, EMAILS) == [1, 2, 3, 4]
    assert desk.sandbox.fork().overwrites is False
