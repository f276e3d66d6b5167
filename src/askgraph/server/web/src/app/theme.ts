// The light, dark or system theme, and its colours and sizes for scripts that draw.

import { signal } from "@preact/signals";
import { keep, kept } from "./kept.ts";

export type Theme = "system" | "light" | "dark";

/** The theme chosen by the switch. */
export const theme = signal<Theme>(readTheme());

/** Chooses a theme from now on, and after a reload. */
export function chooseTheme(chosen: Theme): void {
  theme.value = chosen;
  keep("theme", chosen === "system" ? null : chosen);
  const root = document.documentElement;
  if (chosen === "system") delete root.dataset["theme"];
  else root.dataset["theme"] = chosen;
}

/** Returns a colour of the style sheet, such as `accent`, as `rgb(…)` in the current theme. */
export function colour(name: string): string {
  return computed("color", name);
}

/** Returns a text size of the style sheet, such as `text-s`, in pixels. */
export function pixels(name: string): number {
  return Number.parseFloat(computed("font-size", name));
}

function computed(property: "color" | "font-size", name: string): string {
  const probe = document.createElement("span");
  probe.style.setProperty(property, `var(--${name})`);
  probe.hidden = true;
  document.body.append(probe);
  const found = getComputedStyle(probe).getPropertyValue(property);
  probe.remove();
  return found;
}

/** Calls back whenever the theme changes; returns a function that stops this. */
export function onThemeChange(changed: () => void): () => void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  system.addEventListener("change", changed);
  const stop = theme.subscribe(() => queueMicrotask(changed));
  return () => {
    system.removeEventListener("change", changed);
    stop();
  };
}

function readTheme(): Theme {
  const chosen = kept("theme");
  return chosen === "light" || chosen === "dark" ? chosen : "system";
}
