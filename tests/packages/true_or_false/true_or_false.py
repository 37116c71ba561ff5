"""A benchmark in one file: is a sum right?"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolassay.benchmarks.simple import SimpleBenchmark, SimpleItem
from toolassay.data_folder import DataFolder
from toolassay.files import read_json_lines

FILE = "sums.jsonl"


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

    name = "true_or_false"
    title = "True or false"
    noun = "sum"
    right = "the model says what is true of it"
    default_folder = "data_sums"
    cluster = "one sum"

    def data_files(self, folder: DataFolder) -> Sequence[Path]:
        """The sums."""
        return [folder.path / FILE]

    def items(self, folder: DataFolder) -> list[SimpleItem]:
        """A sum a line."""
        return [
            SimpleItem(
                line["id"],
                [{"role": "user", "content": f'Is it true? {line["sum"]}\nAnswer {{"true": …}}.'}],
                line["label"],
                task=_Sum(line["sum"]),
            )
            for _, line in read_json_lines(folder.path / FILE)
        ]

    def read_answer(self, item: SimpleItem, text: str) -> Any:
        """A truth value in an object."""
        try:
            found = json.loads(text)["true"]
        except (ValueError, KeyError, TypeError):
            return None
        return found if isinstance(found, bool) else None

    def is_right(self, item: SimpleItem, answer: Any) -> bool:
        """Whether it is the label."""
        return bool(answer == item.label)


BENCHMARK = TrueOrFalse()
