// Builds elements. Texts become text nodes only, so text of models is never parsed as HTML.
"use strict";

export const $ = (id) => document.getElementById(id);

export const element = (name, attributes = {}, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
};

export const button = (label, work, attributes = {}) => {
  const made = element("button", { type: "button", ...attributes }, label);
  made.addEventListener("click", work);
  return made;
};

export const chip = (text, kind = "") => element("span", { class: `chip ${kind}` }, text);

export const DECISIONS = {
  correct: ["Correct", "good"],
  discard: ["Discarded", "bad-chip"],
  fix_syntax: ["Syntax fixed", "doubt"],
  fix_instruction: ["Instruction fixed", "doubt"],
  fix_graph: ["Graph fixed", "doubt"],
};

export const FIXES = ["fix_syntax", "fix_instruction", "fix_graph"];

export const PARTS = {
  user_request: "request", task_steps: "steps", task_nodes: "nodes", task_links: "links", facts: "facts",
  alternatives: "other plans",
};

// A value as text, cut to a length that browsers can render at once; a note counts the rest.
export const LONGEST = 20000;
export const shown = (value) => {
  const text = typeof value === "string" ? value : JSON.stringify(value) ?? "";
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)} … and ${(text.length - LONGEST).toLocaleString("en")} more characters`;
};
