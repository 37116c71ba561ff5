"""Structured output: a JSON schema for the answer, in the form that the server accepts.

Requests use OpenAI's form. If the server refuses a form, the next one is tried:

1. `json_schema`: `{"type": "json_schema", "json_schema": {"name", "strict", "schema"}}` (OpenAI, vLLM, …);
2. `plain_json_schema`: the same without `maxItems`, only where a refusal names that word;
3. `json_object`: `{"type": "json_object", "schema": …}` (llama.cpp);
4. `none`: no `response_format`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Literal, cast, get_args

from toolassay.models.json_answers import CUT_OFF, without_reasoning
from toolassay.models.refused_parameters import named_by, texts_of

PARAMETER = "response_format"
Form = Literal["json_schema", "plain_json_schema", "json_object", "none"]
FORMS: tuple[Form, ...] = get_args(Form)
Structured = Literal["auto"] | bool
"""Whether a JSON schema is sent: "auto" if the server accepts one, True (else the run ends), False."""

_LIMIT = "maxItems"
_MISFITS = 10
"""If the first N answers all violate the schema, the server is reported to ignore it."""
# An error text that mentions structured output: matches "response_format.type: …", not "format of the date".
_NAMES = re.compile(
    r"response[_ ]format|output_config|text\.format|json[_ ]schema|json_object|structured[_ ]output|"
    r"guided_json|grammar",
    re.IGNORECASE,
)
# An error text that refuses something: matches llama.cpp's "Input should be 'text' or 'json_object'" and
# wordings of other servers, not "out of memory".
_REFUSING = re.compile(
    r"support|permitted|allowed|accepted|unrecogni[sz]ed|unknown|unexpected|extra_forbidden|invalid|unavailable"
    r"|should be|must|expected|not (?:available|implemented)|enabled only|pars(?:e|ing)|convert|compil",
    re.IGNORECASE,
)
# The end of a sentence or line: matches the blank in "No top_k. Try", not the dot in "0.5".
_SENTENCE_END = re.compile(r"(?<=[.;!?])\s+|\n+")
# Statuses about the key, payment, time or rate limit; their text is not searched.
_OWN_MEANING = (401, 402, 408, 429)


def json_schema(name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The `response_format` parameter, in OpenAI's form, that constrains an answer to a schema.

    Args:
        name: Name of the schema; letters, digits and `_`.
        schema: Valid in OpenAI's strict mode: an object, every property required, no additional ones.
    """
    form = {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": schema}}
    return {PARAMETER: form}


class SchemaForms:
    """The form in which one model's endpoint accepts a schema, learnt from its errors.

    Args:
        known: The form that an earlier start of the run ended with.
        on_change: Called with each new form.
        required: Whether the run needs a schema. If so, a known form `none` is ignored and all forms are
            tried again.

    Attributes:
        form: The current form.

    >>> forms = SchemaForms()
    >>> sent = forms.fit(json_schema("plan", {"type": "object"}))
    >>> forms.learn("response_format.type: Input should be 'text' or 'json_object'", sent, 500)
    True
    >>> forms.fit(sent)
    {'response_format': {'type': 'json_object', 'schema': {'type': 'object'}}}
    """

    def __init__(
        self,
        known_form: str | None = None,
        on_change: Callable[[Form], None] = lambda form: None,
        *,
        required: bool = False,
    ) -> None:
        usable = known_form in FORMS and not (required and known_form == "none")
        self.form: Form = cast(Form, known_form) if usable else FORMS[0]
        self.required = required
        self._on_change = on_change
        self._answers = self._misfits = 0

    @property
    def missing(self) -> bool:
        """Whether a schema is required and the server accepts none."""
        return self.required and self.form == "none"

    @property
    def facts(self) -> dict[str, Any]:
        """For the manifest: the form, the answers to requests with a schema, and those that violate it."""
        return {"form": self.form, "answers": self._answers, "misfits": self._misfits}

    @property
    def ignored(self) -> bool:
        """Whether exactly the first 10 answers have come and all violate the schema; so it is true once."""
        return self._answers == self._misfits == _MISFITS

    def fit(self, parameters: dict[str, Any]) -> dict[str, Any]:
        """Convert the schema in `parameters` to the current form; without one they are returned unchanged."""
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
        """Learn from an error; whether it refuses the form of the schema, so that a repeat may succeed.

        After the first answer, a 5xx no longer counts as a refusal of the form.

        Args:
            complaint: Body of the error response.
            sent: Parameters of the request.
            status: HTTP status of the error; None if it came inside an answer.
        """
        form = _form_of(sent.get(PARAMETER))
        if form is None or not _is_about_schema(complaint, sent, status):
            return False
        if FORMS.index(self.form) > FORMS.index(form):
            return True
        if (status is None or status >= 500) and self._answers:
            return False
        if form == "json_schema" and _LIMIT in complaint:
            self.form = "plain_json_schema"
        else:
            self.form = "none" if form == "json_object" else "json_object"
        self._on_change(self.form)
        return True

    def answered(self, sent: Mapping[str, Any], text: str, finish_reason: str | None) -> None:
        """Count an answer, if its request had a schema, and whether it fits the schema.

        A truncated answer counts as fitting. Reasoning before the JSON is ignored.
        """
        schema = schema_of(sent.get(PARAMETER))
        if schema is None:
            return
        self._answers += 1
        if (finish_reason or "").lower() not in CUT_OFF:
            from jsonschema import Draft202012Validator  # 60 ms

            try:
                value = json.loads(without_reasoning(text)[0])
                self._misfits += not Draft202012Validator(schema).is_valid(value)
            except (ValueError, RecursionError):
                self._misfits += 1


def schema_of(form: Any) -> Mapping[str, Any] | None:
    """The schema in a `response_format`, in any form; None without one.

    >>> schema_of({"type": "json_object", "schema": {"type": "string"}}), schema_of({"type": "text"})
    ({'type': 'string'}, None)
    """
    if not isinstance(form, Mapping):
        return None
    named = form.get("json_schema")
    schema = named.get("schema") if isinstance(named, Mapping) else form.get("schema")
    return schema if isinstance(schema, Mapping) else None


def _form_of(form: Any) -> Form | None:
    """The form of a `response_format`; None if it has no schema."""
    schema = schema_of(form)
    if schema is None:
        return None
    if form.get("type") == "json_object":
        return "json_object"
    return "json_schema" if _LIMIT in json.dumps(schema) else "plain_json_schema"


def _is_about_schema(complaint: str, sent: Mapping[str, Any], status: int | None) -> bool:
    """Whether an error refuses the schema or its form.

    A 400 or 422 explains what is wrong with the request, so it is enough that one text both mentions the
    schema and refuses something. For other statuses a single sentence must do both. A mention alone may be an
    echo of the request.
    """
    if status in _OWN_MEANING:
        return False
    if named_parameters := named_by(complaint, sent):
        return PARAMETER in named_parameters
    texts = [text for _, text in texts_of(complaint)]
    if status not in (400, 422):
        texts = [sentence for text in texts for sentence in _SENTENCE_END.split(text)]
    return any(_NAMES.search(text) and _REFUSING.search(text) for text in texts)


def _without_limits(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _without_limits(item) for name, item in value.items() if name != _LIMIT}
    return [_without_limits(item) for item in value] if isinstance(value, list | tuple) else value
