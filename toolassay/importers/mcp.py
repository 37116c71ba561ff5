"""Imports the tools of MCP servers: live ones, those of a configuration file, and saved listings."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import msgspec

from toolassay.console.screen import SILENT, Screen
from toolassay.declarations import Option
from toolassay.errors import UsageError
from toolassay.files.data_files import read_text
from toolassay.files.locks import open_regular
from toolassay.importers.documents import DEEPEST, is_json, read_values, too_deep
from toolassay.importers.importer import DefinitionError, Importer, Incoming, IncomingTool, Note, Skipped
from toolassay.importers.suspicious_texts import shown
from toolassay.importers.tool_lists import allows_object, decoded, other_kind
from toolassay.mcp_client.connection import DEFAULT_LIMITS, connect
from toolassay.mcp_client.link import ServerLimits
from toolassay.mcp_client.server_config import (
    ServerConfig,
    ServerError,
    parse_address,
    parse_command,
    parse_entry,
    parse_headers,
    parse_json,
    servers_of,
)
from toolassay.runs.event_loop import interruptible, run_coroutine

_LONGEST = 3600  # seconds
_LARGEST_WITH_COMMENTS = 2**20  # bytes; people write them
_NAMED_SERVERS = 5  # in the error if none answers
_AT_ONCE = 4  # servers of a configuration file that run at the same time
_NESTED_LISTINGS = 6  # levels of servers, results and tools in a saved listing; published ones have four
# Characters of a tool's name. A longer one is refused: it is no name that a model could repeat.
_LONGEST_NAME = 1000
# Characters of a server's name that are replaced: the blank in "my server", not the dash in "my-server".
_NOT_NAME = re.compile(r"[^\w.-]+")
# The scheme of an address: "ftp" of "ftp://host"; not of "python ftp://host" or of "C:/serve".
_SCHEME = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]+)://")


@dataclass(frozen=True)
class McpOptions:
    """Options of `import mcp`."""

    header: Annotated[
        Sequence[str],
        Option("Header for an address, e.g. 'Authorization: Bearer …'.", metavar="'NAME: VALUE'"),
    ] = field(default=(), repr=False)
    timeout: Annotated[
        float, Option("Seconds to start and list a server.", minimum=0, above=True, metavar="SECONDS")
    ] = DEFAULT_LIMITS.seconds


class McpImporter(Importer):
    """Tools of MCP servers."""

    name = "mcp"
    title = "MCP server"
    help = "Import the tools of MCP servers."
    source_help = (
        "A command line that starts a server, an http(s) address, a configuration file with mcpServers, "
        "or a saved listing as JSON."
    )
    options = McpOptions

    def read(self, source: str, options: Any, *, screen: Screen = SILENT) -> Incoming:
        """See `Importer.read`."""
        assert isinstance(options, McpOptions)
        headers = parse_headers(options.header)
        if not 0 < options.timeout <= _LONGEST:
            raise UsageError("--timeout is out of range", fix=f"give up to {_LONGEST} seconds")
        limits = ServerLimits(seconds=options.timeout)
        if not source.strip():
            raise UsageError("SOURCE is empty", fix="write a file, an address or a command line")
        scheme_match = _SCHEME.match(source)
        scheme = scheme_match["scheme"].lower() if scheme_match else ""
        is_address = scheme in ("http", "https")
        path = Path(source)
        if headers and not is_address:
            raise UsageError(
                "--header is for an http(s) address", fix='write "headers" in the configuration file'
            )
        if not is_address and _is_file(path):
            value = _value(path)
            servers = servers_of(value)
            return _saved(value, source) if servers is None else _configured(servers, source, limits, screen)
        if scheme and not is_address:
            raise UsageError(
                f"an address with {scheme}:// is no MCP server", fix="write http(s)://HOST:PORT/mcp"
            )
        config = parse_address(source, headers) if is_address else parse_command(source)
        (listing,) = run_coroutine(interruptible(_list_all([config], limits, screen)))
        if isinstance(listing, ServerError):
            raise listing
        return _incoming([listing], config.shown, secrets=config.secrets)


IMPORTER = McpImporter()


def _is_file(path: Path) -> bool:
    """Whether a source is a file to read, and no program, whose path is a command line without arguments.

    Some file systems mark every file as executable, so the beginning counts too: no program starts like JSON
    or a comment.
    """
    try:
        is_folder = path.is_dir()
        if not is_folder and not path.exists():
            return False
    except (OSError, ValueError):  # a command line that is too long for a path
        return False
    if is_folder:
        raise UsageError("is a folder", file=path, fix="give a file, an address or a command line")
    try:
        with open_regular(path) as stream:
            first = stream.read(1)
    except OSError:  # reading it will say why
        return True
    return not os.access(path, os.X_OK) or first in (b"", b"{", b"[", b"/", b" ", b"\n")


def _value(path: Path) -> Any:
    """The JSON of a file, also with comments, or a list of the values of its lines."""
    hint = f"to start a server, write the whole command, e.g. 'python {path.name}'"
    try:
        # Comments before YAML, which has brackets and last commas too and takes "//" for text.
        is_small = 0 < path.stat().st_size <= _LARGEST_WITH_COMMENTS
        text = read_text(path) if is_small else ""
        is_like_json = text.lstrip()[:1] in ("{", "[", "/") and not is_json(text)
        value = parse_json(text) if is_like_json else None
        if value is None or too_deep(value):
            lines = [line.value for line in read_values(path)]
            value = lines[0] if len(lines) == 1 else lines
    except UsageError as error:
        raise UsageError(f"{error}; {hint}") from None
    if not isinstance(value, dict | list):
        raise UsageError("is no MCP listing or configuration", file=path, fix=hint)
    return value


@dataclass(frozen=True)
class _Listing:
    """The tools of one server, unchecked.

    Attributes:
        tools: As the server gives them.
        server: Its name; empty if unknown.
        instructions: Its instructions for models.
        has_more: Whether a saved listing has further pages.
    """

    tools: Sequence[Any]
    server: str = ""
    instructions: str = ""
    has_more: bool = False


# Live servers


def _configured(servers: Mapping[str, Any], source: str, limits: ServerLimits, screen: Screen) -> Incoming:
    """List the servers of a configuration file.

    Raises:
        UsageError: None of them can be listed.
    """
    configs: dict[str, ServerConfig] = {}
    outcomes: dict[str, _Listing | ServerError | None] = dict.fromkeys(servers)  # None: is disabled
    for name, entry in servers.items():
        try:
            if not (isinstance(entry, dict) and entry.get("disabled") is True):
                configs[name] = parse_entry(name, entry)
        except ServerError as error:
            outcomes[name] = error
    results = run_coroutine(interruptible(_list_all(list(configs.values()), limits, screen)))
    outcomes |= zip(configs, results, strict=True)
    listings = [outcome for outcome in outcomes.values() if isinstance(outcome, _Listing)]
    failed = {name: outcome for name, outcome in outcomes.items() if not isinstance(outcome, _Listing)}
    skipped = [
        Skipped(_server_name(name) or "a server", error.reason if error else "is disabled in the file")
        for name, error in failed.items()
    ]
    if not listings:
        first = next(filter(None, failed.values()), None)
        if first is None:
            raise UsageError("has no server to start", file=source, fix='write {"mcpServers": {NAME: …}}')
        reasons = [f"{skip.where}: {skip.reason}" for skip in skipped[:_NAMED_SERVERS]]
        raise UsageError(f"no server could be listed: {'; '.join(reasons)}", file=source, fix=first.fix)
    secrets = {secret for config in configs.values() for secret in config.secrets}
    return _incoming(listings, source, skipped, sorted(secrets, key=len, reverse=True))


async def _list_all(
    configs: Sequence[ServerConfig], limits: ServerLimits, screen: Screen
) -> list[_Listing | ServerError]:
    free = asyncio.Semaphore(_AT_ONCE)
    with screen.progress("listing MCP servers", len(configs)) as advance:

        async def list_server(config: ServerConfig) -> _Listing | ServerError:
            try:
                async with free, connect(config, limits) as connection:
                    tools = await connection.list_tools()
                    info = connection.info
                    return _Listing(tools, config.name or info.name, info.instructions or "")
            except ServerError as error:
                return error
            finally:
                advance()

        # Not a TaskGroup: once it cancels its tasks, it ignores a second interrupt.
        running = [asyncio.ensure_future(list_server(config)) for config in configs]
        try:
            return await asyncio.gather(*running)
        finally:
            for task in running:  # after an error of no single server, e.g. that a package is missing
                task.cancel()


# Saved listings

_FORMS = 'give {"tools": […]}, a list of tools, the answer to tools/list, or {"mcpServers": {…}}'


def _saved(value: Any, source: str) -> Incoming:
    """The tools of a saved listing; nothing of it is run.

    Raises:
        UsageError: There is no listing in it.
    """
    if kind := other_kind(value, McpImporter.name):
        raise UsageError(
            f"has the form of '{kind}', not of '{IMPORTER.name}'",
            file=source,
            fix=f"use `toolassay import {kind} {shlex.quote(source)}`",
        )
    entries = list(_listings(value, "", _NESTED_LISTINGS))
    listings = [entry for entry in entries if isinstance(entry, _Listing)]
    if not listings:
        raise UsageError("has no MCP tools", file=source, fix=_FORMS)
    incoming = _incoming(listings, source, [entry for entry in entries if isinstance(entry, Skipped)])
    if not incoming.tools:
        first = incoming.skipped[0]
        raise UsageError(f"has no MCP tools: {first.where} {first.reason}", file=source, fix=_FORMS)
    return incoming


def _listings(value: Any, server: str, levels: int) -> Iterator[_Listing | Skipped]:
    """The servers of a value: tools, an answer with tools, servers with tools, or nested ones.

    Args:
        value: Any part of a saved listing.
        server: The name of the server, as far as it is known.
        levels: How much deeper to look.
    """
    if levels == 0:
        yield Skipped(shown(server or "listing"), "is nested too deeply")
    elif isinstance(value, list):
        tools = []
        for item in value:
            if isinstance(item, dict) and ("tools" in item or "result" in item):
                yield from _listings(item, server, levels - 1)
            else:
                tools.append(item)
        if tools:
            yield _Listing(tools, server)
    elif not isinstance(value, dict):
        yield Skipped(shown(server or "listing"), "is no listing")
    elif isinstance(value.get("result"), dict):
        yield from _listings(value["result"], server, levels - 1)
    elif isinstance(value.get("error"), dict):
        yield Skipped(shown(server or "listing"), "is the error answer of a server")
    elif "tools" in value or "servers" in value:
        about = value.get("serverInfo")
        names = [server, value.get("server_name"), value.get("name")]
        names += [about.get("name")] if isinstance(about, dict) else []
        name = next((name for name in names if isinstance(name, str) and name), "")
        tools = value["tools"] if "tools" in value else value["servers"]
        if isinstance(tools, list) and "tools" in value:
            instructions = value.get("instructions")
            yield _Listing(
                tools,
                name,
                instructions if isinstance(instructions, str) else "",
                bool(value.get("nextCursor")),
            )
        else:
            yield from _listings(tools, "" if "servers" in value else name, levels - 1)
    elif "inputSchema" in value and "name" in value:
        yield _Listing([value], server)
    else:
        for name, entry in value.items():
            if isinstance(entry, dict | list):
                yield from _listings(entry, str(name), levels - 1)
            else:
                yield Skipped(shown(str(name)), "is no listing")


# Tools

# PHP writes an empty object as [].
_Object = dict[str, Any] | Annotated[list[Any], msgspec.Meta(max_length=0)] | None


class _WrittenTool(msgspec.Struct, rename="camel"):
    """A tool of MCP."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=_LONGEST_NAME)]
    title: str | None = None
    description: str | None = None
    input_schema: Any = None
    output_schema: Any = None
    annotations: _Object = None


_TOOL_KEYS = frozenset((*_WrittenTool.__struct_encode_fields__, "input_schema", "output_schema"))


def _incoming(
    listings: Sequence[_Listing], source: str, skipped: Sequence[Skipped] = (), secrets: Sequence[str] = ()
) -> Incoming:
    """The tools of servers, with the names and instructions of these, each once."""
    tools = []
    empty = []
    malformed = []
    for listing in listings:
        server = _server_name(listing.server)
        if not listing.tools:
            empty.append(Skipped(server or "the server", "lists no tools"))
        for number, raw in enumerate(listing.tools, start=1):
            try:
                tools.append(_tool(raw, server))
            except DefinitionError as error:
                name = raw.get("name") if isinstance(raw, dict) else None
                which = f"tool {shown(name)}" if isinstance(name, str) and name else f"tool {number}"
                malformed.append(Skipped(f"{which} of {server}" if server else which, str(error)))
    has_more = any(listing.has_more for listing in listings)
    notes = [Note("nextCursor", "the listing has further pages, which are not in the file")] * has_more
    parts = (
        f"{listing.server}: {listing.instructions}" if listing.instructions else listing.server
        for listing in listings
    )
    service = "\n\n".join(dict.fromkeys(filter(None, parts)))
    return Incoming(tools, source, [*skipped, *empty, *malformed], secrets, notes, service)


def _server_name(name: str) -> str:
    """A server's name without blanks, control characters and the like.

    >>> _server_name("mcp-servers/every thing")
    'mcp-servers_every_thing'
    """
    return _NOT_NAME.sub("_", name)[:64].strip("_.")


def _tool(raw: Any, server: str) -> IncomingTool:
    losses: list[Note] = []
    if isinstance(raw, dict):  # also with the names of the SDK for Python
        snake = {"inputSchema": raw.get("input_schema"), "outputSchema": raw.get("output_schema")}
        losses += [Note(shown(str(key)), "is no part of a tool") for key in raw if key not in _TOOL_KEYS]
        raw = snake | raw
    try:
        written = msgspec.convert(raw, _WrittenTool)
    except msgspec.ValidationError as error:
        raise DefinitionError(f"is malformed: {error}") from None
    annotations = dict(written.annotations or {})
    if written.title:
        if annotations.get("title") not in (None, written.title):
            losses.append(Note("annotations.title", "differs from the tool's title, which is kept"))
        annotations["title"] = written.title
    warnings = []
    if (input_schema := _schema(written.input_schema, "inputSchema")) is None:
        warnings.append(Note("inputSchema", "is no object; the tool is taken to have no arguments"))
    output = None
    try:
        output = _schema(written.output_schema, "outputSchema")
    except DefinitionError as error:
        losses.append(Note("outputSchema", str(error).removeprefix("its outputSchema ")))
    title = annotations.get("title")
    return IncomingTool(
        name=written.name,
        description=written.description or (title if isinstance(title, str) else ""),
        input_schema=input_schema or {"type": "object", "properties": {}},
        output_schema=output and {"type": "object", **output},
        annotations={key: value for key, value in annotations.items() if value is not None},
        source={"server": server} if server else {},
        losses=losses,
        warnings=warnings,
    )


def _schema(value: Any, key: str) -> dict[str, Any] | None:
    """The schema of an object, also as JSON text; None without one.

    Raises:
        DefinitionError: It is none.
    """
    value = decoded(value)
    if not isinstance(value, dict):
        return None
    if not allows_object(value):
        raise DefinitionError(f"its {key} does not describe an object")
    if too_deep(value):
        raise DefinitionError(f"its {key} is nested more than {DEEPEST} levels deep")
    return value
