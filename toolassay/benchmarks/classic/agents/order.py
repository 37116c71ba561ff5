"""The order in which candidates are shown, so that its effect can be measured."""

from __future__ import annotations

import random
from dataclasses import replace

from toolassay.benchmarks.classic.data import Question
from toolassay.errors import UsageError


def check_order(order: str) -> None:
    """Refuse what is no order.

    Raises:
        UsageError: neither `table`, nor `name`, nor a whole number.
    """
    if order not in ("table", "name") and not (order.isascii() and order.isdigit()):
        raise UsageError(f"unknown --order {order!r}", fix="give table, name, or the seed of a shuffle")


def ordered(question: Question, order: str) -> Question:
    """The question with its candidates in an order.

    Args:
        question: as the table has it.
        order: `table`; `name`; or a seed, which shuffles each question in a way of its own.
    """
    if order == "table":
        return question
    candidates = sorted(question.candidates, key=lambda workflow: workflow.name.casefold())
    if order != "name":
        random.Random(f"{order} {question.id}").shuffle(candidates)
    return replace(question, candidates=tuple(candidates))
