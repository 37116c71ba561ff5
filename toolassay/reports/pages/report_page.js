"use strict";
// The views of the report: where models fail, the items, one item. Texts of models, tools and users reach the
// document only as text nodes; nothing here sets innerHTML.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const several = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7f7f7f"]; // of what is no model
  const signs = { right: "✓ right", missing: "– missing", extra: "+ extra", wrong: "≠ wrong" };
  const goldSigns = { ...signs, wrong: "≠ other value predicted" }; // a value of the gold is never wrong
  const view = document.getElementById("view");
  const quiet = matchMedia("(prefers-reduced-motion: reduce)").matches;
  let open = []; // charts, tables and graphs of the current view, destroyed before the next one
  let filtered = null; // places of the items that the filters leave, for previous and next

  function el(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
      else if (name === "value" || name === "checked" || name === "disabled") made[name] = value;
      else if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
    }
    made.append(...children.flat().filter((one) => one !== null && one !== undefined));
    return made;
  }
  const percent = (share) => (share === null || share === undefined ? "–" : `${(100 * share).toFixed(1)} %`);
  const shown = (value) => (typeof value === "string" ? value : JSON.stringify(value));
  const ink = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  function table(headings, rows, label) {
    return el("div", { class: "wide", tabindex: "0", role: "group", "aria-label": label },
      el("table", {},
        el("thead", {}, el("tr", {}, headings.map((one) => el("th", { scope: "col" }, one)))),
        el("tbody", {}, rows.map((cells) => el("tr", {}, cells.map((cell, place) =>
          cell instanceof Node ? el("td", {}, cell) : el(place ? "td" : "th", place ? {} : { scope: "row" }, String(cell))))))));
  }

  // Charts

  function chart(title, type, labels, sets, options) {
    const canvas = el("canvas", { role: "img", "aria-label": `${title}: the numbers are in the table` });
    const figure = el("figure", {}, el("figcaption", {}, title), el("div", { class: "canvas" }, canvas));
    const made = () => {
      const axis = { ticks: { color: ink("--ink") }, grid: { color: ink("--rule") } };
      open.push(new Chart(canvas, {
        type,
        data: { labels, datasets: sets.map((one, place) => ({
          backgroundColor: one.colour ?? several[place % several.length], borderColor: one.colour ?? several[place % several.length],
          borderWidth: 2, pointRadius: 0, ...one })) },
        options: {
          animation: quiet ? false : { duration: 200 }, maintainAspectRatio: false, responsive: true,
          scales: { x: { ...axis, ...options.x }, y: { ...axis, ...options.y } },
          plugins: { legend: { display: sets.length > 1 && !sets[0].colour, labels: { color: ink("--ink") } } },
        },
      }));
    };
    return { figure, made };
  }

  function where(folder) {
    const names = folder.models.map((one) => one.name);
    const charts = folder.breakdowns.map((one) => ({
      ...chart(`${folder.score === "right" ? "Share that is right" : `Mean ${folder.score}`} by ${one.title.toLowerCase()}`, "bar", one.rows.map((row) => `${row.group} (${row.n})`),
        names.map((name, place) => ({ label: name, colour: data.colours[name], data: one.rows.map((row) => row.values[place]) })),
        { y: { min: 0, max: 1 } }),
      rows: table([one.title.toLowerCase(), "n", ...names],
        one.rows.map((row) => [row.group, row.n, ...row.values.map(percent)]), one.title),
    }));
    for (const [title, columns, unit] of [["Time", folder.seconds, "seconds"], ["Cost", folder.dollars, "US dollars"]]) {
      if (!columns.some((one) => one.length && one[one.length - 1] > 0)) continue;
      const points = (values) => values.map((x, place) => ({ x, y: (place + 1) / values.length }));
      charts.push({
        ...chart(`${title} of an item (${unit}), cumulative share of items`, "line", undefined,
          names.map((name, place) => ({ label: name, colour: data.colours[name], data: points(columns[place]), stepped: true })),
          { x: { type: "linear" }, y: { min: 0, max: 1 } }),
        rows: table([unit, "median", "90 %", "95 %"], names.map((name, place) => [name, ...[0.5, 0.9, 0.95].map((share) => {
          const values = columns[place];
          return values.length ? values[Math.min(values.length - 1, Math.floor(share * values.length))].toPrecision(3) : "–";
        })]), title),
      });
    }
    view.append(el("h2", {}, `Where it fails: ${folder.title}`),
      el("p", { class: "legend" }, names.map((name) => el("span", {}, swatch(name), name))),
      el("div", { class: "charts" }, charts.map((one) => one.figure)),
      el("details", {}, el("summary", {}, "The numbers as tables"), charts.map((one) => one.rows)));
    charts.forEach((one) => one.made());
    if (folder.tools.some((one) => one.values.some(Boolean))) {
      view.append(el("h3", { id: "by-tool" }, "By tool"), el("p", { class: "quiet" },
        "n: items whose gold calls the tool. Precision, recall and F1 of its calls; harm: items in which it made unwanted changes."));
      const holder = el("div");
      view.append(holder);
      const columns = [{ title: "tool", field: "tool", width: 220, frozen: innerWidth > 700, formatter: text }, { title: "n", field: "n", sorter: "number" }];
      names.forEach((name, place) => {
        for (const part of names.length > 2 ? ["harm", "f1"] : ["harm", "f1", "precision", "recall"]) { // more do not fit a screen
          if (part === "harm" && !folder.tools.some((one) => one.values[place]?.harm)) continue;
          columns.push({ title: `${name}: ${part === "f1" ? "F1" : part}`, field: `v${place}${part}`, sorter: "number", hozAlign: "right", width: 120, headerWordWrap: true,
            titleFormatter: titleText, formatter: (cell) => {
              const value = cell.getValue();
              return document.createTextNode(part === "harm" ? String(value ?? "–") : percent(value));
            } });
        }
      });
      const rows = folder.tools.map((one) => Object.assign({ tool: one.tool, n: one.n }, ...one.values.map((value, place) =>
        value ? { [`v${place}precision`]: value.precision, [`v${place}recall`]: value.recall, [`v${place}f1`]: value.f1, [`v${place}harm`]: value.harm } : {})));
      open.push(grid(holder, { data: rows, columns, height: Math.min(480, 48 + 31 * rows.length), initialSort: [{ column: "n", dir: "desc" }] }, "By tool"));
    }
    const many = el("div", { class: "charts" });
    names.forEach((name, place) => {
      if (folder.confusions[place].length) {
        many.append(el("figure", {}, el("figcaption", {}, `${name}: confused tools`),
          table(["wanted", "called", "times"], folder.confusions[place].slice(0, 15).map(([gold, called, times]) => [gold, called,
            link(times, `#/items/${data.folders.indexOf(folder)}?tool=${encodeURIComponent(gold)}`)]), "Confusions")));
      }
      if (folder.arguments[place].length) {
        many.append(el("figure", {}, el("figcaption", {}, `${name}: arguments that are wrong most often`),
          table(["tool", "argument", "wrong or missing"], folder.arguments[place].slice(0, 15).map(([tool, argument, bad, all]) =>
            [tool, argument, `${bad} of ${all}`]), "Arguments")));
      }
    });
    const outcomes = folder.outcome_names;
    view.append(el("h3", {}, "Outcomes"),
      table(["model", ...outcomes], names.map((name, place) => [name, ...outcomes.map((one) => folder.outcomes[place][one] ?? 0)]), "Outcomes"),
      ...agents(folder, names),
      many.childElementCount ? el("h3", {}, "Tools and arguments") : "", many);
  }

  // What agents did to get there, against the calls of the gold.
  function agents(folder, names) {
    const rows = names.flatMap((name, place) => {
      const one = folder.trajectories[place];
      return one ? [[name, ...["steps", "calls", "gold", "wasted", "repeated", "failed", "recovered", "first_wrong"].map((part) =>
        one[part] === null ? "–" : one[part].toFixed(1)), percent(one.all_right)]] : [];
    });
    return rows.length ? [el("h3", {}, "Steps of agents"), el("p", { class: "quiet" },
      "Means per item. Beyond the gold: accepted calls that the gold lacks. First wrong: the number of the first call that was refused or that the gold lacks, of items that have one."),
    table(["model", "answers", "calls", "calls of the gold", "beyond the gold", "repeated", "refused", "recovered", "first wrong", "all calls right"], rows, "Steps of agents")] : [];
  }

  // The colour of a model is the same on all tabs.
  function swatch(name) {
    const dot = el("span", { class: "swatch", "aria-hidden": "true" });
    dot.style.background = data.colours[name];
    return dot;
  }
  function link(text, href) {
    return el("a", { href }, String(text));
  }
  const text = (cell) => document.createTextNode(String(cell.getValue() ?? ""));
  const titleText = (cell) => document.createTextNode(String(cell.getValue() ?? ""));

  function grid(holder, options, label) {
    const made = new Tabulator(holder, { layout: "fitDataFill", movableColumns: false, columnDefaults: { titleFormatter: titleText }, ...options });
    holder.setAttribute("aria-label", label);
    // The part that scrolls can be focused, so it must be a part of the grid for screen readers, too.
    made.on("tableBuilt", () => {
      holder.querySelector(".tabulator-tableholder")?.setAttribute("role", "rowgroup");
      holder.querySelector(".tabulator-table")?.setAttribute("role", "none");
    });
    return made;
  }

  // Items

  const marks = (value) => (value === null ? "–" : value === 1 ? "✓" : value === 0 ? "✗" : value.toFixed(2));

  function items(folder, number, query) {
    const all = folder.items;
    const names = folder.models.map((one) => one.name);
    const harmful = names.map((_, place) => new Set(all.harm[place]));
    const texts = all.request.map((one, place) => `${all.id[place]} ${one}`.toLowerCase());
    const state = Object.fromEntries(query);
    const status = el("p", { role: "status", class: "quiet" });
    const holder = el("div");
    const choice = (name, label, values) => el("label", {}, label, el("select", { onchange: (event) => set(name, event.target.value) },
      el("option", { value: "" }, "all"), values.map(([value, shownAs]) => el("option", { value, selected: state[name] === String(value) }, String(shownAs)))));
    const box = (name, label) => el("label", { class: "box" },
      el("input", { type: "checkbox", checked: state[name] === "1", onchange: (event) => set(name, event.target.checked ? "1" : "") }), label);
    const sizes = [...new Set(all.size)].sort((a, b) => a - b);
    view.append(el("h2", {}, `Items: ${folder.title}`),
      el("form", { class: "filters", role: "search", onsubmit: (event) => event.preventDefault() },
        el("label", {}, "text or id", el("input", { type: "search", value: state.text ?? "", oninput: (event) => set("text", event.target.value) })),
        choice("type", folder.type_noun, folder.type_names.map((one, place) => [place, one])),
        choice("size", "number of tools", sizes.map((one) => [one, one])),
        choice("tool", "tool", folder.tool_names.map((one) => [one, one])),
        Object.entries(folder.group_names).filter(([name, values]) => values.length > 1 && !(folder.type_noun === "group" && name === "domain"))
          .map(([name, values]) => choice(`g-${name}`, name, values.map((one, place) => [place, one]))),
        choice("model", "outcome and score of", names.map((one, place) => [place, one])),
        choice("outcome", "outcome", folder.outcome_names.map((one, place) => [place, one])),
        choice("score", "score", [["right", "right"], ["partly", "partly"], ["wrong", "wrong"]]),
        box("differ", "models differ"),
        all.harm.some((one) => one.length) ? box("harm", "unwanted changes") : null),
      status, holder);

    function matches(place) {
      const chosen = state.model ? [Number(state.model)] : names.map((_, one) => one);
      if (state.text && !texts[place].includes(state.text.toLowerCase())) return false;
      if (state.type && all.type[place] !== Number(state.type)) return false;
      if (state.size && all.size[place] !== Number(state.size)) return false;
      if (state.tool && !all.tools[place].includes(folder.tool_names.indexOf(state.tool))) return false;
      for (const name of Object.keys(folder.group_names)) {
        if (state[`g-${name}`] && all.groups[name][place] !== Number(state[`g-${name}`])) return false;
      }
      if (state.outcome && !chosen.some((one) => all.outcome[one][place] === Number(state.outcome))) return false;
      if (state.score && !chosen.some((one) => {
        const value = all.score[one][place];
        return value !== null && (state.score === "right" ? value === 1 : state.score === "wrong" ? value === 0 : value > 0 && value < 1);
      })) return false;
      if (state.differ && new Set(names.map((_, one) => all.score[one][place]).filter((one) => one !== null)).size < 2) return false;
      return !(state.harm && !chosen.some((one) => harmful[one].has(place)));
    }

    function rows() {
      filtered = [];
      for (let place = 0; place < all.id.length; place++) if (matches(place)) filtered.push(place);
      status.textContent = `${filtered.length.toLocaleString("en")} of ${all.id.length.toLocaleString("en")} ${folder.item}s`;
      return filtered.map((place) => Object.assign({ place, id: all.id[place], request: all.request[place],
        type: folder.type_names[all.type[place]], size: all.size[place] },
      ...names.map((_, one) => ({ [`m${one}`]: all.score[one][place], [`o${one}`]: all.outcome[one][place] }))));
    }
    const made = grid(holder, {
      data: rows(), height: "60vh", placeholder: "No item matches.", selectableRows: false,
      columns: [
        { title: "id", field: "id", width: 150, frozen: innerWidth > 700, formatter: (cell) => link(cell.getValue(), `#/item/${number}/${encodeURIComponent(cell.getValue())}`) },
        { title: "request", field: "request", widthGrow: 1, width: Math.max(220, Math.min(560, innerWidth - 400 - 105 * names.length)), formatter: text },
        { title: folder.type_noun, field: "type", formatter: text },
        { title: "tools", field: "size", sorter: "number", formatter: text },
        ...names.map((name, one) => ({ title: name, field: `m${one}`, sorter: "number", titleFormatter: titleText, width: 105, headerWordWrap: true,
          formatter: (cell) => {
            const row = cell.getRow().getData(), outcome = folder.outcome_names[row[`o${one}`]];
            const bad = harmful[one].has(row.place) ? " ⚠ harm" : "";
            const more = outcome && outcome !== "answered" ? ` ${outcome}` : "";
            return document.createTextNode(`${marks(cell.getValue())}${more}${bad}`);
          } })),
      ],
    }, "Items");
    open.push(made);
    const built = new Promise((go) => made.on("tableBuilt", go));
    let waiting = 0;
    function set(name, value) {
      if (value) state[name] = value; else delete state[name];
      clearTimeout(waiting);
      waiting = setTimeout(async () => {
        history.replaceState(null, "", `#/items/${number}?${new URLSearchParams(state)}`);
        await built;
        made.replaceData(rows());
      }, name === "text" ? 80 : 0);
    }
  }

  // One item

  const chunks = new Map();
  async function details(number, place) {
    const size = data.folders[number].chunk_size, key = `${number}-${Math.floor(place / size)}`;
    if (!chunks.has(key)) {
      const packed = Uint8Array.from(atob(document.getElementById(`chunk-${key}`).textContent), (one) => one.charCodeAt(0));
      const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
      chunks.set(key, new Response(stream).json());
    }
    return (await chunks.get(key))[place % size];
  }

  function plan(title, found, empty, sign) {
    const panel = el("div", { class: "plan" }, el("h3", {}, title));
    if (!found || !found.calls.length) {
      panel.append(el("p", { class: "quiet" }, found ? "No calls." : empty));
      return { panel, made: () => {} };
    }
    const holder = el("div", { class: "graph", role: "img", "aria-label": `${title} as a graph; the table below has the same` });
    panel.append(holder, table(["call", "tool", "arguments"], found.calls.map((call, place) => [
      String(place), el("span", { class: `s-${call.status}` }, `${call.tool} `, el("small", { class: "status" }, sign[call.status])),
      el("div", {}, call.arguments.map(({ name, value, status }) => el("div", { class: `value s-${sign === goldSigns && status === "wrong" ? "gold" : status}` },
        name ? `${name}: ` : "", shown(value), " ", el("small", { class: "status" }, sign[status])))),
    ]), title));
    const made = () => {
      const drawn = cytoscape({
        container: holder, autoungrabify: true, userZoomingEnabled: false, boxSelectionEnabled: false,
        elements: [
          ...found.calls.map((call, place) => ({ data: { id: String(place), label: `${place} ${call.tool.replace(/([._/])/g, "$1\u200b")}`, status: call.status } })),
          ...found.links.map(([source, target, status]) => ({ data: { source: String(source), target: String(target), status } })),
        ],
        style: [
          { selector: "node", style: { shape: "round-rectangle", label: "data(label)", "text-valign": "center", "text-wrap": "wrap", "text-max-width": 130,
            width: 140, height: 42, "font-size": 13, color: ink("--ink"), "background-color": ink("--panel"), "border-width": 2, "border-color": ink("--right") } },
          { selector: "node[status = 'missing']", style: { "border-style": "dashed", "border-color": ink("--missing") } },
          { selector: "node[status = 'extra']", style: { "border-style": "double", "border-width": 5, "border-color": ink("--extra") } },
          { selector: "edge", style: { width: 2, "curve-style": "bezier", "target-arrow-shape": "triangle", "line-color": ink("--right"), "target-arrow-color": ink("--right") } },
          { selector: "edge[status = 'missing']", style: { "line-style": "dashed", "line-color": ink("--missing"), "target-arrow-color": ink("--missing") } },
          { selector: "edge[status = 'extra']", style: { "line-style": "dotted", "line-color": ink("--extra"), "target-arrow-color": ink("--extra") } },
        ],
        layout: { name: "dagre", rankDir: found.calls.length > 3 ? "TB" : "LR", nodeSep: 20, rankSep: 40, animate: false },
      });
      drawn.fit(undefined, 12);
      if (drawn.zoom() > 1.2) { drawn.zoom(1.2); drawn.center(); }
      open.push(drawn);
    };
    return { panel, made };
  }

  function section(one) {
    const body = one.body;
    const inside = [];
    if (one.kind === "text") inside.push(el("pre", {}, body));
    if (one.kind === "chat") inside.push(...body.map((turn) => el("div", { class: "turn" }, el("b", {}, turn.role), turn.text)));
    if (one.kind === "table") {
      inside.push(table(body.columns, body.rows.map((cells, place) => cells.map((cell, column) => el("span", {
        class: { wanted: "s-right", unwanted: "s-extra", missing: "s-missing" }[body.marks?.[place]] ?? "" },
      (column === 0 && body.marks?.[place] === "wanted" ? "✓ " : ""), String(cell)))), one.title));
    }
    if (one.kind === "calls") {
      const steps = body.some((call) => call.step);
      inside.push(table([...(steps ? ["answer"] : []), "tool", "arguments", "result"], body.map((call) => [...(steps ? [call.step] : []), call.tool, el("code", {}, shown(call.arguments)),
        el("code", {}, call.error ?? (call.result === null || call.result === undefined ? "–" : shown(call.result)))]), one.title));
    }
    return el("div", {}, el("h3", {}, one.title), inside);
  }

  async function item(folder, number, id, query) {
    const place = folder.items.id.indexOf(id);
    if (place < 0) {
      view.append(el("h2", {}, "No such item"), el("p", {}, link("All items", `#/items/${number}`)));
      return;
    }
    const names = folder.models.map((one) => one.name);
    const asked = (query.get("models") ?? "").split(",").filter((one) => one !== "").map(Number).filter((one) => one in names);
    const chosen = asked.length ? asked.slice(0, 2) : names.map((_, one) => one).slice(0, 2);
    filtered ??= folder.items.id.map((_, one) => one);
    const at = filtered.indexOf(place);
    const address = (other, models = chosen) => `#/item/${number}/${encodeURIComponent(folder.items.id[other])}?models=${models.join(",")}`;
    const step = (label, other) => (other === undefined ? el("button", { disabled: true }, label) : el("button", { onclick: () => { location.hash = address(other); } }, label));
    const mine = turn, found = await details(number, place);
    if (mine !== turn) return;
    const pick = (slot, label) => el("label", {}, label, el("select", { onchange: (event) => {
      const next = [...chosen];
      if (event.target.value === "") next.splice(slot, 1); else next[slot] = Number(event.target.value);
      location.hash = address(place, next);
    } }, slot ? el("option", { value: "" }, "none") : null,
    names.map((name, one) => el("option", { value: one, selected: chosen[slot] === one }, name))));
    view.append(
      el("div", { class: "row" }, link("← Items", `#/items/${number}`), step("Previous", filtered[at - 1]), step("Next", at < 0 ? undefined : filtered[at + 1])),
      el("h2", {}, `${folder.item} ${id}`),
      el("p", { class: "request" }, found.request || "(no text)"),
      ...found.sections.map(section),
      el("div", { class: "filters" }, pick(0, "model"), names.length > 1 ? pick(1, "compare with") : null));
    if (found.answers.some((one) => one && (one.gold || one.predicted))) {
      view.append(el("p", { class: "quiet" }, "Solid blue: as in the gold. Dashed orange: missing. Double or dotted purple: extra. ≠: another value than the gold."));
    }
    const panels = [];
    for (const one of chosen) {
      const answer = found.answers[one], score = folder.items.score[one][place], outcome = folder.outcome_names[folder.items.outcome[one][place]];
      view.append(el("h3", {}, swatch(names[one]), names[one]), el("p", {}, `${folder.score}: ${marks(score)} · ${outcome ?? "not run"}`,
        answer?.prompt_tokens != null ? ` · ${answer.prompt_tokens} + ${answer.completion_tokens} tokens` : "",
        answer?.dollars ? ` · ${answer.dollars.toPrecision(3)} USD` : "",
        folder.items.seconds[one]?.[place] != null ? ` · ${folder.items.seconds[one][place]} s` : "",
        answer?.harm.length ? ` · ⚠ unwanted changes by ${answer.harm.join(", ")}` : ""));
      const trials = folder.items.trials[one]?.[place];
      if (trials) {
        view.append(table(["trial", folder.score, "outcome", "unwanted changes"], trials.map(([trial, ended, value, unwanted]) => [String(trial), marks(value), ended, unwanted ?? "–"]), "Runs of this item"),
          el("p", { class: "quiet" }, "Trial 0 is shown below."));
      }
      if (!answer) { view.append(el("p", { class: "quiet" }, "There is no answer.")); continue; }
      if (answer.gold || answer.predicted) {
        const both = [plan("Gold plan", answer.gold, "This item has no gold plan.", goldSigns), plan(`Plan of ${names[one]}`, answer.predicted, "The answer has no readable plan.", signs)];
        view.append(el("div", { class: "plans" }, both.map((two) => two.panel)));
        panels.push(...both);
      }
      view.append(...answer.sections.map(section));
      if (answer.raw !== null) view.append(el("details", {}, el("summary", {}, "Raw answer"), el("pre", {}, answer.raw)));
    }
    panels.forEach((one) => one.made());
  }

  // The data set

  function dataset(folder, number) {
    const found = folder.data;
    const shapes = Object.keys(found.sizes), sizes = [...new Set(shapes.flatMap((one) => Object.keys(found.sizes[one]).map(Number)))].sort((a, b) => a - b);
    const stacked = { stacked: true };
    const bars = chart("Requests by number of tools and shape", "bar", sizes.map(String),
      shapes.map((one) => ({ label: one, data: sizes.map((size) => found.sizes[one][size] ?? 0) })), { x: stacked, y: stacked });
    const share = (part) => (part && part.share !== undefined ? `${part.used} of ${part.tools ?? part.possible} (${percent(part.share)})` : "–");
    const facts = [
      ["requests", found.requests.toLocaleString("en")],
      ["tools that a gold plan calls", share(found.tools)],
      ["links that a gold plan uses", share(found.links)],
      ["exact and near duplicates", `${found.repeats.exact ?? "–"} and ${found.repeats.near ?? "–"}`],
      ["ROUGE-L to the most similar request, mean", found.nearest ? found.nearest.value.toFixed(2) : "–"],
      ["different words, of all words of a sample", `${found.wording.different_words ?? "–"} of ${found.wording.words ?? "–"}`],
    ];
    view.append(el("h2", {}, `Data set: ${folder.title}`), table(["measure", "value"], facts, "Measures of the data set"),
      el("div", { class: "charts" }, bars.figure),
      el("details", {}, el("summary", {}, "The numbers as a table"), table(["tools", ...shapes], sizes.map((size) => [size, ...shapes.map((one) => found.sizes[one][size] ?? 0)]), "Sizes")));
    bars.made();
    const unused = found.tools?.never_used ?? [];
    if (unused.length) view.append(el("h3", {}, "Tools that no gold plan calls"), el("p", {}, unused.join(", ")));
    if (found.funnel) {
      view.append(el("h3", {}, "What the gates held back"), table(["gate", "entering", "rejected", "quarantined", "leaving"],
        found.funnel.map((one) => [one.gate, one.entering, one.reject, one.quarantine, one.leaving]), "Funnel"));
    }
    if (found.graph) graph(found.graph, number);
  }

  function graph(found, number) {
    const names = found.nodes.map(([id]) => id);
    const holder = el("div", { class: "graph big", role: "img", "aria-label": "The tool graph; the list beside it has the same" });
    const panel = el("div", { "aria-live": "polite" }, el("p", { class: "quiet" }, "Choose a tool to see what it takes from and gives to."));
    const list = el("datalist", { id: "tool-names" }, names.map((one) => el("option", { value: one })));
    const search = el("input", { type: "search", list: "tool-names", oninput: (event) => {
      const place = names.indexOf(event.target.value);
      if (place >= 0) choose(place);
    } });
    view.append(el("h3", {}, "Tool graph"),
      el("p", { class: "quiet" }, found.every ? `${names.length} tools, ${found.number_of_links} links; drag to move, scroll to zoom.`
        : `${names.length} tools; of ${found.number_of_links} links those that a gold plan uses.`),
      el("div", { class: "filters" }, el("label", {}, "find a tool", search), list), holder, panel);
    const radius = Math.max(120, (names.length * 15) / (2 * Math.PI)); // 15 pixels of the circle a tool
    const drawn = cytoscape({
      container: holder, autoungrabify: true, boxSelectionEnabled: false,
      elements: [
        ...names.map((id, place) => {
          // Labels run outwards from the circle, never upside down, so that they do not overlap.
          const angle = -Math.PI / 2 + (2 * Math.PI * place) / names.length, left = Math.cos(angle) < -1e-9;
          return { data: { id: String(place), label: left ? `${id}\u00a0\u00a0` : `\u00a0\u00a0${id}`, turn: left ? angle + Math.PI : angle },
            classes: left ? "left" : "", position: { x: radius * Math.cos(angle), y: radius * Math.sin(angle) } };
        }),
        ...found.links.map(([source, target, uses]) => ({ data: { id: `${source}-${target}`, source: String(source), target: String(target), uses } })),
      ],
      style: [
        { selector: "node", style: { label: "data(label)", "font-size": 11, color: ink("--ink"), "background-color": ink("--right"), width: 12, height: 12, "min-zoomed-font-size": 7,
          "text-rotation": "data(turn)", "text-halign": "right", "text-valign": "center" } },
        { selector: "node.left", style: { "text-halign": "left" } },
        { selector: "edge", style: { width: 1, opacity: 0.25, "curve-style": "straight", "line-color": ink("--quiet"), "target-arrow-shape": "triangle", "target-arrow-color": ink("--quiet"), "arrow-scale": 0.7 } },
        { selector: ".far", style: { opacity: 0.08 } },
        { selector: "edge.out", style: { width: 2, opacity: 1, "line-color": ink("--right"), "target-arrow-color": ink("--right") } },
        { selector: "edge.in", style: { width: 2, opacity: 1, "line-style": "dashed", "line-color": ink("--missing"), "target-arrow-color": ink("--missing") } },
        { selector: "node.chosen", style: { width: 20, height: 20, "background-color": ink("--mark") } },
      ],
      layout: { name: "preset", fit: true, padding: 20 },
    });
    open.push(drawn);
    function choose(place) {
      const node = drawn.getElementById(String(place));
      drawn.elements().removeClass("far in out chosen");
      drawn.elements().difference(node.closedNeighborhood()).addClass("far");
      node.addClass("chosen");
      node.outgoers("edge").addClass("out");
      node.incomers("edge").addClass("in");
      const ends = (edges, end) => edges.map((edge) => `${names[Number(edge.data(end))]} (${edge.data("uses")})`).join(", ") || "–";
      panel.replaceChildren(el("h4", {}, link(names[place], `#/items/${number}?tool=${encodeURIComponent(names[place])}`)), el("p", {}, found.nodes[place][1]),
        el("p", {}, "Gives to (gold plans that use the link): ", ends(node.outgoers("edge"), "target")),
        el("p", {}, "Takes from: ", ends(node.incomers("edge"), "source")));
    }
    drawn.on("tap", "node", (event) => choose(Number(event.target.id())));
  }

  // Routes

  let turn = 0;
  async function route() {
    const mine = ++turn;
    const [path, query] = location.hash.replace(/^#/, "").split("?");
    const [, name = "", number = "0", id = ""] = path.split("/");
    const folder = data.folders[Number(number)];
    if (route.folder !== number) filtered = null;
    route.folder = number;
    for (const one of open) one.destroy();
    open = [];
    view.replaceChildren();
    const known = folder && (["where", "items", "item"].includes(name) || (name === "data" && folder.data));
    document.getElementById("verdict").hidden = known || name === "method";
    document.getElementById("method").hidden = name !== "method";
    view.hidden = !known;
    for (const one of document.querySelectorAll("header nav a")) {
      const here = one.getAttribute("href").slice(1);
      const current = known ? here === `/${name === "item" ? "items" : name}/${number}` : here === (name === "method" ? "/method" : "/");
      if (current) one.setAttribute("aria-current", "page"); else one.removeAttribute("aria-current");
    }
    if (!known) return;
    if (name === "where") where(folder);
    if (name === "data") dataset(folder, Number(number));
    if (name === "items") items(folder, Number(number), new URLSearchParams(query ?? ""));
    if (name === "item") await item(folder, Number(number), decodeURIComponent(id), new URLSearchParams(query ?? ""));
    if (mine === turn) view.setAttribute("data-ready", name);
  }
  addEventListener("hashchange", () => { scrollTo(0, 0); route(); document.getElementById("main").focus(); });
  route();
})();
