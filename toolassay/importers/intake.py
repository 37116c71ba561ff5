"""What every import has in common: from `IncomingTool`s to the nodes of `tool_desc.json`, and the report."""

from __future__ import annotations

import hashlib
import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from toolassay.console.text_formatting import count_of
from toolassay.files.data_files import rare_cycle_search, readable
from toolassay.importers.importer import Incoming, IncomingTool, Note, Skipped, ToolNote
from toolassay.importers.schema_dialects import Normalised, Normaliser, TooLarge, misfitting_values
from toolassay.importers.suspicious_texts import TextScanner, has_mixed_scripts, look_alikes, shown
from toolassay.tools.library import parameters_of
from toolassay.tools.type_names import types_of

# Characters, as model services accept in the name of a function.
LONGEST_ID = 64
LONGEST_DESCRIPTION = 20_000
"""Characters; the longest of 527 tools of real servers has 8,000."""
# Characters of what a service states about itself, which prompts show beside the tools; the rest is cut.
LONGEST_SERVICE = 8_000
HIDDEN = "[secret]"
# Characters. A shorter secret, such as "1", would be hidden in ordinary texts.
_SHORTEST_SECRET = 4


@dataclass(frozen=True)
class ImportReport:
    """The content of `import_report.json`.

    Attributes:
        kind: The importer.
        source: What was read, without secrets.
        n_tools: Number of tools.
        skipped: Parts of the source that gave no tool.
        losses: What the tool file does not hold.
        warnings: What a person should look at.
    """

    kind: str
    source: str
    n_tools: int
    skipped: Sequence[Skipped]
    losses: Sequence[ToolNote]
    warnings: Sequence[ToolNote]

    def to_json(self) -> dict[str, Any]:
        """The object of the file."""
        parts = {
            name: [part._asdict() for part in getattr(self, name)]
            for name in ("skipped", "losses", "warnings")
        }
        return {"kind": self.kind, "source": self.source, "n_tools": self.n_tools, **parts}


@dataclass(frozen=True)
class Intake:
    """The nodes of `tool_desc.json`, the report, and what the service is, at most 8,000 characters."""

    nodes: Sequence[dict[str, Any]]
    report: ImportReport
    service: str = ""


@rare_cycle_search()
def take_in(kind: str, incoming: Incoming) -> Intake:
    """Give tools their ids, schemas of one dialect and warnings.

    Args:
        kind: The importer's name.
        incoming: What it read.
    """
    incoming = _without_secrets(incoming)
    normaliser = Normaliser()
    checked: dict[int, Any] = {}
    skipped = list(incoming.skipped)
    accepted: list[tuple[IncomingTool, Normalised, Normalised | None]] = []
    for tool in incoming.tools:
        if len(tool.description) > LONGEST_DESCRIPTION:
            loss = Note("description", f"cut after {LONGEST_DESCRIPTION:,} characters")
            short = tool.description[:LONGEST_DESCRIPTION]
            tool = replace(tool, description=short, losses=[*tool.losses, loss])
        try:
            arguments = normaliser.convert(tool.input_schema)
            result = None if tool.output_schema is None else normaliser.convert(tool.output_schema)
        except TooLarge as error:
            skipped.append(Skipped(tool.name, f"its schema is too large: {error}"))
            continue
        kinds = types_of(arguments.schema)
        if kinds and "object" not in kinds:
            skipped.append(Skipped(tool.name, "its input schema does not describe an object"))
            continue
        if kinds != ["object"]:
            arguments.schema["type"] = "object"
            reason = f"is {' or '.join(kinds) or 'missing'}; arguments are an object"
            arguments = arguments._replace(warnings=(*arguments.warnings, Note("type", reason)))
        misfits = tuple(misfitting_values(arguments.schema, checked))
        accepted.append((tool, arguments._replace(warnings=arguments.warnings + misfits), result))
    ids = unique_ids([tool for tool, _, _ in accepted])
    alike = look_alikes(tool.name for tool, _, _ in accepted)
    servers = Counter(tool.name for tool, _, _ in accepted)
    scanner = TextScanner()
    nodes: list[dict[str, Any]] = []
    losses = [ToolNote("", *note) for note in incoming.notes]
    if len(incoming.service) > LONGEST_SERVICE:
        losses.append(ToolNote("", "service", f"cut after {LONGEST_SERVICE:,} characters"))
    warnings = [ToolNote("", *note) for note in scanner.warnings(incoming.service, "service")]
    for tool_id, (tool, arguments, result) in zip(ids, accepted, strict=True):
        if not arguments.schema.keys() & {"properties", "$ref", "allOf", "anyOf", "oneOf"}:
            arguments.schema["properties"] = {}  # as model services want it for a tool without arguments
        nodes.append(_encodable(_node(kind, tool_id, tool, arguments.schema, result)))
        losses += [ToolNote(tool_id, *note) for note in tool.losses]
        notes = list(tool.warnings)
        for prefix, normalised in (("input_schema", arguments), ("output_schema", result)):
            result_schema = normalised or Normalised({})
            losses += [
                ToolNote(tool_id, f"{prefix}.{field}".rstrip("."), reason)
                for field, reason in result_schema.losses
            ]
            notes += [Note(f"{prefix}.{field}", reason) for field, reason in result_schema.warnings]
        notes += _warnings(scanner, tool, nodes[-1], alike.get(tool.name), servers[tool.name])
        warnings += [ToolNote(tool_id, *note) for note in notes]
    report = ImportReport(kind, incoming.source, len(nodes), *_encodable([skipped, losses, warnings]))
    return Intake(nodes, report, _encodable(incoming.service[:LONGEST_SERVICE]))


def _node(
    kind: str, tool_id: str, tool: IncomingTool, schema: dict[str, Any], result: Normalised | None
) -> dict[str, Any]:
    parameters = parameters_of(schema)
    node: dict[str, Any] = {
        "id": tool_id,
        "desc": tool.description,
        "parameters": [
            {"name": parameter.name, "type": parameter.type, "desc": parameter.description}
            for parameter in parameters
        ],
        "input_schema": schema,
    }
    if result is not None:
        node["output_schema"] = result.schema
    if tool.annotations:
        node["annotations"] = dict(tool.annotations)
    if tool.tags:
        node["tags"] = list(dict.fromkeys(tool.tags))
    node["source"] = {"kind": kind, "name": tool.name} | {
        key: value for key, value in tool.source.items() if value not in (None, "", {}, [])
    }
    return node


def _encodable(value: Any) -> Any:
    """A value as JSON in UTF-8 can hold it: without halves of characters, NaN and infinity."""
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except ValueError:
        return _with_texts(value, readable)
    return value


def _warnings(
    scanner: TextScanner, tool: IncomingTool, node: Mapping[str, Any], look_alike: str | None, count: int
) -> Iterator[Note]:
    if not tool.description.strip():
        yield Note("description", "is missing: models and the writer have only the name")
    if look_alike is not None:
        yield Note("name", f"looks like '{shown(look_alike)}'")
    if has_mixed_scripts(tool.name):
        yield Note("name", "mixes Latin letters with look-alike letters of another script")
    if count > 1:
        yield Note("name", f"{count} tools of this import are called '{shown(tool.name)}'")
    yield from scanner.warnings(tool.name, "name")
    yield from scanner.warnings(tool.description, "description")
    for key in ("input_schema", "output_schema", "annotations", "tags"):
        yield from scanner.warnings(node.get(key), key)


def unique_ids(tools: Sequence[IncomingTool]) -> list[str]:
    """An id `[A-Za-z0-9_.-]{1,64}` for each tool: its name, else `server.name`, else a further name.

    All tools of one name change together, so that an id does not depend on the order of the source.

    >>> unique_ids([IncomingTool("a b"), *(IncomingTool("get", source={"server": one}) for one in "xy")])
    ['a_b', 'x.get', 'y.get']
    """
    candidates = [_candidates(tool) for tool in tools]
    ids = [next(names) for names in candidates]
    while True:
        taken = Counter(name.casefold() for name in ids)
        clashes = [number for number, name in enumerate(ids) if taken[name.casefold()] > 1]
        others = {number: next(candidates[number], None) for number in clashes}
        if not any(others.values()):
            break
        for number, name in others.items():
            ids[number] = name or ids[number]
    seen: Counter[str] = Counter()
    for number, name in enumerate(ids):  # nothing distinguishes them but their place
        seen[name.casefold()] += 1
        if (count := seen[name.casefold()]) > 1:
            ids[number] = f"{name[: LONGEST_ID - 1 - len(str(count))]}-{count}"
    return ids


def _candidates(tool: IncomingTool) -> Iterator[str]:
    server = tool.source.get("server")
    for name in (tool.name, *tool.further_names):
        yield valid_id(name)
        if isinstance(server, str) and server:
            yield valid_id(f"{valid_id(server)}.{valid_id(name)}")
    yield _hashed(valid_id(tool.name), repr((tool.name, sorted(map(str, tool.source.items())))))


# A whole id that any model service accepts: "files.read"; not "read file" or a longer one than 64.
_VALID = re.compile(r"[A-Za-z0-9_.-]{1,64}")
# Runs of characters that become one "_": " " and "é"; not "a-b.c".
_OTHERS = re.compile(r"[^A-Za-z0-9_.-]+")


def valid_id(name: str) -> str:
    """A name as an id: accents are removed, other characters become `_`.

    A name that is cut, or of which little is left, ends with a hash of the whole.

    >>> valid_id("users.list"), valid_id("Café menu"), valid_id("搜索")
    ('users.list', 'Cafe_menu', 'tool_44ce7ae9')
    """
    if _VALID.fullmatch(name):
        return name
    plain = unicodedata.normalize("NFKD", name)
    plain = _OTHERS.sub(
        "_", "".join(character for character in plain if not unicodedata.combining(character))
    ).strip("_")
    letters = sum(character.isalnum() for character in name)
    if not plain or sum(character.isalnum() for character in plain) < letters / 2:
        return _hashed(plain or "tool", name)
    return plain if len(plain) <= LONGEST_ID else _hashed(plain, name)


def _hashed(plain: str, whole: str) -> str:
    ending = hashlib.sha256(whole.encode(errors="replace")).hexdigest()[:8]
    return f"{plain[: LONGEST_ID - 9]}_{ending}"


def _without_secrets(incoming: Incoming) -> Incoming:
    """Replace secrets in every text: a server may repeat what it was given."""
    secrets = sorted(
        {secret for secret in incoming.secrets if len(secret) >= _SHORTEST_SECRET}, key=len, reverse=True
    )
    if not secrets:
        return incoming
    pattern = re.compile("|".join(map(re.escape, secrets)))

    def hide(value: Any) -> Any:
        return _with_texts(value, lambda text: pattern.sub(HIDDEN, text))

    tools = []
    for tool in incoming.tools:
        changed = replace(tool, **{name: hide(getattr(tool, name)) for name in _TEXT_FIELDS})
        if changed != tool:
            warning = Note("", "repeats a secret that it was given, which was removed")
            changed = replace(changed, warnings=[*changed.warnings, warning])
        tools.append(changed)
    return replace(
        incoming,
        tools=tools,
        source=hide(incoming.source),
        skipped=[Skipped(*hide(list(part))) for part in incoming.skipped],
        notes=[Note(*hide(list(part))) for part in incoming.notes],
        service=hide(incoming.service),
    )


_TEXT_FIELDS = (
    *("name", "description", "input_schema", "output_schema", "annotations", "tags", "source"),
    *("further_names", "losses", "warnings"),
)


def _with_texts(value: Any, change: Callable[[str], str]) -> Any:
    """A value with every text changed, keys included; a number that JSON does not have becomes None."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {_with_texts(key, change): _with_texts(item, change) for key, item in value.items()}
    if isinstance(value, list | tuple):
        changed = (_with_texts(item, change) for item in value)
        return type(value)(*changed) if hasattr(value, "_fields") else type(value)(changed)
    return None if isinstance(value, float) and not math.isfinite(value) else value


class Group(NamedTuple):
    """Findings that differ in names and numbers only.

    Attributes:
        first: The first of them.
        tools: Number of tools.
    """

    first: ToolNote
    tools: int


def grouped(findings: Iterable[ToolNote]) -> list[Group]:
    """The findings by field and reason, the most frequent first."""
    alike: dict[tuple[str, str], tuple[ToolNote, set[str]]] = {}
    for finding in findings:
        alike.setdefault((general(finding.field), general(finding.reason)), (finding, set()))[1].add(
            finding.tool
        )
    groups = (Group(first, len(tools)) for first, tools in alike.values())
    return sorted(groups, key=lambda group: -group.tools)


def general(text: str) -> str:
    """A reason or field without what differs from tool to tool, so that equal ones are counted together.

    >>> general("no type 'text'"), general("responses.404"), general("input_schema.properties.a.type")
    ("no type '…'", 'responses.…', 'input_schema…type')
    >>> general("extensions are not kept: x-order, x-group"), general("4 definitions left open, e.g. Pet")
    ('extensions are not kept', '… definitions left open')
    """
    text = re.sub(r"(?:: x-|, e\.g\. ).*", "", text)
    text = re.sub(r"'[^']*'|“[^”]*”|\"[^\"]*\"", "'…'", text)
    text = re.sub(r"\b\d[\d,]*\b", "…", text)
    first, _, remainder = text.partition(".")
    return f"{first}…{remainder.rpartition('.')[2]}" if "." in remainder and " " not in text else text


def described(report: ImportReport) -> str:
    """The result in one phrase: "12 tools, 1 skipped, 3 losses, 2 warnings"."""
    return ", ".join(
        [
            count_of(report.n_tools, "tool"),
            *([f"{len(report.skipped):,} skipped"] if report.skipped else []),
            f"{len(report.losses):,} {'loss' if len(report.losses) == 1 else 'losses'}",
            count_of(len(report.warnings), "warning"),
        ]
    )
