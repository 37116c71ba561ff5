// The findings of the gates, and the places in a sample that they are about.
"use strict";
import { element } from "./elements.js";

const NODE = /^task_nodes\[(\d+)\](?:\.arguments\[(\d+)\])?/;

// [node, argument] that a finding is about, counted from 0; undefined if it names none.
// Matches "task_nodes[1].arguments[0]"; not "task_links[1]".
export const placeOf = (item) => (NODE.exec(item.where) ?? []).slice(1).map((text) => (text === undefined ? text : Number(text)));

const PLACES = [
  [/^task_nodes\[(\d+)\]\.arguments\[(\d+)\].*/, (_, node, at) => `node ${node}, argument ${Number(at) + 1}`],
  [/^task_nodes\[(\d+)\].*/, (_, node) => `node ${node}`],
  [/^task_links\[(\d+)\].*/, (_, at) => `link ${Number(at) + 1}`],
  [/^task_steps\[(\d+)\].*/, (_, at) => `step ${Number(at) + 1}`],
  [/^user_request$/, () => "request"],
];
const whereInWords = (where) => {
  const known = PLACES.find(([form]) => form.test(where));
  return known ? where.replace(...known) : where;
};

// A finding in a box with the colour of its state. `go`, if given, moves to the fault.
export const finding = (item, go = null) => {
  const words = whereInWords(item.where);
  let place = null;
  if (words) {
    place = go
      ? element("button", { type: "button", class: "go", title: item.where, "aria-label": `Go to ${words}` }, words)
      : element("small", { title: item.where }, words);
    if (go) place.addEventListener("click", () => go(item));
  }
  return element("div", { class: `box ${item.state.replace(" ", "-")}` },
    element("strong", {}, item.gate), ` ${item.reason || item.state} `, element("small", {}, item.state), " ", place);
};

// The short form of a finding, beside its fault.
export const note = (item) => element("div", { class: `fault ${item.state}` },
  element("strong", {}, item.gate), ` ${item.reason || item.state}`);

const SHOWN = 4;
// All findings of a sample: the first ones are visible, the others and those that do not apply are folded.
export const findingList = (findings, go) => {
  const told = findings.filter((item) => item.state !== "not applicable");
  const silent = findings.filter((item) => item.state === "not applicable");
  const boxes = told.map((item) => finding(item, placeOf(item).length ? go : null));
  const folded = (words, items) => element("details", { class: "aside" }, element("summary", {}, words), items);
  return [
    ...boxes.slice(0, SHOWN),
    boxes.length > SHOWN ? folded(`${boxes.length - SHOWN} more findings`, boxes.slice(SHOWN)) : null,
    silent.length
      ? folded(`Not applicable: ${silent.map((item) => item.gate).join(", ")}`, silent.map((item) => finding(item)))
      : null,
  ].filter(Boolean);
};
