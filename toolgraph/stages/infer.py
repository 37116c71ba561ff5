"""The infer stage: user_requests.json and tools -> predictions."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from toolgraph.benchmarks.classic.agents.settings import AgentSettings as ChooserSettings
from toolgraph.benchmarks.classic.data import is_classic
from toolgraph.benchmarks.taskbench.demos import choose_demos
from toolgraph.benchmarks.taskbench.infer import Inference, Inferrer
from toolgraph.benchmarks.taskbench.prompt import PlanPrompt
from toolgraph.benchmarks.taskbench.requests import Chosen, Requests, read_ids
from toolgraph.benchmarks.workbench.agents.settings import AgentSettings
from toolgraph.dataset import RequestId
from toolgraph.errors import UsageError
from toolgraph.files import keep_dated_copy, safe_name, write_json
from toolgraph.folder import DataFolder
from toolgraph.models import ChatRequest, ModelOptions, create_model
from toolgraph.models.registry import is_served
from toolgraph.models.wire import parameters_of
from toolgraph.runs import Budget, Journal, Loop, RunSummary, gives_way, open_run
from toolgraph.runs.budget import completion_limit
from toolgraph.runs.estimate import Estimate
from toolgraph.runs.manifest import JOURNAL
from toolgraph.runs.recorded import SUMMARY
from toolgraph.runs.trials import Trial
from toolgraph.stages.agent_run import refuse_settings
from toolgraph.stages.dry_run import Counts, dry_run_lines
from toolgraph.stages.infer_classic import infer_classic
from toolgraph.stages.infer_published_security import PUBLISHED, infer_published_security
from toolgraph.stages.infer_security import Security, infer_security, refuse_beside_security
from toolgraph.stages.infer_workbench import infer_workbench, is_workbench
from toolgraph.stages.record import RunRecord, hashes
from toolgraph.stages.screen import SILENT, WARNING, Screen
from toolgraph.stages.trials import run_trials
from toolgraph.stages.usage import Books, report_failures, report_stop, summary_facts
from toolgraph.stages.workfolder import graph_fingerprint, graph_of

_NOTHING = Path(os.devnull)  # the journal and the predictions of a run that begins anew
WAYS_ON = "use those settings, --tag true, another --prediction_dir, or --force true (keeps the old run)"


def infer(
    data_dir: str | Path = "data_huggingface",
    *,
    llm: str = "gpt-4",
    options: ModelOptions | None = None,
    temperature: float = 0.2,
    top_p: float = 0.1,
    dependency_type: str | None = None,
    multiworker: int | None = None,
    use_demos: int = 0,
    demo_ids: Sequence[str] = (),
    reformat: bool = False,
    reformat_by: str = "self",
    tag: bool = False,
    prediction_dir: str | None = None,
    log_first_detail: bool = False,
    prompt_template: Path | None = None,
    force: bool = False,
    budget: Budget | None = None,
    prices: Path | None = None,
    limit: int | None = None,
    ids: Path | Collection[RequestId] | None = None,
    dry_run: bool = False,
    command: Sequence[str] | None = None,
    agent: str | None = None,
    toolkit: str = "all",
    resample: int = 0,
    max_steps: int = 20,
    order: str | None = None,
    max_tokens: int | None = None,
    recorded: Path | None = None,
    none_as: Sequence[str] = (),
    trials: int = 1,
    allow_tools: bool = False,
    security: Security | Literal["published"] = False,
    judge: str | None = None,
    screen: Screen = SILENT,
) -> Inference:
    """Ask a model for the plan of every request of a folder; what is answered already is not asked again.

    In a folder of WorkBench the model is an agent that acts on a sandbox; in one of CLASSic an agent that
    chooses the workflow to start.

    Args:
        data_dir: holds `user_requests.json`, the tools and, for demonstrations, `data.json`.
        llm: who plans; "offline" needs no server.
        options: where the server is.
        temperature: of the request.
        top_p: of the request.
        dependency_type: resource or temporal; default what the folder says.
        multiworker: requests in flight; None finds what the server bears.
        use_demos: how many demonstrations.
        demo_ids: which labels demonstrate, instead of the first of each shape.
        reformat: have unreadable answers rewritten as strict JSON.
        reformat_by: by whom; "self" is the model itself.
        tag: put demonstrations and reformatting into the folder's name, as published.
        prediction_dir: below `data_dir`; default `predictions` and the tag.
        log_first_detail: show the first prompt and answer.
        prompt_template: instead of the built-in wording.
        force: begin anew where the run had other settings; the old one is kept.
        budget: what the whole run may use at most, earlier starts included.
        prices: a table of prices instead of the one that comes along.
        limit: ask only the first so many requests, in the order of the file.
        ids: ask only these, given as they are or as a file of them (one a line, a JSON list, or
            `split_ids.json:test` for a split).
        dry_run: only show what would be sent and may be used; nothing is sent or written.
        command: what was typed, for the manifest.
        agent: of WorkBench: "native" tool calls (default), or "react" (actions in text); of CLASSic: "cot"
            (default), "reasoning", "tools", "retrieval" (default of the offline model) or "recorded".
        toolkit: of WorkBench: "all" tools, or those of a task's "domains".
        resample: of WorkBench: how often a run that called nothing is tried again.
        max_steps: of WorkBench: answers a task at most.
        order: of CLASSic: of the workflows shown: "table" (default), "name", or the seed of a shuffle.
        max_tokens: of CLASSic: of an answer; default what the agent needs.
        recorded: of CLASSic: the file of answers that the agent "recorded" gives again.
        none_as: of CLASSic: what a recorded answer says where it chose none; default "none".
        trials: how often the whole run is made; a further one lies in `trials/<number>/` of the prediction
            folder, and the budget is that of all together.
        allow_tools: of WorkBench: run the tools that the folder brings, which are a program.
        security: put probes instead of the requests, to see whether the agent acts on text that is data: True
            for as many as are usual, or the number of attacks. That is a run of its own. "published" is the
            published test of CLASSic: first turns to the bare model, graded by `judge`.
        judge: with `security`, a model on the same server that is asked whether the agent complied.
        screen: who listens.

    Raises:
        UsageError: files missing or malformed, settings that contradict the run.
        ToolgraphError: the model cannot be reached.
    """
    folder = DataFolder(Path(data_dir)).require()
    plans = {
        "dependency_type": dependency_type,
        "use_demos": use_demos,
        "demo_ids": demo_ids,
        "reformat": reformat,
        "tag": tag,
        "prompt_template": prompt_template,
        "log_first_detail": log_first_detail,
    }
    choosing = {"order": order, "max_tokens": max_tokens, "recorded": recorded, "none_as": none_as}
    common: dict[str, Any] = {
        "llm": llm,
        "options": options or ModelOptions(connections=multiworker),
        "parameters": {"temperature": temperature, "top_p": top_p},
        "multiworker": multiworker,
        "prediction_dir": prediction_dir,
        "force": force,
        "budget": budget,
        "prices": prices,
        "limit": limit,
        "ids": read_ids(ids) if isinstance(ids, Path) else ids,
        "command": command,
        "screen": screen,
    }
    probes = {name: value for name, value in common.items() if name not in ("limit", "ids")}
    probes |= {"security": security, "judge": judge, "prediction_dir": prediction_dir or "predictions"}
    if security:
        refuse_beside_security(
            limit=limit,
            ids=ids,
            dry_run=dry_run,
            reformat=reformat,
            log_first_detail=log_first_detail,
            trials=trials > 1,
        )
    elif judge:
        raise UsageError("--judge judges probes", fix="add --security true, or leave it out")
    if security == PUBLISHED:
        refuse_beside_security(PUBLISHED, agent=agent, **choosing, **plans, allow_tools=allow_tools)
        bare = {name: value for name, value in probes.items() if name not in ("parameters", "security")}
        return infer_published_security(folder, **bare)
    if is_workbench(folder):
        refuse_settings("WorkBench", **plans, **choosing)
        actor = AgentSettings(agent or "native", toolkit, resample, max_steps)
        if security:
            return infer_security(folder, actor=actor, **probes)
        return run_trials(
            lambda number: infer_workbench(
                folder,
                settings=actor,
                dry_run=dry_run,
                trial_number=number,
                allow_tools=allow_tools,
                **common,
            ),
            trials,
            screen,
        )
    if is_classic(folder):
        refuse_settings("CLASSic", **plans, allow_tools=allow_tools)
        settings_given = {"order": order or "table", "max_tokens": max_tokens, "recorded": recorded}
        chooser = ChooserSettings.of(llm, agent, **settings_given, none_as=tuple(none_as) or ("none",))
        if security:
            return infer_security(folder, chooser=chooser, **probes)
        return run_trials(
            lambda number: infer_classic(
                folder, settings=chooser, dry_run=dry_run, trial_number=number, **common
            ),
            trials,
            screen,
        )
    refuse_settings("TaskBench", agent=agent, allow_tools=allow_tools, **choosing)
    graph = graph_of(folder, dependency_type, say=screen.say)
    requests = _requests(folder, screen)
    chosen = requests if ids is None and limit is None else _chosen(requests, ids, limit)
    demos = choose_demos(folder.data, use_demos, demo_ids)
    if security:
        planner = {"requests": requests, "graph": graph, "demos": demos, "template": prompt_template}
        tagged = prediction_dir or _tagged(len(demos), None, tag=tag)
        return infer_security(folder, planner=planner, **{**probes, "prediction_dir": tagged})
    prompt = PlanPrompt(graph.library, graph.dependency_type, demos=demos, template=prompt_template)
    given = options or ModelOptions(connections=multiworker)
    place = folder.path / (prediction_dir or _tagged(len(demos), reformat_by if reformat else None, tag=tag))
    helper = llm if reformat_by == "self" else reformat_by
    books = Books([llm, helper] if reformat else [llm], budget, prices)

    def run(number: int) -> Inference:
        trial = Trial(place, llm, number)
        output, run_folder = trial.output, trial.run_folder
        record = RunRecord(run_folder, trial.options(given), command=command, screen=screen)
        options = record.options_of(llm)
        model = create_model(llm, options, meter=books)
        reformatter = None
        if reformat:
            reformatter = (
                model if helper == llm else create_model(helper, record.options_of(helper), meter=books)
            )
        parameters = {"temperature": temperature, "top_p": top_p}
        settings = {
            "llm": llm,
            **parameters,
            "dependency_type": graph.dependency_type,
            "demo_ids": [demo["id"] for demo in demos],
            "reformat_by": reformat_by if reformat else None,
            "prompt_sha256": hashlib.sha256(prompt.text.encode("utf-8", "surrogatepass")).hexdigest(),
            **trial.settings(given),
        }
        if not is_served(llm):  # such a model works with the graph, of which a prompt shows the tools only
            settings["graph_sha256"] = graph_fingerprint(graph)
        inferrer = Inferrer(
            graph,
            prompt,
            model,
            parameters=parameters,
            reformatter=reformatter,
            show=(lambda asked, answered: screen.say(f"{asked}\n{answered}")) if log_first_detail else None,
        )
        if dry_run:
            anew = gives_way(run_folder, settings, force=force, ways_on=WAYS_ON, read_only=True)
            anew = anew or (force and not (run_folder / JOURNAL).exists())
            estimate = Estimate(
                completion_limit(parameters_of(ChatRequest([], inferrer.parameters), options))
            )
            with Journal(_NOTHING if anew else run_folder / JOURNAL, read_only=True) as journal:
                already = inferrer.foresee(chosen, _NOTHING if anew else output, journal, estimate)
            counts = Counts(already, "requests", "; answers rewritten (--reformat)" if reformat else "")
            for line in dry_run_lines(estimate, counts, llm, options, books.prices):
                screen.show(line)
            return Inference(0, already, RunSummary())
        kept = open_run(run_folder, settings, force=force, ways_on=WAYS_ON)
        if kept is not None:
            if output.exists():
                output.replace(kept / output.name)
            screen.say(f"the run before is kept as {kept}")
        elif force and output.exists() and not (run_folder / JOURNAL).exists():
            screen.say(f"{output} is kept as {keep_dated_copy(output).name}")
            output.unlink()
        read = [folder.user_requests, folder.tool_desc, folder.graph_desc, *([folder.data] if demos else [])]
        facts: Mapping[str, Any] = {
            "requests": len(requests),
            "asked": len(chosen),
            "sha256": {**hashes(*read), "prompt": settings["prompt_sha256"]},
        }
        models = [model] if reformatter in (None, model) else [model, reformatter]
        with (
            Journal(run_folder / JOURNAL) as journal,
            books.open(run_folder, screen, trial.other_ledgers) as ledger,
            record.start(models, facts),
        ):
            summary = RunSummary()
            with screen.progress("infer", len(chosen), lambda: books.figures(summary)) as advance:
                loop = Loop(multiworker, advance, screen.interrupted, summary)
                inference = inferrer.run(requests, output, journal, loop, chosen=chosen)
            write_json(
                run_folder / SUMMARY,
                summary_facts(inference.written, inference.already, inference.summary, ledger),
            )
            _report(inference, output, screen)
        report_stop(inference.summary, screen)
        return inference

    return run_trials(run, trials, screen)


def _requests(folder: DataFolder, screen: Screen) -> Requests:
    requests = Requests(folder.user_requests)
    if not requests:
        raise UsageError("holds no request", file=folder.user_requests, fix="make it with format_data.py")
    if requests.repeated:
        named = ", ".join(map(str, requests.repeated[:5]))
        screen.say(
            f"{WARNING}{len(requests.repeated)} ids occur twice in {folder.user_requests} ({named}): "
            "the last counts"
        )
    return requests


def _chosen(requests: Requests, ids: Path | Collection[RequestId] | None, limit: int | None) -> Chosen:
    return Chosen(requests, ids=read_ids(ids) if isinstance(ids, Path) else ids, limit=limit)


def _tagged(use_demos: int, reformat_by: str | None, *, tag: bool) -> str:
    """The published name of the prediction folder."""
    if not tag:
        return "predictions"
    demos = f"_use_demos_{use_demos}" if use_demos else ""
    return f"predictions{demos}{f'_reformat_by_{safe_name(reformat_by)}' if reformat_by else ''}"


def _report(inference: Inference, output: Path, screen: Screen) -> None:
    outcomes = inference.summary.outcomes
    asked = sum(outcomes.values())
    if inference.adopted:
        screen.say(f"{inference.adopted} lines that were in {output} are taken over as they are")
    if not asked:
        screen.show(f"{output}: all {inference.already} requests are answered already, nothing to do")
        return
    if outcomes["malformed"]:
        journal = output.parent / "runs" / output.stem / "journal.jsonl"
        screen.say(
            f"{outcomes['malformed']} answers hold no whole plan (prose, or cut off at the token limit): they"
            f" are kept as they came in {journal}; --force true with other settings asks again"
        )
    told = ", ".join(f"{count} {name}" for name, count in sorted(outcomes.items()))
    screen.show(f"{output}: {inference.written} lines ({told}; {inference.already} answered before)")
    report_failures(inference.summary, screen)
