"""Messages in detail, for reports: the chat, the candidates, and the choice."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from toolassay.benchmarks.benchmark import Items
from toolassay.benchmarks.classic.agents.inference import QuestionEntry
from toolassay.benchmarks.classic.data import Example, read_data
from toolassay.errors import made_by
from toolassay.evaluation.item_detail import ItemAnswer, ItemGold, Section
from toolassay.files.data_files import read_json_lines
from toolassay.records.data_folder import DataFolder
from toolassay.runs.journal import Journal
from toolassay.runs.manifest import JOURNAL
from toolassay.runs.trials import Trial

NO_WORKFLOW = "(no workflow)"


def message_golds(folder: DataFolder) -> Iterator[ItemGold]:
    """The messages of a folder with the chat before them and the candidates."""
    data = read_data(folder.path)
    for example in data.examples:
        chat = [{"role": turn.sender, "text": turn.content} for turn in example.question.turns]
        candidates = [
            ("wanted" if candidate.id in example.labels else "", (candidate.name, candidate.description))
            for candidate in example.question.candidates
        ]
        yield ItemGold(
            example.id,
            example.question.turns[-1].content,
            _names(example, example.labels),
            {"domain": data.domains.get(example.domain, example.domain)},
            [
                Section("Chat", "chat", chat),
                Section.of_rows("Candidates", ("workflow", "description"), candidates),
            ],
        )


def message_answers(
    folder: DataFolder, predictions: Path, llm: str, only: Collection[str] | None = None
) -> Iterator[tuple[str, ItemAnswer]]:
    """What a model chose for each message."""
    examples = {example.id: example for example in read_data(folder.path).examples}
    trial = Trial(predictions, llm)
    with Journal(trial.run_folder / JOURNAL, read_only=True) as journal:
        for _, line in read_json_lines(trial.output, fix=made_by("infer")):
            example = examples.get(str(line.get("id"))) if isinstance(line, dict) else None
            if example is not None:
                chosen = line.get("pred_workflow_uuid")
                ids = (chosen,) if isinstance(chosen, str) and chosen else ()
                mark = "wanted" if example.accepts(ids[0] if ids else None) else "unwanted"
                names = _names(example, ids)
                rows = [("wanted", ("right", name)) for name in _names(example, example.labels)]
                rows += [(mark, ("chosen", name)) for name in names]
                answers = journal.entry(example.id, QuestionEntry).answers
                raw = answers[-1].response if answers else None
                section = Section.of_rows("Choice", ("which", "workflow"), rows)
                yield example.id, ItemAnswer(None, None, names, raw, sections=[section])


def _names(example: Example, ids: tuple[str, ...]) -> list[str]:
    known = {workflow.id: workflow.name for workflow in example.question.candidates}
    return [known.get(workflow_id, workflow_id) for workflow_id in ids] or [NO_WORKFLOW]


ITEMS = Items(message_golds, message_answers)
