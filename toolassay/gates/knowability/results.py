"""Texts that stand where a reference should: "the translated text", "output of step 2", "${image}"."""

from __future__ import annotations

import re

_DOINGS = (
    "extracted|generated|translated|transcribed|simplified|summari[sz]ed|corrected|styli[sz]ed|styled|combined"
    "|merged|stitched|downloaded|resulting|modified|adjusted|processed|edited|enhanced|converted|paraphrased"
    "|rewritten|expanded|cleaned|output|found|stabili[sz]ed|synchroni[sz]ed|colori[sz]ed|previous"
)
_THINGS = (
    "texts?|images?|pictures?|photos?|audio|videos?|files?|clips?|tracks?|summary|urls?|contents?|results?"
    "|keywords|topics|output|article|transcript|transcription|script|voiceover|speed|frame"
)
_RESULT = re.compile(
    r"[$%#]?\{+.{1,200}\}+%?|\$?\[[^\[\]'\",]{1,200}\]|<[a-z][\w .-]{1,80}>"
    rf"|\W{{0,3}}(?:the[ _])?(?:output|results?)(?:[ _](?:{_THINGS}))?[ _-](?:of|from)(?![^\W_]).{{0,200}}"
    rf"|\W{{0,3}}(?:the[ _])?(?:{_DOINGS})[ _-](?:{_THINGS})(?:[ _-]?(?:file|\d+))?\W{{0,3}}",
    re.DOTALL,
)
_VARIABLE = re.compile(rf"(?=\w*_)(?:\w*_)?(?:{_THINGS})(?:_\w*)?")


def is_result(text: str) -> bool:
    """Whether a plain text stands for the result of another step rather than for itself.

    >>> is_result("output_of_text-to-speech"), is_result("the translated text"), is_result("a text")
    (True, True, False)
    """
    return _RESULT.fullmatch(text) is not None


def is_variable(text: str) -> bool:
    """Whether a plain text looks like the name that a program gives to what a step made.

    >>> is_variable("stitched_image"), is_variable("stitched image")
    (True, False)
    """
    return _VARIABLE.fullmatch(text) is not None
