// The router: shows the page of a path without reloading.

import { signal } from "@preact/signals";

interface Place {
  readonly path: string;
  readonly query: URLSearchParams;
}

/** A page, and the id of the run, graph or board that it shows; "" for none. */
export interface Route {
  readonly page: PageName;
  readonly id: string;
}

/** The current route. */
export const place = signal<Place>(here());

/** The element with the focus before the last navigation; null if the screen stays. */
export const left = signal<{ readonly focus: Element | null } | null>(null);

/** The pages by the first part of their paths: alone, and with the id of something. */
const ALONE = ["graphs", "add", "history", "boards"] as const;
const WITH_ID = ["graphs", "boards", "embed"] as const;

export type PageName = (typeof ALONE)[number] | (typeof WITH_ID)[number] | "ask" | "missing";

/** The route of a path. */
export function routeOf(path: string): Route {
  const [first = "", id = "", ...more] = path.split("/").slice(1).map(decodePart);
  if (more.length > 0) return { page: "missing", id: "" };
  if (first === (id ? "run" : "")) return { page: "ask", id };
  const page = (id ? WITH_ID : ALONE).find((name) => name === first);
  return page ? { page, id } : { page: "missing", id: "" };
}

interface Going {
  readonly replace?: boolean;
  /** Whether to keep the scroll position; else the new page is shown from its top. */
  readonly stay?: boolean;
}

/** Navigates to another path of the page. */
export function navigate(to: string, { replace = false, stay = replace }: Going = {}): void {
  if (replace) history.replaceState(null, "", to);
  else history.pushState(null, "", to);
  if (!stay) left.value = { focus: document.activeElement };
  place.value = here();
  if (!stay) window.scrollTo(0, 0);
}

/** Shows a run in the place of the answer that is shown. */
export function showRun(run: string): void {
  navigate(`/run/${run}`, { stay: true });
}

/** The address that fills in a question and graphs; only the person sends it. */
export function askAddress(question: string, graphs: readonly string[]): string {
  const query = new URLSearchParams({ q: question });
  for (const graph of graphs) query.append("graph", graph);
  return `/?${query}`;
}

/** Handles links within the page, and the browser's back button. */
export function followLinks(): () => void {
  const back = () => {
    left.value = { focus: document.activeElement };
    place.value = here();
  };
  const stop = new AbortController();
  window.addEventListener("popstate", back, stop);
  document.addEventListener("click", followLink, stop);
  return () => stop.abort();
}

function followLink(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  if (!link || link.hasAttribute("target") || link.hasAttribute("download")) return;
  const target = new URL(link.getAttribute("href") ?? "", location.href); // in a drawing, too
  if (target.origin !== location.origin || routeOf(target.pathname).page === "missing") return;
  if (routeOf(location.pathname).page === "embed") {
    link.target = "_blank"; // the frame keeps its answer
    return;
  }
  if (target.hash && target.pathname === location.pathname) return;
  event.preventDefault();
  navigate(target.pathname + target.search);
}

function here(): Place {
  const { pathname, search } = typeof location === "undefined" ? new URL("http://-/") : location;
  return { path: pathname, query: new URLSearchParams(search) };
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

// After a navigation, the focus moves to the heading of the new page.

const PATIENCE = 5000; // milliseconds for a page that is loaded first

/** Moves the focus after a navigation, unless it was moved meanwhile. */
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
    if (heading) heading.tabIndex = -1;
    heading?.focus({ preventScroll: true });
  };
  const changes = new MutationObserver(look);
  const frame = requestAnimationFrame(look);
  const stop = () => {
    clearTimeout(timer);
    cancelAnimationFrame(frame);
    changes.disconnect();
  };
  const timer = setTimeout(stop, PATIENCE);
  changes.observe(main, { childList: true, subtree: true, characterData: true });
  return stop;
}

/** The page of a graph. */
export function graphAddress(graph: string): string {
  return `/graphs/${encodeURIComponent(graph)}`;
}

/** The pages of a thing, of a class and of a predicate of a graph. */
export const thingAddress = addressOf("iri");
export const classAddress = addressOf("class");
export const propertyAddress = addressOf("property");

function addressOf(kind: string): (graph: string, iri: string) => string {
  return (graph, iri) => `${graphAddress(graph)}?${new URLSearchParams({ [kind]: iri })}`;
}
