// Light or dark colours: those of the system until the button is pressed.
"use strict";
import { $ } from "./elements.js";
import { repaint } from "./drawing.js";

const system = window.matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (document.documentElement.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
const tint = () => {
  $("theme").textContent = isDark() ? "Light" : "Dark";
  $("theme").setAttribute("aria-label", `Use ${isDark() ? "light" : "dark"} colours`);
  repaint();
};

export const startTheme = () => {
  $("theme").addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    tint();
  });
  system.addEventListener("change", tint);
  tint();
};
