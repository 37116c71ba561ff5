"""The agent's turn: it checks the condition of a request and applies the first rule that fits.

If no rule fits, the agent makes no call.
"""

from __future__ import annotations

from datetime import timedelta

from toolassay.models import ChatResponse
from toolassay.offline.agent import rules
from toolassay.offline.agent.lookups import (
    Steps,
    colleague_addresses,
    customer_in,
    emails,
    events,
    figures,
    tasks,
)
from toolassay.offline.agent.parsed_request import ParsedRequest, people_in
from toolassay.offline.model_tasks import AgentTask, agent_calls, agent_end


def condition_holds(reading: ParsedRequest) -> Steps[bool]:
    """Whether the condition of a request holds; True if it sets none."""
    if reading.metrics or reading.sources:
        return (yield from _by_figures(reading))
    if reading.has("before today"):
        open_tasks = yield from tasks(assigned_to_email=reading.people[0])
        return any(
            row["due_date"] < str(reading.today) and row["list_name"] != "Completed" for row in open_tasks
        )
    if reading.has("our last contact", "in contact", "last contacted"):
        if not reading.quoted:
            return True
        _, customer = yield from customer_in(reading.request)
        since = min(reading.past)
        return customer is not None and str(customer["last_contact_date"]) < str(since)
    if not reading.people or not reading.has("if", "unless", "check"):
        return True
    past = reading.past
    person = reading.people[0]
    if reading.has("e-mail in the last", "e-mail from", "by e-mail") and past:
        return not (yield from emails(person, min(past)))
    if reading.has("am i going to meet", "from today"):
        later = [day for day in reading.days if day > reading.today]
        return not (yield from events(reading.today, min(later, default=None), person))
    if past and reading.has("meet", "meeting"):
        return not (yield from events(min(past), reading.today - timedelta(days=1), person))
    return True


def _by_figures(reading: ParsedRequest) -> Steps[bool]:
    if not reading.past:
        return True
    first = min(reading.past)
    last = max(reading.past)
    if first == last:
        last = reading.today - timedelta(days=1)
    if len(reading.sources) == 2 and reading.has("more", "stronger"):
        first_figures = yield from figures(reading.sources[0], first, last)
        second_figures = yield from figures(reading.sources[1], first, last)
        return sum(first_figures.values()) > sum(second_figures.values())
    if len(reading.metrics) == 2 and reading.has("grow", "growth", "grew"):
        growths = []
        for metric in reading.metrics:
            growths.append((yield from _growth(metric, reading, first, last)))
        return growths[0] > growths[1]
    if reading.percent is not None and reading.has("higher", "lower"):
        growth = yield from _growth(reading.metrics[0], reading, first, last)
        return (growth if reading.has("higher") else -growth) > reading.percent / 100
    if reading.threshold is not None and reading.metrics:
        above, bound = reading.threshold
        values_by_day = yield from figures(reading.metrics[0], first, last)
        return any(value > bound if above else value < bound for value in values_by_day.values())
    return True


def _growth(metric: str, reading: ParsedRequest, first: object, last: object) -> Steps[float]:
    values_by_day = yield from figures(metric, min(reading.past), reading.today - timedelta(days=1))
    before = values_by_day.get(str(first), 0)
    after = values_by_day.get(str(last), 0)
    return (after - before) / before if before else 0.0


def next_turn(task: AgentTask) -> ChatResponse:
    """The agent's next calls or final answer.

    It keeps no state between turns: the rules run from the start and get the observations so far.
    """
    steps = _run_rules(task)
    observations = list(task.observations)
    try:
        wanted_calls = next(steps)
        while len(observations) >= len(wanted_calls):
            results = observations[: len(wanted_calls)]
            observations = observations[len(wanted_calls) :]
            wanted_calls = steps.send(results)
    except StopIteration:
        return agent_end(task)
    # RuntimeError: what a StopIteration inside a generator becomes (PEP 479).
    except (LookupError, ValueError, TypeError, AttributeError, RuntimeError):
        return agent_end(task, "I do not know how to do that.")
    return agent_calls(task, wanted_calls[len(observations) :])


def _run_rules(task: AgentTask) -> Steps[None]:
    people = people_in(task.request, (yield from colleague_addresses()))
    reading = ParsedRequest(task.request, task.now, people)
    condition = yield from condition_holds(reading)
    for rule in (
        rules.plot_calls,
        rules.multi_domain_calls,
        rules.board_calls,
        rules.customer_calls,
        rules.email_calls,
        rules.calendar_calls,
    ):
        calls = yield from rule(reading, condition)
        if calls is not None:
            if calls:
                yield calls
            return
