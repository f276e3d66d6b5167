// Keys that work everywhere: `/` to the question box, `n` anew, `?` help, Escape to stop.

import { signal } from "@preact/signals";
import { keep, kept } from "./kept.ts";
import { navigate } from "./router.ts";

/** Whether the list of shortcuts is shown. */
export const shortcutsShown = signal(false);

const OFF = "no-single-keys";

/** Whether `/`, `n` and `?` do something: people who dictate may turn them off. */
export const singleKeys = signal(kept(OFF) === null);

/** Turns the single keys on or off, for the next visits, too. */
export function turnSingleKeys(on: boolean): void {
  singleKeys.value = on;
  keep(OFF, on ? null : "off");
}

const stops = new Set<() => boolean>();

/** Adds a fallback handler of Escape; it returns whether it did something. */
export function onEscape(stop: () => boolean): () => void {
  stops.add(stop);
  return () => stops.delete(stop);
}

/** Focuses the question box; goes to the page with the box first if necessary. */
function toQuestionBox(): void {
  if (focusQuestionBox()) return;
  navigate("/");
  requestAnimationFrame(focusQuestionBox);
}

function focusQuestionBox(): boolean {
  const box = [...document.querySelectorAll<HTMLTextAreaElement>("textarea[data-question]")].at(-1);
  box?.focus();
  box?.select();
  return box !== undefined;
}

export function listenToShortcuts(): () => void {
  document.addEventListener("keydown", pressed);
  return () => document.removeEventListener("keydown", pressed);
}

function pressed(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") {
    if ([...stops].some((stop) => stop())) event.preventDefault();
    return;
  }
  if (!singleKeys.value) return;
  if (isTyping(event) || document.querySelector("dialog[open]")) return;
  if (event.key === "/") toQuestionBox();
  else if (event.key === "n") navigate("/");
  else if (event.key === "?") shortcutsShown.value = true;
  else return;
  event.preventDefault();
}

function isTyping(event: KeyboardEvent): boolean {
  const target = event.composedPath()[0];
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName))
  );
}
