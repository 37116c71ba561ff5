// The plan as a graph: layers from top to bottom.
"use strict";
import { $ } from "./elements.js";

const WIDE = 168;
const HIGH = 56;
const ACROSS = 190;
const DOWN = 112;
const FONT = "system-ui, Segoe UI, Roboto, DejaVu Sans, sans-serif";
const variable = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
let graph = null;
let chosen = () => {};

const style = () => [
  { selector: "node", style: {
    shape: "round-rectangle", width: WIDE, height: HIGH, label: "data(label)", "text-wrap": "wrap",
    "text-max-width": WIDE - 18, "text-overflow-wrap": "anywhere", "text-valign": "center", "font-size": 14,
    "font-family": FONT, color: variable("--ink"), "background-color": variable("--ground"),
    "border-width": 2.5, "border-color": "data(colour)",
  } },
  { selector: "node.strange", style: { "border-style": "dashed", "border-color": variable("--bad") } },
  { selector: "node.chosen", style: { "border-color": variable("--mark"), "border-width": 4 } },
  { selector: "edge", style: {
    width: 2, "line-color": variable("--line"), "target-arrow-color": variable("--line"),
    "target-arrow-shape": "triangle", "curve-style": "bezier", label: "data(label)", "font-size": 12,
    "font-family": FONT, color: variable("--quiet"), "text-background-color": variable("--panel"),
    "text-background-opacity": 1, "text-background-padding": 3,
  } },
  { selector: "edge.reference", style: { "line-style": "dashed" } },
  // A link over more than one layer goes round the nodes between.
  { selector: "edge.far", style: {
    "curve-style": "unbundled-bezier", "control-point-distances": "data(off)", "control-point-weights": 0.5,
  } },
];

const elementsOf = (plan) => {
  const at = new Map(plan.nodes.map((node) => [node.place, node]));
  const far = (line) => at.get(line.to).layer - at.get(line.from).layer !== 1;
  return [
    ...plan.nodes.map((node) => ({
      group: "nodes",
      classes: node.known && !node.missing ? "" : "strange",
      data: {
        id: `n${node.place}`, place: node.place, colour: node.colour,
        label: node.missing ? `no node: ${node.tool}` : `${node.place}  ${node.tool}`,
      },
      position: { x: node.row * ACROSS, y: node.layer * DOWN },
    })),
    ...plan.lines.map((line, number) => ({
      group: "edges",
      classes: [line.kind, far(line) && line.from !== line.to ? "far" : ""].join(" ").trim(),
      data: { id: `l${number}`, source: `n${line.from}`, target: `n${line.to}`, label: line.type,
        off: 120 * (number % 2 ? -1 : 1) },
    })),
  ];
};

const fit = () => {
  graph.resize();
  graph.fit(undefined, 18);
  if (graph.zoom() > 1.15) graph.zoom(1.15).center();
};

export const onChoose = (work) => { chosen = work; };

export const draw = (plan) => {
  if (graph === null) {
    graph = cytoscape({
      container: $("graph"), style: style(), layout: { name: "preset" }, minZoom: 0.1, maxZoom: 3,
      autoungrabify: true, autounselectify: true, boxSelectionEnabled: false, userZoomingEnabled: false,
    });
    graph.on("tap", "node", (event) => chosen(event.target.data("place")));
    window.addEventListener("resize", fit);
    window.planGraph = graph; // for the browser's console
  }
  graph.batch(() => { graph.elements().remove(); graph.add(elementsOf(plan)); });
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

export const repaint = () => { if (graph) graph.style(style()); };
