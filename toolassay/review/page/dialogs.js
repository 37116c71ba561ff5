// The dialogs: the reviewer's name, finding a sample, the table, the keys.
"use strict";
import * as api from "./api.js";
import { $, button, DECISIONS, element } from "./elements.js";

const SHOWN = 200;
const open = (...children) => {
  const box = $("dialog");
  box.replaceChildren(element("div", { class: "inside" }, ...children));
  if (!box.open) box.showModal();
};
const close = () => $("dialog").close();
const heading = (words) => element("h2", { id: "dialog-title" }, words);

// Asks for a name; `begin(name)` starts the review and throws if the name cannot be used.
export const askName = (before, begin) => {
  const name = element("input", { id: "your-name", maxlength: 60, autocomplete: "off", required: true });
  name.value = before;
  const wrong = element("p", { role: "alert" });
  const form = element("form", { method: "dialog" }, heading("Who reviews?"),
    element("label", { for: "your-name" }, "Your name is recorded with each of your decisions."), name, wrong,
    element("div", {}, element("button", { type: "submit", class: "primary" }, "Begin")));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      await begin(name.value.trim());
      close();
    } catch (error) { wrong.textContent = error.message; }
  });
  $("dialog").replaceChildren(form);
  if (!$("dialog").open) $("dialog").showModal();
  name.focus();
};

// Finds items of the queue by a text; `go(at)` shows one of them.
export const find = (items, go) => {
  const text = element("input", {
    type: "search", id: "search", autocomplete: "off", maxlength: 500, "aria-describedby": "found",
  });
  const count = element("p", { id: "found", role: "status", class: "quiet" });
  const results = element("ul", { class: "results" });
  let asked = 0;
  const fill = async () => {
    const turn = ++asked;
    const { numbers } = await api.search(text.value);
    if (turn !== asked) return;
    const wanted = new Set(numbers);
    const found = items.map((item, at) => [item, at]).filter(([item]) => wanted.has(item.number));
    count.textContent = `${found.length} of ${items.length}${found.length > SHOWN ? `, the first ${SHOWN} listed` : ""}`;
    results.replaceChildren(...found.slice(0, SHOWN).map(([item, at]) => element("li", {},
      button([element("bdi", {}, String(item.id)), element("span", {}, item.shape),
        element("span", {}, item.decision ? DECISIONS[item.decision][0] : "undecided")],
      () => { close(); go(at); }))));
  };
  const tell = (error) => { count.textContent = error.message; };
  text.addEventListener("input", () => fill().catch(tell));
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
  open(heading("Find a sample"),
    element("label", { for: "search" }, "Words of the request, the steps, a tool or an id"), text, count, results);
  text.focus();
  fill().catch(tell);
};

// A Markdown table as an HTML table with text cells. A cell ends at " | " and not at an escaped "\|".
const table = (markdown) => {
  const rows = markdown.split("\n").filter((row, at) => at !== 1)
    .map((row) => row.replace(/^\| | \|$/g, "").split(/(?<!\\) \| /).map((cell) => cell.replaceAll("\\|", "|")));
  return element("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Table" },
    element("table", {}, rows.map((cells, at) =>
      element("tr", {}, cells.map((cell) => element(at ? "td" : "th", { scope: at ? null : "col" }, cell))))));
};
export const sums = async () => {
  const found = await api.summary();
  const done = button("Close", close);
  open(heading("Human verification"),
    ...found.markdown.flatMap(([words, rows]) => [element("h3", {}, words), table(rows)]), element("div", {}, done));
  done.focus();
};

const KEYS = [
  ["c", "correct"], ["d", "discard"], ["s", "fix syntax"], ["i", "fix instruction"], ["g", "fix graph"],
  ["← →, j k", "previous and next sample"], ["u", "undo your last decision"], ["n", "comment"], ["/", "find a sample"],
  ["t", "table and agreement"], ["+ -", "larger and smaller plan"], ["1 2 …", "among conflicts: decide as this reviewer"],
  ["Ctrl Enter", "in a fix: save"], ["Esc", "close, or leave a field"], ["?", "this help"],
];
export const help = () => {
  open(heading("Keys"),
    element("dl", { class: "keys" }, KEYS.flatMap(([key, words]) =>
      [element("dt", {}, element("kbd", {}, key)), element("dd", {}, words)])),
    element("p", { class: "quiet" }, "Every decision is on the disk before it is shown as saved. A key decides only the sample on the screen."),
    element("div", {}, button("Close", close)));
};
