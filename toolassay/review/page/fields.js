// The fields of the form: each changes its part of the draft, which `data-where` names.
"use strict";
import { button, element, LONGEST, PARTS } from "./elements.js";

export const isText = (value) => typeof value === "string";
const REFERENCE = /<node-(\d+)>/g;

// A value in a field: a text unchanged, anything else as JSON. A changed JSON value stays a value if it parses.
const inField = (value) => (isText(value) ? value : JSON.stringify(value));
const fromField = (text, before) => {
  if (isText(before) || before === undefined) return text;
  try { return JSON.parse(text); } catch { return text; }
};

const field = (name, value, attributes, changed) => {
  const made = element(name, { "aria-label": attributes.label, ...attributes, label: null });
  made.value = inField(value);
  if (name === "textarea") made.rows = Math.min(8, Math.max(1, Math.ceil(made.value.length / 90)));
  made.classList.toggle("endless", made.value.length > LONGEST);
  made.addEventListener("input", () => changed(fromField(made.value, value)));
  return made;
};

// Updates references after nodes moved. One to a removed node becomes "<node-?>", which the gates reject.
const renumber = (draft, to) => {
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
  draft.task_nodes.forEach((node) => { if ("arguments" in node) node.arguments = renamed(node.arguments); });
  draft.facts = renamed(draft.facts);
};

// The fields of all parts of a draft; `redraw` is called after a change that adds, removes or moves fields.
export const fieldsOf = (draft, kind, redraw) => {
  const removable = (items, place, what, redraw, ...fields) => element("div", { class: "row" }, ...fields,
    button("×", () => { items.splice(place, 1); redraw(); }, { "aria-label": `Remove ${what}` }));

  // A part that is a list, one field for each item; a new item begins as `empty`.
  const itemList = (part, title, what, empty) => {
    const items = draft[part];
    const box = element("fieldset", {}, element("legend", {}, title));
    items.forEach((item, place) => box.append(removable(items, place, `${what} ${place + 1}`, redraw,
      field("textarea", item, { label: `${title.slice(0, -1)} ${place + 1}`, "data-where": `${part}[${place}]` }, (value) => { items[place] = value; }))));
    box.append(element("div", {}, button(`Add a ${what}`, () => { items.push(empty()); redraw(); })));
    return box;
  };

  const argumentRow = (node, place, at) => {
    const item = node.arguments[at];
    const where = { "data-where": `task_nodes[${place}].arguments[${at}]` };
    const what = `argument ${at + 1} of node ${place}`;
    if (item && typeof item === "object" && "name" in item) {
      // In a library whose arguments have no names, a named one is fixed by keeping only its value.
      const bare = kind !== "resource" ? null : button("Value only", () => { node.arguments[at] = item.value ?? ""; redraw(); },
        { "aria-label": `Take the value only of ${what}` });
      return removable(node.arguments, at, what, redraw,
        field("input", item.name, { label: `Name of ${what}`, class: "key" }, (value) => { item.name = value; }),
        field("textarea", item.value ?? "", { label: `Value of ${what}`, ...where }, (value) => { item.value = value; }), bare);
    }
    return removable(node.arguments, at, what, redraw,
      field("textarea", item, { label: `Argument ${at + 1} of node ${place}`, ...where }, (value) => { node.arguments[at] = value; }));
  };

  const moveNode = (place, by) => {
    const to = draft.task_nodes.map((_, at) => (at === place ? place + by : at === place + by ? place : at));
    const [node] = draft.task_nodes.splice(place, 1);
    draft.task_nodes.splice(place + by, 0, node);
    renumber(draft, to);
    redraw();
  };
  const removeNode = (place) => {
    const to = draft.task_nodes.map((_, at) => (at === place ? null : at > place ? at - 1 : at));
    draft.task_nodes.splice(place, 1);
    renumber(draft, to);
    redraw();
  };
  const nodeBox = (node, place) => {
    if (!node || typeof node !== "object" || Array.isArray(node)) {
      return element("p", {}, `Node ${place} is not an object: edit it as JSON below.`);
    }
    const key = "task" in node || !("id" in node) ? "task" : "id";
    const box = element("fieldset", { "data-node": place }, element("legend", {}, `Node ${place}`));
    box.append(element("div", { class: "row" },
      field("input", node[key] ?? "", { label: `Tool of node ${place}`, list: "tools", "data-where": `task_nodes[${place}]` }, (value) => { node[key] = value; }),
      button("↑", () => moveNode(place, -1), { "aria-label": `Move node ${place} up`, disabled: place === 0 }),
      button("↓", () => moveNode(place, 1), { "aria-label": `Move node ${place} down`, disabled: place === draft.task_nodes.length - 1 }),
      button("×", () => removeNode(place), { "aria-label": `Remove node ${place}` })));
    if (Array.isArray(node.arguments)) node.arguments.forEach((_, at) => box.append(argumentRow(node, place, at)));
    box.append(element("div", {}, button("Add an argument", () => {
      if (!Array.isArray(node.arguments)) node.arguments = [];
      node.arguments.push(kind === "resource" ? "" : { name: "", value: "" });
      redraw();
    })));
    return box;
  };

  const linkRow = (link, place) => {
    const names = [...new Set(draft.task_nodes.map((node) => node && (node.task ?? node.id)).filter(isText))];
    const end = (key) => {
      const all = isText(link?.[key]) && !names.includes(link[key]) ? [...names, link[key]] : names;
      const where = key === "source" ? `task_links[${place}]` : null;
      const made = element("select", { "data-where": where, "aria-label": `${key === "source" ? "From" : "To"}, link ${place + 1}` },
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
    const wrong = element("p", { role: "alert" });
    const head = element("summary", {}, "As JSON");
    // Filled when it is opened, with the current draft.
    head.addEventListener("click", () => { area.value = JSON.stringify(draft, null, 2); });
    return element("details", {}, head, area, wrong, button("Use this JSON", () => {
      try {
        const given = JSON.parse(area.value);
        if (!given || typeof given !== "object" || Array.isArray(given)) throw new Error("it is not an object");
        const parts = Object.keys(PARTS).filter((part) => part in given);
        const fits = (part) => (part === "user_request" ? isText(given[part]) : Array.isArray(given[part]));
        if (!parts.every(fits)) throw new Error("the request must be a text; steps, nodes, links, facts and other plans are lists");
        for (const part of parts) draft[part] = given[part];
        redraw();
      } catch (error) { wrong.textContent = `Not used: ${error.message}`; }
    }));
  };

  const request = field("textarea", draft.user_request,
    { id: "edit-request", label: "Request", "data-where": "user_request" }, (value) => { draft.user_request = value; });
  request.rows = Math.min(10, Math.max(3, Math.ceil(draft.user_request.length / 95)));
  return [
    element("h3", {}, element("label", { for: "edit-request" }, "Request")), element("div", { class: "row" }, request),
    itemList("task_steps", "Steps", "step", () => ""), ...draft.task_nodes.map(nodeBox),
    element("div", {}, button("Add a node", () => { draft.task_nodes.push({ task: "", arguments: [] }); redraw(); })),
    linkBox(), itemList("facts", "Facts", "fact", () => ({ from: "<node-0>" })),
    itemList("alternatives", "Other plans", "plan", () => ({ task_nodes: draft.task_nodes, task_links: draft.task_links, by: "reviewer" })),
    rawBox(),
  ];
};
