"""Verb phrases from the descriptions and ids of tools that have no hand-written phrases."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from toolassay.offline.writer.english import base_form, id_words, is_plural, read_list, with_article
from toolassay.tools import Tool

_TOOL = r"(?:tools?|apis?|services?|functions?|systems?|interfaces?|models?|modules?|utility|endpoint)"
_PEOPLE = r"(?:users?|you|people|owners|customers|one|\w+ users)"
# How descriptions start: "This tool allows users to crop an image", "An API for cropping images".
_OPENINGS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"^.*?\b(?:is|are) (?:the|a|an) (?:\w+ )?(?:task|process|technique|method|act) of "
        r"(?P<verb>\w+ing) (?P<rest>.+)",
        rf"^.*?\b{_TOOL}\b (?:allow|let|enable|help)s? {_PEOPLE}? ?(?:to )?(?P<verb>\w+) (?P<rest>.+)",
        rf"^.*?\b{_TOOL}\b (?:can|may|will) (?:be used to )?(?P<verb>\w+) (?P<rest>.+)",
        rf"^.*?\b{_TOOL}\b,? (?:that|which) (?:can |may |will )?(?P<verb>\w+) (?P<rest>.+)",
        rf"^.*?\b{_TOOL}\b,? (?:is )?(?:used |capable |able )?(?:for|of|to) "
        r"(?:be(?:ing)? used (?:for|to) )?(?P<verb>\w+) (?P<rest>.+)",
        rf"^.*?\b{_TOOL}\b,? (?P<verb>\w+ing) (?P<rest>.+)",
        r"^(?:it is |is )?used (?:for|to) (?P<verb>\w+) (?P<rest>.+)",
    )
)
# "allow users to crop an image", but not "crop an image".
_HELPERS = re.compile(
    rf"^(?:allow|let|help|enable)s?(?:ing)? (?:the )?{_PEOPLE}? ?(?:to )?(?P<verb>\w+) (?P<rest>.+)",
    re.IGNORECASE,
)
# The ends of sentences that say no more about the action: ", such as …", " using the …", " with its ID".
_CUTS = re.compile(
    r" based on [\w ]+,.*$|"
    r"(?:,| -| –|;|:|\.(?=\s|$)) .*$|\.$"
    r"|,? (?:such as|including|for example|e\.?g\.?|so that|so as to|when|while|because|"
    r"using|according to|by means of|dependent on|depending on|suitable for|in order to)\b.*$"
    r"|,? (?:based on|using|with|of|by) (?:(?:its|their|the|a|an) )?(?:\w+ )?"
    r"(?:IDs?|ratings?|(?:season|episode) number)\b.*$",
    re.IGNORECASE,
)
_RELATIVE = re.compile(r",? (?:which|that|where|whose|if|based on)\b.*$", re.IGNORECASE)
_MOST_WORDS = 13
_LONGEST = 600
# "specified " of "a specified city", but not "specify a city".
_NOISE = re.compile(
    r"\b(?:given|specified|designated|specific|particular|certain|user-defined|desired)\s+", re.I
)
# "image/photo", of which the first word stays; not "image".
_SLASHES = re.compile(r"(\w+)(?:\s*/\s*\w+)+")
_DETERMINED = re.compile(
    r"^(?:a|an|the|all|any|each|every|some|your|my|their|its|two|one|several|multiple|various|if|about|this|that|as|me|"
    r"for|to|in|on|with|at|by|from|up|whether|how|what|it|user's|users'|new)\b",
    re.IGNORECASE,
)
_AFTER_VERB = re.compile(rf"{_DETERMINED.pattern}|^(?:out|off|over|down|away|back)\b", re.IGNORECASE)
# "and resizes" of "crops and resizes it", but not "and images of".
_AND_VERB = re.compile(r"\b(and|or) (\w+s) (?!(?:of|in|on|for|from|at|with|and|or)\b)(?=\w)")


class VerbPhrase(NamedTuple):
    """A verb in base form and what follows it."""

    verb: str
    rest: str

    def __str__(self) -> str:
        return f"{self.verb} {self.rest}".strip()


@cache
def _words(name: str) -> frozenset[str]:
    return frozenset(read_list("grammar")[name])


def verb_phrases(tool: Tool) -> list[VerbPhrase]:
    """Phrases for what the tool does, the best first: from its description, then from its id."""
    found = []
    sentence = _first_sentence(tool.description)
    words = id_words(tool.id)
    if sentence:
        found.append(_of_sentence(_without_name(sentence, words)))
    found.append(_of_words(words))
    phrases = [VerbPhrase(p.verb, _uncapitalised(p.rest, words)) for p in found if p is not None and p.rest]
    return phrases or [VerbPhrase("take care of", f"the {' '.join(id_words(tool.id)) or 'task'}")]


def _without_name(sentence: str, words: list[str]) -> str:
    """The sentence without its subject, where that is the tool's own name: "Image segmentation divides …"."""
    name = r"[\s_-]+".join(map(re.escape, words))
    match = re.match(rf"{name} (?P<verb>\w+s) (?P<rest>.+)", sentence, re.IGNORECASE)
    return f"{match['verb']} {match['rest']}" if match and base_form(match["verb"]) else sentence


def _uncapitalised(text: str, words: list[str]) -> str:
    """Lower case for words of the tool's own name, which are no proper names: "book a Train ticket"."""
    names = set(words)
    return re.sub(r"\b[A-Z][a-z]+\b", lambda m: m[0].lower() if m[0].lower() in names else m[0], text)


def _first_sentence(description: str) -> str:
    text = re.sub(r"\[[^\]]*\]|\([^)]*\)|[{}]", " ", description[:_LONGEST])
    text = re.sub(r"\b[A-Z]{5,}s?\b", lambda shouted: shouted[0].lower(), text)
    text = re.sub(r"\s+", " ", text).strip().replace(" ,", ",")
    sentence = re.split(r"(?<=[\w)])[.!?](?=\s+[A-Z]|$)", text)[0].strip(" .")
    return re.sub(r"^[\w &-]+ - (?=\w)", "", sentence)


def _of_sentence(sentence: str) -> VerbPhrase | None:
    for pattern in _OPENINGS:
        match = pattern.match(sentence)
        verb = base_form(match["verb"]) if match else None
        if match and verb:
            helped = _HELPERS.match(f"{verb} {match['rest']}")
            inner = base_form(helped["verb"]) if helped else None
            if helped and inner:
                return _tidy(inner, helped["rest"])
            return _tidy(verb, match["rest"])
    helped = _HELPERS.match(sentence) or re.match(r"^users? (?P<verb>\w+) (?P<rest>.+)", sentence, re.I)
    if helped and base_form(helped["verb"]):
        return _tidy(str(base_form(helped["verb"])), helped["rest"])
    sentence = re.sub(r"^for ", "", _SLASHES.sub(r"\1", sentence), flags=re.IGNORECASE)
    words = sentence.split()
    titled = len(words) > 1 and all(word[:1].isupper() for word in words if len(word) > 3)
    if titled:
        words = [word if len(word) > 1 and word.isupper() else word.lower() for word in words]
    is_thing = re.sub(r"\W", "", words[-1].lower()) in _words("generic nouns") if words else True
    first = words[0] if words else ""
    verb = base_form(first) or _guessed_verb(words)
    weak = titled and verb in read_list("verbs")["weak"] and words[-1] in read_list("verbs")["nominals"]
    if (
        verb
        and len(words) > 1
        and not weak
        and not (is_thing and len(words) <= 6)
        and not (first.lower().endswith("ing") and not _DETERMINED.match(" ".join(words[1:])))
    ):
        return _tidy(verb, " ".join(words[1:]))
    cut = re.sub(r"^(?:an?|the|this) ", "", _cut(" ".join(words)), flags=re.IGNORECASE)
    cut = re.sub(rf"(?<=\w) {_TOOL}\b.*$", "", cut, flags=re.IGNORECASE)
    if len(cut.split()) > 7 or re.search(r"\b(?:is|are|models|output)\b", cut):
        return None
    return _of_words([word if word.isupper() else word.lower() for word in cut.split()])


def _guessed_verb(words: list[str]) -> str | None:
    """An unknown verb, recognised by its position: "Geocodes an address"."""
    if len(words) > 2 and re.fullmatch(r"[A-Za-z]{3,}[^su\W]s", words[0]) and _AFTER_VERB.match(words[1]):
        return words[0].lower()[:-1]
    return None


def _of_words(words: list[str]) -> VerbPhrase | None:
    """A verb phrase from the words of a name: "file modify", "order tracking tool"."""
    while len(words) > 1 and words[-1].lower() in _words("generic nouns"):
        words = words[:-1]
    words = [word for word in words if word != "ai"]
    nominals = read_list("verbs")["nominals"]
    for joint in ("or", "and", "for"):
        place = words.index(joint) if joint in words else 0
        if place and words[place - 1].lower() in nominals:
            words = words[:place]
    if not words:
        return None
    if "to" in words[1:-1] and not base_form(words[0]):
        place = words.index("to")
        return VerbPhrase("turn", f"the {' '.join(words[:place])} into {' '.join(words[place + 1 :])}")
    last = words[-1].lower()
    verb = base_form(words[0])
    if verb and verb not in read_list("verbs")["weak"] and not words[0].endswith("ing") and len(words) > 1:
        return _tidy(verb, " ".join(words[1:]))
    if last in nominals and len(words) > 1:
        return _nominal(nominals[last], words)
    if base_form(last) and len(words) > 1 and (not verb or last not in read_list("verbs")["weak"]):
        return _tidy(str(base_form(last)), " ".join(words[:-1]))
    if verb and len(words) > 1:
        return _tidy(verb, " ".join(words[1:]))
    if verb:
        return VerbPhrase(verb, "it")
    if last in nominals:
        return VerbPhrase(nominals[last].split("|")[0], "it")
    return VerbPhrase("get", f"the {' '.join(words)}")


def _nominal(entry: str, words: list[str]) -> VerbPhrase | None:
    keeps = entry.endswith("|")
    words = words if keeps else words[:-1]
    nouns = " ".join(words)
    article = keeps and entry.startswith(
        ("submit", "apply", "make", "send", "set", "arrange", "produce", "give")
    )
    if not keeps and words[-1] in _words("adjectives"):
        return VerbPhrase("do", with_article(f"{nouns} search"))
    if article or entry in _words("taking one"):
        plain = is_plural(nouns) or words[-1] in _words("uncounted")
        rest = nouns if plain else with_article(nouns)
    elif nouns.split()[-1] in ("information", "info"):
        rest = f"the {' '.join(nouns.split()[:-1])} information"
    elif entry.endswith("for") and is_plural(nouns):
        rest = nouns
    else:
        rest = f"the {nouns}"
    verb = entry.rstrip("|")
    return VerbPhrase(verb, re.sub(r"\s+", " ", rest))


def _cut(text: str) -> str:
    text = _CUTS.sub("", text.strip()).strip(" ,.")
    if len(text.split()) > _MOST_WORDS:
        text = _RELATIVE.sub("", text).strip(" ,.")
    return text


def _tidy(verb: str, rest: str) -> VerbPhrase:
    rest = _NOISE.sub("", _SLASHES.sub(r"\1", _cut(rest)))
    rest = _AND_VERB.sub(lambda m: f"{m[1]} {base_form(m[2]) or m[2]} ", rest)
    rest = re.sub(rf" (?:for|to) {re.escape(verb[:5])}\w* .*$", "", rest)
    rest = re.sub(r"\b(?:the )?(?:users?'s?|their)(?= )", "my", rest)
    if verb == "provide":
        verb, rest = "give me", re.sub(r"^(?:the|a|an) ", "", rest)
        return VerbPhrase(verb, rest)
    if verb == "help":
        return VerbPhrase("help with", rest)
    particle = re.match(r"^(out|up|off|down|over|for|back)\b ?", rest)
    if particle and particle[1] != "for":
        verb, rest = f"{verb} {particle[1]}", rest[particle.end() :]
    elif particle and verb in ("book", "query", "cancel", "request"):
        rest = rest[particle.end() :]
    elif particle and particle[1] == "for":
        verb, rest = f"{verb} for", rest[particle.end() :]
    rest = re.sub(r"\b(a|an) (\w+)", lambda m: with_article(m[2]), rest, flags=re.IGNORECASE)
    second = re.match(r"^and (\w+)(?: |$)(.*)$", rest)
    if second and base_form(second[1]):
        rest = f"and {base_form(second[1])} {second[2]}"
    elif rest and not _DETERMINED.match(rest):
        noun = re.split(
            r"\s(?:in|on|of|for|to|from|with|at|by|and|or|between|within|about|into|based|that)\s", rest
        )[0]
        if not is_plural(noun) and noun.split()[-1] not in _words("uncounted"):
            rest = with_article(rest) if verb.split()[0] in _words("creating") else f"the {rest}"
    rest = re.sub(r"\b(the|a|an) (the|a|an|my|your)\b", r"\2", rest)
    return VerbPhrase(verb, re.sub(r"\s+", " ", rest).strip())
