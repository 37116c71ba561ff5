"""What a tool does, as a verb phrase, from its description, title and id.

Descriptions come as imperatives, in the third person, as noun phrases, behind openers ("This endpoint allows
you
to …"), in several sentences and in Markdown. Each sentence is tried in turn, then the id; where none gives a
phrase that is known to be sound, the words of the tool name the task: "take care of the harbour ledger".

No tagger that installs offline reads imperatives well ("Book a room" is a noun to it). A lexicon of word
forms
(lemminflect) says which words can be verbs, and the word that follows decides.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from toolassay.english.plurals import is_plural
from toolassay.english.verb_forms import base_of, can_be, gerund, is_common_verb, participle
from toolassay.english.vocabulary import items, pairs, words
from toolassay.offline.own_tools.description_text import sentences_of
from toolassay.offline.writer.english import id_words, with_article
from toolassay.tools import Tool

_DETERMINERS = words("determiners") | words("numbers")
_PREPOSITIONS = words("prepositions") | words("further prepositions")
_PARTICLES = words("particles")
_IN_ON_VERBS = words("verbs with in and on")
_MAKING = words("making verbs")
_UNCOUNTED = words("uncounted")
_NOMINALS = pairs("nominals")
_STATES = words("things that one gets")
_NOUNISH = words("nouns that are verbs")
_CONTAINERS = words("containers")
_ASKING = frozenset({"check", "determine", "verify", "see", "find", "test", "decide", "tell"})
_ACRONYMS = words("acronyms")
_STATIVE = words("verbs of state")
_AS_GET = words("verbs of giving")
_ONE_WORD = pairs("phrasal verbs in one word")
_MOST_WORDS = 12
_FEWEST_NEUTRAL, _MOST_NEUTRAL = 1, 5

_NOUN = rf"(?:{'|'.join(sorted(words('names of tools')))})"
_WHO = (
    r"(?:you|the users?|users?|clients?|callers?|one|people|us|developers?|applications?|apps?|customers?"
    r"|an? \w+|the \w+)"
)
_LETS = r"(?:allows?|lets?|enables?|helps?|permits?)"
_THIS = rf"(?:(?:this|the|an?|it|our|your) )?(?:[\w-]+ ){{0,2}}?{_NOUN}"
_IS_FOR = r"(?:(?:is|are|can be|may be|should be) )?(?:used|useful|meant|intended|designed|able) (?:to|for)"
# What comes before the main verb: "This endpoint allows you to ", "Used to "; not "Use the ".
_OPENERS = re.compile(
    "|".join(
        (
            rf"^{_THIS} (?:that |which )?(?:{_LETS} {_WHO}(?: to)?|{_IS_FOR}|will|can|may|to|for) ",
            rf"^(?:this|it) (?:{_IS_FOR}|will|can|{_LETS} {_WHO}(?: to)?) ",
            rf"^(?:this|the) {_NOUN} (?=\w+s\b)",
            rf"^{_LETS} {_WHO}(?: to)? (?=\w)",
            r"^(?:allows?|enables?) (?:to )?(?=\w+ )",
            rf"^(?:use|call|invoke) (?:this|it)(?: {_NOUN})? (?:to|for|when you (?:want|need) to) ",
            rf"^use (?:this|the) (?:[\w-]+ ){{0,3}}?{_NOUN} (?:call )?to ",
            r"^(?:useful|used|responsible) (?:to|for) ",
            r"^you can (?:use this \w+ to )?|^(?:in order )?to (?=\w)|^for (?=\w+ing\b)",
            r"^(?:please|simply|just) ",
        )
    ),
    re.IGNORECASE,
)
# "Recursively search": an adverb before the verb; not "Reply to".
_ADVERB = re.compile(r"^(?:[A-Za-z]{3,}ly|bulk|batch|instantly|also) (?=[a-z])", re.IGNORECASE)
# "Create, update or delete a user": verbs that share an object with the first; not "and the owner".
_MORE_VERBS = re.compile(r"^(?:\s*(?:,|and/or|and|or|/|&))+\s*(\w+)(?=[\s,/]|$)", re.IGNORECASE)
_KEYS = (
    r"(?:ids?|keys?|names?|numbers?|codes?|slugs?|uuids?|handles?|e?-?mails?|titles?|types?|status(?:es)?|dates?"
    r"|categor(?:y|ies)|tags?|filters?|criteria|parameters?|values?|path|url|query)"
)
_STATED = r"(?:given|specified|following|supplied|provided|requested|matching)"
# Where the action ends and talk about the API begins: ", such as …", "using its ID", "in JSON format".
_CUTS = re.compile(
    r"\s*(?:[;:!?]|\.(?=\s|$)|\s[-–—]+\s|\s\|\s).*$|,?\s(?:"
    + "|".join(
        (
            *items("words that end an action"),
            r"given(?: (?:the|an?|its|their))?",
            r"(?:from|with|by|and|for|in) (?:an? |the )?optional",
            r"and (?:then )?(?:returns?|responds?|outputs?|gets?|receives?)",
            r"and \w+s (?:(?:out|up|off|down|in|back) )?(?:the|an?|its|it|them|all|your|any)",
            rf"by (?:its |their |the |an? )?(?:\w+ ){{0,3}}{_KEYS}(?! of)",
            r"by (?:its|their|specifying|providing|passing|supplying|giving|setting)",
            r"(?:in|as|to) (?:the )?(?:json|xml|csv|html|yaml|rdf)(?: format)?",
            r"(?:from|in|on|via|to|with|through) (?:the |an? )?(?:\w+ )?"
            r"(?:api|endpoint|database|backend|server|request body)",
            rf"with (?:the |an? )?(?:{_STATED}|its|their)",
            r"with (?:the |an? )?(?:\w+ )?(?:ids?|keys?|uuids?|slugs?)",
            rf"(?:under|of|for|from|to|in|on|at) (?:the )?{_STATED} (?:\w+ )?{_KEYS}",
        )
    )
    + r")\b.*$|,(?! (?:and|or) |(?: [\w'-]+){1,3}(?:,(?: [\w'-]+){1,3}){0,4},? (?:and|or) ).*$",
    re.IGNORECASE | re.DOTALL,
)
_NOW = r"(?:(?:currently|current|authenticated|authorized|logged[- ]in|calling|requesting|signed[- ]in) )+"
# The caller: "the authenticated user's" and "your" are "my".
_MINE = re.compile(
    rf"\b(?:(?:the |an? )?{_NOW}(?:user|account|customer|member)(?:'s|’s)|your"
    r"|(?<!\ba )(?:the )?users?['’]s?)(?= )",
    re.IGNORECASE,
)
# "for the authenticated user" says nothing that a request would.
_CALLER = re.compile(
    rf"\s(?:for|of|by|from|to|as) (?:the |an? )?{_NOW}"
    r"(?:user|account|caller|client|customer|member)(?: or \w+)?\b",
    re.IGNORECASE,
)
# Words that say only that an argument decides: "a specified city"; not "given a city".
_EMPTY = re.compile(
    r"\b(?:given|specified|provided|supplied|designated|requested|particular|certain|desired|existing|specific|"
    r"single|individual|paginated|simple|basic) (?!(?:the|an?|its|their|by|to|in|as|for|of|with|on) )(?=\w)",
    re.IGNORECASE,
)
# What no sentence has: identifiers, paths, markup, braces; not "e-mail" or "A/B".
_CODE = re.compile(r"\w+_\w+|\b[a-z]+[A-Z]\w*|[{}<>()\[\]`|*#=\\^~$@%]|https?:|\w/\w+/|^/|\s/")
# A clause within the phrase, or the tool itself: "this method will create"; not "the will of a client".
_FINITE = re.compile(
    rf"\b(?:is|are|was|were|will be|has|have|must|cannot|this {_NOUN})\b|\bwill \w+ (?:a|the)\b", re.I
)
_WORD = re.compile(r"[A-Za-z0-9][\w'’.&+-]*")
_ENDS = _PREPOSITIONS | {"and", "or"}


@dataclass(frozen=True, slots=True)
class Purpose:
    """What a tool does, as an imperative.

    >>> Purpose("check", "out", "a guest", "at the end of the stay").imperative
    'check out a guest at the end of the stay'

    Attributes:
        verb: In base form: "check", "list".
        particle: Of a phrasal verb: "out"; empty if there is none.
        object: A noun phrase with its determiner: "a guest", "all open invoices"; empty if there is none.
        rest: What follows the object and belongs to the action: "for movies"; usually empty.
        is_certain: Whether the phrase is known to be sound. If not, it is a plain neutral form that is:
            "take care of the harbour ledger". It does not say "use the … tool": that would name the tool.
    """

    verb: str
    particle: str = ""
    object: str = ""
    rest: str = ""
    is_certain: bool = True

    @property
    def imperative(self) -> str:
        """The verb phrase, without a full stop."""
        return " ".join(part for part in (self.verb, self.particle, self.object, self.rest) if part)

    @property
    def head(self) -> str:
        """The head noun of the object, else of what follows: "details" for "the details of a movie"."""
        return _head(self.object or self.rest)

    @property
    def result(self) -> str:
        """What the tool gives, as a noun phrase without an article; empty if unclear."""
        phrase = self.object or self.rest
        outer, of, inner = phrase.partition(" of ")
        if of and _head(outer).lower() in _CONTAINERS:
            phrase = inner
        return _head(phrase) if self.is_certain else ""

    @property
    def gerund(self) -> str:
        """The verb phrase in -ing: "checking out a guest"."""
        return " ".join(part for part in (gerund(self.verb), self.particle, self.object, self.rest) if part)

    @property
    def participle(self) -> str:
        """The past participle of the verb: "checked"."""
        return participle(self.verb)


def _head(phrase: str) -> str:
    """The head noun of a noun phrase, or of one behind a preposition."""
    row = phrase.split()
    if row and row[0].lower() in _PREPOSITIONS:
        row = row[1:]
    end = next(
        (n for n, word in enumerate(row) if n and word.lower() in _PREPOSITIONS | {"and", "or"}), len(row)
    )
    return row[end - 1].strip(",'\"") if row[:end] else ""


@lru_cache(maxsize=65_536)
def purpose_of(tool: Tool) -> Purpose:
    """What the tool does. Never raises, whatever the description holds.

    >>> purpose_of(Tool("checkout", "Checks out a guest. Needs the room.")).imperative
    'check out a guest'
    >>> purpose_of(Tool("guestProfileLookup", "See the handbook")).imperative
    'look up the guest profile'
    """
    common = _common_words(tool)
    reads = tool.source.get("method") == "GET" or tool.annotations.get("readOnlyHint") is True
    for sentence in sentences_of(tool.description, common):
        found = _of_sentence(sentence, reads=reads)
        if found is not None:
            return found
    names = [_name_words(tool.id)]
    if _is_thing(names[0], tool.description):
        return _neutral(names[0])
    title = tool.raw.get("title")
    if isinstance(title, str):
        names.insert(0, _name_words(title[:80]))
    for name in names:
        found = _of_name(name)
        if found is not None:
            return found
    return _neutral(names[-1])


# "A telephone call to the room": a thing rather than an action.
_THING = re.compile(
    r"^(?:an?|the) (?P<phrase>[A-Za-z][\w' -]{0,60}?)(?: (?:to|for|of|from|in|at|on|with|that)\b|[.,:;]|$)",
    re.I,
)


def _is_thing(row: Sequence[str], description: str) -> bool:
    """Whether a description says that the name is of a thing: "wake-up call" is "a call to the room"."""
    match = _THING.match(description)
    return match is not None and len(row) > 1 and match["phrase"].split()[-1].lower() == row[-1].lower()


def unclear(tool: Tool) -> str:
    """Why no request can say what the tool does; empty if one can.

    >>> unclear(Tool("rec", "")), unclear(Tool("harbourLedger", ""))
    ("its description has no sentence that says what it does, and 'rec' is no noun", '')
    """
    purpose = purpose_of(tool)
    if purpose.is_certain or purpose.object == "this task":
        return ""
    name = purpose.object.removeprefix("the ")
    row = name.lower().split()
    is_phrase = (
        len(row) <= _MOST_OF_A_NAME
        and "NOUN" in can_be(row[-1])
        and not (len(row) > 1 and is_common_verb(row[0]))
        and all(can_be(word) & {"NOUN", "ADJ"} for word in row)
    )
    if is_phrase:
        return ""
    return f"its description has no sentence that says what it does, and '{name}' is no noun"


_MOST_OF_A_NAME = 4  # words of a compound that one can still read


def _common_words(tool: Tool) -> frozenset[str]:
    """Words in the names of a tool and its parameters: "Playlist" is no name beside a `playlist_id`."""
    names = " ".join([tool.id, *(parameter.name for parameter in tool.parameters[:20])])
    return frozenset(word for word in id_words(names[:1_000]) if word.islower() and len(word) > 3)


def _of_sentence(sentence: str, *, reads: bool) -> Purpose | None:
    """The purpose in a sentence; None if its main verb is in doubt."""
    text = sentence
    for _ in range(3):
        shorter = _ADVERB.sub("", _OPENERS.sub("", text, count=1), count=1)
        if shorter == text:
            break
        text = shorter
    row = text.split()
    if not row:
        return None
    if _is_titled(row):
        row = [_lowered(word) for word in row]
    verb = _main_verb(row)
    if verb is None:
        return _of_noun_phrase(row, reads=reads)
    comma = "," if row[0].endswith(",") else ""
    return _built(verb, f"{comma} {' '.join(row[1:])}".strip())


def _is_titled(row: Sequence[str]) -> bool:
    long = [word for word in row if len(word) > 3 and word.isalpha()]
    return len(long) > 1 and all(word[0].isupper() for word in long)


def _lowered(word: str) -> str:
    """A word of a title in lower case, unless it is an acronym or a name; known acronyms in capitals."""
    if word.lower() in _ACRONYMS:
        return word.upper()
    is_word = word[:1].isupper() and (word[1:].islower() or len(word) == 1)
    return (
        word.lower()
        if is_word and (can_be(word.lower()) or word.lower() in _DETERMINERS | _PREPOSITIONS)
        else word
    )


def _main_verb(row: Sequence[str]) -> str | None:
    """The base form of the first word, if it is the main verb of a sentence without a subject."""
    first = re.sub(r"[^\w-]", "", row[0])
    if not first.isalpha() or (first.isupper() and len(first) > 1):
        return None
    word = first.lower()
    base, form = base_of(word)
    if word in _ONE_WORD:
        return _ONE_WORD[word]
    if base is None or base in _STATIVE:
        return None
    following = row[1].lower().strip(",") if len(row) > 1 else ""
    if row[0].endswith(",") or following in ("and", "or"):  # "Create, update and delete"
        more = [part.lower().strip(",") for part in row[1:5]]
        return base if any(base_of(part)[0] and is_common_verb(part) for part in more) else None
    opens = (
        following in _DETERMINERS
        or following in _PARTICLES
        or following in ("for", "whether", "if", "to", "how", "what")
    )
    if form == "gerund":
        return base if opens or (is_common_verb(base)) else None
    is_noun = "NOUN" in can_be(word)
    if not is_noun or opens:
        return base
    if not is_common_verb(base):
        return None
    if form == "third":  # "Lists repositories", but not "Lists of repositories"
        return base if following not in _PREPOSITIONS | {""} else None
    if base in _NOUNISH:  # "Order status", but "Order dishes" and "Book the room"
        last = row[-1].lower().strip(".")
        return base if len(row) == 2 and is_plural(last) and last not in _STATES else None
    return base if following and following not in ("of", "is", "are", "by", "as") else None


def _built(verb: str, rest: str) -> Purpose | None:
    """The purpose with a verb and the words behind it, cleaned; None if they make no sound phrase."""
    if verb in _AS_GET:
        verb = "get"
    verb, _, particle = verb.partition(" ")
    trying = re.match(r"to (\w+) ", rest) if verb in ("try", "attempt", "help") else None
    if trying and (inner := base_of(trying[1].lower())[0]):
        verb, rest = inner, rest[trying.end() :]
    while (match := _MORE_VERBS.match(rest)) and base_of(match[1].lower())[0]:
        rest = rest[match.end() :].strip()
    rest = _EMPTY.sub("", re.sub(r"\([^)]*\)", " ", rest))
    is_question = verb in _ASKING and re.match(r"(?:if|whether|how|what|which) ", rest)
    cut = re.sub(r"[;:!?].*$", "", rest) if is_question else _without_more(_CUTS.sub("", f" {rest}"))
    rest = re.sub(r"(\w+)\s*/\s*\w+", r"\1", _CALLER.sub("", _MINE.sub("my", cut)))
    rest = " ".join(rest.split()).strip(" .,-'\")(")
    first, _, others = rest.partition(" ")
    if (
        not particle
        and first.lower() in _PARTICLES
        and (first.lower() not in ("in", "on") or verb in _IN_ON_VERBS)
    ):
        particle, rest = first.lower(), others
    behind = _PARTICLE_BEHIND.match(rest) if not particle and verb in _IN_ON_VERBS else None
    if behind is not None:
        particle, rest = behind["particle"].lower(), behind["object"]
    rest = _shortened(rest)
    if not rest:
        return Purpose(verb, particle) if particle else None
    row = rest.split()
    if (
        _CODE.search(rest)
        or (_FINITE.search(rest) and not is_question)
        or not all(_WORD.fullmatch(word.strip(",'\"’()")) for word in row)
    ):
        return None
    if any(one.lower() == other.lower() for one, other in pairwise(row)):
        return None
    row = [_lowered(word) for word in row]
    if is_question:
        return Purpose(verb, "", "", " ".join(row)) if len(row) > 3 else None
    if row[0].lower() in ("me", "us", "you", "them", "they", "it", "its", "their", "itself", "not", "be"):
        return None
    if row[0].lower() in _PREPOSITIONS:
        inner = _with_determiner(row[1:], verb)
        return None if inner is None else Purpose(verb, particle, "", f"{row[0].lower()} {_agreeing(inner)}")
    phrase = _with_determiner(row, verb)
    if phrase is None:
        return None
    if verb == "switch" and not particle:  # "switches branches"
        return Purpose(verb, "", "", f"to {_agreeing(phrase)}")
    return Purpose(verb, particle, *_split(_agreeing(phrase)))


# "Check a guest in and cut the keys", "Sign the user out"; not "take a show off the grid".
_PARTICLE_BEHIND = re.compile(
    r"(?P<object>(?:(?:the|an?|my) )?[\w-]+(?: [\w-]+)?) (?P<particle>in|out|on|off|up|down)(?: and .*)?$",
    re.I,
)
# "or overwrite the file", "or completely overwrite a file"; not "or a file".
_SECOND_ACTION = re.compile(
    r"\s(?:or|and) (?:\w+ly )?(\w+) (?:the|an?|its|it|them|all|any|existing|new)\b.*$"
)


def _without_more(rest: str) -> str:
    """The first of two actions: "create a file or overwrite an old one" creates a file."""
    second = _SECOND_ACTION.search(rest)
    is_verb = second is not None and base_of(second[1].lower())[1] in ("base", "third")
    return rest[: second.start()] if second and is_verb else rest


def _agreeing(phrase: str) -> str:
    """The phrase with "a" and "an" as the next word wants them, and "the" before plurals."""
    row = phrase.split()
    for number, word in enumerate(row[:-1]):
        if word.lower() in ("a", "an"):
            end = next((n for n in range(number + 2, len(row)) if row[n].lower() in _ENDS), len(row))
            head = row[end - 1].strip(",")
            known = is_plural(head) and "VERB" not in can_be(head.lower())
            row[number] = "the" if known else with_article(row[number + 1]).split()[0]
    return " ".join(row)


def _shortened(rest: str) -> str:
    """At most a dozen words, ended before a preposition."""
    row = rest.split()
    while len(row) > _MOST_WORDS:
        ends = [
            n
            for n, word in enumerate(row[:_MOST_WORDS])
            if word.lower() in _PREPOSITIONS | {"and", "or"} and n > 1
        ]
        row = row[: ends[-1]] if ends else []
    while row and (row[-1].lower().strip(",") in _DANGLING or _is_loose_participle(row)):
        row = row[:-1]
    return " ".join(row).strip(" ,")


_DANGLING = _ENDS | frozenset(
    ["a", "an", "the", "my", "your", "our", "their", "its", "every", "is", "are", "be", "other"]
)


def _is_loose_participle(row: Sequence[str]) -> bool:
    """Whether a participle ends the phrase without what it belongs to: "the currencies supported"."""
    last = row[-1].lower()
    return len(row) > 2 and last.endswith("ed") and "NOUN" not in can_be(last) and is_plural(row[-2])


def _with_determiner(row: Sequence[str], verb: str) -> str | None:
    """A noun phrase with an article where it needs one, and articles that agree; None if it is none."""
    if not row:
        return None
    end = next((n for n, word in enumerate(row) if n and word.lower() in _ENDS | {"to"}), len(row))
    head, first = row[end - 1].strip(",'\""), row[0].lower()
    if first in ("a", "an"):
        return " ".join(row) if end > 1 else None
    if first in _DETERMINERS or first in ("whether", "if", "how", "what", "which", "that"):
        if first in ("these", "those", "many", "several", "two", "three") and not is_plural(head):
            return None
        return " ".join(row) if end > 1 or first in ("all", "everything", "my") else None
    if first.endswith(("'s", "’s")):
        return " ".join(["the", *row])
    if first.endswith("ing") and row[1:2] and row[1].lower() in _DETERMINERS:
        return " ".join(row)  # "stop tracking a package"
    is_name = head[:1].isupper() and not head.isupper() and "NOUN" not in can_be(head.lower())
    if is_plural(head) or head.lower() in _UNCOUNTED or is_name or head.isdigit():
        return " ".join(row)
    if not _is_nominal(head):
        return None
    makes = verb in _MAKING and row[end : end + 1] != ["of"]
    phrase = " ".join(row)
    return with_article(phrase) if makes else f"the {phrase}"


def _is_nominal(word: str) -> bool:
    """Whether a word can be the head of a noun phrase."""
    kinds = can_be(word.lower())
    return not kinds or "NOUN" in kinds or word.isupper() or word[:1].isupper()


def _split(phrase: str) -> tuple[str, str]:
    """Object and rest of a phrase: "a card", "from a board"; "of" belongs to the object."""
    row = phrase.split()
    for number, word in enumerate(row):
        if number and word.lower() in _PREPOSITIONS and word.lower() != "of":
            return " ".join(row[:number]), " ".join(row[number:])
    return phrase, ""


def _of_noun_phrase(row: Sequence[str], *, reads: bool) -> Purpose | None:
    """The purpose behind a short noun phrase: "Guest profile lookup" looks up the guest profile."""
    text = _EMPTY.sub("", _CUTS.sub("", " " + " ".join(row))).strip(" .,")
    row = [_lowered(word) for word in text.split()]
    if len(row) > 2 and [word.lower() for word in row[:2]] == ["list", "of"]:
        return _built("list", " ".join(row[2:]))
    if not 1 < len(row) <= 6 or any(not word.replace("-", "").isalnum() for word in row):
        return None
    found = _of_name(row)
    if found is None and reads and "NOUN" in can_be(row[-1].lower()) and row[0].lower() not in _DETERMINERS:
        phrase = _with_determiner(row, "get")
        return None if phrase is None or _CODE.search(phrase) else Purpose("get", "", *_split(phrase))
    return found


def _of_name(row: Sequence[str]) -> Purpose | None:
    """The purpose that the words of a name state: "guest profile lookup", "list repos", "order status"."""
    row = [word for word in row if word.lower() not in words("generic names")]
    if len(row) < 2 or any(word.isdigit() for word in row):
        return None
    last = row[-1].lower()
    if last in _NOMINALS and not any(word.lower() in _PREPOSITIONS for word in row):
        verb, _, particle = _NOMINALS[last].partition(" ")
        if particle in ("for", "to"):
            inner = _with_determiner(row[:-1], verb)
            return None if inner is None else Purpose(verb, "", "", f"{particle} {inner}")
        phrase = _with_determiner(row[:-1], verb)
        return None if phrase is None else Purpose(verb, particle, *_split(phrase))
    base, form = base_of(row[0].lower())
    is_sure = base not in _NOUNISH or (len(row) == 2 and is_plural(last))
    if base is not None and is_common_verb(base) and form in ("base", "third") and is_sure:
        return _built(base, " ".join(row[1:]))
    base, form = base_of(last)
    if base and form == "base" and is_common_verb(base) and len(row) < 4:
        is_list = base in ("list", "update", "search", "export", "import") and is_plural(row[-2])
        if "NOUN" not in can_be(last) or is_list:
            return _built(base, " ".join(row[:-1]))
    if last in _STATES and not any(word.lower() in _PREPOSITIONS for word in row):
        phrase = _with_determiner(row, "get")
        return None if phrase is None else Purpose("get", "", *_split(phrase))
    return None


def _name_words(name: str) -> list[str]:
    """The words of an id or title, without placeholders, numbers and versions."""
    row = [word for word in id_words(re.sub(r"\{[^}]*\}", " ", name[:200])) if word.isalpha()]
    return [word for word in row if not re.fullmatch(r"v\d*|[a-z]", word)]


def _neutral(row: Sequence[str]) -> Purpose:
    """The form that is always sound: "take care of the harbour ledger"."""
    generic = words("generic names") | (words("methods") if len(row) > 1 else frozenset())
    row = [word for word in row if word.lower() not in generic] or list(row)
    kept: list[str] = []
    for word in row[:_MOST_NEUTRAL]:
        if not kept or kept[-1].lower() != word.lower():
            kept.append(word)
    if len(kept) < _FEWEST_NEUTRAL:
        return Purpose("take", "care of", "this task", is_certain=False)
    return Purpose("take", "care of", f"the {' '.join(kept)}", is_certain=False)
