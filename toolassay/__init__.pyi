# Written by `python -m measurements.interface` from the declared options; not to be edited.
"""Toolassay: from a tool list to a benchmark, and to the model to trust with the tools."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date
from pathlib import Path
from toolassay.backinstruct.format import Formatted
from toolassay.console.screen import Screen
from toolassay.episodes.own_agent import AgentFunction
from toolassay.evaluation.comparison import Comparison
from toolassay.evaluation.evaluation import Evaluations, FolderEvaluation
from toolassay.gates.calibration import Calibration
from toolassay.gates.gate import Level
from toolassay.importers.intake import ImportReport
from toolassay.models.address import VersionPath
from toolassay.models.options import Api, BatchKind, ClientName
from toolassay.models.refused_parameters import Refusals
from toolassay.models.structured_output import SchemaForms, Structured
from toolassay.records.dataset import RequestId, Shape
from toolassay.reports.leaderboard import Board
from toolassay.review.outcome import Applied, HumanVerification
from toolassay.runs.settings import RunStart
from toolassay.runs.work import Inference
from toolassay.stages.check import Checked
from toolassay.stages.execute import Executed
from toolassay.stages.export import Exported
from toolassay.stages.import_cases import ImportedCases
from toolassay.stages.infer import Security
from toolassay.stages.noise import SetNoise
from toolassay.stages.pipeline import Piped
from toolassay.stages.report import AxesReport
from toolassay.stages.settings import AuditSettings, ChatForm, ComparisonSettings, ExecutionSettings, FaultSettings, GateSettings, LeaderboardSettings, LiveSettings, PageSettings, ReportSettings, ReviewSettings, SampleSettings, SplitSettings, SubgraphSettings, SurfaceSettings, VarietySettings, WritingSettings
from toolassay.stages.surface import Compared
from toolassay.stages.verify import Verification
from toolassay.stages.world import WrittenWorld
from toolassay.variety.measures import VarietyReport
from toolassay.variety.splits import Splitting
from typing import Any, Literal, overload

from toolassay.benchmarks.benchmark import Benchmark as Benchmark
from toolassay.benchmarks.classic.importing import import_classic as import_classic
from toolassay.benchmarks.taskbench.importing import import_taskbench as import_taskbench
from toolassay.cli.screen import SCREEN as SCREEN
from toolassay.errors import IncompleteError as IncompleteError
from toolassay.errors import ToolassayError as ToolassayError
from toolassay.errors import UnknownNameError as UnknownNameError
from toolassay.errors import UsageError as UsageError
from toolassay.graph import ToolGraph as ToolGraph
from toolassay.graph.edits import Edit as Edit
from toolassay.link_proposals.options import LinkOptions as LinkOptions
from toolassay.link_proposals.options import ProposeOptions as ProposeOptions
from toolassay.models.options import ModelOptions as ModelOptions
from toolassay.records.dataset import Sample as Sample
from toolassay.runs.budget import Budget as Budget
from toolassay.runs.settings import Limits as Limits
from toolassay.runs.settings import ModelSettings as ModelSettings
from toolassay.runs.settings import RunChoices as RunChoices
from toolassay.console.screen import SILENT as SILENT
from toolassay.tools.library import Tool as Tool
from toolassay.tools.library import ToolLibrary as ToolLibrary
from toolassay.version import __version__ as __version__

__all__ = ["Benchmark", "import_classic", "import_taskbench", "SCREEN", "IncompleteError", "ToolassayError", "UnknownNameError", "UsageError", "ToolGraph", "Edit", "LinkOptions", "ProposeOptions", "ModelOptions", "Sample", "Budget", "Limits", "ModelSettings", "RunChoices", "SILENT", "calibrate", "check", "compare", "evaluate", "verify", "execute", "export", "generate", "sample", "build_graph", "visualize", "infer", "serve", "import_cases", "import_tools", "leaderboard", "noise", "pipeline", "format_data", "write_report", "apply_review", "export_reviews", "import_reviews", "review_summary", "start_review", "split", "surface", "measure_variety", "world", "Tool", "ToolLibrary", "report", "__version__"]

def calibrate(
    labels: str | Path,
    *,
    critic: str,
    data_dir: str | Path | None = ...,
    out: str | Path,
    model: ModelSettings = ...,
    limits: Limits = ...,
    force: bool = ...,
    command: Sequence[str] | None = ...,
    screen: Screen = ...,
    api_base: str | None = ...,
    api_addr: str | None = ...,
    api_port: int | None = ...,
    api_key: str | None = ...,
    api: Api | None = ...,
    extra_body: Mapping[str, Any] = ...,
    extra_headers: Mapping[str, str] = ...,
    client: ClientName = ...,
    stream: bool = ...,
    max_tries: int = ...,
    timeout: float = ...,
    total_timeout: float = ...,
    batch: BatchKind | None = ...,
    llm: str = ...,
    options: ModelOptions | None = ...,
    temperature: float | None = ...,
    top_p: float | None = ...,
    max_tokens: int | None = ...,
    structured: Structured | None = ...,
    max_cost: float | None = ...,
    max_tokens_total: int | None = ...,
    max_requests: int | None = ...,
    budget: Budget | None = ...,
    prices: Path | None = ...,
    multiworker: int | None = ...,
) -> tuple[Calibration, bool]:
    """Compare a critic with labels.

    Args:
        labels: JSON lines: samples as in `data.json`, with the answers natural, grounded, plan, links and
            values, each true or false (or 1 or 0), and `labelled_by`, who answered.
        critic: The model.
        data_dir: Folder of the tools; default: that of `labels`.
        out: Output folder for `calibration.json` and the critic's run.
        model: Endpoint.
        limits: Limits of the run, earlier starts included.
        force: Start again where the run had other settings.
        command: Command line, recorded in the manifest.
        screen: Receives messages, results and progress.
        api_base: Base URL of an OpenAI-compatible server, e.g. https://host/v1 [default: OPENAI_BASE_URL, else http://localhost:4000/v1].
        api_addr: Host of the server.
        api_port: Port of the server.
        api_key: API key. Never stored. Prefer OPENAI_API_KEY, in the environment or in a .env file.
        api: API of the server: OpenAI's Chat Completions or Responses, or Anthropic's Messages, whose key is ANTHROPIC_API_KEY [default: by the address, else chat].
        extra_body: JSON file with additional fields of the request body; null omits a parameter that would be sent by default, e.g. {"presence_penalty": null}.
        extra_headers: JSON file with additional HTTP headers.
        client: HTTP client. 'openai' is OpenAI's SDK, for proxies and Azure (AZURE_OPENAI_ENDPOINT).
        stream: Stream answers token by token; also measures the time to the first token.
        max_tries: Maximum attempts per request. The count restarts after a 429 while the server answers other requests.
        timeout: Seconds without a byte from the server after which an attempt ends.
        total_timeout: Maximum seconds of one attempt.
        batch: Send all requests as a batch. openai: by the server's Batch API, at half the price, within a day; vllm: a file for vLLM's run_batch, which you run; then repeat the command.
        llm: Name of a served or registered model, or a built-in model that needs no server: offline, or one of the baselines nothing and random.
        temperature: Sampling temperature, 0 or more.
        top_p: Nucleus sampling probability, 0 to 1.
        max_tokens: Maximum tokens of an answer, reasoning included [default: that of the stage or benchmark].
        structured: Make the server constrain answers to a JSON schema. auto: if the server supports it; true: stop if it does not [default: that of the stage or benchmark].
        max_cost: Maximum cost of a run in US dollars, over all starts.
        max_tokens_total: Maximum tokens of prompts and answers of a run.
        max_requests: Maximum requests of a run, failed ones included.
        prices: CSV table of prices; takes precedence over the prices of genai-prices.
        multiworker: Maximum concurrent requests [default: adaptive].

    Returns:
        The calibration, and whether the critic answered every request.

    Raises:
        UsageError: A file is missing or malformed, or an answer is missing.
        ToolassayError: The model cannot be reached.
    """

def check(
    data_dir: str | Path,
    *,
    out: str | Path,
    gating: GateSettings = ...,
    model: ModelSettings = ...,
    limits: Limits = ...,
    force: bool = ...,
    command: Sequence[str] | None = ...,
    screen: Screen = ...,
    gates: Sequence[str] | None = ...,
    without: Sequence[str] = ...,
    against: Path | str | None = ...,
    threshold: float | None = ...,
    repair: bool = ...,
    dependency_type: str | None = ...,
    engine: str | None = ...,
    critic: Sequence[str] | str = ...,
    solver: Sequence[str] = ...,
    solvers: Sequence[str] = ...,
    prediction_dir: str | Path | None = ...,
    calibration: Sequence[Path | str] = ...,
    api_base: str | None = ...,
    api_addr: str | None = ...,
    api_port: int | None = ...,
    api_key: str | None = ...,
    api: Api | None = ...,
    extra_body: Mapping[str, Any] = ...,
    extra_headers: Mapping[str, str] = ...,
    client: ClientName = ...,
    stream: bool = ...,
    max_tries: int = ...,
    timeout: float = ...,
    total_timeout: float = ...,
    batch: BatchKind | None = ...,
    llm: str = ...,
    options: ModelOptions | None = ...,
    temperature: float | None = ...,
    top_p: float | None = ...,
    max_tokens: int | None = ...,
    structured: Structured | None = ...,
    max_cost: float | None = ...,
    max_tokens_total: int | None = ...,
    max_requests: int | None = ...,
    budget: Budget | None = ...,
    prices: Path | None = ...,
    multiworker: int | None = ...,
) -> Checked:
    """Run every sample of a data folder through the gates and sort the samples by the findings.

    Args:
        data_dir: Folder with `data.json` and the tools; it is not changed.
        out: Output data folder with the passed samples, `gates.jsonl` and the funnel. Its subfolder
            `quarantine/` is a data folder with the doubtful samples. Only the output of an earlier check of
            the same data is replaced.
        gating: Which gates, their options, and the models that judge. The review stored with a label counts
            as that of the model that wrote the label.
        model: Endpoint of critics and solvers; the sampling fields apply to solvers only.
        limits: Limits of each model, earlier starts included.
        force: Start a new run where a model's run had other settings, and replace changed files in `out`;
            copies of both are kept.
        command: Command line, recorded in the manifests.
        screen: Receives messages, results and progress.
        gates: Comma-separated gates to run, of those below [default: all].
        without: Comma-separated gates to skip.
        against: Another data folder or file; requests that repeat one of its requests do not pass.
        threshold: Similarity from which two requests are near duplicates, 0.2 to 1 [default: 0.6].
        repair: First repair mechanical errors; repairs.jsonl lists every change.
        dependency_type: What a link means. resource: an output type of one tool is an input type of the other; temporal: any order; schema: a result of one tool can fill an argument of the other [default: the one in benchmark.json, else by what the tools declare].
        engine: Where the work is done: N processes of this machine, or the workers of a Dask cluster. The output is the same. dask://HOST:PORT?files=s3://BUCKET/FOLDER sends the data to the workers.
        critic: Model that reviews each sample: one that finds a fault quarantines the sample, two reject it; 'offline' needs no server.
        solver: Model that solves the requests without seeing the gold; a sample that none gets right is quarantined.
        prediction_dir: Folder of the solvers' predictions, relative to the data folder [default: OUT/predictions].
        calibration: calibration.json of `toolassay check --calibrate` for a critic; stated beside the result.
        api_base: Base URL of an OpenAI-compatible server, e.g. https://host/v1 [default: OPENAI_BASE_URL, else http://localhost:4000/v1].
        api_addr: Host of the server.
        api_port: Port of the server.
        api_key: API key. Never stored. Prefer OPENAI_API_KEY, in the environment or in a .env file.
        api: API of the server: OpenAI's Chat Completions or Responses, or Anthropic's Messages, whose key is ANTHROPIC_API_KEY [default: by the address, else chat].
        extra_body: JSON file with additional fields of the request body; null omits a parameter that would be sent by default, e.g. {"presence_penalty": null}.
        extra_headers: JSON file with additional HTTP headers.
        client: HTTP client. 'openai' is OpenAI's SDK, for proxies and Azure (AZURE_OPENAI_ENDPOINT).
        stream: Stream answers token by token; also measures the time to the first token.
        max_tries: Maximum attempts per request. The count restarts after a 429 while the server answers other requests.
        timeout: Seconds without a byte from the server after which an attempt ends.
        total_timeout: Maximum seconds of one attempt.
        batch: Send all requests as a batch. openai: by the server's Batch API, at half the price, within a day; vllm: a file for vLLM's run_batch, which you run; then repeat the command.
        llm: Name of a served or registered model, or a built-in model that needs no server: offline, or one of the baselines nothing and random.
        temperature: Sampling temperature, 0 or more.
        top_p: Nucleus sampling probability, 0 to 1.
        max_tokens: Maximum tokens of an answer, reasoning included [default: that of the stage or benchmark].
        structured: Make the server constrain answers to a JSON schema. auto: if the server supports it; true: stop if it does not [default: that of the stage or benchmark].
        max_cost: Maximum cost of a run in US dollars, over all starts.
        max_tokens_total: Maximum tokens of prompts and answers of a run.
        max_requests: Maximum requests of a run, failed ones included.
        prices: CSV table of prices; takes precedence over the prices of genai-prices.
        multiworker: Maximum concurrent requests [default: adaptive].

    Raises:
        UsageError: A file is missing or malformed, `out` must not be replaced or is being written by another
            check, or a gate is unknown. Nothing is written then.
        ToolassayError: A model cannot be reached.
    """

def compare(
    *models: str | Path,
    data_dir: str | Path | None = ...,
    prediction_dir: str | Path = ...,
    settings: ComparisonSettings = ...,
    save: str | Path | None = ...,
    screen: Screen = ...,
    metrics: Sequence[str] = ...,
    split: str = ...,
    n_tools: str | int = ...,
    resamples: int = ...,
    seed: int = ...,
) -> Comparison:
    """Compare models on the items they share; the first model is the baseline.

    Args:
        models: Two or more models, each as a name in the data folder's metrics or as the path of an
            `.items.jsonl` or metrics `.json` file.
        data_dir: Data folder; not needed if all models are paths.
        prediction_dir: Prediction folder whose metrics are compared, as for `evaluate`.
        settings: Which scores and items, and the resamples of bootstrap and randomisation test.
        save: JSON file for the result.
        screen: Receives messages, results and progress.
        metrics: Strict metric, e.g. node_f1 [default: all].
        split: Shape of the gold plan: overall, single, chain, dag.
        n_tools: Number of tools of the gold plan: overall, 1 to 10.
        resamples: Resamples of intervals and tests.
        seed: Random seed of the resamples.

    Returns:
        For each model and the baseline: means, difference with 95 % interval, p-values, and the smallest
        detectable effect.

    Raises:
        UsageError: There are fewer than two models, one was not evaluated, or their items do not match.
    """

@overload
def evaluate(
    data_dir: str | Path,
    *,
    llm: str,
    prediction_dir: str | Path = ...,
    save_dir: str | Path | None = ...,
    ids: Path | Collection[str | int] | None = ...,
    limit: int | None = ...,
    own: Any = ...,
    engine: str | None = ...,
    judge: str | None = ...,
    options: ModelOptions | None = ...,
    screen: Screen = ...,
    alignment: str | None = ...,
    splits: Sequence[str] = ...,
    n_tools: Sequence[str | int] = ...,
    mode: Literal['add', 'mul'] = ...,
    metrics: Sequence[str] = ...,
    dependency_type: str | None = ...,
    prompting: str = ...,
    keep: Literal['first', 'last', 'error'] = ...,
    rouge_median: bool = ...,
    compat: Literal['published'] | None = ...,
    bertscore_model: str | Path | None = ...,
    bertscore_layers: int | None = ...,
    bertscore_device: str | None = ...,
    with_bertscore: bool = ...,
    resamples: int = ...,
    seed: int = ...,
    rouge_backend: Literal['builtin', 'rouge-score'] = ...,
    allow_tools: bool = ...,
    orders: Sequence[Path | str] = ...,
    api_base: str | None = ...,
    api_addr: str | None = ...,
    api_port: int | None = ...,
    api_key: str | None = ...,
    api: Api | None = ...,
    connections: int | None = ...,
    sampling: Mapping[str, float] = ...,
    extra_body: Mapping[str, Any] = ...,
    extra_headers: Mapping[str, str] = ...,
    client: ClientName = ...,
    stream: bool = ...,
    max_tries: int = ...,
    refusals: Refusals | None = ...,
    version_path: VersionPath | None = ...,
    schemas: SchemaForms | None = ...,
    require_schema: bool = ...,
    tell: Callable[[str], None] | None = ...,
    timeout: float = ...,
    total_timeout: float = ...,
    batch: BatchKind | None = ...,
    make_transport: Callable[[str, ModelOptions], Any] | None = ...,
) -> FolderEvaluation:
    """Score the predictions of one or several models and write `leaderboard.md`.

    Args:
        data_dir: Data folder of any benchmark.
        llm: Name of a model, or of several; None for every model with a prediction file.
        prediction_dir: Prediction folder, below `data_dir` or as a path.
        save_dir: Output folder, below `data_dir`; default: the name of the prediction folder with "metrics"
            in place of "predictions".
        ids: Score only these items; the formats are those of `infer`.
        limit: Score only the items that `infer` runs with this limit.
        own: Options of the folder's benchmark, an instance of its `options.scoring`; None for the defaults.
        engine: Where the items are scored: `local:N` for N processes, `dask://HOST:PORT` for a cluster; None
            for this machine.
        judge: Model that decides about facts of a final text where the rule cannot; its answers are kept.
        options: Endpoint of the judge.
        screen: Receives messages, results and progress.
        alignment: Score only the items that these critics accept (alignment_ids.json), or one split: train, dev, test.
        splits: Shapes to report: overall, single, chain, dag, all.
        n_tools: Numbers of tools to report: overall, 1 to 10, all.
        mode: Groups to report. add: each split, then each number of tools; mul: every combination.
        metrics: Metrics: f1, ed, link, argument, rouge, bertscore, registered ones, all.
        dependency_type: What a link means. resource: an output type of one tool is an input type of the other; temporal: any order; schema: a result of one tool can fill an argument of the other [default: the one in benchmark.json, else by what the tools declare].
        prompting: Prompting method of the predictions; any other than cot skips the metrics of steps.
        keep: Line to score if an id has several; error: stop.
        rouge_median: Add ROUGE as published: the median of bootstrapped means.
        compat: Compute published numbers also where they are not meaningful: resource tools with '_' in a name.
        bertscore_model: Model of BERTScore: a folder, or a name on the Hugging Face hub, which may be downloaded [default: roberta-large if on this disk].
        bertscore_layers: Layers of the model to run [default: the known best number, or all].
        bertscore_device: Device for BERTScore [default: cuda if available, else cpu].
        rouge_backend: Implementation of ROUGE: built in, or the package rouge-score.
        allow_tools: Run the tools.py of the data folder, which is Python code.
        orders: Prediction folder of a run with another order of the workflows.
        api_base: Base URL of an OpenAI-compatible server, e.g. https://host/v1 [default: OPENAI_BASE_URL, else http://localhost:4000/v1].
        api_addr: Host of the server.
        api_port: Port of the server.
        api_key: API key. Never stored. Prefer OPENAI_API_KEY, in the environment or in a .env file.
        api: API of the server: OpenAI's Chat Completions or Responses, or Anthropic's Messages, whose key is ANTHROPIC_API_KEY [default: by the address, else chat].
        extra_body: JSON file with additional fields of the request body; null omits a parameter that would be sent by default, e.g. {"presence_penalty": null}.
        extra_headers: JSON file with additional HTTP headers.
        client: HTTP client. 'openai' is OpenAI's SDK, for proxies and Azure (AZURE_OPENAI_ENDPOINT).
        stream: Stream answers token by token; also measures the time to the first token.
        max_tries: Maximum attempts per request. The count restarts after a 429 while the server answers other requests.
        timeout: Seconds without a byte from the server after which an attempt ends.
        total_timeout: Maximum seconds of one attempt.
        batch: Send all requests as a batch. openai: by the server's Batch API, at half the price, within a day; vllm: a file for vLLM's run_batch, which you run; then repeat the command.

    Returns:
        The result of the model that is named; a list of results for several names or None.

    Raises:
        UsageError: A file is missing or malformed.
        IncompleteEvaluation: Some of several models cannot be scored; it carries the scores of the others.
    """

@overload
def evaluate(
    data_dir: str | Path,
    *,
    llm: list[str] | tuple[str, ...] | None = ...,
    prediction_dir: str | Path = ...,
    save_dir: str | Path | None = ...,
    ids: Path | Collection[str | int] | None = ...,
    limit: int | None = ...,
    own: Any = ...,
    engine: str | None = ...,
    judge: str | None = ...,
    options: ModelOptions | None = ...,
    screen: Screen = ...,
    alignment: str | None = ...,
    splits: Sequence[str] = ...,
    n_tools: Sequence[str | int] = ...,
    mode: Literal['add', 'mul'] = ...,
    metrics: Sequence[str] = ...,
    dependency_type: str | None = ...,
    prompting: str = ...,
    keep: Literal['first', 'last', 'error'] = ...,
    rouge_median: bool = ...,
    compat: Literal['published'] | None = ...,
    bertscore_model: str | Path | None = ...,
    bertscore_layers: int | None = ...,
    bertscore_device: str | None = ...,
    with_bertscore: bool = ...,
    resamples: int = ...,
    seed: int = ...,
    rouge_backend: Literal['builtin', 'rouge-score'] = ...,
    allow_tools: bool = ...,
    orders: Sequence[Path | str] = ...,
    api_base: str | None = ...,
    api_addr: str | None = ...,
    api_port: int | None = ...,
    api_key: str | None = ...,
    api: Api | None = ...,
    connections: int | None = ...,
    sampling: Mapping[str, float] = ...,
    extra_body: Mapping[str, Any] = ...,
    extra_headers: Mapping[str, str] = ...,
    client: ClientName = ...,
    stream: bool = ...,
    max_tries: int = ...,
    refusals: Refusals | None = ...,
    version_path: VersionPath | None = ...,
    schemas: SchemaForms | None = ...,
    require_schema: bool = ...,
    tell: Callable[[str], None] | None = ...,
    timeout: float = ...,
    total_timeout: float = ...,
    batch: BatchKind | None = ...,
    make_transport: Callable[[str, ModelOptions], Any] | None = ...,
) -> Evaluations:
    """Score the predictions of one or several models and write `leaderboard.md`.

    Args:
        data_dir: Data folder of any benchmark.
        llm: Name of a model, or of several; None for every model with a prediction file.
        prediction_dir: Prediction folder, below `data_dir` or as a path.
        save_dir: Output folder, below `data_dir`; default: the name of the prediction folder with "metrics"
            in place of "predictions".
        ids: Score only these items; the formats are those of `infer`.
        limit: Score only the items that `infer` runs with this limit.
        own: Options of the folder's benchmark, an instance of its `options.scoring`; None for the defaults.
        engine: Where the items are scored: `local:N` for N processes, `dask://HOST:PORT` for a cluster; None
            for this machine.
        judge: Model that decides about facts of a final text where the rule cannot; its answers are kept.
        options: Endpoint of the judge.
        screen: Receives messages, results and progress.
        alignment: Score only the items that these critics accept (alignment_ids.json), or one split: train, dev, test.
        splits: Shapes to report: overall, single, chain, dag, all.
        n_tools: Numbers of tools to report: overall, 1 to 10, all.
        mode: Groups to report. add: each split, then each number of tools; mul: every combination.
        metrics: Metrics: f1, ed, link, argument, rouge, bertscore, registered ones, all.
        dependency_type: What a link means. resource: an output type of one tool is an input type of the other; temporal: any order; schema: a result of one tool can fill an argument of the other [default: the one in benchmark.json, else by what the tools declare].
        prompting: Prompting method of the predictions; any other than cot skips the metrics of steps.
        keep: Line to score if an id has several; error: stop.
        rouge_median: Add ROUGE as published: the median of bootstrapped means.
        compat: Compute published numbers also where they are not meaningful: resource tools with '_' in a name.
        bertscore_model: Model of BERTScore: a folder, or a name on the Hugging Face hub, which may be downloaded [default: roberta-large if on this disk].
        bertscore_layers: Layers of the model to run [default: the known best number, or all].
        bertscore_device: Device for BERTScore [default: cuda if available, else cpu].
        rouge_backend: Implementation of ROUGE: built in, or the package rouge-score.
        allow_tools: Run the tools.py of the data folder, which is Python code.
        orders: Prediction folder of a run with another order of the workflows.
        api_base: Base URL of an OpenAI-compatible server, e.g. https://host/v1 [default: OPENAI_BASE_URL, else http://localhost:4000/v1].
        api_addr: Host of the server.
        api_port: Port of the server.
        api_key: API key. Never stored. Prefer OPENAI_API_KEY, in the environment or in a .env file.
        api: API of the server: OpenAI's Chat Completions or Responses, or Anthropic's Messages, whose key is ANTHROPIC_API_KEY [default: by the address, else chat].
        extra_body: JSON file with additional fields of the request body; null omits a parameter that would be sent by default, e.g. {"presence_penalty": null}.
        extra_headers: JSON file with additional HTTP headers.
        client: HTTP client. 'openai' is OpenAI's SDK, for proxies and Azure (AZURE_OPENAI_ENDPOINT).
        stream: Stream answers token by token; also measures the time to the first token.
        max_tries: Maximum attempts per request. The count restarts after a 429 while the server answers other requests.
        timeout: Seconds without a byte from the server after which an attempt ends.
        total_timeout: Maximum seconds of one attempt.
        batch: Send all requests as a batch. openai: by the server's Batch API, at half the price, within a day; vllm: a file for vLLM's run_batch, which you run; then repeat the command.

    Returns:
        The result of the model that is named; a list of results for several names or None.

    Raises:
        UsageError: A file is missing or malformed.
        IncompleteEvaluation: Some of several models cannot be scored; it carries the scores of the others.
    """

def verify(
    data_dir: str | Path,
    *,
    llm: str,
    prediction_dir: str | Path = ...,
    metrics_dir: str | Path | None = ...,
    own: Any = ...,
    screen: Screen = ...,
    allow_tools: bool = ...,
    orders: Sequence[Path | str] = ...,
) -> Verification:
    """Recompute predictions and scores of a model from its journal and report differences.

    Nothing is written to the data folder.

    Args:
        data_dir: Data folder of any benchmark.
        llm: Name of the model.
        prediction_dir: Prediction folder, below `data_dir` or as a path; its `runs/<llm>/journal.jsonl` has
            the raw answers.
        metrics_dir: Metrics folder, below `data_dir` or as a path; default: that of the predictions.
        own: Options of the benchmark that the scores were made with, an instance of its `options.scoring`.
        screen: Receives messages, results and progress.
        allow_tools: Run the tools.py of the data folder, which is Python code.
        orders: Prediction folder of a run with another order of the workflows.

    Raises:
        UsageError: There is no journal or no prediction file, or a file is malformed.
    """

def execute(
    data_dir: str | Path,
    *,
    executor: str,
    options: Any = ...,
    settings: ExecutionSettings = ...,
    predictions: str | None = ...,
    prediction_dir: str | Path = ...,
    screen: Screen = ...,
    server: str = ...,
    mcp_config: str = ...,
    header: Sequence[str] = ...,
    workspace: str = ...,
    fresh: Literal['plan', 'worker'] = ...,
    functions: str = ...,
    pass_env: Sequence[str] = ...,
    workplace: str = ...,
    allow_writes: bool = ...,
    allow_tools: bool = ...,
    workers: int = ...,
    max_seconds: float = ...,
    max_result: int = ...,
    max_memory: int = ...,
    twice: bool = ...,
    wrong_calls: float = ...,
    ignore: Sequence[str] = ...,
    limit: int | None = ...,
    seed: int = ...,
    force: bool = ...,
) -> Executed:
    """Execute the gold plans of a folder, or a model's predictions, and record what happened.

    Plans whose end is recorded are not executed again. Those without a result through no fault of their own
    are tried again by the next start.

    Args:
        data_dir: Data folder.
        executor: Name of the executor: "mcp", "python", "world", or one that a benchmark or an installed
            package brings.
        options: Options object of the executor; None for the defaults.
        settings: Further options.
        predictions: Name of a model: execute its predictions and judge them by their outcome.
        prediction_dir: Folder of the predictions.
        screen: Receives messages, results and progress.
        server: mcp: command line that starts the server, or its http(s) address.
        mcp_config: mcp: configuration file with mcpServers.
        header: mcp: header for an address.
        workspace: mcp, python: folder to copy for each plan; {workspace} in the command, and /workspace in arguments and results, stand for the copy.
        fresh: mcp, python: 'plan' starts a new process on a new copy for each plan, without --workspace after each plan that writes; 'worker' one process for many plans, whose copy is restored before each.
        functions: python: module or file with the functions; needs --allow_tools.
        pass_env: python: variable of the environment that the functions see.
        workplace: workbench: folder with the workplace, if that is not the data folder.
        allow_writes: Permit tools that the server does not mark as read-only.
        allow_tools: Run Python code of the data folder, or that --functions names.
        workers: Plans executed at the same time.
        max_seconds: Seconds for one call.
        max_result: Bytes of one result.
        max_memory: MiB of memory of a server or a function.
        twice: Execute each plan twice and record which results vary, such as the time.
        wrong_calls: Share of the plans for which a call with a mistake is executed too, for `export --recoveries`.
        ignore: Places of the state that are not compared, e.g. '*.log'.
        limit: Only the first N plans.
        seed: Random seed of wrong calls, and of a world by rules.
        force: Start again with other settings; earlier executions are kept under a dated name.

    Raises:
        UsageError: The executor cannot be used as given, a file is missing or malformed, or the settings
            differ from those of earlier executions.
    """

def export(
    data_dir: str | Path,
    *,
    to: str,
    out: str | Path,
    splits: str | Path | None = ...,
    dependency_type: str | None = ...,
    level: Level | None = ...,
    chats: ChatForm = ...,
    licence: str | None = ...,
    force: bool = ...,
    screen: Screen = ...,
    results: Literal['executed', 'references', 'none'] | None = ...,
    tools: int | Literal['all', 'gold'] | None = ...,
    system: str = ...,
    closing: str | None = ...,
    parallel: bool = ...,
    arguments: Literal['text', 'object'] = ...,
    recoveries: float = ...,
    seed: int = ...,
) -> Exported:
    """Export the gold plans of a folder for training or sharing.

    If several labels have one id, the last is used. Samples and results are streamed; only ids are kept in
    memory.

    Args:
        data_dir: Folder with `data.json` and the tools.
        to: Name of the format: "hf" (Parquet), "jsonl" (the same rows), "openai" or "sharegpt" (chats with
            tool calls), or one of an installed package.
        out: Output folder; the output of an earlier export is replaced.
        splits: Split file of `toolassay split` or in the published format; default: that of the folder, if
            any; "none" for no splits.
        dependency_type: "resource", "temporal" or "schema"; default: the type in `benchmark.json`.
        level: Lowest level of `gates.jsonl` to export; samples without a level are left out too.
        chats: How chats are written.
        licence: Licence for the card; default: that in `benchmark.json`, else unknown.
        force: Replace files of another program; dated copies are kept.
        screen: Receives messages, results and progress.
        results: Results of the calls. executed: what the tools returned, from DATA_DIR/executions.jsonl (toolassay execute); references: <node-j> in their place; none: calls only, all in one message [default: executed if that file exists, else references].
        tools: Functions that a chat offers: all, gold (those of its plan), or a number [default: all, up to 128].
        system: System message of the chats, or a text file that holds it.
        closing: Last message of a chat; $results is replaced by an answer that states the results. none: the chat ends with its last call [default: $results if they are executed, else 'Done: $results'].
        parallel: Put calls that do not depend on each other in one turn.
        arguments: openai: form of the arguments of a call. text: a JSON string, as in OpenAI's API; object: for most chat templates.
        recoveries: Share of the samples with a wrong call and the tool's error before the right call (toolassay execute --wrong_calls).
        seed: Random seed of the functions that --tools draws, and of --recoveries.

    Raises:
        UsageError: A file is missing or malformed, the folder must not be replaced, or a package is missing.
        ToolassayError: No sample can be exported; nothing is written then.
    """

def generate(
    data_dir: str | Path | None = ...,
    *,
    graph_desc: str | Path | None = ...,
    tool_desc: str | Path | None = ...,
    dependency_type: str | None = ...,
    model: ModelSettings = ...,
    limits: Limits = ...,
    samples: SampleSettings = ...,
    writing: WritingSettings = ...,
    choices: RunStart = ...,
    live: LiveSettings | None = ...,
    command: Sequence[str] | None = ...,
    screen: Screen = ...,
    api_base: str | None = ...,
    api_addr: str | None = ...,
    api_port: int | None = ...,
    api_key: str | None = ...,
    api: Api | None = ...,
    extra_body: Mapping[str, Any] = ...,
    extra_headers: Mapping[str, str] = ...,
    client: ClientName = ...,
    stream: bool = ...,
    max_tries: int = ...,
    timeout: float = ...,
    total_timeout: float = ...,
    batch: BatchKind | None = ...,
    llm: str = ...,
    options: ModelOptions | None | Any = ...,
    temperature: float | None = ...,
    top_p: float | None = ...,
    max_tokens: int | None = ...,
    structured: Structured | None = ...,
    max_cost: float | None = ...,
    max_tokens_total: int | None = ...,
    max_requests: int | None = ...,
    budget: Budget | None = ...,
    prices: Path | None = ...,
    multiworker: int | None = ...,
    number_of_samples: int | None = ...,
    seed: int = ...,
    method: Shape | None = ...,
    tool_number: int | None = ...,
    shape_weights: Mapping[str, float] | None = ...,
    size_weights: Mapping[str, float] | None = ...,
    by_score: bool = ...,
    cover: Literal['tools', 'edges'] | None = ...,
    at_least: int = ...,
    until: int | None = ...,
    today: date | str | None = ...,
    check: bool = ...,
    prompt: Literal['default', 'example'] = ...,
    prompt_template: Path | None = ...,
    save_figure: bool = ...,
    rewrite: int | None = ...,
    critic: Sequence[str] = ...,
    difficulty: Literal['easy', 'mixed', 'hard'] | None = ...,
    follow: Literal['seed', 'strict'] | None = ...,
    force: bool = ...,
    dry_run: bool = ...,
    batch_cancel: bool = ...,
    engine: str | None = ...,
    server: str = ...,
    mcp_config: str = ...,
    header: Sequence[str] = ...,
    workspace: str = ...,
    fresh: Literal['plan', 'worker'] = ...,
    functions: str = ...,
    pass_env: Sequence[str] = ...,
    workplace: str = ...,
    values_from: str = ...,
    executor: str = ...,
    allow_writes: bool = ...,
    allow_tools: bool = ...,
) -> tuple[Path, bool]:
    """Generate requests with gold plans for samples of a tool graph.

    Args:
        data_dir: Data folder. An existing one is used with its own graph and tools; a new one gets copies of
            `graph_desc` and `tool_desc`. None creates a folder named after the time and the model.
        graph_desc: Graph file, as a path or inside `data_dir`.
        tool_desc: Tool file, as a path or inside `data_dir`.
        dependency_type: "resource", "temporal" or "schema"; default: the type in `benchmark.json`.
        model: The generating model; by default with temperature 0.7, top_p 1 and `structured` "auto".
            "offline" needs no server. `max_tokens`, default 2,500, may differ between starts: samples without
            a usable answer are sent again with the new limit.
        limits: Limits of the run, earlier starts included.
        samples: Which subgraphs are sampled.
        writing: How requests are written.
        choices: How the run starts.
        live: A server whose values requests name. Where answers are rewritten, each plan is executed when it
            is written, and a refused call goes back to the writer (the offline one: 5 times by default).
        command: Command line, recorded in the manifest.
        screen: Receives messages, results and progress.
        api_base: Base URL of an OpenAI-compatible server, e.g. https://host/v1 [default: OPENAI_BASE_URL, else http://localhost:4000/v1].
        api_addr: Host of the server.
        api_port: Port of the server.
        api_key: API key. Never stored. Prefer OPENAI_API_KEY, in the environment or in a .env file.
        api: API of the server: OpenAI's Chat Completions or Responses, or Anthropic's Messages, whose key is ANTHROPIC_API_KEY [default: by the address, else chat].
        extra_body: JSON file with additional fields of the request body; null omits a parameter that would be sent by default, e.g. {"presence_penalty": null}.
        extra_headers: JSON file with additional HTTP headers.
        client: HTTP client. 'openai' is OpenAI's SDK, for proxies and Azure (AZURE_OPENAI_ENDPOINT).
        stream: Stream answers token by token; also measures the time to the first token.
        max_tries: Maximum attempts per request. The count restarts after a 429 while the server answers other requests.
        timeout: Seconds without a byte from the server after which an attempt ends.
        total_timeout: Maximum seconds of one attempt.
        batch: Send all requests as a batch. openai: by the server's Batch API, at half the price, within a day; vllm: a file for vLLM's run_batch, which you run; then repeat the command.
        llm: Name of a served or registered model, or a built-in model that needs no server: offline, or one of the baselines nothing and random.
        temperature: Sampling temperature, 0 or more.
        top_p: Nucleus sampling probability, 0 to 1.
        max_tokens: Maximum tokens of an answer, reasoning included [default: that of the stage or benchmark].
        structured: Make the server constrain answers to a JSON schema. auto: if the server supports it; true: stop if it does not [default: that of the stage or benchmark].
        max_cost: Maximum cost of a run in US dollars, over all starts.
        max_tokens_total: Maximum tokens of prompts and answers of a run.
        max_requests: Maximum requests of a run, failed ones included.
        prices: CSV table of prices; takes precedence over the prices of genai-prices.
        multiworker: Maximum concurrent requests [default: adaptive].
        number_of_samples: Total number of samples, existing ones included [default: the published 5000, whose estimated cost is shown first; or as --cover and --until say].
        seed: Random seed; -1 uses that of the folder, or draws one, prints it and records it.
        method: Sample only this shape.
        tool_number: Sample only subgraphs with this many tools.
        shape_weights: Relative frequency of each shape [default: single=3,chain=7,dag=8].
        size_weights: Relative frequency of each number of tools, e.g. 2=0.1,3=0.2,4=0.3.
        by_score: In a schema graph, draw links in proportion to their scores; false: all links are equally likely.
        cover: Steer the sampling so that every tool, or every edge, occurs in samples where possible; sets the default number of samples.
        at_least: With --cover: in how many samples.
        until: Go on until N samples pass the gates, within the limits; with --cover until passing samples have each tool or edge.
        today: Date on which the requests are made: prompts say it, agents and tool servers have it as the variable TOOLASSAY_TODAY [default: that of the folder, else none].
        check: Also request the model's review of its own sample, in the same answer.
        prompt: Built-in prompt. 'example' shows a short worked example instead of placeholders, for small models.
        prompt_template: Text file with your own prompt template.
        save_figure: Draw each new sample into task_graphs/.
        rewrite: How often an answer that does not pass the gates goes back to the model with what they found [default: 3 with --follow seed; 2 with critics, and for `offline` with tools of your own; else 0].
        critic: With --rewrite: model that reviews what the gates let pass.
        difficulty: With a served model and imported tools: draw kinds of tasks (look up, choose, for each, count, two goals, a detour) and manners of saying them, up to 12 calls.
        follow: seed: the sampled tools are an idea, from which the model plans a goal of its own, or declines; strict: the plan has exactly the sampled tools and links [default: seed for a served model and imported tools, else strict].
        force: Start a new run if the settings differ from the existing run, which is kept.
        dry_run: Show what would be sent and its estimated cost. Sends and writes nothing.
        batch_cancel: With --batch: cancel the open batches of the run, keep what they have answered, submit nothing.
        engine: Where the work is done: N processes of this machine, or the workers of a Dask cluster. The output is the same. dask://HOST:PORT?files=s3://BUCKET/FOLDER sends the data to the workers.
        server: mcp: command line that starts the server, or its http(s) address.
        mcp_config: mcp: configuration file with mcpServers.
        header: mcp: header for an address.
        workspace: mcp, python: folder to copy for each plan; {workspace} in the command, and /workspace in arguments and results, stand for the copy.
        fresh: mcp, python: 'plan' starts a new process on a new copy for each plan, without --workspace after each plan that writes; 'worker' one process for many plans, whose copy is restored before each.
        functions: python: module or file with the functions; needs --allow_tools.
        pass_env: python: variable of the environment that the functions see.
        workplace: workbench: folder with the workplace, if that is not the data folder.
        values_from: Collect real values of arguments from this executor first (values.json), use them in requests, and execute each plan when it is written; what is refused goes back to the writer (a served model: with --rewrite N).
        allow_writes: Permit tools that the server does not mark as read-only.
        allow_tools: Run Python code of the data folder, or that --functions names.

    Returns:
        The data folder, and whether every sample has a usable answer. The input is validated before
        anything is written.

    Raises:
        UsageError: A file is missing or malformed, or the settings differ from those of the folder's run.
        ToolassayError: The model cannot be reached.
    """

def sample(
    data_dir: str | Path,
    *,
    graph_desc: str | Path | None = ...,
    settings: SubgraphSettings = ...,
    screen: Screen = ...,
    sample_method: Literal['single', 'chain', 'dag', 'any'] | None = ...,
    method: Literal['single', 'chain', 'dag', 'any'] | None = ...,
    num_nodes: int | None = ...,
    tools: int | None = ...,
    number_of_samples: int = ...,
    seed: int = ...,
    shape_weights: Mapping[str, float] | None = ...,
    size_weights: Mapping[str, float] | None = ...,
    by_score: bool = ...,
    cover: Literal['tools', 'edges'] | None = ...,
    dependency_type: str | None = ...,
    save_figure: bool = ...,
) -> list[Sample]:
    """Sample subgraphs of a tool graph and print them.

    Args:
        data_dir: Data folder with the graph; drawings are written to its `task_graphs/`.
        graph_desc: Another graph file.
        settings: Which subgraphs.
        screen: Receives messages, results and progress.
        sample_method: Shape of the subgraphs; any: by weight.
        num_nodes: Number of tools of a subgraph [default: 3; drawn by --size_weights for 'any'].
        number_of_samples: Number of subgraphs.
        seed: Random seed; -1 draws one and prints it.
        shape_weights: Relative frequency of each shape [default: single=3,chain=7,dag=8].
        size_weights: Relative frequency of each number of tools, e.g. 2=0.1,3=0.2,4=0.3.
        by_score: In a schema graph, draw links in proportion to their scores; false: all links are equally likely.
        cover: Each sample has another tool, or another edge [needs --sample_method any].
        dependency_type: What a link means. resource: an output type of one tool is an input type of the other; temporal: any order; schema: a result of one tool can fill an argument of the other [default: the one in benchmark.json, else by what the tools declare].
        save_figure: Draw each sample into DATA_DIR/task_graphs/.

    Raises:
        UsageError: There is no graph, or no subgraph of that size; the message names the largest size.
    """

def build_graph(
    data_dir: str | Path | None = ...,
    *,
    tool_desc: str | Path | None = ...,
    dependency_type: str | None = ...,
    max_links: int | None = ...,
    normalise_types: bool = ...,
    links: LinkOptions = ...,
    screen: Screen = ...,
    api_base: str | None = ...,
    api_addr: str | None = ...,
    api_port: int | None = ...,
    api_key: str | None = ...,
    api: Api | None = ...,
    extra_body: Mapping[str, Any] = ...,
    extra_headers: Mapping[str, str] = ...,
    client: ClientName = ...,
    stream: bool = ...,
    max_tries: int = ...,
    timeout: float = ...,
    total_timeout: float = ...,
    batch: BatchKind | None = ...,
    max_cost: float | None = ...,
    max_tokens_total: int | None = ...,
    max_requests: int | None = ...,
    prices: Path | None = ...,
    multiworker: int | None = ...,
    propose: str | ProposeOptions | None = ...,
    force: bool = ...,
    dry_run: bool = ...,
    min_confidence: float | None = ...,
    max_edges_per_tool: int | None = ...,
    traces: Sequence[Path] = ...,
    changes: Sequence[Edit] = ...,
    undo: Sequence[tuple[str, str]] = ...,
    edits: Sequence[Path] = ...,
    explain: tuple[str, str] | None = ...,
) -> ToolGraph:
    """Build a tool graph and write `graph_desc.json`.

    Args:
        data_dir: Output folder, created if missing; default: the folder of `tool_desc`.
        tool_desc: Tool file, as a path or inside `data_dir`; default: that of `data_dir`.
        dependency_type: "resource", "temporal" or "schema"; default: the type in `benchmark.json`, else the
            tools'.
        max_links: Maximum number of links to write; with more, they stay implied by the types.
        normalise_types: Unify different spellings of a resource type.
        links: Options of the links of a schema graph.
        screen: Receives messages, results and progress.
        api_base: Base URL of an OpenAI-compatible server, e.g. https://host/v1 [default: OPENAI_BASE_URL, else http://localhost:4000/v1].
        api_addr: Host of the server.
        api_port: Port of the server.
        api_key: API key. Never stored. Prefer OPENAI_API_KEY, in the environment or in a .env file.
        api: API of the server: OpenAI's Chat Completions or Responses, or Anthropic's Messages, whose key is ANTHROPIC_API_KEY [default: by the address, else chat].
        extra_body: JSON file with additional fields of the request body; null omits a parameter that would be sent by default, e.g. {"presence_penalty": null}.
        extra_headers: JSON file with additional HTTP headers.
        client: HTTP client. 'openai' is OpenAI's SDK, for proxies and Azure (AZURE_OPENAI_ENDPOINT).
        stream: Stream answers token by token; also measures the time to the first token.
        max_tries: Maximum attempts per request. The count restarts after a 429 while the server answers other requests.
        timeout: Seconds without a byte from the server after which an attempt ends.
        total_timeout: Maximum seconds of one attempt.
        batch: Send all requests as a batch. openai: by the server's Batch API, at half the price, within a day; vllm: a file for vLLM's run_batch, which you run; then repeat the command.
        max_cost: Maximum cost of a run in US dollars, over all starts.
        max_tokens_total: Maximum tokens of prompts and answers of a run.
        max_requests: Maximum requests of a run, failed ones included.
        prices: CSV table of prices; takes precedence over the prices of genai-prices.
        multiworker: Maximum concurrent requests [default: adaptive].
        propose: Served model that proposes links, and the fields of results that are not declared; one request for up to six tools. Proposals are kept in DATA_DIR/graph_proposals and applied to later graphs.
        force: Restart a run whose settings differ; the old one is kept.
        dry_run: Show what the model would receive and its cost. Sends and writes nothing.
        min_confidence: Least score of a link [default: that of the last graph, at first 0.4]. Links that were added or pinned are always kept.
        max_edges_per_tool: Maximum number of links from each tool, the best; 0: no limit [default: that of the last graph, at first no limit].
        traces: File of recorded calls, one sequence per line. Their links are kept for later graphs in graph_traces.json.
        undo: Take back the correction of a link.
        edits: Add the corrections of a file; those that do not fit are reported.
        explain: Show why there is or is no link from tool A to tool B. Writes nothing.

    Returns:
        The graph, which is not written if `explain` or a dry run is given.

    Raises:
        UsageError: There are no tools, they do not allow such a graph, an option is for another kind of
            graph, or the graph would replace the tools.
        IncompleteError: The model was not asked about every tool; the graph is written.
    """

def visualize(
    data_dir: str | Path,
    *,
    graph_desc: str | Path | None = ...,
    screen: Screen = ...,
) -> list[Path]:
    """Draw the tool graph of a folder.

    Args:
        data_dir: Data folder with `graph_desc.json`.
        graph_desc: Another graph file.
        screen: Receives messages, results and progress.

    Returns:
        The files written beside the graph: PNG, PDF and the HTML page; a warning names the reason where the
        graph is too large for a picture or for the page.

    Raises:
        UsageError: There is no graph, or `graph_edits.json` is malformed.
    """

def infer(
    data_dir: str | Path,
    *,
    model: ModelSettings = ...,
    limits: Limits = ...,
    choices: RunChoices = ...,
    own: Any = ...,
    security: Security = ...,
    judge: str | None = ...,
    command: Sequence[str] | None = ...,
    screen: Screen = ...,
    api_base: str | None = ...,
    api_addr: str | None = ...,
    api_port: int | None = ...,
    api_key: str | None = ...,
    api: Api | None = ...,
    extra_body: Mapping[str, Any] = ...,
    extra_headers: Mapping[str, str] = ...,
    client: ClientName = ...,
    stream: bool = ...,
    max_tries: int = ...,
    timeout: float = ...,
    total_timeout: float = ...,
    batch: BatchKind | None = ...,
    llm: str = ...,
    options: ModelOptions | None = ...,
    temperature: float | None = ...,
    top_p: float | None = ...,
    max_tokens: int | None = ...,
    structured: Structured | None = ...,
    max_cost: float | None = ...,
    max_tokens_total: int | None = ...,
    max_requests: int | None = ...,
    budget: Budget | None = ...,
    prices: Path | None = ...,
    multiworker: int | None = ...,
    force: bool = ...,
    dry_run: bool = ...,
    batch_cancel: bool = ...,
    engine: str | None = ...,
    prediction_dir: str | None = ...,
    limit: int | None = ...,
    ids: Path | Collection[RequestId] | None = ...,
    trials: int = ...,
    retry_malformed: bool = ...,
    server: str = ...,
    mcp_config: str = ...,
    header: Sequence[str] = ...,
    workspace: str = ...,
    fresh: Literal['plan', 'worker'] = ...,
    functions: str = ...,
    pass_env: Sequence[str] = ...,
    workplace: str = ...,
    dependency_type: str | None = ...,
    use_demos: int = ...,
    demo_ids: Sequence[str] = ...,
    reformat: bool = ...,
    reformat_by: str = ...,
    tag: bool = ...,
    log_first_detail: bool = ...,
    prompt: Literal['default', 'example'] = ...,
    prompt_template: Path | None = ...,
    ask: str | None = ...,
    agent_command: str | AgentFunction | None = ...,
    agent_version: str | None = ...,
    tools_in_context: str = ...,
    max_steps: int = ...,
    max_seconds: float = ...,
    executor: str = ...,
    executor_options: Any = ...,
    allow_writes: bool = ...,
    allow_tools: bool = ...,
    agent: str | AgentFunction | None = ...,
    toolkit: str | None = ...,
    resample: int = ...,
    resample_temperature: float = ...,
    act_without_confirmation: bool = ...,
    order: str | None = ...,
    recorded: Path | None = ...,
    none_as: Sequence[str] = ...,
) -> Inference:
    """Run a model on every item of a data folder; items that have an answer are not sent again.

    Args:
        data_dir: Data folder of any benchmark.
        model: The model and its sampling parameters.
        limits: Limits of all trials together.
        choices: Which items to run, how often, and where to write.
        own: Options of the folder's benchmark, an instance of its `options.run`; None for the defaults.
        security: Send prompt-injection probes instead of the items, in a separate run. A string is a mode of
            the benchmark (`BenchmarkOptions.security_modes`).
        judge: With `security`, a model on the same server that judges whether the agent complied.
        command: Command line, recorded in the manifest.
        screen: Receives messages, results and progress.
        api_base: Base URL of an OpenAI-compatible server, e.g. https://host/v1 [default: OPENAI_BASE_URL, else http://localhost:4000/v1].
        api_addr: Host of the server.
        api_port: Port of the server.
        api_key: API key. Never stored. Prefer OPENAI_API_KEY, in the environment or in a .env file.
        api: API of the server: OpenAI's Chat Completions or Responses, or Anthropic's Messages, whose key is ANTHROPIC_API_KEY [default: by the address, else chat].
        extra_body: JSON file with additional fields of the request body; null omits a parameter that would be sent by default, e.g. {"presence_penalty": null}.
        extra_headers: JSON file with additional HTTP headers.
        client: HTTP client. 'openai' is OpenAI's SDK, for proxies and Azure (AZURE_OPENAI_ENDPOINT).
        stream: Stream answers token by token; also measures the time to the first token.
        max_tries: Maximum attempts per request. The count restarts after a 429 while the server answers other requests.
        timeout: Seconds without a byte from the server after which an attempt ends.
        total_timeout: Maximum seconds of one attempt.
        batch: Send all requests as a batch. openai: by the server's Batch API, at half the price, within a day; vllm: a file for vLLM's run_batch, which you run; then repeat the command.
        llm: Name of a served or registered model, or a built-in model that needs no server: offline, or one of the baselines nothing and random.
        temperature: Sampling temperature, 0 or more.
        top_p: Nucleus sampling probability, 0 to 1.
        max_tokens: Maximum tokens of an answer, reasoning included [default: that of the stage or benchmark].
        structured: Make the server constrain answers to a JSON schema. auto: if the server supports it; true: stop if it does not [default: that of the stage or benchmark].
        max_cost: Maximum cost of a run in US dollars, over all starts.
        max_tokens_total: Maximum tokens of prompts and answers of a run.
        max_requests: Maximum requests of a run, failed ones included.
        prices: CSV table of prices; takes precedence over the prices of genai-prices.
        multiworker: Maximum concurrent requests [default: adaptive].
        force: Start a new run if the settings differ from the existing run, which is kept.
        dry_run: Show what would be sent and its estimated cost. Sends and writes nothing.
        batch_cancel: With --batch: cancel the open batches of the run, keep what they have answered, submit nothing.
        engine: Where the work is done: N processes of this machine, or the workers of a Dask cluster. The output is the same. dask://HOST:PORT?files=s3://BUCKET/FOLDER sends the data to the workers.
        prediction_dir: Prediction folder, below the data folder [default: predictions, or predictions_ASK].
        limit: Run only the first N items, in file order.
        ids: Run only the ids in this file: one per line, a JSON list, or split_ids.json:test for a split.
        trials: Number of complete runs of all items; further ones are in trials/N. Limits apply to all together.
        retry_malformed: Retry items with a malformed or truncated answer; other answers are kept. --max_tokens may differ from the first run.
        server: mcp: command line that starts the server, or its http(s) address.
        mcp_config: mcp: configuration file with mcpServers.
        header: mcp: header for an address.
        workspace: mcp, python: folder to copy for each plan; {workspace} in the command, and /workspace in arguments and results, stand for the copy.
        fresh: mcp, python: 'plan' starts a new process on a new copy for each plan, without --workspace after each plan that writes; 'worker' one process for many plans, whose copy is restored before each.
        functions: python: module or file with the functions; needs --allow_tools.
        pass_env: python: variable of the environment that the functions see.
        workplace: workbench: folder with the workplace, if that is not the data folder.
        dependency_type: What a link means. resource: an output type of one tool is an input type of the other; temporal: any order; schema: a result of one tool can fill an argument of the other [default: the one in benchmark.json, else by what the tools declare].
        use_demos: Number of demonstrations in the prompt.
        demo_ids: Ids of the labels to show as demonstrations, separated by commas.
        reformat: Let a model rewrite answers that cannot be parsed as strict JSON.
        reformat_by: Model for --reformat; self is the model under test.
        tag: Add demonstrations and reformatting to the name of the prediction folder, as published.
        log_first_detail: Print the first prompt and its answer.
        prompt: Built-in prompt. 'example' shows a short worked example instead of placeholders, for small models.
        prompt_template: File with your own prompt template.
        ask: What to request of imported tools: a plan; calls: all native calls in one answer; tools: native calls step by step, with results from --executor; react: the same with actions in text. Predictions are in predictions_ASK [default: tools on imported tools, unless there is a folder predictions; else plan].
        agent_command: Run your own agent instead of a model, e.g. 'python my_agent.py'. --llm names its predictions, in predictions_agents.
        agent_version: Your name for the state of the agent, e.g. a commit, instead of the content of its files. A run goes on with the same agent only.
        tools_in_context: Tools that a request shows: all; retrieved:K, the K best by BM25; retrieved:K:NAME, by an installed retriever.
        max_steps: TaskBench: With --ask: maximum model answers per request. WorkBench: Maximum model answers per task.
        max_seconds: TaskBench: With --ask: maximum seconds of the model answers to one request; of an agent, of its whole work. WorkBench: Maximum seconds of the model answers of one task, without queueing in this client.
        executor: With --ask: where calls run.
        allow_writes: Permit tools that are not marked read-only.
        allow_tools: TaskBench: Run Python code of the data folder, or that --functions names. WorkBench: Run the tools.py of the data folder, which is Python code.
        agent: WorkBench: Built-in agent: native (tool calls; default), react (actions in text), react_published (actions parsed as in the published agent). CLASSic: Built-in agent: cot (default), reasoning, tools (one function per workflow), retrieval (default of the offline model), recorded.
        toolkit: Tools offered to the agent: all, or only those of the task's domains.
        resample: Maximum retries of a task in which the agent called no tool.
        resample_temperature: Sampling temperature of these retries.
        act_without_confirmation: Say in the prompt to act at once, without asking for confirmation.
        order: Order of the workflows in the prompt [default: table].
        recorded: File with recorded answers, CSV or JSON, for --agent recorded.
        none_as: Recorded answer that means no workflow [default: none]; '' is an empty cell.

    Raises:
        UsageError: A file is missing or malformed, or the settings differ from those of the run.
        ToolassayError: The model cannot be reached.
    """

def serve(
    *,
    port: int = ...,
    data_dirs: Sequence[str | Path] = ...,
    settings: FaultSettings = ...,
    seed: int = ...,
    screen: Screen = ...,
    fault: Sequence[str] = ...,
    faults: Sequence[str] = ...,
    delay: float = ...,
    capacity: int | None = ...,
    retry_after: float = ...,
) -> None:
    """Answer chat completions on 127.0.0.1 until interrupted.

    Args:
        port: Port; 0 selects a free one.
        data_dirs: Data folders of the requests; tool types and links that a prompt omits are read from them.
        settings: Faults, in the syntax of `toolassay.serving.faults.FaultPlan`, and delays.
        seed: Random seed of the faults.
        screen: Receives the base URL once the server listens.
        fault: Fault to inject. WHEN is a share of the requests (0.05), first:K, once (the first time of each prompt) or always.
        delay: Seconds before each answer.
        capacity: Maximum concurrent requests; further ones get a 429.
        retry_after: Seconds in the Retry-After header of the faults 429 and 500.

    Raises:
        UsageError: A fault is unknown, a folder has no tools, or the port is in use.
        KeyboardInterrupt: At Ctrl-C.
    """

def import_cases(
    file: str | Path,
    data_dir: str | Path,
    *,
    screen: Screen = ...,
) -> ImportedCases:
    """Import cases into a data folder that has tools; a case with the id of an earlier one replaces it.

    Args:
        file: YAML, JSON, JSON Lines or CSV with the fields of `Case`. In CSV, `calls`, `facts` and `state`
            are JSON (a fact may be the bare value), and names are separated by commas.
        data_dir: The data folder.
        screen: Receives messages and results.

    Raises:
        UsageError: The folder has no tools, the file cannot be read, or no case in it is valid.
    """

def import_tools(
    kind: str,
    source: str | Path,
    data_dir: str | Path,
    *,
    options: Any = ...,
    force: bool = ...,
    update: bool = ...,
    screen: Screen = ...,
    header: Sequence[str] = ...,
    timeout: float = ...,
    only: Sequence[str] = ...,
    without_deprecated: bool = ...,
    allow_remote: bool = ...,
    allow_tools: bool = ...,
) -> ImportReport:
    """Import tools to a data folder.

    Args:
        kind: Name of the importer, e.g. "openapi".
        source: Path, address or command line, as the importer takes it.
        data_dir: The data folder, created if missing.
        options: Options object of the importer; None for the defaults.
        force: Replace other tools that the folder has; a dated copy of them is kept.
        update: The same, and list the tools that were added, removed and changed.
        screen: Receives messages, results and progress.
        header: Header for an address, e.g. 'Authorization: Bearer …'.
        timeout: Seconds to start and list a server.
        only: Import operations with this tag, or whose operationId or 'METHOD /path' matches this regular expression.
        without_deprecated: Leave out deprecated operations.
        allow_remote: Fetch SOURCE and the documents it refers to from http(s) addresses.
        allow_tools: Run the module, which is Python code.

    Returns:
        The report, which is also written to `import_report.json`.

    Raises:
        UsageError: The source cannot be read or has no tools; the folder has other tools.
    """

def leaderboard(
    data_dir: str | Path,
    *,
    prediction_dir: str | Path = ...,
    metrics_dir: str | Path | None = ...,
    settings: LeaderboardSettings = ...,
    group: str = ...,
    mode: Literal['both', 'strict', 'compat'] = ...,
    sort_by: str | None = ...,
    with_published: bool = ...,
    published: str | None = ...,
) -> Board:
    """The models of a folder in the report's order; remarks name omitted models and rows that do not compare.

    Args:
        data_dir: Data folder of any benchmark.
        prediction_dir: Prediction folder, below `data_dir` or as a path; its runs have cost and latency, and
            its name determines the metrics folder.
        metrics_dir: Metrics folder, below `data_dir` or as a path.
        settings: Which rows and columns.
        group: Group of samples in the metrics, e.g. chain_overall.
        mode: Scoring modes to show for each model.
        sort_by: Sort by a column, or by coverage, cost, latency or model; uses the strict score if there is one [default: the ranking of the report].
        with_published: Add the published rows of the folder's domain.
        published: Add the published rows of this domain or edition, e.g. multimedia or 2026.

    Raises:
        UsageError: There are no metrics, or the group, column or domain is unknown.
    """

def noise(
    *models: str | Path,
    data_dir: str | Path,
    prediction_dir: str | Path = ...,
    calibration: Sequence[Path | str] = ...,
    save: str | Path | None = ...,
    screen: Screen = ...,
) -> SetNoise:
    """Say how much of the scores of a set is noise, and what the set can find.

    Args:
        models: One or more models that were evaluated, as for `compare`.
        data_dir: Data folder.
        prediction_dir: Prediction folder whose metrics are read.
        calibration: Files of `check --calibrate`, which say how far judges agree with labels.
        save: JSON file for the result.
        screen: Receives messages and results.

    Raises:
        UsageError: No model is named, one was not evaluated, or fewer than two items are scored.
    """

def pipeline(
    data_dir: str | Path,
    *,
    tool_desc: str | Path | None = ...,
    dependency_type: str | None = ...,
    llm: Sequence[str] = ...,
    generator: str = ...,
    critic: Sequence[str] = ...,
    rewrite: int | None = ...,
    options: ModelOptions | None = ...,
    samples: SampleSettings = ...,
    limits: Limits = ...,
    command: Sequence[str] | None = ...,
    screen: Screen = ...,
    api_base: str | None = ...,
    api_addr: str | None = ...,
    api_port: int | None = ...,
    api_key: str | None = ...,
    api: Api | None = ...,
    connections: int | None = ...,
    sampling: Mapping[str, float] = ...,
    extra_body: Mapping[str, Any] = ...,
    extra_headers: Mapping[str, str] = ...,
    client: ClientName = ...,
    stream: bool = ...,
    max_tries: int = ...,
    refusals: Refusals | None = ...,
    version_path: VersionPath | None = ...,
    schemas: SchemaForms | None = ...,
    require_schema: bool = ...,
    tell: Callable[[str], None] | None = ...,
    timeout: float = ...,
    total_timeout: float = ...,
    batch: BatchKind | None = ...,
    make_transport: Callable[[str, ModelOptions], Any] | None = ...,
    number_of_samples: int | None = ...,
    seed: int = ...,
    method: Shape | None = ...,
    tool_number: int | None = ...,
    shape_weights: Mapping[str, float] | None = ...,
    size_weights: Mapping[str, float] | None = ...,
    by_score: bool = ...,
    cover: Literal['tools', 'edges'] | None = ...,
    at_least: int = ...,
    until: int | None = ...,
    today: date | str | None = ...,
    max_cost: float | None = ...,
    max_tokens_total: int | None = ...,
    max_requests: int | None = ...,
    budget: Budget | None = ...,
    prices: Path | None = ...,
    multiworker: int | None = ...,
) -> Piped:
    """Create graph, pictures, requests with gold plans, predictions and scores in one data folder.

    Tools with schemas get a world (`world.json`), in which the plans are executed.

    Models are tested with the samples that pass the gates (`release`).

    Args:
        data_dir: Data folder, created if missing; finished stages are not repeated.
        tool_desc: Tool file; default: that of `data_dir`.
        dependency_type: "resource", "temporal" or "schema"; default: the type in `benchmark.json`.
        llm: Names of the models under test.
        generator: Model that writes requests and gold plans.
        critic: Models that review the samples, besides the gates.
        rewrite: How often a sample that does not pass the gates goes back to a served generator, by default
            2; the offline writer decides itself (`WritingSettings.rewrite`).
        options: Endpoint of served models.
        samples: Which subgraphs are sampled; by default 300 with seed 0.
        limits: Limits of each run: of the generation and of the inference with each model.
        command: Command line, recorded in the manifests.
        screen: Receives messages, results and progress.
        api_base: Base URL of an OpenAI-compatible server, e.g. https://host/v1 [default: OPENAI_BASE_URL, else http://localhost:4000/v1].
        api_addr: Host of the server.
        api_port: Port of the server.
        api_key: API key. Never stored. Prefer OPENAI_API_KEY, in the environment or in a .env file.
        api: API of the server: OpenAI's Chat Completions or Responses, or Anthropic's Messages, whose key is ANTHROPIC_API_KEY [default: by the address, else chat].
        extra_body: JSON file with additional fields of the request body; null omits a parameter that would be sent by default, e.g. {"presence_penalty": null}.
        extra_headers: JSON file with additional HTTP headers.
        client: HTTP client. 'openai' is OpenAI's SDK, for proxies and Azure (AZURE_OPENAI_ENDPOINT).
        stream: Stream answers token by token; also measures the time to the first token.
        max_tries: Maximum attempts per request. The count restarts after a 429 while the server answers other requests.
        timeout: Seconds without a byte from the server after which an attempt ends.
        total_timeout: Maximum seconds of one attempt.
        batch: Send all requests as a batch. openai: by the server's Batch API, at half the price, within a day; vllm: a file for vLLM's run_batch, which you run; then repeat the command.
        number_of_samples: Total number of samples, existing ones included [default: the published 5000, whose estimated cost is shown first; or as --cover and --until say].
        seed: Random seed; -1 uses that of the folder, or draws one, prints it and records it.
        method: Sample only this shape.
        tool_number: Sample only subgraphs with this many tools.
        shape_weights: Relative frequency of each shape [default: single=3,chain=7,dag=8].
        size_weights: Relative frequency of each number of tools, e.g. 2=0.1,3=0.2,4=0.3.
        by_score: In a schema graph, draw links in proportion to their scores; false: all links are equally likely.
        cover: Steer the sampling so that every tool, or every edge, occurs in samples where possible; sets the default number of samples.
        at_least: With --cover: in how many samples.
        until: Go on until N samples pass the gates, within the limits; with --cover until passing samples have each tool or edge.
        today: Date on which the requests are made: prompts say it, agents and tool servers have it as the variable TOOLASSAY_TODAY [default: that of the folder, else none].
        max_cost: Maximum cost of a run in US dollars, over all starts.
        max_tokens_total: Maximum tokens of prompts and answers of a run.
        max_requests: Maximum requests of a run, failed ones included.
        prices: CSV table of prices; takes precedence over the prices of genai-prices.
        multiworker: Maximum concurrent requests [default: adaptive].

    Returns:
        The scores of each model with predictions (a warning names the others), and whether every sample and
        every request has an answer. Without a sample that passes the gates, no model is run.

    Raises:
        UsageError: A file is missing or malformed.
        ToolassayError: A model cannot be reached, or the budget allows no request.
    """

def format_data(
    data_dir: str | Path,
    *,
    dependency_type: str | None = ...,
    critics: str | None = ...,
    force: bool = ...,
    screen: Screen = ...,
) -> Formatted:
    """Convert the generated samples of a folder to a data set.

    Args:
        data_dir: Folder with `data_raw.json` and `tool_desc.json` (or `graph_desc.json`).
        dependency_type: "resource", "temporal" or "schema"; default: the type in `benchmark.json`, which
            stays.
        critics: Keep only the samples that this alignment mode accepts: node, link, both_node_link,
            self-check or all.
        force: Replace a data set of another program, and allow the other dependency type; dated copies are
            kept.
        screen: Receives messages, results and progress.

    Raises:
        UsageError: A file is missing or malformed, the dependency type is not that of the folder, or the data
            set must not be replaced.
        ToolassayError: No sample can be formatted; nothing is written then.
    """

def write_report(
    data_dir: str | Path | Sequence[str | Path],
    *,
    out: str | Path = ...,
    junit_file: str | Path | None = ...,
    summary_file: str | Path | None = ...,
    settings: ReportSettings = ...,
    screen: Screen = ...,
    llm: Sequence[str] | str = ...,
    prediction_dir: str | Path = ...,
    metrics_dir: Path | str | None = ...,
    require: Sequence[str] = ...,
    undecided: Literal['wait', 'pass'] = ...,
    baseline: str | Path | None = ...,
    seed: int = ...,
) -> AxesReport:
    """Decide which model may be trusted: ranking, requirements, and five axes on several benchmarks.

    Writes `FILES`: the page, the decision, the five measures, tables and pictures.

    Args:
        data_dir: One or several data folders of any benchmark.
        out: Output folder; or an HTML file, then only the page is written.
        junit_file: JUnit file for the requirements.
        summary_file: Markdown file for the decision.
        settings: What is reported.
        screen: Receives messages, results and progress.
        llm: Model to include, or all: every one found.
        prediction_dir: Prediction folder, in the data folder or else relative to the current one; if there is no folder predictions, the default is that of another way of asking, e.g. predictions_tools.
        metrics_dir: Metrics folder [default: as --prediction_dir, with metrics for predictions].
        require: What a model must meet, e.g. 'accuracy>=80%', 'side_effects<=2%', 'attack_success<=5%', 'pass_k>=50%', 'cost<=5' (USD per 1,000 items), 'latency_p50<=3' and 'latency_p95<=20' (seconds), 'calls(TOOL)<=0' (the number of calls in all runs).
        undecided: What a requirement without enough data means: wait (exit code 3), or pass (0). It is shown either way.
        baseline: Fail if a model is significantly worse (p < 0.05) than this model or earlier metrics file.
        seed: Random seed of intervals and tests.

    Raises:
        UsageError: A data folder does not exist, there are no metrics at all, or a requirement is malformed.
    """

def apply_review(
    data_dir: str | Path,
    out: str | Path,
    *,
    keep_undecided: bool = ...,
    with_passed: bool = ...,
    screen: Screen = ...,
) -> Applied:
    """Apply the decisions and write the reviewed data folder.

    Args:
        data_dir: Reviewed folder.
        out: Another folder, created if missing.
        keep_undecided: Keep samples without a decision instead of leaving them out.
        with_passed: For the quarantine of a check: add the samples that passed the gates.
        screen: Receives the counts.

    Raises:
        IncompleteError: Some samples have unsettled conflicts.
        UsageError: A file is missing or malformed, `out` has another data set, or `with_passed` is given for
            a folder that is not a quarantine.
        ToolassayError: No sample is left.
    """

def export_reviews(
    data_dir: str | Path,
    file: str | Path,
    *,
    reviewer: str = ...,
    settings: ReviewSettings = ...,
    audit: AuditSettings = ...,
    screen: Screen = ...,
    gates: Path | str | None = ...,
    dependency_type: str | None = ...,
    reviewers: Sequence[str] = ...,
    each: int = ...,
    sample: int | None = ...,
    verdicts: str = ...,
    prediction_dir: str | Path = ...,
    metrics_dir: Path | str | None = ...,
    seed: int = ...,
) -> int:
    """Write a spreadsheet with the samples and the reviewer's decisions; returns the number of rows.

    With `verdicts`, it has outcomes of that model instead, drawn by verdict, and no decisions.

    Args:
        data_dir: Folder with `data.json` and the tools.
        file: An `.xlsx` or `.csv` file.
        reviewer: Reviewer whose decisions are filled in; empty for none.
        settings: Which samples, and who shares them; the sheet has the share of `reviewer`.
        audit: Whose outcomes, if not samples are reviewed.
        screen: Receives messages, results and progress.
        gates: A gates.jsonl written by toolassay check [default: the one in the folder].
        dependency_type: What a link means. resource: an output type of one tool is an input type of the other; temporal: any order; schema: a result of one tool can fill an argument of the other [default: the one in benchmark.json, else by what the tools declare].
        reviewers: Comma-separated names to divide the samples among [default: everyone reviews all].
        each: Number of --reviewers per sample; 0: all.
        sample: Look at so many samples, drawn by their ids.
        verdicts: Review outcomes of this model without seeing the verdicts: --export draws 30 of them, or --sample, by verdict; --import reads them.
        prediction_dir: Prediction folder, in the data folder or else relative to the current one; if there is no folder predictions, the default is that of another way of asking, e.g. predictions_tools.
        metrics_dir: Metrics folder [default: as --prediction_dir, with metrics for predictions].
        seed: Random seed of the outcomes that --verdicts draws.

    Raises:
        UsageError: A file is missing or malformed, or the sheet has another format.
    """

def import_reviews(
    data_dir: str | Path,
    file: str | Path,
    *,
    reviewer: str,
    audit: AuditSettings = ...,
    screen: Screen = ...,
    verdicts: str = ...,
    prediction_dir: str | Path = ...,
    metrics_dir: Path | str | None = ...,
    seed: int = ...,
) -> int:
    """Import a completed spreadsheet; returns the number of new decisions. An invalid row imports nothing.

    Args:
        data_dir: Folder that the sheet was exported from.
        file: An `.xlsx` or `.csv` file.
        reviewer: Name of the reviewer.
        audit: Whose outcomes the sheet has, if not samples.
        screen: Receives messages, results and progress.
        verdicts: Review outcomes of this model without seeing the verdicts: --export draws 30 of them, or --sample, by verdict; --import reads them.
        prediction_dir: Prediction folder, in the data folder or else relative to the current one; if there is no folder predictions, the default is that of another way of asking, e.g. predictions_tools.
        metrics_dir: Metrics folder [default: as --prediction_dir, with metrics for predictions].
        seed: Random seed of the outcomes that --verdicts draws.

    Raises:
        UsageError: Rows are invalid (the message names them), or a file is missing or malformed.
    """

def review_summary(
    data_dir: str | Path,
    *,
    screen: Screen = ...,
) -> HumanVerification:
    """Write the decisions and the agreement of the reviewers to `reviews/table.json` and `reviews/table.md`.

    Args:
        data_dir: Reviewed folder.
        screen: Receives the tables.

    Returns:
        Content of `table.json`.

    Raises:
        UsageError: A file is missing or malformed.
    """

def start_review(
    data_dir: str | Path,
    *,
    reviewer: str = ...,
    queue: str = ...,
    page: PageSettings = ...,
    settings: ReviewSettings = ...,
    screen: Screen = ...,
    port: int = ...,
    open_browser: bool = ...,
    gates: Path | str | None = ...,
    dependency_type: str | None = ...,
    reviewers: Sequence[str] = ...,
    each: int = ...,
    sample: int | None = ...,
) -> None:
    """Serve the page of a review on 127.0.0.1 until interrupted.

    Each decision is on disk (`reviews/<reviewer>.jsonl`) before the page shows it as saved. The page opens at
    the first undecided sample of the reviewer.

    Args:
        data_dir: Folder with `data.json` and the tools.
        reviewer: Name of the reviewer; if empty, the page asks for it.
        queue: "all", or "conflicts": samples with differing decisions, for an adjudicator.
        page: Where the page is shown.
        settings: Which samples, and who reviews them.
        screen: Receives the address once the server listens.
        port: Port of the page on 127.0.0.1; 0: any free.
        open_browser: Open the page in the browser.
        gates: A gates.jsonl written by toolassay check [default: the one in the folder].
        dependency_type: What a link means. resource: an output type of one tool is an input type of the other; temporal: any order; schema: a result of one tool can fill an argument of the other [default: the one in benchmark.json, else by what the tools declare].
        reviewers: Comma-separated names to divide the samples among [default: everyone reviews all].
        each: Number of --reviewers per sample; 0: all.
        sample: Look at so many samples, drawn by their ids.

    Raises:
        UsageError: A file is missing or malformed, a name is not valid, or the port is in use.
        KeyboardInterrupt: At Ctrl-C.
    """

def split(
    data_dir: str | Path,
    *,
    settings: SplitSettings = ...,
    out: str | Path | None = ...,
    force: bool = ...,
    screen: Screen = ...,
    train: float = ...,
    dev: float = ...,
    test: float = ...,
    seed: int = ...,
    hold_out_tools: Collection[str] = ...,
    near: bool = ...,
    threshold: float = ...,
) -> Splitting:
    """Split the samples of a folder so that no subgraph and no request is in two splits.

    The same samples, shares and seed give the same splits, whatever the order of the file.

    Args:
        data_dir: has `data.json`.
        settings: shares, tools to hold out, and what counts as a repeat.
        out: the file; default `split_ids.json` in the folder.
        force: replace a split file that another program made, and keep a dated copy.
        screen: Receives messages, results and progress.
        train: Share of the training split.
        dev: Share of the development split.
        test: Share of the test split.
        seed: Random seed.
        hold_out_tools: Tools to keep out of training: samples that use them go to test.
        near: Keep near-duplicate requests in the same split, not only identical ones.
        threshold: Similarity from which two requests are near duplicates, 0.2 to 1 [default: 0.6].

    Raises:
        UsageError: a file is missing or malformed, the shares are not valid, no sample uses a held-out tool,
            or the file may not be replaced.
        ToolassayError: there are no samples.
    """

def surface(
    before: str | Path,
    after: str | Path,
    data_dir: str | Path,
    *,
    model: ModelSettings = ...,
    limits: Limits = ...,
    settings: SurfaceSettings = ...,
    own: Any = ...,
    out: str | Path | None = ...,
    junit: str | Path | None = ...,
    summary: str | Path | None = ...,
    command: Sequence[str] | None = ...,
    screen: Screen = ...,
    api_base: str | None = ...,
    api_addr: str | None = ...,
    api_port: int | None = ...,
    api_key: str | None = ...,
    api: Api | None = ...,
    extra_body: Mapping[str, Any] = ...,
    extra_headers: Mapping[str, str] = ...,
    client: ClientName = ...,
    stream: bool = ...,
    max_tries: int = ...,
    timeout: float = ...,
    total_timeout: float = ...,
    batch: BatchKind | None = ...,
    llm: str = ...,
    options: ModelOptions | None = ...,
    temperature: float | None = ...,
    top_p: float | None = ...,
    max_tokens: int | None = ...,
    structured: Structured | None = ...,
    max_cost: float | None = ...,
    max_tokens_total: int | None = ...,
    max_requests: int | None = ...,
    budget: Budget | None = ...,
    prices: Path | None = ...,
    multiworker: int | None = ...,
    margin: float = ...,
    until: Literal['decided'] | None = ...,
    trials: int = ...,
    limit: int | None = ...,
    baseline: Path | None = ...,
    propose: str | None = ...,
    seed: int = ...,
    dry_run: bool = ...,
    server: str = ...,
    mcp_config: str = ...,
    header: Sequence[str] = ...,
    workspace: str = ...,
    fresh: Literal['plan', 'worker'] = ...,
    functions: str = ...,
    pass_env: Sequence[str] = ...,
    workplace: str = ...,
    dependency_type: str | None = ...,
    use_demos: int = ...,
    demo_ids: Sequence[str] = ...,
    reformat: bool = ...,
    reformat_by: str = ...,
    tag: bool = ...,
    log_first_detail: bool = ...,
    prompt: Literal['default', 'example'] = ...,
    prompt_template: Path | None = ...,
    ask: str | None = ...,
    agent_command: str | AgentFunction | None = ...,
    agent_version: str | None = ...,
    tools_in_context: str = ...,
    max_steps: int = ...,
    max_seconds: float = ...,
    executor: str = ...,
    executor_options: Any = ...,
    allow_writes: bool = ...,
    allow_tools: bool = ...,
    agent: str | AgentFunction | None = ...,
    toolkit: str | None = ...,
    resample: int = ...,
    resample_temperature: float = ...,
    act_without_confirmation: bool = ...,
    order: str | None = ...,
    recorded: Path | None = ...,
    none_as: Sequence[str] = ...,
) -> Compared:
    """Compare two versions of a server or tool file by the goals of a data folder.

    With `executor="mcp"`, both are MCP servers on which everything runs. Else plans are compared, and a
    version is a data folder, or what `import mcp` takes. The same call continues a comparison.

    Args:
        before: The old version, whose tools the goals name.
        after: The new version.
        data_dir: Data folder with the goals, generated or cases.
        model: The model or agent that acts on both.
        limits: Limits of both sides together.
        settings: How they are compared.
        own: Options of the folder's benchmark; `ask` is "tools" on servers, else "calls", by default.
        out: Folder of the comparison; default: `surface` in the data folder.
        junit: JUnit file for the verdict.
        summary: Markdown file to which the verdict is added, as for a pull request.
        command: Command line, recorded in the manifests.
        screen: Receives messages, results and progress.
        api_base: Base URL of an OpenAI-compatible server, e.g. https://host/v1 [default: OPENAI_BASE_URL, else http://localhost:4000/v1].
        api_addr: Host of the server.
        api_port: Port of the server.
        api_key: API key. Never stored. Prefer OPENAI_API_KEY, in the environment or in a .env file.
        api: API of the server: OpenAI's Chat Completions or Responses, or Anthropic's Messages, whose key is ANTHROPIC_API_KEY [default: by the address, else chat].
        extra_body: JSON file with additional fields of the request body; null omits a parameter that would be sent by default, e.g. {"presence_penalty": null}.
        extra_headers: JSON file with additional HTTP headers.
        client: HTTP client. 'openai' is OpenAI's SDK, for proxies and Azure (AZURE_OPENAI_ENDPOINT).
        stream: Stream answers token by token; also measures the time to the first token.
        max_tries: Maximum attempts per request. The count restarts after a 429 while the server answers other requests.
        timeout: Seconds without a byte from the server after which an attempt ends.
        total_timeout: Maximum seconds of one attempt.
        batch: Send all requests as a batch. openai: by the server's Batch API, at half the price, within a day; vllm: a file for vLLM's run_batch, which you run; then repeat the command.
        llm: Name of a served or registered model, or a built-in model that needs no server: offline, or one of the baselines nothing and random.
        temperature: Sampling temperature, 0 or more.
        top_p: Nucleus sampling probability, 0 to 1.
        max_tokens: Maximum tokens of an answer, reasoning included [default: that of the stage or benchmark].
        structured: Make the server constrain answers to a JSON schema. auto: if the server supports it; true: stop if it does not [default: that of the stage or benchmark].
        max_cost: Maximum cost of a run in US dollars, over all starts.
        max_tokens_total: Maximum tokens of prompts and answers of a run.
        max_requests: Maximum requests of a run, failed ones included.
        prices: CSV table of prices; takes precedence over the prices of genai-prices.
        multiworker: Maximum concurrent requests [default: adaptive].
        margin: Smallest difference that matters, as a share: 0.05 is 5 points.
        until: Look after each tenth of the goals, and stop at the first decision.
        trials: Runs of each goal on each side.
        limit: Compare so many goals, drawn by --seed.
        baseline: surface.json of an earlier comparison with the same old version, whose runs are taken over, so that only the new version is paid.
        propose: Model that proposes what became of tools that are gone.
        seed: Random seed of the order of the goals.
        dry_run: Show what would be sent and its estimated cost. Sends nothing.
        server: mcp: command line that starts the server, or its http(s) address.
        mcp_config: mcp: configuration file with mcpServers.
        header: mcp: header for an address.
        workspace: mcp, python: folder to copy for each plan; {workspace} in the command, and /workspace in arguments and results, stand for the copy.
        fresh: mcp, python: 'plan' starts a new process on a new copy for each plan, without --workspace after each plan that writes; 'worker' one process for many plans, whose copy is restored before each.
        functions: python: module or file with the functions; needs --allow_tools.
        pass_env: python: variable of the environment that the functions see.
        workplace: workbench: folder with the workplace, if that is not the data folder.
        dependency_type: What a link means. resource: an output type of one tool is an input type of the other; temporal: any order; schema: a result of one tool can fill an argument of the other [default: the one in benchmark.json, else by what the tools declare].
        use_demos: Number of demonstrations in the prompt.
        demo_ids: Ids of the labels to show as demonstrations, separated by commas.
        reformat: Let a model rewrite answers that cannot be parsed as strict JSON.
        reformat_by: Model for --reformat; self is the model under test.
        tag: Add demonstrations and reformatting to the name of the prediction folder, as published.
        log_first_detail: Print the first prompt and its answer.
        prompt: Built-in prompt. 'example' shows a short worked example instead of placeholders, for small models.
        prompt_template: File with your own prompt template.
        ask: What to request of imported tools: a plan; calls: all native calls in one answer; tools: native calls step by step, with results from --executor; react: the same with actions in text. Predictions are in predictions_ASK [default: tools on imported tools, unless there is a folder predictions; else plan].
        agent_command: Run your own agent instead of a model, e.g. 'python my_agent.py'. --llm names its predictions, in predictions_agents.
        agent_version: Your name for the state of the agent, e.g. a commit, instead of the content of its files. A run goes on with the same agent only.
        tools_in_context: Tools that a request shows: all; retrieved:K, the K best by BM25; retrieved:K:NAME, by an installed retriever.
        max_steps: TaskBench: With --ask: maximum model answers per request. WorkBench: Maximum model answers per task.
        max_seconds: TaskBench: With --ask: maximum seconds of the model answers to one request; of an agent, of its whole work. WorkBench: Maximum seconds of the model answers of one task, without queueing in this client.
        executor: With --ask: where calls run.
        allow_writes: Permit tools that are not marked read-only.
        allow_tools: TaskBench: Run Python code of the data folder, or that --functions names. WorkBench: Run the tools.py of the data folder, which is Python code.
        agent: WorkBench: Built-in agent: native (tool calls; default), react (actions in text), react_published (actions parsed as in the published agent). CLASSic: Built-in agent: cot (default), reasoning, tools (one function per workflow), retrieval (default of the offline model), recorded.
        toolkit: Tools offered to the agent: all, or only those of the task's domains.
        resample: Maximum retries of a task in which the agent called no tool.
        resample_temperature: Sampling temperature of these retries.
        act_without_confirmation: Say in the prompt to act at once, without asking for confirmation.
        order: Order of the workflows in the prompt [default: table].
        recorded: File with recorded answers, CSV or JSON, for --agent recorded.
        none_as: Recorded answer that means no workflow [default: none]; '' is an empty cell.

    Returns:
        The verdict, which is also in `surface.json` and `surface.md` of `out`.

    Raises:
        UsageError: A version has no tools, `mapping.json` lacks a decision about a tool, or no
            goal can be compared.
        ToolassayError: A model or a server does not work.
    """

def measure_variety(
    data_dir: str | Path,
    *,
    out: str | Path = ...,
    settings: VarietySettings = ...,
    screen: Screen = ...,
    threshold: float = ...,
    sample: int = ...,
    seed: int = ...,
    engine: str | None = ...,
) -> VarietyReport:
    """Measure the diversity of a data set.

    Args:
        data_dir: Folder with `data.json`, or `user_requests.json` without labels. Coverage needs the tools
            and their graph.
        out: Output folder for `variety.json`, `variety.md` and the pictures.
        settings: Threshold of repeats, sample and engine.
        screen: Receives messages, results and progress.
        threshold: Similarity from which two requests are near duplicates, 0.2 to 1 [default: 0.6].
        sample: Number of requests on which distinct-n and self-similarity are measured. Data sets are comparable only at the same number.
        seed: Random seed of the sampled requests.
        engine: Where the work is done: N processes of this machine, or the workers of a Dask cluster. The output is the same. dask://HOST:PORT?files=s3://BUCKET/FOLDER sends the data to the workers.

    Raises:
        UsageError: The data set is missing or malformed, `out` is a file, or the report would replace files
            of another program.
        ToolassayError: The folder cannot be written.
    """

def world(
    data_dir: str | Path,
    *,
    llm: str = ...,
    options: ModelOptions | None = ...,
    limits: Limits = ...,
    seed: int = ...,
    force: bool = ...,
    dry_run: bool = ...,
    command: Sequence[str] | None = ...,
    screen: Screen = ...,
    api_base: str | None = ...,
    api_addr: str | None = ...,
    api_port: int | None = ...,
    api_key: str | None = ...,
    api: Api | None = ...,
    connections: int | None = ...,
    sampling: Mapping[str, float] = ...,
    extra_body: Mapping[str, Any] = ...,
    extra_headers: Mapping[str, str] = ...,
    client: ClientName = ...,
    stream: bool = ...,
    max_tries: int = ...,
    refusals: Refusals | None = ...,
    version_path: VersionPath | None = ...,
    schemas: SchemaForms | None = ...,
    require_schema: bool = ...,
    tell: Callable[[str], None] | None = ...,
    timeout: float = ...,
    total_timeout: float = ...,
    batch: BatchKind | None = ...,
    make_transport: Callable[[str, ModelOptions], Any] | None = ...,
    max_cost: float | None = ...,
    max_tokens_total: int | None = ...,
    max_requests: int | None = ...,
    budget: Budget | None = ...,
    prices: Path | None = ...,
    multiworker: int | None = ...,
) -> WrittenWorld:
    """Write `world.json`: records for the things of a library without a server, and what each tool does.

    A world that is there is kept and checked; tools that it neither covers nor names as uncovered are added.
    So records of one's own get their operations from a model.

    Args:
        data_dir: Data folder with imported tools.
        llm: The model that writes; "offline": rules.
        options: Its server.
        limits: Limits of the writing.
        seed: Random seed of the rules' records and of the calls that check.
        force: Write a new world; a dated copy of the old one is kept.
        dry_run: Show what would be sent and its cost; the number of corrections is not known before.
        command: Command line, recorded in the manifest.
        screen: Receives messages, results and progress.
        api_base: Base URL of an OpenAI-compatible server, e.g. https://host/v1 [default: OPENAI_BASE_URL, else http://localhost:4000/v1].
        api_addr: Host of the server.
        api_port: Port of the server.
        api_key: API key. Never stored. Prefer OPENAI_API_KEY, in the environment or in a .env file.
        api: API of the server: OpenAI's Chat Completions or Responses, or Anthropic's Messages, whose key is ANTHROPIC_API_KEY [default: by the address, else chat].
        extra_body: JSON file with additional fields of the request body; null omits a parameter that would be sent by default, e.g. {"presence_penalty": null}.
        extra_headers: JSON file with additional HTTP headers.
        client: HTTP client. 'openai' is OpenAI's SDK, for proxies and Azure (AZURE_OPENAI_ENDPOINT).
        stream: Stream answers token by token; also measures the time to the first token.
        max_tries: Maximum attempts per request. The count restarts after a 429 while the server answers other requests.
        timeout: Seconds without a byte from the server after which an attempt ends.
        total_timeout: Maximum seconds of one attempt.
        batch: Send all requests as a batch. openai: by the server's Batch API, at half the price, within a day; vllm: a file for vLLM's run_batch, which you run; then repeat the command.
        max_cost: Maximum cost of a run in US dollars, over all starts.
        max_tokens_total: Maximum tokens of prompts and answers of a run.
        max_requests: Maximum requests of a run, failed ones included.
        prices: CSV table of prices; takes precedence over the prices of genai-prices.
        multiworker: Maximum concurrent requests [default: adaptive].

    Raises:
        UsageError: The folder has no imported tools, or `world.json` is malformed.
        ToolassayError: The model gave no answer.
    """

def report(
    data_dir: str | Path | Sequence[str | Path],
    *,
    out: str | Path = ...,
    junit_file: str | Path | None = ...,
    summary_file: str | Path | None = ...,
    settings: ReportSettings = ...,
    screen: Screen = ...,
    llm: Sequence[str] | str = ...,
    prediction_dir: str | Path = ...,
    metrics_dir: Path | str | None = ...,
    require: Sequence[str] = ...,
    undecided: Literal['wait', 'pass'] = ...,
    baseline: str | Path | None = ...,
    seed: int = ...,
) -> AxesReport:
    """Decide which model may be trusted: ranking, requirements, and five axes on several benchmarks.

    Writes `FILES`: the page, the decision, the five measures, tables and pictures.

    Args:
        data_dir: One or several data folders of any benchmark.
        out: Output folder; or an HTML file, then only the page is written.
        junit_file: JUnit file for the requirements.
        summary_file: Markdown file for the decision.
        settings: What is reported.
        screen: Receives messages, results and progress.
        llm: Model to include, or all: every one found.
        prediction_dir: Prediction folder, in the data folder or else relative to the current one; if there is no folder predictions, the default is that of another way of asking, e.g. predictions_tools.
        metrics_dir: Metrics folder [default: as --prediction_dir, with metrics for predictions].
        require: What a model must meet, e.g. 'accuracy>=80%', 'side_effects<=2%', 'attack_success<=5%', 'pass_k>=50%', 'cost<=5' (USD per 1,000 items), 'latency_p50<=3' and 'latency_p95<=20' (seconds), 'calls(TOOL)<=0' (the number of calls in all runs).
        undecided: What a requirement without enough data means: wait (exit code 3), or pass (0). It is shown either way.
        baseline: Fail if a model is significantly worse (p < 0.05) than this model or earlier metrics file.
        seed: Random seed of intervals and tests.

    Raises:
        UsageError: A data folder does not exist, there are no metrics at all, or a requirement is malformed.
    """
