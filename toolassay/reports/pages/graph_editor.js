// The panels of a schema graph: filters, the links of the chosen tool, the edits, and the form of a link.
const linkEditor = (data, store, page) => {
  const { element, count, toolLink } = page;
  const { tools, texts } = data;
  const $ = (id) => document.getElementById(id);
  const CARDS = 20;
  const FILE = "graph_edits_patch.json";
  const DONE = new Map([["add", "Added"], ["remove", "Removed"], ["pin", "Pinned"], ["retype", "Changed"]]);
  const done = ({ action }) => DONE.get(action) || String(action);
  const expanded = new Set();
  const button = (text, action, attributes = {}) => {
    const made = element("button", { type: "button", ...attributes }, text);
    made.addEventListener("click", action);
    return made;
  };
  const nameOf = (key) => key.split(" ").map((number) => tools[number].id).join(" → ");
  const placesOf = (column, tool) => data.places[data[column][tool]].map((number) => texts[number]);

  // ---- filters ----
  const boxes = (name, values, before) => values.map((value) => {
    const links = store.all.filter((link) => link[name] === value).length;
    if (!links) return "";
    const box = element("input", { type: "checkbox", checked: "" });
    box.addEventListener("change", () => {
      if (box.checked) store.filters[name].delete(value); else store.filters[name].add(value);
      page.refresh();
    });
    return element("label", {}, box, element("span", {}, before + value, " ",
      element("small", { class: "quiet" }, links.toLocaleString("en"))));
  });
  const showFilters = () => {
    const range = { min: "0", max: "1", step: "0.01", value: "0" };
    const slider = element("input", { id: "slider", type: "range", "aria-label": "Least score, slider", ...range });
    const number = element("input", { id: "least", type: "number", ...range });
    const set = (from, to) => () => {
      store.filters.least = Math.min(1, Math.max(0, Number(from.value) || 0));
      to.value = store.filters.least;
      page.refresh();
    };
    slider.addEventListener("input", set(slider, number));
    number.addEventListener("input", set(number, slider));
    const least = element("label", { for: "least" }, "Least score");
    $("links").append(element("div", { class: "least" }, least, slider, number),
      ...boxes("kind", data.kinds, ""), ...boxes("origin", data.origins, "from "));
    $("links").hidden = false;
  };

  // ---- the links of the chosen tool ----
  const flows = (fields) => element("ul", { class: "flows" }, ...fields.map(({ from, to }) =>
    element("li", {}, element("code", {}, from || "whole result"), " → ", element("code", {}, to))));
  // Names in backticks are set as code: "`id` fits" has one, "5` and more" none.
  const withCode = (text) => text.split(/`([^`]+)`/).map((part, place) =>
    (place % 2 ? element("code", {}, part) : part));
  const verdictOf = ({ verdict }) => {
    if (verdict === undefined || verdict === null) return [];
    const parts = typeof verdict === "object"
      ? Object.entries(verdict).map(([name, value]) => `${name}: ${typeof value === "object" ? JSON.stringify(value) : value}`)
      : [String(verdict)];
    return [`verdict: ${parts.join(", ")}`];
  };
  const stateOf = (key) => {
    const [edit, earlier] = [store.editOf(key), store.earlierOf(key)];
    if (edit) return [`${done(edit).toLowerCase()} here`];
    return earlier ? [`${done(earlier).toLowerCase()} in graph_edits.json`] : [];
  };
  // After an edit the panels are made again; the keyboard stays at the link, or at the edits.
  const act = (key, action) => {
    action();
    page.refresh();
    const card = [...$("detail").querySelectorAll("[data-key]")].find((one) => one.dataset.key === key);
    (card?.querySelector(".actions button") || $("add")).focus();
  };
  const card = (key, other) => {
    const link = store.link(key);
    const name = nameOf(key);
    const edit = store.editOf(key);
    const head = element("div", { class: "head" }, toolLink(other));
    const made = element("li", { class: edit ? "link edited" : "link", "data-key": key }, head);
    const actions = element("div", { class: "actions" });
    if (!link) {
      made.classList.add("removed");
      made.append(element("p", { class: "quiet" }, stateOf(key).join("")), actions);
      actions.append(edit
        ? button("Keep it", () => act(key, () => store.drop(key)), { "aria-label": `Keep ${name}` })
        : button("Add again", () => open(key), { "aria-label": `Add again ${name}` }));
      return made;
    }
    head.append(element("span", { class: "score", title: "Score" }, link.score.toFixed(2)));
    const bar = element("span");
    bar.style.width = `${100 * link.score}%`;
    made.append(element("div", { class: "bar", "aria-hidden": "true" }, bar));
    if (link.fields.length) made.append(flows(link.fields));
    if (!link.fields.some(({ to }) => to === link.type)) made.append(element("p", {}, `type: ${link.type}`));
    if (link.reasons.length) made.append(element("p", { class: "quiet" }, ...withCode(link.reasons.join("; "))));
    else if (data.without_reasons) made.append(element("p", { class: "quiet" }, "Its reasons are in graph_desc.json."));
    const pinned = link.further.pinned && !edit;
    const facts = [link.kind, `from ${link.origin}`, ...(link.count ? [`seen ${count(link.count, "time")}`] : []),
      ...(pinned ? ["pinned"] : []), ...verdictOf(link.further), ...stateOf(key), ...(link.further.note ? [`note: ${link.further.note}`] : [])];
    made.append(element("p", { class: "facts" }, facts.join(" · ")), actions);
    if (edit?.action === "pin") {
      actions.append(button("Unpin", () => act(key, () => store.drop(key)), { "aria-label": `Unpin ${name}` }));
    } else if (!link.further.pinned && link.origin !== "user") {
      actions.append(button("Pin", () => act(key, () => store.pin(key)), { "aria-label": `Pin ${name}` }));
    }
    actions.append(button("Change", () => open(key), { "aria-label": `Change ${name}` }),
      button("Remove", () => act(key, () => store.remove(key)), { "aria-label": `Remove ${name}` }));
    return made;
  };
  const cards = (side, found, keyOf) => {
    const shown = expanded.has(side) ? found : found.slice(0, CARDS);
    const rows = shown.map((other) => card(keyOf(other), other));
    if (shown.length < found.length) {
      rows.push(element("li", {}, button(`Show all ${found.length.toLocaleString("en")}`, () => {
        expanded.add(side);
        page.refresh();
        $("detail").querySelectorAll(`.${side} .head button`)[CARDS].focus();
      })));
    }
    return rows.length ? element("ul", { class: `cards ${side}` }, ...rows) : element("p", { class: "quiet" }, "None.");
  };
  let described = null;
  const sections = (chosen, near) => {
    if (described !== chosen) expanded.clear();
    described = chosen;
    const removed = store.removed(chosen).map((key) => key.split(" ").map(Number));
    // A link that is removed here keeps its place in the list.
    const listOf = (side, keyOf, found, gone) => cards(side, [...found.keys(), ...gone]
      .map((other) => [other, store.score(keyOf(other))]).sort((a, b) => b[1] - a[1]).map(([other]) => other), keyOf);
    return [
      element("h3", {}, `Links to it (${near.before.size})`),
      listOf("before", (other) => store.keyOf(other, chosen), near.before,
        removed.filter(([, target]) => target === chosen).map(([source]) => source)),
      element("h3", {}, `Links from it (${near.after.size})`),
      listOf("after", (other) => store.keyOf(chosen, other), near.after,
        removed.filter(([source]) => source === chosen).map(([, target]) => target)),
    ];
  };

  // ---- the list of edits ----
  const editRow = (key, text, ...more) => {
    const name = key === null ? element("span", {}, text) : button(text, () => page.choose(Number(key.split(" ")[0])));
    return element("li", { class: "edit" }, name, ...more);
  };
  const status = element("p", { role: "status" });
  const command = element("code", { id: "command" }, `toolassay graph --data_dir ${data.folder} --edits ${FILE}`);
  const undo = button("Undo", () => {
    if (!store.canUndo) return;
    const key = store.undo();
    page.refresh();
    status.textContent = `Undone: the last edit of ${nameOf(key)}.`;
    (undo.disabled ? $("add") : undo).focus();
  }, { id: "undo" });
  const save = button(`Export ${FILE}`, () => {
    const file = URL.createObjectURL(new Blob([store.patch()], { type: "application/json" }));
    const link = element("a", { href: file, download: FILE });
    link.click();
    setTimeout(() => URL.revokeObjectURL(file), 1000); // the download has started by then
    status.textContent = `Exported. Move ${FILE} to the folder in which you run:`;
    page.refresh();
  }, { id: "export" });
  const list = element("ul", { id: "edit-list" });
  const heading = element("h2", {});
  $("edits").append(
    element("div", { class: "head" }, heading, button("Add a link", () => open(null), { id: "add" }), undo),
    element("div", { class: "export" }, save, status, command), list);
  $("edits").hidden = false;
  const listEdits = () => {
    const edits = store.edits;
    heading.textContent = edits.length ? count(edits.length, "new edit") : "No new edits";
    undo.disabled = !store.canUndo;
    save.parentElement.hidden = !edits.length;
    const rows = edits.map(([key, edit]) => editRow(key, `${done(edit)}: ${nameOf(key)}`,
      button("×", () => act(key, () => store.drop(key)), { "aria-label": `Drop the edit of ${nameOf(key)}` })));
    const earlier = store.earlier.map(({ edit, key, source, target }) => {
      const unknown = [[source, edit.source], [target, edit.target]].find(([number]) => number === undefined);
      const note = unknown ? `no tool '${unknown[1]}'` : store.editOf(key) ? "replaced by a new edit" : edit.note || "";
      return editRow(key, `${done(edit)}: ${edit.source} → ${edit.target}`,
        ...(note ? [element("small", { class: "quiet" }, note)] : []));
    });
    if (earlier.length) rows.push(element("li", { class: "quiet" }, "In graph_edits.json (toolassay graph --undo A B takes one back):"), ...earlier);
    list.replaceChildren(...rows);
  };

  // ---- the form of a link ----
  const form = $("form");
  const source = $("form-source");
  const target = $("form-target");
  const kind = $("form-kind");
  const type = $("form-type");
  let formKey = null;
  $("form-tools").append(...tools.map((tool) => element("option", { value: tool.id })));
  kind.append(...data.kinds.map((name) => element("option", { value: name }, name)));
  const offer = (id, column, tool) => {
    const found = tool === undefined ? [] : placesOf(column, tool).filter((place) => place);
    $(id).replaceChildren(...found.map((place) => element("option", { value: place })));
  };
  const offerPlaces = () => {
    offer("form-paths", "paths", store.numberOf.get(source.value));
    offer("form-arguments", "arguments", store.numberOf.get(target.value));
  };
  const addPair = ({ from, to } = { from: "", to: "" }) => {
    const row = element("li", {});
    const input = (name, list, value, placeholder) => {
      const made = element("input", { class: name, list, "aria-label": placeholder, placeholder, autocomplete: "off" });
      made.value = value;
      return made;
    };
    row.append(input("from", "form-paths", from, "Path (empty: whole result)"), " → ",
      input("to", "form-arguments", to, "Argument"),
      button("×", () => { row.remove(); suggestType(); }, { "aria-label": "Remove this value" }));
    $("form-pairs").append(row);
    return row;
  };
  const pairs = () => [...$("form-pairs").children].map((row) => ({
    from: row.querySelector(".from").value.trim(), to: row.querySelector(".to").value.trim(),
  })).filter(({ from, to }) => from || to);
  const suggestType = () => { type.placeholder = pairs()[0]?.to || "order"; };
  const open = (key) => {
    formKey = key;
    const link = key === null ? undefined : store.link(key);
    const ends = key === null ? [page.chosen(), undefined] : key.split(" ").map(Number);
    [source, target].forEach((input, place) => {
      input.value = tools[ends[place]]?.id || "";
      input.disabled = key !== null;
    });
    kind.value = link?.kind || "dependency";
    type.value = link && link.type !== (link.fields[0]?.to || "order") ? link.type : "";
    $("form-note").value = link?.further.note || store.editOf(key)?.note || "";
    $("form-pairs").replaceChildren();
    (link?.fields.length ? link.fields : [undefined]).forEach((pair) => addPair(pair));
    $("form-title").textContent = link ? "Change a link" : "Add a link";
    $("form-error").textContent = "";
    offerPlaces();
    suggestType();
    form.showModal();
    (source.disabled ? form.querySelector(".from") : source.value ? target : source).focus();
  };
  const problem = (ends, fields) => {
    const unknown = [source, target].find((_, place) => ends[place] === undefined);
    if (unknown) return unknown.value ? `There is no tool '${unknown.value}'.` : "Choose both tools.";
    if (ends[0] === ends[1]) return "A tool cannot be linked to itself.";
    if (fields.some(({ to }) => !to)) return "Every value needs the argument that it fills.";
    if (new Set(fields.map(({ to }) => to)).size < fields.length) return "An argument is filled twice.";
    if (kind.value === "dependency" && !fields.length) return "A dependency needs a value that flows. For the order alone, choose the kind “observed”.";
    return "";
  };
  $("form-values").addEventListener("submit", (event) => {
    event.preventDefault();
    const ends = [source, target].map((input) => store.numberOf.get(input.value));
    const fields = pairs();
    $("form-error").textContent = problem(ends, fields);
    if ($("form-error").textContent) return;
    const key = store.keyOf(...ends);
    if (formKey === null && store.link(key)) {
      formKey = key;
      $("form-error").textContent = "There is a link of these tools already. Save again to replace it.";
      return;
    }
    form.close();
    act(key, () => {
      store.set(key, { type: type.value.trim() || type.placeholder, fields, kind: kind.value, note: $("form-note").value.trim() });
      if (![ends[0], ends[1]].includes(page.chosen())) page.choose(ends[0]);
    });
  });
  source.addEventListener("input", offerPlaces);
  target.addEventListener("input", offerPlaces);
  $("form-pairs").addEventListener("input", suggestType);
  $("form-more").addEventListener("click", () => addPair().querySelector(".from").focus());
  $("form-cancel").addEventListener("click", () => form.close());

  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, select, dialog");
    if (event.key === "z" && (event.ctrlKey || event.metaKey) && !event.shiftKey && !typing) {
      event.preventDefault();
      undo.click();
    }
  });
  window.addEventListener("beforeunload", (event) => { if (store.isUnexported()) event.preventDefault(); });
  showFilters();
  return { sections, listEdits };
};
