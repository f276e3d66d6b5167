// After going to another place of the page, the keyboard is at its heading.

import { left } from "./router.ts";

const PATIENCE = 5000; // milliseconds for a page that is loaded first

/** Follows one going; what else took the keyboard meanwhile keeps it. */
export function arrive(): (() => void) | undefined {
  const gone = left.value;
  const main = document.getElementById("content");
  if (!gone || !main) return undefined;
  const look = () => {
    const now = document.activeElement;
    const isTaken = now !== null && now !== document.body && now !== gone.focus;
    const heading = isTaken ? null : main.querySelector<HTMLElement>("h1:not(:empty)");
    if (!isTaken && !heading) return;
    stop();
    if (!heading) return;
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
  };
  const changes = new MutationObserver(look);
  const timer = setTimeout(() => changes.disconnect(), PATIENCE);
  const stop = () => {
    clearTimeout(timer);
    changes.disconnect();
  };
  changes.observe(main, { childList: true, subtree: true, characterData: true });
  const frame = requestAnimationFrame(look);
  return () => {
    cancelAnimationFrame(frame);
    stop();
  };
}
