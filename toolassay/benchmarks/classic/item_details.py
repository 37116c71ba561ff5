"""Messages in detail, for reports: the chat, the candidates, and the choice."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from toolassay.benchmarks.benchmark import Items
from toolassay.benchmarks.classic.data import Example, read_data
from toolassay.data_folder import DataFolder
from toolassay.evaluation.item_detail import ItemAnswer, ItemGold, Section
from toolassay.files import read_json_lines
from toolassay.runs.journal import Journal
from toolassay.runs.manifest import JOURNAL
from toolassay.runs.trials import Trial

NO_WORKFLOW = "(no workflow)"


def message_golds(folder: DataFolder) -> Iterator[ItemGold]:
    """The messages of a folder with the chat before them and the candidates."""
    data = read_data(folder.path)
    for example in data.examples:
        chat = [{"role": turn.sender, "text": turn.content} for turn in example.question.turns]
        yield ItemGold(
            example.id,
            example.question.turns[-1].content,
            _names(example, example.labels),
            {"domain": data.domains.get(example.domain, example.domain)},
            [
                Section("Chat", "chat", chat),
                Section("Candidates", "table", _candidates(example)),
            ],
        )


def message_answers(
    folder: DataFolder, predictions: Path, llm: str, only: Collection[str] | None = None
) -> Iterator[tuple[str, ItemAnswer]]:
    """What a model chose for each message."""
    examples = {example.id: example for example in read_data(folder.path).examples}
    trial = Trial(predictions, llm)
    with Journal(trial.run_folder / JOURNAL, read_only=True) as journal:
        for _, line in read_json_lines(trial.output, fix="make it with inference.py"):
            example = examples.get(str(line.get("id"))) if isinstance(line, dict) else None
            if example is not None:
                chosen = line.get("pred_workflow_uuid")
                names = _names(example, (chosen,) if isinstance(chosen, str) and chosen else ())
                sections, raw = _choice(example, chosen, names), _raw(journal.get(example.id))
                yield example.id, ItemAnswer(None, None, names, raw, sections=sections)


def _names(example: Example, ids: tuple[str, ...]) -> list[str]:
    known = {workflow.id: workflow.name for workflow in example.question.candidates}
    return [known.get(one, one) for one in ids] or [NO_WORKFLOW]


def _candidates(example: Example) -> dict[str, Any]:
    candidates = example.question.candidates
    return {
        "columns": ["workflow", "description"],
        "rows": [[one.name, one.description] for one in candidates],
        "marks": ["wanted" if one.id in example.labels else "" for one in candidates],
    }


def _choice(example: Example, chosen: Any, names: list[str]) -> list[Section]:
    is_right = example.accepts(chosen if isinstance(chosen, str) and chosen else None)
    table = {
        "columns": ["which", "workflow"],
        "rows": [
            *(["right", name] for name in _names(example, example.labels)),
            *([["chosen", name] for name in names]),
        ],
        "marks": [
            *("wanted" for _ in _names(example, example.labels)),
            *("wanted" if is_right else "unwanted" for _ in names),
        ],
    }
    return [Section("Choice", "table", table)]


def _raw(entry: dict[str, Any]) -> str | None:
    answers = entry.get("answers")
    return str(answers[-1]["text"]) if answers else None


ITEMS = Items(message_golds, message_answers)
