"""Structured output: a JSON schema for the answer, in the form that the server takes.

Requests carry OpenAI's form. A server that refuses it gets the next one:

1. `json_schema`: `{"type": "json_schema", "json_schema": {"name", "strict", "schema"}}` (OpenAI, vLLM, …);
2. `plain_json_schema`: the same without `maxItems`, only where a refusal names that word;
3. `json_object`: `{"type": "json_object", "schema": …}` (llama.cpp);
4. `none`: no `response_format`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, cast, get_args

from toolassay.answers import CUT_OFF, without_reasoning
from toolassay.models.refused_parameters import fails, refused_parameter, sentences, texts_of

PARAMETER = "response_format"
Form = Literal["json_schema", "plain_json_schema", "json_object", "none"]
FORMS: tuple[Form, ...] = get_args(Form)
Structured = Literal["auto"] | bool
"""Whether answers are held to a schema: "auto" where the server takes one, True (or the run ends), False."""

_LIMIT = "maxItems"
_MISFITS = 10  # answers in a row from the first on that show that a server ignores the schema
_NAMES = re.compile(
    r"response[_ ]format|json[_ ]schema|json_object|structured[_ ]output|guided_json|grammar", re.IGNORECASE
)
# llama.cpp: "Input should be 'text' or 'json_object'"; others as they came up. Not "out of memory".
_REFUSING = re.compile(
    r"support|permitted|allowed|accepted|unrecogni[sz]ed|unknown|unexpected|extra_forbidden|invalid|unavailable"
    r"|should be|must|expected|not (?:available|implemented)|enabled only|pars(?:e|ing)|convert|compil",
    re.IGNORECASE,
)
# These say what they mean, whatever else their text mentions: key, payment, time, number of requests.
_OWN_MEANING = (401, 402, 408, 429)


def json_schema(name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a request whose answer has to fit a schema.

    Args:
        name: of the schema; letters, digits and `_`.
        schema: as OpenAI's strict mode has it: an object, every property required, no others.
    """
    form = {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": schema}}
    return {PARAMETER: form}


class SchemaForms:
    """The form in which one model's endpoint takes a schema, learnt from its refusals.

    Args:
        known: the form an earlier start ended with.
        told: called with each new form.
        required: whether an answer without a schema is of no use. A known `none` is then ignored: all forms
            are tried again.

    >>> forms = SchemaForms()
    >>> sent = forms.fit(json_schema("plan", {"type": "object"}))
    >>> forms.learn("response_format.type: Input should be 'text' or 'json_object'", sent, 500)
    True
    >>> forms.fit(sent)
    {'response_format': {'type': 'json_object', 'schema': {'type': 'object'}}}
    """

    def __init__(
        self,
        known: str | None = None,
        told: Callable[[Form], None] = lambda form: None,
        *,
        required: bool = False,
    ) -> None:
        usable = known in FORMS and not (required and known == "none")
        self.form: Form = cast(Form, known) if usable else FORMS[0]
        self.required = required
        self._told = told
        self._answers = self._misfits = 0

    @property
    def missing(self) -> bool:
        """Whether a schema is required and the server takes none."""
        return self.required and self.form == "none"

    @property
    def facts(self) -> dict[str, Any]:
        """For the manifest: the form, answers to requests with a schema, and those that do not fit it."""
        return {"form": self.form, "answers": self._answers, "misfits": self._misfits}

    @property
    def ignored(self) -> bool:
        """Whether the first answers say that the server ignores the schema; true once."""
        return self._answers == self._misfits == _MISFITS

    def fit(self, parameters: dict[str, Any]) -> dict[str, Any]:
        """Parameters with the schema in the form that the endpoint takes."""
        form = parameters.get(PARAMETER, {})
        schema = schema_of(form)
        if schema is None or self.form == "json_schema":
            return parameters
        others = {name: value for name, value in parameters.items() if name != PARAMETER}
        if self.form == "none":
            return others
        if self.form == "json_object" or form["type"] == "json_object":
            return {**others, PARAMETER: {"type": "json_object", "schema": schema}}
        return {**others, PARAMETER: _without_limits(form)}

    def learn(self, complaint: str, sent: Mapping[str, Any], status: int | None = 400) -> bool:
        """Whether a complaint is about the form of a schema, so that asking again may help.

        Once an answer came, a server that fails (5xx) is not taken to refuse the form.

        Args:
            complaint: the body of the endpoint's answer.
            sent: the parameters of the request it is about.
            status: of that answer; None where it had none of its own.
        """
        form = _form_of(sent.get(PARAMETER))
        if form is None or not _is_about_schema(complaint, sent, status):
            return False
        if FORMS.index(self.form) > FORMS.index(form):
            return True
        if fails(status) and self._answers:
            return False
        if form == "json_schema" and _LIMIT in complaint:
            self.form = "plain_json_schema"
        else:
            self.form = "none" if form == "json_object" else "json_object"
        self._told(self.form)
        return True

    def answered(self, sent: Mapping[str, Any], text: str, finish_reason: str | None) -> None:
        """Count an answer to a request with a schema. One that was cut off fits; thoughts are passed over."""
        schema = schema_of(sent.get(PARAMETER))
        if schema is None:
            return
        self._answers += 1
        if (finish_reason or "").lower() not in CUT_OFF:
            try:
                self._misfits += not fits(json.loads(without_reasoning(text)[0]), schema)
            except (ValueError, RecursionError):
                self._misfits += 1


def schema_of(form: Any) -> Mapping[str, Any] | None:
    """The schema in a `response_format`; None where it has none.

    >>> schema_of({"type": "json_object", "schema": {"type": "string"}}), schema_of({"type": "text"})
    ({'type': 'string'}, None)
    """
    if not isinstance(form, Mapping):
        return None
    named = form.get("json_schema")
    schema = named.get("schema") if isinstance(named, Mapping) else form.get("schema")
    return schema if isinstance(schema, Mapping) else None


def fits(value: Any, schema: Mapping[str, Any]) -> bool:
    """Whether a value fits a schema of the kind that is sent: types, enums, objects, lists, `anyOf`.

    >>> fits({"a": ["x"]}, {"type": "object", "properties": {"a": {"type": "array"}}, "required": ["a"]})
    True
    """
    if "anyOf" in schema:
        return any(fits(value, option) for option in schema["anyOf"])
    if "enum" in schema and value not in schema["enum"]:
        return False
    kind = schema.get("type")
    if kind == "string":
        return isinstance(value, str)
    if kind == "array":
        items = schema.get("items", {})
        return (
            isinstance(value, list)
            and len(value) <= schema.get(_LIMIT, len(value))
            and all(fits(item, items) for item in value)
        )
    if kind != "object":
        return True
    properties = schema.get("properties", {})
    return (
        isinstance(value, dict)
        and value.keys() >= set(schema.get("required", ()))
        and (schema.get("additionalProperties", True) is not False or value.keys() <= properties.keys())
        and all(fits(item, properties.get(name, {})) for name, item in value.items())
    )


def _form_of(form: Any) -> Form | None:
    """The form of a `response_format` that was sent; None where it has no schema."""
    schema = schema_of(form)
    if schema is None:
        return None
    if form.get("type") == "json_object":
        return "json_object"
    return "json_schema" if _LIMIT in json.dumps(schema) else "plain_json_schema"


def _is_about_schema(complaint: str, sent: Mapping[str, Any], status: int | None) -> bool:
    """Whether a complaint refuses the schema, or the form it is in.

    A 400 or 422 says what is wrong with a request: one text must name the schema and refuse something. Any
    other status must do so in one sentence. Naming alone may be an echo of the request.
    """
    if status in _OWN_MEANING:
        return False
    refused = refused_parameter(complaint, sent, status)
    if refused is not None:
        return refused[0] == PARAMETER
    texts: Iterable[str] = [text for _, text in texts_of(complaint)]
    if status not in (400, 422):
        texts = sentences(texts)
    return any(_NAMES.search(text) and _REFUSING.search(text) for text in texts)


def _without_limits(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _without_limits(item) for name, item in value.items() if name != _LIMIT}
    return [_without_limits(item) for item in value] if isinstance(value, list | tuple) else value
