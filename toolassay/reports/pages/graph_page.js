
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { tools, types } = data;
  const $ = (id) => document.getElementById(id);
  const calm = window.matchMedia("(prefers-reduced-motion: reduce)");
  const LONGEST_LIST = 200;
  const MANY = 150;
  const READABLE = 0.6;
  const MOST_NEAR = 25; // tools on each side of the chosen one
  // A schema graph has a store of links, which its page can edit.
  const store = data.rule === "dependencies" ? linkStore(data) : null;
  let chosen = null;
  let wanted = "";
  let apart = false; // whether the chosen tool and its neighbours are shown alone
  const unchecked = new Set();

  // ---- words and elements (texts become text nodes, never markup) ----
  const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
  const element = (name, attributes = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };
  const swatch = (colour) => {
    const dot = element("span", { class: "swatch", "aria-hidden": "true" });
    dot.style.background = colour;
    return dot;
  };
  const colourOf = (tool) => types[tool.colour].colour;

  // ---- which tool can follow which ----
  const pairs = new Map();
  if (!store) data.links.forEach(([source, target, kind]) => {
    for (const [end, key] of [[source, "after"], [target, "before"]]) {
      if (!pairs.has(end)) pairs.set(end, { after: new Map(), before: new Map() });
      const other = key === "after" ? target : source;
      const kinds = pairs.get(end)[key];
      kinds.set(other, [...(kinds.get(other) || []), kind]);
    }
  });
  const shared = (giver, taker) => [...new Set(giver.gives)].filter((kind) => taker.takes.includes(kind));
  const neighbours = (number) => {
    if (store) return store.near(number);
    if (data.rule === "listed") return pairs.get(number) || { after: new Map(), before: new Map() };
    const found = { after: new Map(), before: new Map() };
    tools.forEach((tool, other) => {
      if (other === number) return;
      const after = data.rule === "complete" ? [null] : shared(tools[number], tool);
      const before = data.rule === "complete" ? [null] : shared(tool, tools[number]);
      if (after.length) found.after.set(other, after);
      if (before.length) found.before.set(other, before);
    });
    return found;
  };

  // ---- what a tool is filtered by: its group, its resource types, or the types of its parameters ----
  const byResource = tools.some((tool) => tool.takes.length || tool.gives.length);
  const kindsOf = (tool) => [...new Set(store
    ? (data.group_noun ? [types[tool.colour].name] : [])
    : byResource
    ? [...tool.takes, ...tool.gives].map((kind) => types[kind].name)
    : tool.parameters.map((parameter) => parameter[1]))];
  const toolKinds = tools.map(kindsOf);
  const uses = new Map();
  toolKinds.flat().forEach((kind) => uses.set(kind, (uses.get(kind) || 0) + 1));
  const passes = (number) => !toolKinds[number].length || toolKinds[number].some((kind) => !unchecked.has(kind));
  const kindPasses = (kind) => kind === null || !unchecked.has(types[kind].name);

  // ---- the drawing ----
  const variable = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const AWAY = 14;
  const BUNDLE = 0.42; // towards which links bend: a share of the distance of a tool from the centre
  const SIZE = 14;
  const FONT = { size: 13, family: "system-ui, Segoe UI, Roboto, DejaVu Sans, sans-serif" };
  const ruler = document.createElement("canvas").getContext("2d");
  ruler.font = `${FONT.size}px ${FONT.family}`;
  const widthOf = (text) => ruler.measureText(text).width;
  // Labels are rotated about their middle, which is on the radius of the node.
  const margins = (away) => ({
    "text-margin-x": (node) => (away + node.data("width") / 2) * Math.cos(node.data("angle")),
    "text-margin-y": (node) => (away + node.data("width") / 2) * Math.sin(node.data("angle")),
  });
  const onGround = () => ({
    "text-background-color": variable("--ground"), "text-background-opacity": 0.85, "text-background-padding": 1,
  });
  const style = () => [
    { selector: "node", style: {
      width: SIZE, height: SIZE, "background-color": "data(colour)", "border-width": 1.5,
      "border-color": variable("--ground"), label: "data(name)", color: variable("--ink"), "font-size": FONT.size,
      "font-family": FONT.family, "min-zoomed-font-size": 5,
      "text-valign": "center", "text-halign": "center",
      "text-rotation": (node) => node.data("angle") + (Math.cos(node.data("angle")) < -1e-6 ? Math.PI : 0),
      ...margins(AWAY),
    } },
    { selector: "edge", style: {
      width: 1.2, "line-color": "data(colour)", "target-arrow-color": "data(colour)", opacity: 0.3,
      "curve-style": "straight", events: "no", "target-arrow-shape": "triangle", "arrow-scale": 0.9,
    } },
    { selector: "edge.curved", style: {
      "curve-style": "unbundled-bezier", "edge-distances": "node-position",
      "control-point-weights": "data(weights)", "control-point-distances": "data(distances)",
    } },
    { selector: "edge.scored", style: {
      width: "mapData(score, 0, 1, 0.5, 2.4)", opacity: `mapData(score, 0, 1, 0.06, ${data.links.length > 400 ? 0.4 : 0.65})`,
    } },
    { selector: "edge.observed", style: { "line-style": "dashed" } },
    { selector: "edge.edited", style: { "line-color": variable("--mark"), "target-arrow-color": variable("--mark") } },
    { selector: ".faded", style: { opacity: 0.14 } },
    { selector: "edge.faded", style: { opacity: 0.04 } },
    { selector: "edge.near", style: { opacity: 0.85, width: 1.8, "z-index": 5 } },
    { selector: "edge.near.many", style: { opacity: 0.35, width: 1 } },
    { selector: "edge.scored.near", style: {
      width: "mapData(score, 0, 1, 0.8, 3.2)", opacity: "mapData(score, 0, 1, 0.35, 0.95)",
    } },
    { selector: "edge.apart", style: {
      "curve-style": "straight", color: variable("--quiet"), "font-size": 10, "font-family": FONT.family,
      "source-text-rotation": "autorotate", "target-text-rotation": "autorotate",
      "source-text-offset": 70, "target-text-offset": 70, "min-zoomed-font-size": 6, ...onGround(),
    } },
    // Names of what flows are beside the neighbours, where the links are apart.
    { selector: "edge.apart.into", style: { "source-label": "data(name)" } },
    { selector: "edge.apart.from", style: { "target-label": "data(name)" } },
    { selector: ".found", style: { "border-width": 4, "border-color": variable("--mark") } },
    { selector: ".chosen", style: {
      width: SIZE + 8, height: SIZE + 8, ...margins(AWAY + 5), "border-width": 4, "border-color": variable("--mark"),
      color: variable("--mark"), "z-index": 10,
    } },
    // In the middle of its neighbours, the name of the chosen tool is above it.
    { selector: "node.chosen.apart", style: {
      "text-rotation": 0, "text-margin-x": 0, "text-margin-y": -26, ...onGround(),
    } },
    { selector: ".hidden", style: { display: "none" } },
  ];
  const short = (name) => (name.length > 40 ? `${name.slice(0, 39)}…` : name);
  // A cubic Bézier curve that bends towards the centre. Each control point is given by how far along the line
  // it is (a share of its length) and how far off the line (pixels).
  const curveOf = (source, target) => {
    const [from, to] = [tools[source], tools[target]];
    const [across, down] = [to.x - from.x, to.y - from.y];
    const length = Math.hypot(across, down);
    const points = [from, to].map(({ x, y }) => [BUNDLE * x - from.x, BUNDLE * y - from.y]);
    return {
      weights: points.map(([x, y]) => (x * across + y * down) / length ** 2),
      distances: points.map(([x, y]) => (y * across - x * down) / length),
    };
  };
  const edgeOf = (source, target, kind, curved) => ({
    group: "edges",
    classes: curved ? "curved" : "",
    data: {
      source: `t${source}`, target: `t${target}`, kind,
      colour: kind === null ? variable("--line") : types[kind].colour,
      ...(curved ? curveOf(source, target) : {}),
    },
  });
  const edgeOfLink = (link) => {
    const made = edgeOf(link.source, link.target, tools[link.source].colour, true);
    Object.assign(made.data, { id: `l${link.source}-${link.target}`, link, score: link.score, name: link.type });
    const edited = store.editOf(store.keyOf(link.source, link.target));
    made.classes += ` scored${link.kind === "observed" ? " observed" : ""}${edited ? " edited" : ""}`;
    return made;
  };
  const graph = cytoscape({
    container: $("graph"),
    elements: [
      ...tools.map((tool, number) => ({
        group: "nodes",
        data: {
          id: `t${number}`, number, name: short(tool.id), width: widthOf(short(tool.id)),
          colour: colourOf(tool), angle: tool.angle,
        },
        position: { x: tool.x, y: tool.y },
      })),
      ...(data.show_all ? data.links.map((link) => edgeOf(...link, true)) : []),
    ],
    style: style(),
    layout: { name: "preset" },
    minZoom: 0.02,
    maxZoom: 6,
    autoungrabify: true,
    autounselectify: true,
    boxSelectionEnabled: false,
  });
  const nodeOf = (number) => graph.getElementById(`t${number}`);
  const showAll = () => graph.stop().fit(undefined, 30);
  const panBy = (x, y) => graph.stop().panBy({ x, y });
  const zoomBy = (factor) => graph.stop().zoom({
    level: graph.zoom() * factor,
    renderedPosition: { x: graph.width() / 2, y: graph.height() / 2 },
  });
  const centreOn = (number) => {
    const view = { center: { eles: nodeOf(number) }, zoom: Math.max(graph.zoom(), READABLE) };
    graph.stop();
    if (calm.matches) graph.zoom(view.zoom).center(nodeOf(number));
    else graph.animate(view, { duration: 250 });
  };
  const isInView = (number) => {
    const { x, y } = nodeOf(number).renderedPosition();
    return graph.zoom() >= READABLE && x > 0 && y > 0 && x < graph.width() && y < graph.height();
  };

  // ---- what search, filter and choice show ----
  const matches = () => {
    const text = wanted.toLocaleLowerCase();
    const shown = tools.map((_, number) => number).filter(passes);
    if (!text) return shown;
    const byName = shown.filter((number) => tools[number].id.toLocaleLowerCase().includes(text));
    const others = shown.filter((number) => !byName.includes(number)
      && tools[number].description.toLocaleLowerCase().includes(text));
    const begins = (number) => (tools[number].id.toLocaleLowerCase().startsWith(text) ? 0 : 1);
    return [...byName.sort((a, b) => begins(a) - begins(b) || a - b), ...others];
  };
  const refresh = () => {
    const found = matches();
    const near = chosen === null ? null : neighbours(chosen);
    graph.batch(() => {
      if (!data.show_all && !store) graph.edges().remove();
      graph.elements().removeClass("faded found chosen near many hidden apart into from");
      if (store) drawLinks(near);
      graph.nodes().forEach((node) => { node.toggleClass("hidden", !passes(node.data("number"))); });
      graph.edges().forEach((edge) => { edge.toggleClass("hidden", !kindPasses(edge.data("kind"))); });
      if (wanted) found.forEach((number) => nodeOf(number).addClass("found"));
      if (near) {
        graph.elements().addClass("faded");
        const kept = [chosen, ...near.after.keys(), ...near.before.keys()];
        kept.forEach((number) => nodeOf(number).removeClass("faded"));
        nodeOf(chosen).addClass("chosen");
        if (!data.show_all && !store) graph.add(edgesOf(near));
        nodeOf(chosen).connectedEdges().removeClass("faded").addClass("near")
          .toggleClass("many", near.after.size + near.before.size > MANY);
      } else if (wanted && found.length) {
        graph.elements().addClass("faded");
        found.forEach((number) => nodeOf(number).removeClass("faded"));
      }
    });
    if (store) placeNear(near);
    listTools(found);
    describe(near);
    return found;
  };
  // Draws the best links and all of the chosen tool; what is drawn already stays.
  const drawLinks = (near) => {
    const drawn = store.shown();
    const put = new Map();
    const add = (link) => put.set(`l${link.source}-${link.target}`, link);
    drawn.slice(0, data.most_shown).forEach(add);
    if (near) [...near.before.values(), ...near.after.values()].forEach(add);
    graph.edges().forEach((edge) => {
      if (put.get(edge.id()) === edge.data("link")) put.delete(edge.id()); else edge.remove();
    });
    graph.add([...put.values()].map(edgeOfLink));
    showNote(drawn.length);
  };
  // Shows the chosen tool and its best neighbours alone: those before it left, those after it right.
  let moved = [];
  const placeNear = (near) => {
    const was = moved.length > 0;
    moved.forEach((number) => nodeOf(number).position({ x: tools[number].x, y: tools[number].y })
      .data("angle", tools[number].angle));
    moved = [];
    $("near").disabled = near === null;
    $("near").setAttribute("aria-pressed", String(apart && near !== null));
    if (!apart || near === null) {
      apart = false;
      if (was) showAll();
      return;
    }
    const sides = [[near.before, -1, near.after], [near.after, 1, near.before]].map(([found, side, other]) => [side,
      [...found.keys()].filter((number) => passes(number)
        && !(other.has(number) && (other.get(number).score > found.get(number).score
          || (side === 1 && other.get(number).score === found.get(number).score)))).slice(0, MOST_NEAR)]);
    const place = (number, x, y, angle) => {
      moved.push(number);
      nodeOf(number).position({ x, y }).data("angle", angle);
    };
    graph.batch(() => {
      place(chosen, 0, 0, 0);
      sides.forEach(([side, row]) => row.forEach((number, at) =>
        place(number, side * 260, (at - (row.length - 1) / 2) * 42, side < 0 ? Math.PI : 0)));
      const kept = new Set(moved);
      graph.nodes().forEach((node) => {
        node.toggleClass("hidden", !kept.has(node.data("number"))).toggleClass("apart", kept.has(node.data("number")));
      });
      graph.edges().forEach((edge) => { 
        edge.toggleClass("hidden", !edge.hasClass("near")).addClass("apart")
          .addClass(edge.data("link").target === chosen ? "into" : "from");
      });
    });
    graph.stop().fit(graph.elements(":visible"), 40);
    if (graph.zoom() > 1.4) graph.zoom(1.4).center(graph.nodes(":visible"));
  };
  const edgesOf = (near) => {
    const made = [];
    const add = (source, target, kinds) => kinds.filter(kindPasses)
      .forEach((kind) => made.push(edgeOf(source, target, kind)));
    near.after.forEach((kinds, other) => add(chosen, other, kinds));
    near.before.forEach((kinds, other) => add(other, chosen, kinds));
    return made;
  };
  const choose = (number) => {
    chosen = number;
    refresh();
    if (number !== null && !apart && !isInView(number)) centreOn(number);
  };

  // ---- the panels ----
  const toolLink = (number, note) => {
    const button = element("button", { type: "button" }, swatch(colourOf(tools[number])), tools[number].id);
    if (note) button.append(element("small", {}, note));
    button.addEventListener("click", () => {
      const inDetail = $("detail").contains(button);
      choose(number);
      if (inDetail) $("detail").querySelector("h2").focus();
    });
    return button;
  };
  const toolButton = (number, note) => element("li", {}, toolLink(number, note));
  let listed = null;
  const listTools = (found) => {
    // Rows stay where only the choice changes, so that the keyboard keeps its place.
    if (listed === null || String(listed) !== String(found)) {
      $("tools").replaceChildren(...found.slice(0, LONGEST_LIST).map((number) => toolButton(number)));
    }
    listed = found;
    [...$("tools").children].forEach((row, place) => {
      if (found[place] === chosen) row.firstChild.setAttribute("aria-current", "true");
      else row.firstChild.removeAttribute("aria-current");
    });
    const more = found.length > LONGEST_LIST ? `, the first ${LONGEST_LIST} listed` : "";
    $("found").textContent = wanted || unchecked.size ? `${count(found.length, "tool")} found${more}` : more.slice(2);
  };
  const chips = (kinds) => element("div", { class: "chips" }, ...kinds.map((kind) =>
    element("span", { class: "chip" }, swatch(types[kind].colour), types[kind].name)));
  const section = (heading, body) => [element("h3", {}, heading), body];
  const neighbourList = (found) => {
    const rows = [...found].slice(0, LONGEST_LIST).map(([number, kinds]) =>
      toolButton(number, kinds[0] === null ? "" : kinds.map((kind) => types[kind].name).join(", ")));
    const rest = found.size - rows.length;
    if (rest) rows.push(element("li", { class: "quiet" }, `and ${rest.toLocaleString("en")} more`));
    return found.size ? element("ul", {}, ...rows) : element("p", { class: "quiet" }, "None.");
  };
  let described = null;
  const describe = (near) => {
    editor?.listEdits();
    if (near === null) {
      described = null;
      $("detail").replaceChildren(
        element("h2", {}, "No tool chosen"),
        element("p", {}, "Choose a tool in the graph or in the list to see what it does, what it takes and gives, "
          + `and which tools can come before and after it${store ? "; its links can be corrected there" : ""}.`),
        element("p", { class: "quiet" }, "Drag to move, scroll to zoom. With the graph in focus: arrow keys, "
          + "+ and −, 0 for all, Escape to let go."));
      return;
    }
    const tool = tools[chosen];
    const head = [element("h2", { tabindex: "-1" }, tool.id), element("p", {}, tool.description || "No description.")];
    const parts = [];
    if (tool.takes.length) parts.push(...section("Takes", chips(tool.takes)));
    if (tool.gives.length) parts.push(...section("Gives", chips(tool.gives)));
    if (tool.parameters.length) {
      const rows = tool.parameters.flatMap(([name, kind, text]) =>
        [element("dt", {}, `${name} `, element("small", {}, kind)), element("dd", {}, text)]);
      parts.push(...section("Parameters", element("dl", {}, ...rows)));
    }
    if (tool.signature) parts.push(...section("Signature", element("code", {}, tool.signature)));
    if (tool.result) parts.push(...section("Result", element("code", {}, tool.result)));
    if (tool.tags) parts.push(...section("Tags", element("p", {}, tool.tags.join(", "))));
    for (const [title, given] of [["Hints of its server", tool.annotations], ["Source", tool.source]]) {
      const rows = Object.entries(given || {}).map(([key, value]) => element("li", {}, `${key}: ${value}`));
      if (rows.length) parts.push(...section(title, element("ul", {}, ...rows)));
    }
    if (!editor) {
      parts.push(...section(`Can come before it (${near.before.size})`, neighbourList(near.before)));
      parts.push(...section(`Can come after it (${near.after.size})`, neighbourList(near.after)));
    }
    const [scrolled, unfolded] = [$("detail").scrollTop, $("detail").querySelector("details")?.open];
    if (editor) {
      const fold = element("details", {}, element("summary", {}, "Parameters, result and source"), ...parts);
      fold.open = described === chosen && unfolded;
      $("detail").replaceChildren(...head, fold, ...editor.sections(chosen, near));
    } else {
      $("detail").replaceChildren(...head, ...parts);
    }
    $("detail").scrollTop = described === chosen ? scrolled : 0;
    described = chosen;
  };
  const listTypes = () => {
    const kinds = [...uses.keys()].sort((a, b) => uses.get(b) - uses.get(a) || (a < b ? -1 : 1));
    $("types").hidden = kinds.length < 2;
    $("types").querySelector("legend").textContent = store
      ? `Tools by ${data.group_noun}` : byResource ? "Types" : "Parameter types";
    kinds.forEach((kind) => {
      const box = element("input", { type: "checkbox", checked: "" });
      const known = store || byResource ? types.find((type) => type.name === kind) : null;
      box.addEventListener("change", () => {
        if (box.checked) unchecked.delete(kind); else unchecked.add(kind);
        if (chosen !== null && !passes(chosen)) chosen = null;
        refresh();
      });
      const counts = known
        ? `${count(known.givers, "tool")}, ${count(known.links, "link")}`
        : count(uses.get(kind), "tool");
      const name = element("span", {}, kind || `no ${data.group_noun}`, " ", element("small", { class: "quiet" }, counts));
      $("types").append(element("label", {}, box, ...(known ? [swatch(known.colour)] : []), name));
    });
    const without = tools.filter((tool) => !tool.gives.length).length;
    if (byResource && without && without < tools.length) {
      $("types").append(element("small", { class: "quiet" }, `gives nothing: ${count(without, "tool")}`));
    }
  };

  // ---- events ----
  graph.on("tap", "node", (event) => choose(event.target.data("number")));
  graph.on("tap", (event) => { if (event.target === graph) choose(null); });
  $("search").addEventListener("input", () => {
    wanted = $("search").value.trim();
    chosen = null;
    const found = refresh();
    if (wanted && found.length) centreOn(found[0]);
    else if (!wanted) showAll();
  });
  $("search").addEventListener("keydown", (event) => {
    const first = matches()[0];
    if (event.key === "Enter" && wanted && first !== undefined) choose(first);
    if (event.key === "ArrowDown") { event.preventDefault(); $("tools").querySelector("button")?.focus(); }
  });
  $("tools").addEventListener("keydown", (event) => {
    const row = event.target.closest("li");
    const next = { ArrowDown: row?.nextElementSibling, ArrowUp: row?.previousElementSibling }[event.key];
    if (event.key === "ArrowUp" || event.key === "ArrowDown") {
      event.preventDefault();
      if (next) next.firstChild.focus(); else if (event.key === "ArrowUp") $("search").focus();
    }
  });
  const keys = {
    ArrowLeft: () => panBy(60, 0), ArrowRight: () => panBy(-60, 0),
    ArrowUp: () => panBy(0, 60), ArrowDown: () => panBy(0, -60),
    n: () => $("near")?.click(),
    "+": () => zoomBy(1.25), "=": () => zoomBy(1.25), "-": () => zoomBy(0.8), 0: showAll,
  };
  $("graph").addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys)) return;
    event.preventDefault();
    keys[event.key]();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && event.target !== $("search") && !event.target.closest("dialog")) choose(null);
  });
  $("near")?.addEventListener("click", () => {
    apart = !apart;
    refresh();
  });
  $("closer").addEventListener("click", keys["+"]);
  $("farther").addEventListener("click", keys["-"]);
  $("all").addEventListener("click", showAll);

  // ---- light and dark ----
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (document.documentElement.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
  const paint = () => {
    $("theme").textContent = isDark() ? "Light" : "Dark";
    $("theme").setAttribute("aria-label", `Use ${isDark() ? "light" : "dark"} colours`);
    graph.style(style());
  };
  $("theme").addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    paint();
  });
  system.addEventListener("change", paint);

  const title = `${count(tools.length, "tool")}, ${count(data.number_of_links, "link")}`;
  $("title").textContent = title;
  document.title = `Tool graph: ${title}`;
  const showNote = (links) => {
    const best = links > data.most_shown
      ? `The ${data.most_shown.toLocaleString("en")} best of ${count(links, "link")}, and those of the chosen tool. `
      : `${count(links, "link")}. `;
    const missing = data.number_of_links > data.links.length
      ? `The file has ${data.number_of_links.toLocaleString("en")} links; the page has the best. ` : "";
    $("note").textContent = `${missing}${best}An arrow points to the tool after; the wider, the better the score; dashed: `
      + "only the order was seen.";
  };
  $("note").textContent = data.rule === "complete"
    ? "Every tool can follow every other; the links of the chosen tool are shown. An arrow points to the tool after."
    : `${data.show_all ? "" : "The links of the chosen tool are shown. "}An arrow points to the tool after`
      + (byResource ? "; its colour is the type that flows." : ".");
  const editor = store
    ? linkEditor(data, store, { element, count, toolLink, refresh, choose, chosen: () => chosen }) : null;
  listTypes();
  paint();
  refresh();
  showAll();
  // For the browser's console.
  window.toolGraph = graph;
})();
