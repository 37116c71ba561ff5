"""How a server is started or reached, and which parts of that are secret."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import urlsplit

from toolassay.console.text_formatting import shortened
from toolassay.errors import UsageError
from toolassay.files.program_files import SCRIPT, is_launcher
from toolassay.models.address import Address, without_addresses
from toolassay.models.redaction import without
from toolassay.records.data_folder import TODAY

DOUBTFUL = "…"
"""Stands for the words of a command line that may be private."""

# "${TOKEN}", "${env:TOKEN}" and "${TOKEN:-none}"; not "$TOKEN". Any other "${…}" gives no name.
_VARIABLE = re.compile(r"\$\{(?:(?:env:)?(?P<name>[A-Za-z_]\w*)(?::-(?P<default>[^}]*))?|(?P<other>[^}]*))\}")
# An assignment in front of a command, as shells have it: "API_KEY=abc", not "--key=abc".
_ASSIGNMENT = re.compile(r"(?P<name>[A-Za-z_]\w*)=(?P<value>.*)", re.DOTALL)
# A name with its value: "--token=abc", "TOKEN=abc" and "Authorization: Bearer abc", not "https://host".
_NAMED = re.compile(r"-{0,2}(?P<name>[A-Za-z][\w.-]*)(?:=|:\s)(?P<value>.+)", re.DOTALL)
# A field of JSON that has a text: matches '"apiKey": "k-12"', not '"port": 80'.
_JSON_FIELD = re.compile(r'"(?P<name>[^"]+)"\s*:\s*"(?P<value>[^"]+)"')
# A variable, as `docker run -e` takes it: "SHOP_USER=ann"; not "--mode=read-only", which is no secret.
_VARIABLE_NAME = re.compile(r"[A-Z][A-Z0-9_]*=.+", re.DOTALL)
# The name of a credential: "GITHUB_TOKEN", "x-api-key", "T_PIN" and "userPin"; not "--ping" or "author".
_SENSITIVE = re.compile(
    r"key|token|secret|pass|pwd|auth(?!or(?!i))|login|cred|cookie|bearer|signature|_pat\b"
    r"|(?<![a-z])pin(?![a-z])|(?-i:[a-z]Pin(?![a-z]))",
    re.IGNORECASE,
)
# Values of variables and headers that can be no secret, whatever the name: "true", "info"; not "blue".
_NO_SECRET = re.compile(
    r"|true|false|yes|no|on|off|none|null|0|1|debug|info|warn|warning|error|critical|trace"
    r"|production|development|test|staging",
    re.IGNORECASE,
)
_SHORTEST = 4  # characters of a secret; the removal of "ab" would garble every text
# What can be no credential unless its name says so: "production", "3000", "" and "true"; not "hunter2".
_ORDINARY = re.compile(r"[A-Za-z]{0,12}|\d{1,5}")
# Values of credentials that say there is none, or which kind: "none", "Bearer".
_NO_CREDENTIAL = re.compile(r".{0,3}|none|null|true|false|basic|bearer|oauth2?|required", re.IGNORECASE)
# Keys of known services, and anything long that mixes letters and digits: "ghp_0a1b2c3d4e",
# "550e8400-e29b-41d4-a716-446655440000", "9f86d081884c7d65"; not "server-filesystem@2025.11.25".
_KEY = re.compile(
    r"(?:sk|pk|rk)[-_][\w-]{6,}|gh[opsur]_\w{6,}|github_pat_\w+|xox[a-z]-[\w-]+|glpat-[\w-]+|hf_\w{8,}"
    r"|A[KS]IA[A-Z0-9]{12,}|AIza[\w-]{10,}|ya29\.[\w-]+|eyJ[\w-]{8,}\.[\w.-]+"
    r"|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
    r"|(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{16,}"
)
# A flag that is shown: "-y", "--rm" and "--allow-all"; not "-psecret" or "--9f86".
_FLAG = re.compile(r"-[A-Za-z]{1,2}|--[A-Za-z][A-Za-z_-]{0,30}")
# The name of a package or image, with a version: "@scope/name@1.2", "mcp/fetch:latest", "mcp_server.main";
# not "/home/me", "a b" or "key=value".
_PACKAGE = re.compile(r"@?[A-Za-z][\w.-]*(?:/[\w.-]+){0,2}(?:\[\w+\])?(?:(?:@|==|:)[\w.-]+)?")
_SUBCOMMANDS = frozenset(("run", "exec", "x", "dlx", "tool"))
# The name of a header, as HTTP allows it: "X-Api-Key", not "Api Key".
_HEADER = re.compile(r"[\w!#$%&'*+.^`|~-]+", re.ASCII)
_NOT_SECRET_HEADERS = frozenset(("accept", "accept-language", "content-type", "user-agent"))


class ServerError(UsageError):
    """A server that cannot be started, reached or listed.

    Attributes:
        code: Of the JSON-RPC error that the server answered with, if it did.
        is_unsent: Whether the request surely did not reach the server's tools.
    """

    def __init__(
        self, reason: str, *, server: str, fix: str, code: int | None = None, is_unsent: bool = False
    ) -> None:
        super().__init__(reason, file=server, fix=fix)
        self.is_unsent = is_unsent
        self.code = code


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """A command to start, or an address to connect to; one of `command` and `url` is set.

    Attributes:
        name: Its key in a configuration file; empty otherwise.
        command: Program.
        args: Its arguments.
        env: Variables beyond the minimal environment.
        cwd: Working directory; None for the current one.
        url: Address.
        headers: Sent with every request.
        legacy_sse: Whether the address has the HTTP transport of 2024, with a stream of its own.
    """

    name: str = ""
    command: str = ""
    args: Sequence[str] = field(default=(), repr=False)
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str | None = None
    url: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    legacy_sse: bool = False

    @property
    def shown(self) -> str:
        """The server in messages: without values that may be secret.

        >>> ServerConfig(command="npx", args=["-y", "@acme/shop-server", "--api-key", "k1", "/home/me"]).shown
        'npx -y @acme/shop-server --api-key …'
        >>> ServerConfig(url="https://me:pw@host.com/v1?key=k1").shown
        'https://***@host.com/v1?key=***'
        """
        if self.url:
            return Address.of(self.url).shown
        return " ".join(_shown(self.command, self.args))

    @property
    def secrets(self) -> tuple[str, ...]:
        """Texts that no file and no message may repeat, the longest first.

        Every value of a variable and of a header is one, except what cannot be a secret: truth values, log
        levels, ports and the like. Values of fewer than 4 characters cannot be removed from texts, as they
        would be found within other words; they are left out.

        >>> ServerConfig(command="serve", args=["--token=k-12", "--port=80"], env={"PW": "hunter2"}).secrets
        ('hunter2', 'k-12')
        """
        secrets = {secret for secret in self._secrets() if len(secret.strip()) >= _SHORTEST}
        return tuple(sorted(secrets, key=lambda secret: (-len(secret), secret)))

    @property
    def keys(self) -> tuple[str, ...]:
        """The secrets that results do not repeat either: the values of credentials, by their names.

        Credentials in the environment of this process are among them, passed to the server or not. A plain
        word such as "postgres" is left out, because results have it for other reasons.
        """

        def named(values: Mapping[str, str]) -> dict[str, str]:
            return {name: value for name, value in values.items() if _SENSITIVE.search(name)}

        own_variables = replace(self, env=named({**os.environ, **self.env}), headers=named(self.headers))
        return tuple(secret for secret in own_variables.secrets if not _ORDINARY.fullmatch(secret))

    def _secrets(self) -> Iterator[str]:
        for name, value in self.env.items():
            is_port = name.upper().endswith("PORT") and re.fullmatch(r"\d{1,5}", value)
            # Messages of tools about the date would have gaps.
            if not is_port and name != TODAY:
                yield from _given_secrets(name, value)
        for name, value in self.headers.items():
            if name.lower() not in _NOT_SECRET_HEADERS:
                yield from _given_secrets(name, value)
        word_before = ""
        for word in self.args:
            if word_before.startswith("-") and not word.startswith("-") and _SENSITIVE.search(word_before):
                yield from _named_secrets(word_before, word)
            yield from _word_secrets(word)
            word_before = word
        yield from _word_secrets(self.url)

    def cleaned(self, text: str, most: int = 300) -> str:
        r"""A text of the server as one line for a message: no secret, no control character, not long.

        >>> ServerConfig(env={"KEY": "hunter2"}).cleaned("\x1b[31mbad key\thunter2")
        'bad key ***'
        """
        # Escape sequences of terminals: "\x1b[31m" and "\x1b]0;title\x07", not "[31m".
        text = re.sub(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)", "", text[: 20 * most])
        text = "".join(character if character.isprintable() else " " for character in text)
        text = _KEY.sub("***", without_addresses(without(self.secrets, " ".join(text.split()))))
        return shortened(text, most)


def parse_command(text: str) -> ServerConfig:
    """The server that a command line starts.

    Raises:
        UsageError: It is empty, or a quote is not closed.

    >>> config = parse_command("LEVEL=debug npx -y '@acme/shop server'")
    >>> config.command, config.args, config.env
    ('npx', ['-y', '@acme/shop server'], {'LEVEL': 'debug'})
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"the command line cannot be split: {error}", fix="close the quotes") from None
    env = {}
    while words and (assignment := _ASSIGNMENT.fullmatch(words[0])):
        env[assignment["name"]] = assignment["value"]
        del words[0]
    if not words:
        raise UsageError("SOURCE has no command", fix="write a file, an address or a command line")
    return ServerConfig(command=words[0], args=words[1:], env=env)


def parse_address(url: str, headers: Mapping[str, str], *, name: str = "", kind: str = "") -> ServerConfig:
    """The server at an address.

    Args:
        url: http or https.
        headers: Sent with every request.
        name: Its key in a configuration file.
        kind: "sse" for the older transport; otherwise decided by the path.

    Raises:
        ServerError: It is no http address with a host, or a header is malformed.
    """
    shown_name = name or Address.of(url).shown
    try:
        parts = urlsplit(url)
        is_valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        parts = urlsplit("")
        is_valid = False
    if not is_valid:
        raise ServerError("is not a valid address", server=shown_name, fix="write http(s)://HOST:PORT/mcp")
    if not all(
        _HEADER.fullmatch(key) and (text.isascii() and text.isprintable()) for key, text in headers.items()
    ):
        raise ServerError("has a malformed header", server=shown_name, fix="write 'Name: value' in ASCII")
    legacy = kind == "sse" or (not kind and parts.path.rstrip("/").endswith("/sse"))
    return ServerConfig(name=name, url=url, headers=headers, legacy_sse=legacy)


def parse_headers(headers: Sequence[str]) -> dict[str, str]:
    """The headers of `--header 'Name: value'`.

    Raises:
        UsageError: One has no colon.
    """
    for number, text in enumerate(headers, start=1):
        if ":" not in text:
            raise UsageError(f"--header number {number} has no colon", fix="write --header 'Name: value'")
    pairs = (text.partition(":") for text in headers)
    return {name.strip(): value.strip() for name, _, value in pairs}


def parse_entry(name: str, entry: Any) -> ServerConfig:
    """The server of an entry under `mcpServers`, with variables filled from the environment.

    Raises:
        ServerError: The entry is malformed, or a variable is not set.
    """

    def fail(reason: str, fix: str = "correct its entry") -> ServerError:
        return ServerError(reason, server=name, fix=fix)

    def text(value: Any, what: str) -> str:
        if isinstance(value, bool) or value is None or not isinstance(value, str | int | float):
            raise fail(f"its '{what}' must be text")
        return _filled(str(value), name)

    def texts(what: str) -> dict[str, str]:
        values = entry.get(what) or {}
        if not isinstance(values, dict):
            raise fail(f"its '{what}' must be an object")
        # JSON's true and 3000 are meant as the text that a shell would pass.
        return {
            key: text(str(value).lower() if isinstance(value, bool) else value, f"{what}.{key}")
            for key, value in values.items()
        }

    if not isinstance(entry, dict):
        raise fail("its entry must be an object")
    command = entry.get("command")
    url = entry.get("url")
    if url and not command:
        kind = str(entry.get("type") or "").lower()
        return parse_address(text(url, "url"), texts("headers"), name=name, kind=kind)
    if not isinstance(command, str) or not command.strip():
        raise fail("has neither 'command' nor 'url'", 'write "command" and "args", or "url"')
    args = entry.get("args") or []
    if not isinstance(args, list):
        raise fail("its 'args' must be a list")
    cwd = entry.get("cwd")
    return ServerConfig(
        name=name,
        command=text(command, "command"),
        args=[text(argument, "args") for argument in args],
        env=texts("env"),
        cwd=None if cwd is None else str(Path(text(cwd, "cwd")).expanduser()),
    )


def _filled(value: str, server: str) -> str:
    def fill(variable: re.Match[str]) -> str:
        name = variable["name"]
        default = variable["default"]
        if name is None:  # also "${input:key}", which editors ask a person for
            fix = "write ${NAME} and set NAME in the environment"
            raise ServerError(f"has the unknown variable {variable[0][:60]}", server=server, fix=fix)
        if name not in os.environ and default is None:
            raise ServerError(
                f"needs the variable {name}, which is not set", server=server, fix=f"export {name}=…"
            )
        return os.environ.get(name) or default or ""

    return _VARIABLE.sub(fill, value)


def _given_secrets(name: str, value: str) -> Iterator[str]:
    """The secrets of a variable or header: the value and its lines, also as servers print them.

    Of "Bearer abc", and of any other scheme in a header such as Authorization, also "abc".
    """
    if _NO_SECRET.fullmatch(value.strip()):
        return
    for text in (value, *value.splitlines()):
        if not _NO_SECRET.fullmatch(text.strip()):
            yield from (text.strip(), " ".join(text.split()))
    scheme, _, token = value.strip().partition(" ")
    if (_NO_CREDENTIAL.fullmatch(scheme) or "auth" in name.lower()) and not _NO_SECRET.fullmatch(token):
        yield token.strip()
    yield from _word_secrets(value)


def _named_secrets(name: str, value: str) -> Iterator[str]:
    """The secrets of a flag, or of a name in an address or JSON: the value, and what follows `Bearer`."""
    if _NO_CREDENTIAL.fullmatch(value) or (_ORDINARY.fullmatch(value) and not _SENSITIVE.search(name)):
        return
    yield value
    scheme, _, token = value.partition(" ")
    if token and _NO_CREDENTIAL.fullmatch(scheme):
        yield token.strip()
    yield from _word_secrets(value)


def _word_secrets(word: str) -> Iterator[str]:
    """The secrets inside a word of a command line, or an address."""
    if "://" in word:
        address = Address.of(word[max(word.rfind("=http"), -1) + 1 :])
        yield from (part for part in (address.login, *address.login.split(":", 1)) if len(part) > 3)
        yield from address.pairs
        for name, value in address.parameters.items():
            yield from _named_secrets(name, value)
        for part in address.query.split("&"):
            yield from _named_secrets(*part.partition("=")[::2])
    elif word.startswith("{"):  # a configuration as JSON
        for pair in _JSON_FIELD.finditer(word):
            yield from _named_secrets(pair["name"], pair["value"])
    elif (named_value := _NAMED.fullmatch(word)) and (
        _SENSITIVE.search(named_value["name"]) or _VARIABLE_NAME.fullmatch(word)
    ):
        yield from _named_secrets(named_value["name"], named_value["value"])
    yield from (key[0] for key in _KEY.finditer(word))


def _shown(command: str, args: Sequence[str]) -> Iterator[str]:
    """The words of a command line: the program, flags, and the package or script that it runs."""
    program = PurePath(command.replace("\\", "/")).name
    yield program if not _KEY.search(program) else DOUBTFUL
    expects_package = is_launcher(program)
    was_doubtful = False
    sensitive = False
    for word in args:
        flag, equals, _ = word.partition("=")
        shown_word = DOUBTFUL
        if _KEY.search(word) or sensitive:
            pass
        elif _FLAG.fullmatch(flag):
            shown_word = f"{flag}={DOUBTFUL}" if equals else word
        elif SCRIPT.fullmatch(PurePath(word).name):
            shown_word = PurePath(word).name
            expects_package = False
        elif expects_package and _PACKAGE.fullmatch(word):
            shown_word = word
            expects_package = word in _SUBCOMMANDS
        sensitive = word.startswith("-") and not equals and bool(_SENSITIVE.search(word))
        if shown_word != DOUBTFUL or not was_doubtful:
            yield shown_word
        was_doubtful = shown_word == DOUBTFUL


# A string, which stays, or a comment: `"a // b"`, "// to its end" and "/* a */"; not "/ a". What is not
# closed ends with the text, so that every character is looked at once.
_COMMENT = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
# A string, or the comma in ", }" and ",]"; not the one in ", 1".
_LAST_COMMA = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|,(?=\s*[}\]])', re.DOTALL)


def parse_json(text: str) -> Any:
    """The value of JSON with comments and last commas, as VS Code reads it; None if it is none.

    >>> parse_json('{"command": "serve", /* the shop */ "args": ["http://host",], } // end')
    {'command': 'serve', 'args': ['http://host']}
    """
    for pattern in (_COMMENT, _LAST_COMMA):
        text = pattern.sub(lambda match: match[0] if match[0].startswith('"') else " ", text)
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def servers_of(value: Any) -> Mapping[str, Any] | None:
    """The servers of a configuration file by name, unchecked; None if it is none.

    VS Code's settings have them under `mcp`. A listing is never taken for a configuration, as its commands
    would be run. An entry with `tools` makes `servers` a listing; under `mcpServers` it selects tools.
    """
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("mcp"), dict) and not value.keys() & {"mcpServers", "servers", "tools", "result"}:
        others = [value_of_key for key, value_of_key in value.items() if key != "mcp"]
        has_listing = any(
            isinstance(value_of_key, dict) and "tools" in value_of_key for value_of_key in others
        )
        return None if has_listing else _servers(value["mcp"])
    return _servers(value)


def _servers(value: dict[str, Any]) -> Mapping[str, Any] | None:
    configured: Any = value.get("mcpServers")
    if isinstance(configured, dict) and "tools" not in value:
        return configured
    servers = value.get("servers")
    entries = list(servers.values()) if isinstance(servers, dict) else []
    has_servers = any(isinstance(entry, dict) and ("command" in entry or "url" in entry) for entry in entries)
    has_tools = any(
        isinstance(entry, list) or (isinstance(entry, dict) and "tools" in entry) for entry in entries
    )
    return servers if servers and has_servers and not has_tools else None
