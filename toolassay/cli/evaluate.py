"""`toolassay evaluate`: predictions -> metrics, and a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from toolassay.cli import options
from toolassay.cli.screen import SCREEN, say, show
from toolassay.screen import WARNING


@click.command("evaluate")
@options.option("data_dir", type=options.PATH, default="data_huggingface", help="The data folder.")
@options.option("prediction_dir", type=options.PATH, default="predictions", help="Below it, or as given.")
@options.option("save_dir", type=options.PATH, default=None, help="Where metrics go [default: metrics…].")
@options.option(
    "alignment",
    default=None,
    help="Only what these critics let pass (alignment_ids.json); train, dev or test: only that split.",
)
@options.option("splits", "-s", multiple=True, default=("overall",), help="overall, single, chain, dag, all.")
@options.option("n_tools", "-n", multiple=True, default=("overall",), help="overall, 1 to 10, all.")
@options.option("mode", default="add", help="add: splits, then numbers of tools; mul: their product.")
@options.option(
    "metric", "-m", multiple=True, default=("all",), help="f1, ed, link, argument, rouge, bertscore, all."
)
@options.option(
    "llm", multiple=True, default=(options.LLM,), help="The model; may be repeated; all: every one there."
)
@options.dependency_type()
@options.option("prompting", default="cot", help="Other than cot: no metrics of the steps.")
@options.option(
    "keep",
    type=click.Choice(["first", "last", "error"]),
    default="last",
    help="Which of several lines with one id counts; error: stop.",
)
@options.flag("rouge_median", "Add the published kind of ROUGE: the median of bootstrapped means.")
@options.option(
    "compat",
    type=click.Choice(["published"]),
    default=None,
    help="Published numbers also where they say nothing: of resource tools with '_' in their names.",
)
@options.option(
    "bertscore_model",
    default=None,
    help="A folder, or a name of the hub (may be downloaded) [default: roberta-large if on this disk].",
)
@options.option(
    "bertscore_layers", type=click.IntRange(1), default=None, help="Layers run [default: known, or all]."
)
@options.option(
    "bertscore_device",
    type=click.Choice(["cpu", "cuda", "mps"]),
    default=None,
    help="Where BERTScore runs [default: cuda, else cpu].",
)
@options.flag("bertscore_cache", "Keep BERTScores on disk and reuse them.", default=True)
@options.option(
    "min_coverage",
    type=click.FloatRange(0, 1),
    default=0.0,
    help="Exit with 3 where a smaller share of the labels was scored.",
)
@options.option("limit", type=click.IntRange(1), default=None, help="Score only what infer --limit N asks.")
@options.option(
    "ids", type=options.PATH, default=None, help="Score only the items in this file, as infer --ids."
)
@options.allow_tools()
@options.with_published()
@options.option(
    "orders",
    type=options.PATH,
    multiple=True,
    help="CLASSic: another prediction folder, with another order of the workflows; may be repeated.",
)
def command(
    data_dir: Path,
    llm: tuple[str, ...],
    metric: tuple[str, ...],
    min_coverage: float,
    **settings: Any,
) -> int:
    """Score predictions: strict and as published, side by side."""
    from toolassay.benchmarks.classic.commands import print_chat_scores
    from toolassay.benchmarks.classic.evaluation import ClassicEvaluation
    from toolassay.benchmarks.workbench.evaluation import AgentEvaluation
    from toolassay.cli.score_tables import print_agent_scores, print_scores, print_signatures, print_stability
    from toolassay.stages.evaluate import IncompleteEvaluation, coverage, evaluate, is_partial

    published = settings.pop("with_published")
    failure: IncompleteEvaluation | None = None
    try:
        evaluations = evaluate(data_dir, llm=list(llm), metrics=metric, screen=SCREEN, **settings)
    except IncompleteEvaluation as error:
        evaluations, failure = error.evaluations, error
    agents = [result for result in evaluations if isinstance(result, AgentEvaluation)]
    chats = [result for result in evaluations if isinstance(result, ClassicEvaluation)]
    if agents:
        print_agent_scores(agents)
    elif chats:
        print_chat_scores(chats, with_published=published)
    else:
        print_scores(evaluations)
        print_stability(evaluations)
    print_signatures(evaluations)
    for result in evaluations:
        show(str(result.path))
    if failure is not None:
        raise failure
    low = [result for result in evaluations if coverage(result) < min_coverage]
    for result in low:
        say(f"{WARNING}{result.llm}: only {coverage(result):.1%} of the labels were scored (--min_coverage)")
    return 3 if low or any(map(is_partial, evaluations)) else 0
