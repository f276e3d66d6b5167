// The place that is shown: routes by path, changed without loading the page anew.

import { signal } from "@preact/signals";

interface Place {
  readonly path: string;
  readonly query: URLSearchParams;
  /** The state that the link carried along, which is not for the address bar. */
  readonly state: Readonly<Record<string, unknown>>;
}

export type Route =
  | { readonly page: "ask" }
  | { readonly page: "run"; readonly id: string }
  | { readonly page: "graphs" }
  | { readonly page: "graph"; readonly graph: string }
  | { readonly page: "add" }
  | { readonly page: "compare" }
  | { readonly page: "history" }
  | { readonly page: "boards" }
  | { readonly page: "board"; readonly board: string }
  | { readonly page: "missing" };

/** The place that is shown. */
export const place = signal<Place>(here());

/** The element that had the focus before the last change of place; null if the screen stays. */
export const left = signal<{ readonly focus: Element | null } | null>(null);

/** The route of a path. */
export function routeOf(path: string): Route {
  const [first = "", second = "", ...more] = path.split("/").slice(1).map(decoded);
  if (more.length > 0) return { page: "missing" };
  if (second !== "") {
    if (first === "run") return { page: "run", id: second };
    if (first === "boards") return { page: "board", board: second };
    if (first === "graphs") return { page: "graph", graph: second };
    return { page: "missing" };
  }
  switch (first) {
    case "":
      return { page: "ask" };
    case "graphs":
    case "add":
    case "compare":
    case "history":
    case "boards":
      return { page: first };
    default:
      return { page: "missing" };
  }
}

interface Going {
  readonly replace?: boolean;
  /** Whether the screen stays as it is; else the new place is shown from its top. */
  readonly stay?: boolean;
  readonly state?: Readonly<Record<string, unknown>>;
}

/** Shows another place of the page. */
export function navigate(
  to: string,
  { replace = false, stay = replace, state = {} }: Going = {},
): void {
  if (replace) history.replaceState(state, "", to);
  else history.pushState(state, "", to);
  if (!stay) left.value = { focus: document.activeElement };
  place.value = here();
  if (!stay) window.scrollTo(0, 0);
}

/** The address that asks a question, of graphs; nothing is sent before the person does. */
export function askAddress(question: string, graphs: readonly string[]): string {
  const query = new URLSearchParams({ q: question });
  for (const graph of graphs) query.append("graph", graph);
  return `/?${query}`;
}

/** Follows links to the page's own places, and the browser's way back. */
export function followLinks(): () => void {
  const back = () => {
    left.value = { focus: document.activeElement };
    place.value = here();
  };
  window.addEventListener("popstate", back);
  document.addEventListener("click", followed);
  return () => {
    window.removeEventListener("popstate", back);
    document.removeEventListener("click", followed);
  };
}

function followed(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  if (!link || link.hasAttribute("target") || link.hasAttribute("download")) return;
  const target = new URL(link.getAttribute("href") ?? "", location.href); // in a drawing, too
  if (target.origin !== location.origin || routeOf(target.pathname).page === "missing") return;
  if (target.hash && target.pathname === location.pathname) return;
  event.preventDefault();
  navigate(target.pathname + target.search);
}

function here(): Place {
  if (typeof location === "undefined")
    return { path: "/", query: new URLSearchParams(), state: {} };
  const state: unknown = history.state;
  return {
    path: location.pathname,
    query: new URLSearchParams(location.search),
    state: typeof state === "object" && state !== null ? { ...state } : {},
  };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

// After going to another place of the page, the keyboard is at its heading.

const PATIENCE = 5000; // milliseconds for a page that is loaded first

/** Moves the focus after one change of place, unless it was moved meanwhile. */
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

/** The page of a graph. */
export function graphAddress(graph: string): string {
  return `/graphs/${encodeURIComponent(graph)}`;
}

/** The page of a thing of a graph. */
export const thingAddress = addressOf("iri");

/** The page of a class of a graph. */
export const classAddress = addressOf("class");

/** The page of a predicate of a graph. */
export const propertyAddress = addressOf("property");

function addressOf(kind: string): (graph: string, iri: string) => string {
  return (graph, iri) => `${graphAddress(graph)}?${new URLSearchParams({ [kind]: iri })}`;
}
