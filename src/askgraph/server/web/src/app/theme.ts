// The light, dark or system theme, and its text sizes for scripts that draw.

import { signal } from "@preact/signals";
import { keep, kept } from "./kept.ts";

export const THEMES = ["system", "light", "dark"] as const;

export type Theme = (typeof THEMES)[number];

/** The theme chosen by the switch. */
export const theme = signal(THEMES.find((name) => name === kept("theme")) ?? "system");

/** Chooses a theme from now on, and after a reload. */
export function chooseTheme(chosen: Theme): void {
  theme.value = chosen;
  keep("theme", chosen === "system" ? null : chosen);
  const root = document.documentElement;
  if (chosen === "system") delete root.dataset["theme"];
  else root.dataset["theme"] = chosen;
}

/** Returns a text size of the style sheet, such as `text-s`, in pixels. */
export function pixels(name: string): number {
  const probe = document.createElement("span");
  probe.style.fontSize = `var(--${name})`;
  probe.hidden = true;
  document.body.append(probe);
  const { fontSize } = getComputedStyle(probe);
  probe.remove();
  return Number.parseFloat(fontSize);
}
