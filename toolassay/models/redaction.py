"""Redaction of secrets in texts and command lines; `versions` of packages for manifests.

`Address.shown` redacts an address, `address.without_addresses` the addresses inside a text.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from urllib.parse import unquote

from toolassay.models.address import HIDDEN, Address, without_addresses
from toolassay.version import __version__

_KEY_FLAGS = ("--api_key", "--api-key")
_ADDRESS_FLAGS = ("--api_base", "--api-base", "--api_addr", "--api-addr", "agent.api_base")
# The name of a key of a provider of models: matches "GEMINI_API_KEY", "AWS_SECRET_ACCESS_KEY", "HF_TOKEN" and
# "WATSONX_APIKEY"; not "SEARCH_KEY" and "GOOGLE_CLOUD_PROJECT".
_MODEL_KEY = re.compile(
    r"(?:AI21|AI_GATEWAY|ALEPH_ALPHA|ALIBABA|ANTHROPIC|ANYSCALE|ARCEE|ARK|AVIAN|AWS|AZURE|BAICHUAN"
    r"|BASETEN|BEDROCK|CEREBRAS|CHUTES|CLAUDE|CLOUDFLARE|CO|CODESTRAL|COHERE|COPILOT|CURSOR|DASHSCOPE"
    r"|DATABRICKS|DEEPINFRA|DEEPSEEK|DOUBAO|ELEVENLABS|FAL|FEATHERLESS|FIREWORKS|FRIENDLI|GEMINI"
    r"|GIGACHAT|GITHUB_(?:COPILOT|MODELS)|GOOGLE|GRADIENT|GROK|GROQ|HF|HUGGING_?FACE(?:HUB)?|HUNYUAN"
    r"|HYPERBOLIC|INCEPTION|JINA|KIMI|LAMBDA|LEPTON|LITELLM|LLAMA|LM_?STUDIO|MARITACA|META|MINIMAX"
    r"|MISTRAL|MODAL|MODELSCOPE|MOONSHOT|NEBIUS|NGC|NLP_?CLOUD|NOVITA|NSCALE|NVIDIA|OCTOAI|OLLAMA"
    r"|OPENAI|OPEN_?ROUTER|OVH|PALM|PERPLEXITY(?:AI)?|PORTKEY|PPLX|PREDIBASE|QIANFAN|QWEN|REKA"
    r"|REPLICATE|REQUESTY|RUNPOD|SAMBANOVA|SCALEWAY|SCW|SILICONFLOW|STABILITY|STEPFUN|TENCENT"
    r"|TOGETHER(?:_?AI)?|UPSTAGE|VENICE|VERTEX(?:_?AI)?|VLLM|VOLC(?:ENGINE)?|VOYAGE|WATSONX|WRITER|WX"
    r"|X_?AI|YI|Z_?AI|ZHIPU(?:AI)?)(?:_\w+)?_(?:API)?(?:KEY|TOKEN|SECRET)S?(?:_\w+)?"
)
# What keys of providers begin with; not "of the agent".
_MODEL_KEY_VALUE = re.compile(r"(?:sk-|gsk_|AIza|hf_|xai-|r8_|pplx-|nvapi-|csk-|AKIA)[\w-]{8}")
_GARBLING = 5
"""A secret of up to this many characters is redacted only as a separate word, not inside other words."""


def versions(*packages: str) -> dict[str, str]:
    """The versions of this package, of Python and of installed `packages`, and the platform.

    >>> sorted(versions("numpy", "no-such-package"))
    ['numpy', 'platform', 'python', 'toolassay']
    """
    from importlib.metadata import PackageNotFoundError, version

    installed = {
        "toolassay": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
    }
    for package in packages:
        try:
            installed[package] = version(package)
        except PackageNotFoundError:
            continue
    return installed


def is_model_key(variable: str, value: str) -> bool:
    """Whether a variable is the key of a provider of models, by its name or the form of its value."""
    return bool(_MODEL_KEY.fullmatch(variable.upper()) or _MODEL_KEY_VALUE.match(value))


def without(secrets: Iterable[str], text: str) -> str:
    """Replace every secret in a text by `***`, whether or not its characters are percent-encoded.

    HTTP libraries quote the parts of a URL again before they send them, and servers repeat them in errors.

    >>> without(["sk-1234"], "Incorrect API key: sk-1234")
    'Incorrect API key: ***'
    >>> without(["ab%2Fc+d"], "no /ab/c%2bd here")
    'no /*** here'
    """
    for secret in secrets:
        text = text.replace(secret, "***")
        if "%" in text or "+" in text:
            text = _in_a_url(secret).sub("***", text)
    return text


@lru_cache(maxsize=256)
def _in_a_url(secret: str) -> re.Pattern[str]:
    """A pattern for a secret, any of whose characters may be percent-encoded; a space may be a plus sign.

    For "ab c" it matches "ab+c" and "%61b%20c", not "ab-c".
    """
    return re.compile("".join(map(_quoted_or_not, unquote(secret, errors="surrogateescape"))))


def _quoted_or_not(character: str) -> str:
    errors = "surrogateescape" if "\udc80" <= character <= "\udcff" else "replace"
    code = "".join(f"%{byte:02x}" for byte in character.encode(errors=errors))
    blank = r"|\+" if character == " " else ""
    return f"(?:{re.escape(character)}|(?i:{code}){blank})"


def without_secrets(words: Iterable[str], secrets: Collection[str]) -> Iterator[str]:
    """Redact a command line: API keys, the secret parts of addresses, and all of `secrets`.

    >>> list(without_secrets(["infer", "--api_key", "sk-1", "--api_base=http://me:pw@host/v1?key=2"], []))
    ['infer', '--api_key', '***', '--api_base=http://***@host/v1?key=***']
    >>> list(without_secrets(["--set", "agent.api_base=http://me:pw@host/v1"], []))
    ['--set', 'agent.api_base=http://***@host/v1']
    """
    word_before = ""
    for word in words:
        flag, equals, value = word.partition("=")
        if word_before in _KEY_FLAGS or word in secrets:
            yield HIDDEN
        elif flag in _KEY_FLAGS and equals:
            yield f"{flag}={HIDDEN}"
        elif word_before in _ADDRESS_FLAGS:
            yield Address.of(word).shown
        elif flag in _ADDRESS_FLAGS and equals:
            yield f"{flag}={Address.of(value).shown}"
        else:
            for secret in secrets:
                if len(secret) > _GARBLING or word.endswith(f"={secret}"):
                    word = word.replace(secret, HIDDEN)
            yield _without_address(word)
        word_before = word


def _without_address(word: str) -> str:
    """Redact the addresses in a word of a command line.

    A word that is an address, or `NAME=ADDRESS`, is parsed as a whole: its password may contain blanks and
    quotes, at which `without_addresses` would end the address.
    """
    start, _, remainder = word.partition("://")
    name, equals, scheme = start.rpartition("=")
    if remainder and scheme.isalnum() and " " not in name:
        return f"{name}{equals}{Address.of(f'{scheme}://{remainder}').shown}"
    return without_addresses(word)
