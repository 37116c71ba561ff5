// The plan as a graph in layers from top to bottom (cytoscape-dagre).
"use strict";
import { $ } from "./elements.js";

// Nodes are narrow in a plan with wide layers and flat in one with many layers, so that the fitted plan stays
// legible. `high` and `wide` are the size of a node, `apart` and `below` the gaps to its neighbours, in pixels.
const ROOMY = { wide: 168, high: 56, apart: 24, below: 56 };
const TIGHT = { wide: 118, high: 66, apart: 12, below: 56 };
const FLAT = { wide: 210, high: 38, apart: 18, below: 28 };
const WIDE = 2; // nodes in a layer; more are narrow
const TALL = 6; // layers; more are flat
const BESIDE = 48; // pixels between a link that passes a layer and what is in that layer
// The number of nodes in each layer, by its y in pixels, from the top: the nodes of a layer have one y.
const layersOf = () => {
  const heights = graph.nodes().map((node) => node.position("y")).sort((one, other) => one - other);
  const layers = new Map();
  heights.forEach((y) => layers.set(y, (layers.get(y) || 0) + 1));
  return layers;
};
const sizeOf = (layers) => {
  if (Math.max(0, ...layers.values()) > WIDE) return TIGHT;
  return layers.size > TALL ? FLAT : ROOMY;
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
  // The loop of a link from a tool to itself must leave the node, which is wide: else nothing is drawn.
  { selector: "edge:loop", style: {
    "loop-direction": "90deg", "loop-sweep": "-30deg", "control-point-step-size": size.wide,
  } },
  // A link that does not lead to the next layer takes the way that the layout keeps free for it.
  { selector: "edge.far", style: {
    "curve-style": "round-segments", "edge-distances": "intersection", "segment-radii": 40,
    "segment-distances": "data(distances)", "segment-weights": "data(weights)",
  } },
];

// Names break at signs between words, and where a piece is too long for a node.
const breakable = (name) => name.replace(/[_\-/.]/g, "$&\u200b").replace(/[^\s\u200b]{15}/g, "$&\u200b");

const elementsOf = (plan, states) => [
  ...plan.nodes.map((node) => ({
    group: "nodes",
    classes: [node.known && !node.missing ? "" : "strange", states.get(node.place) ?? ""].join(" ").trim(),
    data: {
      id: `n${node.place}`, place: node.place, colour: node.colour,
      label: node.missing ? `no node: ${breakable(node.tool)}` : `${node.place}  ${breakable(node.tool)}`,
    },
  })),
  ...plan.lines.map((line, number) => ({
    group: "edges",
    classes: line.kind,
    data: { id: `l${number}`, number, source: `n${line.from}`, target: `n${line.to}`, label: line.type },
  })),
];

// Dagre places the targets of a node from right to left in the order of its links.
const lastLinkFirst = (one, other) => (one.isEdge() ? other.data("number") - one.data("number") : 0);

// Places the nodes in layers; returns the layers.
const arrange = () => {
  graph.style(style());
  graph.layout({
    name: "dagre", fit: false, nodeSep: size.apart, rankSep: size.below, edgeSep: BESIDE,
    useDagreEdgeControlPoints: true, sort: lastLinkFirst,
  }).run();
  const layers = layersOf();
  const numbers = new Map([...layers.keys()].map((y, number) => [y, number]));
  const layerOf = (node) => numbers.get(node.position("y"));
  graph.edges().forEach((edge) => {
    if (edge.isLoop()) return; // Cytoscape draws loops itself
    edge.data({ weights: edge.scratch("controlPointWeights"), distances: edge.scratch("controlPointDistances") });
    edge.toggleClass("far", layerOf(edge.target()) - layerOf(edge.source()) !== 1);
  });
  return layers;
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
  graph.batch(() => { graph.elements().remove(); graph.add(elementsOf(plan, states)); });
  size = ROOMY;
  const fitting = sizeOf(arrange());
  if (fitting !== size) {
    size = fitting;
    arrange();
  }
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
