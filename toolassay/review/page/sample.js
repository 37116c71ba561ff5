// Shows a sample: request, steps, plan, tools with their arguments, findings beside their faults, votes.
"use strict";
import { $, button, chip, DECISIONS, element, PARTS, shown } from "./elements.js";
import { draw, mark } from "./drawing.js";
import { findingList, note, placeOf } from "./findings.js";

const LEVELS = { pass: "good", quarantine: "doubt", reject: "bad-chip" };
const listOf = (value) => (Array.isArray(value) ? value : []);
const toolOf = (node) => node && (node.task ?? node.id);

const decisionChip = (record) => {
  if (!record) return chip("undecided");
  const [words, kind] = DECISIONS[record.action];
  return chip(record.stale ? `${words}, on an earlier version` : words, record.stale ? "" : kind);
};

// "<node-0>" and "<node-0>.results[0].id", not "about <node-0>".
const REFERENCE = /^\s*<node-(\d+)>(?:\.?((?<=\.)[^<>]+|\[[^<>]+))?\s*$/;
const reference = (text) => (typeof text === "string" ? REFERENCE.exec(text) : null);
const value = (given, nodes) => {
  if (given === "") return element("span", { class: "missing" }, "empty text");
  if (given === undefined) return element("span", { class: "missing" }, "no value");
  const found = reference(given);
  if (!found) return element("span", {}, shown(given));
  const [, to, path] = found;
  const tool = toolOf(nodes[Number(to)]);
  const what = path ? `${path} of the result of` : "result of";
  return element("span", { class: "chip" }, `${what} ${to}${tool ? `  ${tool}` : ", which is no node"}`);
};

const argumentsOf = (node, card, nodes, findings) => {
  const given = node.arguments;
  if (!Array.isArray(given)) return [element("p", { class: "aside" }, "The label has no arguments.")];
  const rows = [];
  const seen = new Set();
  const about = (at) => findings.filter((item) => placeOf(item)[1] === at).map(note);
  given.forEach((item, at) => {
    const named = item && typeof item === "object" && "name" in item;
    const known = named && card.parameters.find(([name]) => name === item.name);
    if (named) seen.add(item.name);
    const type = known ? known[1] : card.parameters.length ? "no such parameter" : "";
    rows.push(element("dt", { title: known ? known[2] : null },
      named ? shown(item.name) : `argument ${at + 1}`, named && type ? element("small", {}, ` ${type}`) : null));
    rows.push(element("dd", {}, value(named ? item.value : item, nodes), about(at)));
  });
  const listed = ([name]) => !seen.has(name) && (!card.required || card.required.includes(name));
  card.parameters.filter(listed).forEach(([name, type, text]) => {
    rows.push(element("dt", { title: text }, name, element("small", {}, ` ${type}`)),
      element("dd", { class: "missing" }, "not given"));
  });
  return rows.length ? [element("dl", {}, ...rows)] : [element("p", { class: "aside" }, "No arguments.")];
};

export const choose = (number, scroll) => {
  for (const row of $("cards").children) row.classList.toggle("chosen", row.dataset.place === String(number));
  mark(number);
  if (scroll) $("cards").querySelector(`[data-place="${Number(number)}"]`)?.scrollIntoView({ block: "nearest" });
};

// What an import knows of a tool: its signature, and in one line its tags, hints and source.
const detailsOf = (card) => {
  if (!card.signature) return [];
  const pairs = Object.entries({ ...card.annotations, ...card.source }).map(([key, given]) => `${key}: ${given}`);
  const about = [...(card.tags || []), ...pairs].join(" · ");
  return [element("p", { class: "aside" }, element("code", {}, card.signature),
    card.result ? [" → ", element("code", {}, card.result)] : null), about ? element("p", { class: "aside" }, about) : null];
};

const cardOf = (node, number, drawn, findings) => {
  const name = toolOf(node);
  const card = drawn.cards[name] || { known: false, description: "", takes: [], gives: [], parameters: [] };
  const count = listOf(node?.arguments).length;
  const mine = findings.filter((item) => placeOf(item)[0] === number);
  const row = element("li", { "data-place": number },
    element("h3", {}, element("span", { class: "number" }, String(number)), shown(name ?? "no tool")),
    card.known ? element("p", {}, card.description || "No description.") : chip("not in the tool library", "bad-chip"),
    detailsOf(card), mine.filter((item) => !(placeOf(item)[1] < count)).map(note));
  if (card.takes.length || card.gives.length) {
    row.append(element("div", { class: "chips flow" }, card.takes.map((type) => chip(type)),
      element("span", { class: "quiet" }, "→"), card.gives.map((type) => chip(type))));
  }
  row.append(...argumentsOf(node || {}, card, drawn.nodes, mine));
  row.addEventListener("mouseenter", () => choose(number, false));
  return row;
};

const changedWords = (parts) => Object.keys(parts).map((part) => PARTS[part]).join(", ");
const noticeOf = (record, original, toggle) => {
  if (!record) return [];
  const boxes = [];
  if (record.stale) boxes.push(element("div", { class: "box notice" }, "The sample has changed since you decided: decide again."));
  if (Object.keys(record.parts).length && !record.stale) {
    boxes.push(element("div", { class: "box notice" },
      original ? "Shown as it was. " : `Shown as you fixed it: ${changedWords(record.parts)}. `,
      record.insisted.length ? `You insisted, though: ${record.insisted.join("; ")} ` : "",
      button(original ? "Show the fix" : "Show the original", toggle)));
  }
  return boxes;
};

// A part of a label as readable text, as in the column "plan" of a sheet.
const inWords = (part, given) => {
  const argument = (item) => (item && typeof item === "object" && "name" in item
    ? `${item.name}=${JSON.stringify(item.value)}` : shown(item));
  if (part === "task_nodes") {
    return listOf(given).map((node, at) => `${at}. ${toolOf(node)}(${listOf(node?.arguments).map(argument).join(", ")})`).join("\n");
  }
  if (part === "task_links") return listOf(given).map((link) => `${link?.source} → ${link?.target}`).join("\n") || "no links";
  return Array.isArray(given) ? given.map(shown).join("\n") : shown(given);
};
const votesOf = (votes, follow) => Object.entries(votes).map(([name, vote], at) => element("div", { class: "box" },
  element("div", { class: "chips" }, element("strong", {}, name), decisionChip(vote),
    vote.insisted.length ? chip("insisted", "bad-chip") : null),
  vote.note ? element("p", {}, vote.note) : null,
  vote.insisted.length ? element("p", { class: "aside" }, vote.insisted.join("; ")) : null,
  Object.entries(vote.parts).map(([part, given]) => element("details", { open: true },
    element("summary", {}, `The ${PARTS[part]} of ${name}`), element("pre", {}, inWords(part, given)))),
  button([element("kbd", {}, String(at + 1)), ` Decide as ${name}`], () => follow(vote))));

// A step without its own number, which the list shows: "Step 2: paint" becomes "paint" in the second place, and
// "Step 2 images" in the first one stays.
const stepOf = (step, at) => {
  const words = shown(step);
  const numbered = /^\s*step\s*(\d+)\s*[:.)-]?\s*(?=\S)/i.exec(words);
  return numbered && Number(numbered[1]) === at + 1 ? words.slice(numbered[0].length) : words;
};

// What the person must be told: nothing is known of it in samples without facts.
const factsOf = (facts) => (!Array.isArray(facts) ? [] : [element("h2", {}, "Facts to be told"), facts.length
  ? element("ul", {}, facts.map((fact) => element("li", {}, element("code", {}, inWords("facts", [fact])))))
  : element("p", { class: "aside" }, "None: doing is enough.")]);

// Shows a sample. `title` (texts and elements) is its heading; `original` shows it without the reviewer's fix;
// `toggle` and `follow` are the actions of its buttons.
export const paint = (sample, { title, original, toggle, follow }) => {
  const record = sample.mine;
  const fixed = !original && sample.edited !== null && !record.stale;
  const parts = fixed ? { ...sample.parts, ...record.parts } : sample.parts;
  const nodes = listOf(parts.task_nodes);
  const drawn = { ...(fixed ? sample.edited : sample), nodes };
  // Findings are about the original: in a fixed plan their places could be wrong.
  const findings = fixed ? [] : sample.findings.filter((item) => item.state !== "not applicable");
  $("place").replaceChildren(...title);
  $("badges").replaceChildren(decisionChip(record), chip(sample.shape), chip(`gates: ${sample.level}`, LEVELS[sample.level]));
  $("request").textContent = shown(parts.user_request ?? "");
  $("notice").replaceChildren(...noticeOf(record, original, toggle));
  $("findings").replaceChildren(
    ...(fixed && sample.findings.length ? [element("p", { class: "aside" }, "Findings on the original:")] : []),
    ...findingList(sample.findings, fixed ? null : (item) => choose(placeOf(item)[0], true)));
  $("votes").replaceChildren(...votesOf(sample.votes, follow));
  $("steps").replaceChildren(...listOf(parts.task_steps).map((step, at) => element("li", {}, stepOf(step, at))));
  $("facts").replaceChildren(...factsOf(parts.facts), ...listOf(parts.alternatives).flatMap((other, at) => [
    element("h2", {}, `Another plan (${at + 1})`), element("pre", {}, inWords("task_nodes", other?.task_nodes))]));
  $("cards").replaceChildren(...nodes.map((node, number) => cardOf(node, number, drawn, findings)));
  draw(drawn.plan, new Map(findings.map((item) => [placeOf(item)[0], item.state]).reverse()));
  document.querySelectorAll("[data-action]").forEach((item) => {
    item.setAttribute("aria-pressed", String(record?.action === item.dataset.action && !record.stale));
  });
};

// Shows no sample, and the reason.
export const paintNothing = (title) => {
  $("place").textContent = title;
  $("request").textContent = "";
  for (const id of ["badges", "notice", "findings", "votes", "steps", "facts", "cards"]) $(id).replaceChildren();
  $("note").value = "";
  draw({ nodes: [], lines: [] });
};
