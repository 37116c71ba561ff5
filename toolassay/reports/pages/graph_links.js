"use strict";
// The links of a schema graph: those of the graph file, with the edits of this page on top.
const linkStore = (data) => {
  const { texts, tools } = data;
  const numberOf = new Map(tools.map((tool, number) => [tool.id, number]));
  const keyOf = (source, target) => `${source} ${target}`;
  const pairsOf = (flat) => flat.flatMap((path, place) =>
    (place % 2 ? [] : [{ from: texts[path], to: texts[flat[place + 1]] }]));
  const written = data.links.map(([source, target, score, type, fields, reasons, kind, origin, count, further]) => ({
    source, target, score, type: texts[type], fields: pairsOf(fields), reasons: reasons.map((number) => texts[number]),
    kind: data.kinds[kind], origin: data.origins[origin], count, further: further || {},
  }));
  const writtenOf = new Map(written.map((link) => [keyOf(link.source, link.target), link]));

  // The edits of graph_edits.json; the graph file has them already.
  const earlier = data.edits.map((edit) => {
    const [source, target] = [numberOf.get(edit.source), numberOf.get(edit.target)];
    return { edit, source, target, key: source === undefined || target === undefined ? null : keyOf(source, target) };
  });
  const earlierOf = new Map(earlier.filter(({ key }) => key !== null).map((one) => [one.key, one.edit]));

  const edits = new Map(); // at most one for each pair
  const history = [];
  let exported = "[]";
  let current = written;
  let currentOf = writtenOf;

  // The link that an edit makes, as `toolassay graph --edits` makes it.
  const applied = (edit, before) => {
    if (edit.action === "remove") return null;
    const { type, fields, kind, note } = edit;
    if (edit.action === "add") {
      return {
        source: numberOf.get(edit.source), target: numberOf.get(edit.target), score: 1, type, fields, kind, count: 0,
        reasons: [`added by a person${note ? `: ${note}` : ""}`], origin: "user", further: {},
      };
    }
    const further = { ...before.further, pinned: true, ...(note ? { note } : {}) };
    return edit.action === "pin" ? { ...before, further } : { ...before, type, fields, kind, further };
  };
  const rebuild = () => {
    currentOf = new Map(writtenOf);
    edits.forEach((edit, key) => {
      const link = applied(edit, writtenOf.get(key));
      if (link) currentOf.set(key, link); else currentOf.delete(key);
    });
    current = edits.size ? [...currentOf.values()].sort((a, b) => b.score - a.score) : written;
  };
  const put = (key, edit) => {
    if (edit) edits.set(key, edit); else edits.delete(key);
    rebuild();
  };
  const change = (key, edit) => {
    history.push([key, edits.get(key) || null]);
    put(key, edit);
  };
  const ends = (key) => {
    const [source, target] = key.split(" ").map((number) => tools[number].id);
    return { source, target };
  };

  // The object of a link in the graph file.
  const asWritten = (key) => {
    const { further, ...link } = writtenOf.get(key);
    return { ...link, ...ends(key), ...further };
  };

  // ---- filters ----
  const filters = { least: 0, kind: new Set(), origin: new Set() }; // of kinds and origins: what is left out
  const passes = (link) => edits.has(keyOf(link.source, link.target))
    || (link.score >= filters.least && !filters.kind.has(link.kind) && !filters.origin.has(link.origin));
  const shown = () => current.filter(passes);

  return {
    keyOf, numberOf, filters, shown, earlier,
    get all() { return current; },
    get edits() { return [...edits]; },
    get canUndo() { return history.length > 0; },
    // The links that can come before and after a tool, by the other tool, best first.
    near: (tool) => {
      const found = { before: new Map(), after: new Map() };
      shown().forEach((link) => {
        if (link.source === tool) found.after.set(link.target, link);
        if (link.target === tool) found.before.set(link.source, link);
      });
      return found;
    },
    // The pairs of a tool whose link was removed, here or in graph_edits.json.
    removed: (tool) => [...new Set([...edits.keys(), ...earlierOf.keys()])].filter((key) => {
      const edit = edits.get(key) || earlierOf.get(key);
      return edit.action === "remove" && !currentOf.has(key) && key.split(" ").includes(String(tool));
    }),
    link: (key) => currentOf.get(key),
    score: (key) => (currentOf.get(key) || writtenOf.get(key))?.score || 0,
    editOf: (key) => edits.get(key),
    earlierOf: (key) => earlierOf.get(key),
    remove: (key) => change(key, writtenOf.has(key) ? { action: "remove", ...ends(key) } : null),
    pin: (key) => change(key, { action: "pin", ...ends(key), link: asWritten(key) }),
    set: (key, { type, fields, kind, note }) => change(key, {
      action: writtenOf.has(key) ? "retype" : "add", ...ends(key), type, fields, kind, ...(note ? { note } : {}),
      ...(writtenOf.has(key) ? { link: asWritten(key) } : {}),
    }),
    drop: (key) => change(key, null),
    undo: () => {
      const [key, edit] = history.pop();
      put(key, edit);
      return key;
    },
    // The text of the patch file.
    patch: () => {
      exported = JSON.stringify([...edits.values()]);
      return `${JSON.stringify({ edits: [...edits.values()] }, null, 2)}\n`;
    },
    isUnexported: () => edits.size > 0 && JSON.stringify([...edits.values()]) !== exported,
  };
};
