// The review page: shows one sample at a time; keys move and decide. A key decides only the sample on the screen,
// and a decision is shown as saved only after the server has confirmed that it is on the disk.
"use strict";
import * as api from "./api.js";
import * as dialogs from "./dialogs.js";
import { $, DECISIONS, element, FIXES } from "./elements.js";
import { onChoose, zoomBy } from "./drawing.js";
import { edit } from "./editor.js";
import { choose, paint, paintNothing } from "./sample.js";
import { startTheme } from "./theme.js";

const who = { reviewer: "", queue: "all" };
let items = [];
let about = { tools: [], kind: "resource", name: "" };
let progress = { reviewers: {}, conflicts: 0 };
let place = 0; // in items
let sample = null;
let original = false; // show the original of a sample that was fixed
let since = 0;
let busy = false;
let commenting = Promise.resolve();

const report = (text, bad = false) => {
  $("status").textContent = text;
  $("status").classList.toggle("bad", bad);
};
// Runs one action at a time and ignores keys meanwhile, so that none of them decides the next sample.
const alone = async (work) => {
  if (busy) return;
  busy = true;
  const before = commenting;
  commenting = Promise.resolve();
  try { await before; await work(); } catch (error) { report(error.message, true); } finally { busy = false; }
};

// ---- showing ----
const showProgress = () => {
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

const paintNow = () => paint(sample, {
  title: [`${who.queue === "all" ? "Sample" : "Conflict"} ${place + 1} of ${items.length} · `,
    element("bdi", {}, String(sample.id)), ` · line ${sample.line}`],
  original, follow,
  toggle: () => { original = !original; paintNow(); },
});
const usable = (yes) => document.querySelectorAll("[data-action], #note").forEach((item) => { item.disabled = !yes; });
const show = async (to, words = "") => {
  if (!items.length) {
    sample = null;
    usable(false);
    paintNothing(who.queue === "all" ? "No samples: your share is empty." : "No conflicts: the reviewers agree on what both have decided.");
    return;
  }
  place = Math.max(0, Math.min(items.length - 1, to));
  sample = await api.sample(items[place].number, who);
  // It may have been decided in another window.
  const { mine, level } = sample;
  items[place] = { ...items[place], level, decision: mine?.action ?? null, stale: Boolean(mine?.stale) };
  showProgress();
  original = false;
  $("note").value = sample.note;
  usable(true);
  paintNow();
  for (const section of document.querySelectorAll("main > section")) section.scrollTop = 0;
  if (document.documentElement.scrollTop) window.scrollTo(0, 0);
  since = performance.now();
  document.title = `${sample.id} · ${about.name}`;
  report(words);
};

const begin = async () => {
  const found = await api.overview(who);
  items = found.items;
  about = found;
  $("name").textContent = found.name;
  progress = found.progress;
  showProgress();
  await show(found.first);
};

// ---- deciding ----
const changed = (answer) => {
  const at = items.findIndex((item) => item.number === answer.number);
  if (at >= 0) items[at] = { ...answer.item, level: items[at].level ?? answer.item.level };
  progress = answer.progress;
  showProgress();
  return at;
};
const open = (item) => !item.decision || item.stale;
const nextOpen = () => {
  const after = items.findIndex((item, at) => at > place && open(item));
  return after >= 0 ? after : items.findIndex(open);
};
const goOn = async (words) => {
  let next = nextOpen();
  while (next >= 0) {
    await show(next, words);
    if (open(items[place])) return;
    next = nextOpen();
  }
  await show(place, `${words}. Everything is decided.`);
};
const save = async (action, parts = {}, insist = false) => {
  const answer = await api.decide(who, {
    number: sample.number, fingerprint: sample.fingerprint, action, parts, insist,
    note: $("note").value, seconds: (performance.now() - since) / 1000,
  });
  changed(answer);
  const words = `Saved: ${sample.id} ${DECISIONS[action][0].toLowerCase()}`;
  // It is saved even if the next sample cannot be shown.
  try { await goOn(words); } catch (error) { report(`${words}. ${error.message}`, true); }
};
const decide = (action) => {
  if (!sample) return;
  if (!FIXES.includes(action)) { alone(() => save(action)); return; }
  const record = sample.mine && !sample.mine.stale ? sample.mine : null;
  edit({
    key: JSON.stringify([who.reviewer, who.queue, sample.number, sample.fingerprint]),
    number: sample.number, title: String(sample.id), action, kind: about.kind, tools: about.tools,
    sample: sample.parts, parts: { ...sample.parts, ...(record ? record.parts : {}) },
    // Findings are about the original: an earlier fix is checked again on request.
    findings: record && Object.keys(record.parts).length ? [] : sample.findings,
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
  } catch (error) { throw new Error(`The comment is not saved: ${error.message}`); }
  about.note = note;
  report("Comment saved");
};
// A comment is saved when its field loses the focus; the next action waits for that, and is dropped if it fails.
const comment = () => {
  commenting = keepComment();
  commenting.catch((error) => report(error.message, true));
};
window.addEventListener("beforeunload", (event) => {
  if (sample && $("note").value !== sample.note) event.preventDefault();
});
const undo = () => alone(async () => {
  const answer = await api.undo(who);
  if (answer.number === null) { report("Nothing to undo"); return; }
  const at = changed(answer);
  await show(at < 0 ? place : at, `Undone: ${answer.item.id}`);
});
const move = (by) => alone(() => show(place + by));

// ---- input ----
const asked = () => dialogs.askName(who.reviewer, async (name) => {
  const before = who.reviewer;
  who.reviewer = name;
  try { await begin(); } catch (error) { who.reviewer = before; throw error; }
  sessionStorage.setItem("reviewer", name);
});
const find = () => dialogs.find(items, (at) => alone(() => show(at)));
const sums = () => alone(async () => {
  report("Counting …");
  await dialogs.sums();
  report("");
});
const swap = () => alone(async () => {
  who.queue = who.queue === "all" ? "conflicts" : "all";
  await begin();
});
const act = {
  c: () => decide("correct"), d: () => decide("discard"), s: () => decide("fix_syntax"),
  i: () => decide("fix_instruction"), g: () => decide("fix_graph"), u: undo, j: () => move(1), k: () => move(-1),
  ArrowRight: () => move(1), ArrowLeft: () => move(-1), "/": find, "?": dialogs.help, t: sums, n: () => $("note").focus(),
  "+": () => zoomBy(1.25), "-": () => zoomBy(0.8),
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || $("dialog").open) return;
  // A dialog that was just closed may still have the focus.
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
$("help").addEventListener("click", dialogs.help);
$("who").addEventListener("click", asked);
$("queue").addEventListener("click", swap);
$("larger").addEventListener("click", act["+"]);
$("smaller").addEventListener("click", act["-"]);
$("dialog").addEventListener("close", () => $("main").focus({ preventScroll: true }));
$("dialog").addEventListener("cancel", (event) => { if (!who.reviewer) event.preventDefault(); });
onChoose((number) => choose(number, true));

startTheme();

try {
  const first = await api.start();
  who.reviewer = first.reviewer || sessionStorage.getItem("reviewer") || "";
  who.queue = first.queue;
  if (who.reviewer) { await begin(); $("main").focus({ preventScroll: true }); } else asked();
} catch (error) {
  report(error.message, true);
}
