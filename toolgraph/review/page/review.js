// The page of a review: one sample at a time, moved and decided by keys. A decision counts only for the sample
// that is on the screen, and is shown as taken only once the server says that it is on the disk.
"use strict";
import * as api from "./api.js";
import { $, button, chip, DECISIONS, element, finding, PARTS, shown } from "./elements.js";
import { draw, mark, onChoose, repaint } from "./drawing.js";
import { edit } from "./editor.js";

const FIXES = ["fix_syntax", "fix_instruction", "fix_graph"];
const who = { reviewer: "", queue: "all" };
let items = [];
let about = { tools: [], kind: "resource", name: "" };
let place = 0; // in items
let sample = null;
let original = false; // show the sample as it was, though it was fixed
let since = 0;
let busy = false;
let commenting = Promise.resolve();

const report = (text, bad = false) => {
  $("status").textContent = text;
  $("status").classList.toggle("bad", bad);
};
// One thing at a time: keys pressed meanwhile are not taken for another sample's.
const alone = async (work) => {
  if (busy) return;
  busy = true;
  try { await commenting; await work(); } catch (error) { report(error.message, true); } finally { busy = false; }
};

// ---- showing ----
const showProgress = (progress) => {
  const mine = items.filter((item) => item.decision && !item.stale).length;
  $("bar").max = Math.max(1, items.length);
  $("bar").value = mine;
  const others = Object.entries(progress.reviewers).filter(([name]) => name !== who.reviewer)
    .map(([name, count]) => `${name} ${count}`).join(", ");
  $("done").textContent = `${mine} of ${items.length} ${who.queue === "all" ? "decided" : "conflicts settled"}`;
  $("done").title = others;
  $("bar").title = others;
  $("who").textContent = who.reviewer;
  $("who").title = `Another reviewer${others ? `. Others: ${others}` : ""}`;
  $("queue").textContent = who.queue === "all" ? `Conflicts (${progress.conflicts})` : "All samples";
};

const decisionChip = (record) => {
  if (!record) return chip("undecided");
  const [words, kind] = DECISIONS[record.action];
  return chip(record.stale ? `${words}, on an earlier version` : words, record.stale ? "" : kind);
};

const reference = (text) => (typeof text === "string" ? /^\s*<node-(\d+)>\s*$/.exec(text)?.[1] : undefined);
const value = (given, nodes) => {
  const to = reference(given);
  if (to === undefined) return element("span", {}, shown(given));
  const node = nodes[Number(to)];
  return element("span", { class: "chip" }, `result of ${to}${node ? `  ${node.task ?? node.id}` : ", which is no node"}`);
};

const argumentsOf = (node, card, nodes) => {
  const given = node.arguments;
  if (!Array.isArray(given)) return [element("p", { class: "aside" }, "The label has no arguments.")];
  const rows = [];
  const seen = new Set();
  given.forEach((item, at) => {
    const named = item && typeof item === "object" && "name" in item;
    const known = named && card.parameters.find(([name]) => name === item.name);
    if (named) seen.add(item.name);
    rows.push(element("dt", { title: known ? known[2] : null },
      named ? shown(item.name) : `argument ${at + 1}`, named ? ` ${known ? known[1] : "(unknown)"}` : ""));
    rows.push(element("dd", {}, value(named ? item.value : item, nodes)));
  });
  card.parameters.filter(([name]) => !seen.has(name)).forEach(([name, type, text]) => {
    rows.push(element("dt", { title: text }, `${name} ${type}`), element("dd", { class: "missing" }, "not given"));
  });
  return rows.length ? [element("dl", {}, ...rows)] : [element("p", { class: "aside" }, "No arguments.")];
};

const choose = (number, scroll) => {
  for (const row of $("cards").children) row.classList.toggle("chosen", row.dataset.place === String(number));
  mark(number);
  if (scroll) $("cards").querySelector(`[data-place="${Number(number)}"]`)?.scrollIntoView({ block: "nearest" });
};

const cardOf = (node, number, drawn) => {
  const name = node && (node.task ?? node.id);
  const card = drawn.cards[name] || { known: false, description: "", takes: [], gives: [], parameters: [] };
  const row = element("li", { "data-place": number },
    element("h3", {}, element("span", { class: "number" }, String(number)), shown(name ?? "no tool")),
    card.known ? element("p", {}, card.description || "No description.") : chip("not in the tool library", "bad-chip"));
  if (card.takes.length || card.gives.length) {
    row.append(element("div", { class: "chips flow" }, card.takes.map((type) => chip(type)),
      element("span", { class: "quiet" }, "→"), card.gives.map((type) => chip(type))));
  }
  row.append(...argumentsOf(node || {}, card, drawn.nodes));
  row.addEventListener("mouseenter", () => choose(number, false));
  return row;
};

const changedWords = (parts) => Object.keys(parts).map((part) => PARTS[part]).join(", ");
const noticeOf = (record) => {
  if (!record) return [];
  const boxes = [];
  if (record.stale) boxes.push(element("div", { class: "box notice" }, "The sample has changed since you decided: decide again."));
  if (Object.keys(record.parts).length && !record.stale) {
    boxes.push(element("div", { class: "box notice" },
      original ? "Shown as it was. " : `Shown as you fixed it: ${changedWords(record.parts)}. `,
      record.insisted.length ? `You insisted, though: ${record.insisted.join("; ")} ` : "",
      button(original ? "Show the fix" : "Show the original", () => { original = !original; paint(); })));
  }
  return boxes;
};

const votesOf = (votes) => Object.entries(votes).map(([name, vote], at) => element("div", { class: "box" },
  element("div", { class: "chips" }, element("strong", {}, name), decisionChip(vote),
    vote.insisted.length ? chip("insisted", "bad-chip") : null),
  vote.note ? element("p", {}, vote.note) : null,
  Object.keys(vote.parts).length
    ? element("details", {}, element("summary", {}, `Changed: ${changedWords(vote.parts)}`),
      element("pre", {}, JSON.stringify(vote.parts, null, 2)))
    : null,
  button([element("kbd", {}, String(at + 1)), ` Decide as ${name}`], () => follow(vote))));

const paint = () => {
  const record = sample.mine;
  const fixed = !original && sample.edited !== null && !record.stale;
  const parts = fixed ? { ...sample.parts, ...record.parts } : sample.parts;
  const nodes = Array.isArray(parts.task_nodes) ? parts.task_nodes : [];
  const drawn = { ...(fixed ? sample.edited : sample), nodes };
  const position = items.length ? `${place + 1} of ${items.length}` : "";
  $("place").textContent = `${who.queue === "all" ? "Sample" : "Conflict"} ${position} · ${sample.id} · line ${sample.line}`;
  $("badges").replaceChildren(decisionChip(record), chip(sample.shape),
    chip({ pass: "gates: pass", quarantine: "gates: quarantine", reject: "gates: reject" }[sample.level],
      { pass: "good", quarantine: "doubt", reject: "bad-chip" }[sample.level]));
  $("request").textContent = shown(parts.user_request ?? "");
  $("notice").replaceChildren(...noticeOf(record));
  const told = sample.findings.filter((item) => item.state !== "not applicable");
  const silent = sample.findings.filter((item) => item.state === "not applicable");
  $("findings").replaceChildren(...told.map(finding));
  if (silent.length) {
    $("findings").append(element("details", { class: "aside" },
      element("summary", {}, `Not applicable: ${silent.map((item) => item.gate).join(", ")}`), silent.map(finding)));
  }
  $("votes").replaceChildren(...votesOf(sample.votes));
  $("steps").replaceChildren(...(Array.isArray(parts.task_steps) ? parts.task_steps : [])
    .map((step) => element("li", {}, shown(step).replace(/^Step \d+: /, ""))));
  $("cards").replaceChildren(...nodes.map((node, number) => cardOf(node, number, drawn)));
  draw(drawn.plan);
  document.querySelectorAll("[data-action]").forEach((item) => {
    item.setAttribute("aria-pressed", String(record?.action === item.dataset.action && !record.stale));
  });
};

const show = async (to, words = "") => {
  if (!items.length) return nothing();
  place = Math.max(0, Math.min(items.length - 1, to));
  sample = await api.sample(items[place].number, who);
  items[place].level = sample.level;
  original = false;
  $("note").value = sample.note;
  document.querySelectorAll("[data-action], #note").forEach((item) => { item.disabled = false; });
  paint();
  for (const section of document.querySelectorAll("main > section")) section.scrollTop = 0;
  since = performance.now();
  document.title = `${sample.id} · ${about.name}`;
  report(words);
  return undefined;
};

const nothing = () => {
  sample = null;
  $("place").textContent = who.queue === "all" ? "No samples." : "No conflicts: the reviewers agree on what both have decided.";
  $("request").textContent = "";
  for (const id of ["badges", "notice", "findings", "votes", "steps", "cards"]) $(id).replaceChildren();
  $("note").value = "";
  document.querySelectorAll("[data-action], #note").forEach((item) => { item.disabled = true; });
  draw({ nodes: [], lines: [] });
};

const begin = async () => {
  const found = await api.overview(who);
  items = found.items;
  about = found;
  $("name").textContent = found.name;
  showProgress(found.progress);
  await show(found.first);
};

// ---- deciding ----
const changed = (answer) => {
  const at = items.findIndex((item) => item.number === answer.number);
  if (at >= 0) items[at] = { ...answer.item, level: items[at].level ?? answer.item.level };
  showProgress(answer.progress);
  return at;
};
const nextOpen = () => {
  const open = (item) => !item.decision || item.stale;
  const after = items.findIndex((item, at) => at > place && open(item));
  return after >= 0 ? after : items.findIndex(open);
};
const save = async (action, parts = {}, insist = false) => {
  const answer = await api.decide(who, {
    number: sample.number, fingerprint: sample.fingerprint, action, parts, insist,
    note: $("note").value, seconds: (performance.now() - since) / 1000,
  });
  changed(answer);
  const words = `Saved: ${sample.id} ${DECISIONS[action][0].toLowerCase()}`;
  const next = nextOpen();
  if (next < 0) await show(place, `${words}. Everything is decided.`);
  else await show(next, words);
};
const decide = (action) => {
  if (!sample) return;
  if (!FIXES.includes(action)) { alone(() => save(action)); return; }
  const record = sample.mine && !sample.mine.stale ? sample.mine : null;
  edit({
    key: JSON.stringify([who.reviewer, who.queue, sample.number, sample.fingerprint]),
    number: sample.number, title: String(sample.id), action, kind: about.kind, tools: about.tools,
    parts: { ...sample.parts, ...(record ? record.parts : {}) },
    save: async (parts, chosen, insist) => {
      if (busy) throw new Error("wait for the last action");
      busy = true;
      try { await save(chosen, parts, insist); } finally { busy = false; }
    },
  });
};
const follow = (vote) => alone(() => save(vote.action, vote.parts, vote.insisted.length > 0));
const keepComment = async () => {
  const [about, note] = [sample, $("note").value];
  if (!about || note === about.note) return;
  try {
    await api.decide(who, { number: about.number, fingerprint: about.fingerprint, action: "comment", note });
    about.note = note;
    report("Comment saved");
  } catch (error) { report(`The comment is not saved: ${error.message}`, true); }
};
// A comment is saved when its field is left; what comes next waits for it.
const comment = () => { commenting = keepComment(); };
const undo = () => alone(async () => {
  const answer = await api.undo(who);
  if (answer.number === null) { report("Nothing to undo"); return; }
  const at = changed(answer);
  await show(at < 0 ? place : at, `Undone: ${items[at]?.id ?? ""}`);
});
const move = (by) => alone(() => show(place + by));

// ---- dialogs ----
const open = (...children) => {
  const box = $("dialog");
  box.replaceChildren(element("div", { class: "inside" }, ...children));
  if (!box.open) box.showModal();
};
const close = () => $("dialog").close();

const askName = () => {
  const name = element("input", { id: "your-name", maxlength: 60, autocomplete: "off", required: true });
  name.value = who.reviewer;
  const wrong = element("p", { role: "alert" });
  const form = element("form", { method: "dialog" },
    element("h2", { id: "dialog-title" }, "Who reviews?"),
    element("label", { for: "your-name" }, "Your name stands with each of your decisions."), name, wrong,
    element("div", {}, element("button", { type: "submit", class: "primary" }, "Begin")));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const before = who.reviewer;
    who.reviewer = name.value.trim();
    try {
      await begin();
      sessionStorage.setItem("reviewer", who.reviewer);
      close();
      $("main").focus({ preventScroll: true });
    } catch (error) {
      who.reviewer = before;
      wrong.textContent = error.message;
    }
  });
  $("dialog").replaceChildren(form);
  if (!$("dialog").open) $("dialog").showModal();
  name.focus();
};

const find = () => {
  const text = element("input", { type: "search", id: "search", autocomplete: "off", "aria-describedby": "found" });
  const count = element("p", { id: "found", role: "status", class: "quiet" });
  const results = element("ul", { class: "results" });
  let asked = 0;
  const fill = async () => {
    const turn = ++asked;
    const { numbers } = await api.search(text.value);
    if (turn !== asked) return;
    const wanted = new Set(numbers);
    const found = items.map((item, at) => [item, at]).filter(([item]) => wanted.has(item.number));
    count.textContent = `${found.length} of ${items.length}${found.length > 200 ? ", the first 200 listed" : ""}`;
    results.replaceChildren(...found.slice(0, 200).map(([item, at]) => element("li", {},
      button([String(item.id), element("span", {}, item.shape),
        element("span", {}, item.decision ? DECISIONS[item.decision][0] : "undecided")],
      () => { close(); alone(() => show(at)); }))));
  };
  text.addEventListener("input", () => fill().catch((error) => { count.textContent = error.message; }));
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter") { event.preventDefault(); results.querySelector("button")?.click(); }
    if (event.key === "ArrowDown") { event.preventDefault(); results.querySelector("button")?.focus(); }
  });
  results.addEventListener("keydown", (event) => {
    const row = event.target.closest("li");
    const next = { ArrowDown: row?.nextElementSibling, ArrowUp: row?.previousElementSibling }[event.key];
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (next) next.firstChild.focus(); else if (event.key === "ArrowUp") text.focus();
    }
  });
  open(element("h2", { id: "dialog-title" }, "Find a sample"),
    element("label", { for: "search" }, "Words of the request, the steps, a tool or an id"), text, count, results);
  text.focus();
  fill().catch((error) => { count.textContent = error.message; });
};

// Rows of a Markdown table as a table; its cells are text.
const table = (markdown) => {
  const rows = markdown.split("\n").filter((row, at) => at !== 1)
    .map((row) => row.replace(/^\| | \|$/g, "").split(/(?<!\\) \| /).map((cell) => cell.replaceAll("\\|", "|")));
  return element("table", {}, rows.map((cells, at) =>
    element("tr", {}, cells.map((cell) => element(at ? "td" : "th", { scope: at ? null : "col" }, cell)))));
};
const sums = () => alone(async () => {
  report("Counting …");
  const found = await api.summary();
  report("");
  open(element("h2", { id: "dialog-title" }, "What the reviewers say"),
    ...found.markdown.flatMap(([heading, rows]) => [element("h3", {}, heading), table(rows)]),
    element("div", {}, button("Close", close)));
});

const KEYS = [
  ["c", "correct"], ["d", "discard"], ["s", "fix syntax"], ["i", "fix instruction"], ["g", "fix graph"],
  ["← →, j k", "previous and next sample"], ["u", "undo your last decision"], ["n", "comment"], ["/", "find a sample"],
  ["t", "table and agreement"], ["1 2 …", "among conflicts: decide as this reviewer"],
  ["Ctrl Enter", "in a fix: save"], ["Esc", "close, or leave a field"], ["?", "this help"],
];
const help = () => {
  open(element("h2", { id: "dialog-title" }, "Keys"),
    element("dl", { class: "keys" }, KEYS.flatMap(([key, words]) =>
      [element("dt", {}, element("kbd", {}, key)), element("dd", {}, words)])),
    element("p", { class: "quiet" }, "Every decision is on the disk before it is shown as saved. A key decides only what is on the screen."),
    element("div", {}, button("Close", close)));
};

// ---- what people do ----
const swap = () => alone(async () => {
  who.queue = who.queue === "all" ? "conflicts" : "all";
  await begin();
});
const act = {
  c: () => decide("correct"), d: () => decide("discard"), s: () => decide("fix_syntax"),
  i: () => decide("fix_instruction"), g: () => decide("fix_graph"), u: undo, j: () => move(1), k: () => move(-1),
  ArrowRight: () => move(1), ArrowLeft: () => move(-1), "/": find, "?": help, t: sums, n: () => $("note").focus(),
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || $("dialog").open) return;
  // A dialog that was just closed may still hold the focus.
  if (event.target.matches("input, textarea, select") && !$("dialog").contains(event.target)) {
    if (event.key === "Escape") { event.target.blur(); $("main").focus({ preventScroll: true }); }
    return;
  }
  const vote = sample && Object.values(sample.votes)[Number(event.key) - 1];
  if (/^[1-9]$/.test(event.key) && vote) { event.preventDefault(); follow(vote); return; }
  if (!Object.hasOwn(act, event.key)) return;
  event.preventDefault();
  act[event.key]();
});
document.querySelectorAll("[data-action]").forEach((item) => {
  item.addEventListener("click", () => decide(item.dataset.action));
});
$("note").addEventListener("change", comment);
$("undo").addEventListener("click", undo);
$("previous").addEventListener("click", () => move(-1));
$("next").addEventListener("click", () => move(1));
$("find").addEventListener("click", find);
$("sums").addEventListener("click", sums);
$("help").addEventListener("click", help);
$("who").addEventListener("click", askName);
$("queue").addEventListener("click", swap);
$("dialog").addEventListener("close", () => $("main").focus({ preventScroll: true }));
$("dialog").addEventListener("cancel", (event) => { if (!who.reviewer) event.preventDefault(); });
onChoose((number) => choose(number, true));

// ---- light and dark ----
const system = window.matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (document.documentElement.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
const tint = () => {
  $("theme").textContent = isDark() ? "Light" : "Dark";
  $("theme").setAttribute("aria-label", `Use ${isDark() ? "light" : "dark"} colours`);
  repaint();
};
$("theme").addEventListener("click", () => {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  tint();
});
system.addEventListener("change", tint);
tint();

try {
  const first = await api.start();
  who.reviewer = first.reviewer || sessionStorage.getItem("reviewer") || "";
  who.queue = first.queue;
  if (who.reviewer) { await begin(); $("main").focus({ preventScroll: true }); } else askName();
} catch (error) {
  report(error.message, true);
}
