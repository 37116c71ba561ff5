"""The infer stage: user_requests.json and tools -> predictions."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from toolassay.benchmarks.classic.agents.settings import ClassicAgentSettings as ChooserSettings
from toolassay.benchmarks.classic.data import is_classic
from toolassay.benchmarks.classic.security.published.stage import PUBLISHED, infer_published_security
from toolassay.benchmarks.classic.work import infer_classic
from toolassay.benchmarks.taskbench.infer import Inference
from toolassay.benchmarks.taskbench.prompt import choose_demos
from toolassay.benchmarks.taskbench.work import PlanRun, requests_of, tagged
from toolassay.benchmarks.workbench.agents.episode import MAX_SECONDS, MAX_STEPS, WorkbenchAgentSettings
from toolassay.benchmarks.workbench.work import infer_workbench, is_workbench
from toolassay.data_folder import DataFolder
from toolassay.dataset import RequestId
from toolassay.errors import UsageError
from toolassay.models import ModelOptions
from toolassay.models.refused_parameters import sampling_parameters
from toolassay.models.structured_output import Structured
from toolassay.prompt_templates import check_wording
from toolassay.requests import Chosen, read_ids
from toolassay.runs import Budget
from toolassay.screen import DEFAULT, Screen
from toolassay.stages.agent_run import refuse_settings
from toolassay.stages.infer_security import Security, infer_security, refuse_beside_security
from toolassay.stages.trials import run_trials
from toolassay.stages.workfolder import graph_of

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
    prompt: str = "published",
    prompt_template: Path | None = None,
    force: bool = False,
    budget: Budget | None = None,
    prices: Path | None = None,
    limit: int | None = None,
    ids: Path | Collection[RequestId] | None = None,
    dry_run: bool = False,
    command: Sequence[str] | None = None,
    agent: str | None = None,
    toolkit: str | None = None,
    resample: int = 0,
    resample_temperature: float = 0.5,
    max_steps: int = MAX_STEPS,
    max_seconds: float = MAX_SECONDS,
    order: str | None = None,
    max_tokens: int | None = None,
    retry_malformed: bool = False,
    recorded: Path | None = None,
    none_as: Sequence[str] = (),
    trials: int = 1,
    allow_tools: bool = False,
    security: Security | Literal["published"] = False,
    judge: str | None = None,
    structured: Structured | None = None,
    screen: Screen = DEFAULT,
) -> Inference:
    """Ask a model for the plan of every request of a folder; what is answered already is not asked again.

    In a folder of WorkBench the model is an agent that acts on a sandbox; in one of CLASSic an agent that
    chooses the workflow to start.

    Args:
        data_dir: holds `user_requests.json`, the tools and, for demonstrations, `data.json`.
        llm: who plans; "offline" and the baselines "nothing" and "random" need no server.
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
        prompt: of TaskBench: the built-in wording, "published" or "example" (a worked example instead of
            placeholders, for small models).
        prompt_template: instead of the built-in wording.
        force: begin anew where the run had other settings; the old one is kept.
        budget: what the whole run may use at most, earlier starts included.
        prices: a table of prices; what is in it counts before those of genai-prices.
        limit: ask only the first so many requests, in the order of the file.
        ids: ask only these, given as they are or as a file of them (one a line, a JSON list, or
            `split_ids.json:test` for a split).
        dry_run: only show what would be sent and may be used; nothing is sent or written.
        command: what was typed, for the manifest.
        agent: of WorkBench: "native" tool calls (default), "react" (actions in text) or
            "react_published" (the same, read as published); of CLASSic: "cot" (default), "reasoning",
            "tools", "retrieval" (default of the offline model) or "recorded".
        toolkit: of WorkBench: "all" tools (default), or those of a task's "domains".
        resample: of WorkBench: how often a run that called nothing is tried again.
        resample_temperature: of WorkBench: the temperature of such a new try.
        max_steps: of WorkBench: answers a task at most.
        max_seconds: of WorkBench: seconds that these take together at most; see `WorkbenchAgentSettings`.
        order: of CLASSic: of the workflows shown: "table" (default), "name", or the seed of a shuffle.
        max_tokens: of an answer; default 2,000, of CLASSic what the agent needs.
        retry_malformed: ask again what was answered malformed or cut off; the other answers stay, and so does
            the old one until the new one is there. `max_tokens` may then be another one than before.
        recorded: of CLASSic: the file of answers that the agent "recorded" gives again.
        none_as: of CLASSic: what a recorded answer says where it chose none; default "none".
        trials: how often the whole run is made; a further one lies in `trials/<number>/` of the prediction
            folder, and the budget is that of all together.
        allow_tools: of WorkBench: run the tools that the folder brings, which are a program.
        security: put probes instead of the requests, to see whether the agent acts on text that is data: True
            for as many as are usual, or the number of attacks. That is a run of its own. "published" is the
            published test of CLASSic: first turns to the bare model, graded by `judge`.
        judge: with `security`, a model on the same server that is asked whether the agent complied.
        structured: whether the server holds answers to a JSON schema: "auto" where it can, True or the run
            ends, False not. Default "auto" for CLASSic, else False. Of the agents of WorkBench only "react"
            sends a schema.
        screen: who listens.

    Raises:
        UsageError: files missing or malformed, settings that contradict the run.
        ToolassayError: the model cannot be reached.
    """
    folder = DataFolder(Path(data_dir)).require()
    wording = check_wording(prompt, with_template=prompt_template is not None)
    plans = {
        "dependency_type": dependency_type,
        "use_demos": use_demos,
        "demo_ids": demo_ids,
        "reformat": reformat,
        "tag": tag,
        "prompt": None if prompt == "published" else prompt,
        "prompt_template": prompt_template,
        "log_first_detail": log_first_detail,
    }
    acting = {
        "toolkit": toolkit,
        "resample": resample,
        "max_steps": max_steps != MAX_STEPS,
        "max_seconds": max_seconds != MAX_SECONDS,
    }
    choosing = {"order": order, "recorded": recorded, "none_as": none_as}
    if max_tokens is not None and max_tokens < 1:
        raise UsageError(f"--max_tokens {max_tokens} is no limit of an answer", fix="give a number from 1")
    common: dict[str, Any] = {
        "llm": llm,
        "options": replace(
            options or ModelOptions(connections=multiworker), require_schema=structured is True
        ),
        "parameters": sampling_parameters(temperature, top_p),
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
            retry_malformed=retry_malformed,
        )
    elif judge:
        raise UsageError("--judge judges probes", fix="add --security true, or leave it out")
    if security == PUBLISHED:
        refuse_beside_security(PUBLISHED, agent=agent, **choosing, **plans, **acting, allow_tools=allow_tools)
        refuse_beside_security(PUBLISHED, max_tokens=max_tokens, structured=structured)
        bare = {name: value for name, value in probes.items() if name not in ("parameters", "security")}
        return infer_published_security(folder, **bare)
    if is_workbench(folder):
        refuse_settings("WorkBench", **plans, **choosing)
        actor = WorkbenchAgentSettings(
            agent or "native",
            toolkit or "all",
            resample,
            max_steps,
            max_seconds,
            resample_temperature=resample_temperature,
            structured=structured or False,
        )
        if security:
            return infer_security(folder, actor=actor, max_tokens=max_tokens, **probes)
        return run_trials(
            lambda number: infer_workbench(
                folder,
                settings=actor,
                dry_run=dry_run,
                trial_number=number,
                allow_tools=allow_tools,
                max_tokens=max_tokens,
                retry_malformed=retry_malformed,
                **common,
            ),
            trials,
            screen,
        )
    if is_classic(folder):
        refuse_settings("CLASSic", **plans, **acting, allow_tools=allow_tools)
        settings_given = {"order": order or "table", "max_tokens": max_tokens, "recorded": recorded}
        none_words = tuple(none_as) or ("none",)
        chooser = ChooserSettings.of(llm, agent, **settings_given, structured=structured, none_as=none_words)
        if security:
            return infer_security(folder, chooser=chooser, **probes)
        return run_trials(
            lambda number: infer_classic(
                folder,
                settings=chooser,
                dry_run=dry_run,
                trial_number=number,
                retry_malformed=retry_malformed,
                **common,
            ),
            trials,
            screen,
        )
    refuse_settings("TaskBench", agent=agent, allow_tools=allow_tools, **choosing, **acting)
    graph = graph_of(folder, dependency_type, say=screen.say)
    requests = requests_of(folder, screen)
    demos = choose_demos(folder.data, use_demos, demo_ids)
    if security:
        refuse_beside_security(structured=structured)
        planner = {"requests": requests, "graph": graph, "demos": demos, "template": prompt_template}
        planner["wording"] = wording
        place = prediction_dir or tagged(len(demos), None, tag=tag)
        probes |= {"prediction_dir": place, "max_tokens": max_tokens}
        return infer_security(folder, planner=planner, **probes)
    rewriter = reformat_by if reformat else None
    run = PlanRun(
        folder,
        folder.path / (prediction_dir or tagged(len(demos), rewriter, tag=tag)),
        llm,
        common["options"],
        {**common["parameters"], **({"max_tokens": max_tokens} if max_tokens else {})},
        graph,
        requests,
        requests if ids is None and limit is None else Chosen(requests, ids=common["ids"], limit=limit),
        demos,
        prompt_template,
        rewriter,
        budget,
        prices,
        multiworker=multiworker,
        force=force,
        dry_run=dry_run,
        log_first_detail=log_first_detail,
        command=command,
        screen=screen,
        retry_malformed=retry_malformed,
        structured=structured or False,
        wording=wording,
    )
    return run_trials(run.carry_out, trials, screen)
