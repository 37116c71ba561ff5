// The plan as a graph: layers from top to bottom.
"use strict";
import { $ } from "./elements.js";

// Nodes are narrow where many stand side by side, and flat where many follow each other: so that they can be
// read all the same.
const ROOMY = { wide: 168, high: 56, across: 192, down: 112 };
const TIGHT = { wide: 118, high: 66, across: 130, down: 122 };
const FLAT = { wide: 210, high: 38, across: 228, down: 66 };
const TALL = 6; // layers
const sizeOf = (nodes) => {
  const rows = new Map();
  nodes.forEach((node) => rows.set(node.layer, (rows.get(node.layer) || 0) + 1));
  if (Math.max(0, ...rows.values()) > 2) return TIGHT;
  return rows.size > TALL ? FLAT : ROOMY;
};
let size = ROOMY;
const FONT = "system-ui, Segoe UI, Roboto, DejaVu Sans, sans-serif";
const variable = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
let graph = null;
let chosen = () => {};

const style = () => [
  { selector: "node", style: {
    shape: "round-rectangle", width: size.wide, height: size.high, label: "data(label)", "text-wrap": "wrap",
    "text-max-width": size.wide - 10, "text-overflow-wrap": "whitespace", "text-valign": "center", "font-size": 14,
    "font-family": FONT, color: variable("--ink"), "background-color": variable("--ground"),
    "border-width": 2.5, "border-color": "data(colour)",
  } },
  { selector: "node.strange", style: { "border-style": "dashed", "border-color": variable("--bad") } },
  { selector: "node.reject", style: { "background-color": variable("--bad-ground") } },
  { selector: "node.quarantine, node.unknown", style: { "background-color": variable("--doubt-ground") } },
  { selector: "node.chosen", style: { "border-color": variable("--mark"), "border-width": 4 } },
  { selector: "edge", style: {
    width: 2, "line-color": variable("--line"), "target-arrow-color": variable("--line"),
    "target-arrow-shape": "triangle", "curve-style": "bezier", label: "data(label)", "font-size": 12,
    "font-family": FONT, color: variable("--quiet"), "text-background-color": variable("--panel"),
    "text-background-opacity": 1, "text-background-padding": 3,
  } },
  { selector: "edge.reference", style: { "line-style": "dashed" } },
  // A link over more than one layer goes by the spots that are kept free for it.
  { selector: "edge.far", style: {
    "curve-style": "round-segments", "edge-distances": "node-position", "segment-radii": 40,
    "segment-distances": "data(distances)", "segment-weights": "data(weights)",
  } },
];

// Names break at signs between words, and where a piece is too long for a node.
const breakable = (name) => name.replace(/[_\-/.]/g, "$&\u200b").replace(/[^\s\u200b]{15}/g, "$&\u200b");

const elementsOf = (plan, states) => {
  const at = new Map(plan.nodes.map((node) => [node.place, node]));
  const spot = (layer, row) => ({ x: row * size.across, y: layer * size.down });
  // Where a point lies, seen from a line: how far along it, and how far off.
  const bends = (line) => {
    const [from, to] = [line.from, line.to].map((place) => spot(at.get(place).layer, at.get(place).row));
    const [across, down] = [to.x - from.x, to.y - from.y];
    const length = Math.hypot(across, down) || 1;
    const points = line.via.map(([layer, row]) => spot(layer, row));
    // A line that leads up again, in a plan with a circle, goes round.
    if (!points.length) return { weights: [0.5], distances: [size.wide * 0.9] };
    return {
      weights: points.map(({ x, y }) => ((x - from.x) * across + (y - from.y) * down) / length ** 2),
      distances: points.map(({ x, y }) => ((y - from.y) * across - (x - from.x) * down) / length),
    };
  };
  const far = (line) => at.get(line.to).layer - at.get(line.from).layer !== 1;
  return [
    ...plan.nodes.map((node) => ({
      group: "nodes",
      classes: [node.known && !node.missing ? "" : "strange", states.get(node.place) ?? ""].join(" ").trim(),
      data: {
        id: `n${node.place}`, place: node.place, colour: node.colour,
        label: node.missing ? `no node: ${breakable(node.tool)}` : `${node.place}  ${breakable(node.tool)}`,
      },
      position: spot(node.layer, node.row),
    })),
    ...plan.lines.map((line, number) => ({
      group: "edges",
      classes: [line.kind, far(line) && line.from !== line.to ? "far" : ""].join(" ").trim(),
      data: { id: `l${number}`, source: `n${line.from}`, target: `n${line.to}`, label: line.type, ...bends(line) },
    })),
  ];
};

const fit = () => {
  graph.resize();
  graph.fit(undefined, 18);
  if (graph.zoom() > 1.15) graph.zoom(1.15).center();
};

export const onChoose = (work) => { chosen = work; };

// Draws a plan; `states` says what the gates found at a node (reject, quarantine, unknown).
export const draw = (plan, states = new Map()) => {
  if (graph === null) {
    graph = cytoscape({
      container: $("graph"), style: style(), layout: { name: "preset" }, minZoom: 0.1, maxZoom: 3,
      autoungrabify: true, autounselectify: true, boxSelectionEnabled: false, userZoomingEnabled: false,
    });
    graph.on("tap", "node", (event) => chosen(event.target.data("place")));
    window.addEventListener("resize", fit);
    window.planGraph = graph; // for the browser's console
  }
  size = sizeOf(plan.nodes);
  graph.batch(() => { graph.elements().remove(); graph.add(elementsOf(plan, states)); });
  graph.style(style());
  fit();
  const name = new Map(plan.nodes.map((node) => [node.place, node.tool]));
  const words = plan.lines.map((line) => `${name.get(line.from)} to ${name.get(line.to)}`);
  $("graph").setAttribute("aria-label",
    `Plan of ${plan.nodes.length} tools. ${words.length ? `Links: ${words.join("; ")}.` : "No links."}`);
};

export const mark = (place) => {
  graph.nodes().removeClass("chosen");
  graph.getElementById(`n${place}`).addClass("chosen");
};

// Larger or smaller, about the middle; the next plan fits again.
export const zoomBy = (factor) => {
  if (graph === null || graph.elements().empty()) return;
  const middle = { x: graph.width() / 2, y: graph.height() / 2 };
  graph.zoom({ level: graph.zoom() * factor, renderedPosition: middle });
};

export const repaint = () => { if (graph) graph.style(style()); };
