"""The 690 requests: the published mix, none alike, none of the published flaws."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from string import Formatter

import pytest

from toolassay.benchmarks.workbench.calls import parse_call
from toolassay.benchmarks.workbench.generate import generated_tasks as drawing
from toolassay.benchmarks.workbench.generate.company import SeededRandom, Tables, draw_tables
from toolassay.benchmarks.workbench.generate.generated_tasks import GROUPS, GeneratedTask, draw_tasks
from toolassay.benchmarks.workbench.generate.template import FilledTemplate, Mix, Template, call
from toolassay.benchmarks.workbench.sandbox import DOMAINS
from toolassay.benchmarks.workbench.tools import TOOLS
from toolassay.errors import ToolassayError

TEMPLATES = [template for templates in GROUPS.values() for template in templates]
PUBLISHED = {  # templates; tasks with no call, one, several
    "analytics": (12, 40, 54, 26),
    "calendar": (11, 11, 82, 17),
    "customer_relationship_manager": (8, 8, 48, 24),
    "email": (9, 1, 74, 15),
    "project_management": (8, 21, 35, 24),
    "multi_domain": (21, 41, 123, 46),
}
NAMED_BY_ACTION = {  # what a request that ends so must say
    "delete_customer": r"\b([Dd]elete|[Rr]emove)",
    "delete_event": r"\b([Dd]elete|[Cc]ancel|[Dd]rop|[Tt]ake|[Rr]emove|called off)",
    "delete_email": r"\b([Dd]elete|[Rr]emove|get rid of|[Cc]lear)",
}


@pytest.fixture(scope="module")
def tasks() -> list[GeneratedTask]:
    return draw_tasks(draw_tables(2), 2)


def test_the_mix_is_the_published_one(tasks: list[GeneratedTask]) -> None:
    for group, (templates, *sizes) in PUBLISHED.items():
        some = [task for task in tasks if task.group == group]
        assert len({task.base_template for task in some}) == templates
        assert Counter(task.base_template for task in some).most_common()[-1][1] == 10
        counts = Counter(min(len(task.answer), 2) for task in some)
        assert [counts[size] for size in range(3)] == sizes
    assert len(tasks) == 690


def test_every_template_comes_in_three_wordings(tasks: list[GeneratedTask]) -> None:
    wordings = defaultdict(set)
    for task in tasks:
        wordings[task.base_template].add(task.chosen_template)
    assert all(len(chosen) == 3 and base in chosen for base, chosen in wordings.items())


def test_no_two_requests_are_alike(tasks: list[GeneratedTask]) -> None:
    assert len({" ".join(task.query.lower().split()) for task in tasks}) == 690
    assert len({task.id for task in tasks}) == 690


def test_requests_are_well_typed(tasks: list[GeneratedTask]) -> None:
    for task in tasks:
        assert task.query == task.query.strip() and "  " not in task.query
        assert task.query[0].isupper() or task.query[0] == '"'
        assert task.query[-1] in '.?!"'
        assert not re.search(r"[a-z][.,;:?!][A-Za-z]", re.sub(r"i\.e\.|'s", "", task.query)), task.query
        assert "{" not in task.query and "}" not in task.query


def test_domains_are_those_of_the_tools(tasks: list[GeneratedTask]) -> None:
    for task in tasks:
        assert set(task.domains) <= set(DOMAINS)
        assert (len(task.domains) > 1) == (task.group == "multi_domain")
        assert {text.split(".")[0] for text in task.answer} <= set(task.domains)


def test_calls_can_be_read_back_and_take_arguments_in_order(tasks: list[GeneratedTask]) -> None:
    for task in tasks:
        for text in task.answer:
            parsed = parse_call(text)
            assert parsed is not None and str(parsed) == text
            tool = TOOLS[parsed.name]
            assert tool.changes_state
            order = list(tool.arguments)
            assert [order.index(name) for name in parsed.arguments] == sorted(
                order.index(name) for name in parsed.arguments
            )


def test_words_match_actions(tasks: list[GeneratedTask]) -> None:
    for task in tasks:
        for text in task.answer:
            wanted = NAMED_BY_ACTION.get(text.split(".")[1])
            assert wanted is None or re.search(wanted, task.query), task.query


def test_the_subject_of_an_email_stands_in_the_request(tasks: list[GeneratedTask]) -> None:
    for task in tasks:
        for text in task.answer:
            parsed = parse_call(text)
            assert parsed is not None
            if parsed.name == "email.send_email" and task.template != "multi_domain.remind":
                assert f'"{parsed.arguments["subject"]}"' in task.query
                assert f'"{parsed.arguments["body"]}"' in task.query


def test_nothing_is_assigned_to_who_has_it_already(tasks: list[GeneratedTask]) -> None:
    company = draw_tables(2)
    owner = {
        str(row[key]): row["assigned_to_email"]
        for table, key in (
            (company.project_management, "task_id"),
            (company.customer_relationship_manager, "customer_id"),
        )
        for row in table
    }
    for task in tasks:
        for text in task.answer:
            parsed = parse_call(text)
            assert parsed is not None
            if parsed.arguments.get("field") == "assigned_to_email" and parsed.name.endswith("customer"):
                assert owner[parsed.arguments["customer_id"]] != parsed.arguments["new_value"]


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template.name)
def test_all_wordings_have_the_same_gaps(template: Template) -> None:
    gaps = [{name for _, name, _, _ in Formatter().parse(wording) if name} for wording in template.wordings]
    assert gaps[0] == gaps[1] == gaps[2]
    assert sum(template.mix) == 10


def test_a_mix_that_the_tables_do_not_allow_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def fill(_: Tables, dice: SeededRandom) -> FilledTemplate:
        return FilledTemplate({"person": dice.pick("ab")}, (call("email.delete_email", email_id="1"),))

    narrow = Template("email.delete_last", ("email",), Mix(one=10), fill)
    monkeypatch.setattr(drawing, "GROUPS", {"email": (narrow,)})
    monkeypatch.setattr(drawing, "_TRIES", 50)
    with pytest.raises(ToolassayError, match=r"seed 9 .*email\.delete_last.*another seed"):
        draw_tasks(draw_tables(9), 9)
