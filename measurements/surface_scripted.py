"""How often `toolassay surface` errs, and which planted defects it finds, with scripted models.

    python -m measurements.surface_scripted [errors|defects [GOALS]]

`errors`: no model and no files. A goal of a made-up population is right with a chance on each version; the
logits on the new version are shifted until the mean difference over the population is exactly the one in
question (bisection). Each pair draws goals of the population and runs of both versions, looks after each
tenth of the goals as `--until decided` does, and stops when the verdict is sure: 2,000 pairs a cell. In the
population "wavering" each goal has another chance on the new version; in "steady" seven goals of ten have the
same chance on both versions, near 0 or 1, and the others waver; in "certain" all goals are near 0 or 1 on the
old version, and three of ten change, so that most differences are exactly 0 and the others go one way.

`defects`: the whole of `toolassay.surface`, without a server. Sixteen tools in four domains
(`surface_scripted/tools.yaml`) and GOALS goals, by default 160, three of five with one call and the others
with two. The wordings of a tool use words of its name, words of its description, or only few of either. Sixty
new versions have one defect each, in tools that a seed draws, and three to five other tools are reworded
without harm; thirty have such rewordings only.

The scripted model reads the request and the tools that the product sends, and nothing else. It calls the tool
whose name and description share the rarest words with the request and whose arguments the values in the
request fill, and gives an argument the value around which the words of its name and description are. Its
scores have two kinds of noise: of the goal, the same whatever the tools say, and of the prompt, drawn again
as soon as a word in the tools changes. Each pair has a model with a seed of its own. The true effect of a
defect is the difference between the shares of right goals, over further seeds; a defect counts as harmful if
it costs the margin of 5 points.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import cycle, islice, takewhile
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest.mock import patch

import msgspec
import snowballstemmer

from toolassay import SILENT, import_cases, surface
from toolassay.benchmarks.taskbench.options import PlanOptions
from toolassay.console.tables import Table
from toolassay.console.text_formatting import count_of
from toolassay.files.data_files import write_json, write_json_lines
from toolassay.metrics.sequential import Decision, critical_values, score_interval
from toolassay.models import ChatRequest, ChatResponse, ToolCall
from toolassay.runs.settings import ModelSettings
from toolassay.stages.settings import SurfaceSettings
from toolassay.stages.surface_runs import _FEWEST, BLOCKS
from toolassay.surfaces.mapping import FILE as MAPPING
from toolassay.surfaces.mapping import MappedTool, ToolMapping
from toolassay.surfaces.verdict import SurfaceVerdict

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MARGIN = SurfaceSettings.margin

# --- errors: looks at pairs of made-up runs ---

PAIRS = 2_000
SIZES = (40, 100, 200, 400)
TRIALS = (1, 3)
POPULATION = 100_000  # goals
LOSSES = (5, 10, 20)  # points; the first is the margin
TRUTHS = {"equal": 0.0, "+5": MARGIN, **{f"-{points}": -points / 100 for points in LOSSES}}


class Population(NamedTuple):
    """Goals by their chances.

    Attributes:
        logits: Of being right on the old version.
        changes: What the new version adds to them, before the shift.
        moved: The goals that the new version changes.
    """

    logits: NDArray[np.float64]
    changes: NDArray[np.float64]
    moved: NDArray[np.bool_]


class Chances(NamedTuple):
    """The chance of each goal to be right on both versions."""

    old: NDArray[np.float64]
    new: NDArray[np.float64]


def populations() -> dict[str, Population]:
    """The populations by name."""
    import numpy as np

    generator = np.random.default_rng(0)
    wavering = generator.normal(1.5, 2, POPULATION)
    sure = np.where(generator.random(POPULATION) < 0.8, 5.0, -5.0)
    moved = generator.random(POPULATION) < 0.3
    unsteady = generator.normal(0, 3, POPULATION) * moved
    everywhere = np.full(POPULATION, True)
    return {
        "wavering": Population(wavering, generator.normal(0, 1, POPULATION), everywhere),
        "steady": Population(np.where(moved, wavering, sure), unsteady, moved),
        "certain": Population(sure, unsteady, moved),
    }


def chances(population: Population, difference: float) -> Chances:
    """The chance of each goal on both versions, whose means differ by exactly `difference`."""
    import numpy as np
    from scipy.special import expit

    old = expit(population.logits)
    low, high = -40.0, 40.0
    new: NDArray[np.float64] = old
    for _ in range(60):
        middle = (low + high) / 2
        new = np.asarray(expit(population.logits + population.changes + middle * population.moved))
        if new.mean() - old.mean() < difference:
            low = middle
        else:
            high = middle
    assert abs(new.mean() - old.mean() - difference) < 1e-9
    return Chances(old, new)


@cache
def looks(goals: int) -> tuple[tuple[int, float], ...]:
    """After how many goals a comparison looks, with the number of standard errors of each look."""
    size = max(_FEWEST, -(-goals // BLOCKS))
    ends = (*range(size, goals, size), goals)
    return tuple(zip(ends, critical_values(tuple(end / goals for end in ends)), strict=True))


def verdict_of(differences: Sequence[float]) -> tuple[Decision, int]:
    """The verdict about goals in this order, and how many of them were used."""
    decision: Decision = "no_decision"
    for end, critical in looks(len(differences)):
        decision = score_interval(differences[:end], critical).decided(MARGIN)
        if decision != "no_decision":
            return decision, end
    return decision, len(differences)


class Verdicts(NamedTuple):
    """How many pairs got each verdict, and the mean number of goals that a verdict took."""

    counts: Counter[Decision]
    goals: float

    def share(self, *decisions: Decision) -> float:
        """The share of pairs with one of these verdicts."""
        return sum(self.counts[decision] for decision in decisions) / PAIRS


def verdicts(both: Chances, goals: int, trials: int, seed: int) -> Verdicts:
    """Compare pairs of runs."""
    import numpy as np

    generator = np.random.default_rng(seed)
    counts = Counter[Decision]()
    used = 0
    for _ in range(PAIRS):
        drawn = generator.integers(POPULATION, size=goals)
        before, after = (generator.binomial(trials, chance[drawn]) / trials for chance in both)
        decision, end = verdict_of((after - before).tolist())
        counts[decision] += 1
        used += end
    return Verdicts(counts, used / PAIRS)


class Setting(NamedTuple):
    """A population, the number of goals and of trials, and the verdicts by the true difference."""

    population: str
    goals: int
    trials: int
    verdicts: Mapping[str, Verdicts]

    @property
    def cells(self) -> tuple[str, str, str]:
        """The first cells of a row."""
        return self.population, str(self.goals), str(self.trials)

    @property
    def wrong_direction(self) -> float:
        """The largest share of pairs that are called better though worse, or worse though better."""
        losses = [self.verdicts[f"-{points}"].share("better") for points in LOSSES]
        return max(self.verdicts["+5"].share("worse"), *losses)

    def errors(self) -> Iterator[str]:
        """The cells of the table of errors."""
        equal, gain, loss = (self.verdicts[truth] for truth in ("equal", "+5", "-5"))
        yield f"{equal.share('better', 'worse'):.2%}"
        yield f"{gain.share('no_difference'):.2%}"
        yield f"{loss.share('no_difference'):.2%}"

    def power(self) -> Iterator[str]:
        """The cells of the table of power."""
        equal = self.verdicts["equal"]
        yield f"{equal.share('no_difference'):.0%} ({equal.goals:.0f})"
        for points in LOSSES:
            loss = self.verdicts[f"-{points}"]
            yield f"{loss.share('worse'):.0%} ({loss.goals:.0f})"


def settings() -> Iterator[Setting]:
    """All settings; each population and true difference has a seed."""
    for number, (name, population) in enumerate(populations().items()):
        truths = {truth: chances(population, difference) for truth, difference in TRUTHS.items()}
        for goals in SIZES:
            for trials in TRIALS:
                results = {
                    truth: verdicts(both, goals, trials, seed=1_000 * number + place)
                    for place, (truth, both) in enumerate(truths.items())
                }
                yield Setting(name, goals, trials, results)


def print_errors() -> None:
    """Print the errors and the power."""
    began = time.perf_counter()
    rows = list(settings())
    first = "population", "goals", "trials"
    headings = "equal: better or worse", "+5 points: no difference", "-5 points: no difference"
    bound = 0.05 + 2 * math.sqrt(0.05 * 0.95 / PAIRS)
    caption = (
        f"{PAIRS:,} pairs a cell; with a true rate of 5 % a cell is below {bound:.2%} (two standard errors). "
        f"The wrong direction was called in at most {max(row.wrong_direction for row in rows):.2%}. Seeds of "
        "the populations: 0 to 4, 1000 to 1004, 2000 to 2004."
    )
    cells = [(*row.cells, *row.errors()) for row in rows]
    print("**Errors**\n")
    print(Table((*first, *headings), cells, captions=[caption]).markdown(), "\n")
    power_headings = "equal: no difference", *(f"-{points} points: worse" for points in LOSSES)
    caption = f"In brackets: mean goals used. {time.perf_counter() - began:.0f} s for both tables."
    cells_of_power = [(*row.cells, *row.power()) for row in rows]
    print("**Power**\n")
    print(Table((*first, *power_headings), cells_of_power, captions=[caption]).markdown(), "\n")


# --- defects: tools and goals ---


class Argument(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An argument; the schema says of its kind only whether it is a date or a number."""

    kind: str
    description: str

    @property
    def schema(self) -> dict[str, str]:
        """The JSON Schema of its values."""
        schema = {"type": "integer" if self.kind == "number" else "string"}
        if self.kind == "date":
            schema["format"] = "date"
        return schema | ({"description": self.description} if self.description else {})


class Tool(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A tool of `tools.yaml`, where the attributes are explained."""

    name: str
    about: str
    neighbour: str
    purpose: str
    description: str
    arguments: dict[str, Argument]
    wordings: list[str]

    @property
    def input_schema(self) -> dict[str, Any]:
        """The JSON Schema of its arguments, all of which are required."""
        properties = {name: argument.schema for name, argument in self.arguments.items()}
        return {"type": "object", "properties": properties, "required": list(properties)}

    @property
    def node(self) -> dict[str, Any]:
        """The tool in `tool_desc.json`."""
        return {"id": self.name, "desc": self.description, "input_schema": self.input_schema}

    @property
    def function(self) -> dict[str, Any]:
        """The tool in a chat request."""
        about = {"name": self.name, "description": self.description, "parameters": self.input_schema}
        return {"type": "function", "function": about}


Version = Mapping[str, Tool]
"""The tools of a version, by their old names."""


def old_version() -> Version:
    """The tools before any change."""
    file = Path(__file__).with_suffix("") / "tools.yaml"
    return {tool.name: tool for tool in msgspec.yaml.decode(file.read_bytes(), type=list[Tool])}


Call = tuple[str, Mapping[str, Any]]
"""The name of a tool, and arguments."""


class Goal(NamedTuple):
    """A request and the calls that fulfil it."""

    request: str
    calls: Sequence[Call]

    @property
    def case(self) -> dict[str, Any]:
        """The goal as a line of own cases."""
        calls = [{"tool": tool, "arguments": arguments} for tool, arguments in self.calls]
        return {"request": self.request, "calls": calls}

    def is_fulfilled_by(self, calls: Sequence[Call], names: Mapping[str, str]) -> bool:
        """Whether calls are those of the goal, in any order; `names` are old names of renamed tools."""
        given = [(names.get(tool, tool), sorted(arguments.items())) for tool, arguments in calls]
        return sorted(given) == sorted((tool, sorted(arguments.items())) for tool, arguments in self.calls)


_FIRST_NAMES = ("Ada", "Bela", "Chloe", "Diego", "Emeka", "Farah", "Goran", "Hana", "Ivo", "Jana", "Kofi")
_LAST_NAMES = ("Byrne", "Costa", "Dahl", "Eder", "Fofana", "Grau", "Huang", "Ito", "Jansen", "Kaya", "Lindt")
_TEXTS = (
    *("budget review", "spring launch", "login page", "printer in the hall", "hiring round", "price list"),
    *("night backup", "fire drill", "sales figures", "trainee welcome", "badge reader", "board lunch"),
)
_LETTERS = {"order": "A", "parcel": "S", "article": "P", "ticket": "T", "account": "K"}
GOALS = 160
SINGLE = 0.6  # of the goals: with one call
_JOINED = ("{} After that: {}", "{} And also: {}", "First: {} Second: {}")


def goals_of(tools: Sequence[Tool], count: int, seed: int) -> list[Goal]:
    """Goals with one call and with two; each tool is in as many."""
    random = Random(f"goals {seed}")
    goals = []
    single = round(SINGLE * count / len(tools))
    for tool in tools:
        wordings = cycle(random.sample(tool.wordings, len(tool.wordings)))
        goals += [_single(tool, wording, random) for wording in islice(wordings, single)]
    for _ in range(count // len(tools) - single):
        order = random.sample(tools, len(tools))
        for pair in zip(order, [*order[1:], order[0]], strict=True):
            parts = [_single(tool, random.choice(tool.wordings), random) for tool in pair]
            request = random.choice(_JOINED).format(*(part.request for part in parts))
            goals.append(Goal(request, [call for part in parts for call in part.calls]))
    return goals


def _single(tool: Tool, wording: str, random: Random) -> Goal:
    values: dict[str, Any] = {}
    for name, argument in tool.arguments.items():
        value = _value(argument.kind, random)
        while value in values.values():
            value = _value(argument.kind, random)
        values[name] = value
    shown = {
        name: f'"{value}"' if tool.arguments[name].kind == "text" else value for name, value in values.items()
    }
    return Goal(wording.format(**shown), [(tool.name, values)])


def _value(kind: str, random: Random) -> Any:
    if kind == "name":
        return f"{random.choice(_FIRST_NAMES)} {random.choice(_LAST_NAMES)}"
    if kind == "date":
        return f"2026-{random.randint(1, 12):02}-{random.randint(1, 28):02}"
    if kind == "number":
        return random.randint(20, 950)
    if kind == "text":
        return f"{random.choice(_TEXTS)} {random.randint(2, 40)}"
    return f"{_LETTERS[kind]}-{random.randint(1000, 9999)}"


# --- defects: the scripted model ---

GOAL_NOISE = 0.3
"""Scale of the noise of a goal in the scores of tools; a word that only one of 16 tools has counts 2.8."""
PROMPT_NOISE = 0.25
"""Scale of the noise that is drawn again when the tools change."""
ARGUMENT_NOISE = 0.06
"""Scale of both kinds of noise in the scores of values, where a word counts 1.4 at most."""
_SAME_PLACE = 0.1  # the first value rather goes to the first argument of its form
_REACH = 3  # words before and after a value that belong to it
_BEHIND = 0.5  # what a word after a value counts, relative to one before it
_IN_NAME = 1.5  # what a word in the name of a tool counts, relative to one in its description
_UNFIT = 0.7  # off the score of a tool for each argument without a value, and each value without an argument
# "First: Cancel …" are two parts; "Cancel …" is one.
_CONNECTIVE = re.compile(r"First:|Second:|After that:|And also:")
# A quoted text, a date, a code ("A-5521"), a full name ("Ada Byrne" in "Is Ada Byrne busy?"), a number, a
# bound between what belongs to one value and to the next, or a word.
_PIECE = re.compile(
    r'"(?P<text>[^"]+)"|(?P<date>\d{4}-\d\d-\d\d)|(?P<code>[A-Z]-\d+)'
    r"|(?<=[^A-Z] )(?P<name>[A-Z][a-z]+ [A-Z][a-z]+)|(?P<number>\d+)"
    r"|(?P<bound>[,;:.?]|\b(?:and|or)\b)|(?P<word>[A-Za-z]+)"
)
_FORMS = {"date": "date", "number": "integer"}  # of values; the others are strings without a format
_KNOWN = {"name": "person", "code": "number", "text": "title"}
"""What a value is by its looks: a full name is that of a person."""
# Without words that tell tools apart: "open", "new", "back".
_FUNCTION_WORDS = """
    a about all am an and another any anybody are as at be been before by can cannot did do does each else
    everybody everything for from get gets give go goes has have her him how i if in instead into is it its
    learn let like longer many may me more most much my namely need no not now of often on one or other others
    our out please put red say should since so some somebody something still than that the them there they
    things this those to up us use was we were what when where whether which who whom will with would yet you
"""

_stemmer = snowballstemmer.stemmer("english")


@cache
def stem(word: str) -> str:
    """The stem of a word in any case."""
    word_stem: str = _stemmer.stemWord(word.lower())
    return word_stem


def stems(text: str) -> list[str]:
    """The stems of the words of a text or an identifier."""
    return [stem(word) for word in re.findall(r"[A-Za-z]+", text)]


_IGNORED = frozenset(stems(_FUNCTION_WORDS))


class Value(NamedTuple):
    """A value in a request.

    Attributes:
        form: As of an argument.
        content: As an argument.
        context: The stems around it with what they count.
    """

    form: str
    content: Any
    context: Mapping[str, float]


class Part(NamedTuple):
    """A part of a request that asks for one call: its text, the stems that count, and the values."""

    text: str
    words: frozenset[str]
    values: Sequence[Value]


@cache
def parts_of(request: str) -> tuple[Part, ...]:
    """Read a request."""
    return tuple(_part(text.strip()) for text in _CONNECTIVE.split(request) if text.strip())


def _part(text: str) -> Part:
    pieces = [(match.lastgroup or "", match[match.lastgroup or 0]) for match in _PIECE.finditer(text)]
    words = frozenset(stem(piece) for kind, piece in pieces if kind == "word")
    values = []
    for position, (kind, content) in enumerate(pieces):
        if kind in ("word", "bound"):
            continue
        context = {_KNOWN[kind]: 1.0} if kind in _KNOWN else {}
        for near, weight in ((reversed(pieces[:position]), 1.0), (pieces[position + 1 :], _BEHIND)):
            beside = takewhile(lambda piece: piece[0] == "word", near)
            for distance, (_, word) in enumerate(islice(beside, _REACH), 1):
                context[stem(word)] = max(context.get(stem(word), 0.0), weight / distance)
        value = int(content) if kind == "number" else content
        values.append(Value(_FORMS.get(kind, "string"), value, context))
    return Part(text, words - _IGNORED, values)


class Slot(NamedTuple):
    """An argument as the model reads it."""

    name: str
    form: str
    words: frozenset[str]


class Reading:
    """The tools of a chat request as the model reads them."""

    def __init__(self, tools: Sequence[Mapping[str, Any]]) -> None:
        functions = [tool["function"] for tool in tools]
        self.names = [function["name"] for function in functions]
        texts = [f"{function['name']} {function.get('description') or ''}" for function in functions]
        rarity = _rarity([frozenset(stems(text)) for text in texts])
        self._words = [
            {word: rarity[word] * (_IN_NAME if word in stems(name) else 1) for word in stems(text)}
            for name, text in zip(self.names, texts, strict=True)
        ]
        self._slots = [
            [
                Slot(
                    name,
                    schema.get("format", schema["type"]),
                    frozenset(stems(f"{name} {schema.get('description', '')}")),
                )
                for name, schema in function["parameters"]["properties"].items()
            ]
            for function in functions
        ]
        self._forms = [Counter(slot.form for slot in slots) for slots in self._slots]
        self._rarities = [_rarity([slot.words for slot in slots]) for slots in self._slots]
        self._known_scores: dict[str, Sequence[float]] = {}
        self._known_fits: dict[tuple[int, str], Sequence[tuple[float, str, Any]]] = {}
        seen = repr([texts, [[(slot.name, sorted(slot.words)) for slot in slots] for slots in self._slots]])
        self._digest = hashlib.sha256(seen.encode()).hexdigest()

    def calls(self, request: str, seed: int) -> list[Call]:
        """What the model with this seed calls."""
        return [self._call(part, seed) for part in parts_of(request)]

    def _call(self, part: Part, seed: int) -> Call:
        noise = self._noise(part, "tools", seed, (GOAL_NOISE, PROMPT_NOISE))
        scores = [score + next(noise) for score in self._tool_scores(part)]
        best = scores.index(max(scores))
        noise = self._noise(part, f"arguments of {best}", seed, (ARGUMENT_NOISE, ARGUMENT_NOISE))
        pairs = [(score + next(noise), name, value) for score, name, value in self._fits(best, part)]
        arguments: dict[str, Any] = {}
        for _, name, value in sorted(pairs, key=lambda pair: -pair[0]):
            if name not in arguments and value not in arguments.values():
                arguments[name] = value
        return self.names[best], {name: arguments[name] for name in sorted(arguments)}

    def _tool_scores(self, part: Part) -> Sequence[float]:
        """How well each tool fits a part, without noise."""
        if part.text not in self._known_scores:
            forms = Counter(value.form for value in part.values)
            scores = []
            for words, taken in zip(self._words, self._forms, strict=True):
                shared = sum(words[word] for word in words.keys() & part.words)
                scores.append(shared - _UNFIT * ((forms - taken) + (taken - forms)).total())
            self._known_scores[part.text] = scores
        return self._known_scores[part.text]

    def _fits(self, tool: int, part: Part) -> Sequence[tuple[float, str, Any]]:
        """How well each value of a part fits each argument of its form, without noise."""
        key = tool, part.text
        if key not in self._known_fits:
            rarity = self._rarities[tool]
            seen = Counter[str]()
            fits = []
            for slot in self._slots[tool]:
                values = [value for value in part.values if value.form == slot.form]
                for position, value in enumerate(values):
                    shared = slot.words & value.context.keys()
                    fitting = sum(rarity[word] * value.context[word] for word in shared)
                    beside = _SAME_PLACE * abs(position - seen[slot.form])
                    fits.append((fitting - beside, slot.name, value.content))
                seen[slot.form] += 1
            self._known_fits[key] = fits
        return self._known_fits[key]

    def _noise(self, part: Part, about: str, seed: int, scales: tuple[float, float]) -> Iterator[float]:
        """Noise of Gumbel's distribution, of the goal and of the prompt."""
        sources = [Random(f"{seed} {about} {part.text} {prompt}") for prompt in ("", self._digest)]
        while True:
            draws = zip(sources, scales, strict=True)
            yield sum(-scale * math.log(random.expovariate(1)) for random, scale in draws)


def _rarity(texts: Sequence[frozenset[str]]) -> Mapping[str, float]:
    """What each word counts: the fewer texts have it, the more."""
    counts = Counter(word for text in texts for word in text)
    return {word: math.log((len(texts) + 1) / count) for word, count in counts.items()}


class ScriptedModel:
    """The model behind the interface of served ones."""

    name = "scripted"

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._readings: dict[str, Reading] = {}

    async def complete(self, request: ChatRequest) -> ChatResponse:
        """Answer with calls."""
        tools = request.parameters["tools"]
        key = json.dumps(tools)
        if key not in self._readings:
            self._readings[key] = Reading(tools)
        calls = self._readings[key].calls(str(request.messages[-1]["content"]), self._seed)
        written = [
            ToolCall(str(number), tool, json.dumps(arguments))
            for number, (tool, arguments) in enumerate(calls)
        ]
        return ChatResponse("", tool_calls=tuple(written))

    async def close(self) -> None:
        """Nothing is open."""


def shares_right(version: Version, goals: Sequence[Goal], seeds: Sequence[int]) -> list[float]:
    """The share of goals that the model with each seed fulfils, called directly."""
    reading = Reading([tool.function for tool in version.values()])
    names = {tool.name: old for old, tool in version.items()}
    return [
        sum(goal.is_fulfilled_by(reading.calls(goal.request, seed), names) for goal in goals) / len(goals)
        for seed in seeds
    ]


# --- defects: new versions ---

DEFECTS = 10  # of each kind
NULL_PAIRS = 30
REWORDED = (3, 5)  # tools beside the defect, at least and at most
NULL = "none: rewordings only"
_VAGUE = ("Works with {about}.", "Handles {about}.", "Does what is needed with {about}.")
# No word of these, but function words, is in a request or in another description.
_NEUTRAL = (
    "Part of the internal API.",
    "Meant for every signed-in user.",
    "Throttled to sixty requests a minute.",
    "Responds with JSON.",
)


class Pair(NamedTuple):
    """A new version.

    Attributes:
        kind: What is wrong with it.
        planted: Old names of the tools that are at fault; one of them should be blamed.
        after: Its tools.
    """

    kind: str
    planted: tuple[str, ...]
    after: Version


Change = Callable[[Version, Tool, int], Mapping[str, Tool]]
"""Changes a tool; the changed ones by old name. The number is that of the defect among those of its kind."""


def _with(tool: Tool, **changes: Any) -> Mapping[str, Tool]:
    return {tool.name: msgspec.structs.replace(tool, **changes)}


def emptied(version: Version, tool: Tool, number: int) -> Mapping[str, Tool]:
    """Without a description."""
    return _with(tool, description="")


def vague(version: Version, tool: Tool, number: int) -> Mapping[str, Tool]:
    """With a description that says only what the domain is about."""
    return _with(tool, description=_VAGUE[number % len(_VAGUE)].format(about=tool.about))


def swapped(version: Version, tool: Tool, number: int) -> Mapping[str, Tool]:
    """With the description of its neighbour, which has that of the tool."""
    other = version[tool.neighbour]
    return {**_with(tool, description=other.description), **_with(other, description=tool.description)}


def claims(version: Version, tool: Tool, number: int) -> Mapping[str, Tool]:
    """With a sentence that claims what its neighbour is for."""
    claim = f"It can also be used to {version[tool.neighbour].purpose}."
    return _with(tool, description=f"{tool.description} {claim}")


def arguments_spoilt(version: Version, tool: Tool, number: int) -> Mapping[str, Tool]:
    """With arguments that have no descriptions, or each that of the next one."""
    texts = [argument.description for argument in tool.arguments.values()]
    others = [*texts[1:], texts[0]] if number % 2 else [""] * len(texts)
    spoilt = {
        name: Argument(argument.kind, text)
        for (name, argument), text in zip(tool.arguments.items(), others, strict=True)
    }
    return _with(tool, arguments=spoilt)


def wrong_statement(version: Version, tool: Tool, number: int) -> Mapping[str, Tool]:
    """With a description of something else, or with a name that says nothing and a vague description."""
    if number % 2:
        return _with(tool, name=f"operation_{number}", description=f"Internal operation on {tool.about}.")
    return _with(tool, description=f"Only shows the last hundred changes of {tool.about}.")


KINDS: Mapping[str, Change] = {
    "description emptied": emptied,
    "description vague": vague,
    "descriptions swapped": swapped,
    "claims its neighbour's purpose": claims,
    "arguments without or with wrong descriptions": arguments_spoilt,
    "wrong statement, or opaque name": wrong_statement,
}


def reworded(tool: Tool, random: Random) -> Tool:
    """The tool with another description that says the same."""
    text = tool.description
    sentences = text.removesuffix(".").split(". ")
    ways = [
        f"{text} {random.choice(_NEUTRAL)}",
        f"{random.choice(_NEUTRAL)} {text}",
        f"{'. '.join(reversed(sentences))}.",
        f"{'; '.join([sentences[0], *(rest[0].lower() + rest[1:] for rest in sentences[1:])])}.",
    ]
    return msgspec.structs.replace(tool, description=random.choice(ways))


def pairs_of(version: Version) -> Iterator[Pair]:
    """The new versions: defects of each kind, and those without one."""
    for kind, change in KINDS.items():
        random = Random(kind)
        for number, name in enumerate(random.sample(sorted(version), DEFECTS)):
            changed = change(version, version[name], number)
            yield _beside(version, kind, changed, random)
    random = Random(NULL)
    for _ in range(NULL_PAIRS):
        yield _beside(version, NULL, {}, random)


def _beside(version: Version, kind: str, changed: Mapping[str, Tool], random: Random) -> Pair:
    others = random.sample([name for name in version if name not in changed], random.randint(*REWORDED))
    harmless = {name: reworded(version[name], random) for name in others}
    return Pair(kind, tuple(changed), {**version, **changed, **harmless})


# --- defects: comparisons ---

EFFECT_SEEDS = range(1_000, 1_050)
"""Of the models that the true effect is the mean of; those of the comparisons are 0 to 89."""


class Comparison(NamedTuple):
    """A pair, the true effect of its defect, and what a comparison says about it."""

    pair: Pair
    effect: float
    verdict: SurfaceVerdict
    seconds: float

    @property
    def is_harmful(self) -> bool:
        """Whether the defect costs the margin."""
        return self.effect <= -MARGIN

    @property
    def is_worse(self) -> bool:
        """Whether the defect was found."""
        return self.verdict.verdict == "worse"

    @property
    def is_blamed(self) -> bool:
        """Whether a planted tool is the first of those that the verdict blames."""
        return bool(self.verdict.tools) and self.verdict.tools[0].what[0] in self.pair.planted

    @property
    def surely_worse(self) -> frozenset[str]:
        """The tools that the verdict names as significantly more often wrong."""
        return frozenset(row.what[0] for row in self.verdict.tools if row.low > 0)

    @property
    def is_named(self) -> bool:
        """Whether a planted tool is among those."""
        return not self.surely_worse.isdisjoint(self.pair.planted)

    @property
    def is_other_named(self) -> bool:
        """Whether another tool is, which may be a victim: its calls went to a planted one."""
        return not self.surely_worse <= set(self.pair.planted)


def write_old(version: Version, goals: Sequence[Goal], folder: Path) -> None:
    """Write the data folder of the old version, with the goals as own cases."""
    folder.mkdir(parents=True)
    write_tools(version, folder)
    cases = folder.parent / "cases.jsonl"
    write_json_lines(cases, (goal.case for goal in goals))
    imported = import_cases(cases, folder, screen=SILENT)
    assert len(imported.cases) == len(goals) and not imported.problems


def write_tools(version: Version, folder: Path) -> None:
    """Write the tools of a version."""
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / "tool_desc.json", {"nodes": [tool.node for tool in version.values()]})


def compare_versions(old: Path, pair: Pair, folder: Path, seed: int) -> SurfaceVerdict:
    """Compare the old version with a new one, by a model with a seed of its own."""
    new = folder / "new"
    out = folder / "surface"
    write_tools(pair.after, new)
    renamed = [
        MappedTool(before, tool.name, confirmed=True)
        for before, tool in pair.after.items()
        if tool.name != before
    ]
    if renamed:
        out.mkdir(parents=True)
        ToolMapping(renamed).write(out / MAPPING)
    model = ScriptedModel(seed)
    with patch("toolassay.runs.run.create_model", lambda name, options, meter: model):
        compared = surface(
            old,
            new,
            old,
            model=ModelSettings(llm=model.name),
            settings=SurfaceSettings(until="decided", seed=seed),
            own=PlanOptions(ask="calls"),
            out=out,
            screen=SILENT,
        )
    assert compared.verdict is not None
    return compared.verdict


def print_defects(count: int = GOALS) -> None:
    """Print which defects are found with so many goals."""
    began = time.perf_counter()
    version = old_version()
    goals = goals_of(list(version.values()), count, seed=0)
    right = shares_right(version, goals, EFFECT_SEEDS)
    mean = sum(right) / len(right)
    results = []
    with tempfile.TemporaryDirectory() as temporary:
        old = Path(temporary) / "old"
        write_old(version, goals, old)
        for seed, pair in enumerate(pairs_of(version)):
            after = shares_right(pair.after, goals, EFFECT_SEEDS)
            started = time.perf_counter()
            with tempfile.TemporaryDirectory() as folder:
                verdict = compare_versions(old, pair, Path(folder), seed)
            effect = sum(after) / len(after) - mean
            results.append(Comparison(pair, effect, verdict, time.perf_counter() - started))
    defects = [result for result in results if result.pair.kind != NULL]
    print_by_kind(defects)
    print(
        f"{len(goals)} goals, of which the model fulfils {mean:.0%} on the old version "
        f"({min(right):.0%} to {max(right):.0%}).\n"
    )
    print_by_size(defects)
    print_null([result for result in results if result.pair.kind == NULL])
    seconds = [result.seconds for result in results]
    print(
        f"{count_of(len(results), 'comparison')}, {sum(seconds) / len(seconds):.1f} s each at the mean; "
        f"{time.perf_counter() - began:.0f} s in all."
    )


def print_by_kind(defects: Sequence[Comparison]) -> None:
    """Print what is found of each kind."""
    kinds = {kind: [result for result in defects if result.pair.kind == kind] for kind in KINDS}
    rows = [_row(name, group) for name, group in {**kinds, "all": defects}.items()]
    headings = (
        *("kind", "true effect, points", "costs 5 points", "found of these", "found of all"),
        *("blamed first", "goals used"),
    )
    caption = (
        f"True effect: mean (smallest to largest loss), over {len(EFFECT_SEEDS)} seeds. Found: the verdict "
        'is "worse". Blamed first: of the found defects that cost 5 points. Goals used: mean.'
    )
    print("**Planted defects**\n")
    print(Table(headings, rows, captions=[caption]).markdown(), "\n")


def _row(name: str, group: Sequence[Comparison]) -> tuple[str, ...]:
    harmful = [result for result in group if result.is_harmful]
    effects = sorted((result.effect for result in group), reverse=True)
    found = [result for result in harmful if result.is_worse]
    span = f"{100 * sum(effects) / len(effects):+.1f} ({100 * effects[0]:+.1f} to {100 * effects[-1]:+.1f})"
    return (
        name,
        span,
        f"{len(harmful)} of {len(group)}",
        _of(result.is_worse for result in harmful),
        _of(result.is_worse for result in group),
        _of(result.is_blamed for result in found),
        f"{sum(result.verdict.n_goals for result in group) / len(group):.0f}",
    )


def _of(flags: Iterator[bool]) -> str:
    values = list(flags)
    return f"{sum(values)} of {len(values)}" if values else "-"


_SIZES = {
    "loss of 10 or more": (-1.0, -0.1),
    "of 5 to 10": (-0.1, -0.05),
    "of 2 to 5": (-0.05, -0.02),
    "of less than 2, or gain": (-0.02, 1.0),
}
"""Groups of defects by their true effect, above the first bound up to the second one."""


def print_by_size(defects: Sequence[Comparison]) -> None:
    """Print the verdicts by the true effect, and the blame whatever the verdict."""
    rows = []
    for name, (low, high) in _SIZES.items():
        group = [result for result in defects if low < result.effect <= high]
        named = (
            _of(result.is_blamed for result in group),
            _of(result.is_named for result in group),
            _of(result.is_other_named for result in group),
        )
        rows.append((name, str(len(group)), *_verdict_cells(group), *named))
    blame = "blamed first", "surely worse", "another surely worse"
    headings = "true effect, points", "defects", *_VERDICTS.values(), *blame
    caption = 'Surely worse: the interval of a planted tool is above 0, of "another" that of one not planted.'
    print("**Verdicts by true effect**\n")
    print(Table(headings, rows, captions=[caption]).markdown(), "\n")


_VERDICTS: Mapping[Decision, str] = {
    "worse": "worse",
    "better": "better",
    "no_difference": "no difference",
    "no_decision": "no decision",
}


def _verdict_cells(group: Sequence[Comparison]) -> list[str]:
    counts = Counter(result.verdict.verdict for result in group)
    return [str(counts[decision]) for decision in _VERDICTS]


def print_null(null: Sequence[Comparison]) -> None:
    """Print the verdicts on pairs without a defect."""
    effects = [100 * result.effect for result in null]
    goals = sum(result.verdict.n_goals for result in null) / len(null)
    span = f"{min(effects):+.1f} to {max(effects):+.1f}"
    named = _of(result.is_other_named for result in null)
    row = (str(len(null)), span, *_verdict_cells(null), named, f"{goals:.0f}")
    headings = "pairs", "measured effect, points", *_VERDICTS.values(), "a tool surely worse", "goals used"
    caption = "Their true effect is 0; what is measured is the error of the true effects above."
    print("**Pairs without a defect**\n")
    print(Table(headings, [row], captions=[caption]).markdown(), "\n")


def main(arguments: Sequence[str]) -> int:
    """Print the tables."""
    part, *numbers = arguments or ("all",)
    if part not in ("errors", "defects", "all") or (numbers and part != "defects"):
        print(__doc__, file=sys.stderr)
        return 2
    if part != "defects":
        print_errors()
    if part != "errors":
        print_defects(*map(int, numbers))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
