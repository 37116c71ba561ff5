"""The inference prompts, the demonstrations in them (`choose_demos`), and the reformat prompt."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date
from functools import partial
from itertools import zip_longest
from pathlib import Path
from string import Template
from typing import Any, get_args

import msgspec

from toolassay.errors import ToolassayError, UsageError
from toolassay.files.data_files import unescaped_json
from toolassay.graph import DependencyType
from toolassay.models.wire_format import text_of
from toolassay.offline.model_tasks import PlanTask, ReformatTask
from toolassay.offline.shown_graphs import ShownGraphs
from toolassay.prompts.signatures import argument_descriptions, shown_tool
from toolassay.prompts.templates import (
    Wording,
    dated,
    fields_of,
    last_turn,
    package_template,
    template_name,
    tool_sentence,
    turns_of,
    typed_note,
)
from toolassay.records.dataset import WholeLabel, read_labels, shape_of
from toolassay.tools.library import Tool, ToolLibrary

_PLACE = "\0request\0"  # placeholder: requests are inserted after `$` substitution, as they may contain "$"


REQUIRED = ("tools", "request")
"""What a template must have."""


class PlanPrompt:
    """Renders the prompt of a request. Everything except the request is rendered once.

    Args:
        library: the tools; the prompt lists all of them.
        dependency_type: which form of plan the prompt asks for.
        demos: labels shown as demonstrations, the same for every request.
        wording: which built-in template; "example" describes tools in sentences and shows a worked example.
        template: the text of a template to use instead (`$tools`, `$request`, `$demos`; `read_template`).
            Tools and demonstrations in it are written as by the published `inference.py`, so that the
            published wording gives the published prompts, byte for byte.
        today: date of the set, which the prompt says first.
    """

    def __init__(
        self,
        library: ToolLibrary,
        dependency_type: DependencyType,
        *,
        demos: Sequence[Mapping[str, Any]] = (),
        wording: Wording = "default",
        template: str | None = None,
        today: date | None = None,
    ) -> None:
        self._library = library
        self._rest = partial(
            PlanPrompt,
            dependency_type=dependency_type,
            demos=demos,
            wording=wording,
            template=template,
            today=today,
        )
        turns = turns_of(built_in(template_name(dependency_type, wording)))
        self._example = turns[:-1]
        whole = Template(dated(template or turns[-1]["content"], today))
        rendered = whole.safe_substitute(
            tools="\n".join(
                tool_sentence(tool, with_paths=dependency_type == "schema")
                if wording == "example"
                else _tool_line(tool, dependency_type, ascii_only=template is not None)
                for tool in library
            ),
            typed=typed_note(library),
            demos=_demos(demos, dependency_type, published=template is not None),
            request=_PLACE,
        )
        self._parts = rendered.split(_PLACE)
        self._reformat_before, _, self._reformat_after = built_in(f"reformat_{dependency_type}").partition(
            "$answer"
        )

    @property
    def text(self) -> str:
        """The prompt without a request, for the manifest's hash: it changes with tools, demonstrations
        or wording.
        """
        return "".join([*(turn["content"] for turn in self._example), *self._parts])

    def of_tools(self, ids: Sequence[str]) -> PlanPrompt:
        """The prompt that lists only some of the tools."""
        return self._rest(ToolLibrary([self._library[name] for name in ids]))

    def messages(self, request: str) -> list[dict[str, str]]:
        """The messages of one request: the worked example, if the wording has one, and the prompt."""
        return [*self._example, {"role": "user", "content": self.render(request)}]

    def render(self, request: str) -> str:
        """The prompt of one request, which is the last message."""
        return request.join(self._parts)

    def reformat(self, answer: str) -> str:
        """The prompt that asks the model to rewrite an unreadable answer as strict JSON."""
        return f"{self._reformat_before}{answer}{self._reformat_after}"


def _tool_line(tool: Tool, dependency_type: DependencyType, *, ascii_only: bool) -> str:
    value = shown_tool(tool, with_paths=dependency_type == "schema")
    if dependency_type == "temporal" and tool.parameters and tool.input_schema is None:
        value["parameters"] = [parameter.name for parameter in tool.parameters]
    if tool.input_schema is not None and (described := argument_descriptions(tool.input_schema)):
        value["arguments"] = described
    return json.dumps(value, ensure_ascii=ascii_only)


def _demos(demos: Sequence[Mapping[str, Any]], dependency_type: DependencyType, *, published: bool) -> str:
    if not demos:
        return ""
    keys = ("task_steps", "task_nodes", *(() if dependency_type == "resource" else ("task_links",)))
    shown = [(demo["user_request"], {key: demo[key] for key in keys if key in demo}) for demo in demos]
    if published:
        return "\n" + "".join(
            f"\n# EXAMPLE #:\n# USER REQUEST #: {request}\n# RESULT #: {json.dumps(plan)}"
            for request, plan in shown
        )
    lines = ["", "# EXAMPLES #"]
    for request, plan in shown:
        lines += [f"Request: {request}", f"JSON: {unescaped_json(plan)}", ""]
    return "\n".join(lines)


def built_in(name: str) -> str:
    """The text of a built-in template: a dependency type, alone or after "example_" or "reformat_"."""
    return package_template("benchmarks/taskbench", name)


_ORDER = ("chain", "dag", "single")
_PUBLISHED_DEMOS = (
    ("10523150", "14611002", "22067492"),  # huggingface
    ("30934207", "20566230", "19003517"),  # multimedia
    ("38563456", "27267145", "91005535"),  # dailylifeapis
)


def choose_demos(data: Path, count: int, ids: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Choose the demonstrations of a run.

    Args:
        data: `data.json`.
        count: number of demonstrations.
        ids: ids of the labels to use; without them those of the published script that are in the file, in its
            order; else the first chain, the first dag, the first single tool, the second chain, and so on.

    Raises:
        UsageError: `data.json` does not exist, an id is not in it, or it has fewer than `count` labels.
    """
    if count <= 0 and not ids:
        return []
    if not data.exists():
        raise UsageError(
            "does not exist, and demonstrations are taken from it", file=data, fix="use --use_demos 0"
        )
    labels = [label for _, label in read_labels(data) if _can_be_shown(label)]
    if ids:
        by_id = {str(label["id"]): label for label in labels}
        unknown = [name for name in ids if name not in by_id]
        if unknown:
            raise UsageError(
                f"no label with a request and nodes has the id '{unknown[0]}'",
                file=data,
                fix="correct --demo_ids",
            )
        return [by_id[name] for name in ids][: count or None]
    for published in _PUBLISHED_DEMOS:
        if known := [label for label in labels if str(label["id"]) in published[:count]]:
            return known
    shapes: dict[str, list[dict[str, Any]]] = {shape: [] for shape in _ORDER}
    for label in labels:
        shapes[_shape(label)].append(label)
    turns = zip_longest(*shapes.values())
    chosen = [label for turn in turns for label in turn if label is not None][:count]
    if len(chosen) < count:
        raise UsageError(
            f"has {len(chosen)} usable labels for {count} demonstrations",
            file=data,
            fix=f"use --use_demos {len(chosen)} or fewer",
        )
    return chosen


def _can_be_shown(label: dict[str, Any]) -> bool:
    try:
        msgspec.convert({"task_links": [], **label}, WholeLabel)
    except msgspec.ValidationError:
        return False
    return True


def _shape(label: dict[str, Any]) -> str:
    kind = label.get("type")
    if kind in _ORDER:
        return str(kind)
    links = label.get("task_links") or []
    return shape_of(len(label.get("task_nodes") or []), ((link["source"], link["target"]) for link in links))


def prompted_plan(body: Mapping[str, Any], shown: ShownGraphs) -> PlanTask | ReformatTask | None:
    """The task behind a request; None for another prompt.

    Args:
        body: of a chat-completions request, with at least one message.
        shown: graphs of the tools that prompts may show.
    """
    last = body["messages"][-1]
    if body.get("tools") or not isinstance(last, Mapping):
        return None
    prompt = text_of(last.get("content")) or ""
    for kind in get_args(DependencyType):
        for wording in get_args(Wording):
            fields = fields_of(last_turn(built_in(template_name(kind, wording))), prompt)
            if fields is not None:
                try:
                    return PlanTask(fields["request"], shown.graph(fields["tools"], kind, False))
                except (ValueError, KeyError, ToolassayError):
                    return None  # looks like ours and is not
        fields = fields_of(built_in(f"reformat_{kind}"), prompt)
        if fields is not None:
            return ReformatTask(fields["answer"])
    return None
