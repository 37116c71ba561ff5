"""A benchmark in one file: is a sum right?"""

import json
from dataclasses import dataclass
from typing import Any

from toolassay.benchmarks.simple import About, SimpleBenchmark, SimpleItem


@dataclass(frozen=True)
class _Sum:
    text: str

    def offline_answer(self) -> str:
        """It adds up, but takes every sum above 10 for wrong."""
        left, _, total = self.text.partition(" = ")
        found = sum(map(int, left.split(" + ")))
        return json.dumps({"true": found == int(total) and found <= 10})


class TrueOrFalse(SimpleBenchmark):
    """Sums, each right or wrong."""

    about = About("true_or_false", "True or false", "sum", "the model says what is true of it", "data_sums")
    file = "sums.jsonl"

    def item(self, line: Any) -> SimpleItem:
        """A sum a line."""
        prompt = f'Is it true? {line["sum"]}\nAnswer {{"true": …}}.'
        return SimpleItem(line["id"], prompt, line["label"], task=_Sum(line["sum"]))

    def read_answer(self, item: SimpleItem, text: str) -> Any:
        """A truth value in an object."""
        try:
            found = json.loads(text)["true"]
        except (ValueError, KeyError, TypeError):
            return None
        return found if isinstance(found, bool) else None


BENCHMARK = TrueOrFalse()
