// The form to fix a sample in. The server checks an edit before it saves it.
"use strict";
import { check } from "./api.js";
import { $, button, element, FIXES, PARTS } from "./elements.js";
import { fieldsOf, isText } from "./fields.js";
import { finding, note } from "./findings.js";

const NAMES = { fix_syntax: "Syntax", fix_instruction: "Instruction", fix_graph: "Tool invocation graph" };
const copy = (value) => JSON.parse(JSON.stringify(value ?? null));

// Unsaved edits by reviewer and sample, which the form restores when it is opened again.
const drafts = new Map();
let unsaved = () => false;
let leave = () => {}; // stores the unsaved edits of the form that was open last
window.addEventListener("beforeunload", (event) => { if (drafts.size || unsaved()) event.preventDefault(); });
$("dialog").addEventListener("close", () => { if (!$("dialog").open) leave(); });

const readable = (parts) => {
  const made = copy(parts);
  if (!isText(made.user_request)) made.user_request = "";
  for (const key of ["task_steps", "task_nodes", "task_links", "facts", "alternatives"]) if (!Array.isArray(made[key])) made[key] = [];
  return made;
};

// The parts to send: those that differ from the sample's. An empty part that the sample lacks is not sent.
const changedOf = (draft, sample) => Object.fromEntries(Object.entries(draft).filter(([part, value]) =>
  JSON.stringify(value) !== JSON.stringify(sample[part]) && !(["task_links", "facts", "alternatives"].includes(part) && !value.length && !sample[part])));

// The field that a finding is about: that of its place, else of the nearest enclosing place. Each round cuts the
// last piece off: "task_nodes[0].arguments[1]", "task_nodes[0].arguments", "task_nodes[0]", "task_nodes", "".
const fieldOf = (body, where) => {
  for (let name = where; name; name = name.replace(/(\.\w+|\[\d+\])$|^\w+$/, "")) {
    const found = body.querySelector(`[data-where="${CSS.escape(name)}"]`);
    if (found) return found;
  }
  return null;
};

// Opens the form on the parts of a sample (`sample`), with the reviewer's earlier fix (`parts`) and the findings
// on it. `save(parts, action, insist)` saves, and throws the server's refusal. `key` names reviewer and sample.
export const edit = ({ key: owner, number, title, sample, parts, findings, action, kind, tools, save }) => {
  leave(); // the dialog may be closed before its "close" event is handled
  const form = element("form", { method: "dialog", novalidate: true });
  const before = readable(parts);
  const draft = drafts.get(owner) ?? copy(before);
  const kept = drafts.delete(owner);
  const isChanged = () => JSON.stringify(draft) !== JSON.stringify(before);
  let saved = false;
  let chosen = action;
  const answer = element("div", { role: "alert", class: "answer" });
  const body = element("div", { class: "inside" });
  body.style.padding = "0";
  const insist = element("input", { type: "checkbox", id: "insist" });
  const insistLabel = element("label", { class: "inline", hidden: true }, insist,
    "Save it all the same (recorded as insisted)");
  const list = element("datalist", { id: "tools" }, tools.map((tool) => element("option", { value: tool })));

  // Insisting is about the findings that were shown: any change of the draft resets it.
  const outdated = () => { insist.checked = false; insistLabel.hidden = true; };
  body.addEventListener("input", outdated);
  const redraw = () => {
    const spot = form.parentElement?.scrollTop ?? 0;
    // Keep the focus: on the same field, else on the button that is now in its place.
    const focused = document.activeElement;
    const inBody = body.contains(focused);
    const name = focused?.getAttribute("aria-label");
    const at = [...body.querySelectorAll("button")].indexOf(focused);
    body.replaceChildren(...fieldsOf(draft, kind, redraw));
    outdated();
    if (inBody) {
      const all = [...body.querySelectorAll("button")];
      const same = name && body.querySelector(`[aria-label="${CSS.escape(name)}"]:not(:disabled)`);
      (same || all[Math.min(Math.max(at, 0), all.length - 1)]).focus({ preventScroll: true });
      if (!body.contains(document.activeElement)) body.querySelector("textarea").focus({ preventScroll: true });
    }
    if (form.parentElement) form.parentElement.scrollTop = spot;
  };

  // Shows each finding beside its field.
  const point = (found) => {
    body.querySelectorAll(".fault").forEach((old) => old.remove());
    body.querySelectorAll("[aria-invalid]").forEach((old) => old.removeAttribute("aria-invalid"));
    for (const item of found) {
      const about = item.state === "not applicable" ? null : fieldOf(body, item.where);
      if (!about) continue;
      about.closest(".row").after(note(item));
      if (item.state === "reject") about.setAttribute("aria-invalid", "true");
    }
  };
  const say = (checked, words) => {
    const told = (checked.findings || []).filter((item) => item.state !== "not applicable");
    insistLabel.hidden = !checked.rejected;
    point(told);
    answer.replaceChildren(element("p", {}, words), ...(checked.faults || []).map((fault) => element("div", { class: "box reject" }, fault)),
      ...told.map((item) => finding(item, fieldOf(body, item.where) ? () => fieldOf(body, item.where).focus() : null)));
    answer.scrollIntoView({ block: "nearest" });
  };
  const attempt = async () => {
    try {
      await save(changedOf(copy(draft), sample), chosen, insist.checked && !insistLabel.hidden);
      saved = true;
      $("dialog").close();
    } catch (error) {
      say(error.answer || {}, `Not saved: ${error.message}`);
    }
  };
  const look = async () => {
    try {
      const checked = await check(number, changedOf(draft, sample));
      const fine = !checked.faults.length && checked.findings.every((item) => item.state === "not applicable");
      const changed = checked.changed.map((part) => PARTS[part]).join(", ");
      say(checked, changed ? `Changed: ${changed}. ${fine ? "The gates let it pass." : ""}` : "Nothing is changed yet.");
    } catch (error) {
      say(error.answer || {}, error.message);
    }
  };

  const again = element("div", { class: "box notice", hidden: !kept }, "Your unsaved edits were restored. ",
    button("Start over", () => { Object.assign(draft, copy(before)); again.hidden = true; redraw(); point(findings); }));
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
  // On the document, since the element with the focus may have been removed.
  const keys = (event) => {
    if (!form.isConnected) document.removeEventListener("keydown", keys);
    if (!form.isConnected || !$("dialog").open) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); attempt(); }
    // Enter in a field must not submit the form.
    else if (event.key === "Enter" && event.target.matches("input")) event.preventDefault();
  };
  document.addEventListener("keydown", keys);
  leave = () => {
    leave = () => {};
    unsaved = () => false;
    if (!saved && isChanged()) drafts.set(owner, draft);
  };
  unsaved = isChanged;
  redraw();
  if (!kept) point(findings);
  $("dialog").replaceChildren(form);
  $("dialog").showModal();
  // Focus the first fault, else the first field of this kind of fix.
  const first = { fix_instruction: "#edit-request", fix_graph: "[data-node] input", fix_syntax: "[data-node] input" }[action];
  const wrong = action === "fix_instruction" ? null : form.querySelector("[aria-invalid]");
  (wrong || form.querySelector(first) || form.querySelector("textarea")).focus();
};
