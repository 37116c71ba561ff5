// The form a sample is mended in. What it gives is checked by the server before it is saved.
"use strict";
import { check } from "./api.js";
import { $, button, element, FIXES, PARTS } from "./elements.js";
import { fieldsOf, isText } from "./fields.js";
import { finding, note } from "./findings.js";

const NAMES = { fix_syntax: "Syntax", fix_instruction: "Instruction", fix_graph: "Tool invocation graph" };
const copy = (value) => JSON.parse(JSON.stringify(value ?? null));

// Edits that were left without saving, by who made them on which sample: they are there again next time.
const drafts = new Map();
let unsaved = () => false;
let leave = () => {}; // keeps the edits of the form that was open last
window.addEventListener("beforeunload", (event) => { if (drafts.size || unsaved()) event.preventDefault(); });
$("dialog").addEventListener("close", () => { if (!$("dialog").open) leave(); });

const readable = (parts) => {
  const made = copy(parts);
  if (!isText(made.user_request)) made.user_request = "";
  for (const key of ["task_steps", "task_nodes", "task_links"]) if (!Array.isArray(made[key])) made[key] = [];
  return made;
};

// What is sent: the parts that differ from those of the sample. A part that the sample lacks is not made up.
const changedOf = (draft, sample) => Object.fromEntries(Object.entries(draft).filter(([part, value]) =>
  JSON.stringify(value) !== JSON.stringify(sample[part]) && !(part === "task_links" && !value.length && !sample[part])));

// The field a finding is about: that of its place, else the nearest one around it.
const fieldOf = (body, where) => {
  for (let name = where; name; name = name.replace(/(\.\w+|\[\d+\])$|^\w+$/, "")) {
    const found = body.querySelector(`[data-where="${CSS.escape(name)}"]`);
    if (found) return found;
  }
  return null;
};

// Opens the form on a sample's parts as they are (`sample`) and as they were mended (`parts`), with what the
// gates say of the latter. `save(parts, action, insist)` saves and throws what the server refuses. `key` names
// whose edits of which sample they are.
export const edit = ({ key: owner, number, title, sample, parts, findings, action, kind, tools, save }) => {
  leave(); // its dialog may be closed, and not have told yet
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
    "Save it all the same; that I insist is recorded");
  const list = element("datalist", { id: "tools" }, tools.map((tool) => element("option", { value: tool })));

  // Whoever insists does so on what was shown of the draft as it was then.
  const outdated = () => { insist.checked = false; insistLabel.hidden = true; };
  body.addEventListener("input", outdated);
  const redraw = () => {
    const spot = form.parentElement?.scrollTop ?? 0;
    // The keyboard keeps its place: on the same field, else on the button that now stands there.
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

  // Each finding beside the field it is about.
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

  const again = element("div", { class: "box notice", hidden: !kept }, "Your unsaved edits are here again. ",
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
  // Wherever the focus is: what had it may be gone.
  const keys = (event) => {
    if (!form.isConnected) document.removeEventListener("keydown", keys);
    if (!form.isConnected || !$("dialog").open) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); attempt(); }
    // Enter in a field is no wish to save.
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
  // Where there is a fault to mend, the form opens at it.
  const first = { fix_instruction: "#edit-request", fix_graph: "[data-node] input", fix_syntax: "[data-node] input" }[action];
  const wrong = action === "fix_instruction" ? null : form.querySelector("[aria-invalid]");
  (wrong || form.querySelector(first) || form.querySelector("textarea")).focus();
};
