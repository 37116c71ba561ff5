// The form a sample is mended in. What it gives is checked by the server before it is saved.
"use strict";
import { $, button, element, finding, PARTS } from "./elements.js";
import { check } from "./api.js";

const FIXES = ["fix_syntax", "fix_instruction", "fix_graph"];
const NAMES = { fix_syntax: "Syntax", fix_instruction: "Instruction", fix_graph: "Tool invocation graph" };
const copy = (value) => JSON.parse(JSON.stringify(value ?? null));
const isText = (value) => typeof value === "string";
const REFERENCE = /<node-(\d+)>/g;

// A value in a field: a text as it is; anything else as JSON, which stays JSON if it still can be read.
const inField = (value) => (isText(value) ? value : JSON.stringify(value));
const fromField = (text, before) => {
  if (isText(before) || before === undefined) return text;
  try { return JSON.parse(text); } catch { return text; }
};

const field = (name, value, attributes, changed) => {
  const made = element(name, { "aria-label": attributes.label, ...attributes, label: null });
  made.value = inField(value);
  if (name === "textarea") made.rows = Math.min(8, Math.max(1, Math.ceil(made.value.length / 90)));
  made.addEventListener("input", () => changed(fromField(made.value, value)));
  return made;
};

// References count nodes: they move with them; one to a node that is gone becomes one that the gates refuse.
const renumber = (nodes, to) => {
  const renamed = (value) => {
    if (isText(value)) {
      return value.replace(REFERENCE, (whole, number) => {
        const place = to[Number(number)];
        return place === undefined ? whole : place === null ? "<node-?>" : `<node-${place}>`;
      });
    }
    if (Array.isArray(value)) return value.map(renamed);
    if (value && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, renamed(item)]));
    }
    return value;
  };
  nodes.forEach((node) => { if ("arguments" in node) node.arguments = renamed(node.arguments); });
};

// Edits that were left without saving, by who made them on which sample: they are there again next time.
const drafts = new Map();
let unsaved = () => false;
window.addEventListener("beforeunload", (event) => { if (drafts.size || unsaved()) event.preventDefault(); });

const readable = (parts) => {
  const made = copy(parts);
  if (!isText(made.user_request)) made.user_request = "";
  for (const key of ["task_steps", "task_nodes", "task_links"]) if (!Array.isArray(made[key])) made[key] = [];
  return made;
};

// Opens the form; `save(parts, action, insist)` saves and throws what the server refuses. `key` names whose
// edits of which sample they are.
export const edit = ({ key: owner, number, title, parts, action, kind, tools, save }) => {
  const form = element("form", { method: "dialog", novalidate: true });
  const before = readable(parts);
  const draft = drafts.get(owner) ?? copy(before);
  const kept = drafts.delete(owner);
  const isChanged = () => JSON.stringify(draft) !== JSON.stringify(before);
  let saved = false;
  let chosen = action;
  let refused = false;
  const answer = element("div", { role: "alert" });
  const body = element("div", { class: "inside" });
  body.style.padding = "0";
  const insist = element("input", { type: "checkbox", id: "insist" });
  const insistLabel = element("label", { class: "inline", hidden: true }, insist,
    "Save it all the same; that I insist is recorded");
  const list = element("datalist", { id: "tools" }, tools.map((tool) => element("option", { value: tool })));

  const removable = (items, place, what, redraw, ...fields) => element("div", { class: "row" }, ...fields,
    button("×", () => { items.splice(place, 1); redraw(); }, { "aria-label": `Remove ${what}` }));

  const textList = () => {
    const box = element("fieldset", {}, element("legend", {}, "Steps"));
    draft.task_steps.forEach((step, place) => box.append(removable(draft.task_steps, place, `step ${place + 1}`, redraw,
      field("textarea", step, { label: `Step ${place + 1}` }, (value) => { draft.task_steps[place] = value; }))));
    box.append(element("div", {}, button("Add a step", () => { draft.task_steps.push(""); redraw(); })));
    return box;
  };

  const argumentRow = (node, place, at) => {
    const item = node.arguments[at];
    const what = `argument ${at + 1} of node ${place}`;
    if (item && typeof item === "object" && "name" in item) {
      return removable(node.arguments, at, what, redraw,
        field("input", item.name, { label: `Name of ${what}`, class: "key" }, (value) => { item.name = value; }),
        field("textarea", item.value ?? "", { label: `Value of ${what}` }, (value) => { item.value = value; }));
    }
    return removable(node.arguments, at, what, redraw,
      field("textarea", item, { label: `Argument ${at + 1} of node ${place}` }, (value) => { node.arguments[at] = value; }));
  };

  const moveNode = (place, by) => {
    const to = draft.task_nodes.map((_, at) => (at === place ? place + by : at === place + by ? place : at));
    const [node] = draft.task_nodes.splice(place, 1);
    draft.task_nodes.splice(place + by, 0, node);
    renumber(draft.task_nodes, to);
    redraw();
  };
  const removeNode = (place) => {
    const to = draft.task_nodes.map((_, at) => (at === place ? null : at > place ? at - 1 : at));
    draft.task_nodes.splice(place, 1);
    renumber(draft.task_nodes, to);
    redraw();
  };
  const nodeBox = (node, place) => {
    if (!node || typeof node !== "object" || Array.isArray(node)) {
      return element("p", {}, `Node ${place} is no object: mend it as JSON below.`);
    }
    const key = "task" in node || !("id" in node) ? "task" : "id";
    const box = element("fieldset", { "data-node": place }, element("legend", {}, `Node ${place}`));
    box.append(element("div", { class: "row" },
      field("input", node[key] ?? "", { label: `Tool of node ${place}`, list: "tools" }, (value) => { node[key] = value; }),
      button("↑", () => moveNode(place, -1), { "aria-label": `Move node ${place} up`, disabled: place === 0 }),
      button("↓", () => moveNode(place, 1), { "aria-label": `Move node ${place} down`, disabled: place === draft.task_nodes.length - 1 }),
      button("×", () => removeNode(place), { "aria-label": `Remove node ${place}` })));
    if (Array.isArray(node.arguments)) node.arguments.forEach((_, at) => box.append(argumentRow(node, place, at)));
    box.append(element("div", {}, button("Add an argument", () => {
      if (!Array.isArray(node.arguments)) node.arguments = [];
      node.arguments.push(kind === "temporal" ? { name: "", value: "" } : "");
      redraw();
    })));
    return box;
  };

  const linkRow = (link, place) => {
    const names = [...new Set(draft.task_nodes.map((node) => node && (node.task ?? node.id)).filter(isText))];
    const end = (key) => {
      const all = isText(link?.[key]) && !names.includes(link[key]) ? [...names, link[key]] : names;
      const made = element("select", { "aria-label": `${key === "source" ? "From" : "To"}, link ${place + 1}` },
        all.map((name) => element("option", { value: name, selected: link?.[key] === name }, name)));
      made.addEventListener("change", () => { draft.task_links[place] = { ...link, [key]: made.value }; redraw(); });
      return made;
    };
    return removable(draft.task_links, place, `link ${place + 1}`, redraw, end("source"), element("span", { "aria-hidden": "true" }, "→"), end("target"));
  };
  const linkBox = () => {
    const box = element("fieldset", {}, element("legend", {}, "Links"));
    draft.task_links.forEach((link, place) => box.append(linkRow(link, place)));
    box.append(element("div", {}, button("Add a link", () => {
      const names = draft.task_nodes.map((node) => node && (node.task ?? node.id)).filter(isText);
      draft.task_links.push({ source: names[0] ?? "", target: names[names.length - 1] ?? "" });
      redraw();
    })));
    return box;
  };

  const rawBox = () => {
    const area = element("textarea", { rows: 10, spellcheck: "false", "aria-label": "All parts as JSON" });
    area.value = JSON.stringify(draft, null, 2);
    const wrong = element("p", { role: "alert" });
    return element("details", {}, element("summary", {}, "As JSON"), area, wrong, button("Use this JSON", () => {
      try {
        const given = JSON.parse(area.value);
        if (!given || typeof given !== "object" || Array.isArray(given)) throw new Error("it is no object");
        for (const part of Object.keys(PARTS)) if (part in given) draft[part] = given[part];
        if (!["task_steps", "task_nodes", "task_links"].every((part) => Array.isArray(draft[part]))) throw new Error("steps, nodes and links are lists");
        redraw();
      } catch (error) { wrong.textContent = `Not used: ${error.message}`; }
    }));
  };

  const redraw = () => {
    const spot = form.parentElement?.scrollTop ?? 0;
    // The keyboard keeps its place: on the same field, else on the button that now stands there.
    const focused = document.activeElement;
    const inBody = body.contains(focused);
    const name = focused?.getAttribute("aria-label");
    const at = [...body.querySelectorAll("button")].indexOf(focused);
    body.replaceChildren(
      element("h3", {}, element("label", { for: "edit-request" }, "Request")),
      (() => {
        const area = field("textarea", draft.user_request, { id: "edit-request", label: "Request" }, (value) => { draft.user_request = value; });
        area.rows = Math.min(10, Math.max(3, Math.ceil(draft.user_request.length / 95)));
        return area;
      })(),
      textList(), ...draft.task_nodes.map(nodeBox),
      element("div", {}, button("Add a node", () => { draft.task_nodes.push({ task: "", arguments: [] }); redraw(); })),
      linkBox(), rawBox());
    if (inBody) {
      const all = [...body.querySelectorAll("button")];
      const same = name && body.querySelector(`[aria-label="${CSS.escape(name)}"]:not(:disabled)`);
      (same || all[Math.min(Math.max(at, 0), all.length - 1)]).focus({ preventScroll: true });
      if (!body.contains(document.activeElement)) body.querySelector("textarea").focus({ preventScroll: true });
    }
    if (form.parentElement) form.parentElement.scrollTop = spot;
  };

  const say = (checked, words) => {
    refused = Boolean(checked.rejected);
    insistLabel.hidden = !refused;
    answer.replaceChildren(element("p", {}, words), ...(checked.faults || []).map((fault) => element("div", { class: "box reject" }, fault)),
      ...(checked.findings || []).map(finding));
    answer.scrollIntoView({ block: "nearest" });
  };
  const attempt = async () => {
    try {
      await save(copy(draft), chosen, insist.checked && !insistLabel.hidden);
      saved = true;
      $("dialog").close();
    } catch (error) {
      say(error.answer || {}, `Not saved: ${error.message}`);
    }
  };
  const look = async () => {
    try {
      const checked = await check(number, draft);
      const fine = !checked.faults.length && !checked.findings.length;
      const changed = checked.changed.map((part) => PARTS[part]).join(", ");
      say(checked, changed ? `Changed: ${changed}. ${fine ? "The gates let it pass." : ""}` : "Nothing is changed yet.");
    } catch (error) {
      say(error.answer || {}, error.message);
    }
  };

  const again = element("div", { class: "box notice", hidden: !kept }, "Your unsaved edits are here again. ",
    button("Start over", () => { Object.assign(draft, copy(before)); again.hidden = true; redraw(); }));
  const kinds = element("div", { class: "choices", role: "radiogroup", "aria-label": "What is fixed" }, FIXES.map((name) => {
    const radio = element("input", { type: "radio", name: "fix", value: name, checked: name === chosen });
    radio.addEventListener("change", () => { chosen = name; });
    return element("label", { class: "inline" }, radio, NAMES[name]);
  }));
  form.append(
    element("h2", { id: "dialog-title" }, `Fix ${title}`), kinds, again, body, list, answer,
    element("div", { class: "foot" },
      element("button", { type: "submit", class: "primary" }, "Save ", element("kbd", {}, "Ctrl Enter")),
      button("Check", look), button("Cancel", () => $("dialog").close()), insistLabel));
  form.addEventListener("submit", (event) => { event.preventDefault(); attempt(); });
  // Wherever the focus is: what had it may be gone.
  const keys = (event) => {
    if (!form.isConnected) document.removeEventListener("keydown", keys);
    if (!form.isConnected || !$("dialog").open) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); attempt(); }
    // Enter in a field is no wish to save.
    else if (event.key === "Enter" && event.target.matches("input")) event.preventDefault();
  };
  document.addEventListener("keydown", keys);
  // The element goes when another dialog takes its place, or this one closes: then what is unsaved is kept.
  const keep = () => {
    if ($("dialog").open && form.isConnected) return;
    $("dialog").removeEventListener("close", keep);
    unsaved = () => false;
    if (!saved && isChanged()) drafts.set(owner, draft);
  };
  $("dialog").addEventListener("close", keep);
  unsaved = isChanged;
  redraw();
  $("dialog").replaceChildren(form);
  $("dialog").showModal();
  const first = { fix_instruction: "#edit-request", fix_graph: "[data-node] input", fix_syntax: "[data-node] input" }[action];
  (form.querySelector(first) || form.querySelector("textarea")).focus();
};
