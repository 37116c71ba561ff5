"""The 690 requests and their folder: the published mix, none alike, each call with an effect."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from datetime import date
from pathlib import Path
from string import Formatter

import pytest

from toolassay.benchmarks.workbench.calls import WorkbenchCall, parse_call
from toolassay.benchmarks.workbench.generate import generated_tasks as drawing
from toolassay.benchmarks.workbench.generate.company import daily, draw_tables, texts
from toolassay.benchmarks.workbench.generate.draft import (
    SOURCES,
    TEMPLATES,
    Draft,
    Mix,
    Template,
    between,
    call,
)
from toolassay.benchmarks.workbench.generate.generated_tasks import (
    draw_tasks,
    has_our_wordings,
    prove_task,
    sandbox_of,
    stable_image,
    write_folder,
)
from toolassay.benchmarks.workbench.records import difference
from toolassay.benchmarks.workbench.sandbox import JUDGED, Sandbox
from toolassay.benchmarks.workbench.tasks import Task, read_tasks
from toolassay.benchmarks.workbench.tools import TOOLS
from toolassay.errors import ToolassayError

SEED = 0
POPULAR = texts("wordings")["analytics"]["popular_source"][0]
EVERY = [template for templates in TEMPLATES.values() for template in templates]
PUBLISHED = {  # templates; tasks with no call, one, several
    "analytics": (12, 40, 54, 26),
    "calendar": (11, 11, 82, 17),
    "customer_relationship_manager": (8, 8, 48, 24),
    "email": (9, 1, 74, 15),
    "project_management": (8, 21, 35, 24),
    "multi_domain": (21, 41, 123, 46),
}


@pytest.fixture(scope="module")
def tasks() -> list[Task]:
    return draw_tasks(draw_tables(SEED), SEED)


def test_the_mix_is_the_published_one(tasks: list[Task]) -> None:
    for group, (templates, *sizes) in PUBLISHED.items():
        some = [task for task in tasks if task.group == group]
        assert len({task.base_template for task in some}) == templates
        assert Counter(task.base_template for task in some).most_common()[-1][1] == 10
        counts = Counter(min(len(task.answer), 2) for task in some)
        assert [counts[size] for size in range(3)] == sizes
    assert len(tasks) == 690


def test_requests_differ_are_well_typed_and_have_the_domains_of_their_tools(tasks: list[Task]) -> None:
    assert (
        len({" ".join(task.query.lower().split()) for task in tasks}) == len({one.id for one in tasks}) == 690
    )
    for task in tasks:
        assert task.query == task.query.strip() and not re.search(r"  |[{}]", task.query)
        assert task.query[-1] in '.?!"'
        assert (len(task.domains) > 1) == (task.group == "multi_domain")
        assert {text.split(".")[0] for text in task.answer} <= {*task.domains} <= {t.domain for t in JUDGED}


def test_calls_can_be_read_back_and_take_arguments_in_order(tasks: list[Task]) -> None:
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


@pytest.mark.parametrize("template", EVERY, ids=lambda template: template.name)
def test_all_wordings_have_the_same_gaps(template: Template) -> None:
    gaps = [{name for _, name, _, _ in Formatter().parse(wording) if name} for wording in template.wordings]
    assert gaps[0] == gaps[1] == gaps[2]
    assert sum(template.mix) == 10


def test_a_mix_that_the_tables_do_not_allow_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def fill(draft: Draft) -> list[WorkbenchCall]:
        draft.pick("person", "ab")
        return [call("email.delete_email", email_id="1")]

    narrow = Template("email.delete_last", ("email",), Mix(one=10), fill)
    monkeypatch.setattr(drawing, "TEMPLATES", {"email": [narrow]})
    monkeypatch.setattr(drawing, "_TRIES", 50)
    with pytest.raises(ToolassayError, match=r"seed 9 .*email\.delete_last.*another seed"):
        draw_tasks(draw_tables(9), 9)


@pytest.fixture(scope="module")
def bundled(root: Path) -> list[Task]:
    return read_tasks(root / "data_workbench")


def test_the_bundled_requests_are_ours_and_so_are_those_of_another_seed(bundled: list[Task]) -> None:
    assert has_our_wordings(bundled) and has_our_wordings(bundled[:3])
    assert has_our_wordings(draw_tasks(draw_tables(2), 2))


def test_reworded_requests_are_not_ours_whatever_they_say_of_their_template(bundled: list[Task]) -> None:
    reworded = [replace(task, query=f"Hi Robin, {task.query.lower()} Thanks!") for task in bundled]
    assert not has_our_wordings(reworded)
    most = [*reworded[:400], *bundled[400:]]
    assert not has_our_wordings(most) and has_our_wordings([*reworded[:300], *bundled[300:]])


def test_the_published_requests_are_not_ours(reference: Path) -> None:
    assert not has_our_wordings(read_tasks(reference / "workbench"))


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    return sandbox_of(draw_tables(SEED))


def test_the_proof_of_every_request_leaves_the_sandbox_as_it_was(sandbox: Sandbox, tasks: list[Task]) -> None:
    before = sandbox.fork()
    for task in tasks:
        prove_task(sandbox, task)
    assert difference(before, sandbox) == {}


# With seed 463, no visit of the last four days came from one of the sources.
@pytest.mark.parametrize("seed", [SEED, 463])
def test_the_source_of_the_fewest_visits_has_visits(seed: int) -> None:
    tables = draw_tables(seed)
    popular = [task for task in draw_tasks(tables, seed) if task.base_template == POPULAR]
    assert len(popular) == 10
    for task in popular:
        call = parse_call(task.answer[0])
        assert call is not None
        since = date.fromisoformat(call.arguments["time_min"])
        totals = {SOURCES[source]: sum(between(daily(tables, source), since)) for source in SOURCES}
        chosen = totals.pop(call.arguments["value_to_plot"])
        assert chosen > max(totals.values()) if "most" in task.query else 0 < chosen < min(totals.values())


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ('email.delete_email.func(email_id="99999999")', "no effect"),
        ('email.delete_email.func(nothing="1")', "has no argument"),
        ("__import__('os').getcwd()", "not a call"),
    ],
)
def test_a_call_that_does_not_succeed_is_found(
    sandbox: Sandbox, tasks: list[Task], call: str, said: str
) -> None:
    task = next(task for task in tasks if len(task.answer) == 1)
    with pytest.raises(ToolassayError, match=said):
        prove_task(sandbox, replace(task, answer=(call,)))


@pytest.fixture
def folder(tmp_path: Path, tasks: list[Task]) -> Path:
    write_folder(tmp_path / "data", sandbox_of(draw_tables(SEED)), tasks, SEED)
    return tmp_path / "data"


@pytest.mark.parametrize("build", ["OFF", "ON"])
def test_a_build_that_leaves_old_bytes_in_pages_makes_no_difference(folder: Path, build: str) -> None:
    sandbox = Sandbox.load(folder).fork()
    sandbox.connection.execute(f"PRAGMA secure_delete = {build}")
    sandbox.connection.execute("UPDATE emails SET body = body || ' and more'")
    sandbox.connection.execute("UPDATE emails SET body = replace(body, ' and more', '')")
    assert stable_image(sandbox) == (folder / "sandbox.sqlite").read_bytes()
